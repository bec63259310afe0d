"""The tick by itself, compiled as playouts compile it: how fast it runs, and how many ticks playouts take."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import jaxgo
from bench import kernel_work
from bench.measure import Work
from jaxgo.backends import cpu, xla
from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import playing_geometry
from jaxgo.playing import playout
from jaxgo.playing.draws import STEP
from jaxgo.playing.playout import Ready
from jaxgo.playing.tick import tick

#: Ticks of a call: calling costs little beside them.
TICKS = 1024
#: Playouts for each lane by which ticks are counted: lanes that have nothing left at the end cost little beside them.
PLAYOUTS_PER_LANE = 64
#: Operations of a tick's jaxpr that are none: they only change what a value is called.
_NO_OPERATIONS = {"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "bitcast_convert_type", "copy"}


@functools.cache
def compiled(size: int) -> tuple[Callable[[], object], int]:
    """(runs `TICKS` ticks of all lanes of a core, how many lanes these are). Compiled once in a process."""
    with forms.within(forms.CPU):
        g = playing_geometry(size)
        lanes = cpu.Cpu().most_lanes(size)

        def ticks_alone(number):
            return xla.ticks(g, _lanes(g, number), TICKS)

        with bb.words_known(g):
            number = jnp.arange(lanes, dtype=jnp.uint32)
            program = jax.jit(ticks_alone, compiler_options=dict(cpu.known_options())).lower(number).compile()
    return functools.partial(program, number), lanes


def compile_alone(size: int) -> None:
    """Compiles the ticks of a board size."""
    compiled(size)


class Ticks:
    """Ticks of playouts that are uniform and record nothing."""

    def __init__(self, size: int):
        """Compiles them.

        Args:
          size: of the board.
        """
        self._run, self._lanes = compiled(size)

    def run(self, count: int) -> Work:
        """Runs at least `count` ticks of one lane."""
        calls = -(-count // (TICKS * self._lanes))
        for _ in range(calls):
            jax.block_until_ready(self._run())
        return Work(calls * TICKS * self._lanes)


def facts(size: int) -> dict[str, int]:
    """A tick before it is compiled.

    Returns:
      `words` of a board, `word_bits`, `lanes` that a core plays, `ticks_a_loop`, and `written`: the operations of the tick's
      jaxpr.
    """
    with forms.within(forms.CPU):
        g = playing_geometry(size)
        with bb.words_known(g):
            jaxpr = jax.make_jaxpr(lambda number: tick(g, _lanes(g, number)))(np.zeros((), np.uint32))
            start = jax.make_jaxpr(lambda number: _lanes(g, number))(np.zeros((), np.uint32))
        ticks_a_loop = xla.ticks_of_kernel(g)
    return {
        "words": g.num_words,
        "word_bits": g.word_bits,
        "lanes": cpu.Cpu().most_lanes(size),
        "ticks_a_loop": ticks_a_loop,
        "written": _operations(jaxpr.jaxpr) - _operations(start.jaxpr),
    }


def ticks_of_playouts(size: int) -> dict[str, float]:
    """What a playout from the empty board takes, means.

    Returns:
      `needed` ticks, and `lane_ticks`: those that a lane makes for it on a core, waiting included. Counted while the program
      runs, which is of no use for timing afterwards.
    """
    plain, lane_ticks = xla.ticks, [0]

    def counting(g, lanes, count, running=None, policy=None):
        def add(running):
            lane_ticks[0] += int(running) * count * lanes.move.size

        jax.debug.callback(add, jnp.bool_(True) if running is None else running)
        return plain(g, lanes, count, running, policy)

    xla.ticks = counting
    try:
        number = cpu.Cpu().most_lanes(size) * PLAYOUTS_PER_LANE
        played = jaxgo.playouts(jaxgo.Position.empty(size), number)
        jax.effects_barrier()
    finally:
        xla.ticks = plain
    return {"needed": float(kernel_work.ticks_of_playouts(size).mean()), "lane_ticks": lane_ticks[0] / played.length.size}


def on_a_warp(size: int) -> dict[str, float] | None:
    """The GPU kernel as `jaxgo bench kernel` counts it; None where there is no assembler for it.

    Returns:
      Machine instructions of a `tick`, `needed` ticks and `lane_ticks` of a playout, waiting included; the shares of a warp's
      instructions that are those of needed ticks (`share`), of ticks in which lanes wait (`waiting`) and between ticks
      (`changing`); and the `ceiling` of an H100 in playouts/s.
    """
    from jaxgo.backends import nvidia

    tools = kernel_work.assembler()
    if not tools:
        return None
    code, played = kernel_work.compile_for(nvidia.written(size, True, False).text, tools), kernel_work.play(size)
    instructions, changing = played.instructions(code)
    needed = float(kernel_work.ticks_of_playouts(size).mean())
    share = needed / played.lane_ticks * (1 - changing)
    return {
        "tick": code.tick, "needed": needed, "lane_ticks": played.lane_ticks, "share": share, "waiting": 1 - changing - share,
        "changing": changing, "ceiling": kernel_work.ceiling(instructions),
    }  # fmt: skip


def _lanes(g, number):
    """Lanes on empty boards, one for each number."""
    none = tuple(jnp.zeros(number.shape, g.dtype) for _ in range(g.num_words))
    zero = jnp.zeros_like(number, jnp.int32)
    first = Ready(none, none, zero + jnp.int32(g.pass_index), zero, zero, number * jnp.uint32(STEP), number, zero)
    return playout.fresh_lanes(g, first, jnp.int32(1 << 20), False, 0)


def _operations(jaxpr) -> int:
    """How many operations a jaxpr has, those of the functions that it calls included."""
    total = 0
    for equation in jaxpr.eqns:
        inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
        if inner is not None:
            total += _operations(getattr(inner, "jaxpr", inner))
        else:
            total += equation.primitive.name not in _NO_OPERATIONS
    return total
