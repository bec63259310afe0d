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


def test_of_several_signals_the_one_that_was_dropped_comes_again_until_it_is_acted_on(monkeypatch) -> None:
    again, kill = [], signal.pthread_kill

    def pthread_kill(thread: int, number: int) -> None:
        again.append(number)
        if again.count(number) > 1:  # the first comes to nothing, as just before a thread sleeps
            kill(thread, number)

    monkeypatch.setattr(signals.signal, "pthread_kill", pthread_kill)
    before = {number: signal.signal(number, usual) for number, usual in (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))}  # fmt: skip
    try:
        with signals.interruptible(), signals.interruptible(signal.SIGTERM):
            for number in before:
                thing = set()
                kept = weakref.ref(thing, lambda _, number=number: signal.raise_signal(number))
                del thing
                with pytest.raises(KeyboardInterrupt) as raised:
                    time.sleep(30)
                assert kept() is None and raised.value.args == (number,)
            time.sleep(0.3)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert again == [signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGTERM]


@pytest.mark.parametrize("already", [signal.SIG_IGN, lambda *_: None])
def test_a_signal_that_is_ignored_or_handled_already_stays_so(already) -> None:
    """As Ctrl-C is in the background of a shell, and in a program that has called `main`."""
    before = {number: signal.signal(number, already) for number in BOTH}
    try:
        with signals.interruptible(), signals.interruptible(signal.SIGTERM):
            assert [signal.getsignal(number) for number in BOTH] == [already, already]
        assert [signal.getsignal(number) for number in BOTH] == [already, already]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_other_exceptions_that_nobody_can_catch_are_told_as_ever(monkeypatch) -> None:
    """Meanwhile, and afterwards by whoever told of them before."""

    def goes(_) -> None:
        raise ZeroDivisionError

    told: list = []
    monkeypatch.setattr(signals.sys, "unraisablehook", usual := lambda exception: told.append(exception.exc_type))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with signals.interruptible():
            thing: set = set()
            kept = weakref.ref(thing, goes)
            del thing
        assert kept() is None and told == [ZeroDivisionError]
        assert signals.sys.unraisablehook is usual
    finally:
        signal.signal(signal.SIGINT, before)
