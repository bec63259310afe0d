"""The processor and its abilities, as far as the system tells them (Linux does), and its cores."""

import contextlib
import functools
import os
import pathlib
import platform


def usable_cores() -> list[int]:
    """The cores that this process may run on, in order."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@functools.cache
def abilities() -> str:
    """Its model and what it can do, lines of /proc/cpuinfo; "" where there is none."""
    with contextlib.suppress(OSError):
        lines = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"))
        return "\n".join(sorted(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))))
    return ""


def has_few_registers() -> bool:
    """Whether it is an x86-64 without AVX-512, which has 16 vector registers, half of what others have; False where that is not
    told."""
    words = abilities().split()
    return platform.machine().lower() in ("x86_64", "amd64") and "flags" in words and "avx512f" not in words
