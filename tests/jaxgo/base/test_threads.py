"""Threads that are kept, and copies that several of them make together."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

from jaxgo.base import threads
from jaxgo.base.promise import Promise
from tests.processes import run_with_devices


def test_threads_are_kept(monkeypatch):
    """Idle ones do the next work: two are enough for one work after the other."""
    pool = threads._Pool()
    monkeypatch.setattr(threads, "_pool", lambda: pool)
    assert len({threads.begin(threading.get_ident).result() for _ in range(50)}) <= 3  # a third, where one is slow to say it is idle
    pool.close()


def test_what_work_raises_is_told():
    with pytest.raises(ZeroDivisionError):
        threads.begin(lambda: 1 // 0).result()


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()], ids=repr)
def test_work_waits_for_a_thread_where_the_system_allows_no_more(monkeypatch, error):
    pool, promises = threads._Pool(), [Promise() for _ in range(3)]

    def refused(_):
        raise error

    monkeypatch.setattr(threading.Thread, "start", refused)
    for promise in promises:
        pool.begin(promise, int, ())
    assert [promise.result() for promise in promises] == [0] * 3
    pool.close()


def test_work_of_which_no_thread_was_told_is_done_with_the_next():
    """As where Ctrl-C comes between the two."""
    pool, forgotten, promise = threads._Pool(), Promise(), Promise()
    pool._work.append(threads._Task(False, forgotten, int, ("3",)))
    pool.begin(promise, int, ("4",))
    assert forgotten.wait(10) and forgotten.result() == 3 and promise.result() == 4
    pool.close()


def test_work_that_could_not_be_handed_over_is_wanted_no_more(monkeypatch):
    """Those who wait for it, too, come to know."""
    pool, promise = threads._Pool(), Promise()
    pool.close()
    monkeypatch.setattr(threads, "_pool", lambda: pool)
    with pytest.raises(RuntimeError, match="nothing can be played any more"):
        threads.begin(int, promise=promise)
    assert promise.taken_back


def test_work_that_nobody_wants_is_not_done():
    done, promise = [], Promise()
    promise.take_back()
    threads._do(threads._Task(False, promise, done.append, (1,)))
    assert not done


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_thread_lives_on_whatever_work_raises(error):
    def work():
        raise error

    promise = threads.begin(work)
    assert promise.wait(10)
    with pytest.raises(error):
        promise.result()


def test_what_is_under_way_ends_before_the_interpreter():
    """A program that XLA runs would otherwise use what is there no more."""
    code = "import time; from jaxgo.base import threads; threads.begin(lambda: (time.sleep(0.5), print('ended', flush=True)))"
    assert run_with_devices(1, code, lightly=True) == "ended\n"


def test_what_is_under_way_at_the_end_gets_what_it_waits_for():
    """Also where the interpreter begins no more threads, as from Python 3.12 on."""
    inner = "threads.begin(lambda: threads.begin(lambda: 'ended').result()).result()"
    code = f"import time; from jaxgo.base import threads; threads.begin(lambda: (time.sleep(0.5), print({inner}, flush=True)))"
    assert run_with_devices(1, code, lightly=True) == "ended\n"


def test_the_same_where_no_thread_can_be_begun_any_more():
    """As from Python 3.12 on when the interpreter ends, and where several want something under one lock."""
    code = """
import threading, time
from jaxgo.base import threads
lock = threading.Lock()
def work(name):
    time.sleep(0.3)
    with lock:
        print(name, threads.begin(lambda: "ended").result(), flush=True)
def refused(self):
    raise RuntimeError("can't create new thread at interpreter shutdown")
threads.begin(int).result()
threading.Thread.start = refused
for name in "abc":
    threads.begin(work, name)
"""
    assert sorted(run_with_devices(1, code, lightly=True).splitlines()) == ["a ended", "b ended", "c ended"]


def test_what_is_asked_for_after_the_end_is_refused():
    """A program's own `atexit` that was registered before the first use runs after the threads' end."""
    code = """
import atexit
from jaxgo.base import threads
def late():
    try:
        threads.begin(int)
    except RuntimeError as error:
        print(error, flush=True)
atexit.register(late)
threads.begin(int).result()
"""
    assert run_with_devices(1, code, lightly=True).startswith("nothing can be played any more: the interpreter is ending")


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("moment", ["before", "while"])
def test_whole_work_is_whole_though_ctrl_c_comes(moment):
    done = []

    def work() -> int:
        if moment == "while":
            signal.raise_signal(signal.SIGINT)  # which the main thread gets while it waits
        time.sleep(0.2)
        done.append(1)
        return 7

    assert threads.whole(lambda: 7) == 7
    with pytest.raises(KeyboardInterrupt):
        if moment == "before":
            signal.raise_signal(signal.SIGINT)
        threads.whole(work)
    assert done == [1] * (moment == "while")


def _work_in_a_fork(connection) -> None:
    connection.send(threads.begin(os.getpid).result())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_fork_has_threads_of_its_own():
    threads.begin(int).result()
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    process = fork.Process(target=_work_in_a_fork, args=(theirs,))
    process.start()
    assert ours.poll(60) and ours.recv() == process.pid
    process.join()


@pytest.mark.parametrize("shape", [(1, 1000), (1000, 1), (3, 1), (1, 1), (40, 25)])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_copies_by_several_threads_are_whole(monkeypatch, shape, number):
    """Of arrays with more axes, and into part of an array, too."""
    monkeypatch.setattr(threads, "PIECE", 64)
    random = np.random.default_rng(0)
    sources = [random.integers(100, size=(*shape, *more)).astype(np.int16) for more in ((), (7,))]
    rooms = [np.full((shape[0] + 2, *source.shape[1:]), -1, np.int16) for source in sources]
    threads.copy([(room[1:-1], source) for room, source in zip(rooms, sources)], number)
    for room, source in zip(rooms, sources):
        np.testing.assert_array_equal(room[1:-1], source)
        assert (room[0] == -1).all() and (room[-1] == -1).all()


def test_few_bytes_are_copied_by_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "begin", lambda *_: pytest.fail("another was asked"))
    room = np.zeros((2, 3))
    threads.copy([(room, np.ones((2, 3)))], 16)
    assert (room == 1).all()


def test_copies_need_no_other_thread(monkeypatch):
    """Those of which all are busy, with copies for example, are not waited for."""
    begun = []
    monkeypatch.setattr(threads, "PIECE", 8)
    monkeypatch.setattr(threads, "begin", lambda *_: begun.append(Promise()) or begun[-1])
    room = np.zeros((2, 3))
    threads.copy([(room, np.ones((2, 3)))], 4)
    assert (room == 1).all() and len(begun) == 3, "and this one"


def test_a_failure_in_another_thread_is_told(monkeypatch):
    monkeypatch.setattr(threads, "PIECE", 8)
    with pytest.raises(ValueError, match="broadcast"):
        threads.copy([(np.zeros((1, 8, 3)), np.zeros((1, 8, 2)))], 4)


def test_a_failure_in_another_thread_alone_is_told(monkeypatch):
    """It is waited for."""
    under_way, here = threading.Event(), threading.get_ident()

    def copy(_):
        if threading.get_ident() != here:
            under_way.set()
            raise ZeroDivisionError
        assert under_way.wait(10)

    monkeypatch.setattr(threads, "PIECE", 8)
    monkeypatch.setattr(threads, "_copy", copy)
    with pytest.raises(ZeroDivisionError):
        threads.copy([(np.zeros((1, 8)), np.zeros((1, 8)))], 2)
