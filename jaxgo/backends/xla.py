"""Playouts by XLA, on any device: a queue of them on a fixed number of lanes.

Lanes take playouts from the job (see `jaxgo.playing.playout`) in the order of their numbers, as they become free, so that none
waits for a long game elsewhere, and every playout taken is finished and recorded: nothing favours short games. A playout's result
depends on its name only (see `jaxgo.playing.draws`), so lanes, order and splitting leave no trace in it.

Three loops run inside each other:

 - ticks: `TICKS` of them, nothing else;
 - change-over: a lane whose playout is over is scored, lays the result into its *slot*, and starts the playout that it has
   ready; both are plain selects over all lanes;
 - flush: when most slots are full, they are written to the records in one scatter, and the lanes get their next playouts ready
   in one gather. Both are dear on a CPU, so they are rare.
"""

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxgo.base.one_loop import MAX_ARRAYS, in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.board.rules import areas
from jaxgo.playing import playout, wire
from jaxgo.playing.playout import NO_ITEM, Job, Ready
from jaxgo.playing.tick import LOGGED, Lanes, is_over, tick
from jaxgo.playing.wire import Records

#: Ticks between two change-overs (a multiple of LOGGED).
TICKS = 32
#: Boards of at most so many words play two ticks in a kernel, others one.
MOST_WORDS_OF_PAIRS = 8
#: A flush is due when this share of the slots is full.
FLUSH_AT = 0.75


class _Flight(NamedTuple):
    """All that the loops carry; arrays [L] but for the last four."""

    lanes: Lanes
    item: jax.Array
    black: jax.Array
    ready: Ready
    slot: tuple[jax.Array, ...]
    slot_item: jax.Array
    taken: jax.Array
    written: jax.Array
    rows: jax.Array
    events: jax.Array | None


def _select(condition: jax.Array, new, old):
    """`new` where the condition (int32, not 0) holds, else `old`; pytrees of arrays [L], some dozens to a loop."""
    new, (old, structure) = jax.tree.leaves(new), jax.tree.flatten(old)
    out, group = [], MAX_ARRAYS // 2 - 1

    def select(condition, new, old):
        return [jnp.where(condition != jnp.int32(0), n, o) for n, o in zip(new, old)]

    for i in range(0, len(old), group):
        out += in_one_loop(select, condition, new[i : i + group], old[i : i + group])
    return jax.tree.unflatten(structure, out)


def ticks(g: Geometry, lanes: Lanes, count: int) -> Lanes:
    """The lanes `count` ticks later, a multiple of 4."""
    # Boards of few words play two ticks in a kernel, which saves passing the state through memory. Two kernels a trip write into
    # each other's buffers, which saves XLA copying the state.
    ticks = 2 if g.num_words <= MOST_WORDS_OF_PAIRS else 1

    def step(lanes: Lanes) -> Lanes:
        for _ in range(ticks):
            lanes = tick(g, lanes)
        return lanes

    trips = count // (2 * ticks)
    return lax.fori_loop(0, trips, lambda _, x: in_one_loop(step, in_one_loop(step, x)), lanes)


