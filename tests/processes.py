"""Other processes: their threads, and code on several devices."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.compiling import users_flags

ROOT = pathlib.Path(__file__).parents[1]

only_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one cannot say which thread takes a signal")


def threads_of(process: int) -> list[int]:
    """The identifiers of a process's threads; `os.kill` with one gives a signal to that thread. The main thread's is the process's."""
    return [int(path.name) for path in pathlib.Path(f"/proc/{process}/task").iterdir()]


def run_with_devices(count: int, code: str, lightly: bool = False) -> str:
    """What some code prints, in a process of its own with so many CPU devices, its programs compiled as users' are or lightly."""
    flags = os.environ.get("XLA_FLAGS", "") if lightly else users_flags()
    flags = f"{flags} --xla_force_host_platform_device_count={count}".strip()
    environment = os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
