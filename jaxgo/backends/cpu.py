"""Playouts on CPUs: by XLA, each tick in one vector loop, and what is tried so that it is one.

Two things are not promised by XLA's documentation: that it makes vectors of the single-loop form (`jaxgo.base.one_loop`), and
which compiler options it knows. The options are tried once per process, and those that this XLA does not know are left out.
Whether there are vectors is measured (`vector_ratio`), against a loop of which XLA always makes vectors.
"""

import functools
import platform
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.backends import exchange, remembered, xla
from jaxgo.backends.backend import Backend
from jaxgo.backends.options import Options, known
from jaxgo.base import forms
from jaxgo.base.one_loop import trusted
from jaxgo.base.trials import tried
from jaxgo.board.geometry import geometry
from jaxgo.playing import playout
from jaxgo.playing.draws import STEP
from jaxgo.playing.playout import Ready

#: XLA's CPU backend takes 256-bit vectors by default; 512-bit ones are 1.3 to 1.7 times as fast here, where the CPU has them.
#: From jax 0.12 on it also takes the ticks' loop for a small one, and compiles it whole, without vectors: 13 times slower. A sum
#: over lanes it would take in three loops in place of one, and more than eight loops in a row it runs by a list of those that are
#: ready, which takes longer than they do.
OPTIONS: Options = {
    "xla_cpu_prefer_vector_width": 512,
    "xla_disable_hlo_passes": "small-while-loop-hoisting,tree_reduction_rewriter",
}
#: Above this `vector_ratio` ticks are not made of vectors. Vectors of 256 or 512 bits give about 1, none 5 or more (measured).
SLOW = 3.0
#: Ticks that are timed, and elements of the plain loop for each lane, so that both take about as long.
TICKS, VECTOR_WORK = 64, 20
#: Lanes come in odd multiples of so many, a cache line: arrays that lie a power of two apart would all fall on a few sets of the
#: cache and push each other out (a fifth of the speed).
LINE = 16
#: A chunk with room for more playouts a lane is a large one.
FEW_PER_LANE = 16


class Cpu(Backend):
    """One core of a CPU."""

    platform = "cpu"
    form = forms.CPU
    # What fits a core's cache, measured.
    lanes_by_bytes = {4: 1008, 8: 1008, 12: 1072, 20: 688, 24: 688, 28: 528, 32: 368, 48: 208, 56: 208}
    lanes_else = 144
    keeps = True
    reuses_log = True

    def lanes_for(self, most: int, wanted: int) -> int:
        """An odd number of cache lines."""
        lines = -(-wanted // LINE)
        return super().lanes_for(most, LINE * (lines + 1 - lines % 2))

    def lanes_of_room(self, most: int, room: int) -> int:
        """A half where the chunk is no large one, which is up to 1.2 times as fast."""
        return self.lanes_for(most, most // 2) if most < room <= FEW_PER_LANE * most else super().lanes_of_room(most, room)

    def exchanges(self) -> bool:
        """As found out."""
        return exchange.trusted()

    def compiler_options(self) -> Options:
        """Those of `OPTIONS` that this XLA knows."""
        return dict(known_options())

    def report(self) -> dict[str, object]:
        """Whether ticks are single loops, and made of vectors, by how their time compares, and which options are set."""
        ratio, options = vector_ratio(), self.compiler_options()
        return {"one_loop": trusted(), "vectors": ratio <= SLOW, "vector_ratio": ratio, "compiler_options": options}


@functools.cache
def known_options() -> Options:
    """Those of `OPTIONS` that this XLA knows (tried once per process)."""
    found = known(OPTIONS, jax.local_devices(backend="cpu")[0])
    if unknown := sorted(OPTIONS.keys() - found):
        text = f"this version of XLA does not know {', '.join(unknown)}; playouts on the CPU may be slower"
        warnings.warn(text, stacklevel=2)
    return found


@functools.cache
def vector_ratio() -> float:
    """Time of a loop of ticks over that of a plain vector loop of about as much work: 0.7 to 2 where ticks are vectors too.

    Measured in half a second, once per process, or once for this jax and machine where there is a compile cache; above `SLOW`
    that is said in a warning.
    """
    name = f"vector_ratio, jax {jax.__version__}, {platform.machine()} {platform.processor()} {platform.node()}"
    ratio = remembered.recall(name)
    if ratio is None:
        ratio = round(tried(lambda: _vector_ratio(known_options())), 2)
        remembered.keep(name, ratio)
    if ratio > SLOW:
        text = f"this XLA (jax {jax.__version__}) does not make vectors of playouts on the CPU: they will be several times slower"
        warnings.warn(text, stacklevel=2)
    return ratio


def _vector_ratio(options: Options, lanes: int = 1008, repeats: int = 9) -> float:
    g = geometry(5)

    def of_ticks(number):
        none = tuple(jnp.zeros_like(number) for _ in range(g.num_words))
        zero = jnp.zeros_like(number, jnp.int32)
        first = Ready(none, none, zero + g.pass_index, zero, zero, number * np.uint32(STEP), number, zero)
        return xla.ticks(g, playout.fresh_lanes(g, first, np.int32(1 << 20), False, 0), TICKS)

    def of_vectors(number):
        def mix(_, x):
            for _ in range(4):
                x = (x ^ (x >> np.uint32(15))) * np.uint32(STEP) + (x << np.uint32(7))
            return x

        return lax.fori_loop(0, TICKS, mix, number)

    seconds = []
    with jax.default_device(jax.local_devices(backend="cpu")[0]), forms.within(forms.CPU):
        for function, count in ((of_ticks, lanes), (of_vectors, lanes * VECTOR_WORK)):
            numbers = jnp.arange(count, dtype=jnp.uint32)
            program = jax.jit(function, compiler_options=options).lower(numbers).compile()
            taken = []
            for _ in range(repeats):
                start = time.perf_counter()
                jax.block_until_ready(program(numbers))
                taken.append(time.perf_counter() - start)
            seconds.append(min(taken))
    return seconds[0] / seconds[1]
