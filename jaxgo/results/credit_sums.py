"""Sums of credits (`jaxgo.results.credits`) over many playouts, on the device: exact, as credits are whole numbers.

All moves as first needs no moves: the boards of first plays are counted as `jaxgo.evaluate` counts them. For the other rules a
chunk is taken slab by slab, as far as it has playouts, so that a slab's moves stay in the cache, and each slab a few plies at a
time, as far as its longest playout: one loop over its playouts finds what these plies earn, and one scatter adds it up.

Sums are of 32 bits. A block of playouts has so few that none of its sums can overflow (`most_units`); sums over blocks are made
of the lower and the upper halves of theirs.
"""

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.one_loop import in_one_loop
from jaxgo.board.dynamics import legal_for_both
from jaxgo.board.geometry import Geometry
from jaxgo.playing.lanes import CAPTURE
from jaxgo.playing.wire import Records, Table, table_of
from jaxgo.results import credits, outcome, prefix
from jaxgo.results.sums import count_points

#: Playouts whose sums share a uint32.
BLOCK = 128
#: Blocks whose halves of sums share a uint32.
MOST_BLOCKS = 1 << 16
#: Playouts of a slab: enough that a step's fixed costs are small, and so few that their moves stay in the cache.
SLAB = 512
#: Slabs of a large chunk. More and smaller ones would keep a GPU waiting for its next step.
MOST_SLABS = 64

#: What is summed up for each point: credits of playouts that the root player lost, drew and won, and squares of credits.
LOST, DRAWN, WON, SQUARES = outcome.LOSS, outcome.DRAW, outcome.WIN, 3
KINDS = 4


@dataclasses.dataclass(frozen=True)
class CreditSums:
    """The sums of a rule as the `reduce` of a `jaxgo.running.jobs.Output`; equal ones are compiled once."""

    rule: str
    """One of `jaxgo.results.credits.RULES`."""

    @property
    def moves(self) -> bool:
        """Whether it needs the records' moves, or else their first plays."""
        return self.rule != "amaf"

    def __call__(self, g: Geometry, records: Records, columns: Sequence[jax.Array], bounds, valid) -> jax.Array:
        """The sums of a chunk.

        Args:
          g: the board's geometry.
          records: playouts [B * n], with moves or first plays.
          columns: those of the positions, uint32 [B] each (see `jaxgo.playing.wire`).
          bounds: int32 [B, 2], as `jaxgo.results.outcome.bounds` gives them.
          valid: bool [B, n]: which records are playouts; the first so many of the first so many positions.

        Returns:
          uint32 [B, 2, KINDS, P]: sums in units, low + 2**16 high.
        """
        tab = table_of(columns)
        result = outcome.of_mover(records.margin.reshape(valid.shape), bounds[:, None], tab.black[:, None] == np.int32(1))
        if not self.moves:
            return _of_first_plays(g, records, tab, valid, result)
        return _of_moves(self.rule, g, records, tab, valid, result)


def units(sums: np.ndarray) -> np.ndarray:
    """int64 [B, P, 3]: sums of f, f z and f**2 in units, z in halves, from a chunk's sums."""
    low, high = (sums[:, i].astype(np.int64) for i in (0, 1))
    of_kind = low + (high << 16)
    lost, drawn, won, squares = (of_kind[:, i] for i in (LOST, DRAWN, WON, SQUARES))
    return np.stack([lost + drawn + won, drawn + 2 * won, squares], axis=-1)


def most_units(longest: int) -> int:
    """The most units that a point can earn in one playout of up to so many plies; of squares as well.

    All rules but V2 credit a point once, with 2 at most, whose square is 4 (`amaf_first_twice`). V2 credits it for all of the
    root player's plies at most.
    """
    own = np.arange(0, longest, 2, dtype=np.int32)
    return max(4 * credits.UNIT, int(credits.weight("weighted_v2", own, np.full_like(own, longest), own).sum()))


def _of_first_plays(g: Geometry, records: Records, tab: Table, valid: jax.Array, result: jax.Array) -> jax.Array:
    """The sums of "amaf", in which each first play of the root player earns 1."""
    black = jnp.broadcast_to(tab.black[:, None] == np.int32(1), valid.shape)
    own = [
        jnp.where(black, b.reshape(valid.shape), w.reshape(valid.shape)) for b, w in zip(records.first_black, records.first_white)
    ]
    ends = [valid & (result == np.int32(end)) for end in (LOST, DRAWN, WON)]
    counts = count_points(g, jnp.stack([jnp.stack([jnp.where(end, word, np.uint32(0)) for word in own]) for end in ends]))
    counts = jnp.concatenate([counts, jnp.sum(counts, axis=1, keepdims=True, dtype=jnp.int32)], axis=1).astype(jnp.uint32)
    # A unit is 2**16, and so a count the upper half.
    return jnp.stack([jnp.zeros_like(counts), counts], axis=1)


