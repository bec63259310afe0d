"""What engines do for a playout, in words: rates say little of engines that do not do the same."""

import dataclasses
from collections.abc import Mapping

#: What stands where an engine does not tell.
NOT_TOLD = "not told"


@dataclasses.dataclass(frozen=True)
class Differences:
    """What a playout is, and what comes of it."""

    eyes: str = NOT_TOLD
    """Whether own eyes are filled."""
    suicide: str = NOT_TOLD
    """Whether it is played."""
    cap: str = NOT_TOLD
    """What ends a playout besides passes."""
    moves: str = NOT_TOLD
    """How a move is chosen."""
    outcome: str = NOT_TOLD
    """What is had of the playouts in the end."""
    remark: str = ""
    """What else there is to say."""


#: The names of the fields.
FIELDS = tuple(field.name for field in dataclasses.fields(Differences))

_OWN_EYES, _NEVER, _UNIFORM = "not filled", "never", "uniform"
_PGX = Differences(
    eyes=f"{_OWN_EYES} (rule added here)", suicide=_NEVER, cap="2 N^2 plies, or a position repeats", moves=_UNIFORM,
    outcome="final states",
)  # fmt: skip
_JAXGO = Differences(
    eyes=_OWN_EYES, suicide=_NEVER, cap="3 N^2 plies", moves=_UNIFORM, outcome="win rate, margins, ownership, AMAF"
)
_OPENSPIEL = Differences(
    eyes="filled", suicide=_NEVER, cap="2 N^2 plies, or a position repeats", moves="uniform, the pass among them",
    outcome="mean result", remark="length and win rate are those of a sample of rollouts, played from Python and not timed",
)  # fmt: skip
_PGX_REFILLED = dataclasses.replace(_PGX, outcome="how many ended", remark="favours short playouts; does not tell who won")
_GNUGO = Differences(
    eyes=_OWN_EYES, suicide=_NEVER, cap="600 plies", moves="uniform below the tree, by UCB1 in it", outcome="a tree and its move",
    remark="simulations of a tree search that begins with a stone of each colour (it does not begin on an empty board); "
    "it counts moves added to its tree, of which a simulation may add several where it meets known positions: at most so many. "
    "Three passes end a playout; neither its length nor who won is told",
)  # fmt: skip
_GNUGO_BY_PATTERNS = dataclasses.replace(_GNUGO, moves="by 3x3 patterns below the tree, by UCB1 in it")

_KNOWN = {
    "jaxgo": _JAXGO, "OpenSpiel": _OPENSPIEL, "pgx lockstep": _PGX, "pgx refilled": _PGX_REFILLED,
    "GNU Go, uniform": _GNUGO, "GNU Go, its patterns": _GNUGO_BY_PATTERNS,
}  # fmt: skip


def kind(engine: str) -> str:
    """An engine's name in reports without the number of games that it steps together, which makes no difference."""
    return engine.split(", batch")[0]


def of(engine: str) -> Differences | None:
    """The playouts of an engine that is known (`bench.engines`), by its name in reports; None of others."""
    return _KNOWN.get(kind(engine))


def told(differs: Mapping[str, str] | None) -> Differences:
    """What an engine tells of itself, by the names of the fields."""
    return Differences(**differs or {})
