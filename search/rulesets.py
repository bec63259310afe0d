"""Rule sets by the names and dictionaries that clients of KataGo send, and what of them is played.

One set of rules is played: area scoring, positional superko, no suicide, no tax on groups, no button (see `jaxgo.board.rules`).
Any other set is played as that one. Where the difference could change a score without anybody noticing, a warning says so; a
play that the ko rule or suicide forbids here is refused as an illegal move, which no client overlooks. What a set does keep are
its komi and the points that White gets for handicap stones.

The names, dictionaries and their meaning are those of KataGo (https://lightvector.github.io/KataGo/rules.html).
"""

import dataclasses
import json
from collections.abc import Iterable

from jaxgo import BLACK, WHITE
from jaxgo.base.constants import MOST_KOMI

#: What is played, whatever is asked for.
PLAYED = {
    "friendlyPassOk": False, "hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE",
}  # fmt: skip
_ALLOWED = {
    "friendlyPassOk": (False, True),
    "hasButton": (False, True),
    "ko": ("SIMPLE", "POSITIONAL", "SITUATIONAL", "SPIGHT"),
    "scoring": ("AREA", "TERRITORY"),
    "suicide": (False, True),
    "tax": ("NONE", "SEKI", "ALL"),
    "whiteHandicapBonus": ("0", "N", "N-1"),
}
_OTHER_KEYS = {"score": "scoring", "multiStoneSuicideLegal": "suicide", "multiStoneSuicide": "suicide"}
_TERRITORY_KOMI, _BUTTON_KOMI, _AREA_KOMI = 6.5, 7.0, 7.5


def _named(**different) -> dict:
    return {**PLAYED, "friendlyPassOk": True, "whiteHandicapBonus": "0", **different}


