"""Playouts by XLA, on any device: a flight of them on a fixed number of lanes.

Lanes take playouts from a supply in the order of their numbers, as they become free, so that none waits for a long game
elsewhere, and every playout taken is finished and recorded: nothing favours short games. A playout's result depends on its name
only (see `jaxgo.playing.draws`), so lanes, order and splitting leave no trace in it. A flight goes on until what is awaited of it
is finished: all of a job (`play_all`), or the oldest leaves of a tree, while lanes that are free play for younger ones
(`jaxgo.running.ring`). It begins with lanes that have nothing, as they are when there is nothing to do.

Three loops run inside each other:

 - ticks: `TICKS` of them, nothing else;
 - change-over: a lane whose playout is over lays the result into its *slot*, and starts the playout that it has ready; both are
   plain selects over all lanes;
 - flush: when most slots are full, what is in them is scored, they are written to the records in one scatter, and the lanes get
   their next playouts ready in one gather. All of that is dear on a CPU, so it is rare.
"""

import functools
import operator
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import forms
from jaxgo.base.one_loop import MAX_ARRAYS, in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.board.rules import area_margin
from jaxgo.playing import playout, wire
from jaxgo.playing.lanes import LOGGED, Lanes, Memory, Wants, is_over
from jaxgo.playing.playout import NO_ITEM, Job, Ready
from jaxgo.playing.policies.policy import Policy
from jaxgo.playing.tick import tick
from jaxgo.playing.wire import Records

#: Ticks between two change-overs (a multiple of LOGGED).
TICKS = 24
#: Boards of at most so many words play two ticks in a kernel, others one, and all where registers are few.
MOST_WORDS_OF_PAIRS = 8
#: A flush is due when this share of the slots is full.
FLUSH_AT = 0.75


class Flight(NamedTuple):
    """Playouts under way, on L lanes; arrays [L] but for the last three."""

    lanes: Lanes
    item: jax.Array
    """int32: the row of the records for the lane's playout, or NO_ITEM."""
    black: jax.Array
    """int32: whether Black began it."""
    ready: Ready
    """What the lanes will start next."""
    slot: tuple[jax.Array, ...]
    """uint32: the columns of finished playouts."""
    slot_item: jax.Array
    """int32: their rows, or NO_ITEM."""
    taken: jax.Array
    """int32: playouts that have been handed out."""
    rows: jax.Array
    """uint32 [n, columns]: the records."""
    events: jax.Array | None
    """int16 [n, `log_width`]: moves, in the columns from LOGGED on."""


class Supply(NamedTuple):
    """Playouts for the lanes to take."""

    total: jax.Array
    """int32: how many there are, those that are taken included."""
    ready: Callable[[jax.Array], Ready]
    """Gives those of some numbers (int32 [L]), with NO_ITEM where there is none, and from `total` on."""
    max_plies: jax.Array
    """int32: the cap on a playout's plies."""


class Awaited(NamedTuple):
    """The playouts to be finished."""

    last: jax.Array
    """int32: so many must have been taken."""
    start: jax.Array
    """int32: the first of their rows."""
    end: jax.Array
    """int32: the row after the last one."""

    def holds(self, item: jax.Array) -> jax.Array:
        """bool: which items are awaited."""
        return (item >= self.start) & (item < self.end)


def _select(condition: jax.Array, new, old):
    """`new` where the condition (int32, not 0) holds, else `old`; pytrees of arrays [L], some dozens to a loop."""
    new, (old, structure) = jax.tree.leaves(new), jax.tree.flatten(old)
    out, group = [], MAX_ARRAYS // 2 - 1

    for i in range(0, len(old), group):
        out += in_one_loop(_select_each, condition, new[i : i + group], old[i : i + group])
    return jax.tree.unflatten(structure, out)


def _select_each(condition: jax.Array, new: list[jax.Array], old: list[jax.Array]) -> list[jax.Array]:
    return [jnp.where(condition != np.int32(0), n, o) for n, o in zip(new, old)]


