"""One fused loop for a large elementwise function on a CPU.

XLA's CPU backend breaks a large elementwise program into dozens of loops that pass their values through memory (39 loops for a
tick on 9x9), or, by default, computes shared values again in each of them (13,000 instructions instead of 1,400). Its option for
multi-output fusion cures half of that, but it is process-wide and makes the compiler abort on programs with several scatters at
the same indices, so a library must not switch it on.

`in_one_loop` gets a single loop with public means: a variadic `lax.reduce_window` with a window of one element, whose
"reduction" ignores the accumulator and applies the function to the element. XLA emits the reduction once, inline, in one loop
over the elements, which LLVM vectorises: values live in registers from the first operation to the last. On other platforms the
function is applied as it is.

What this relies on is that XLA applies the reduction exactly once to an element. `trusted` checks it once per process, and where
it ever fails the function is applied as it is, which is slower and just as right.
"""

import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: Above about so many arrays that a loop takes or gives, LLVM makes less of it (measured: 103 cost half as much again as they
#: should). A loop of too much arithmetic is not vectorised at all, whatever its arrays.
MAX_ARRAYS = 99

#: XLA's CPU backend takes 256-bit vectors by default; 512-bit ones are 1.3 to 1.7 times as fast here, where the CPU has them. From
#: jax 0.12 on it also takes the ticks' loop for a small one, and compiles it whole, without vectors: 13 times slower.
COMPILER_OPTIONS = {"xla_cpu_prefer_vector_width": 512, "xla_disable_hlo_passes": "small-while-loop-hoisting"}


def compiler_options(platform: str | None = None) -> dict[str, int | str]:
    """Options for `jax.jit(..., compiler_options=...)` that suit jaxgo's functions on a platform ("cpu", "gpu", "tpu").

    Without them jaxgo's functions give the same results, more slowly on a CPU: up to 1.7 times with jax 0.10, 13 times with jax
    0.12. None means the default platform.
    """
    return dict(COMPILER_OPTIONS) if (platform or jax.default_backend()) == "cpu" else {}


def in_one_loop(fn, *args):
    """`fn(*args)`, computed in a single loop on CPUs.

    Args:
      fn: an elementwise function without loops, of pytrees of arrays to a pytree of arrays, that closes over no arrays.
      *args: pytrees of arrays, all of one shape [L].

    Returns:
      What `fn(*args)` returns.
    """
    if not trusted():
        return fn(*args)
    if _only_cpus():
        return _as_reduction(fn, *args)
    return lax.platform_dependent(*args, cpu=functools.partial(_as_reduction, fn), default=fn)


@functools.cache
def _only_cpus() -> bool:
    return all(device.platform == "cpu" for device in jax.devices())


def _as_reduction(fn, *args):
    leaves, inputs = jax.tree.flatten(args)
    shape = leaves[0].shape
    if not shape:
        return fn(*args)
    fn = jax.jit(fn, inline=True)  # traced once for both uses below
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
    """Whether this XLA applies a reduction over windows of one element exactly once to each (checked once per process)."""
    if not any(d.platform == "cpu" for d in jax.local_devices()):
        return True

    def step(x, y):
        return x * np.uint32(3) + y, y + np.uint32(1)

    x = np.arange(8, dtype=np.uint32)
    twice = jax.jit(lambda x, y: _as_reduction(step, *_as_reduction(step, x, y)))
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        got = twice.lower(x, x).compile()(x, x)
    same = all(np.array_equal(np.asarray(a), b) for a, b in zip(got, step(*step(x, x))))
    if not same:
        text = "this version of XLA does not keep jaxgo's single-loop form; playouts on the CPU will be slower"
        warnings.warn(text, stacklevel=2)
    return same
