"""How programs over boards are written for a platform.

The same functions make every program. What differs is little: whether large elementwise functions are put into one loop
(`jaxgo.base.one_loop`), whether two ticks are, whether large boards are played in 64-bit words (`jaxgo.board.geometry`), and how
results are added up (`jaxgo.results.sums`). A program that is made for one platform is traced `within` its form; one whose
platform is not known yet, because it lies inside a user's `jit` or is exported for other machines, is traced in all forms and
settled when it is lowered (`by_platform`).
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
from jax import lax

from jaxgo.base import processor


class Form(NamedTuple):
    """How programs are written for a platform."""

    one_loop: bool
    """Large elementwise functions are put into one loop."""
    wide_words: bool
    """Large boards are played in words of 64 bits."""
    pairs: bool = True
    """Where boards are not too large, two ticks are put into one loop."""
    counters: int = 1 << 13
    """Words of boards that are counted side by side (`jaxgo.results.sums`)."""
    adds_in_place: bool = True
    """A histogram is made by adding each number in its place, not by comparing it with all places."""


#: One vector loop that keeps its values in registers, as far as there are enough.
CPU = Form(one_loop=True, wide_words=True, pairs=not processor.has_few_registers())
#: NVIDIA's and AMD's GPUs: XLA fuses what is elementwise. To begin a step of a loop takes as long there as 100,000 words, and
#: additions in the same place wait for each other: on an H100 a histogram at 9x9 took 4.3 ms, and 0.8 ms by comparing.
GPU = Form(one_loop=False, wide_words=True, counters=1 << 18, adds_in_place=False)
#: Everything else; TPUs have no 64-bit words and emulate them. On none was anything measured.
PLAIN = Form(one_loop=False, wide_words=False, adds_in_place=False)

_form: contextvars.ContextVar[Form | None] = contextvars.ContextVar("form", default=None)


def of_platform(platform: str) -> Form:
    """The form of jax's "cpu", "gpu" (or "cuda", "rocm") or "tpu"."""
    return {"cpu": CPU, "gpu": GPU, "cuda": GPU, "rocm": GPU}.get(platform, PLAIN)


def current() -> Form:
    """The form in which programs are traced now; outside of `within` and `by_platform` that of the default platform."""
    return _form.get() or of_platform(jax.default_backend())


@contextlib.contextmanager
def within(form: Form) -> Iterator[None]:
    """Programs traced in this context have the form."""
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)


def written(form: Form, fn: Callable) -> Callable:
    """`fn`, traced within the form whenever it is called."""

    def in_form(*args):
        with within(form):
            return fn(*args)

    return in_form


def by_platform(fn: Callable, *args, wide: bool):
    """`fn(*args)`, a function of pytrees of arrays, in the form of whatever platform the program is lowered for.

    `wide` says whether there are boards large enough for wide words; else there is a form less to trace.
    """
    more = {"tpu": written(PLAIN, fn)} if wide else {}
    return lax.platform_dependent(*args, cpu=written(CPU, fn), default=written(GPU, fn), **more)
