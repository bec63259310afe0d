"""A program that is run once, on this process's core: what it prints, and what it takes."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.measure import NotMeasured
from jaxgo.base.signals import handled


class Ran(NamedTuple):
    """What a program did."""

    output: str
    """Of its stdout."""
    wall: float
    """Seconds from its start to its end."""
    cpu: float | None
    """CPU seconds of it and of what it started and waited for; None where the system does not say."""


def run(words: Sequence[str], limit: float, text: str = "") -> Ran:
    """Runs a program, which stays on the cores that this process is held to. No shell.

    The program gets a process group of its own, which ends with the call, and with this process when that gets SIGTERM, as
    workers do.

    Args:
      words: the program and its arguments.
      limit: seconds that it may take.
      text: what it reads from stdin.

    Raises:
      NotMeasured: it cannot be started, takes too long, or fails.
    """
    if not shutil.which(words[0]):
        raise NotMeasured(f"there is no program {words[0]!r}")
    cpu_before, start = _cpu_of_children(), time.perf_counter()
    try:
        with handled(_leave, signal.SIGTERM), subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, errors = process.communicate(text, timeout=limit)
            finally:
                _end(process)
    except OSError as error:
        raise NotMeasured(f"{words[0]!r} cannot be started: {error.strerror or error}") from error
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"it ran for more than {limit:g} s, and was ended") from error
    wall = time.perf_counter() - start
    if process.returncode:
        last = (errors.strip() or output.strip() or "it printed nothing").splitlines()[-1]
        how = f"exit status {process.returncode}" if process.returncode > 0 else f"signal {-process.returncode}"
        raise NotMeasured(f"it failed with {how}: {last}")
    cpu = _cpu_of_children()
    return Ran(output, wall, None if cpu is None or cpu_before is None else cpu - cpu_before)


def _end(process: subprocess.Popen) -> None:
    """Ends what is left of the program's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _cpu_of_children() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _leave(number: int, _: object) -> None:
    """SIGTERM: Python's way out, on which `run` ends its program."""
    sys.exit(128 + number)
