"""A search's tree with the position at its root and the game before it: what moves between roots keep, and where they lead."""

import collections

import jax
import numpy as np

from jaxgo import BLACK, Leaves, Position
from jaxgo.running.leaf_results import positions_of
from search.game import hash_numbers
from search.nodes import MOST_HELD, NONE, READY
from search.tree import Tree


class RootedTree:
    """A tree whose root is a position of a game.

    Args:
      tree: the tree, of nothing but its root.
      position: one position.
      history: uint64 [n], hashes of the game's positions before it.
      move: what led to it; NONE where that is not known.
    """

    def __init__(self, tree: Tree, position: Position, history: np.ndarray, move: int):
        self.tree, self.position, self.history = tree, position, history
        tree[tree.root]["move"] = move
        # The earlier roots, the last one last: the last ones are those that the tree still holds.
        self._earlier: collections.deque[tuple[Position, np.ndarray]] = collections.deque(maxlen=MOST_HELD)

    @property
    def black_to_move(self) -> bool:
        """At the root."""
        return bool(np.asarray(self.position.to_play)[0] == BLACK)

    def black_moves(self, nodes: int | np.ndarray) -> np.ndarray:
        """Whether Black is to move at a node, or at each of some."""
        tree = self.tree
        return np.asarray((tree[nodes]["depth"] - tree[tree.root]["depth"]) % 2 == 0) == self.black_to_move

    def positions_of(self, nodes: np.ndarray) -> Position:
        """The positions of some nodes, int [n], that have had playouts; of numpy arrays."""
        x, words = self.tree[nodes], self.tree.memory.words[nodes]
        return positions_of(self.position.size, words, x["ko"], x["passes"], self.black_moves(nodes))

    def knows(self, move: int) -> bool:
        """Whether the tree has the position that a move at the root leads to: it is legal then, and repeats none."""
        child = self.tree.child(self.tree.root, move)
        return child != NONE and bool(self.tree[child]["state"] == READY)

    def repeats(self, move: int) -> bool:
        """Whether a legal move at the root leads to its position or an earlier one of the game; a pass does not."""
        return move != self.tree.moves - 1 and self._had(self._play(move))

    def compile(self) -> None:
        """Compiles what plays moves at the root."""
        if np.asarray(self.position.passes)[0] < 2:
            self._had(self._play(self.tree.moves - 1))

    def after(self, move: int) -> tuple[Position, np.ndarray, bool]:
        """(position, history, known): where a move at the root leads, as in the constructor, and whether the tree goes on there.

        Raises:
          ValueError: the move is illegal, or repeats an earlier position of the game.
        """
        tree, known = self.tree, self.knows(move)
        after = jax.device_put(self.positions_of(np.array([tree.child(tree.root, move)]))) if known else self._play(move)
        if not known and move != tree.moves - 1 and self._had(after):
            raise ValueError(f"move {move} repeats an earlier position of the game (positional superko)")
        hashed = tree[tree.root]["hash"] if tree.ready else hash_numbers(self.position.hash())
        return after, np.append(self.history, hashed), known

    def follow(self, move: int, position: Position, history: np.ndarray) -> None:
        """Goes on below a move that the tree knows, where it leads as `after` tells."""
        self.tree.keep(move)
        self._earlier.append((self.position, self.history))
        self.position, self.history = position, history

    def go_back(self) -> bool:
        """Goes back to the root before the last `follow`; whether it was still held."""
        if not self.tree.go_back():
            return False
        self.position, self.history = self._earlier.pop()
        return True

    def line_to(self, position: Position, hashes: np.ndarray, most: int) -> tuple[int, ...] | None:
        """The shortest line of at most so many moves that the tree holds from its root to a position; None without one.

        Args:
          position: one position of the same size.
          hashes: uint64 [n], of its game's earlier positions.
          most: the most moves.
        """
        tree, (words, ko, passes, black) = self.tree, (x[0] for x in Leaves.arguments_of(position))
        known = len(self.history)
        if not 0 <= len(hashes) - known <= most or not np.array_equal(hashes[:known], self.history):
            return None
        level: list[tuple[int, tuple[int, ...]]] = [(tree.root, ())]
        for before in hashes[known:]:
            on_the_way = [(node, line) for node, line in level if tree[node]["hash"] == before]
            level = [(int(n), (*line, int(m))) for node, line in on_the_way for m, n in zip(*tree.children(node))]
        for node, line in level:
            x = tree[node]
            if x["state"] == READY and (tree.memory.words[node] == words).all() and (x["ko"], x["passes"]) == (ko, passes):
                return line if self.black_moves(node) == black else None
        return None

    def _play(self, move: int) -> Position:
        return self.position.play(np.array([move]))

    def _had(self, after: Position) -> bool:
        """Whether a position is that of the root or an earlier one."""
        return bool(np.isin(hash_numbers(after.hash()), [*self.history, *hash_numbers(self.position.hash())]).any())
