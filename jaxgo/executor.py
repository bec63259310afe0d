"""The XLA executor: plays a queue of playouts on a fixed number of lanes.

A *job* is a table of positions and a number of playouts of each. Lanes take playouts from the job's queue as they become free,
so that none waits for a long game elsewhere, and every playout taken is finished and recorded: nothing favours short games.
A playout's result depends on its name only (see `jaxgo.draws`), so lanes, order and splitting leave no trace in it.

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
import numpy as np
from jax import lax

from jaxgo import bitboard as bb
from jaxgo import draws
from jaxgo.bitboard import Board
from jaxgo.geometry import Geometry
from jaxgo.one_loop import MAX_ARRAYS, in_one_loop
from jaxgo.rules import areas
from jaxgo.tick import CAPTURE, LOGGED, NO_EVENT, NO_MOVE, Lanes, is_over, tick

#: Ticks between two change-overs (a multiple of LOGGED).
TICKS = 32
#: Boards of more words play a tick in several kernels, others two ticks in one.
MOST_WORDS_OF_PAIRS = 7
#: A flush is due when this share of the slots is full.
FLUSH_AT = 0.75
#: `Flight.item` of a lane without a playout.
NO_ITEM = -1
#: Bits of a record's summary word: margin + P, length, truncated.
MARGIN_BITS, LENGTH_BITS = 11, 11


class Table(NamedTuple):
    """Positions to play from; arrays `[B]`, boards W such arrays."""

    own: Board
    """Stones of the player to move."""
    opp: Board
    """Stones of the other player."""
    ko: jax.Array
    """int32: bit index of the point that the player to move may not play, or NO_MOVE."""
    passes: jax.Array
    """int32: passes in a row before the position."""
    black: jax.Array
    """int32: 1 where Black is to move, 0 where White is."""
    stream: jax.Array
    """int32: the position's random stream."""


class Records(NamedTuple):
    """Finished playouts, `[n]` each, boards W such arrays; playout j of position b is at b * (n / B) + j."""

    black: Board
    """Black's stones at the end."""
    white: Board
    """White's stones at the end."""
    first_black: Board
    """Points where Black was the first of both colours to play; empty tuple unless `first_plays`."""
    first_white: Board
    """Points where White was."""
    margin: jax.Array
    """int32: Black's area minus White's."""
    length: jax.Array
    """int32: plies of the playout, passes included."""
    truncated: jax.Array
    """bool: ended by the cap."""
    events: jax.Array | None
    """int16 [n, max_plies]: every ply's point y * N + x (pass N * N), plus CAPTURE; -1 after the end. None unless `moves`."""


class _Ready(NamedTuple):
    """A playout that a lane will start next; arrays [L]."""

    own: Board
    opp: Board
    ko: jax.Array
    passes: jax.Array
    black: jax.Array
    counter: jax.Array
    key: jax.Array
    item: jax.Array


class _Flight(NamedTuple):
    """All that the loops carry; arrays [L] but for the last four."""

    lanes: Lanes
    item: jax.Array
    black: jax.Array
    ready: _Ready
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


