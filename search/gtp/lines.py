"""The client's lines, read in a thread of their own, so that no client ever waits for the engine to read."""

import contextlib
import dataclasses
import os
import queue
import threading
import time
from collections.abc import Callable

from search.gtp import protocol
from search.lines import TooLong, lines

#: Bytes of a line: more than any command needs, also one that sets up all points of the largest board.
LONGEST = 1 << 17
#: What is said of a longer one.
TOO_LONG = f"line longer than {LONGEST:,} bytes"


@dataclasses.dataclass(frozen=True)
class Line:
    """A line that has come."""

    text: str
    """Without its end."""
    too_long: bool
    """Whether the text is but the beginning of a line that is longer than `LONGEST`."""
    number: int
    """How many have come before it."""
    received: float
    """When, on `time.monotonic`."""


class Lines:
    """Lines that arrive at a file descriptor.

    Args:
      descriptor: of the input.
      on_line: called in the reading thread with the text of every line, before it can be taken.
    """

    def __init__(self, descriptor: int, on_line: Callable[[str], None] = lambda line: None):
        # SimpleQueue: a signal handler may put something into it at any moment.
        self._queue: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._descriptor, self._on_line = descriptor, on_line
        self._taken = self._interrupt = -1
        self._ended, self._received = False, 0.0
        threading.Thread(target=self._read, name="jaxgo gtp input", daemon=True).start()

    @property
    def waiting(self) -> bool:
        """Whether there is another line, or the end of the input has come."""
        return self._ended or not self._queue.empty()

    @property
    def interrupted(self) -> bool:
        """Whether a later line interrupts what the line taken last has asked for."""
        return self._interrupt > self._taken

    def next(self) -> Line | None:
        """The next line, once there is one; None at the end of the input."""
        while not self._ended:
            # A signal wakes nobody if it comes just before the wait, or to another thread; it is seen when the wait has an end.
            with contextlib.suppress(queue.Empty):
                line = self._queue.get(timeout=1.0)
                if line is None:
                    self._ended = True
                else:
                    self._taken = line.number
                return line
        return None

    def end(self) -> None:
        """Ends the input after the lines that have arrived; a signal handler may call it."""
        self._queue.put(None)

    def _read(self) -> None:
        # Not sys.stdin: a thread that holds its lock would keep the interpreter from ending.
        for number, line in enumerate(lines(self._block, LONGEST)):
            text, too_long = line.decode("utf-8", "replace").rstrip("\r"), isinstance(line, TooLong)
            self._on_line(TOO_LONG if too_long else text)
            if not too_long and protocol.is_interrupt(text):
                self._interrupt = number
            self._queue.put(Line(text, too_long, number, self._received))
        self._queue.put(None)

    def _block(self, most: int) -> bytes:
        try:
            data = os.read(self._descriptor, most)
        except OSError:
            data = b""
        self._received = time.monotonic()
        return data
