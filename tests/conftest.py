"""Settings for all tests: strict JAX and a compile cache.

Warnings are errors (see pyproject.toml). Implicit type promotion and implicit rank promotion are errors too, so that a slip in
the package's arithmetic fails instead of costing speed or accuracy.
"""

import gc
import os
import pathlib
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.compiling import compile_for_many_playouts, compile_lightly, trace_all

# Before jax is imported, so that the processes that tests start inherit it. Programs are the same either way, but compiled once.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(pathlib.Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.03")
# What is tested is what CPUs do: programs compiled lightly for GPUs take minutes, and XLA's are wrong (16x16, jax 0.11). GPUs have
# `tests/jaxgo/backends/test_gpus.py`, in processes of its own.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it
    compile_lightly()


def pytest_configure(config: pytest.Config) -> None:
    """Makes JAX strict."""
    import jax

    # The same examples every time, whatever the machine's load; a database of earlier ones would say something else the next time.
    settings.register_profile("ours", deadline=None, derandomize=True, database=None)
    settings.load_profile("ours")
    # Tracing makes objects by the million: at Python's own threshold 10 % of the time goes into looking for garbage among them.
    gc.set_threshold(100_000)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    trace_all()


def pytest_collection_finish() -> None:
    """What has been imported is no garbage."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests get two hours instead of the ten minutes of pyproject.toml, after which a test that hangs fails."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(7200))


@pytest.fixture(scope="module")
def many_playouts() -> Iterator[None]:
    """From here to the end of the module, programs are compiled for many playouts: longer, and they play twenty times as fast."""
    with pytest.MonkeyPatch.context() as patch:
        compile_for_many_playouts(patch)
        yield


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where tests run in the background of a shell, which has it ignored."""
    from jaxgo.base.signals import handled

    with handled(signal.default_int_handler, signal.SIGINT):
        yield