def ticks(g: Geometry, lanes: Lanes, count: int, running: jax.Array | None = None, policy: Policy | None = None) -> Lanes:
    """The lanes `count` ticks later, a multiple of 4; as they are where `running` (bool) is given and false."""
    # Two kernels a trip write into each other's buffers, which saves XLA copying the state. What a policy looks up stands between
    # ticks (and where it looks nothing up, pairs are no faster, measured).
    ticks = ticks_of_kernel(g) if policy is None else 1

    def by_policy(lanes: Lanes, known) -> Lanes:
        assert policy is not None
        asked = functools.partial(policy.preferences, g, known=known)
        return policy.after(g, tick(g, lanes, asked, policy.waits(known)), known)

    def run(lanes: Lanes, looks: bool) -> Lanes:
        if policy is not None:
            return in_one_loop(by_policy, lanes, policy.known(g, lanes, looks))
        return in_one_loop(functools.partial(_some_ticks, g, ticks), lanes)

    trips = jnp.int32(count // (2 * ticks))
    if running is not None:
        trips = jnp.where(running, trips, np.int32(0))

    def step(state):
        left, lanes = state
        return left - np.int32(1), run(run(lanes, True), False)

    # It counts down from what is computed: a loop that begins at 0 would have XLA copy that first.
    return lax.while_loop(lambda state: state[0] > np.int32(0), step, (trips, lanes))[1]


def ticks_of_kernel(g: Geometry) -> int:
    """How many ticks of uniform playouts a kernel holds: two save passing the state through memory, if registers hold it."""
    return 2 if g.num_words <= MOST_WORDS_OF_PAIRS and forms.current().pairs else 1


def _some_ticks(g: Geometry, ticks: int, lanes: Lanes) -> Lanes:
    for _ in range(ticks):
        lanes = tick(g, lanes)
    return lanes


def _logged_ticks(
    g: Geometry, lanes: Lanes, item: jax.Array, events: jax.Array, running: jax.Array, policy: Policy | None
) -> tuple[Lanes, jax.Array]:
    """(lanes, events) TICKS ticks later, with the moves written to events."""
    # Each lane's last LOGGED moves are written at once; a few of them for a second time.
    window = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1)
    )

    def step(_, state):
        lanes, events = state
        lanes = ticks(g, lanes, LOGGED, policy=policy)
        # In a loop of its own: XLA would work points out one by one where it puts them side by side.
        pairs = in_one_loop(functools.partial(_pairs_of_points, g), lanes.log[::-1])
        moves = lax.bitcast_convert_type(jnp.stack(pairs, axis=1), jnp.int16).reshape(-1, LOGGED)
        row = jnp.where(item == np.int32(NO_ITEM), np.int32(events.shape[0]), item)
        place = jnp.stack([row, lanes.plies], axis=1)
        drop = lax.GatherScatterMode.FILL_OR_DROP
        events = lax.scatter(events, place, moves, window, unique_indices=True, mode=drop)
        return lanes, events

    return lax.fori_loop(np.int32(0), jnp.where(running, np.int32(TICKS // LOGGED), np.int32(0)), step, (lanes, events))


def _pairs_of_points(g: Geometry, log: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """uint32: the points of two events each, as int16, the earlier one in the low half; of words with it in the high half."""

    def points(event: jax.Array) -> jax.Array:
        return wire.points_of_events(g, event.astype(jnp.int32)).astype(jnp.uint32)

    mask, half = np.uint32(0xFFFF), np.uint32(16)
    return tuple(points(word >> half) & mask | points(word & mask) << half for word in log)


def _leaves(lanes: Lanes, slot_item: jax.Array) -> jax.Array:
    """int32, 1 where a lane's playout is over, or it has none, and its slot is free."""
    over = is_over(lanes.passes, lanes.plies_left)
    return (over & (slot_item == np.int32(NO_ITEM))).astype(jnp.int32)


def _change_over(
    g: Geometry, upcoming: Ready, cap, lanes, item, black, ready_item, slot, slot_item, in_loop=None
):  # fmt: skip
    """The lanes, items, colours and slots after the finished lanes have left their results and started what they had ready.

    With `in_loop`, for boards of too many words for one loop, the parts are put into loops of their own.
    """
    leave = _leaves(lanes, slot_item)
    parts = (functools.partial(playout.results, g), lanes, black)
    result = in_loop(*parts) if in_loop else parts[0](*parts[1:])
    wants = None if lanes.memory is None else lanes.memory.wants
    fresh = playout.fresh_lanes(g, upcoming, cap, bool(lanes.played), len(lanes.log), wants)
    none = jnp.full_like(item, NO_ITEM)
    new = (fresh, ready_item, upcoming.black, none, result, item)
    old = (lanes, item, black, ready_item, slot, slot_item)
    if in_loop:
        return _select(leave, new, old)
    return jax.tree.map(lambda n, o: jnp.where(leave != np.int32(0), n, o), new, old)


def log_width(longest: int) -> int:
    """Columns of the memory for moves of playouts of so many plies."""
    return LOGGED + longest


def empty(
    g: Geometry, lanes: int, room: int, longest: int | None, first_plays: bool, zero, wants: Wants | None = None
) -> Flight:
    """A flight without playouts.

    Args:
      g: the layout of the lanes' boards.
      lanes: how many.
      room: rows of the records.
      longest: the width of `Records.events`; None where moves are not wanted.
      first_plays: whether they are.
      zero: uint32, 0, of numpy or of jax, as the flight's arrays are. In a `shard_map` it varies over the mesh as what the flight
        will carry does.
      wants: what a playout policy wants lanes to remember; None where there is no policy.
    """
    xp, columns = zero.__array_namespace__(), wire.num_columns(g, first_plays)
    whole, word = (xp.broadcast_to(zero.astype(dtype), (lanes,)) for dtype in (np.int32, np.uint32))
    board = tuple(xp.broadcast_to(zero.astype(g.dtype), (lanes,)) for _ in range(g.num_words))
    none, over = whole + np.int32(NO_ITEM), whole + np.int32(2)
    played = board if first_plays else ()
    log = (word,) * (LOGGED // 2) if longest is not None else ()
    memory = last = None
    if wants is not None:
        last = whole if wants.last else None
        memory = Memory.fresh(wants, word, last, whole, whole, board)
    return Flight(
        lanes=Lanes(board, board, board, board, board, played, played, whole, word, word, over, whole, whole, log, memory),
        item=none, black=whole, ready=Ready(board, board, whole, whole, whole, word, word, none, last), slot=(word,) * columns,
        slot_item=none, taken=zero.astype(np.int32), rows=xp.broadcast_to(zero, (room, columns)),
        events=None if longest is None else xp.broadcast_to(zero.astype(np.int16) - np.int16(1), (room, log_width(longest))),
    )  # fmt: skip


def play_on(g: Geometry, flight: Flight, supply: Supply, awaited: Awaited, policy: Policy | None = None) -> Flight:
    """The flight when the playouts that are awaited are finished and recorded; others may be under way.

    Args:
      g: the layout of the lanes' boards.
      flight: as it is.
      supply: what its lanes take.
      awaited: what is to be finished.
      policy: whom the playouts ask, laid out as the boards are; the flight was made `empty` for what it wants.
    """
    num_lanes = flight.item.shape[0]
    many = np.int32(max(1, int(num_lanes * FLUSH_AT)))
    none_of = functools.partial(jnp.equal, np.int32(NO_ITEM))

    def change_over(f: Flight) -> Flight:
        state = (f.lanes, f.item, f.black, f.ready.item, f.slot, f.slot_item)
        if len(jax.tree.leaves((f.ready, state))) + 1 <= MAX_ARRAYS:
            cap = jnp.broadcast_to(supply.max_plies, f.item.shape)
            state = in_one_loop(functools.partial(_change_over, g), f.ready, cap, *state)
        else:
            state = _change_over(g, f.ready, supply.max_plies, *state, in_loop=in_one_loop)
        lanes, item, black, ready_item, slot, slot_item = state
        return f._replace(
            lanes=lanes, item=item, black=black, ready=f.ready._replace(item=ready_item), slot=slot, slot_item=slot_item,
        )  # fmt: skip

    def flush_is_due(f: Flight) -> jax.Array:
        full, over = ~none_of(f.slot_item), is_over(f.lanes.passes, f.lanes.plies_left)
        stuck = none_of(f.item) & none_of(f.ready.item) | over & full
        playing = awaited.holds(f.item) & ~over | awaited.holds(f.ready.item)
        useful = jnp.where(f.taken < supply.total, none_of(f.ready.item), full)
        ended = (f.taken >= awaited.last) & ~jnp.any(playing) & jnp.any(awaited.holds(f.slot_item))
        return (jnp.sum(useful, dtype=jnp.int32) >= many) | jnp.all(stuck) | ended

    def fly(f: Flight) -> Flight:
        running = jnp.any(~is_over(f.lanes.passes, f.lanes.plies_left))
        if f.events is None:
            return change_over(f._replace(lanes=ticks(g, f.lanes, TICKS, running, policy)))
        lanes, events = _logged_ticks(g, f.lanes, f.item, f.events, running, policy)
        return change_over(f._replace(lanes=lanes, events=events))

    def flush(f: Flight) -> Flight:
        empty = none_of(f.slot_item)
        where = jnp.where(empty, np.int32(f.rows.shape[0]), f.slot_item)
        margin = area_margin(g, *wire.final_boards(g, f.slot), ~empty)
        summary = playout.with_margin(g, f.slot[-1], margin)
        rows = f.rows.at[where].set(jnp.stack((*f.slot[:-1], summary), axis=1), mode="drop", unique_indices=True)
        idle = none_of(f.ready.item).astype(jnp.int32)
        number = f.taken + jnp.cumsum(idle, dtype=jnp.int32) - np.int32(1)
        ready = _select(idle, supply.ready(number), f.ready)
        taken = jnp.minimum(number[-1] + np.int32(1), supply.total)
        # Nothing is added, which XLA does not see: so it writes the rows first, and what flies on may have the slots' memory. It
        # would copy the slots otherwise, each of their words once or twice.
        taken = taken + jnp.minimum(rows[0, 0], np.uint32(0)).astype(jnp.int32)
        return f._replace(ready=ready, slot_item=jnp.full_like(f.slot_item, NO_ITEM), rows=rows, taken=taken)

    def is_awaited(f: Flight) -> jax.Array:
        items = (f.item, f.ready.item, f.slot_item)
        return (f.taken < awaited.last) | functools.reduce(operator.or_, (jnp.any(awaited.holds(x)) for x in items))

    def fly_on(f: Flight) -> Flight:
        # Twice, for a second change-over writes into the buffers that the first has read: after one alone XLA copies all of the
        # state. Beside a policy's ticks that is little, and not worth compiling these twice.
        return fly(fly(f)) if policy is None else fly(f)

    return lax.while_loop(is_awaited, lambda f: lax.while_loop(lambda x: ~flush_is_due(x), fly_on, flush(f)), flight)


def play_all(
    g: Geometry,
    columns: jax.Array,
    job: Job,
    *,
    lanes: int,
    longest: int,
    first_plays: bool,
    moves: bool,
    policy: Policy | None = None,
    last: jax.Array | None = None,
    log: jax.Array | None = None,
) -> Records:
    """Plays a job's playouts.

    Args:
      g: the layout of the positions' boards and the records'.
      columns: uint32 [C, B], those of a job (see `jaxgo.playing.wire`), with seeds behind them where the job has none.
      job: how many playouts of which.
      lanes: how many playouts run at a time (static).
      longest: the largest `max_plies` (static), the width of `Records.events`.
      first_plays, moves: what to record (static).
      policy: whom the playouts ask.
      last: int32 [B], the moves before the positions, as `playout.columns_for` takes them; None where there are none.
      log: int16 [B * per_position, `log_width`]: memory for the moves, whatever it holds; None to take some.

    Returns:
      Records of n = B * per_position playouts; rows of playouts that were not asked for are 0.
    """
    g = playing_geometry(g.size)
    wants = None if policy is None else policy.wants
    batch, table, total = columns.shape[1], playout.columns_for(wants, columns, last).T, job.total

    def ready(number: jax.Array) -> Ready:
        if batch > 1:
            row = table[jnp.minimum(playout.position_of(job, number), np.int32(batch - 1))]
        else:
            row = jnp.broadcast_to(table, (number.shape[0], table.shape[1]))
        return playout.ready(g, job, number, tuple(row.T), wants)

    with bb.words_known(g):
        inputs = (*(job.seed or ()), total, job.max_plies, columns[0, 0])
        zero = functools.reduce(operator.or_, (x.astype(jnp.uint32) for x in inputs)) & np.uint32(0)
        room = batch * job.per_position
        if policy is not None:
            policy = policy.laid_out(g)
        flight = empty(g, lanes, room, longest if moves else None, first_plays, zero, policy.wants if policy else None)
        if log is not None:
            flight = flight._replace(events=jnp.full_like(log, -1))
        everything = Awaited(total, zero.astype(jnp.int32), jnp.int32(room))
        flight = play_on(g, flight, Supply(total, ready, job.max_plies), everything, policy)
        events = None if flight.events is None else flight.events[:, LOGGED:]
        return wire.unpack(g, tuple(flight.rows.T), events, first_plays)._replace(log=flight.events)
