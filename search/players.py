"""Players: bots that choose a move for a position, by name.

Flat bots play random games from the position and choose by the statistics of its moves; tree bots search. `make_player` makes one
from its name; `search.bots` says what each is.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from jaxgo import Position, checks, move_statistics
from jaxgo.devices import default_lanes, workers_of
from jaxgo.position import BLACK
from jaxgo.statistics import MoveStatistics
from search.bots import SUMMARIES
from search.game import Game
from search.root import RootStatistics
from search.rounds import Restrictions
from search.search import Search, check_one_position
from search.selection import UCB1, Rave


@dataclasses.dataclass(frozen=True)
class Limits:
    """How long a player may think: at least one of the two."""

    visits: int | None = None
    """Playouts."""
    seconds: float | None = None
    """Time on the clock on the wall."""

    def __post_init__(self):
        if self.visits is None and self.seconds is None:
            raise ValueError("limits must give visits or seconds")
        if self.visits is not None:
            checks.integer("visits", self.visits, 1)
        wrong = isinstance(self.seconds, bool) or not isinstance(self.seconds, (int, float, type(None)))
        if wrong or (self.seconds is not None and not 0 < self.seconds < float("inf")):
            raise ValueError(f"seconds must be a positive finite number, not {self.seconds!r}")


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """A player's move and what it rests on; arrays [P + 1], rates from the view of the player to move."""

    move: int
    """The point, P for a pass."""
    resign: bool
    """Whether the player would rather resign."""
    win_rate: float
    """Of the move, in [0, 1]; NaN where nothing was played out."""
    visits: np.ndarray
    """What each move was tried: playouts, or for flat bots the credit it earned."""
    values: np.ndarray
    """Win rate of each move in [0, 1]; NaN without visits."""
    playouts: int
    """Playouts made or kept."""
    variation: list[int]
    """The moves expected, this one first."""
    statistics: RootStatistics | MoveStatistics | None
    """The details."""


Progress = Callable[[int], None] | None
"""A function of the number of playouts so far, or None."""

Stop = Callable[[], bool] | None
"""A function that is asked every few milliseconds whether to choose from what there is, or None."""


class Player(Protocol):
    """What every bot offers."""

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        """Chooses a move.

        Args:
          position: one position that is not over.
          history: uint32 [n, 2], hashes of the game's earlier positions (`Game.history`).
          limits: how long to think.
          progress: called now and then with the number of playouts so far.
          stop: asked now and then, in this thread; once it returns True the choice is made from what there is. It belongs to
            the caller, so that a request made before the call counts too.
        """

    def compile(self, size: int) -> None:
        """Compiles for a board size, so that no clock runs meanwhile."""

    def prepare(self, position: Position, history: np.ndarray | None) -> "Search | FlatSearch":
        """The search of a position, to be run and looked at step by step; `choice` is what it would play."""

    def choice(self) -> Choice:
        """What the search prepared last would play now."""


#: How long a step of a flat bot may last where a clock or `stop` can end the thinking, seconds.
STEP_SECONDS = 0.05


#: How long a step of a flat bot may last where a clock or `stop` can end the thinking, seconds.
STEP_SECONDS = 0.05