_TERRITORY = _named(ko="SIMPLE", scoring="TERRITORY", tax="SEKI", friendlyPassOk=False)
_AGA = _named(ko="SITUATIONAL", whiteHandicapBonus="N-1")
#: Each set by its names, without blanks and hyphens.
_SETS = {
    ("tromptaylor",): _named(suicide=True, friendlyPassOk=False),
    ("chinese",): _named(ko="SIMPLE", whiteHandicapBonus="N"),
    ("chineseogs", "chinesekgs"): _named(whiteHandicapBonus="N"),
    ("japanese", "korean"): _TERRITORY,
    ("stonescoring", "ancientarea"): _named(ko="SIMPLE", tax="ALL"),
    ("ancientterritory",): {**_TERRITORY, "tax": "ALL"},
    ("aga", "bga", "french"): _AGA,
    ("agabutton",): {**_AGA, "hasButton": True},
    ("newzealand", "nz"): _named(ko="SITUATIONAL", suicide=True),
    ("goe", "ing"): _named(suicide=True),
}
_BY_NAME = {name: asked for names, asked in _SETS.items() for name in names}
#: Names as clients write them, for `--help` and for programs that list them.
NAMES = (
    "tromp-taylor", "chinese", "chinese-ogs", "chinese-kgs", "japanese", "korean", "stone-scoring", "ancient-area",
    "ancient-territory", "aga", "aga-button", "bga", "french", "new-zealand", "ing",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Ruleset:
    """Rules as they are played here."""

    name: str
    """As it was asked for, "" for a dictionary."""
    handicap: str = "0"
    """Points that White gets for N handicap stones: "0", "N" or "N-1"."""
    komi: float = _AREA_KOMI
    """What White gets where nobody says: what the dictionary says, or what is usual under these rules."""

    def as_json(self) -> dict:
        """KataGo's dictionary of what is played."""
        return {**PLAYED, "whiteHandicapBonus": self.handicap}

    def handicap_bonus(self, stones: int) -> int:
        """Points that White gets for so many handicap stones; a single one is no handicap."""
        if stones < 2:
            return 0
        return {"0": 0, "N": stones, "N-1": stones - 1}[self.handicap]


def handicap_stones(set_up: Iterable[int], moves: Iterable[tuple[int, int]], num_points: int) -> list[int]:
    """How many handicap stones stand after so many moves of a game, as KataGo counts them; the last number holds from there on.

    They are Black's stones on the board before the first move, unless White has some there too, and Black's moves before White's
    first, passes aside. Where White then moves twice in a row, somebody sets a position up, and no move counts.

    Args:
      set_up: the colours of the stones before the first move.
      moves: (colour, point) of each move, P for a pass.
      num_points: P.
    """
    set_up, moves = list(set_up), list(moves)
    if WHITE in set_up:
        return [0]
    counts = [len(set_up)]
    for number, (colour, point) in enumerate(moves, start=1):
        counts.append(counts[-1] + (colour == BLACK and point != num_points))
        if colour == WHITE:
            if number < len(moves) and moves[number][0] == WHITE:
                return [*counts, len(set_up)]
            if point != num_points:
                break
    return counts


#: What is played when nobody asks for anything.
DEFAULT = Ruleset("tromp-taylor")


def find(rules: str | dict) -> tuple[Ruleset, str | None]:
    """The rules that are played when a client asks for some.

    Args:
      rules: a name such as "chinese" or "new-zealand", a dictionary such as {"ko": "SIMPLE", "scoring": "AREA"}, or the
        dictionary as a JSON text. Case, blanks, hyphens and underscores in names do not matter.

    Returns:
      (what is played, a warning that says what differs or None).

    Raises:
      ValueError: `Could not parse rules: ...`
    """
    asked, name = rules, ""
    if isinstance(asked, str) and asked.lstrip().startswith("{"):
        try:
            asked = json.loads(asked)
        except (ValueError, RecursionError):
            raise _unknown(rules) from None
    if isinstance(asked, str):
        name = asked.strip()
        wanted = _BY_NAME.get(name.lower().translate({ord(c): None for c in " -_"}))
        if wanted is None:
            raise _unknown(rules)
        matters: tuple[str, ...] = "scoring", "tax", "hasButton"
    elif isinstance(asked, dict):
        wanted = _checked(asked, rules)
        matters = "scoring", "tax", "hasButton", "ko", "suicide"
    else:
        raise _unknown(rules)
    usual = _TERRITORY_KOMI if wanted["scoring"] == "TERRITORY" else _BUTTON_KOMI if wanted["hasButton"] else _AREA_KOMI
    komi = wanted.get("komi", usual)
    different = [key for key in matters if wanted[key] != PLAYED[key]]
    return Ruleset(name, wanted["whiteHandicapBonus"], komi), _warning(name, different)


def _checked(asked: dict, rules) -> dict:
    """A dictionary's rules, with what it leaves out as it is played."""
    wanted = {**PLAYED, "whiteHandicapBonus": "0"}
    for key, value in asked.items():
        key = _OTHER_KEYS.get(key, key)
        if key == "komi":  # KataGo takes it here too
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MOST_KOMI:
                raise _unknown(rules)
            wanted[key] = float(value)
            continue
        if isinstance(value, str):
            value = value.upper()
        allowed = _ALLOWED.get(key, ())
        if not any(value is x or (isinstance(x, str) and value == x) for x in allowed):
            raise _unknown(rules)
        wanted[key] = value
    return wanted


def _warning(name: str, different: list[str]) -> str | None:
    if not different:
        return None
    played = {
        "scoring": "area scoring", "tax": "no tax on groups", "hasButton": "no button", "ko": "positional superko",
        "suicide": "no suicide",
    }  # fmt: skip
    instead = ", ".join(played[key] for key in different)
    return f"Rules {name or 'as given'} are not supported; played with {instead} instead"


def _unknown(rules) -> ValueError:
    return ValueError(f"Could not parse rules: {rules if isinstance(rules, str) else json.dumps(rules, default=repr)}")
