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
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Work(NamedTuple):
    """What one run did."""

    amount: int
    """Playouts finished, or steps made."""
    plies: float | None = None
    """Mean plies per playout, as a check that the engines play the same game; None where there is none."""


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
    wall, cpu = time.perf_counter(), time.process_time()
    work = run(count)
    # No clock may read zero, or a rate would be infinite: the clocks' resolution is the least that can have passed.
    least = time.get_clock_info("process_time").resolution
    return Sample(
        amount=work.amount,
        wall=max(time.perf_counter() - wall, least),
        cpu=max(time.process_time() - cpu, least),
        plies=work.plies,
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
