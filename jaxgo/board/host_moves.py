"""A game's moves one after the other, on the host: one game need not wait for a device that plays out others.

A board is one Python integer, whose bits are those of a bitboard's words one behind the other (`jaxgo.board.geometry`): the
operators work on whole boards, and a move takes a few microseconds. What moves do is what they do by `Position.play`.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgo.base.constants import BLACK, NO_KO, WHITE
from jaxgo.board.dynamics import FAULTS
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position
from jaxgo.board.rules import zobrist_keys

_OCCUPIED, _KO, _SUICIDE = (FAULTS.index(fault) + 1 for fault in ("the point is occupied", "the ko forbids it", "it is suicide"))


class _Board:
    """What boards of a size have in common."""

    def __init__(self, size: int):
        g = geometry(size)
        self._stride, self._last, self._first = g.stride, 32 * (g.num_words - 1), (1 << 32) - 1
        self.num_bytes, self.num_points = 4 * g.num_words, g.num_points
        self.points = sum(word << 32 * w for w, word in enumerate(g.board))
        self.bits = [1 << int(index) for index in g.index_of_point[:-1]]
        self.point_of = {bit: point for point, bit in enumerate(self.bits)}
        keys = zobrist_keys(size).astype(object)
        self.keys = {colour: (keys[i, :, 0] * 2**32 + keys[i, :, 1]).tolist() for i, colour in enumerate((BLACK, WHITE))}

    def near(self, board: int) -> int:
        """The points beside those of a board, and some of itself."""
        first, last = self._first, self._last
        south = board << 32 | board >> last << self._stride & first
        north = board >> 32 | (board & first) >> self._stride << last
        return (south | north | board << 1 | board >> 1) & self.points

    def chain(self, stone: int, stones: int) -> int:
        """The chain of a stone."""
        chain = stone
        while (more := chain | self.near(chain) & stones) != chain:
            chain = more
        return chain

    def hash(self, stones: int, colour: int) -> int:
        """What the stones of a colour contribute to a position's hash."""
        out = 0
        while stones:
            stone = stones & -stones
            out ^= self.keys[colour][self.point_of[stone]]
            stones ^= stone
        return out


_board = functools.cache(_Board)


class Place(NamedTuple):
    """Where a game stands."""

    black: int
    white: int
    to_play: int
    ko: int
    passes: int
    hash: int
    """Of the stones, as one number, `Position.hash`'s first half above the second."""


def place_of(position: Position) -> Place:
    """Where a game stands whose position is that, one."""
    board = _board(position.size)
    black, white = (
        int.from_bytes(np.concatenate([np.asarray(word) for word in words]).astype("<u4").tobytes(), "little")
        for words in (position.black, position.white)
    )
    to_play, ko, passes = (int(np.asarray(x)[0]) for x in (position.to_play, position.ko, position.passes))
    return Place(black, white, to_play, ko, passes, board.hash(black, BLACK) ^ board.hash(white, WHITE))


def play(size: int, place: Place, colour: int, point: int) -> tuple[Place, int]:
    """(where the game stands after a move, 0; or as it stood, and 1 + the number in `FAULTS` of what is wrong with the move).

    Either colour may move, and after two passes the game goes on; a ko binds only the player it was set against, and two passes
    of one colour are not two in a row.

    Args:
      size: of the board.
      place: before the move.
      colour: whose move, 1 Black, -1 White.
      point: where, P for a pass.
    """
    board, other = _board(size), colour != place.to_play or place.passes >= 2
    if point == board.num_points:
        before = 0 if place.passes == 1 and colour != place.to_play else min(place.passes, 1)
        return place._replace(to_play=-colour, ko=NO_KO, passes=before + 1), 0
    stone, taken, gone = board.bits[point], place.black | place.white, 0
    if stone & taken:
        return place, _OCCUPIED
    if point == place.ko and not other:
        return place, _KO
    own, opp = (place.black, place.white) if colour == BLACK else (place.white, place.black)
    own, around = own | stone, board.near(stone)
    empty, beside = board.points & ~(taken | stone), around & opp
    while beside:
        chain = board.chain(beside & -beside, opp)
        beside &= ~chain
        if not board.near(chain) & empty:
            gone |= chain
    if not gone and not around & empty and not board.near(board.chain(stone, own)) & empty:
        return place, _SUICIDE
    left = opp & ~gone
    black, white = (own, left) if colour == BLACK else (left, own)
    # One stone taken by one that has no neighbour but the other's.
    ko = board.point_of.get(gone, NO_KO) if not around & ~opp & ~stone else NO_KO
    changed = board.keys[colour][point] ^ board.hash(gone, -colour)
    return Place(black, white, -colour, ko, 0, place.hash ^ changed), 0


def stones_of(size: int, place: Place) -> np.ndarray:
    """int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 is the top."""
    colours = [bool(place.black & bit) - bool(place.white & bit) for bit in _board(size).bits]
    return np.array(colours, np.int8).reshape(size, size)


def positions_of(size: int, places: list[Place]) -> Position:
    """The positions, as many as there are, of numpy arrays."""
    length = _board(size).num_bytes

    def words(boards: list[int]) -> Any:
        rows = np.frombuffer(b"".join(board.to_bytes(length, "little") for board in boards), "<u4").astype(np.uint32)
        return tuple(rows.reshape(len(boards), -1).T.copy())

    def numbers(name: str, dtype: type) -> Any:
        return np.array([getattr(place, name) for place in places], dtype)

    black, white = (words([getattr(place, name) for place in places]) for name in ("black", "white"))
    return Position(black, white, numbers("to_play", np.int8), numbers("ko", np.int16), numbers("passes", np.int8), size)


def hashes_of(places: list[Place]) -> np.ndarray:
    """uint32 [n, 2]: `Position.hash` of each."""
    numbers = np.array([place.hash for place in places], np.uint64)
    return np.stack([numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
