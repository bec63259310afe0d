"""How a playout begins and how it ends, whichever backend plays it.

A backend takes numbers from a *job*: a batch of positions, as columns (`jaxgo.playing.wire`), and which playouts of each.
`ready` looks a playout up by its number, `fresh_lanes` begins it, and `results` makes the columns of a finished one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.constants import STAY
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing import draws
from jaxgo.playing.lanes import NO_EVENT, NO_MOVE, Lanes, Memory, Wants
from jaxgo.playing.wire import LENGTH_BITS, MARGIN_BITS, as_columns, table_of

#: `Ready.item` of a lane without a playout.
NO_ITEM = -1


class Ready(NamedTuple):
    """Playouts that lanes will start next; arrays [L]."""

    own: Board
    opp: Board
    ko: jax.Array
    passes: jax.Array
    black: jax.Array
    counter: jax.Array
    key: jax.Array
    item: jax.Array
    last: jax.Array | None = None
    """int32: bit index of the last move, or `Geometry.pass_index`, where a playout policy wants it."""


class Job(NamedTuple):
    """What is to be played; int32 scalars but for the first two."""

    per_position: int
    """Room for playouts of each position in the records (static)."""
    seed: tuple[jax.Array, jax.Array] | None
    """Two uint32 words; None where each position has its own, which are the last two of its columns."""
    num_positions: jax.Array
    """The first so many positions are played from."""
    num_playouts: jax.Array
    """The most playouts of a position, at most `per_position`; how many each has, its columns say."""
    max_plies: jax.Array
    """The cap on a playout's plies."""

    @property
    def total(self) -> jax.Array:
        """Playouts in all, those counted that there would be if each position had the most."""
        return self.num_positions * self.num_playouts


def position_of(job: Job, number: jax.Array) -> jax.Array:
    """The position of the batch that playout number `number` begins from; past the job's end, any row or none."""
    return lax.div(number, job.num_playouts)


def columns_for(wants: Wants | None, columns: jax.Array, last: jax.Array | None) -> jax.Array:
    """Columns of a job, uint32 [C, B], as `ready` takes them: where a policy wants it, with the points of the moves before,
    `last`, int32 [B], which are other numbers where there was none or a pass; None stands for that."""
    if wants is None or not wants.last:
        return columns
    last = jnp.full(columns.shape[1], STAY, jnp.int32) if last is None else last
    return jnp.concatenate([columns, last.astype(jnp.uint32)[None]])


def ready(g: Geometry, job: Job, number: jax.Array, row: Sequence[jax.Array], wants: Wants | None = None) -> Ready:
    """The job's playouts of some numbers (int32 [L]), NO_ITEM where there is none: past its end, or past that of its position.

    `row` is what the positions' columns, those of `columns_for`, hold at `position_of(job, number)`.
    """
    last = None
    if wants is not None and wants.last:
        *row, last = row
        last = last.astype(jnp.int32)
    seed = job.seed
    if seed is None:
        *row, word, more = row
        seed = word, more
    *row, first, count = row
    playout = lax.rem(number, job.num_playouts)
    item = position_of(job, number) * jnp.int32(job.per_position) + playout
    exists = (number < job.total) & (playout < count.astype(jnp.int32))
    item = jnp.where(exists, item, np.int32(NO_ITEM))
    return ready_from(g, seed, first.astype(jnp.int32) + playout, item, row, last)


def ready_from(
    g: Geometry, seed: tuple[jax.Array, jax.Array], playout: jax.Array, item: jax.Array, row: Sequence[jax.Array],
    last: jax.Array | None = None,
) -> Ready:  # fmt: skip
    """Playouts by their numbers, from positions whose columns are `row`, to be recorded as items; int32 [L].

    `last` are the points of the moves before, where a policy wants them: other numbers where there was none, or a pass.
    """
    own, opp, ko, passes, black, stream = table_of(row)
    own, opp = (bb.relaid(board, geometry(g.size), g) for board in (own, opp))
    ko = jnp.where(ko < np.int32(0), np.int32(g.pass_index), _index_of_point(g, ko))
    counter, key = draws.stream_key(seed, stream, playout)
    if last is not None:
        on_board = (last >= np.int32(0)) & (last < np.int32(g.num_points))
        last = jnp.where(on_board, _index_of_point(g, last), np.int32(g.pass_index))
    return Ready(own, opp, ko, passes, black, counter, key, item, last)


def fresh_lanes(
    g: Geometry, ready: Ready, max_plies: jax.Array, first_plays: bool, log_words: int, wants: Wants | None = None
) -> Lanes:
    """Lanes at the start of the playouts that are ready, with so many words of log, and what a policy wants, if there is one."""
    none = tuple(jnp.zeros_like(x) for x in ready.own)
    zero = jnp.zeros_like(ready.item)
    no_moves = jnp.full_like(ready.counter, NO_EVENT << 16 | NO_EVENT)
    memory = None
    if wants is not None:
        memory = Memory.fresh(wants, ready.counter, ready.last, ready.black, zero, none)
    return Lanes(
        own=ready.own, opp=ready.opp, barred=bb.one_point(g, ready.ko), dead=none, reach=none,
        played=none if first_plays else (), starter=none if first_plays else (),
        move=zero + np.int32(NO_MOVE), counter=ready.counter, key=ready.key,
        passes=jnp.where(ready.item == np.int32(NO_ITEM), np.int32(2), ready.passes),
        plies=zero, plies_left=zero + max_plies, log=(no_moves,) * log_words, memory=memory,
    )  # fmt: skip


def results(g: Geometry, lanes: Lanes, black: jax.Array) -> tuple[jax.Array, ...]:
    """A finished lane's record but for the margin: the words of black, white, first_black, first_white, and the summary."""
    started_black = black != np.int32(0)
    own_is_black = is_of_black(lanes, black)
    out = bb.choose(own_is_black, lanes.own, lanes.opp) + bb.choose(own_is_black, lanes.opp, lanes.own)
    if lanes.played:
        other = bb.without(lanes.played, lanes.starter)
        out += bb.choose(started_black, lanes.starter, other) + bb.choose(started_black, other, lanes.starter)
    truncated = (lanes.passes < np.int32(2)).astype(jnp.int32)
    summary = (lanes.plies << np.int32(MARGIN_BITS)) | (truncated << np.int32(MARGIN_BITS + LENGTH_BITS))
    return as_columns(g, out) + (summary.astype(jnp.uint32),)


def is_of_black(lanes: Lanes, black: jax.Array) -> jax.Array:
    """bool: whether the player to move is Black, where `black` (int32, not 0) says who began."""
    return (black != np.int32(0)) == ((lanes.plies & np.int32(1)) == np.int32(0))


def with_margin(g: Geometry, summary: jax.Array, margin: jax.Array) -> jax.Array:
    """The summary of `results` with the margin, int32, Black's area minus White's."""
    return summary | (margin + np.int32(g.num_points)).astype(jnp.uint32)


def _index_of_point(g: Geometry, point: jax.Array) -> jax.Array:
    """int32: the bit index of a point y * N + x; `Geometry.index_of_point` by arithmetic, as kernels have no tables."""
    size, words = np.int32(g.size), np.int32(g.num_words)
    y, x = lax.div(point, size), lax.rem(point, size)
    return lax.rem(y, words) * np.int32(g.word_bits) + lax.div(y, words) * np.int32(g.stride) + x
