"""Timed runs, spreads and ratios, on figures worked out by hand."""

import time

import pytest

from bench.measure import MOST_AT_ONCE, Sample, Work, count_for, paired_ratio, spread, timed


def test_spread_is_median_least_and_greatest() -> None:
    assert spread([3.0, 1.0, 10.0]) == {"median": 3.0, "min": 1.0, "max": 10.0}
    assert spread(iter([2.0, 4.0])) == {"median": 3.0, "min": 2.0, "max": 4.0}


def test_paired_ratio_is_taken_within_each_pair() -> None:
    # A machine that runs at half its speed in the second pair: the ratio does not notice, the medians of the two would.
    assert paired_ratio([10.0, 5.0, 10.0], [5.0, 2.5, 4.0]) == {"median": 2.0, "min": 2.0, "max": 2.5}
    with pytest.raises(ValueError):
        paired_ratio([1.0], [1.0, 2.0])


def test_rates_are_work_over_time() -> None:
    sample = Sample(amount=600, wall=3.0, cpu=2.0)
    assert sample.per_second == 200.0
    assert sample.per_cpu_second == 300.0


@pytest.mark.parametrize(
    ("seconds", "amount", "wall", "count"),
    [
        (1.0, 1000, 1.0, 1000),
        (1.0, 123_456, 1.0, 120_000),
        (0.5, 1000, 2.0, 250),
        (1.0, 7, 1.0, 7),
        (1.0, 1, 50.0, 1),
        (3600.0, 10**9, 1.0, MOST_AT_ONCE),
    ],
)
def test_count_for_fills_the_time_with_two_digits(seconds: float, amount: int, wall: float, count: int) -> None:
    assert count_for(seconds, Sample(amount=amount, wall=wall, cpu=wall)) == count


def test_timed_counts_the_work_done_not_the_work_asked_for() -> None:
    sample = timed(lambda count: Work(count + 2, plies=5.0), 10)
    assert (sample.amount, sample.plies) == (12, 5.0)
    assert sample.wall > 0
    assert sample.cpu > 0


def test_sleeping_costs_no_cpu_time() -> None:
    def sleep(count: int) -> Work:
        time.sleep(0.05)
        return Work(count)

    sample = timed(sleep, 1)
    assert sample.cpu < sample.wall
    assert sample.per_cpu_second > sample.per_second


def test_work_that_was_timed_elsewhere_keeps_its_times() -> None:
    sample = timed(lambda count: Work(count, wall=4.0, cpu=2.0, black_wins=lambda: 0.25), 8)
    assert (sample.wall, sample.cpu, sample.black_wins) == (4.0, 2.0, 0.25)
    assert timed(lambda count: Work(count, wall=0.0, cpu=0.0), 8).per_second < float("inf")
