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
    object goes: a Ctrl-C that comes just then would do nothing. Here it comes again a moment later.
    """

    def interrupt(*_) -> None:
        raise KeyboardInterrupt(number)

    def dropped(exception) -> None:
        if isinstance(exception.exc_value, KeyboardInterrupt) and exception.exc_value.args == (number,):
            threading.Timer(0.05, signal.pthread_kill, [threading.main_thread().ident, number]).start()
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
            sys.unraisablehook = printed
