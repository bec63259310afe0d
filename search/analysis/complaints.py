"""What goes wrong is said on stderr, which may be closed or full: that never ends anything else."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator


def say(text: str) -> None:
    """Writes a line."""
    try:
        print(f"jaxgo analysis: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def tell(error: BaseException) -> None:
    """Writes what a fault of the program was and where."""
    if sys.stderr is None:  # then the traceback would go to stdout
        return
    try:
        traceback.print_exception(error, file=sys.stderr)
    except (OSError, ValueError):
        pass


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Sees to it that what could not be written until its end is not tried again when the process ends, which would then tell of
    a failure."""
    try:
        yield
    finally:
        _settle()


def _settle() -> None:
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    except AttributeError:  # there is none
        pass