class FlatSearch:
    """What a bot without a tree learns of one position; the same to use as `search.Search`.

    Args:
      position: one position that is not over.
      history: as in `Player.genmove`.
      rule, komi, devices: as in `FlatPlayer`.
      seed: of the playouts and of the draw among equals.
      resign, restrictions: as in `FlatPlayer`.
    """

    #: Playouts between two calls of `progress`, where nothing else can end the thinking.
    LONG_STEP = 200_000

    def __init__(
        self, position: Position, history, rule: str, *, komi: float, seed: int, resign: float = 0.0,
        restrictions: Restrictions | None = None, devices=None,
    ):  # fmt: skip
        check_one_position(position)
        self.position, self.rule, self.komi, self.seed, self.resign, self.devices = position, rule, komi, seed, resign, devices
        self.visits = 0
        """Playouts so far."""
        self.statistics: MoveStatistics | None = None
        self._useful = useful_moves(position, history)
        if restrictions is not None:
            self._useful = _restricted(self._useful, position, history, restrictions)

    @property
    def stuck(self) -> bool:
        """Whether no useful move is left."""
        return not self._useful.any()

    def run(
        self, *, visits: int | None = None, seconds: float | None = None, progress: Progress = None, stop: Stop = None
    ) -> int:
        """Plays until there have been so many playouts, or so much time has passed, or `stop` says so; returns the playouts."""
        deadline = None if seconds is None else time.monotonic() + seconds
        most = checks.INT32_MAX if visits is None else visits
        least = first_step(self.position.size, self.devices)
        watched = deadline is not None or stop is not None
        step = min(least, self.LONG_STEP) if watched else self.LONG_STEP

        def stopping() -> bool:
            return (stop is not None and stop()) or (deadline is not None and time.monotonic() >= deadline)

        while self.visits < most and (self.visits == 0 or not stopping()):
            start, count = time.monotonic(), min(step, most - self.visits)
            part = move_statistics(
                self.position, count, rule=self.rule, komi=self.komi, seed=self.seed, first_playout=self.visits,
                devices=self.devices,
            )  # fmt: skip
            self.statistics = part if self.statistics is None else self.statistics.plus(part)
            self.visits += count
            if watched:
                step = next_step(step, time.monotonic() - start, least, self.LONG_STEP)
            if progress is not None:
                progress(self.visits)
        return self.visits

    def choice(self) -> Choice:
        """What the bot would play now."""
        if self.stuck or self.statistics is None:
            return _pass(self.position.size**2)
        total, useful = self.statistics, self._useful
        values = np.where(useful & (total.weight[0] > 0), total.value[0], np.nan)
        if np.isnan(values).all():  # no useful move was ever played first: any will do
            values[np.flatnonzero(useful)[0]] = 0.5
        ties = np.flatnonzero(values == np.nanmax(values))
        move = int(np.random.default_rng(self.seed).choice(ties))
        rate = float(values[move])
        visits = np.append(np.where(useful, total.weight[0], 0.0), 0.0)
        return Choice(move, rate < self.resign, rate, visits, np.append(values, np.nan), self.visits, [move], total)

    def close(self) -> None:
        """There is nothing to end."""


class FlatPlayer:
    """A bot without a tree: the best point by a credit rule over playouts of the position itself.

    It passes only when no useful move is left, or when the other player has passed and the score as it stands wins.

    Args:
      rule: one of `jaxgo.credits.RULES`.
      komi, seed, cleanup, restrictions, devices: as in `search.Search`; of the restrictions, those of the first move.
      resign: win rate below which it resigns; 0 never does.
    """

    def __init__(self, rule: str, *, komi=7.5, seed=0, cleanup=False, resign=0.0, restrictions=None, devices=None):
        self.rule, self.komi, self.seed, self.cleanup = rule, checks.komi(komi), checks.integer("seed", seed, 0, 2**63), cleanup
        self.resign, self.restrictions, self.devices = resign, restrictions, devices
        self.search: FlatSearch | None = None
        self._calls = 0

    def compile(self, size: int) -> None:
        for count in (1, 8 * first_step(size, self.devices)):  # few playouts and many take a program each
            move_statistics(Position.empty(size), count, rule=self.rule, devices=self.devices)
        Game(Position.empty(size)).forbidden()

    def prepare(self, position: Position, history: np.ndarray | None) -> FlatSearch:
        """A search of the position, with random numbers of its own."""
        self._calls += 1
        seed = (self.seed + 0x9E3779B97F4A7C15 * self._calls) % 2**64
        self.search = FlatSearch(
            position, history, self.rule, komi=self.komi, seed=seed, resign=self.resign, restrictions=self.restrictions,
            devices=self.devices,
        )  # fmt: skip
        return self.search

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        search = self.prepare(position, history)
        if search.stuck or (passing_wins(position, self.komi) and not self.cleanup):
            return _pass(position.size**2)
        search.run(visits=limits.visits, seconds=limits.seconds, progress=progress, stop=stop)
        return search.choice()

    def choice(self) -> Choice:
        """What the last search would play now."""
        return self.search.choice()


