"""The form in which positions go to a device and playouts come back: columns of uint32.

A position is a column of each word of the mover's stones and of the other's, and of a few numbers (`columns_of`); so a batch is
one array [C, B], which is all that passes between host and device. A playout that is over is likewise a record of columns, from
which `unpack` makes arrays. Boards on the wire have 32-bit words (`geometry`); lanes have those of the layout that they are
played in (`playing_geometry`), and the functions here change from and to it.
"""

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.constants import BLACK
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.board.position import Position
from jaxgo.playing.lanes import CAPTURE, NO_EVENT

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


def num_columns_of_position(g: Geometry) -> int:
    """C, the columns of a position."""
    return 2 * geometry(g.size).num_words + 4


def columns_of(position: Position, streams) -> tuple:
    """The columns of a batch and its streams (int32 [B]), uint32 [B] each; of numpy arrays numpy arrays."""
    xp = position.to_play.__array_namespace__()
    black = position.to_play == np.int8(BLACK)
    own, opp = (tuple(xp.where(black, b, w) for b, w in zip(*pair)) for pair in (
        (position.black, position.white), (position.white, position.black)))  # fmt: skip
    numbers = (position.ko.astype(np.int32), position.passes.astype(np.int32), black.astype(np.int32), streams)
    return (*own, *opp, *(x.astype(np.uint32) for x in numbers))


def num_columns_of_job(g: Geometry) -> int:
    """C, the columns of a position in a job that has a seed: those of the position, and of which playouts (`of_playouts`)."""
    return num_columns_of_position(g) + 2


def of_playouts(position: Sequence, first, count) -> tuple:
    """The columns of a job: positions', uint32 [B] each, the number of the first playout of each and how many there are, int32,
    [B] or for all; of numpy arrays numpy arrays."""
    xp, like = position[0].__array_namespace__(), position[0]
    return (*position, *(xp.broadcast_to(xp.asarray(x), like.shape).astype(np.uint32) for x in (first, count)))


def table_of(columns: Sequence[jax.Array]) -> Table:
    """What the columns of positions hold."""
    words, numbers = tuple(columns[:-4]), (x.astype(np.int32) for x in columns[-4:])
    return Table(words[: len(words) // 2], words[len(words) // 2 :], *numbers)


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
    log: jax.Array | None = None
    """int16 [n, more than max_plies]: the memory whose last columns are `events`; None where these lie by themselves."""


def num_columns(g: Geometry, first_plays: bool) -> int:
    """Words of a record."""
    return _columns_of_board(g) * (4 if first_plays else 2) + 1


def _columns_of_board(g: Geometry) -> int:
    return g.num_words * (g.word_bits // 32)


def as_columns(g: Geometry, board: Board) -> tuple[jax.Array, ...]:
    """A board as columns of uint32: its words, or the lower and upper halves of each."""
    return tuple(bb.down(x, shift).astype(jnp.uint32) for x in board for shift in range(0, g.word_bits, 32))


def board_of(g: Geometry, columns: Sequence[jax.Array]) -> Board:
    """The board whose columns `as_columns` gave."""
    parts = [x.astype(g.dtype) << g.word(32 * i % g.word_bits) for i, x in enumerate(columns)]
    halves = g.word_bits // 32
    return tuple(functools.reduce(operator.or_, parts[w * halves : (w + 1) * halves]) for w in range(g.num_words))


def final_boards(g: Geometry, columns: Sequence[jax.Array]) -> tuple[Board, Board]:
    """Black's and White's stones at the end of playouts, in the layout that they were played in."""
    width = _columns_of_board(g)
    return board_of(g, columns[:width]), board_of(g, columns[width : 2 * width])


def points_of_events(g: Geometry, event: jax.Array) -> jax.Array:
    """Events with the point y * N + x, N * N for the pass, in the place of the bit index; NO_EVENT stays. int32."""
    index, captures = event & np.int32(CAPTURE - 1), event & np.int32(CAPTURE)
    word, bit = index >> np.int32(g.word_bits.bit_length() - 1), index & np.int32(g.word_bits - 1)
    slot = sum((bit >= np.int32(s * g.stride)).astype(jnp.int32) for s in range(1, g.num_slots)) if g.num_slots > 1 else 0
    # Row y lies in word y % W at slot y // W; point y * N + x there at bit slot * (N + 1) + x.
    point = word * np.int32(g.size) + bit + slot * np.int32(g.num_words * g.size - g.stride)
    point = jnp.where(word == np.int32(g.num_words), np.int32(g.num_points), point) + captures
    return jnp.where(event == np.int32(NO_EVENT), event, point)


def moves_of(events):
    """The points of events (numpy or jax): N * N for a pass, -1 after the end."""
    return events.__array_namespace__().where(events < np.int16(0), events, events & np.int16(CAPTURE - 1))


def captured_of(events):
    """bool: which events (numpy or jax) captured."""
    return events >= np.int16(CAPTURE)


def unpack(g: Geometry, columns: Sequence[jax.Array], events: jax.Array | None, first_plays: bool) -> Records:
    """The records of playouts whose results lie in columns, as `results` gives them; all 0 where there was no playout."""
    width = _columns_of_board(g)
    boards = [board_of(g, columns[i * width : (i + 1) * width]) for i in range(4 if first_plays else 2)]
    boards = [bb.relaid(board, g, geometry(g.size)) for board in boards]
    black, white, first_black, first_white = boards if first_plays else (*boards, (), ())
    summary = columns[-1].astype(jnp.int32)
    margin = (summary & np.int32((1 << MARGIN_BITS) - 1)) - np.int32(g.num_points)
    length = (summary >> np.int32(MARGIN_BITS)) & np.int32((1 << LENGTH_BITS) - 1)
    truncated = (summary >> np.int32(MARGIN_BITS + LENGTH_BITS)) != np.int32(0)
    return Records(black, white, first_black, first_white, margin, length, truncated, events)


class Fields:
    """Arrays of several types as one array of uint32 on the wire, a row for each element of the batch.

    Args:
      **fields: type and shape of each array, without its first axis: integers of 32 bits, or of fewer if of shape ().
    """

    def __init__(self, **fields: tuple[type, tuple[int, ...]]):
        self._fields = {name: (np.dtype(dtype), shape) for name, (dtype, shape) in fields.items()}
        self._bounds = [0, *itertools.accumulate(math.prod(shape) for _, shape in self._fields.values())]

    @property
    def starts(self) -> dict[str, int]:
        """In which word of a row each array begins."""
        return dict(zip(self._fields, self._bounds))

    def pack(self, **values: jax.Array) -> jax.Array:
        """uint32 [n, C] of arrays [n, ...] on the device, of the types and shapes of the fields."""
        # A number of fewer bits has a word of its own.
        return jnp.concatenate([
            x.astype(jnp.uint32) if x.dtype.itemsize < 4 else lax.bitcast_convert_type(x, jnp.uint32)
            for x in (values[name].reshape(values[name].shape[0], -1) for name in self._fields)
        ], axis=1)  # fmt: skip

    def room(self, count: int) -> np.ndarray:
        """uint32 [n, C] on the host for so many rows."""
        return np.empty((count, self._bounds[-1]), np.uint32)

    def unpack(self, columns: np.ndarray) -> dict[str, np.ndarray]:
        """Arrays of what `pack` packed."""
        return {
            name: np.ascontiguousarray(columns[:, start:end].view(dtype)[:, : math.prod(shape)]).reshape(len(columns), *shape)
            for (name, (dtype, shape)), start, end in zip(self._fields.items(), self._bounds, self._bounds[1:])
        }
