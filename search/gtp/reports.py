"""Analysis as text: what the `analyze` commands are asked for, and the lines that they answer.

The forms are those of Leela Zero (lz) and KataGo (kata), as https://github.com/lightvector/KataGo says in docs/GTP_Extensions.md,
and of the server CGOS (one JSON object, https://github.com/zakki/cgos). All figures are from the view of the player to move;
`search.move_infos` says what each means here.
"""

import dataclasses
import json

import numpy as np

from search.gtp import arguments
from search.gtp.protocol import SYNTAX_ERROR, Failure
from search.restrictions import Restriction, Restrictions

#: Centiseconds between lines where the client does not say.
DEFAULT_INTERVAL = 100
#: Lines come no faster than this, centiseconds.
SHORTEST_INTERVAL = 1
#: Keys of clients that make no difference here, for they ask for what playouts do not tell.
_IGNORED = ("movesownership", "ownershipstdev", "movesownershipstdev", "pvedgevisits", "noresultvalue")
#: Keys that are true or false, and what they are called here.
_SWITCHES = {"ownership": "ownership", "rootinfo": "root_info", "pvvisits": "pv_visits"}
#: The keys of an `info`, in KataGo's order.
_LZ_KEYS = ("visits", "winrate", "prior", "lcb", "order")
_KATA_KEYS = (
    "visits", "edgeVisits", "utility", "winrate", "scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay", "prior", "lcb",
    "utilityLcb", "weight", "order",
)  # fmt: skip
_ROOT_KEYS = ("visits", "utility", "winrate", "scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay", "weight")
_CGOS_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@dataclasses.dataclass(frozen=True)
class Request:
    """The arguments of an analysis command."""

    colour: int | None = None
    """Who is to move; by default whose turn it is."""
    interval: float = DEFAULT_INTERVAL / 100
    """Seconds between lines."""
    min_moves: int = 0
    max_moves: int | None = None
    ownership: bool = False
    root_info: bool = False
    pv_visits: bool = False
    restrictions: Restrictions | None = None
    """Moves to avoid or to keep to."""

    @classmethod
    def parse(cls, words: tuple[str, ...], size: int) -> "Request":
        """The request of `[colour] [interval] key value ...`.

        Raises:
          Failure: a key that is not known, or a value that is no good.
        """
        words, found, said = list(words), {}, []
        if words and arguments.is_colour(words[0]):
            found["colour"] = arguments.colour(words.pop(0))
        if words and words[0][:1].isdecimal():
            words[:0] = ["interval"]
        while words:
            key, values = words[0].lower(), words[1:]
            if key in ("avoid", "allow"):
                if len(values) < 3:
                    raise Failure(SYNTAX_ERROR)
                said.append(_restriction(key == "avoid", *values[:3], size))
                words = values[3:]
                continue
            if not values:
                raise Failure(SYNTAX_ERROR)
            words = values[1:]
            if key == "interval":
                found["interval"] = max(arguments.number(values[0], 0), SHORTEST_INTERVAL) / 100
            elif key in ("minmoves", "maxmoves"):
                found[f"{key[:3]}_moves"] = arguments.whole(values[0])
            elif key in _SWITCHES:
                found[_SWITCHES[key]] = arguments.truth(values[0])
            elif key not in _IGNORED:
                raise Failure(SYNTAX_ERROR)
        return cls(**found, restrictions=Restrictions.of(said, size))


def _restriction(avoid: bool, colour: str, vertices: str, depth: str, size: int) -> Restriction:
    """What `avoid COLOUR POINT,POINT,... DEPTH` means, or `allow` with the same."""
    points = tuple(arguments.vertex(vertex, size) for vertex in vertices.split(",") if vertex)
    return Restriction(avoid, arguments.colour(colour), points, arguments.whole(depth, 1))


def lz_line(infos: list[dict], root: dict | None, ownership: np.ndarray | None) -> str:
    """Leela Zero's line: rates are whole numbers of ten thousandths, and there are moves alone."""
    tens = ({**info, **{key: round(10_000 * info[key]) for key in ("winrate", "prior", "lcb")}} for info in infos)
    return " ".join(_info(info, _LZ_KEYS) for info in tens)


def kata_line(infos: list[dict], root: dict | None, ownership: np.ndarray | None) -> str:
    """KataGo's line."""
    parts = [_info(info, _KATA_KEYS) for info in infos]
    if root is not None:
        parts.append(" ".join(["rootInfo", *_pairs(root, _ROOT_KEYS)]))
    if ownership is not None:
        parts.append(" ".join(["ownership", *(f"{x:.6g}" for x in ownership.reshape(-1).tolist())]))
    return " ".join(parts)


def cgos_line(infos: list[dict], root: dict, ownership: np.ndarray | None) -> str:
    """CGOS's JSON object."""
    out = {
        "winrate": round(root["winrate"], 4), "score": round(root["scoreLead"], 2), "visits": root["visits"],
        "moves": [
            {"move": info["move"], "winrate": round(info["winrate"], 4), "score": round(info["scoreLead"], 2),
             "prior": round(info["prior"], 4), "visits": info["visits"], "pv": " ".join(info["pv"][1:])}
            for info in infos
        ],
    }  # fmt: skip
    if ownership is not None:
        out["ownership"] = "".join(_CGOS_LETTERS[round((x + 1) / 2 * 62)] for x in np.clip(ownership, -1, 1).reshape(-1).tolist())
    return json.dumps(out, separators=(",", ":"), allow_nan=False)


def _info(info: dict, keys: tuple[str, ...]) -> str:
    """One move; `pv` comes last, for some clients read to the end of the line or the next `info`."""
    words = ["info", "move", info["move"], *_pairs(info, keys)]
    if "pvVisits" in info:
        words += ["pvVisits", *map(str, info["pvVisits"])]
    return " ".join([*words, "pv", *info["pv"]])


def _pairs(values: dict, keys: tuple[str, ...]) -> list[str]:
    shown = {key: f"{values[key]:.6g}" if isinstance(values[key], float) else str(values[key]) for key in keys if key in values}
    return [word for pair in shown.items() for word in pair]