class TreePlayer:
    """A bot that searches, and keeps the part of its tree that the game follows.

    Args:
      rule: a rule of selection.
      resign: win rate below which it resigns; 0 never does.
      **options: of `search.Search`.
    """

    def __init__(self, rule, *, resign: float = 0.0, **options):
        self.rule, self.resign, self.options = rule, resign, options
        self.search: Search | None = None

    def compile(self, size: int) -> None:
        Search(Position.empty(size), rule=self.rule, **self.options).compile()

    def prepare(self, position: Position, history: np.ndarray | None) -> Search:
        """The search of a position: the present one, moved on, where the game has followed it."""
        if self.search is not None and not self._follow(position, history):
            self.search.close()
            self.search = None
        if self.search is None:
            self.search = Search(position, rule=self.rule, history=history, **self.options)
        return self.search

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        search = self.prepare(position, history)
        if passing_wins(position, search.komi) and not search.cleanup:
            return _pass(position.size**2)
        search.run(visits=limits.visits, seconds=limits.seconds, progress=progress, stop=stop)
        return self.choice()

    def choice(self) -> Choice:
        """What the search would play now."""
        search = self.search
        found, move = search.statistics(), search.best()
        rate = float(found.win_rate[move])
        return Choice(
            move, rate < self.resign, rate, found.visits, found.win_rate, found.root_visits, search.variation(move), found
        )

    def _follow(self, position: Position, history: np.ndarray | None) -> bool:
        """Moves the search on to a position that lies at most two moves ahead in its tree."""
        search = self.search
        if search.position.size != position.size:
            return False
        for moves in ((), *search.lines(2)):
            if search.leads_to(moves, position, history):
                for move in moves:
                    search.advance(move)
                return True
        return False


def first_step(size: int, devices=None) -> int:
    """Playouts that all workers make at once: the shortest step that leaves none idle."""
    workers = workers_of(devices)
    return len(workers) * default_lanes(size, workers[0].platform)


def next_step(step: int, seconds: float, least: int, most: int) -> int:
    """How many playouts to make after a step that took so long: about as many as fit `STEP_SECONDS`, in powers of eight."""
    if seconds > STEP_SECONDS:
        return max(step // 8, min(least, step))
    return min(8 * step, most) if 8 * seconds < STEP_SECONDS else step


def _pass(points: int) -> Choice:
    none = np.full(points + 1, np.nan)
    return Choice(points, False, float("nan"), np.zeros(points + 1), none, 0, [points], None)


def useful_moves(position: Position, history: np.ndarray | None) -> np.ndarray:
    """bool [P]: legal points that fill no own eye and repeat no earlier position."""
    return np.asarray(position.useful())[0] & ~Game(position, earlier=history).forbidden()


def _restricted(useful: np.ndarray, position: Position, history, restrictions: Restrictions) -> np.ndarray:
    """bool [P]: what restrictions leave of the useful moves; moves that they allow need not be useful."""
    legal = np.asarray(position.legal())[:, :-1] & ~Game(position, earlier=history).forbidden()
    black = np.asarray(position.to_play) == BLACK
    return restrictions.apply(np.append(useful, not useful.any())[None], legal, np.zeros(1, np.int64), black)[0, :-1]


def passing_wins(position: Position, komi: float) -> bool:
    """Whether the other player has passed and the score as it stands wins for the player to move."""
    if int(np.asarray(position.passes)[0]) != 1:
        return False
    beyond = int(np.asarray(position.score())[0]) - komi
    return (beyond > 0) if int(np.asarray(position.to_play)[0]) == BLACK else (beyond < 0)


#: The rules of the tree bots, by name.
_TREES = {
    "rave": Rave(), "grave": Rave(reference_visits=400), "uct": UCB1(), "rave-v1": Rave(credit="weighted_v1"),
    "rave-v2": Rave(credit="weighted_v2"), "rave-mctr": Rave(credit="mctr_simple"), "ucb": UCB1(),
}  # fmt: skip
#: The credit rules of the flat bots.
_FLAT = {
    "amaf": "amaf", "wamaf": "weighted_v1", "wamaf2": "weighted_v2", "mctr": "mctr_simple", "mctr-capture": "mctr_capture",
    "mc": "first_move", "amaf-first-twice": "amaf_first_twice", "mctr-whole": "mctr_whole",
}  # fmt: skip
#: Options that only tree bots have.
_OF_TREES = ("rule", "leaves", "playouts_per_leaf", "memory", "updates", "in_flight")


def rule_of(bot: str):
    """The rule of selection of a tree bot.

    Raises:
      ValueError: it has none.
    """
    checks.one_of("the bot with settings of a rule", bot, tuple(_TREES))
    return _TREES[bot]


def make_player(bot: str, **options) -> Player:
    """A player by its name in `search.bots.SUMMARIES`.

    Args:
      bot: the name.
      **options: of `FlatPlayer` or `TreePlayer`; flat bots ignore those that only a tree has. `rule` replaces a tree bot's own.

    Raises:
      ValueError: no such bot.
    """
    checks.one_of("bot", bot, tuple(SUMMARIES))
    if bot in _FLAT:
        return FlatPlayer(_FLAT[bot], **{k: v for k, v in options.items() if k not in _OF_TREES})
    if bot == "ucb":
        options["depth"] = 1
    return TreePlayer(options.pop("rule", _TREES[bot]), **options)
