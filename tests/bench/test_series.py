"""Series of runs: how much work each is, their order, and what is told of those that fail."""

import pytest

from bench.measure import NotMeasured, Sample
from bench.series import Contender, Plan, Runs, run_in_turn
from bench.worker import WorkerError


class Steady:
    """A worker that does so much a second; keeps what it was asked for.

    Args:
      rate: work a second.
      fails: what it raises at a call, the first of which is 1.
    """

    def __init__(self, rate: float, fails: dict[int, Exception] | None = None):
        self._rate, self._fails, self.asked = rate, fails or {}, []

    def prepare(self, name: str, target: str, **arguments) -> None:
        """Nothing is to be made."""

    def measure(self, name: str, count: int) -> Sample:
        self.asked.append(count)
        if len(self.asked) in self._fails:
            raise self._fails[len(self.asked)]
        return Sample(count, wall=count / self._rate, cpu=count / self._rate)


def one(name: str, worker: Steady, **more) -> Contender:
    return Contender(name, worker, "package.module:name", {}, **{"first": 10, **more})


@pytest.mark.parametrize(
    ("more", "count", "asked"),
    [
        # The first call, tries whose amounts are warmed up but for the first, and two runs of what fills a second.
        ({}, None, [10, 10, 300, 300, 1000, 1000, 1000]),
        ({"most": 500}, None, [10, 10, 500, 500, 500]), ({"most": 1001}, None, [10, 10, 300, 300, 1000, 1000, 1000]),
        ({}, 64, [10, 64, 64, 64]), ({"first": 100}, 64, [64, 64, 64]), ({"always": 7}, 64, [10, 7, 7, 7]),
    ],
)  # fmt: skip
def test_runs_are_as_large_as_fills_the_time(more, count, asked) -> None:
    worker = Steady(1000.0)
    found = run_in_turn([one("a", worker, **more)], Plan(runs=2, seconds=1.0, count=count), lambda _: None)["a"]
    assert worker.asked == asked and found.count == asked[-1]
    assert found.first_call == asked[0] / 1000 and [sample.amount for sample in found.samples] == asked[-2:]


def test_those_that_fail_are_told_of_in_a_line_and_the_others_go_on() -> None:
    fails, said = {3: WorkerError("Traceback:\n  line 1\nValueError: no such luck\n")}, []
    some, failed = [one("a", Steady(1.0)), one("b", Steady(1.0, fails)), one("c", Steady(1.0, {1: NotMeasured("not here")}))], {}
    found = run_in_turn(some, Plan(runs=2, count=10), said.append, failed)
    assert failed == {"b": "ValueError: no such luck", "c": "not here"}
    assert list(found) == ["a"] and len(found["a"].samples) == 2
    assert [text for text in said if "run" in text] == ["a: run 1 of 2", "b: run 1 of 2", "a: run 2 of 2", "b: run 2 of 2"]
    with pytest.raises(NotMeasured, match="not here"):
        run_in_turn([one("c", Steady(1.0, {1: NotMeasured("not here")}))], Plan(runs=1), said.append)


def test_the_share_of_a_core_is_the_least_and_none_is_more_than_one() -> None:
    """Clocks are read one after the other."""
    samples = [Sample(1, wall=1.0, cpu=1.01), Sample(1, wall=2.0, cpu=1.0), Sample(1, wall=1.0, cpu=0.75)]
    assert Runs(1, 0.0, samples[:1]).core_share == 1.0 and Runs(1, 0.0, samples).core_share == 0.5
