"""A series of timed runs: things that are prepared in workers, sized to fill some seconds, and run in turn.

Every benchmark is one or more such series.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from bench.measure import NotMeasured, Sample, count_for
from bench.worker import Worker, WorkerError

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
    arguments: dict[str, Any]
    """Of its constructor."""
    first: int
    """Amount of work for the first try, which also compiles."""
    most: int | None = None
    """The most work of one run, where memory sets a limit."""
    always: int | None = None
    """What every run is asked for, of an engine that cannot be told how much to do."""


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


def run_in_turn(
    contenders: Sequence[Contender], plan: Plan, say: Say, failed: dict[str, str] | None = None
) -> dict[str, Runs]:
    """Prepares, sizes and runs each contender: A B C A B C ...

    Args:
      contenders: at least one, with different names.
      plan: how much to measure.
      say: told what goes on.
      failed: takes why contenders cannot be measured, by name, in one line each; the others go on then.

    Returns:
      What each did, by name, in the order given, but for those that failed.

    Raises:
      NotMeasured, WorkerError: if one fails and there is no `failed`.
    """
    first_calls, counts = {}, {}
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}

    def make_ready(contender: Contender) -> None:
        say(f"{contender.name}: compiling")
        contender.worker.prepare(contender.name, contender.target, **contender.arguments)
        first = contender.first if plan.count is None else min(contender.first, plan.count)
        first_calls[contender.name] = contender.worker.measure(contender.name, first).wall
        counts[contender.name] = contender.always or plan.count or _size_up(contender, first, plan.seconds)
        if counts[contender.name] != first:
            _warm_up(contender, counts[contender.name])

    def run(contender: Contender, index: int) -> None:
        say(f"{contender.name}: run {index + 1} of {plan.runs}")
        samples[contender.name].append(contender.worker.measure(contender.name, counts[contender.name]))

    def attempt(contender: Contender, step: Callable[[], None]) -> None:
        if contender.name not in samples:
            return
        try:
            step()
        except (NotMeasured, WorkerError) as error:
            if failed is None:
                raise
            say(f"{contender.name}: {error}")
            failed[contender.name] = str(error).strip().splitlines()[-1]
            del samples[contender.name]

    for contender in contenders:
        attempt(contender, functools.partial(make_ready, contender))
    for index in range(plan.runs):
        for contender in contenders:
            attempt(contender, functools.partial(run, contender, index))
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