def _logged_ticks(g: Geometry, lanes: Lanes, item: jax.Array, events: jax.Array) -> tuple[Lanes, jax.Array]:
    """(lanes, events) TICKS ticks later, with the moves written to events."""
    # Each lane's last LOGGED moves are written at once; a few of them for a second time.
    window = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1)
    )

    def step(_, state):
        lanes, events = state
        lanes = ticks(g, lanes, LOGGED)
        halves = [half for word in lanes.log for half in (word & jnp.uint32(0xFFFF), word >> jnp.uint32(16))]
        moves = jnp.stack([wire.points_of_events(g, half.astype(jnp.int32)) for half in reversed(halves)], axis=1)
        row = jnp.where(item == jnp.int32(NO_ITEM), jnp.int32(events.shape[0]), item)
        place = jnp.stack([row, lanes.plies], axis=1)
        drop = lax.GatherScatterMode.FILL_OR_DROP
        events = lax.scatter(events, place, moves.astype(jnp.int16), window, unique_indices=True, mode=drop)
        return lanes, events

    return lax.fori_loop(0, TICKS // LOGGED, step, (lanes, events))


def _leaves(lanes: Lanes, item: jax.Array, slot_item: jax.Array) -> jax.Array:
    """int32, 1 where a lane's playout is over and its slot is free."""
    over = is_over(lanes.passes, lanes.plies_left) & (item != jnp.int32(NO_ITEM))
    return (over & (slot_item == jnp.int32(NO_ITEM))).astype(jnp.int32)


def _change_over(
    g: Geometry, upcoming: Ready, mine: Board, theirs: Board, lanes, item, black, ready_item, slot, slot_item, in_loop=None
):
    """The lanes, items, colours and slots after the finished lanes have left their results and started what they had ready.

    `mine` and `theirs` are the areas of the mover and the other. With `in_loop`, for boards of too many words for one loop, the
    parts are put into loops of their own.
    """
    leave = _leaves(lanes, item, slot_item)
    parts = (functools.partial(playout.results, g), mine, theirs, lanes, black)
    result = in_loop(*parts) if in_loop else parts[0](*parts[1:])
    fresh = playout.fresh_lanes(g, upcoming, lanes.plies + lanes.plies_left, bool(lanes.played), len(lanes.log))
    none = jnp.full_like(item, NO_ITEM)
    new = (fresh, ready_item, upcoming.black, none, result, item)
    old = (lanes, item, black, ready_item, slot, slot_item)
    if in_loop:
        return _select(leave, new, old)
    return jax.tree.map(lambda n, o: jnp.where(leave != jnp.int32(0), n, o), new, old)


def play_all(
    g: Geometry,
    columns: jax.Array,
    job: Job,
    *,
    lanes: int,
    longest: int,
    first_plays: bool,
    moves: bool,
) -> Records:
    """Plays a job's playouts.

    Args:
      g: the layout of the positions' boards and the records'.
      columns: uint32 [C, B], B positions (see `jaxgo.playing.wire`).
      job: how many playouts of which.
      lanes: how many playouts run at a time (static).
      longest: the largest `max_plies` (static), the width of `Records.events`.
      first_plays, moves: what to record (static).

    Returns:
      Records of n = B * per_position playouts; rows of playouts that were not asked for are 0.
    """
    g = playing_geometry(g.size)
    with bb.words_known(g):
        return _play_all(g, columns, job, lanes, longest, first_plays, moves)


def _play_all(g: Geometry, positions: jax.Array, job: Job, lanes: int, longest: int, first_plays: bool, moves: bool) -> Records:
    batch = positions.shape[1]
    room, total, columns = batch * job.per_position, job.total, wire.num_columns(g, first_plays)
    rows_of_table = positions.T

    def make_ready(number: jax.Array) -> Ready:
        if batch > 1:
            row = rows_of_table[jnp.minimum(playout.position_of(job, number), jnp.int32(batch - 1))]
        else:
            row = jnp.broadcast_to(rows_of_table, (number.shape[0], rows_of_table.shape[1]))
        return playout.ready(g, job, number, tuple(row.T))

    def change_over(f: _Flight) -> _Flight:
        leave = _leaves(f.lanes, f.item, f.slot_item)
        mine, theirs = areas(g, f.lanes.own, f.lanes.opp, leave != jnp.int32(0))
        state = (f.lanes, f.item, f.black, f.ready.item, f.slot, f.slot_item)
        if len(jax.tree.leaves((f.ready, state))) + 2 * g.num_words <= MAX_ARRAYS:
            state = in_one_loop(functools.partial(_change_over, g), f.ready, mine, theirs, *state)
        else:
            state = _change_over(g, f.ready, mine, theirs, *state, in_loop=in_one_loop)
        new_lanes, item, black, ready_item, slot, slot_item = state
        return f._replace(
            lanes=new_lanes, item=item, black=black, ready=f.ready._replace(item=ready_item), slot=slot, slot_item=slot_item,
        )  # fmt: skip

    def flush_is_due(f: _Flight) -> jax.Array:
        full = f.slot_item != jnp.int32(NO_ITEM)
        stuck = (f.item == jnp.int32(NO_ITEM)) | (is_over(f.lanes.passes, f.lanes.plies_left) & full)
        return (jnp.sum(full, dtype=jnp.int32) >= jnp.int32(max(1, int(lanes * FLUSH_AT)))) | jnp.all(stuck)

    def fly(f: _Flight) -> _Flight:
        if f.events is None:
            return change_over(f._replace(lanes=ticks(g, f.lanes, TICKS)))
        new_lanes, events = _logged_ticks(g, f.lanes, f.item, f.events)
        return change_over(f._replace(lanes=new_lanes, events=events))

    def flush(f: _Flight) -> _Flight:
        full = f.slot_item != jnp.int32(NO_ITEM)
        where = jnp.where(full, f.slot_item, jnp.int32(room))
        rows = f.rows.at[where].set(jnp.stack(f.slot, axis=1), mode="drop", unique_indices=True)
        count = jnp.sum(full, dtype=jnp.int32)
        number = f.taken + jnp.cumsum(full.astype(jnp.int32), dtype=jnp.int32) - jnp.int32(1)
        upcoming = _select(full.astype(jnp.int32), make_ready(number), f.ready)
        return f._replace(
            ready=upcoming, slot_item=jnp.full_like(f.slot_item, NO_ITEM), rows=rows,
            taken=f.taken + count, written=f.written + count,
        )  # fmt: skip

    def until_done(f: _Flight) -> _Flight:
        return flush(lax.while_loop(lambda x: ~flush_is_due(x), fly, f))

    number = jnp.arange(lanes, dtype=jnp.int32)
    first, second = make_ready(number), make_ready(number + jnp.int32(lanes))
    flight = _Flight(
        lanes=playout.fresh_lanes(g, first, job.max_plies, first_plays, LOGGED // 2 if moves else 0),
        item=first.item, black=first.black, ready=second,
        slot=tuple(jnp.zeros(lanes, jnp.uint32) for _ in range(columns)), slot_item=jnp.full(lanes, NO_ITEM, jnp.int32),
        taken=jnp.int32(2 * lanes), written=jnp.int32(0), rows=jnp.zeros((room, columns), jnp.uint32),
        events=jnp.full((room, LOGGED + longest), -1, jnp.int16) if moves else None,
    )  # fmt: skip
    # In a `shard_map`, what a loop starts from must vary over the mesh as what comes out of it does: add a zero that does.
    inputs = (*job.seed, job.first_playout, total, job.max_plies, rows_of_table[0, 0])
    varying = functools.reduce(operator.or_, (x.astype(jnp.uint32) for x in inputs))
    flight = jax.tree.map(lambda x: x + (varying & jnp.uint32(0)).astype(x.dtype), flight)
    flight = lax.while_loop(lambda f: f.written < total, until_done, flight)
    events = None if flight.events is None else flight.events[:, LOGGED:]
    return wire.unpack(g, tuple(flight.rows.T), events, first_plays)
