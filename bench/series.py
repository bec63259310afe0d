"""A series of timed runs: things that are prepared in workers, sized to fill some seconds, and run in turn.

Every benchmark is one or more such series.
"""

import dataclasses
from collections.abc import Callable, Sequence

from bench.measure import Sample, count_for
from bench.worker import Worker

#: Receives one line on what is going on.
Say = Callable[[str], None]

#: A run that is to tell how much work fills the time must itself have taken this share of it.
TELLING = 0.1
#: Work asked for grows at most so much from one try to the next.
GROWTH = 30


@dataclasses.dataclass(frozen=True)
class Plan:
    """How much to measure."""

    runs: int = 5
    """Timed runs of each thing."""
    seconds: float = 1.0
    """About the wall time of a run, where `count` does not say how much work it is."""
    count: int | None = None
    """Playouts or steps of a run, or None."""


@dataclasses.dataclass(frozen=True)
class Contender:
    """One of the things that are run in turn."""

    name: str
    """Shown to people, and unique in its series."""
    worker: Worker
    """Where it runs."""
    target: str
    """The class that does the work, as `package.module:name`."""
    arguments: dict[str, object]
    """Of its constructor."""
    first: int
    """Amount of work for the first try, which also compiles."""
    most: int | None = None
    """The most work of one run, where memory sets a limit."""


@dataclasses.dataclass(frozen=True)
class Runs:
    """What a contender did."""

    count: int
    """Work asked for in each run."""
    first_call: float
    """Seconds of the first call, which compiles and does a little work."""
    samples: list[Sample]
    """The timed runs, in order."""

    @property
    def core_share(self) -> float:
        """Of work pinned to one core: the least share of that core that a run had, 1 where nothing else ran on it."""
        return min(1.0, *(sample.cores for sample in self.samples))


def within(say: Say, place: str) -> Say:
    """A `say` that names the place, too."""
    return lambda text: say(f"{place}: {text}")


def run_in_turn(contenders: Sequence[Contender], plan: Plan, say: Say) -> dict[str, Runs]:
    """Prepares, sizes and runs each contender: A B C A B C ...

    Args:
      contenders: at least one, with different names.
      plan: how much to measure.
      say: told what goes on.

    Returns:
      What each did, by name, in the order given.

    Raises:
      WorkerError: if one fails.
    """
    first_calls, counts = {}, {}
    for contender in contenders:
        say(f"{contender.name}: compiling")
        contender.worker.prepare(contender.name, contender.target, **contender.arguments)
        first = contender.first if plan.count is None else min(contender.first, plan.count)
        first_calls[contender.name] = contender.worker.measure(contender.name, first).wall
        counts[contender.name] = plan.count or _size_up(contender, first, plan.seconds)
        if counts[contender.name] != first:
            _warm_up(contender, counts[contender.name])
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for index in range(plan.runs):
        for contender in contenders:
            say(f"{contender.name}: run {index + 1} of {plan.runs}")
            samples[contender.name].append(contender.worker.measure(contender.name, counts[contender.name]))
    return {name: Runs(counts[name], first_calls[name], samples[name]) for name in samples}


def _size_up(contender: Contender, count: int, seconds: float) -> int:
    """The amount of work that fills some seconds, found by trying more and more."""
    while True:
        sample = contender.worker.measure(contender.name, count)  # warmed up below, or by the first call
        enough = count_for(seconds, sample)
        if contender.most is not None and enough >= contender.most:
            return contender.most
        if sample.wall >= TELLING * seconds or enough <= count:
            return enough
        count = min(enough, count * GROWTH)
        _warm_up(contender, count)


def _warm_up(contender: Contender, count: int) -> None:
    """Runs once untimed: another amount of work can mean another shape, and a compile."""
    contender.worker.measure(contender.name, count)
