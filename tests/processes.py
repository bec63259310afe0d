"""Threads of other processes."""

import pathlib
import sys

import pytest

only_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one cannot say which thread takes a signal")


def threads_of(process: int) -> list[int]:
    """The identifiers of a process's threads; `os.kill` with one gives a signal to that thread. The main thread's is the process's."""
    return [int(path.name) for path in pathlib.Path(f"/proc/{process}/task").iterdir()]
