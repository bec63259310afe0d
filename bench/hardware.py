"""What a figure was measured on: processor, cores, memory, load, versions.

`describe` belongs to the machine and is taken before anything runs, so that its load is other people's load. `software` belongs
to the process that did the work, and imports jax.
"""

import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # comes with Numba

from jaxgo.base.processor import usable_cores as usable_cores

#: The packages whose versions decide a figure; those that are not installed are left out.
PACKAGES = ("jaxgo", "jax", "jaxlib", "numpy", "pgx", "open_spiel")


def describe() -> dict[str, Any]:
    """The machine.

    Returns:
      A dict ready for JSON: `cpu` (the model's name, and LLVM's of what is behind it: "AMD EPYC (znver5)"), `architecture`,
      `cores` (of the machine), `cores_usable` (by this process), `memory_bytes`, `system`, `load_average` (one minute; None where
      the system has none) and `load_at_start` (a sentence).
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": f"{cpu_name()} ({llvm.get_host_cpu_name()})",
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "cores_usable": len(usable_cores()),
        "memory_bytes": _memory_bytes(),
        "system": f"{platform.system()} {platform.release()}",
        "load_average": load,
        "load_at_start": _load_in_words(load),
    }


def versions() -> dict[str, str]:
    """The versions of Python and of the installed `PACKAGES`; importing none of them."""
    return {"python": platform.python_version()} | {name: found for name in PACKAGES if (found := version_of(name))}


def software() -> dict[str, Any]:
    """What ran; to be called in the process that runs it.

    Returns:
      A dict ready for JSON: `python`, a version per installed package of `PACKAGES`, `devices` (jax's names for them),
      `xla_flags`, and what the backend of the first device reports: on a CPU `one_loop` (whether the single fused loop is in use
      on which the engine's speed hangs; see `jaxgo.base.one_loop`), `vector_ratio` (see `jaxgo.backends.cpu`) and
      `compiler_options`.
    """
    import jax  # by now the environment says what jax needs to know

    from jaxgo.backends.choice import backend_of

    return {
        **versions(),
        "devices": [f"{device.platform}: {device.device_kind}" for device in jax.devices()],
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        **backend_of(jax.local_devices()[0]).report(),
    }


def version_of(package: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def cpu_name() -> str:
    """The processor's model name as the system gives it, or the architecture where it gives none."""
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False, timeout=10
        )
        if asked.stdout.strip():
            return asked.stdout.strip()
    return platform.processor() or platform.machine()


def peak_memory_bytes() -> int | None:
    """The most memory that this process has held at once (resident), or None where the system does not say.

    On Linux since the last `reset_peak_memory`, elsewhere since the process began.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # kibibytes everywhere but on macOS


def reset_peak_memory() -> bool:
    """Makes `peak_memory_bytes` begin anew from what is held now; False where the system cannot."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _memory_bytes() -> int | None:
    """The machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _load_in_words(load: float | None) -> str:
    """Whether something else was running."""
    if load is None:
        return "unknown"
    busy = load / (os.cpu_count() or 1)
    if busy < 0.1:
        return f"quiet (load {load:.2f})"
    return f"other work was running, or had just run (load {load:.2f})"
