"""Playouts on NVIDIA GPUs: whole ones inside one kernel.

Every thread is a lane. It plays one playout after the other, from the first ply to the last, with its state in registers: lane i
of L takes the playouts number i, i + L, i + 2 L and so on. Memory is touched when a playout begins (its position is read), when
it ends (its record is written), and at each ply if the moves are wanted. The tick is `jaxgo.playing.tick`, and so are the
results, bit for bit, whatever the number of lanes.

The kernel is text, which `jaxgo.backends.ptx` makes of the tick and of what begins and ends a playout. XLA has a custom call that
takes such text and hands it to the GPU's driver, so nothing else is needed to compile it.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.backends import ptx
from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.playing import playout, wire
from jaxgo.playing.playout import NO_ITEM, Job
from jaxgo.playing.tick import Lanes, is_over, tick
from jaxgo.playing.wire import Records

#: XLA's custom call for kernels given as text.
TARGET = "__gpu$xla.gpu.ptx"
#: `item` of a lane that has had no playout yet.
NOT_BEGUN = -2
#: How many numbers the kernel is told.
NUMBERS = 9
#: Ticks between two looks at whether playouts are over.
TICKS = 16


def play_all(g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool) -> Records:
    """What `jaxgo.backends.xla.play_all` returns for the same arguments, bit for bit; `lanes` is rounded up to whole warps."""
    shapes = [jax.ShapeDtypeStruct(*x) for x in outputs(g, columns.shape[1], job, longest, first_plays, moves)]
    counts = {"grid_x": -(-lanes // ptx.WARP), "grid_y": 1, "grid_z": 1, "block_x": ptx.WARP, "block_y": 1, "block_z": 1}
    written = jax.ffi.ffi_call(TARGET, shapes, vmap_method="sequential")(
        numbers_of(job, columns.shape[1], longest), columns,
        name=name(g.size), kernel_type="ptx", kernel_data=text(g.size, first_plays, moves),
        **{key: np.int32(count) for key, count in counts.items()}, shared_mem_bytes=np.int32(0),
    )  # fmt: skip
    return records(g, job, written, first_plays)


def numbers_of(job: Job, batch: int, longest: int) -> jax.Array:
    """uint32 [9]: what the kernel is told of a job on so many positions, and of the events' width."""
    numbers = [*job.seed, job.num_positions, job.num_playouts, job.first_playout, job.max_plies, job.per_position, batch, longest]
    return jnp.stack([jnp.asarray(x).astype(jnp.uint32) for x in numbers])


def outputs(g: Geometry, batch: int, job: Job, longest: int, first_plays: bool, moves: bool) -> list[tuple]:
    """(shape, type) of the arrays that the kernel writes: the records' columns and, if wanted, the events."""
    room = batch * job.per_position
    return [((wire.num_columns(_layout(g.size), first_plays), room), np.uint32), *[((room, longest), np.int16)] * moves]


def records(g: Geometry, job: Job, written: Sequence[jax.Array], first_plays: bool) -> Records:
    """The records that the kernel wrote into arrays of `outputs`, in which it has left alone what was not asked for."""
    g = _layout(g.size)
    with bb.words_known(g):
        item, room = jnp.arange(written[0].shape[1], dtype=jnp.int32), np.int32(job.per_position)
        asked = (lax.div(item, room) < job.num_positions) & (lax.rem(item, room) < job.num_playouts)
        made = wire.unpack(g, tuple(jnp.where(asked, x, np.uint32(0)) for x in written[0]), None, first_plays)
        if len(written) == 1:
            return made
        ply = jnp.arange(written[1].shape[1], dtype=jnp.int32)
        return made._replace(events=jnp.where(ply[None] < made.length[:, None], written[1], np.int16(-1)))


def _layout(size: int) -> Geometry:
    """How boards lie in the kernel's words."""
    with forms.within(forms.GPU):
        return playing_geometry(size)


def name(size: int) -> str:
    """What the kernel for a board size is called."""
    return f"playouts_{size}"


@functools.cache
def text(size: int, first_plays: bool, moves: bool) -> str:
    """The kernel for a board size, which records what is wanted.

    Its parameters are the array of `numbers_of`, the positions' columns and the arrays of `outputs`.
    """
    g = _layout(size)
    with bb.words_known(g):
        return _text(g, first_plays, moves)


