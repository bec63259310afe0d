"""The tree's memory: a structure of arrays with a row for each node.

Everything about a move lies in its parent's row, so that choosing a move reads whole rows. Results are in halves (win 2, draw 1,
loss 0) from the view of the player to move at the row's node.

The arrays are made at their full length at once; the system gives memory to the parts that are used, so that the tree grows
without being copied.
"""

import numpy as np

from jaxgo import LeafResults
from jaxgo.board.geometry import geometry

#: Values of `Tree.child`: no node yet, and a move that is not to be played.
UNEXPLORED, FORBIDDEN = 0, -1
ROOT = 0


class Tree:
    """Nodes and their statistics; M = P + 1 moves, the last one the pass.

    Attributes:
      child: int32 [node, M], the node that a move leads to, UNEXPLORED or FORBIDDEN.
      visits: int32 [node, M], playouts through the move, those on their way included.
      wins: int32 [node, M], the mover's results in them, in halves.
      rave_visits: [node, colours, M], what each point has earned (see `jaxgo.credits`) in the playouts through the node for the
        player to move (0) and, if there are two colours, for the other (1). int32, or float64 where credits are fractions.
      rave_wins: the same, times the results of the player who earned it, in halves.
      node_visits, node_wins: int32 [node], all playouts through the node, its own first ones included; for its mover.
      node_leads: float32 [node], sum of the mover's area minus the other's in them, before komi.
      node_squares: float64 [node], sum of the squares of these.
      ready: bool [node], whether the device has described the node.
      parent, move, depth: [node], where it hangs.
      words, ko, passes, hash, margin: [node], the position as the device returned it (see `jaxgo.LeafResults`).
      legal: bool [node, 2, P], likewise, where `legal` was asked for.
    """

    def __init__(self, size: int, capacity: int, *, colours: int = 1, fractions: bool = False, legal: bool = False):
        moves, words = size * size + 1, 2 * geometry(size).num_words
        self.size, self.moves, self.capacity, self.count = size, moves, capacity, 1
        rave = np.float64 if fractions else np.int32
        self.child = np.zeros((capacity, moves), np.int32)
        self.visits = np.zeros((capacity, moves), np.int32)
        self.wins = np.zeros((capacity, moves), np.int32)
        self.rave_visits = np.zeros((capacity, colours, moves), rave)
        self.rave_wins = np.zeros((capacity, colours, moves), rave)
        self.node_visits = np.zeros(capacity, np.int32)
        self.node_wins = np.zeros(capacity, np.int32)
        self.node_leads = np.zeros(capacity, np.float32)
        self.node_squares = np.zeros(capacity, np.float64)
        self.ready = np.zeros(capacity, np.bool_)
        self.parent = np.zeros(capacity, np.int32)
        self.move = np.zeros(capacity, np.int16)
        self.depth = np.zeros(capacity, np.int16)
        self.words = np.zeros((capacity, words), np.uint32)
        self.ko = np.zeros(capacity, np.int16)
        self.passes = np.zeros(capacity, np.int8)
        self.hash = np.zeros(capacity, np.uint64)
        self.margin = np.zeros(capacity, np.int16)
        self.legal = np.zeros((capacity, 2, moves - 1), np.bool_) if legal else None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, a row for each node."""
        return {name: x for name, x in vars(self).items() if isinstance(x, np.ndarray)}

    @classmethod
    def bytes_per_node(cls, size: int, **kinds) -> int:
        """Memory of a node."""
        return sum(x.nbytes for x in cls(size, 1, **kinds).arrays.values())

    def add(self, parents: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """New nodes for some moves, as far as there is room: their numbers, FORBIDDEN for those without a place."""
        room = self.capacity - self.count
        nodes = self.count + np.arange(len(parents), dtype=np.int32)
        nodes[room:] = FORBIDDEN
        parents, moves, new = parents[:room], moves[:room], nodes[:room]
        self.count += len(new)
        self.child[parents, moves] = new
        self.parent[new], self.move[new], self.depth[new] = parents, moves, self.depth[parents] + 1
        return nodes

    def describe(self, nodes: np.ndarray, results: LeafResults, rows: np.ndarray, playable: np.ndarray) -> None:
        """Notes what the device says of new nodes, in these rows of the results; `playable` is bool [n, M]."""
        for name in ("words", "ko", "passes", "hash", "margin"):
            getattr(self, name)[nodes] = getattr(results, name)[rows]
        self.child[nodes] = np.where(playable, UNEXPLORED, FORBIDDEN)
        if self.legal is not None:
            self.legal[nodes] = results.legal[rows]
        self.ready[nodes] = True

    def is_terminal(self, nodes: np.ndarray) -> np.ndarray:
        """bool: two passes have ended the game."""
        return self.ready[nodes] & (self.passes[nodes] >= 2)

    def path(self, node: int) -> list[int]:
        """The moves from the root to a node."""
        moves = []
        while node != ROOT:
            moves.append(int(self.move[node]))
            node = int(self.parent[node])
        return moves[::-1]

    def count_visits(self, parents: np.ndarray, moves: np.ndarray, children: np.ndarray, number: int) -> None:
        """Adds `number` visits to each leaf's node and its whole path, as a descent does, or takes them back (negative).

        The arrays are leaves: a node or FORBIDDEN, the move that leads there, and the node of that move.
        """
        np.add.at(self.node_visits, children[children >= 0], number)
        inner = children != ROOT
        parents, moves = parents[inner], moves[inner]
        np.add.at(self.visits, (parents, moves), number)
        while len(parents):
            np.add.at(self.node_visits, parents, number)
            inner = parents != ROOT
            moves, parents = self.move[parents[inner]], self.parent[parents[inner]]
            np.add.at(self.visits, (parents, moves), number)

    def keep(self, node: int) -> None:
        """Makes a node the root and forgets all that is not below it."""
        number = np.arange(self.count)
        kept = number == node
        while True:
            more = kept | kept[self.parent[: self.count]] & (number != ROOT)
            if (more == kept).all():
                break
            kept = more
        old = np.flatnonzero(kept)
        new = np.zeros(self.count, np.int32)
        new[old] = np.arange(len(old))
        depth = self.depth[node]
        for x in self.arrays.values():
            x[: len(old)] = x[old]
            x[len(old) : self.count] = 0
        self.count = len(old)
        nodes = self.child[: self.count]
        nodes[nodes > 0] = new[nodes[nodes > 0]]
        self.parent[1 : self.count] = new[self.parent[1 : self.count]]
        self.depth[: self.count] -= depth
        self.parent[ROOT] = self.move[ROOT] = 0

    def forget_last(self, count: int) -> None:
        """Takes the nodes from number `count` on out again."""
        gone = np.arange(count, self.count)
        self.child[self.parent[gone], self.move[gone]] = UNEXPLORED
        for x in self.arrays.values():
            x[count : self.count] = 0
        self.count = count
