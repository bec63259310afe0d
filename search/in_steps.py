"""Work in steps: the same code for one game alone, and for hundreds of games side by side.

What plays is a generator. It yields what it asks of the device, a `Question`, and is sent the answer. Alone, each question is
answered at once; side by side, those of one kind are answered together, as one batch. An answer does not depend on what else is
asked, and so neither does the game.
"""

import collections
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from jaxgo.base import threads
from jaxgo.base.promise import Promise

#: How often `side_by_side` asks whether to stop while the device is busy, seconds.
WATCH = 0.2
#: Batches that the device has at a time: the one that it plays and the next, so that it does not wait for the host.
IN_FLIGHT = 2

Found = TypeVar("Found")


class Kind(Protocol, Hashable):
    """Questions that can be answered together: those of equal kinds."""

    @property
    def long(self) -> bool:
        """Whether answers take so long that the host goes on with others meanwhile."""

    def answers(self, questions: Sequence[Any], stop: Callable[[], bool]) -> Sequence[Any] | np.ndarray:
        """What to each question, at least one, is the answer; anything at all once `stop` says so."""


class Question(NamedTuple):
    """What a step asks."""

    kind: Kind
    of: Any
    """As the kind takes it."""


Steps = Generator[Question, Any, Found]
"""Work that asks, and what it comes to."""

Clock = Callable[[], float]
"""Tells seconds."""


def alone(steps: Steps[Found]) -> Found:
    """Does some work by itself."""
    try:
        question = next(steps)
        while True:
            question = steps.send(question.kind.answers([question.of], _never)[0])
    except StopIteration as end:
        return end.value


def _never() -> bool:
    return False


class _Work:
    """Some work among others, and its clock: the time that it has taken itself, and its share of its batches'."""

    def __init__(self, begin: Callable[[Clock], Steps]):
        self._spent = 0.0
        self._since: float | None = None
        self._steps = begin(self.seconds)

    def seconds(self) -> float:
        """The time until now."""
        return self._spent + (0.0 if self._since is None else time.perf_counter() - self._since)

    def go_on(self, answer: Any, taken: float) -> Question:
        """Takes an answer, for which so many seconds were its share, and asks the next question.

        Raises:
          StopIteration: that was the last.
        """
        self._since, self._spent = time.perf_counter(), self._spent + taken
        try:
            return self._steps.send(answer)
        finally:
            self._spent, self._since = self.seconds(), None


def side_by_side(
    begin: Iterable[Callable[[Clock], Steps[Found]]], most: int, stop: Callable[[], bool] = _never
) -> Iterator[Found]:
    """Does many works, so many at a time, until all are done or `stop` says so; one that has ended leaves its place to the next.

    While the device is busy with one batch, the host deals with another: no batch is of more than half of the works.

    Args:
      begin: begins each work; it is given a clock that tells what the work has taken so far, of batches its share.
      most: works under way at a time, at least 1.
      stop: asked a few times a second; what the device has begun may still be finished.

    Yields:
      What each comes to, as it ends.
    """
    beginning, under_way = iter(begin), 0
    waiting: dict[Kind, collections.deque[tuple[_Work, Any]]] = {}
    running: collections.deque[tuple[Promise, list[_Work]]] = collections.deque()
    closing = False

    def go_on(answered: Iterable[tuple[_Work, Any]], taken: float = 0.0) -> Iterator[Found]:
        nonlocal under_way
        for work, answer in answered:
            try:
                question = work.go_on(answer, taken)
            except StopIteration as end:
                under_way -= 1
                yield end.value
            else:
                waiting.setdefault(question.kind, collections.deque()).append((work, question.of))

    def take(kind: Kind, count: int) -> tuple[list[_Work], list[Any]]:
        line = waiting[kind]
        works, questions = zip(*(line.popleft() for _ in range(min(count, len(line)))))
        if not line:
            del waiting[kind]
        return list(works), list(questions)

    def answer(
        kind: Kind, questions: list[Any], before: Promise | None = None
    ) -> tuple[Sequence[Any] | np.ndarray, float]:  # fmt: skip
        if before is not None:
            before.wait()
        start = time.perf_counter()
        answers = kind.answers(questions, lambda: closing or stop())
        return answers, (time.perf_counter() - start) / len(questions)

    try:
        while not stop():
            while under_way < most and (next_one := next(beginning, None)) is not None:
                under_way += 1
                yield from go_on([(_Work(next_one), None)])
            while len(running) < IN_FLIGHT and (long := [kind for kind in waiting if kind.long]):
                kind = max(long, key=lambda kind: len(waiting[kind]))
                works, questions = take(kind, -(-most // 2))
                before, promise = running[-1][0] if running else None, Promise[Any]()
                running.append((promise, works))  # before it begins: what does is waited for
                threads.begin(answer, kind, questions, before, promise=promise)
            short = next((kind for kind in waiting if not kind.long), None)
            if short is not None:
                works, questions = take(short, most)
                answers, taken = answer(short, questions)
                yield from go_on(zip(works, answers), taken)
            elif running:
                if running[0][0].wait(WATCH):
                    promise, works = running.popleft()
                    answers, taken = promise.result()
                    if not stop():
                        yield from go_on(zip(works, answers), taken)
            elif not under_way:
                return
    finally:
        closing = True
        for promise, _ in running:
            if not promise.take_back():
                promise.wait()