def _of_moves(rule: str, g: Geometry, records: Records, tab: Table, valid: jax.Array, result: jax.Array) -> jax.Array:
    batch, count = valid.shape
    slab = max(SLAB, batch * count // MOST_SLABS)
    rows, each = min(batch, max(1, slab // count)), min(count, slab)
    blocks = -(-each // BLOCK)
    if -(-count // each) * blocks > MOST_BLOCKS:
        raise ValueError(f"a chunk must have at most {MOST_BLOCKS * BLOCK} playouts of a position, not {count}")
    assert records.events is not None  # as `moves` asks
    events = records.events.reshape(batch, count, -1)
    length = jnp.where(valid, records.length.reshape(valid.shape), np.int32(0))
    illegal = ~legal_for_both(g, tab.own, tab.opp, tab.ko)
    positions = jnp.sum(jnp.any(valid, axis=1), dtype=jnp.int32)
    parts = (jnp.max(jnp.sum(valid, axis=1, dtype=jnp.int32)) + np.int32(each - 1)) // np.int32(each)

    def add_slab(i, sums):
        # The last slab of positions, or of playouts, reaches back to be a whole one; what it shares with others it leaves out.
        position, first = i // parts * np.int32(rows), i % parts * np.int32(each)
        start = jnp.minimum(position, np.int32(batch - rows)), jnp.minimum(first, np.int32(count - each))

        def cut(x, dims):
            return lax.dynamic_slice(x, (*start, np.int32(0))[: len(dims)], dims)

        def of_rows(x):
            x = lax.dynamic_slice_in_dim(x, start[0], rows)
            return jnp.repeat(x, each, axis=0)

        row, column = (lax.broadcasted_iota(jnp.int32, (rows, each), axis) for axis in (0, 1))
        fresh = (row + start[0] >= position) & (column + start[1] >= first)
        here = jnp.where(fresh, cut(length, (rows, each)), np.int32(0)).reshape(-1)
        plies = cut(events, (rows, each, events.shape[2])).reshape(rows * each, -1)
        block = (row * np.int32(blocks) + column // np.int32(BLOCK)).reshape(-1)
        end = number = here
        if rule in credits.PREFIXES:
            barred = tuple(prefix.as_point_set(of_rows(illegal[:, whose])) for whose in (0, 1))
            end, number = prefix.prefixes(g.num_points, plies, barred, here, captures=rule != "mctr_capture")
            if rule == "mctr_capture":
                boards = (tuple(of_rows(word) for word in board) for board in (tab.own, tab.opp))
                stop = jnp.minimum(here, prefix.first_self_capture(g, *boards, plies, end))
                end, number = prefix.prefixes(g.num_points, plies, barred, stop, captures=False)
            end = jnp.where(here > np.int32(0), jnp.maximum(end, np.int32(1)), np.int32(0))
        elif rule == "first_move":
            end = jnp.minimum(here, np.int32(1))
        table = _table(rule, g.num_points, plies, here, end, number, cut(result, (rows, each)).reshape(-1), block, rows * blocks)
        table = table.reshape(rows, blocks, KINDS, g.num_points)
        halves = table & np.uint32(0xFFFF), table >> np.uint32(16)
        halves = jnp.stack([jnp.sum(half, axis=1, dtype=jnp.uint32) for half in halves], axis=1)
        old = lax.dynamic_slice_in_dim(sums, start[0], rows)
        return lax.dynamic_update_slice_in_dim(sums, old + halves, start[0], axis=0)

    slabs = (positions + np.int32(rows - 1)) // np.int32(rows) * parts
    # Not zeros outright: in a `shard_map` they must vary over the mesh as the records do.
    zero = (positions & np.int32(0)).astype(jnp.uint32)
    return lax.fori_loop(0, slabs, add_slab, jnp.broadcast_to(zero, (batch, 2, KINDS, g.num_points)))


def _table(rule: str, num_points: int, events, length, end, number, result, block, num_blocks: int) -> jax.Array:
    """uint32 [num_blocks * KINDS * P]: sums of a slab's playouts.

    Args:
      rule: not "amaf".
      num_points: P.
      events: int16 [n, T], as in `Records`.
      length: int32 [n]: plies, 0 where the playout is not wanted.
      end: int32 [n]: where plies end that may earn, at most the length.
      number: int32 [n]: plies that earn, for MCTR.
      result: int32 [n], the root player's: LOST, DRAWN, WON.
      block: int32 [n]: the block of each playout.
    """
    kind_0 = block * np.int32(KINDS * num_points)
    kinds = kind_0 + result * np.int32(num_points), kind_0 + np.int32(SQUARES * num_points)
    # Where a ply that earns nothing adds its zero: anywhere, but not all at one place, where each would wait for the last.
    elsewhere = lax.broadcasted_iota(jnp.int32, length.shape, 0) % np.int32(num_points)

    def step(first_ply, group, length, end, number, kinds, elsewhere, played):
        places, amounts = [], []
        for k, event in enumerate(group):
            ply, point = first_ply + np.int32(k), event & np.int32(CAPTURE - 1)
            on_board = point < np.int32(num_points)
            if played:
                again, played = prefix.add_point(played, point, on_board)
            if k % 2 == 0:
                earns = on_board & (ply < end)
                earns = earns & ~again if played else earns
                earned = jnp.where(earns, credits.weight(rule, ply, length, number), np.int32(0))
                at = jnp.where(on_board, point, elsewhere)
                places += [kind + at for kind in kinds]
                amounts += [x.astype(jnp.uint32) for x in (earned, credits.square(earned))]
        return played, places, amounts

    def trip(state):
        ply, played, table = state
        played, places, amounts = in_one_loop(
            step, jnp.full_like(end, ply), prefix.events_of_plies(events, ply), length, end, number, kinds, elsewhere, played
        )  # fmt: skip
        table = table.at[jnp.concatenate(places)].add(jnp.concatenate(amounts), mode="promise_in_bounds")
        return ply + np.int32(prefix.GROUP), played, table

    longest = jnp.max(end)
    played = prefix.no_points(num_points, end) if rule in credits.FIRST_PLAYS else ()
    table = jnp.broadcast_to((longest & np.int32(0)).astype(jnp.uint32), (num_blocks * KINDS * num_points,))
    return lax.while_loop(lambda state: state[0] < longest, trip, (np.int32(0), played, table))[-1]
