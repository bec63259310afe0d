"""Requests that wait: which go together, who waits for whom, and that each is answered once."""

import concurrent.futures
import threading

import numpy as np
import pytest

from search.serving.boards import Boards
from search.serving.limits import Refusal
from search.serving.together import Together

HANG = 20


class Evaluating:
    """Answers each request with its own number of playouts, once it is let; keeps which went together."""

    def __init__(self):
        self.groups: list[list[int]] = []
        self.begun, self.open, self.given_up = threading.Semaphore(0), threading.Event(), threading.Event()

    def __call__(self, group: list[Boards], stop) -> list[bytes | Refusal]:
        self.groups.append([asked.playouts for asked in group])
        self.begun.release()
        while not self.open.wait(0.005):
            if stop():
                self.given_up.set()
                raise RuntimeError("nobody waits")
        if any(asked.playouts == 13 for asked in group):
            raise MemoryError("13")
        return [str(asked.playouts).encode() for asked in group][: 1 if group[0].playouts == 14 else None]

    def wait_for(self, count: int) -> None:
        """Until so many more groups have begun."""
        for _ in range(count):
            assert self.begun.acquire(timeout=HANG)


def asked(playouts: int, seed: int = 0, size: int = 5) -> Boards:
    """A request for so many playouts."""
    nothing = np.zeros(1, np.int32)
    return Boards(np.zeros((1, size, size), np.int8), nothing + 1, nothing - 1, nothing, 7.5, playouts, seed)


def make(evaluate: Evaluating, room: int = 1_000, threads: int = 1) -> Together:
    """A list."""
    return Together(evaluate, lambda _: room, threads)


def results(answers) -> list[bytes]:
    """Of all, once they are there."""
    return [answer.result(HANG) for answer in answers]


def test_what_comes_while_all_are_busy_goes_together_where_it_is_alike_and_has_room():
    evaluate = Evaluating()
    waiting = make(evaluate)
    answers = [waiting.add(asked(1))]
    evaluate.wait_for(1)
    answers += [waiting.add(asked(*more)) for more in ((400,), (2, 7), (500,), (200,), (3, 7), (100,), (4, 0, 9), (900,), (2_000,))]
    evaluate.open.set()
    assert results(answers) == [str(x).encode() for x in (1, 400, 2, 500, 200, 3, 100, 4, 900, 2_000)]
    assert evaluate.groups == [[1], [400, 500, 100], [2, 3], [200], [4], [900], [2_000]]


def test_small_requests_do_not_wait_behind_large_ones():
    large, small = Evaluating(), Evaluating()
    small.open.set()
    lists = make(large, threads=2), make(small)
    kept = [lists[0].add(asked(900, seed)) for seed in range(5)]
    large.wait_for(2)
    assert results([lists[1].add(asked(1))]) == [b"1"] and not any(answer.done() for answer in kept)
    large.open.set()
    assert results(kept) == [b"900"] * 5


def test_who_has_gone_is_not_played_for():
    evaluate = Evaluating()
    waiting = make(evaluate)
    first, *others = [waiting.add(asked(playouts, seed)) for seed, playouts in enumerate((1, 2, 3))]
    evaluate.wait_for(1)
    assert others[0].cancel() and first.cancel()
    assert evaluate.given_up.wait(HANG)
    evaluate.open.set()
    assert results(others[1:]) == [b"3"] and evaluate.groups == [[1], [3]]


def test_a_batch_goes_on_as_long_as_anybody_waits_for_some_of_it():
    evaluate = Evaluating()
    waiting = make(evaluate)
    answers = [waiting.add(asked(playouts, seed)) for playouts, seed in ((9, 1), (1, 0), (2, 0), (3, 0))]
    evaluate.wait_for(1)
    answers.pop(0).cancel()
    evaluate.wait_for(1)
    answers.pop(1).cancel()
    assert not evaluate.open.wait(0.1) and evaluate.groups[1:] == [[1, 2, 3]]
    evaluate.open.set()
    assert results(answers) == [b"1", b"3"]


def test_an_exception_reaches_those_concerned_and_nobody_else():
    evaluate = Evaluating()
    waiting = make(evaluate)
    before = waiting.add(asked(1))
    evaluate.wait_for(1)
    failed = [waiting.add(asked(playouts, seed=3)) for playouts in (12, 13)]
    short = [waiting.add(asked(14, seed=4)) for _ in range(2)]
    after = waiting.add(asked(15))
    failed[0].add_done_callback(lambda _: 1 / 0)
    evaluate.open.set()
    assert results([before, after]) == [b"1", b"15"]
    for answer in failed:
        with pytest.raises(MemoryError, match="13"):
            answer.result(HANG)
    for answer in short:  # told too little
        with pytest.raises(ValueError, match="zip"):
            answer.result(HANG)
    assert results([waiting.add(asked(16))]) == [b"16"]


def test_where_room_cannot_be_told_each_is_evaluated_alone():
    evaluate = Evaluating()
    waiting = Together(evaluate, lambda _: 1 // 0, 1)
    answers = [waiting.add(asked(playouts)) for playouts in (1, 2, 3)]
    evaluate.open.set()
    assert results(answers) == [b"1", b"2", b"3"] and evaluate.groups == [[1], [2], [3]]


def test_many_at_a_time_are_each_answered_once():
    evaluate = Evaluating()
    evaluate.open.set()
    waiting, numbers = make(evaluate, threads=4), range(1, 401)

    def ask(number: int) -> bytes | None:
        answer = waiting.add(asked(100 + number, seed=number % 3))
        return None if number % 7 == 0 and answer.cancel() else answer.result(HANG)

    with concurrent.futures.ThreadPoolExecutor(16) as clients:
        found = list(clients.map(ask, numbers))
    assert all(answer in (None, str(100 + number).encode()) for number, answer in zip(numbers, found))
    played = [playouts for group in evaluate.groups for playouts in group]
    assert len(played) == len(set(played)) and {100 + n for n, answer in zip(numbers, found) if answer is not None} <= set(played)
