"""Work in steps, alone and side by side, of questions that are easily answered."""

import dataclasses
import threading
import time

import pytest

from search.in_steps import Question, alone, side_by_side


@dataclasses.dataclass(frozen=True)
class Doubles:
    """The kind of questions what twice a number is."""

    long: bool = False
    asked: list = dataclasses.field(default_factory=list, compare=False)

    def answers(self, questions, stop):
        self.asked.append(list(questions))
        return [2 * x for x in questions]


def doubled(kind, number: int, times: int):
    """A number doubled so many times."""
    for _ in range(times):
        number = yield Question(kind, number)
    return number


def begun(kinds, times):
    """Works 0, 1, and so on: doubles of their numbers plus one."""
    return [lambda clock, i=i, n=n: doubled(kinds[i % len(kinds)], i + 1, n) for i, n in enumerate(times)]


TIMES = [3, 0, 1, 5, 2, 2, 4]


@pytest.mark.parametrize("most", [1, 2, 7, 100])
def test_each_comes_to_what_it_does_alone(most):
    kinds = Doubles(), Doubles(long=True)
    found = list(side_by_side(begun(kinds, TIMES), most))
    assert sorted(found) == sorted(alone(doubled(Doubles(), i + 1, n)) for i, n in enumerate(TIMES))
    assert sum(len(batch) for kind in kinds for batch in kind.asked) == sum(TIMES)


def test_questions_of_a_kind_are_answered_together_and_places_are_filled():
    """Of long ones half at a time, so that the host has the other half to deal with."""
    short, long = Doubles(), Doubles(long=True)
    assert len(list(side_by_side(begun([short], [1] * 10), 4))) == 10
    assert [len(batch) for batch in short.asked] == [4, 4, 2]
    assert len(list(side_by_side(begun([long], [1] * 8), 8))) == 8
    assert [len(batch) for batch in long.asked] == [4, 4]


def test_a_clock_tells_a_works_own_time_and_its_share_of_batches():
    @dataclasses.dataclass(frozen=True)
    class Slow:
        long = True

        def answers(self, questions, stop):
            time.sleep(0.2)
            return questions

    def work(clock):
        start = clock()
        yield Question(Slow(), None)
        return clock() - start

    found = list(side_by_side([work] * 8, 8))
    assert all(0.05 <= seconds for seconds in found), "a quarter of a batch of four"
    assert sum(found) < 8 * 0.2, "not the whole batch's"


def test_what_is_stopped_in_the_middle_of_a_batch_ends_it():
    """The batch is asked to end, and what it says then is nobody's."""
    begun_batch, ended = threading.Event(), threading.Event()

    @dataclasses.dataclass(frozen=True)
    class Endless:
        long = True

        def answers(self, questions, stop):
            begun_batch.set()
            while not stop():
                time.sleep(0.01)
            ended.set()
            return []

    def work(clock):
        yield Question(Endless(), None)

    assert list(side_by_side([work] * 3, 3, begun_batch.is_set)) == []
    assert ended.is_set()


def test_an_error_ends_all():
    def work(clock):
        yield Question(Doubles(), 1)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(side_by_side([work] * 3, 2))
