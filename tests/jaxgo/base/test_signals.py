"""Signals that do something else for a while."""

import signal
import threading
import time
import weakref

import pytest

from jaxgo.base import signals

BOTH = signal.SIGINT, signal.SIGTERM


def test_signals_call_the_function_meanwhile_and_then_do_again_what_they_did() -> None:
    outer, inner = [], []
    with signals.handled(lambda number, _: outer.append(number), *BOTH):
        with pytest.raises(ZeroDivisionError), signals.handled(lambda number, _: inner.append(number), signal.SIGTERM):
            for number in BOTH:
                signal.raise_signal(number)
            raise ZeroDivisionError
        signal.raise_signal(signal.SIGTERM)
    assert (outer, inner) == ([signal.SIGINT, signal.SIGTERM], [signal.SIGTERM])


def test_in_another_thread_nothing_changes() -> None:
    def look() -> None:
        with signals.handled(lambda *_: None, *BOTH), signals.interruptible(signal.SIGTERM):
            found.extend(map(signal.getsignal, BOTH))

    found: list = []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == list(map(signal.getsignal, BOTH))


def test_a_handler_that_is_not_pythons_becomes_the_systems(monkeypatch) -> None:
    """`signal.signal` tells of none there, and takes none."""

    def not_pythons(number: int, handler) -> None:
        given.append(handler)

    def ours(*_) -> None:
        raise AssertionError

    given: list = []
    monkeypatch.setattr(signals.signal, "signal", not_pythons)
    with signals.handled(ours, signal.SIGTERM):
        pass
    assert given == [ours, signal.SIG_DFL]


def test_of_several_signals_the_one_that_was_dropped_comes_again(monkeypatch) -> None:
    again = []
    monkeypatch.setattr(signals.signal, "pthread_kill", lambda thread, number: again.append(number))
    before = {number: signal.signal(number, usual) for number, usual in (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))}  # fmt: skip
    try:
        with signals.interruptible(), signals.interruptible(signal.SIGTERM):
            for number in before:
                thing = set()
                kept = weakref.ref(thing, lambda _, number=number: signal.raise_signal(number))
                del thing
                deadline = time.monotonic() + 30
                while kept() is not None or not again or again[-1] != number:
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert again == list(before)
