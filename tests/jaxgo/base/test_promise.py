"""Promises: kept, broken, taken back; and Ctrl-C at any moment."""

import concurrent.futures
import gc
import threading
import time
import weakref

import pytest

from jaxgo.base import promise as promises
from jaxgo.base import threads
from jaxgo.base.promise import Promise
from tests.processes import only_on_linux, run_with_devices


def test_a_promise_is_kept_once():
    promise = Promise[int]()
    assert not promise.done and not promise.wait(0) and not promise.wait(0.01)
    promise.keep(3)
    promise.keep(4)
    promise.fail(ZeroDivisionError())
    assert promise.done and promise.wait(0) and promise.wait() and not promise.take_back()
    assert promise.result() == promise.result() == 3


def test_what_breaks_a_promise_is_raised():
    promise = Promise[int]()
    promise.fail(ZeroDivisionError("why"))
    promise.keep(4)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="why"):
            promise.result()


def test_what_is_taken_back_is_not_begun():
    promise = Promise[int]()
    assert promise.take_back() and promise.take_back() and promise.taken_back and promise.done
    assert not promise.begin()
    promise.keep(3)
    with pytest.raises(concurrent.futures.CancelledError):
        promise.result()


def test_what_is_begun_is_not_taken_back():
    promise = Promise[int]()
    assert promise.begin() and not promise.take_back() and not promise.done
    promise.keep(3)
    assert promise.result() == 3 and not promise.taken_back


@pytest.mark.parametrize("end", [lambda p: p.keep(1), lambda p: p.fail(ValueError()), lambda p: p.take_back()])
def test_those_who_asked_are_told_once(end):
    promise, told = Promise[int](), []
    promise.then(lambda: told.append("before"))
    assert not told
    end(promise)
    promise.keep(2)
    promise.then(lambda: told.append("after"))
    assert told == ["before", "after"]


def test_those_who_are_told_may_ask_again():
    """Of the same promise, which is done by then."""
    promise, told = Promise[int](), []
    promise.then(lambda: promise.then(lambda: promise.then(lambda: told.append(promise.result()))))
    thread = threading.Thread(target=promise.keep, args=(1,), daemon=True)
    thread.start()
    thread.join(10)
    assert told == [1]


def test_those_who_have_been_told_are_let_go():
    class Asks:
        def hear(self):
            """It is told."""

    promise, asks = Promise[int](), Asks()
    gone = weakref.ref(asks)
    promise.then(asks.hear)
    promise.keep(1)
    del asks
    assert gone() is None


def test_one_who_fails_is_printed_and_keeps_no_other_from_being_told(capsys):
    promise, told = Promise[int](), []
    promise.then(lambda: told.append(1 // 0))
    promise.then(lambda: told.append("after"))
    promise.keep(1)
    assert told == ["after"] and capsys.readouterr().err.endswith("ZeroDivisionError: integer division or modulo by zero\n")


def test_all_who_wait_are_woken(monkeypatch):
    """Without looking for themselves."""
    monkeypatch.setattr(promises, "LOOKS", 1000)
    promise, woken = Promise[int](), []
    waiting = [threading.Thread(target=lambda: woken.append(promise.result()), daemon=True) for _ in range(5)]
    for thread in waiting:
        thread.start()
    promise.keep(7)
    for thread in waiting:
        thread.join(10)
    assert woken == [7] * 5


def test_those_who_are_not_woken_look_for_themselves():
    """Ctrl-C may come between what is done and the word of it."""
    promise, found = Promise[int](), []
    thread = threading.Thread(target=lambda: found.append(promise.result()), daemon=True)
    thread.start()
    promise._value, promise._state = 3, promises._KEPT
    thread.join(10)
    assert found == [3]


def test_a_broken_promise_holds_nothing():
    """Neither its work nor itself by way of its error's traceback: arrays go at once."""

    class Large:
        pass

    def fails(_):
        raise ZeroDivisionError

    gc.disable()
    try:
        large = Large()
        promise, gone = threads.begin(fails, large), weakref.ref(large)
        promise.wait()
        with pytest.raises(ZeroDivisionError):
            promise.result()
        itself = weakref.ref(promise)
        del large, promise
        end = time.monotonic() + 10  # the thread lets go of its task a moment later
        while (gone() is not None or itself() is not None) and time.monotonic() < end:
            time.sleep(0.01)
        assert gone() is None and itself() is None
    finally:
        gc.enable()


INTERRUPTED = """
import random, signal, threading, time
from jaxgo.base import promise as promises
from jaxgo.base import threads
from jaxgo.base.promise import Promise

signal.signal(signal.SIGINT, signal.default_int_handler)
threads.begin(int).result()
main, over, interruptions = threading.main_thread().ident, False, 0

def interrupt():
    for _ in range(1500):
        time.sleep(random.random() * 1e-3)
        signal.pthread_kill(main, signal.SIGINT)

def some_work():
    begun = [threads.begin(time.sleep, 1e-5) for _ in range(3)]
    mine = Promise()
    mine.then(lambda: None)
    threads.begin(int, promise=mine)
    begun[0].take_back() or begun[0].result()
    begun[1].wait(1e-5)
    return begun + [mine]

thread = threading.Thread(target=interrupt)
asked = []
while True:
    try:
        if not thread.ident:
            thread.start()
        while thread.is_alive():
            asked = some_work()
        break
    except KeyboardInterrupt:
        interruptions += 1
while True:
    try:
        thread.join()
        break
    except KeyboardInterrupt:
        pass
assert interruptions > 100, interruptions
assert all(promise.wait(20) for promise in asked + [threads.begin(int) for _ in range(10)])
print("fine")
"""


@only_on_linux
def test_ctrl_c_leaves_nothing_locked():
    assert run_with_devices(1, INTERRUPTED, lightly=True).strip() == "fine"
