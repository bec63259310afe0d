"""Timed runs and what may be said from them: rates, medians, paired ratios.

A run does a known amount of work (playouts, steps) and takes wall seconds and CPU seconds. A rate *per core* is work per CPU
second of a process that is pinned to one core: other programs on the machine then cost the figure little, although they still
share its caches and memory. A rate *on all cores* is work per wall second, and only holds on a quiet machine.

Two things are compared by running them in turn, A B A B ..., and taking the ratio within each pair: what drifts over the minutes
(clock, other load) then falls on both.
"""

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

#: A ratio is told where that of no pair of runs is more than so many times that of another.
MOST_APART = 1.25


class NotMeasured(Exception):
    """An engine cannot be measured; the text, one line, tells a user why."""


class Work(NamedTuple):
    """What one run did."""

    amount: int
    """Playouts finished, or steps made."""
    plies: float | None = None
    """Mean plies per playout, as a check that the engines play the same game; None where there is none."""
    black_wins: float | Callable[[], float] | None = None
    """Share of the playouts that Black won, as another one; a function is called when the clock has stopped."""
    wall: float | None = None
    """Seconds on the clock, where the work was done elsewhere and was timed there; None leaves it to `timed`."""
    cpu: float | None = None
    """CPU seconds, likewise."""
    differs: Mapping[str, str] | None = None
    """What an engine says of its work, by the fields of `bench.differences.Differences`."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """One timed run."""

    amount: int
    """Playouts finished, or steps made."""
    wall: float
    """Seconds on the clock."""
    cpu: float
    """CPU seconds of the process, all its threads together."""
    plies: float | None = None
    """Mean plies per playout, or None."""
    black_wins: float | None = None
    """Share of the playouts that Black won, or None."""
    differs: Mapping[str, str] | None = None
    """As of `Work`."""

    @property
    def per_cpu_second(self) -> float:
        """Work per CPU second."""
        return self.amount / self.cpu

    @property
    def per_second(self) -> float:
        """Work per wall second."""
        return self.amount / self.wall

    @property
    def cores(self) -> float:
        """How many cores were busy with it on average. Pinned to one: its share of that core, 1 where nothing else ran there."""
        return self.cpu / self.wall


def timed(run: Callable[[int], Work], count: int) -> Sample:
    """Times one run.

    Args:
      run: does the work and returns when all of it is done (nothing may be left running on a device).
      count: how much to ask for; what was really done is in the result.

    Returns:
      The sample.
    """
    start_wall, start_cpu = time.perf_counter(), time.process_time()
    work = run(count)
    wall, cpu = time.perf_counter() - start_wall, time.process_time() - start_cpu
    # No clock may read zero, or a rate would be infinite: the clocks' resolution is the least that can have passed.
    least = time.get_clock_info("process_time").resolution
    return Sample(
        amount=work.amount,
        wall=max(wall if work.wall is None else work.wall, least),
        cpu=max(cpu if work.cpu is None else work.cpu, least),
        plies=work.plies,
        black_wins=work.black_wins() if callable(work.black_wins) else work.black_wins,
        differs=work.differs,
    )


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, least and greatest of some figures.

    Args:
      values: at least one finite number.

    Returns:
      A dict of floats with the keys `median`, `min` and `max`.
    """
    values = list(values)
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, float]:
    """The spread of a ratio over runs taken in turn.

    Args:
      numerators: figures of one thing, run by run.
      denominators: figures of the other, each from the run beside it.

    Returns:
      The spread of the pairs' ratios, as of `spread`.

    Raises:
      ValueError: if the two differ in number.
    """
    return spread(a / b for a, b in zip(numerators, denominators, strict=True))


def apart(figures: Mapping[str, float]) -> float:
    """How many times the least of a spread its greatest is; a ratio whose pairs are more than `MOST_APART` apart is not told."""
    return figures["max"] / figures["min"]


def count_for(seconds: float, sample: Sample) -> int:
    """How much work fills some seconds, judging by a sample.

    Args:
      seconds: wall time aimed at, > 0.
      sample: a run that did not compile anything.

    Returns:
      An amount of work >= 1 with two significant digits, so that reports can be read.
    """
    count = sample.per_second * seconds
    if count < 1:
        return 1
    digits = 10 ** max(0, math.floor(math.log10(count)) - 1)
    return max(1, min(int(count) // digits * digits, MOST_AT_ONCE))


MOST_AT_ONCE = 1_000_000_000
"""No run asks for more: counts are int32 on the device."""
