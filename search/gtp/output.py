"""Where the answers go, and whether anybody reads them."""

import contextlib
import os
import select
from collections.abc import Callable


class Output:
    """The client's end of the conversation.

    Args:
      descriptor: of the file to write.
      on_text: called with every text before it is written.
    """

    def __init__(self, descriptor: int, on_text: Callable[[str], None] = lambda text: None):
        self._descriptor, self._on_text = descriptor, on_text
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            # No event is asked for: that the other end is closed is told without.
            self._poll.register(descriptor, 0)

    def __call__(self, text: str) -> None:
        """Writes a text.

        Raises:
          BrokenPipeError: nobody reads any more.
        """
        self._on_text(text)
        data = text.encode("utf-8", "replace")
        try:
            while data:  # a pipe may take less at a time
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:  # a terminal that has been closed, a disk that is full: nobody will read it
            raise BrokenPipeError(str(error)) from None

    @property
    def gone(self) -> bool:
        """Whether nobody reads any more, as far as the system tells before something is written."""
        if self._poll is None:
            return False
        with contextlib.suppress(OSError):
            return any(events & (select.POLLERR | select.POLLHUP) for _, events in self._poll.poll(0))
        return False
