"""A query of the analysis protocol that comes over HTTP: one JSON object, for one answer."""

import dataclasses
import json

from search.analysis import query as protocol
from search.analysis import replies
from search.analysis.devices import LEAVES
from search.analysis.fields import QueryError
from search.analysis.options import ServiceOptions
from search.analysis.work import playouts_of
from search.serving.limits import MALFORMED, NOT_ALLOWED, TOO_LARGE, Limits, Refusal

#: Actions that make sense where every request is a client of its own.
ACTIONS = ("query_version", "query_models")
#: Bytes of an action, at most, and lists and objects within each other: its answer says all of it again.
MOST_OF_ACTION, DEEPEST = 1 << 16, 100
_TOO_DEEP = "the request is nested too deeply"
#: Fields for what is sent before the answer: there is one answer here.
_REPORTS = ("reportDuringSearchEvery", "firstReportDuringSearchAfter")
#: Bytes of an answer, at most: of a position, of a move without those expected after it, of each of these and of its visits; of a
#: number of ownership, of one of a policy, and of what `amaf` tells of a point; and of an action for each byte that it repeats.
_OF_POSITION, _OF_MOVE, _OF_EXPECTED, _OF_VISITS = 1_500, 560, 7, 22
_OF_OWNER, _OF_SHARE, _OF_AMAF, _AGAIN = 8, 25, 80, 4


@dataclasses.dataclass(frozen=True)
class Asked:
    """A query that has been checked as far as that can be done without playing its game."""

    object: dict
    """Without what has no effect here."""
    turns: tuple[int, ...]
    """In the order of the answers; empty for an action."""
    warnings: tuple[dict, ...]
    """What the client is told besides."""
    answer: int
    """Bytes of the answer, at most about."""

    @property
    def positions(self) -> int:
        """How many are asked about."""
        return len(self.turns)


def read(body: bytes, options: ServiceOptions, limits: Limits) -> Asked:
    """Reads and checks a query.

    Args:
      body: a JSON object.
      options: what is done where it does not say.
      limits: of what it may ask for.

    Raises:
      Refusal: it is no such object, a field is not what it must be, or it asks for more than is allowed.
    """
    try:
        asked = protocol.read_object(body)
    except QueryError as error:
        raise refusal_of(error, MALFORMED) from None
    name = asked["id"]
    if "action" in asked:
        if asked["action"] not in ACTIONS:
            text = f"action must be one of {', '.join(ACTIONS)} over HTTP, not {asked['action']!r:.60}"
            raise Refusal(NOT_ALLOWED, text, "action", name)
        if len(body) > MOST_OF_ACTION:
            raise Refusal(TOO_LARGE, f"an action must take at most {MOST_OF_ACTION:,} bytes, not {len(body):,}", name=name)
        if _is_deep(asked):
            raise Refusal(MALFORMED, _TOO_DEEP, name=name)
        return Asked(asked, (), (), _OF_POSITION + _AGAIN * len(body))
    ignored = [field for field in _REPORTS if field in asked]
    asked = {field: value for field, value in asked.items() if field not in ignored}
    text = "Field has no effect here: over HTTP there is one answer"
    warnings = tuple({"field": field, "id": name, "warning": text} for field in ignored)
    try:
        query, others = protocol.read_query(asked)
        warned = [*warnings, *(replies.warning(text, field, name) for field, text in others)]
        return Asked(asked, query.turns, warnings, _answer(query, options, limits) + sum(map(len, map(replies.encoded, warned))))
    except QueryError as error:
        raise refusal_of(error, NOT_ALLOWED, name) from None
    except Refusal as refusal:
        raise refusal.of(name) from None
    except RecursionError:
        raise Refusal(MALFORMED, _TOO_DEEP, name=name) from None


def _is_deep(value) -> bool:
    """Whether a JSON value holds values that lie deeper than `DEEPEST`."""
    layer, depth = [value], 0
    while layer and depth <= DEEPEST:
        lists = [list(x.values()) if isinstance(x, dict) else x for x in layer if isinstance(x, (dict, list))]
        layer, depth = [x for values in lists for x in values], depth + 1
    return bool(layer)


def _answer(query: protocol.Query, options: ServiceOptions, limits: Limits) -> int:
    """Bytes of the answer to a query, at most about; Refusal where it asks for too much."""
    playouts, with_tree = playouts_of(query, options)
    field = "maxVisits" if query.playouts is None else "playouts"
    limits.check(len(query.turns), playouts, ("analyzeTurns", field))
    wanted, points, turns = query.wanted, query.points, len(query.turns)
    numbers = turns * points * (wanted.ownership + (points + 1) * wanted.moves_ownership)
    if numbers > limits.numbers:
        text = f"must make at most {limits.numbers:,} numbers of ownership in an answer, not {numbers:,}"
        raise Refusal(NOT_ALLOWED, f"analyzeTurns {text}", "analyzeTurns")
    # It is told of moves that a leaf was reached by; and those expected after different moves are different nodes of the tree.
    leaves = -(-playouts // options.playouts_per_leaf) if with_tree else 0
    moves = min(points + 1, leaves)
    expected = min(moves * wanted.line, moves + leaves + LEAVES)
    return turns * (
        _OF_POSITION + len(json.dumps(query.id)) + _OF_MOVE * moves + (_OF_EXPECTED + _OF_VISITS * wanted.pv_visits) * expected
        + _OF_OWNER * points * (wanted.ownership + moves * wanted.moves_ownership) + _OF_SHARE * (points + 1) * wanted.shares
        + _OF_AMAF * points * wanted.amaf
    )  # fmt: skip


def refusal_of(error: QueryError, status: int, name: str | None = None) -> Refusal:
    """The refusal of a query that the protocol does not allow."""
    text = str(error) if error.field is None or str(error).startswith(f"{error.field}:") else f"{error.field}: {error}"
    return Refusal(NOT_ALLOWED if error.field else status, text, error.field, error.name or name)
