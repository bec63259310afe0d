"""Bots without a tree: the best move by the statistics of playouts from the position itself."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence

import numpy as np

from jaxgo import BLACK, MoveStatistics, Position, move_statistics
from jaxgo.backends.choice import backend_of, workers_of
from jaxgo.base import checks
from jaxgo.base.constants import INT32_MAX
from jaxgo.playing.policies.in_order import Policies, begun, each_of, from_here
from jaxgo.results.credits import RULES
from search.choice import (
    MOST_VISITS,
    Choice,
    Limits,
    Player,
    Progress,
    Stop,
    check_thinking,
    passing,
    passing_wins,
    searched,
    useful_moves,
    useful_moves_in_steps,
)  # fmt: skip
from search.game import check_one_position, legal_moves
from search.in_steps import Question, Steps, alone
from search.lessons import lessons_of, seconds_of
from search.replay import together
from search.restrictions import Restrictions, check_restrictions

#: How long a step of a flat bot may last where a clock or `stop` can end the thinking, seconds.
STEP_SECONDS = 0.05


class Stopped(Exception):
    """What was asked for is not wanted any more."""


@dataclasses.dataclass(frozen=True)
class OfPlayouts:
    """The kind of questions for the statistics of moves of (position, stream), by the same playouts and rule.

    The answers are `MoveStatistics` of one position each.
    """

    size: int
    rule: str
    komi: float
    seed: int
    first: int
    """Number of the first playout."""
    count: int
    policies_are: tuple[int, ...]
    """Those of one kind are the same objects."""
    devices_are: int
    """Likewise."""
    policy: Policies = dataclasses.field(compare=False)
    devices: object = dataclasses.field(compare=False)
    long = True

    def answers(self, questions: Sequence[tuple[Position, int]], stop: Callable[[], bool]) -> Sequence[MoveStatistics]:
        positions, streams = zip(*questions)

        def watch(*_) -> None:
            if stop():
                raise Stopped

        try:
            found = move_statistics(
                together(positions), self.count, rule=self.rule, komi=self.komi, seed=self.seed, streams=np.array(streams),
                first_playout=self.first, devices=self.devices, policy=self.policy, progress=watch,
            )  # fmt: skip
        except Stopped:
            return []
        return found.each()


class FlatSearch:
    """What a bot without a tree learns of one position; the same to use as `search.Search`.

    Args:
      position: one position that is not over.
      history: as in `Player.genmove`.
      useful: bool [P], the moves that it chooses from.
      rule, komi, devices: as in `FlatPlayer`.
      seed, stream: of the playouts, as in `jaxgo.move_statistics`, and of the draw among equals.
      resign, policy, restrictions: as in `FlatPlayer`; `useful` is what the last have left.
    """

    #: Playouts between two calls of `progress`, where nothing else can end the thinking.
    LONG_STEP = 200_000

    def __init__(
        self, position: Position, history, useful: np.ndarray, rule: str, *, komi: float, seed: int, stream: int,
        resign: float, devices, policy: Policies, restrictions: Restrictions | None,
    ):  # fmt: skip
        self.position, self.history, self.rule, self.komi = position, history, rule, komi
        self.seed, self.stream, self.resign, self.devices, self.policy = seed, stream, resign, devices, policy
        self.restrictions = restrictions
        self.visits = 0
        """Playouts so far."""
        self.statistics: MoveStatistics | None = None
        self._useful = useful

    @property
    def stuck(self) -> bool:
        """Whether no useful move is left."""
        return not self._useful.any()

    def run(
        self, *, visits: int | None = None, seconds: float | None = None, progress: Progress = None, stop: Stop = None
    ) -> int:
        """Plays until there have been so many playouts, or so much time has passed, or `stop` says so; returns the playouts."""
        return alone(self.run_in_steps(visits, seconds, progress, stop))

    def run_in_steps(
        self, visits: int | None, seconds: float | None = None, progress: Progress = None, stop: Stop = None
    ) -> Steps[int]:
        """`run`, among others (`search.in_steps`)."""
        deadline = None if seconds is None else time.monotonic() + checks.number("seconds", seconds, 0)
        visits = MOST_VISITS if visits is None else checks.integer("visits", visits, 0, MOST_VISITS)
        most = min(visits, INT32_MAX)  # as many have numbers
        watched = deadline is not None or stop is not None
        least = first_step(self.position.size, self.devices) if watched else self.LONG_STEP
        step = min(least, self.LONG_STEP)

        def stopping() -> bool:
            return (stop is not None and stop()) or (deadline is not None and time.monotonic() >= deadline)

        while self.visits < most and (self.visits == 0 or not stopping()):
            start, count = time.monotonic(), min(step, most - self.visits)
            kind = OfPlayouts(
                self.position.size, self.rule, self.komi, self.seed, self.visits, count,
                tuple(map(id, each_of(self.policy))), id(self.devices), self.policy, self.devices,
            )  # fmt: skip
            part = yield Question(kind, (self.position, self.stream))
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
            return passing(self.position.size**2)
        total, useful = self.statistics, self._useful
        values = np.where(useful & (total.weight[0] > 0), total.value[0], np.nan)
        best = np.fmax.reduce(values)
        # Where no useful move was ever played first, any will do.
        ties = np.flatnonzero(useful if np.isnan(best) else values == best)
        move = int(ties[0] if len(ties) == 1 else np.random.default_rng([self.seed, self.stream]).choice(ties))
        rate = float(values[move])
        visits = np.append(np.where(useful, total.weight[0], 0.0), 0.0)
        return Choice(move, rate < self.resign, rate, visits, np.append(values, np.nan), self.visits, [move], total)

    def close(self) -> None:
        """There is nothing to end."""


class FlatPlayer(Player):
    """A bot without a tree: the best point by a credit rule over playouts of the position itself.

    It passes only when no useful move is left, or when the other player has passed and the score as it stands wins.

    Args:
      rule: one of `jaxgo.credits.RULES`.
      komi, seed, cleanup, restrictions, devices: as in `search.Search`; of the restrictions, those of the first move.
      policy: as in `search.players.TreePlayer`.
      resign: win rate below which it resigns, 0 to 1; 0 never does.
      stream: the random stream of its first search (`streams` of `jaxgo.move_statistics`); each further search has the next. So
        players of one seed share no random numbers, and their searches of several games can be done in one batch.
    """

    def __init__(
        self, rule: str, *, komi=7.5, seed=0, cleanup=False, resign=0.0, restrictions=None, devices=None,
        policy: Policies = None, stream: int = 0,
    ):  # fmt: skip
        checks.one_of("rule", rule, RULES)
        self.rule, self.komi, self.cleanup = rule, checks.komi(komi), checks.boolean("cleanup", cleanup)
        self.seed = checks.integer("seed", seed, 0, 2**64 - 1)
        resign = checks.number("resign", resign, 0, 1)
        check_restrictions(restrictions)
        self.resign, self.restrictions, self.devices, self.policy = resign, restrictions, devices, policy
        self.search: FlatSearch | None = None
        self._streams = itertools.count(checks.integer("stream", stream, 0, INT32_MAX))
        self._lessons = lessons_of(policy, komi=self.komi, seed=self.seed, devices=devices, stream=stream)

    def compile(self, size: int) -> None:
        if self._lessons is not None:
            self._lessons.compile(size)
        policy = begun(self.policy, size)
        for count in (1, 8 * first_step(size, self.devices), 64 * first_step(size, self.devices)):  # programs by the job's size
            move_statistics(Position.empty(size), count, rule=self.rule, devices=self.devices, policy=policy)
        useful = useful_moves(Position.empty(size), None)
        if self.restrictions is not None:
            _restricted(useful, Position.empty(size), None, self.restrictions)

    def prepare(self, position: Position, history: np.ndarray | None, seconds: float | None = None) -> FlatSearch:
        """A search of the position, with random numbers of its own."""
        return alone(self.prepare_in_steps(position, history, seconds))

    def prepare_in_steps(
        self, position: Position, history: np.ndarray | None, seconds: float | None = None
    ) -> Steps[FlatSearch]:  # fmt: skip
        """`prepare`, among others (`search.in_steps`)."""
        check_one_position(position)
        check_restrictions(self.restrictions, position.size)
        useful = yield from useful_moves_in_steps(position, history)
        if self.restrictions is not None:
            useful = _restricted(useful, position, history, self.restrictions)
        known = begun(self.policy, position.size) if self._lessons is None else self._lessons.hold(position, seconds)
        self.search = FlatSearch(
            position, history, useful, self.rule, komi=self.komi, seed=self.seed, stream=next(self._streams) & INT32_MAX,
            resign=self.resign, devices=self.devices, policy=from_here(known, position), restrictions=self.restrictions,
        )  # fmt: skip
        return self.search

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        return alone(self.genmove_in_steps(position, history, limits, progress, stop))

    def genmove_in_steps(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Steps[Choice]:
        check_thinking(limits, progress, stop)
        before = seconds_of(self._lessons)
        search = yield from self.prepare_in_steps(position, history, limits.seconds)
        if search.stuck or (passing_wins(position, self.komi, self.restrictions) and not self.cleanup):
            return passing(position.size**2)
        left = None if limits.seconds is None else max(0.0, limits.seconds - (seconds_of(self._lessons) - before))
        yield from search.run_in_steps(limits.visits, left, progress, stop)
        return search.choice()

    def choice(self) -> Choice:
        """What the last search would play now.

        Raises:
          ValueError: there has been none.
        """
        return searched(self.search).choice()


def first_step(size: int, devices=None) -> int:
    """Playouts that all workers make at once: the shortest step that leaves none idle."""
    workers = workers_of(devices)
    return len(workers) * backend_of(workers[0]).most_lanes(size)


def next_step(step: int, seconds: float, least: int, most: int) -> int:
    """How many playouts to make after a step that took so long: about as many as fit `STEP_SECONDS`, in powers of eight."""
    if seconds > STEP_SECONDS:
        return max(step // 8, min(least, step))
    return min(8 * step, most) if 8 * seconds < STEP_SECONDS else step


def _restricted(useful: np.ndarray, position: Position, history, restrictions: Restrictions) -> np.ndarray:
    """bool [P]: what restrictions leave of the useful moves; moves that they allow need not be useful."""
    black = bool(np.asarray(position.to_play)[0] == BLACK)
    return restrictions.at_root(np.append(useful, not useful.any()), legal_moves(position, history), black)[:-1]
