"""Files that are written whole or not at all, so that nothing is lost where a program is killed."""

import contextlib
import os
import pathlib

#: What a file's name ends in, after a dot and the name, as long as it is not whole; one writer at a time.
UNFINISHED = ".part"


def write(path: pathlib.Path, data: bytes) -> None:
    """Writes a file; it is on the disk, name and all, when this returns.

    Raises:
      OSError: it cannot be written; then what was there before still is.
    """
    part = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name too
        finally:
            os.close(folder)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
