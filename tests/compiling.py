"""How tests have their programs compiled: lightly, as most of their time goes into compiling.

The results are the same, which `tests/jaxgo/running/test_reproducibility.py` shows: its programs for several devices are compiled as
users' are. So are those whose speed is tested (`tests/jaxgo/backends/test_cpu.py`).
"""

import importlib.metadata
import os

#: Compiler options where programs are run a few times only: half the time to compile again, and a fraction of the speed.
LIGHT = {"xla_backend_optimization_level": 0}


def _flags() -> list[str]:
    flags = ["--xla_backend_optimization_level=1", "--xla_llvm_disable_expensive_passes=true"]
    # XLA ends the process over a flag that it does not know; this one went with jax 0.12.
    if importlib.metadata.version("jaxlib").startswith("0.10."):
        flags.append("--xla_cpu_use_fusion_emitters=false")
    return flags


def compile_lightly() -> None:
    """For this process and those it starts, if called before jax is imported: half the time to compile, little speed lost."""
    os.environ["XLA_FLAGS"] = " ".join([*os.environ.get("XLA_FLAGS", "").split(), *_flags()])


def users_flags() -> str:
    """XLA_FLAGS without what `compile_lightly` added."""
    return " ".join(flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in _flags())
