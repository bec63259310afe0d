"""The games of a match on many cores: a process for each game under way, bound to cores of its own."""

import concurrent.futures
import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool as BrokenProcessPool
from typing import Any

from bench.hardware import usable_cores
from bench.matches import engine
from bench.matches.playing import Match, play
from jaxgo.base.signals import handled
from jaxgo.cli import look_for_less_garbage


def places(workers: int, cores_each: int) -> list[list[int]]:
    """The cores of each process: the machine's in turn, so that no core has two games before all have one."""
    cores = usable_cores()
    return [[cores[(i * cores_each + j) % len(cores)] for j in range(cores_each)] for i in range(workers)]


def play_all(
    games: Sequence[tuple[Match, int]], where: Sequence[Sequence[int]], stop: Callable[[], bool]
) -> Iterator[tuple[dict, bytes]]:
    """Plays games of matches, as many at a time as there are places, until all are played or `stop` says so.

    Processes end with the iterator, and with this process however it ends.

    Args:
      games: the match and the number of each.
      where: the cores of each process; see `places`.
      stop: asked twice a second.

    Yields:
      Each game as it ends, also those that have ended when it stops, or when another game has failed; see `play`.
    """
    with processes(where) as pool:
        yield from _as_they_end(pool, play, games, 2 * len(where), stop)


def _as_they_end(
    pool: concurrent.futures.Executor, work: Callable, calls: Sequence[tuple], most: int, stop: Callable[[], bool]
) -> Iterator[Any]:
    """What each call of a function comes to, as it ends; so many are handed to the pool at a time. What has ended is never lost,
    whatever ends the others."""
    done: queue.SimpleQueue[concurrent.futures.Future] = queue.SimpleQueue()
    coming, under_way = iter(calls), 0
    failure: BaseException | None = None
    while not failure and not stop():
        with _children_without_interrupt():  # the first calls start the processes
            for call in itertools.islice(coming, most - under_way):
                try:
                    pool.submit(work, *call).add_done_callback(done.put)
                except BrokenProcessPool as error:
                    failure = error
                under_way += 1
        if not under_way:
            return
        with contextlib.suppress(queue.Empty):
            ended = done.get(timeout=0.5)
            under_way -= 1
            failure = failure or ended.exception()
            if ended.exception() is None:
                yield ended.result()
    with contextlib.suppress(queue.Empty):
        while True:
            ended = done.get_nowait()
            if ended.exception() is None:
                yield ended.result()
    if failure is not None:
        raise failure


@contextlib.contextmanager
def processes(where: Sequence[Sequence[int]]) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Processes on these cores, one for each of them; they end with the `with`, and with this process however it ends."""
    context = multiprocessing.get_context("spawn")
    free = context.Queue()
    for cores in where:
        free.put(cores)
    pool = concurrent.futures.ProcessPoolExecutor(len(where), mp_context=context, initializer=_begin, initargs=(free,))
    try:
        yield pool
    finally:
        with _interrupt_later():  # a second Ctrl-C would leave processes for which this one waits as it ends
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():  # in the middle of games that nobody waits for
                worker.terminate()


@contextlib.contextmanager
def _interrupt_later() -> Iterator[None]:
    """What Ctrl-C does is done after this."""
    asked: list[tuple] = []
    before = signal.getsignal(signal.SIGINT)
    try:
        with handled(lambda *what: asked.append(what), signal.SIGINT):
            yield
    finally:
        if asked and callable(before):
            before(*asked[0])


@contextlib.contextmanager
def _children_without_interrupt() -> Iterator[None]:
    """Processes started meanwhile never see Ctrl-C, not even while they import: a terminal sends it to all, and one is to act."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(free) -> None:
    """Binds a process to its cores, before jax counts them, and its life and its engines' to that of the one that started it."""
    # Ctrl-C does nothing here, but is not held back, as engines would inherit that: in them it does what it does anywhere.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, lambda *_: _end())
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, free.get())
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    look_for_less_garbage()


def _end_with_the_parent() -> None:
    """A parent that was killed sends nothing: without it this process would play on, and then wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    _end()


def _end() -> None:
    """Ends this process, whatever it is doing and whatever locks it holds, and the engines that it has started."""
    try:
        engine.kill_all()
    finally:
        os._exit(1)
