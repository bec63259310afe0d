"""Files that are written whole or not at all, so that nothing is lost where a program is killed."""

import contextlib
import os
import pathlib
import stat
import sys
from collections.abc import Iterator
from typing import TextIO

#: What a file's name ends in, after a dot and the name, as long as it is not whole; one writer at a time.
UNFINISHED = ".part"


def write(path: pathlib.Path, data: bytes, mode: int | None = None) -> None:
    """Writes a file; it is on the disk, name and all, when this returns.

    Args:
      path: of the file.
      data: what it is to hold.
      mode: its permissions, as `os.chmod` takes them; by default those of a new file.

    Raises:
      OSError: it cannot be written; then what was there before still is.
    """
    part = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with part.open("wb") as file:
            if mode is not None:
                part.chmod(mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        with contextlib.suppress(PermissionError):  # a folder that may be written to, and not be read
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the name too
            finally:
                os.close(folder)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def write_output(path: pathlib.Path, data: bytes) -> None:
    """Writes what a user has named: a file, whole or not at all where that can be, or whatever else takes bytes.

    What this process prints to, such as /dev/stdout, takes it after what is printed there already.

    Raises:
      OSError: it cannot be written.
    """
    try:
        there = path.stat()
    except FileNotFoundError:  # nor may what a link leads to be there
        return write(pathlib.Path(os.path.realpath(path)), data)
    for stream in (sys.stdout, sys.stderr):
        if _leads_to(stream, there):
            stream.flush()
            with open(os.dup(stream.fileno()), "wb") as printed:
                printed.write(data)
            return None
    # What is no file cannot be exchanged, nor what has another name, too, or lies where nothing may be added.
    alone = stat.S_ISREG(there.st_mode) and there.st_nlink == 1
    real = pathlib.Path(os.path.realpath(path))
    if alone and os.access(real.parent, os.W_OK):
        return write(real, data, stat.S_IMODE(there.st_mode))
    path.write_bytes(data)
    return None


def _leads_to(stream: TextIO | None, there: os.stat_result) -> bool:
    """Whether a stream, if there is one, leads to this file."""
    try:
        return stream is not None and os.path.samestat(there, os.fstat(stream.fileno()))
    except (OSError, ValueError):  # it is no file, or closed
        return False


def is_no_file(path: str) -> bool:
    """Whether there is something else than a file of this name, such as a pipe, which would be waited for."""
    return os.path.exists(path) and not os.path.isfile(path)


def take(descriptor: int) -> bool:
    """Takes an open file or folder for this process, until it is closed; whether no other process has it. Where the system or the
    file system has no locks nobody has."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


@contextlib.contextmanager
def taken(path: pathlib.Path) -> Iterator[bool]:
    """Takes a file's name, whether or not there is such a file, for this process, for as long as the `with`; whether no other
    process has it.

    Raises:
      OSError: the folder cannot be written to.
    """
    lock = path.with_name(f".{path.name}.lock")
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(lock.open("wb"))
            if not take(file.fileno()):
                yield False
                return
            with contextlib.suppress(FileNotFoundError):
                # Another process may have taken the name, and given it up again, between the opening and the taking.
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    break
        stack.callback(lock.unlink, missing_ok=True)
        yield True
