"""What is done in other threads, and its results in the scheduler's: clients take turns."""

import concurrent.futures
import functools
import heapq
import itertools
from collections.abc import Callable, Generator, Iterable
from typing import Any, NamedTuple

from search.turns import Turns

#: What a job's `play` returns where there is more of it to do: it is called again when it is the client's turn.
MORE = object()


class Job(NamedTuple):
    """A piece of work of a client."""

    play: Callable[[], object]
    """What is done, in another thread."""
    add: Callable[[Any], object]
    """Told its result, in the scheduler's thread."""
    fail: Callable[[BaseException], None]
    """Told what went wrong instead."""
    cost: float = 1.0
    """What it counts for where clients take turns: about the time that it takes."""
    priority: int = 0
    """Of a client's jobs those of higher priority come first."""


def in_parts(parts: Generator[None, None, object], stop: Callable[[], bool]) -> Callable[[], object]:
    """The `play` of a job that is done part by part, so that others have their turns between; None once `stop` says so."""

    def play() -> object:
        if stop():
            return None
        try:
            next(parts)
        except StopIteration as end:
            return end.value
        return MORE

    return play


class Jobs:
    """Jobs of all clients. Everything is for the scheduler's thread.

    Args:
      count: jobs under way at a time.
      post: has a function called in the scheduler's thread; for any thread.
    """

    def __init__(self, count: int, post: Callable[[Callable[[], None]], None]):
        self._count, self._post, self._turns = count, post, Turns()
        self._threads = concurrent.futures.ThreadPoolExecutor(count, "jobs")
        self._waiting: dict[object, list[tuple[int, int, Job]]] = {}
        """Of each client a heap: the lower the number of a job, the earlier it was put in."""
        self._under_way, self._numbers = 0, itertools.count()

    def put(self, client, job: Job) -> None:
        """Adds a job to those of a client; those of one priority are done in order."""
        self._put(client, next(self._numbers), job)

    def _put(self, client, number: int, job: Job) -> None:
        heapq.heappush(self._waiting.setdefault(client, []), (-job.priority, number, job))

    def hand_out(self, others: Iterable = (), next_of: Callable[[object], Job | None] = lambda client: None) -> None:
        """Begins as many jobs as may be under way.

        Args:
          others: clients who have more work than what they have put in here.
          next_of: the next job of that; None where there is none left.
        """
        others = list(others)
        while self._under_way < self._count:
            order = self._turns.order([*self._waiting, *others])
            if not order:
                break
            client = order[0]
            number, job = self._take(client) or (next(self._numbers), next_of(client))
            if job is None:
                others = [other for other in others if other is not client]
                continue
            self._turns.took(client, job.cost)
            self._under_way += 1
            self._threads.submit(job.play).add_done_callback(functools.partial(self._done, client, number, job))

    def close(self) -> None:
        """Begins nothing any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _take(self, client) -> tuple[int, Job] | None:
        """The number of the next job that a client has put in, and the job."""
        waiting = self._waiting.get(client)
        if not waiting:
            return None
        _, number, job = heapq.heappop(waiting)
        if not waiting:
            del self._waiting[client]
        return number, job

    def _done(self, client, number: int, job: Job, future: concurrent.futures.Future) -> None:
        if not future.cancelled():
            self._post(lambda: self._tell(future, client, number, job))

    def _tell(self, future: concurrent.futures.Future, client, number: int, job: Job) -> None:
        self._under_way -= 1
        error = future.exception()
        try:
            if error is None and future.result() is MORE:
                self._put(client, number, job)
            elif error is None:
                job.add(future.result())
        except Exception as problem:
            error = problem
        if error is not None:
            job.fail(error)
