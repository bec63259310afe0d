"""The log of a conversation."""

import pathlib
import threading
from collections.abc import Callable


class Log:
    """Appends lines to a file, as long as that can be written: a full disk is said once, and ends nothing.

    Args:
      path: of the file; the log goes on behind what it holds, as a server starts its engine for each game.
      say: told that it cannot be written.

    Raises:
      OSError: it cannot be opened.
    """

    def __init__(self, path: str, say: Callable[[str], None]):
        self._path, self._say, self._fails = path, say, False
        self._file = pathlib.Path(path).open("ab", buffering=0)  # a buffer would keep all that cannot be written
        self._access = threading.Lock()

    def __call__(self, *lines: str) -> None:
        """Appends lines, unless it is closed; for any thread."""
        with self._access:
            if self._file.closed:
                return
            try:
                self._file.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
            except OSError as error:
                if not self._fails:
                    self._fails = True
                    self._say(f"the log {self._path!r} cannot be written: {error.strerror}; going on without")

    def close(self) -> None:
        """Closes the file."""
        with self._access:
            self._file.close()
