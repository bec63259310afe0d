"""Playouts on NVIDIA GPUs: whole ones inside one kernel.

Every thread is a lane. It plays one playout after the other, from the first ply to the last, with its state in registers: lane i
of L takes the playouts number i, i + L, i + 2 L and so on. Memory is touched when a playout begins (its position is read), when
it ends (its record is written), and at each ply if the moves are wanted. The tick is `jaxgo.playing.tick`, and so are the
results, bit for bit, whatever the number of lanes.

A playout policy is part of the kernel, as it is written for XLA: what it knows of a lane is worked out before each tick, and its
tables lie in memory. Where lanes wait for a look that is dear, all of a warp look once enough of them do.

The kernel is text, which `jaxgo.backends.ptx` makes of the tick, the policy, and what begins and ends a playout. XLA has a custom
call that takes such text and hands it to the GPU's driver, so nothing else is needed to compile it.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

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
from jaxgo.playing.lanes import Lanes, Wants, is_over
from jaxgo.playing.playout import NO_ITEM, Job
from jaxgo.playing.policies.policy import Policy, PolicyForm
from jaxgo.playing.tick import tick
from jaxgo.playing.wire import Records

#: XLA's custom call for kernels given as text.
TARGET = "__gpu$xla.gpu.ptx"
#: `item` of a lane that has had no playout yet, or whose number was that of none, and that is to take the next one.
NOT_BEGUN = -2
#: How many numbers the kernel is told.
NUMBERS = 8
#: Ticks between two looks at whether playouts are over.
TICKS = 16
#: Lanes of a warp that must wait for a look before all of them look, unless all that play wait (`bench.kernel`).
LOOKING = 8


def play_all(
    g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool,
    policy: Policy | None = None, last: jax.Array | None = None,
) -> Records:  # fmt: skip
    """What `jaxgo.backends.xla.play_all` returns for the same arguments, bit for bit; `lanes` is rounded up to whole warps.

    Raises:
      NotImplementedError: the policy does what kernels cannot (see `jaxgo.backends.ptx`).
    """
    shapes = [jax.ShapeDtypeStruct(*x) for x in outputs(g, columns.shape[1], job, longest, first_plays, moves)]
    counts = {"grid_x": -(-lanes // ptx.WARP), "grid_y": 1, "grid_z": 1, "block_x": ptx.WARP, "block_y": 1, "block_z": 1}
    kernel = kernel_of(g, job, first_plays, moves, policy)
    made = jax.ffi.ffi_call(TARGET, shapes, vmap_method="sequential")(
        *inputs(g, columns, job, longest, policy, last), *kernel.tables,
        name=name(g.size), kernel_type="ptx", kernel_data=kernel.text,
        **{key: np.int32(count) for key, count in counts.items()}, shared_mem_bytes=np.int32(0),
    )  # fmt: skip
    return records(g, columns, job, made, first_plays)


def kernel_of(g: Geometry, job: Job, first_plays: bool, moves: bool, policy: Policy | None) -> "Written":
    """The kernel that plays a job."""
    return written(g.size, first_plays, moves, None if policy is None else PolicyForm.of(policy), job.seed is None)


def inputs(
    g: Geometry, columns: jax.Array, job: Job, longest: int, policy: Policy | None, last: jax.Array | None
) -> list[jax.Array]:
    """The arrays that the kernel reads, but for its tables: numbers, the positions' columns, and the policy's."""
    arrays: list[jax.Array] = []
    if policy is not None:
        columns = playout.columns_for(policy.wants, columns, last)
        layout = _layout(g.size)
        with forms.within(forms.GPU), bb.words_known(layout):
            arrays = jax.tree.leaves(policy.laid_out(layout))
    return [numbers_of(job, columns.shape[1], longest), columns, *arrays]


def numbers_of(job: Job, batch: int, longest: int) -> jax.Array:
    """uint32 [8]: what the kernel is told of a job on so many positions, and of the events' width."""
    seed = job.seed or (np.uint32(0),) * 2
    numbers = [*seed, job.num_positions, job.num_playouts, job.max_plies, job.per_position, batch, longest]
    return jnp.stack([jnp.asarray(x).astype(jnp.uint32) for x in numbers])


def outputs(g: Geometry, batch: int, job: Job, longest: int, first_plays: bool, moves: bool) -> list[tuple]:
    """(shape, type) of the arrays that the kernel writes: the records' columns and, if wanted, the events."""
    room = batch * job.per_position
    return [((wire.num_columns(_layout(g.size), first_plays), room), np.uint32), *[((room, longest), np.int16)] * moves]


def records(g: Geometry, columns: jax.Array, job: Job, made: Sequence[jax.Array], first_plays: bool) -> Records:
    """The records of a job that the kernel made in arrays of `outputs`, in which it has left alone what was not asked for."""
    count = columns[wire.num_columns_of_job(g) - 1].astype(jnp.int32)
    g = _layout(g.size)
    with bb.words_known(g):
        item, room = jnp.arange(made[0].shape[1], dtype=jnp.int32), np.int32(job.per_position)
        position = lax.div(item, room)
        asked = (position < job.num_positions) & (lax.rem(item, room) < count[position])
        found = wire.unpack(g, tuple(jnp.where(asked, x, np.uint32(0)) for x in made[0]), None, first_plays)
        if len(made) == 1:
            return found
        ply = jnp.arange(made[1].shape[1], dtype=jnp.int32)
        return found._replace(events=jnp.where(ply[None] < found.length[:, None], made[1], np.int16(-1)))


