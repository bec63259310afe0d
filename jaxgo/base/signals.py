"""What signals do: something else for a while, or KeyboardInterrupt at any moment."""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def handled(handler: Callable, *numbers: int) -> Iterator[None]:
    """Signals call this function meanwhile, and then do again what they did before.

    In a thread that is not the main one nothing changes: Python acts on signals in that one alone.

    Args:
      handler: as for `signal.signal`.
      *numbers: of the signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_DFL if earlier is None else earlier)  # None: it was not Python's


@contextlib.contextmanager
def interruptible(number: int = signal.SIGINT) -> Iterator[None]:
    """Ctrl-C, or another signal, raises KeyboardInterrupt at any moment.

    Nothing changes where the signal is ignored, as Ctrl-C is in the background of a shell, or has a handler already, that of the
    program that has called `main`.

    Python only prints an exception that is raised in a callback of its garbage collector, of which jax has one, or while an
    object goes: a Ctrl-C that comes just then would do nothing. Here it comes again a moment later, and again until Python acts
    on it: one that comes just before a thread sleeps does not wake it.
    """
    here, taken = threading.get_ident(), threading.Event()

    def interrupt(*_) -> None:
        taken.set()
        raise KeyboardInterrupt(number)

    def send() -> None:
        patience = 0.05
        while not taken.wait(patience):
            signal.pthread_kill(here, number)
            patience = min(2 * patience, 1.0)

    def dropped(exception) -> None:
        if isinstance(exception.exc_value, KeyboardInterrupt) and exception.exc_value.args == (number,):
            taken.clear()
            threading.Thread(target=send, daemon=True).start()
        else:
            printed(exception)

    ours = threading.current_thread() is threading.main_thread()
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    if not ours or signal.getsignal(number) is not usual:
        yield
        return
    with handled(interrupt, number):
        printed, sys.unraisablehook = sys.unraisablehook, dropped
        try:
            yield
        finally:
            taken.set()
            sys.unraisablehook = printed
