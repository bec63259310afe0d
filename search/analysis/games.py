"""The positions of the games that clients ask about.

Clients send a game's moves from the first one on with every query, so the lines that have been played out are kept, as a tree of
blocks of moves, and a block is played only once.
"""

import dataclasses
import threading

import jax
import numpy as np

from jaxgo import BLACK, Position
from jaxgo.board.coordinates import coordinate
from search.analysis.fields import QueryError
from search.game import hash_numbers
from search.replay import IllegalMove, Moves, replay, some, turned

#: Moves of a block, and blocks that are kept; then all are forgotten.
BLOCK, MOST_KEPT = 32, 4_000


@dataclasses.dataclass(frozen=True, eq=False)
class _Block:
    """Some positions of a game one after the other, on the host: a device array for each would take ten times the memory."""

    positions: Position
    """A batch [n]."""
    hashes: np.ndarray
    """uint64 [n]."""
    after: dict[Moves, "_Block"] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Place:
    """Where a game stands."""

    position: Position
    """A batch of one; after two passes the game goes on."""
    history: np.ndarray
    """uint64 [n]: hashes of the earlier positions, the first one first."""


class Games:
    """The lines of all games that are known. Any thread may ask.

    As with KataGo, a game's own moves may repeat positions (positional superko): many programs know simple ko alone, and it is
    their game. What no rules allow is refused.
    """

    def __init__(self) -> None:
        self._roots: dict[tuple, _Block] = {}
        self.played, self._kept, self._lock = 0, 0, threading.Lock()
        """`played` counts moves that have been played in all."""

    def check(self, size: int, stones: Moves, first: int, moves: Moves) -> None:
        """That a game can be played.

        Args:
          size: of the board.
          stones: (colour, point) pairs on the board at first.
          first: the colour that moves first.
          moves: the moves.

        Raises:
          QueryError: the stones have no liberties, or a move is illegal; the text says which.
        """
        for _ in self._blocks(size, stones, first, moves):
            pass

    def at(self, size: int, stones: Moves, first: int, moves: Moves, turn: int) -> Place:
        """Where a game stands after so many of its moves; otherwise as `check`."""
        history, left = [], turn
        for block in self._blocks(size, stones, first, moves):
            if left < len(block.hashes):
                break
            history.append(block.hashes)
            left -= len(block.hashes)
        history.append(block.hashes[:left])
        position = some(block.positions, slice(left, left + 1))
        return Place(turned(position, position.to_play), np.concatenate(history))

    def clear(self) -> None:
        """Forgets all lines."""
        with self._lock:
            self._roots, self._kept = {}, 0

    def _blocks(self, size: int, stones: Moves, first: int, moves: Moves):
        """Yields the position before the first move as a block, then the blocks of moves."""
        block = self._root(size, stones, first)
        yield block
        for start in range(0, len(moves), BLOCK):
            part = moves[start : start + BLOCK]
            after = block.after.get(part)
            if after is None:
                after = block.after[part] = self._play(block, part, start)
                self._count()
            block = after
            yield block

    def _root(self, size: int, stones: Moves, first: int) -> _Block:
        key = (size, frozenset(stones), first)
        root = self._roots.get(key)
        if root is None:
            board = np.zeros(size * size, np.int8)
            for colour, point in stones:
                board[point] = colour
            try:
                position = Position.from_array(board.reshape(size, size), to_play=first)
            except ValueError as error:
                raise QueryError(f"Illegal initial stones: {error}", "initialStones") from None
            root = self._roots[key] = _Block(jax.device_get(position), hash_numbers(position.hash()))
            self._count()
        return root

    def _play(self, block: _Block, moves: Moves, start: int) -> _Block:
        """The block after another; `start` is the number of its first move."""
        self.played += len(moves)
        try:
            positions, hashes = replay(some(block.positions, slice(-1, None)), moves)
        except IllegalMove as error:
            colour, point = moves[error.number]
            name = f"{'B' if colour == BLACK else 'W'} {coordinate(point, block.positions.size)}"
            raise QueryError(f"Illegal move {start + error.number}: {name}: {error.reason}", "moves") from None
        return _Block(positions, hash_numbers(hashes))

    def _count(self) -> None:
        with self._lock:
            self._kept += 1
            if self._kept > MOST_KEPT:
                self._roots, self._kept = {}, 0
