"""A query as a client sends it: one JSON object, read and checked field by field."""

import dataclasses
import functools
import json
import math
import re

from jaxgo import BLACK, WHITE
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE, MOST_KOMI
from jaxgo.board import coordinates
from search import rulesets
from search.analysis import fields
from search.analysis.fields import QueryError, short
from search.findings import Wanted
from search.game import COLOURS
from search.restrictions import Restriction, Restrictions

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
#: KataGo's fields that have no meaning for playouts, or cost nothing to leave out.
_WITHOUT_EFFECT = (
    "includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue", "rootPolicyTemperature", "rootFpuReductionMax",
)  # fmt: skip
#: Settings of KataGo's search that are accepted silently, because clients send them with every query.
_SETTINGS_WITHOUT_EFFECT = (
    "wideRootNoise", "ignorePreRootHistory", "antiMirror", "rootNumSymmetriesToSample", "playoutDoublingAdvantage", "pdaHandicap",
    "analysisWideRootNoise", "conservativePass", "friendlyPassOk", "humanSLProfile", "rootPolicyTemperature", "cpuctExploration",
    "analysisIgnorePreRootHistory", "dynamicScoreUtilityFactor", "staticScoreUtilityFactor", "winLossUtilityFactor",
)  # fmt: skip
#: A location in numbers of a column and a row.
_NUMBERS = re.compile(r"\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)")
_PERSPECTIVES = {"BLACK": BLACK, "B": BLACK, "WHITE": WHITE, "W": WHITE, "SIDETOMOVE": 0}
_UNUSED = "Unexpected or unused field, do you have a typo?"
#: The most playouts of a position, so that a sum of them is exact.
MOST_PLAYOUTS = 10**9
#: A longer time than so many seconds is none; KataGo's clients send 1e20.
LONGEST = 1e9
#: Priorities, at least and at most; some clients send the time in milliseconds.
PRIORITIES = -(2**62), 2**62
#: What one query may hold: moves of the game, and moves to avoid or to keep to, however often the same ones.
MOST_MOVES, MOST_RESTRICTED = 1_000, 2_000
#: Characters of an id, which every reply repeats.
LONGEST_ID = 1_000
#: Of a whole number that is read as one; of longer ones it is told that they are beyond all ranges, as of floats.
MOST_DIGITS = 300
#: Fields that are warned of one by one.
MOST_WARNINGS = 20
#: Bytes that a query takes while it waits, its moves and restrictions apart, and those of a move.
_BYTES, _BYTES_OF_MOVE = 2_500, 8


@dataclasses.dataclass(frozen=True)
class Query:
    """A checked query for some positions of one game."""

    id: str
    size: int
    stones: tuple[tuple[int, int], ...]
    """(colour, point) of the stones on the board before the first move."""
    first: int
    """The colour that moves first."""
    moves: tuple[tuple[int, int], ...]
    """(colour, point) of each move, P for a pass."""
    turns: tuple[int, ...]
    """After how many moves the positions stand that are asked about."""
    priorities: tuple[int, ...]
    """Of each of them."""
    rules: rulesets.Ruleset
    komi: float
    """Without the bonus for handicap stones."""
    visits: int | None
    """Playouts of each position, None for the server's own number."""
    seconds: float | None
    """The most time for each, None for no limit."""
    playouts: int | None
    """Playouts without a tree instead of a search."""
    seed: int | None
    """Of the random numbers, None for the server's own."""
    perspective: int
    """Whose view rates and leads are in: BLACK, WHITE, or 0 for the player to move."""
    wanted: Wanted
    report_every: float | None
    """Seconds between reports during the search."""
    first_report: float | None
    """Seconds until the first; alone it asks for one report."""
    restrictions: Restrictions | None
    """Moves to avoid or to keep to."""

    @property
    def points(self) -> int:
        """P."""
        return self.size**2

    @property
    def reports(self) -> bool:
        """Whether reports during the search are wanted."""
        return self.report_every is not None or self.first_report is not None

    @property
    def num_bytes(self) -> int:
        """Memory, about."""
        restrictions = 0 if self.restrictions is None else self.restrictions.num_bytes
        return _BYTES + 4 * len(self.id) + _BYTES_OF_MOVE * (len(self.moves) + len(self.stones)) + restrictions

    def to_play(self, turn: int) -> int:
        """The colour to move after so many moves."""
        return -self.moves[turn - 1][0] if turn else self.first

    def komi_at(self, turn: int) -> float:
        """What White gets, the bonus for handicap stones among the stones and first moves up to a turn counted."""
        return self.komi + self.rules.handicap_bonus(self._handicap[min(turn, len(self._handicap) - 1)])

    @functools.cached_property
    def _handicap(self) -> list[int]:
        """Handicap stones after each of the first moves."""
        return rulesets.handicap_stones((colour for colour, _ in self.stones), self.moves, self.points)