def _ticks(g: Geometry, lanes: Lanes, count: int) -> Lanes:
    """The lanes `count` ticks later, a multiple of 4."""
    # Boards of few words play two ticks in a kernel, which saves passing the state through memory; the kernel of a tick on a large
    # board is too long for LLVM, and is run in stages. Two kernels a trip write into each other's buffers, which saves XLA copying
    # the state.
    if g.num_words <= MOST_WORDS_OF_PAIRS:
        step, ticks = functools.partial(in_one_loop, lambda x: tick(g, tick(g, x))), 2
    else:
        step, ticks = functools.partial(tick, g, stage=in_one_loop), 1
    return lax.fori_loop(0, count // (2 * ticks), lambda _, x: step(step(x)), lanes)


def _logged_ticks(g: Geometry, lanes: Lanes, item: jax.Array, events: jax.Array) -> tuple[Lanes, jax.Array]:
    """(lanes, events) TICKS ticks later, with the moves written to events."""
    # Each lane's last LOGGED moves are written at once; a few of them for a second time.
    window = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1)
    )

    def step(_, state):
        lanes, events = state
        lanes = _ticks(g, lanes, LOGGED)
        halves = [half for word in lanes.log for half in (word & jnp.uint32(0xFFFF), word >> jnp.uint32(16))]
        moves = jnp.stack([_points_of_events(g, half.astype(jnp.int32)) for half in reversed(halves)], axis=1)
        row = jnp.where(item == jnp.int32(NO_ITEM), jnp.int32(events.shape[0]), item)
        place = jnp.stack([row, lanes.plies], axis=1)
        drop = lax.GatherScatterMode.FILL_OR_DROP
        events = lax.scatter(events, place, moves.astype(jnp.int16), window, unique_indices=True, mode=drop)
        return lanes, events

    return lax.fori_loop(0, TICKS // LOGGED, step, (lanes, events))


def _points_of_events(g: Geometry, event: jax.Array) -> jax.Array:
    """Events with the point y * N + x, N * N for the pass, in the place of the bit index; NO_EVENT stays. int32."""
    index, captures = event & jnp.int32(CAPTURE - 1), event & jnp.int32(CAPTURE)
    word, bit = index >> jnp.int32(5), index & jnp.int32(31)
    slot = sum((bit >= jnp.int32(s * g.stride)).astype(jnp.int32) for s in range(1, g.num_slots)) if g.num_slots > 1 else 0
    # Row y lies in word y % W at slot y // W; point y * N + x there at bit slot * (N + 1) + x.
    point = word * jnp.int32(g.size) + bit + slot * jnp.int32(g.num_words * g.size - g.stride)
    point = jnp.where(word == jnp.int32(g.num_words), jnp.int32(g.num_points), point) + captures
    return jnp.where(event == jnp.int32(NO_EVENT), event, point)


def moves_of(events):
    """The points of events (numpy or jax): N * N for a pass, -1 after the end."""
    return events.__array_namespace__().where(events < np.int16(0), events, events & np.int16(CAPTURE - 1))


def captured_of(events):
    """bool: which events (numpy or jax) captured."""
    return events >= np.int16(CAPTURE)


def _leaves(lanes: Lanes, item: jax.Array, slot_item: jax.Array) -> jax.Array:
    """int32, 1 where a lane's playout is over and its slot is free."""
    over = is_over(lanes.passes, lanes.plies_left) & (item != jnp.int32(NO_ITEM))
    return (over & (slot_item == jnp.int32(NO_ITEM))).astype(jnp.int32)


def _results(g: Geometry, mine: Board, theirs: Board, lanes: Lanes, black: jax.Array) -> tuple[jax.Array, ...]:
    """A finished lane's record: the words of black, white, first_black, first_white, and the summary."""
    even = (lanes.plies & jnp.int32(1)) == jnp.int32(0)
    started_black = black != jnp.int32(0)
    own_is_black = started_black == even
    out = bb.choose(own_is_black, lanes.own, lanes.opp) + bb.choose(own_is_black, lanes.opp, lanes.own)
    if lanes.played:
        other = bb.without(lanes.played, lanes.starter)
        out += bb.choose(started_black, lanes.starter, other) + bb.choose(started_black, other, lanes.starter)
    margin = bb.count(mine) - bb.count(theirs)
    margin = jnp.where(own_is_black, margin, -margin) + jnp.int32(g.num_points)
    truncated = (lanes.passes < jnp.int32(2)).astype(jnp.int32)
    summary = margin | (lanes.plies << jnp.int32(MARGIN_BITS)) | (truncated << jnp.int32(MARGIN_BITS + LENGTH_BITS))
    return out + (summary.astype(jnp.uint32),)


def _change_over(
    g: Geometry, ready: _Ready, mine: Board, theirs: Board, lanes, item, black, ready_item, slot, slot_item, in_loop=None
):
    """The lanes, items, colours and slots after the finished lanes have left their results and started what they had ready.

    `mine` and `theirs` are the areas of the mover and the other. With `in_loop`, for boards of too many words for one loop, the
    parts are put into loops of their own.
    """
    leave = _leaves(lanes, item, slot_item)
    parts = (functools.partial(_results, g), mine, theirs, lanes, black)
    result = in_loop(*parts) if in_loop else parts[0](*parts[1:])
    fresh = _fresh_lanes(g, ready, lanes.plies + lanes.plies_left, bool(lanes.played), bool(lanes.log))
    none = jnp.full_like(item, NO_ITEM)
    new = (fresh, ready_item, ready.black, none, result, item)
    old = (lanes, item, black, ready_item, slot, slot_item)
    if in_loop:
        return _select(leave, new, old)
    return jax.tree.map(lambda n, o: jnp.where(leave != jnp.int32(0), n, o), new, old)


def _fresh_lanes(g: Geometry, ready: _Ready, max_plies: jax.Array, first_plays: bool, moves: bool) -> Lanes:
    """Lanes at the start of the playouts that are ready."""
    none = tuple(jnp.zeros_like(x) for x in ready.own)
    zero = jnp.zeros_like(ready.item)
    no_moves = jnp.full_like(ready.counter, NO_EVENT << 16 | NO_EVENT)
    ko = jnp.where(ready.ko == jnp.int32(NO_MOVE), jnp.int32(32 * g.num_words), ready.ko)
    return Lanes(
        own=ready.own, opp=ready.opp, barred=bb.one_point(g, ko), dead=none, reach=none,
        played=none if first_plays else (), starter=none if first_plays else (),
        move=zero + jnp.int32(NO_MOVE), counter=ready.counter, key=ready.key,
        passes=jnp.where(ready.item == jnp.int32(NO_ITEM), jnp.int32(2), ready.passes),
        plies=zero, plies_left=zero + max_plies, log=(no_moves,) * (LOGGED // 2) if moves else (),
    )  # fmt: skip


def play_all(
    g: Geometry,
    table: Table,
    seed: tuple[jax.Array, jax.Array],
    *,
    per_position: int,
    lanes: int,
    num_positions: jax.Array,
    num_playouts: jax.Array,
    first_playout: jax.Array,
    max_plies: jax.Array,
    longest: int,
    first_plays: bool,
    moves: bool,
) -> Records:
    """Plays `num_playouts` playouts from each of the first `num_positions` of the table's positions.

    Args:
      g: the board's geometry.
      table: B positions.
      seed: two uint32 words.
      per_position: room for playouts of each position (static).
      lanes: how many playouts run at a time (static).
      num_positions: int32, at most B.
      num_playouts: int32, at most `per_position`.
      first_playout: int32, number of the first playout.
      max_plies: int32, the cap on a playout's plies.
      longest: the largest `max_plies` (static), the width of `Records.events`.
      first_plays, moves: what to record (static).

    Returns:
      Records of n = B * per_position playouts; rows of playouts that were not asked for are 0.
    """
    batch = table.ko.shape[0]
    room = batch * per_position
    total = num_positions * num_playouts
    columns = g.num_words * (4 if first_plays else 2) + 1
    rows_of_table = jnp.stack(
        [*table.own, *table.opp, *(x.astype(jnp.uint32) for x in (table.ko, table.passes, table.black, table.stream))], axis=1
    )

    def make_ready(number: jax.Array) -> _Ready:
        """The queue's playout of each number, NO_ITEM past its end."""
        position, playout = number // num_playouts, number % num_playouts
        row = rows_of_table[jnp.minimum(position, jnp.int32(batch - 1))] if batch > 1 else jnp.broadcast_to(
            rows_of_table, (number.shape[0], rows_of_table.shape[1])
        )
        words = tuple(row[:, i] for i in range(2 * g.num_words))
        ko, passes, black, stream = (row[:, 2 * g.num_words + i].astype(jnp.int32) for i in range(4))
        counter, key = draws.stream_key(seed, stream, first_playout + playout)
        item = jnp.where(number < total, position * jnp.int32(per_position) + playout, jnp.int32(NO_ITEM))
        return _Ready(words[: g.num_words], words[g.num_words :], ko, passes, black, counter, key, item)

    def change_over(f: _Flight) -> _Flight:
        leave = _leaves(f.lanes, f.item, f.slot_item)
        mine, theirs = areas(g, f.lanes.own, f.lanes.opp, leave != jnp.int32(0))
        state = (f.lanes, f.item, f.black, f.ready.item, f.slot, f.slot_item)
        if len(jax.tree.leaves((f.ready, state))) + 2 * g.num_words <= MAX_ARRAYS:
            state = in_one_loop(functools.partial(_change_over, g), f.ready, mine, theirs, *state)
        else:
            state = _change_over(g, f.ready, mine, theirs, *state, in_loop=in_one_loop)
        new_lanes, item, black, ready_item, slot, slot_item = state
        ready = f.ready._replace(item=ready_item)
        return f._replace(lanes=new_lanes, item=item, black=black, ready=ready, slot=slot, slot_item=slot_item)

    def flush_is_due(f: _Flight) -> jax.Array:
        full = f.slot_item != jnp.int32(NO_ITEM)
        stuck = (f.item == jnp.int32(NO_ITEM)) | (is_over(f.lanes.passes, f.lanes.plies_left) & full)
        return (jnp.sum(full, dtype=jnp.int32) >= jnp.int32(max(1, int(lanes * FLUSH_AT)))) | jnp.all(stuck)

    def fly(f: _Flight) -> _Flight:
        if f.events is None:
            return change_over(f._replace(lanes=_ticks(g, f.lanes, TICKS)))
        new_lanes, events = _logged_ticks(g, f.lanes, f.item, f.events)
        return change_over(f._replace(lanes=new_lanes, events=events))

    def flush(f: _Flight) -> _Flight:
        full = f.slot_item != jnp.int32(NO_ITEM)
        where = jnp.where(full, f.slot_item, jnp.int32(room))
        rows = f.rows.at[where].set(jnp.stack(f.slot, axis=1), mode="drop", unique_indices=True)
        count = jnp.sum(full, dtype=jnp.int32)
        number = f.taken + jnp.cumsum(full.astype(jnp.int32), dtype=jnp.int32) - jnp.int32(1)
        ready = _select(full.astype(jnp.int32), make_ready(number), f.ready)
        return f._replace(
            ready=ready, slot_item=jnp.full_like(f.slot_item, NO_ITEM), rows=rows,
            taken=f.taken + count, written=f.written + count,
        )  # fmt: skip

    def until_done(f: _Flight) -> _Flight:
        return flush(lax.while_loop(lambda x: ~flush_is_due(x), fly, f))

    number = jnp.arange(lanes, dtype=jnp.int32)
    first, second = make_ready(number), make_ready(number + jnp.int32(lanes))
    flight = _Flight(
        lanes=_fresh_lanes(g, first, max_plies, first_plays, moves), item=first.item, black=first.black, ready=second,
        slot=tuple(jnp.zeros(lanes, jnp.uint32) for _ in range(columns)), slot_item=jnp.full(lanes, NO_ITEM, jnp.int32),
        taken=jnp.int32(2 * lanes), written=jnp.int32(0), rows=jnp.zeros((room, columns), jnp.uint32),
        events=jnp.full((room, LOGGED + longest), -1, jnp.int16) if moves else None,
    )  # fmt: skip
    # In a `shard_map`, what a loop starts from must vary over the mesh as what comes out of it does: add a zero that does.
    inputs = (*seed, first_playout, total, max_plies, rows_of_table[0, 0])
    varying = functools.reduce(operator.or_, (x.astype(jnp.uint32) for x in inputs))
    flight = jax.tree.map(lambda x: x + (varying & jnp.uint32(0)).astype(x.dtype), flight)
    flight = lax.while_loop(lambda f: f.written < total, until_done, flight)
    events = None if flight.events is None else flight.events[:, LOGGED:]
    return _unpack(g, flight.rows, events, first_plays)


def _unpack(g: Geometry, rows: jax.Array, events: jax.Array | None, first_plays: bool) -> Records:
    columns = tuple(rows.T)
    boards = [columns[i * g.num_words : (i + 1) * g.num_words] for i in range(4 if first_plays else 2)]
    boards += [()] * (4 - len(boards))
    summary = columns[-1].astype(jnp.int32)
    margin = (summary & jnp.int32((1 << MARGIN_BITS) - 1)) - jnp.int32(g.num_points)
    length = (summary >> jnp.int32(MARGIN_BITS)) & jnp.int32((1 << LENGTH_BITS) - 1)
    truncated = (summary >> jnp.int32(MARGIN_BITS + LENGTH_BITS)) != jnp.int32(0)
    return Records(*boards, margin=margin, length=length, truncated=truncated, events=events)
