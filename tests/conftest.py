"""Settings for all tests: strict JAX and a compile cache.

Warnings are errors (see pyproject.toml). Implicit type promotion and implicit rank promotion are errors too, so that a slip in
the package's arithmetic fails instead of costing speed or accuracy.
"""

import os
import pathlib

import pytest

from tests.compiling import compile_lightly

# Before jax is imported, so that the processes that tests start inherit it. Programs are the same either way, but compiled once.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(pathlib.Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.03")
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it
    compile_lightly()


def pytest_configure(config: pytest.Config) -> None:
    """Makes JAX strict."""
    import jax

    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests get two hours instead of the ten minutes of pyproject.toml, after which a test that hangs fails."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(7200))
