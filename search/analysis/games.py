"""The positions of the games that clients ask about.

Clients send a game's moves from the first one on with every query, so the lines that have been played out are kept as a tree of
positions, and a move is played only once.
"""

import dataclasses
import threading

import numpy as np

from jaxgo import BLACK, Position
from jaxgo.board.coordinates import coordinate
from search.analysis.fields import QueryError
from search.game import hash_numbers, turn

#: Positions that are kept; then all are forgotten.
MOST_KEPT = 20_000


class Node:
    """A position of a game, and how it came about."""

    def __init__(self, position: Position, before: "Node | None", point: int | None):
        #: On the host: a device array for every field of every position would take ten times the memory.
        self.position, self.before, self.point = _on_host(position), before, point
        self.hash = int(hash_numbers(position.hash())[0])
        self.after: dict[tuple[int, int], Node] = {}

    @property
    def to_play(self) -> int:
        """1 Black, -1 White."""
        return int(self.position.to_play[0])

    @property
    def over(self) -> bool:
        """Whether two passes have ended the game."""
        return bool(self.position.passes[0] >= 2)

    @property
    def history(self) -> np.ndarray:
        """uint64 [n]: hashes of the earlier positions, the first one first."""
        hashes, node = [], self.before
        while node is not None:
            hashes.append(node.hash)
            node = node.before
        return np.array(hashes[::-1], np.uint64)

    def play(self, colour: int, point: int) -> "Node":
        """The position after a move.

        Raises:
          ValueError: it is illegal.
        """
        node = Node(turn(self.position, colour).play(np.array([point])), self, point)
        if point != self.position.size**2:
            earlier = self
            while earlier is not None:
                if earlier.hash == node.hash:
                    raise ValueError("it repeats an earlier position (positional superko)")
                earlier = earlier.before
        return node


class Games:
    """The lines of all games that are known. Any thread may ask."""

    def __init__(self):
        self._roots: dict[tuple, Node] = {}
        self._kept, self._lock = 0, threading.Lock()

    def line(self, size: int, stones: tuple, first: int, moves: tuple) -> list[Node]:
        """The positions before the first move and after each.

        Args:
          size: of the board.
          stones: (colour, point) pairs on the board at first.
          first: the colour that moves first.
          moves: (colour, point) of each move.

        Raises:
          QueryError: the stones have no liberties, or a move is illegal; the text says which.
        """
        node = self._root(size, stones, first)
        line = [node]
        for number, (colour, point) in enumerate(moves):
            after = node.after.get((colour, point))
            if after is None:
                try:
                    after = node.play(colour, point)
                except ValueError as error:
                    reason = str(error).rpartition(": ")[2]
                    name = "BW"[colour != BLACK]
                    raise QueryError(f"Illegal move {number}: {name} {coordinate(point, size)}: {reason}", "moves") from None
                node.after[colour, point] = after
                self._count()
            node = after
            line.append(node)
        return line

    def clear(self) -> None:
        """Forgets all lines."""
        with self._lock:
            self._roots, self._kept = {}, 0

    def _root(self, size: int, stones: tuple, first: int) -> Node:
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
            root = self._roots[key] = Node(position, None, None)
            self._count()
        return root

    def _count(self) -> None:
        with self._lock:
            self._kept += 1
            if self._kept > MOST_KEPT:
                self._roots, self._kept = {}, 0


def _on_host(position: Position) -> Position:
    """A copy; an array that looks into the device's memory would keep that."""
    boards = {name: tuple(np.array(word) for word in getattr(position, name)) for name in ("black", "white")}
    numbers = {name: np.array(getattr(position, name)) for name in ("to_play", "ko", "passes")}
    return dataclasses.replace(position, **boards, **numbers)


def together(positions: list[Position]) -> Position:
    """One batch of positions on the host, each a batch of one."""
    boards = {
        name: tuple(np.concatenate(words) for words in zip(*(getattr(p, name) for p in positions))) for name in ("black", "white")
    }
    numbers = {name: np.concatenate([getattr(p, name) for p in positions]) for name in ("to_play", "ko", "passes")}
    return dataclasses.replace(positions[0], **boards, **numbers)