def read_object(line: bytes) -> dict:
    """The JSON object of a line, with an `id`.

    Raises:
      QueryError: the line holds no such object.
    """
    beyond = []

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            beyond.append(text)
        return value

    def whole(text: str) -> float:
        return int(text) if len(text) <= MOST_DIGITS else number(text)

    try:
        text = line.decode()
        asked = json.loads(text, parse_int=whole, parse_float=number, parse_constant=number)
    except (ValueError, RecursionError) as error:
        shown = line.decode(errors="replace")
        where = f"at line 1, column {error.colno}: " if isinstance(error, json.JSONDecodeError) else ""
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise QueryError(f"parse error {where}{what} - could not parse input line as json request: {short(shown)}") from None
    if not isinstance(asked, dict):
        raise QueryError(f"Request must be a json object - could not parse input line as json request: {short(text)}")
    if not isinstance(asked.get("id"), str):
        raise QueryError('Request must have a string "id" field')
    if len(asked["id"]) > LONGEST_ID:
        raise QueryError(f"Must have at most {LONGEST_ID:,} characters, not {len(asked['id']):,}", "id")
    for field in [name for name, value in asked.items() if _holds_no_number(value)] if beyond else ():
        text = f"Must be a number within a float's range, or hold only such ones, not {short(beyond[0], 60)}"
        raise QueryError(text, short(field, 100), asked["id"])
    return asked


def _holds_no_number(value) -> bool:
    """Whether there is infinity, or what is not a number, anywhere in a JSON value."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return True
        left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return False


def read_query(asked: dict) -> tuple[Query, list[tuple[str, str]]]:
    """The query of an object that is no action. The values of its fields that say nothing are dropped.

    Returns:
      (the query, warnings as (field, text)).

    Raises:
      QueryError: a field is missing or not what it must be.
    """
    warnings, take = [], fields.Fields(asked)
    identity, size = take.value("id"), _size(take)
    points = size**2
    stones = _at_most(take.array("initialStones", ()), points, "initialStones")
    stones = tuple(_plays(stones, "initialStones", size, passes=False))
    if len({point for _, point in stones}) < len(stones):
        raise QueryError("Two stones on one point", "initialStones")
    moves = tuple(_plays(_at_most(take.array("moves"), MOST_MOVES, "moves"), "moves", size))
    named = take.value("initialPlayer", None)
    given = [colour for colour, _ in stones]
    first = moves[0][0] if moves else WHITE if len(given) > 1 and WHITE not in given else BLACK  # after handicap stones White
    if named is not None:
        first = _colour(named, "initialPlayer")
    rules, warning = _rules(take)
    if warning:
        warnings.append(("rules", warning))
    komi = take.number("komi", rules.komi, -MOST_KOMI, MOST_KOMI)
    turns, priorities = _turns(take, len(moves))
    settings, visits = take.mapping("overrideSettings", {}), take.integer("maxVisits", None, 1, MOST_PLAYOUTS)
    override = fields.Fields(settings, "overrideSettings")
    of_settings = override.integer("maxVisits", None, 1, MOST_PLAYOUTS)
    limits = [of_settings if visits is None else visits, override.integer("maxPlayouts", None, 1, MOST_PLAYOUTS)]
    visits = min((limit for limit in limits if limit is not None), default=None)
    perspective = override.one_of("reportAnalysisWinratesAs", "BLACK", tuple(_PERSPECTIVES), any_case=True)
    seconds = override.number("maxTime", None, 0.0, 1e20)
    line = override.integer("analysisPVLen", 15, 1, 1000)  # the first move is not counted
    override.skip(*_SETTINGS_WITHOUT_EFFECT)
    if override.left:
        warnings.append(("overrideSettings", short(f"Unknown or unused settings: {', '.join(override.left)}")))
    override.forget_rest()
    pv_visits = take.boolean("includePVVisits")
    query = Query(
        id=identity, size=size, stones=stones, first=first, moves=moves, turns=turns, priorities=priorities, rules=rules,
        komi=komi, visits=visits, seconds=None if seconds is None or seconds > LONGEST else seconds,
        playouts=take.integer("playouts", None, 1, MOST_PLAYOUTS), seed=take.integer("seed", None, 0, 2**63),
        perspective=_PERSPECTIVES[perspective],
        wanted=Wanted(
            line=1 + take.integer("analysisPVLen", line, 1, 1000), pv_visits=pv_visits, pv_edge_visits=pv_visits,
            ownership=take.boolean("includeOwnership"), moves_ownership=take.boolean("includeMovesOwnership"),
            shares=take.boolean("includePolicy"), amaf=take.boolean("includeAmaf"),
        ),
        report_every=take.number("reportDuringSearchEvery", None, 0.001, 1e6),
        first_report=take.number("firstReportDuringSearchAfter", None, 0.0, 1e6),
        restrictions=Restrictions.of(_restrictions(take, size), size),
    )  # fmt: skip
    take.forget_rest()
    left = list(take.left)
    for name in left[:MOST_WARNINGS]:
        text = "Field has no effect here: there is no neural network" if name in _WITHOUT_EFFECT else _UNUSED
        warnings.append((short(name, 100), text))
    if left[MOST_WARNINGS:]:
        warnings.append((short(left[MOST_WARNINGS], 100), f"{_UNUSED} (and of {len(left) - MOST_WARNINGS - 1:,} more fields)"))
    return query, warnings


def _at_most(array, most: int, field: str):
    """An array that is not too long."""
    if len(array) > most:
        raise QueryError(f"Must hold at most {most:,} elements, not {len(array):,}", field)
    return array


def _size(take: fields.Fields) -> int:
    x, y = (take.integer(name, fields.REQUIRED, MIN_SIZE, MAX_SIZE) for name in ("boardXSize", "boardYSize"))
    if x != y:
        raise QueryError(f"Only square boards are played, not {x}x{y}", "boardYSize")
    return x


def _rules(take: fields.Fields) -> tuple[rulesets.Ruleset, str | None]:
    asked = take.value("rules", None)
    if asked is None:
        raise QueryError("Must specify rules, such as \"tromp-taylor\"", "rules")
    try:
        rules, warning = rulesets.find(asked)
    except ValueError as error:
        raise QueryError(short(str(error)), "rules") from None
    bonus = take.one_of("whiteHandicapBonus", rules.handicap, ("0", "N", "N-1"))
    return dataclasses.replace(rules, handicap=bonus), warning


def _turns(take: fields.Fields, last: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The turns asked about, each once, and their priorities."""
    turns, priority = take.array("analyzeTurns", (last,)), take.integer("priority", 0, *PRIORITIES)
    _at_most(turns, MOST_MOVES + 1, "analyzeTurns")
    for turn in turns:
        if not fields.is_integer(turn) or not 0 <= turn <= last:
            text = f"Invalid turn number: must be from 0 to {last}, the number of moves, not {short(repr(turn), 60)}"
            raise QueryError(text, "analyzeTurns")
    if not turns:
        raise QueryError("Must hold at least one turn number", "analyzeTurns")
    priorities = take.array("priorities", [priority] * len(turns))
    least, most = PRIORITIES
    if len(priorities) != len(turns) or not all(fields.is_integer(p) and least <= p <= most for p in priorities):
        text = f"Must be an array of integers from {least} to {most}, one for each of analyzeTurns"
        raise QueryError(f"{text}, not {short(repr(priorities), 60)}", "priorities")
    by_turn = dict(zip(reversed(turns), reversed(priorities)))
    turns = tuple(dict.fromkeys(turns))
    return turns, tuple(by_turn[turn] for turn in turns)


