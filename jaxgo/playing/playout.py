"""What playouts begin from and what they leave behind, whichever executor plays them.

Tables and records have boards of 32-bit words (`geometry`), lanes those of the layout that they are played in
(`playing_geometry`), which the functions here are given and change from and to.

An executor takes numbers from a *job*: a table of positions, and how many playouts of each. `ready` looks a playout up by its
number, `fresh_lanes` begins it, `results` makes a record of a finished one, and `unpack` makes arrays of the records.
"""

import functools
import operator
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.playing import draws
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing.tick import CAPTURE, NO_EVENT, NO_MOVE, Lanes

#: `Ready.item` of a lane without a playout.
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
    """int32: the point y * N + x that the player to move may not play, or -1."""
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


class Job(NamedTuple):
    """What is to be played; int32 scalars but for the first two."""

    per_position: int
    """Room for playouts of each position in the records (static)."""
    seed: tuple[jax.Array, jax.Array]
    """Two uint32 words."""
    num_positions: jax.Array
    """The first so many positions of the table are played from."""
    num_playouts: jax.Array
    """Playouts of each, at most `per_position`."""
    first_playout: jax.Array
    """Number of the first playout."""
    max_plies: jax.Array
    """The cap on a playout's plies."""

    @property
    def total(self) -> jax.Array:
        """Playouts in all."""
        return self.num_positions * self.num_playouts


def num_columns(g: Geometry, first_plays: bool) -> int:
    """Words of a record."""
    return _columns_of_board(g) * (4 if first_plays else 2) + 1


def _columns_of_board(g: Geometry) -> int:
    return g.num_words * (g.word_bits // 32)


def _as_columns(g: Geometry, board: Board) -> tuple[jax.Array, ...]:
    """A board as columns of uint32: its words, or the lower and upper halves of each."""
    return tuple(bb.down(x, shift).astype(jnp.uint32) for x in board for shift in range(0, g.word_bits, 32))


def _as_board(g: Geometry, columns: Sequence[jax.Array]) -> Board:
    """The board of 32-bit words whose columns `_as_columns` gave."""
    parts = [x.astype(g.dtype) << g.word(32 * i % g.word_bits) for i, x in enumerate(columns)]
    halves = g.word_bits // 32
    board = tuple(functools.reduce(operator.or_, parts[w * halves : (w + 1) * halves]) for w in range(g.num_words))
    return bb.relaid(board, g, geometry(g.size))


def columns_of_table(table: Table) -> tuple[jax.Array, ...]:
    """The table's columns as uint32 [B] (numpy or jax), in the order in which `ready` takes them."""
    return (*table.own, *table.opp, *(x.astype(np.uint32) for x in (table.ko, table.passes, table.black, table.stream)))


def table_of_columns(columns: Sequence[jax.Array]) -> Table:
    """The table whose columns these are."""
    words, rest = tuple(columns[:-4]), (x.astype(np.int32) for x in columns[-4:])
    return Table(words[: len(words) // 2], words[len(words) // 2 :], *rest)


def position_of(job: Job, number: jax.Array) -> jax.Array:
    """The row of the table that playout number `number` begins from; past the job's end, any row or none."""
    return number // job.num_playouts


def ready(g: Geometry, job: Job, number: jax.Array, row: Sequence[jax.Array]) -> Ready:
    """The job's playouts of some numbers (int32 [L]), NO_ITEM past its end.

    `row` is what the table's columns hold at `position_of(job, number)`.
    """
    own, opp, ko, passes, black, stream = table_of_columns(row)
    own, opp = (bb.relaid(board, geometry(g.size), g) for board in (own, opp))
    playout = number % job.num_playouts
    ko = jnp.where(ko < jnp.int32(0), jnp.int32(g.pass_index), _index_of_point(g, ko))
    counter, key = draws.stream_key(job.seed, stream, job.first_playout + playout)
    item = position_of(job, number) * jnp.int32(job.per_position) + playout
    item = jnp.where(number < job.total, item, jnp.int32(NO_ITEM))
    return Ready(own, opp, ko, passes, black, counter, key, item)


def fresh_lanes(g: Geometry, ready: Ready, max_plies: jax.Array, first_plays: bool, log_words: int) -> Lanes:
    """Lanes at the start of the playouts that are ready, with so many words of log."""
    none = tuple(jnp.zeros_like(x) for x in ready.own)
    zero = jnp.zeros_like(ready.item)
    no_moves = jnp.full_like(ready.counter, NO_EVENT << 16 | NO_EVENT)
    return Lanes(
        own=ready.own, opp=ready.opp, barred=bb.one_point(g, ready.ko), dead=none, reach=none,
        played=none if first_plays else (), starter=none if first_plays else (),
        move=zero + jnp.int32(NO_MOVE), counter=ready.counter, key=ready.key,
        passes=jnp.where(ready.item == jnp.int32(NO_ITEM), jnp.int32(2), ready.passes),
        plies=zero, plies_left=zero + max_plies, log=(no_moves,) * log_words,
    )  # fmt: skip


def results(g: Geometry, mine: Board, theirs: Board, lanes: Lanes, black: jax.Array) -> tuple[jax.Array, ...]:
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
    return _as_columns(g, out) + (summary.astype(jnp.uint32),)


def _index_of_point(g: Geometry, point: jax.Array) -> jax.Array:
    """int32: the bit index of a point y * N + x; `Geometry.index_of_point` by arithmetic, as kernels have no tables."""
    y, x = point // jnp.int32(g.size), point % jnp.int32(g.size)
    words, stride = jnp.int32(g.num_words), jnp.int32(g.stride)
    return y % words * jnp.int32(g.word_bits) + y // words * stride + x


def points_of_events(g: Geometry, event: jax.Array) -> jax.Array:
    """Events with the point y * N + x, N * N for the pass, in the place of the bit index; NO_EVENT stays. int32."""
    index, captures = event & jnp.int32(CAPTURE - 1), event & jnp.int32(CAPTURE)
    word, bit = index >> jnp.int32(g.word_bits.bit_length() - 1), index & jnp.int32(g.word_bits - 1)
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


def unpack(g: Geometry, columns: Sequence[jax.Array], events: jax.Array | None, first_plays: bool) -> Records:
    """The records of playouts whose results lie in columns, as `results` gives them; all 0 where there was no playout."""
    width = _columns_of_board(g)
    boards = [_as_board(g, columns[i * width : (i + 1) * width]) for i in range(4 if first_plays else 2)]
    boards += [()] * (4 - len(boards))
    summary = columns[-1].astype(jnp.int32)
    margin = (summary & jnp.int32((1 << MARGIN_BITS) - 1)) - jnp.int32(g.num_points)
    length = (summary >> jnp.int32(MARGIN_BITS)) & jnp.int32((1 << LENGTH_BITS) - 1)
    truncated = (summary >> jnp.int32(MARGIN_BITS + LENGTH_BITS)) != jnp.int32(0)
    return Records(*boards, margin=margin, length=length, truncated=truncated, events=events)
