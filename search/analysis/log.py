"""The log of all lines."""

import pathlib

from search.analysis import complaints


class Log:
    """Appends lines to a file, as long as that can be written: a full disk is said once, and ends nothing.

    Args:
      path: of the file.

    Raises:
      OSError: it cannot be opened.
    """

    def __init__(self, path: str):
        self._path, self._fails = path, False
        self._file = pathlib.Path(path).open("ab", buffering=0)  # a buffer would keep all that cannot be written

    def __call__(self, line: str) -> None:
        """Appends a line; for any thread."""
        try:
            self._file.write(f"{line}\n".encode(errors="replace"))
        except OSError as error:
            if not self._fails:
                self._fails = True
                complaints.say(f"the log {self._path!r} cannot be written: {error.strerror}; going on without")
