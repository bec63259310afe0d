"""How tests have their programs compiled: lightly, as most of their time goes into compiling, and few playouts are played.

As users have it, a program takes three times as long to compile and plays twenty times as fast; where tests play more than some
ten thousand playouts, or for as long as they are let, the fixture `many_playouts` is for them.

The results are the same, which `tests/jaxgo/running/test_reproducibility.py` shows: its programs for all of several devices are
compiled as users' are. So are those whose speed is tested (`tests/jaxgo/backends/test_cpu.py`).
"""

import functools
import importlib.metadata
import os

import pytest

LEVEL = "xla_backend_optimization_level"
FAST = 1
"""The level for many playouts: half of what users have to wait for the compiler, and nearly all of the speed."""


def _flags(level: int) -> list[str]:
    # One thread compiles: the others of the machine have tests of their own.
    flags = [f"--{LEVEL}={level}", "--xla_llvm_disable_expensive_passes=true", "--xla_cpu_parallel_codegen_split_count=1"]
    if level == 0:
        flags += [f"--xla_llvm_enable_{name}_metadata=false" for name in ("alias_scope", "noalias", "invariant_load")]
    # XLA ends the process over a flag that it does not know; this one went with jax 0.12.
    if importlib.metadata.version("jaxlib").startswith("0.10."):
        flags.append("--xla_cpu_use_fusion_emitters=false")
    return flags


def _with_flags(level: int) -> str:
    return " ".join([*users_flags().split(), *_flags(level)])


def compile_lightly() -> None:
    """For this process and those it starts, if called before jax is imported."""
    os.environ["XLA_FLAGS"] = _with_flags(0)
    os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"  # nor does the compiler ask where each operation was written


def users_flags() -> str:
    """XLA_FLAGS without what tests have added."""
    ours = _flags(0) + _flags(FAST)
    return " ".join(flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in ours)


def trace_all() -> None:
    """In this process all programs are traced, for tests patch what they are made of; processes that it starts find those of others.

    `jaxgo.backends.kept.place_of.__wrapped__` is as users have it.
    """
    from jaxgo.backends import kept

    kept.place_of = functools.wraps(kept.place_of)(lambda kind, key: None)


@functools.cache
def _programs_for_many() -> tuple:
    """What is kept of them, apart from the others."""
    from jaxgo.backends.programs import Programs
    from jaxgo.running import jobs, ring_program

    return Programs(jobs._lowered, "job"), Programs(ring_program._lowered, "ring")


def compile_for_many_playouts(patch: pytest.MonkeyPatch) -> None:
    """For as long as the patch lasts, for this process and those it starts."""
    from jaxgo.backends.cpu import Cpu
    from jaxgo.running import jobs, ring_program

    as_usual = Cpu.compiler_options
    of_jobs, of_rings = _programs_for_many()
    patch.setenv("XLA_FLAGS", _with_flags(FAST))
    patch.setattr(Cpu, "compiler_options", lambda self: {**as_usual(self), LEVEL: FAST})
    patch.setattr(jobs, "_compiled", of_jobs)
    patch.setattr(ring_program, "compiled", of_rings)