def _layout(size: int) -> Geometry:
    """How boards lie in the kernel's words."""
    with forms.within(forms.GPU):
        return playing_geometry(size)


def name(size: int) -> str:
    """What the kernel for a board size is called."""
    return f"playouts_{size}"


class Written(NamedTuple):
    """A kernel."""

    text: str
    tables: tuple[np.ndarray, ...]
    """Arrays in which it looks things up, which it is given behind the others that it reads."""
    arrays: tuple[str, ...]
    """The names of its parameters, in order."""


@functools.cache
def written(size: int, first_plays: bool, moves: bool, form: PolicyForm | None = None, own_seeds: bool = False) -> Written:
    """The kernel for a board size, which records what is wanted and asks a policy of a form; for jobs with or without a seed.

    Its parameters are the arrays of `inputs`, its tables, and the arrays of `outputs`.

    Raises:
      NotImplementedError: the policy does what kernels cannot.
    """
    g = _layout(size)
    with forms.within(forms.GPU), bb.words_known(g):
        return _written(g, first_plays, moves, form, own_seeds)


def _written(g: Geometry, first_plays: bool, moves: bool, form: PolicyForm | None, own_seeds: bool) -> Written:
    wants = None if form is None else form.wants
    asked = None if form is None else jax.eval_shape(lambda *x: form.with_arrays(x).laid_out(g), *form.shapes)
    arrays, structure = jax.tree.flatten(asked)
    arrays = [ptx.Array(f"policy{i}", x.shape, x.dtype) for i, x in enumerate(arrays)]
    k = ptx.Kernel(name(g.size), ["numbers", "positions", *(x.name for x in arrays)], ["rows", *["events"] * moves])
    policy = jax.tree.unflatten(structure, [x if x.shape else k.scalar(x) for x in arrays])
    begin = functools.partial(_begin, g, first_plays, moves, wants, own_seeds)
    words = wire.num_columns_of_job(g) + 2 * own_seeds + bool(wants and wants.last)

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
            for word in k.inline(functools.partial(_record, g), mine, theirs, lane, black):
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

    def play(known, then: str) -> None:
        after = k.inline(functools.partial(_tick, g), policy, lane, known)
        if moves:
            point = k.inline(lambda log: wire.points_of_events(g, (log & np.uint32(0xFFFF)).astype(jnp.int32)), after.log[0])
            moved = k.inline(jnp.greater, after.plies, lane.plies)
            k.store(k.at(events, lane.plies, ptx.constant(2)), point, width=2, where=moved)
        k.move((lane, ticks), (after, k.inline(lambda n: n - np.int32(1), ticks)))
        k.go("tick", k.inline(lambda n: n != np.int32(0), ticks))
        k.go(then)

    k.label("tick")
    known = _known(k, g, policy, lane, False)
    waits = None if policy is None else k.inline(lambda policy, known: policy.waits(known), policy, known)
    if waits is not None:
        waiting, playing = (
            k.op("popc.b32", np.int32, k.ballot(where))
            for where in (k.inline(lambda x: x != np.int32(0), waits), k.inline(lambda x: ~is_over(x.passes, x.plies_left), lane))
        )
        k.go("glance", k.inline(lambda n, all: n < jnp.minimum(all, np.int32(LOOKING)), waiting, playing))
        play(_known(k, g, policy, lane, True), "look")
        k.label("glance")
    play(known, "look")
    k.label("end")
    return Written(k.text(), tuple(k.tables), tuple(k.arrays))


def _known(k: ptx.Kernel, g: Geometry, policy: Policy | None, lane: Lanes, looks: bool):
    """What a policy knows of a lane."""
    return None if policy is None else k.inline(lambda policy, lane: policy.known(g, lane, looks), policy, lane)


def _tick(g: Geometry, policy: Policy | None, lane: Lanes, known) -> Lanes:
    """A lane one tick later."""
    if policy is None:
        return tick(g, lane)
    asked = functools.partial(policy.preferences, g, known=known)
    return policy.after(g, tick(g, lane, asked, policy.waits(known)), known)


def _job(numbers: Sequence[jax.Array]) -> tuple[Job, jax.Array, jax.Array]:
    """(job, B, width of the events) of what `numbers_of` gives."""
    positions, playouts, cap, room, batch, longest = (x.astype(jnp.int32) for x in numbers[2:])
    job = Job(room, (numbers[0], numbers[1]), positions, playouts, cap)  # type: ignore[arg-type]
    return job, batch, longest


def _begin(
    g: Geometry, first_plays: bool, moves: bool, wants: Wants | None, own_seeds: bool, numbers, number, row
) -> tuple[Lanes, jax.Array, jax.Array]:
    """(lane, item, whether Black began) of the playout of a number, given the words of its position."""
    job = _job(numbers)[0]
    if own_seeds:
        job = job._replace(seed=None)
    first = playout.ready(g, job, number, row, wants)
    item = jnp.where((first.item == np.int32(NO_ITEM)) & (number < job.total), np.int32(NOT_BEGUN), first.item)
    return playout.fresh_lanes(g, first, job.max_plies, first_plays, 1 if moves else 0, wants), item, first.black


def _record(g: Geometry, mine: Board, theirs: Board, lane: Lanes, black: jax.Array) -> tuple[jax.Array, ...]:
    """A finished lane's record, given the areas of the mover and the other."""
    *columns, summary = playout.results(g, lane, black)
    margin = bb.count(mine) - bb.count(theirs)
    return *columns, playout.with_margin(g, summary, jnp.where(playout.is_of_black(lane, black), margin, -margin))


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
