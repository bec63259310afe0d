"""The GPU executor: whole playouts inside one kernel (Pallas, for NVIDIA by way of Triton).

Every thread is a lane. It plays one playout after the other, from the first ply to the last, with its state in registers: lane i
of L takes the playouts number i, i + L, i + 2 L and so on. Memory is touched when a playout begins (its position is read), when
it ends (its record is written), and at each ply if the moves are wanted. The tick is `jaxgo.playing.tick`, and so are the results, bit for
bit, whatever the number of lanes.
"""

import functools
import operator

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.playing import playout
from jaxgo.playing.playout import NO_ITEM, Job, Records, Table
from jaxgo.playing.tick import Lanes, is_over, tick

#: Lanes of a program: a warp, so that no lane waits for more than 31 others.
BLOCK = 32
#: Ticks between two looks at whether playouts are over.
TICKS = 16


def play_all(
    g: Geometry, table: Table, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool, interpret: bool = False
) -> Records:
    """What `jaxgo.backends.xla.play_all` returns for the same arguments, bit for bit.

    `lanes` is rounded up to whole programs. With `interpret` the kernel is run by XLA on any device, slowly, for tests.
    """
    g = playing_geometry(g.size)
    with bb.words_known(g):
        return _play_all(g, table, job, lanes, longest, first_plays, moves, interpret)


def _play_all(g, table, job, lanes, longest, first_plays, moves, interpret) -> Records:
    room = table.ko.shape[0] * job.per_position
    numbers = (*job.seed, job.num_positions, job.num_playouts, job.first_playout, job.max_plies)
    numbers = jnp.stack([jnp.asarray(x).astype(jnp.uint32) for x in numbers])
    outputs = [jnp.zeros((playout.num_columns(g, first_plays), room), jnp.uint32)]
    if moves:
        outputs.append(jnp.full((room, longest), -1, jnp.int16))
    out = pl.pallas_call(
        functools.partial(_kernel, g, job.per_position, first_plays, lax.population_count if interpret else _popc),
        grid=(-(-lanes // BLOCK),),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in outputs],
        input_output_aliases={2 + i: i for i in range(len(outputs))},
        compiler_params=triton.CompilerParams(num_warps=BLOCK // 32, num_stages=1),
        interpret=interpret,
        name=f"playouts_{g.size}",
    )(numbers, jnp.stack(playout.columns_of_table(table)), *outputs)
    return playout.unpack(g, tuple(out[0]), out[1] if moves else None, first_plays)


def _popc(x: jax.Array) -> jax.Array:
    wide = x.dtype == jnp.int64
    (count,) = triton.elementwise_inline_asm(
        f"popc.b{64 if wide else 32} $0, $1;", args=[x if wide else x.astype(jnp.int32)],
        constraints="=r,l" if wide else "=r,r", pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(x.shape, jnp.int32)],
    )  # fmt: skip
    return count.astype(jnp.uint32)


def _any(x: jax.Array) -> jax.Array:
    return jnp.max(x.astype(jnp.int32)) != jnp.int32(0)


def _areas(g: Geometry, own: Board, opp: Board, wanted: jax.Array) -> tuple[Board, Board]:
    """`jaxgo.board.rules.areas`, where wanted, in what Triton knows: no single loop of `jaxgo.base.one_loop`, no `any`."""
    empty = tuple(jnp.where(wanted, x, g.word(0)) for x in bb.complement(g, bb.either(own, opp)))
    grounds = bb.either(own, empty), bb.either(opp, empty)

    def grow(state):
        mine, theirs, _ = state
        mine, theirs = bb.spread(g, mine, grounds[0]), bb.spread(g, theirs, grounds[1])
        return mine, theirs, _any(bb.grows(g, mine, grounds[0]) | bb.grows(g, theirs, grounds[1]))

    mine, theirs, _ = lax.while_loop(lambda state: state[2], grow, (own, opp, jnp.bool_(True)))
    return bb.without(mine, theirs), bb.without(theirs, mine)


# Columns are read and written in loops, one memory operation for all: Triton's layout passes take time that grows with the square
# of the number of memory operations, which for 19x19 came to more than five minutes.


def _read(table, position: jax.Array, wanted: jax.Array) -> tuple[jax.Array, ...]:
    """A row of the table, its columns."""

    def column(i, row):
        word = triton.load(table.at[i, position], mask=wanted, other=jnp.uint32(0))
        return tuple(jnp.where(i == jnp.int32(k), word, x) for k, x in enumerate(row))

    none = jnp.zeros(position.shape, jnp.uint32)
    return lax.fori_loop(0, table.shape[0], column, (none,) * table.shape[0])


def _write(rows, item: jax.Array, columns: tuple[jax.Array, ...], finished: jax.Array) -> None:
    """Writes the columns of records."""

    def column(i, _):
        word = functools.reduce(operator.or_, (jnp.where(i == jnp.int32(k), x, jnp.uint32(0)) for k, x in enumerate(columns)))
        triton.store(rows.at[i, item], word, mask=finished)

    lax.fori_loop(0, len(columns), column, None)


def _kernel(g: Geometry, per_position: int, first_plays: bool, count_bits, numbers, table, *refs):
    """The kernel's body. `refs` are the outputs as they come in, and as they go out: the records and, if wanted, the events."""
    outputs = refs[len(refs) // 2 :]
    moves, rows, events = len(outputs) == 2, outputs[0], outputs[-1]
    counts = (numbers[i].astype(jnp.int32) for i in range(2, 6))
    job = Job(per_position, (numbers[0], numbers[1]), *counts)
    total, lanes = job.total, pl.num_programs(0) * jnp.int32(BLOCK)

    def begin(number: jax.Array):
        position, wanted = playout.position_of(job, number), number < total
        first = playout.ready(g, job, number, _read(table, position, wanted))
        return playout.fresh_lanes(g, first, job.max_plies, first_plays, 1 if moves else 0), first.item, first.black, number

    def is_finished(lanes: Lanes, item: jax.Array) -> jax.Array:
        return is_over(lanes.passes, lanes.plies_left) & (item != jnp.int32(NO_ITEM))

    def one_tick(_, state):
        before, item = state
        after = tick(g, before)
        if moves:
            event = playout.points_of_events(g, (after.log[0] & jnp.uint32(0xFFFF)).astype(jnp.int32)).astype(jnp.int16)
            triton.store(events.at[item, before.plies], event, mask=after.plies > before.plies)
        return after, item

    def change_over(state):
        lane, item, black, number = state
        finished = is_finished(lane, item)
        mine, theirs = _areas(g, lane.own, lane.opp, finished)
        _write(rows, item, playout.results(g, mine, theirs, lane, black), finished)
        fresh = begin(jnp.where(finished, number + lanes, number))
        return jax.tree.map(lambda new, old: jnp.where(finished, new, old), fresh, state)

    def fly(state):
        lane, item, black, number = state
        lane, _ = lax.fori_loop(0, TICKS, one_tick, (lane, item))
        state = lane, item, black, number
        return lax.cond(_any(is_finished(lane, item)), change_over, lambda x: x, state)

    number = pl.program_id(0) * jnp.int32(BLOCK) + jnp.arange(BLOCK, dtype=jnp.int32)
    with bb.counting_bits(count_bits):
        lax.while_loop(lambda state: _any(state[1] != jnp.int32(NO_ITEM)), fly, begin(number))
