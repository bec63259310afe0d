"""Analysis as text: what the `analyze` commands are asked for, and the lines that they answer.

The forms are those of Leela Zero (lz) and KataGo (kata), as https://github.com/lightvector/KataGo says in docs/GTP_Extensions.md,
and of the server CGOS (one JSON object, https://github.com/zakki/cgos). All figures are from the view of the player to move;
`search.move_infos` says what each means here.
"""

import dataclasses
import itertools
import json
from typing import Any

import numpy as np

from search.findings import Findings, Wanted
from search.gtp import arguments
from search.gtp.protocol import SYNTAX_ERROR, Failure
from search.restrictions import Restriction, Restrictions

#: Centiseconds between lines where the client does not say.
DEFAULT_INTERVAL = 100
#: Lines come no faster than this, centiseconds.
SHORTEST_INTERVAL = 1
#: Keys of clients that make no difference here, for they ask for what playouts do not tell.
_IGNORED = ("ownershipstdev", "movesownershipstdev", "noresultvalue")
#: Keys that are true or false, and what of `Wanted` they say.
_SWITCHES = {
    "ownership": "ownership", "movesownership": "moves_ownership", "pvvisits": "pv_visits", "pvedgevisits": "pv_edge_visits",
}  # fmt: skip
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
    root_info: bool = False
    """Whether to tell of the root."""
    wanted: Wanted = Wanted()
    restrictions: Restrictions | None = None
    """Moves to avoid or to keep to."""

    @classmethod
    def parse(cls, words: tuple[str, ...], size: int) -> "Request":
        """The request of `[colour] [interval] key value ...`.

        Raises:
          Failure: a key that is not known, or a value that is no good.
        """
        found: dict[str, Any] = {}
        wanted: dict[str, Any] = {}
        said: list[Restriction] = []
        if words and arguments.is_colour(words[0]):
            found["colour"], words = arguments.colour(words[0]), words[1:]
        if words and words[0][:1].isdecimal():
            words = "interval", *words
        while words:
            key, values = words[0].lower(), words[1:]
            if key in ("avoid", "allow"):
                if len(values) < 3:
                    raise Failure(SYNTAX_ERROR)
                colour, vertices, depth = values[:3]
                said.append(_restriction(key == "avoid", colour, vertices, depth, size))
                words = values[3:]
                continue
            if not values:
                raise Failure(SYNTAX_ERROR)
            words = values[1:]
            if key == "interval":
                found["interval"] = max(arguments.number(values[0], 0), SHORTEST_INTERVAL) / 100
            elif key in ("minmoves", "maxmoves"):
                wanted["least_moves" if key == "minmoves" else "most_moves"] = arguments.whole(values[0])
            elif key in _SWITCHES:
                wanted[_SWITCHES[key]] = arguments.truth(values[0])
            elif key == "rootinfo":
                found["root_info"] = arguments.truth(values[0])
            elif key not in _IGNORED:
                raise Failure(SYNTAX_ERROR)
        return cls(**found, wanted=Wanted(**wanted), restrictions=Restrictions.of(said, size))


def _restriction(avoid: bool, colour: str, vertices: str, depth: str, size: int) -> Restriction:
    """What `avoid COLOUR POINT,POINT,... DEPTH` means, or `allow` with the same."""
    points = tuple(arguments.vertex(vertex, size) for vertex in vertices.split(",") if vertex)
    return Restriction(avoid, arguments.colour(colour), points, arguments.whole(depth, 1))


def lz_line(found: Findings, root_info: bool) -> str:
    """Leela Zero's line: rates are whole numbers of ten thousandths, and there are moves alone."""
    tens = ({**info, **{key: round(10_000 * info[key]) for key in ("winrate", "prior", "lcb")}} for info in found.infos)
    return " ".join(_info(info, _LZ_KEYS) for info in tens)


def kata_line(found: Findings, root_info: bool) -> str:
    """KataGo's line; `root_info` says whether the root is wanted."""
    after = () if found.moves_ownership is None else found.moves_ownership  # moves that have not been tried come last
    parts = [_info(info, _KATA_KEYS, owners) for info, owners in itertools.zip_longest(found.infos, after)]
    if root_info:
        parts.append(" ".join(["rootInfo", *_pairs({**found.root, "scoreMean": found.root["scoreLead"]}, _ROOT_KEYS)]))
    if found.ownership is not None:
        parts.append(" ".join(["ownership", *_owners(found.ownership)]))
    return " ".join(parts)


def cgos_line(found: Findings, root_info: bool) -> str:
    """CGOS's JSON object."""
    root = found.root
    out = {
        "winrate": round(root["winrate"], 4), "score": round(root["scoreLead"], 2), "visits": root["visits"],
        "moves": [
            {"move": info["move"], "winrate": round(info["winrate"], 4), "score": round(info["scoreLead"], 2),
             "prior": round(info["prior"], 4), "visits": info["visits"], "pv": " ".join(info["pv"][1:])}
            for info in found.infos
        ],
    }  # fmt: skip
    if found.ownership is not None:
        letters = (_CGOS_LETTERS[round((x + 1) / 2 * 62)] for x in np.clip(found.ownership, -1, 1).reshape(-1).tolist())
        out["ownership"] = "".join(letters)
    return json.dumps(out, separators=(",", ":"), allow_nan=False)


def _info(info: dict, keys: tuple[str, ...], owners: np.ndarray | None = None) -> str:
    """One move; `pv` comes last, for some clients read to the end of the line or the next `info`."""
    words = ["info", "move", info["move"], *_pairs(info, keys)]
    for key in ("pvVisits", "pvEdgeVisits"):
        if key in info:
            words += [key, *map(str, info[key])]
    if owners is not None:
        words += ["movesOwnership", *_owners(owners)]
    return " ".join([*words, "pv", *info["pv"]])


def _owners(owners: np.ndarray) -> list[str]:
    return [f"{x:.6g}" for x in owners.reshape(-1).tolist()]


def _float(x: float) -> str:
    """A number with a point: Sabaki takes a rate without one for Leela Zero's, in ten thousandths."""
    text = f"{x:.6g}"
    return text if "." in text or "e" in text else f"{text}.0"


def _pairs(values: dict, keys: tuple[str, ...]) -> list[str]:
    shown = {key: _float(values[key]) if isinstance(values[key], float) else str(values[key]) for key in keys if key in values}
    return [word for pair in shown.items() for word in pair]