def _plays(pairs, field: str, size: int, *, passes: bool = True):
    """(colour, point) of pairs such as ["B", "E5"]."""
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            text = 'Must be an array of pairs of a player and a location, such as ["B", "C4"]'
            raise QueryError(f"{text}, not of {short(repr(pair), 60)}", field)
        colour, point = _colour(pair[0], field), _point(pair[1], field, size)
        if point == size**2 and not passes:
            raise QueryError("Could not parse board location: pass", field)
        yield _move(colour, point)


@functools.cache
def _move(colour: int, point: int) -> tuple[int, int]:
    """One object for all moves that are equal, so that a long game that waits takes little memory."""
    return colour, point


def _colour(name, field: str) -> int:
    colour = COLOURS.get(name.lower()) if isinstance(name, str) else None
    if colour is None:
        raise QueryError(f"Could not parse player: {short(str(name), 50)}", field)
    return colour


def _point(name, field: str, size: int) -> int:
    """The point of a location such as "E5", "(4,4)" or "pass"; the numbers count from 0, from the west and from the north."""
    numbers = _NUMBERS.fullmatch(name.strip()) if isinstance(name, str) else None
    if numbers is not None and max(x := int(numbers[1]), y := int(numbers[2])) < size:
        return y * size + x
    try:
        return coordinates.point(name.strip() if isinstance(name, str) else "", size)
    except ValueError:
        raise QueryError(f"Could not parse board location: {short(str(name), 50)}", field) from None


def _restrictions(take: fields.Fields, size: int):
    """What avoidMoves and allowMoves say: dictionaries of player, moves and untilDepth."""
    number = 0
    for field in ("avoidMoves", "allowMoves"):
        for entry in take.array(field, ()):
            if not isinstance(entry, dict):
                text = "Must be an array of dictionaries with player, moves and untilDepth"
                raise QueryError(f"{text}, not of {short(repr(entry), 60)}", field)
            part = fields.Fields(entry, field)
            colour, names = _colour(part.value("player"), field), part.array("moves")
            number += 1 + len(names)
            if number > MOST_RESTRICTED:
                raise QueryError(f"At most {MOST_RESTRICTED:,} dictionaries and moves may be given in all", field)
            points = tuple(_point(name, field, size) for name in names)
            yield Restriction(field == "avoidMoves", colour, points, part.integer("untilDepth", fields.REQUIRED, 1, 10**6))
