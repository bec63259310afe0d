"""Trying out once what a compiler does, without touching the program that asks.

A trial runs in another thread, with jax's settings as they are by default there: it is not part of the trace in which the
caller may stand, and neither `jax.disable_jit` nor a transfer guard nor checks of the caller's reach it.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

import jax

from jaxgo.base import threads

Result = TypeVar("Result")


def tried(trial: Callable[[], Result]) -> Result:
    """What `trial()` returns, or the exception that it raises."""

    def alone() -> Result:
        with as_by_default():
            return trial()

    return threads.begin(alone).result()


@contextlib.contextmanager
def as_by_default() -> Iterator[None]:
    """Jax's settings that change how programs are traced and called are as by default, whatever the process has set."""
    with contextlib.ExitStack() as stack:
        for setting in (
            jax.disable_jit(False), jax.transfer_guard("allow"), jax.enable_x64(False), jax.check_tracer_leaks(False),
            jax.debug_nans(False), jax.debug_infs(False),
        ):  # fmt: skip
            stack.enter_context(setting)
        yield