def _text(g: Geometry, first_plays: bool, moves: bool) -> str:
    k = ptx.Kernel(name(g.size), ["numbers", "positions", "rows", *["events"] * moves])
    begin = functools.partial(_begin, g, first_plays, moves)
    words = wire.num_columns_of_position(g)

    # Each lane begins with a playout that is over, and leaves no record.
    word, whole = (jax.ShapeDtypeStruct((), x) for x in (np.uint32, np.int32))
    state = k.registers(jax.eval_shape(begin, [word] * NUMBERS, whole, [word] * words))
    lane, item, black = state
    k.move(state, jax.tree.map(lambda x: ptx.constant(0, x.dtype), state, is_leaf=ptx.is_value))
    k.move((item, lane.passes), (ptx.constant(NOT_BEGUN), ptx.constant(2)))
    # The warp's playouts are those whose number is its own, or larger by a multiple of the number of warps.
    next_number, events = k.register(np.int32), k.register(np.uint64)
    k.move(next_number, k.special("%ctaid.x"))

    k.label("look")
    due = k.inline(lambda x, item: is_over(x.passes, x.plies_left) & (item != np.int32(NO_ITEM)), lane, item)
    finished = k.ballot(due)
    with k.only(due, "changed"):
        mine, theirs = _areas(k, g, lane)
        # Read anew each time: they would take nine registers from the tick.
        numbers = [k.load(k.address("numbers"), offset=4 * i) for i in range(NUMBERS)]
        job, batch, longest = k.inline(_job, numbers)
        with k.only(k.inline(lambda item: item >= np.int32(0), item), "written"):
            cell = k.at(k.address("rows"), item, ptx.constant(4))
            room = k.inline(lambda job, batch: job.per_position * batch, job, batch)
            for word in k.inline(functools.partial(playout.results, g), mine, theirs, lane, black):
                k.store(cell, word)
                cell = k.at(cell, room, ptx.constant(4))
        # Of the lanes that are free now, the first takes the next number, and so on.
        before = k.op("popc.b32", np.int32, k.op("and.b32", np.uint32, finished, k.special("%lanemask_lt")))
        number = k.op("mad.lo.s32", np.int32, before, k.special("%nctaid.x"), next_number)
        exists = k.inline(lambda number, job: number < job.total, number, job)
        cell = k.at(k.address("positions"), k.inline(playout.position_of, job, number), ptx.constant(4))
        row = []
        for _ in range(words):
            row.append(k.load(cell, where=exists))
            cell = k.at(cell, batch, ptx.constant(4))
        k.move(state, k.inline(begin, numbers, number, row))
        if moves:
            k.move(events, k.at(k.address("events"), item, k.inline(lambda n: n * np.int32(2), longest)))
    k.move(next_number, k.op("mad.lo.s32", np.int32, k.op("popc.b32", np.int32, finished), k.special("%nctaid.x"), next_number))
    k.go("end", k.any(k.inline(lambda item: item != np.int32(NO_ITEM), item)), unless=True)

    ticks = k.register(np.int32)
    k.move(ticks, ptx.constant(TICKS))
    k.label("tick")
    after = k.inline(functools.partial(tick, g), lane)
    if moves:
        point = k.inline(lambda log: wire.points_of_events(g, (log & np.uint32(0xFFFF)).astype(jnp.int32)), after.log[0])
        k.store(k.at(events, lane.plies, ptx.constant(2)), point, width=2, where=k.inline(jnp.greater, after.plies, lane.plies))
    k.move((lane, ticks), (after, k.inline(lambda n: n - np.int32(1), ticks)))
    k.go("tick", k.inline(lambda n: n != np.int32(0), ticks))
    k.go("look")
    k.label("end")
    return k.text()


def _job(numbers: Sequence[jax.Array]) -> tuple[Job, jax.Array, jax.Array]:
    """(job, B, width of the events) of what `numbers_of` gives."""
    positions, playouts, first, cap, room, batch, longest = (x.astype(jnp.int32) for x in numbers[2:])
    job = Job(room, (numbers[0], numbers[1]), positions, playouts, first, cap)  # type: ignore[arg-type]
    return job, batch, longest


def _begin(g: Geometry, first_plays: bool, moves: bool, numbers, number, row) -> tuple[Lanes, jax.Array, jax.Array]:
    """(lane, item, whether Black began) of the playout of a number, given the words of its position."""
    job = _job(numbers)[0]
    first = playout.ready(g, job, number, row)
    return playout.fresh_lanes(g, first, job.max_plies, first_plays, 1 if moves else 0), first.item, first.black


def _areas(k: ptx.Kernel, g: Geometry, lane: Lanes) -> tuple[Board, Board]:
    """`jaxgo.board.rules.areas` of a lane, until nothing grows."""

    def grounds(own, opp):
        empty = bb.complement(g, bb.either(own, opp))
        return bb.either(own, empty), bb.either(opp, empty)

    def grow(mine, theirs, grounds):
        mine, theirs = bb.spread(g, mine, grounds[0]), bb.spread(g, theirs, grounds[1])
        return mine, theirs, bb.grows(g, mine, grounds[0]) | bb.grows(g, theirs, grounds[1])

    through = k.inline(grounds, lane.own, lane.opp)
    areas = k.registers((lane.own, lane.opp))
    k.move(areas, (lane.own, lane.opp))
    k.label("grow")
    *grown, growing = k.inline(grow, *areas, through)
    k.move(areas, grown)
    k.go("grow", growing)
    return k.inline(lambda a, b: (bb.without(a, b), bb.without(b, a)), *areas)
