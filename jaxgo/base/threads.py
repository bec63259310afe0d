"""Threads that play chunks, take what comes of them, and copy large arrays together.

They are kept from job to job: to start one, and to call a program in it for the first time, takes as long as a small job.
"""

import atexit
import collections
import contextlib
import functools
import os
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxgo.base.promise import Promise

Result = TypeVar("Result")

#: Bytes for which another thread is worth while. A core fills memory that is new to the process with some 5 GB a second.
PIECE = 1 << 22
#: Seconds between two looks at whether all threads rest.
LOOKS = 0.01


#: `works` is true in threads that do such work.
_here = threading.local()


class _Task(NamedTuple):
    """Work to do."""

    within: bool
    """Whether other work wants it done."""
    promise: Promise
    work: Callable[..., Any]
    given: tuple


class _Pool:
    """As many threads as there is work at a time, and one more, which waits for the next.

    A thread that takes the last one's place begins another before it works, so that whoever has work only hands it over, which
    Ctrl-C cannot leave half done: `concurrent.futures` begins threads in the caller's, behind locks that it may leave locked.
    """

    def __init__(self) -> None:
        self._work: collections.deque[_Task] = collections.deque()
        """What other work wants done comes first."""
        self._news: queue.SimpleQueue[bool] = queue.SimpleQueue()
        """Says that there is work, or, once for each thread, that it is to end."""
        self._threads: list[threading.Thread] = []
        self._access, self._resting, self._closed = threading.Lock(), 0, False
        self._add()

    def begin(self, promise: Promise, work: Callable[..., Any], given: tuple) -> None:
        if self._closed:
            raise RuntimeError("nothing can be played any more: the interpreter is ending, and so have the threads")
        task = _Task(getattr(_here, "works", False), promise, work, given)
        (self._work.appendleft if task.within else self._work.append)(task)
        self._news.put(True)

    def close(self) -> None:
        """Waits for what is under way: a program that XLA runs must not outlive the interpreter.

        That may want more done, and wait for it (`jaxgo.base.trials`): until all threads rest none of them ends, and this one
        does it, as there may be no further ones any more.
        """
        _here.works = True
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            with self._access:
                at_rest = not self._work and self._resting == len(alive)
            if at_rest:
                for _ in alive:
                    self._news.put(False)
            alive[0].join(LOOKS)
            while (task := self._wanted_within()) is not None:
                _do(task)
        self._closed = True

    def _wanted_within(self) -> "_Task | None":
        """Takes what other work wants done."""
        with self._access:
            return self._work.popleft() if self._work and self._work[0].within else None

    def _add(self) -> None:
        thread = threading.Thread(target=self._serve, name=f"jaxgo {len(self._threads) + 1}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _serve(self) -> None:
        _here.works = True
        self._rest()
        while self._news.get():
            # Where Ctrl-C came between the work and its news, it is found after the next.
            while self._work:
                with self._access:
                    if not self._work:
                        break
                    task = self._work.popleft()
                    self._resting -= 1
                    last = not self._resting
                if last:
                    # Where the system allows no more, work waits for those that there are.
                    with contextlib.suppress(RuntimeError, MemoryError):
                        self._add()
                _do(task)
                del task  # and what it holds
                self._rest()

    def _rest(self) -> None:
        with self._access:
            self._resting += 1


def _do(task: _Task) -> None:
    _, promise, work, given = task
    del task
    if not promise.begin():
        return
    try:
        promise.keep(work(*given))
    except BaseException as error:
        promise.fail(error)
    finally:
        del promise, work, given  # the error would hold them, by its traceback


@functools.cache
def _pool() -> _Pool:
    pool = _Pool()
    atexit.register(pool.close)
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # which has none of its parent's threads


def begin(work: Callable[..., Result], *given: Any, promise: Promise[Result] | None = None) -> Promise[Result]:
    """Has a thread do some work, one that is idle or a new one.

    Args:
      work: called with the rest.
      promise: of what it returns; for who has to know of the work although Ctrl-C came while it was handed over. By default work
        that was not handed over well is not done.
    """
    asked = Promise[Result]() if promise is None else promise
    try:
        _pool().begin(asked, work, given)
    except BaseException:
        asked.take_back()
        raise
    return asked


def whole(work: Callable[..., Result], *given: Any) -> Result:
    """What some work returns that Ctrl-C must not leave half done: another thread does it, and an interrupt waits for its end."""
    done = begin(work, *given)
    try:
        return done.result()
    except KeyboardInterrupt:
        done.wait()
        raise


def copy(pairs: Sequence[tuple[np.ndarray, np.ndarray]], at_a_time: int) -> None:
    """Copies into the first array of each pair the second, all of whose first two axes are alike, in at most so many threads."""
    number = max(1, min(at_a_time, sum(target.nbytes for target, _ in pairs) // PIECE))
    if number == 1:
        _copy(pairs)
        return
    longest = int(np.argmax(pairs[0][0].shape[:2]))
    split = [[np.array_split(array, number, longest) for array in pair] for pair in pairs]
    parts = [[(targets[i], sources[i]) for targets, sources in split] for i in range(number)]
    others = [(begin(_copy, part), part) for part in parts[1:]]
    _copy(parts[0])
    for other, part in others:
        if other.take_back():  # all threads are busy, perhaps with waiting for others as here
            _copy(part)
        else:
            other.result()


def _copy(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    for target, source in pairs:
        target[...] = source
