"""What one thread gives others: a value or an error, once.

What a `concurrent.futures.Future` is, but that Ctrl-C in the main thread does no harm in any method. The locks of futures, events
and conditions are Python code: an exception between two of its lines leaves them locked for good, and whoever needs them next
hangs. Here are only the interpreter's own locks, which `with` takes and gives back without such a gap.
"""

import concurrent.futures
import sys
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")

#: Seconds after which those who wait look for themselves: who was to wake them may have been interrupted.
LOOKS = 0.1
_OPEN, _BEGUN, _KEPT, _BROKEN, _TAKEN_BACK = range(5)


class Promise(Generic[Value]):
    """A value that is to come."""

    def __init__(self) -> None:
        self._state, self._access = _OPEN, threading.Lock()
        self._value: Value | None = None
        self._error: BaseException | None = None
        self._to_tell: list[Callable[[], None]] = []
        self._latch = threading.Lock()  # open once there is something to know
        self._latch.acquire()

    @property
    def done(self) -> bool:
        """Whether there is nothing more to wait for: it is kept, broken or taken back."""
        return self._state >= _KEPT

    @property
    def taken_back(self) -> bool:
        """Whether nobody wants it any more."""
        return self._state == _TAKEN_BACK

    def begin(self) -> bool:
        """Says that somebody is at work on it, from when on it cannot be taken back; whether it is still wanted."""
        with self._access:
            if self._state == _OPEN:
                self._state = _BEGUN
            return self._state == _BEGUN

    def keep(self, value: Value) -> None:
        """Gives the value; of what is done already nothing becomes."""
        self._settle(_KEPT, value=value)

    def fail(self, error: BaseException) -> None:
        """Gives an error instead; likewise."""
        self._settle(_BROKEN, error=error)

    def take_back(self) -> bool:
        """Says that nobody wants it any more; whether it is taken back: what is begun, or done, is not."""
        self._settle(_TAKEN_BACK)
        return self.taken_back

    def _settle(self, state: int, value: Value | None = None, error: BaseException | None = None) -> None:
        with self._access:
            if self._state > (_OPEN if state == _TAKEN_BACK else _BEGUN):
                return
            self._state, self._value, self._error = state, value, error
            self._latch.release()
            tell, self._to_tell = self._to_tell, []
        for each in tell:
            try:
                each()
            except Exception:  # of the others' making, and no reason why others should not be told
                sys.excepthook(*sys.exc_info())

    def then(self, tell: Callable[[], None]) -> None:
        """Has `tell()` called once it is done, in the thread that does it, which prints what it raises; at once if it is done."""
        with self._access:
            if not self.done:
                self._to_tell.append(tell)
                return
        tell()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for it, so long at most; whether it is done."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.done:
            left = LOOKS if end is None else min(LOOKS, end - time.monotonic())
            if left <= 0:
                break
            if self._latch.acquire(timeout=left):
                self._latch.release()
        return self.done

    def result(self) -> Value:
        """The value; waits for it.

        Raises:
          concurrent.futures.CancelledError: it has been taken back.
          BaseException: it was broken, by that.
        """
        self.wait()
        try:
            if self.taken_back:
                raise concurrent.futures.CancelledError
            if self._error is not None:
                raise self._error
            return self._value  # type: ignore[return-value]  # which it has by now
        finally:
            del self  # the error would hold it, by its traceback, and be held by it
