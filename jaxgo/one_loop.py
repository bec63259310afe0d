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

#: LLVM gives up on vectorising a loop over more arrays than this (inputs and outputs): its alias analysis saturates at 250.
MAX_ARRAYS = 124

#: XLA's CPU backend takes 256-bit vectors by default; 512-bit ones are 1.3 to 1.7 times as fast here, where the CPU has them.
COMPILER_OPTIONS = {"xla_cpu_prefer_vector_width": 512}


def compiler_options(platform: str | None = None) -> dict[str, int]:
    """Options for `jax.jit(..., compiler_options=...)` that suit jaxgo's functions on a platform ("cpu", "gpu", "tpu").

    Without them jaxgo's functions give the same results, up to 1.7 times slower on a CPU. None means the default platform.
    """
    return dict(COMPILER_OPTIONS) if (platform or jax.default_backend()) == "cpu" else {}


def in_one_loop(fn, *args):
    """`fn(*args)`, computed in a single loop on CPUs.

    Args:
      fn: an elementwise function without loops, of pytrees of arrays to a pytree of arrays, that closes over no arrays.
      *args: pytrees of int32 and uint32 arrays, all of one shape [L].

    Returns:
      What `fn(*args)` returns.
    """
    if not trusted():
        return fn(*args)
    return lax.platform_dependent(*args, cpu=functools.partial(_as_reduction, fn), default=fn)


def _as_reduction(fn, *args):
    leaves, inputs = jax.tree.flatten(args)
    if leaves[0].ndim == 0:
        return fn(*args)
    result = jax.eval_shape(fn, *args)
    result_leaves, outputs = jax.tree.flatten(result)
    width = max(len(leaves), len(result_leaves))

    def pad(values):
        return tuple(_as_uint32(v) for v in values) + (leaves_zero(values[0]),) * (width - len(values))

    def leaves_zero(like):
        return jnp.zeros(like.shape, jnp.uint32)

    def reduction(_, element):
        taken = [_as(x, leaf.dtype) for x, leaf in zip(element, leaves)]
        return pad(jax.tree.leaves(fn(*jax.tree.unflatten(inputs, taken))))

    ndim = leaves[0].ndim
    zero = (np.uint32(0),) * width
    out = lax.reduce_window(pad(leaves), zero, reduction, (1,) * ndim, (1,) * ndim, "VALID")
    return jax.tree.unflatten(outputs, [_as(x, leaf.dtype) for x, leaf in zip(out, result_leaves)])


def _as(x, dtype):
    return x if x.dtype == dtype else lax.bitcast_convert_type(x, dtype)


def _as_uint32(x):
    if x.dtype not in (jnp.int32, jnp.uint32):
        raise TypeError(f"in_one_loop takes and gives int32 and uint32 arrays only, not {x.dtype}")
    return _as(x, jnp.uint32)


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
        warnings.warn("this version of XLA does not keep jaxgo's single-loop form; playouts on the CPU will be slower", stacklevel=2)
    return same
