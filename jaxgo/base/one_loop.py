"""One fused loop for a large elementwise function on a CPU.

XLA's CPU backend breaks a large elementwise program into dozens of loops that pass their values through memory (39 loops for a
tick on 9x9), or, by default, computes shared values again in each of them (13,000 instructions instead of 1,400). Its option for
multi-output fusion cures half of that, but it is process-wide and makes the compiler abort on programs with several scatters at
the same indices, so a library must not switch it on.

`in_one_loop` gets a single loop with public means: a variadic `lax.reduce_window` with a window of one element, whose
"reduction" ignores the accumulator and applies the function to the element. XLA emits the reduction once, inline, in one loop
over the elements, which LLVM vectorises: values live in registers from the first operation to the last. In the forms of other
platforms the function is applied as it is.

What this relies on is that XLA applies the reduction exactly once to an element. `trusted` tries that once per process, and where
it ever fails the function is applied as it is, which is slower and just as right. (Whether XLA also makes vectors of the loop is
tried by `jaxgo.backends.cpu`.)
"""

import contextlib
import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import forms
from jaxgo.base.trials import tried

#: Above about so many arrays that a loop takes or gives, LLVM makes less of it (measured: 103 cost half as much again as they
#: should). A loop of too much arithmetic is not vectorised at all, whatever its arrays.
MAX_ARRAYS = 99


def in_one_loop(fn, *args):
    """`fn(*args)`, computed in a single loop where the form asks for it.

    Args:
      fn: an elementwise function without loops, of pytrees of arrays to a pytree of arrays, that closes over no arrays.
      *args: pytrees of arrays, all of one shape [L].

    Returns:
      What `fn(*args)` returns.
    """
    return as_reduction(fn, *args) if forms.current().one_loop and trusted() else fn(*args)


def as_reduction(fn, *args):
    """`fn(*args)` as a reduction over windows of one element, on any platform; the arguments are those of `in_one_loop`."""
    leaves, inputs = jax.tree.flatten(args)
    shape = leaves[0].shape
    if not shape:
        return fn(*args)
    fn = _traced_once(fn)
    result = jax.eval_shape(fn, *jax.tree.map(lambda x: jax.ShapeDtypeStruct((), x.dtype), args))
    results, outputs = jax.tree.flatten(result)
    # A reduction gives back as many values as it takes, of the same types. So inputs and outputs are paired by type, and what
    # is left over is paired with zeros.
    places_in, places_out, types = _pair([x.dtype for x in leaves], [x.dtype for x in results])

    def fill(values, places, of_shape):
        return tuple(jnp.zeros(of_shape, t) if i is None else values[i] for i, t in zip(places, types))

    def pick(values, places):
        return [values[places.index(i)] for i in range(len(places) - places.count(None))]

    def reduction(_, element):
        return fill(jax.tree.leaves(fn(*jax.tree.unflatten(inputs, pick(element, places_in)))), places_out, ())

    zero = tuple(np.zeros((), t) for t in types)
    ones = (1,) * len(shape)
    out = lax.reduce_window(fill(leaves, places_in, shape), zero, reduction, ones, ones, "VALID")
    return jax.tree.unflatten(outputs, pick(out, places_out))


def _traced_once(fn):
    """`fn`, to be traced once for all calls with arguments of the same types; all equal partials of a module's function count as
    one."""
    if isinstance(fn, functools.partial) and not fn.keywords and "<locals>" not in fn.func.__qualname__:
        with contextlib.suppress(TypeError):  # what it holds cannot be looked up
            return _traced_partial(fn.func, fn.args)
    return jax.jit(fn, inline=True)


@functools.lru_cache(1024)
def _traced_partial(fn, args):
    return jax.jit(functools.partial(fn, *args), inline=True)


def _pair(taken: list, given: list) -> tuple[list[int | None], list[int | None], list]:
    """For each operand of the reduction, the number of the input and of the output that it carries (None: none), and its type."""
    places_in, places_out, types = [], [], []
    for dtype in dict.fromkeys([*taken, *given]):
        ins, outs = ([i for i, t in enumerate(side) if t == dtype] for side in (taken, given))
        width = max(len(ins), len(outs))
        places_in += ins + [None] * (width - len(ins))
        places_out += outs + [None] * (width - len(outs))
        types += [dtype] * width
    return places_in, places_out, types


@functools.cache
def trusted() -> bool:
    """Whether this XLA applies a reduction over windows of one element exactly once to each (tried once per process)."""

    def step(x, y):
        return x * np.uint32(3) + y, y + np.uint32(1)

    def trial():
        x = np.arange(8, dtype=np.uint32)
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            got = jax.jit(lambda x, y: as_reduction(step, *as_reduction(step, x, y)))(x, x)
        return all(np.array_equal(np.asarray(a), b) for a, b in zip(got, step(*step(x, x))))

    try:
        exact = tried(trial)
    except Exception as error:  # whatever a compiler may raise
        exact, reason = False, f": {error}"
    else:
        reason = ""
    if not exact:
        text = f"this version of XLA does not keep jaxgo's single-loop form; playouts on the CPU will be slower{reason}"
        warnings.warn(text, stacklevel=2)
    return exact
