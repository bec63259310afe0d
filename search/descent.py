"""Selection: many descents at once from the root to the leaves, level by level.

A node that m descents enter gives them to its moves as if they came one after the other, each leaving its playouts behind as
losses (virtual loss): descent i takes the best move after the first i. As a move's value falls with every loss, that is the same
as taking the m largest of all values "of move j after i losses", which is done for all nodes of a level together.
"""

import dataclasses

import numpy as np

from search.selection import Counts
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree

#: Values that differ by less count as equal; ties are broken at random.
TIE = 1e-9


@dataclasses.dataclass(frozen=True)
class Leaves:
    """Where descents ended; arrays [n], a leaf that several descents reached occurs as often."""

    parents: np.ndarray
    """int64: the node that was left; ROOT where the root itself is the leaf."""
    moves: np.ndarray
    """int64: the move that was chosen there; STAY where the root itself is the leaf."""
    children: np.ndarray
    """int32: the node of that move, FORBIDDEN where a full tree has none."""


class Ties:
    """Random numbers that break ties: a fixed table, read from a place that depends on the node and its visits."""

    def __init__(self, seed: int, moves: int):
        self._table = np.random.default_rng([0x71E5, seed]).random(8192 + moves) * TIE
        self._columns = np.arange(moves)

    def __call__(self, nodes: np.ndarray, visits: np.ndarray) -> np.ndarray:
        """float64 [n, M], at most TIE, for nodes [n] and their visits [n]."""
        start = (nodes.astype(np.int64) * 2654435761 + visits.astype(np.int64) * 40503) & 8191
        return self._table[start[:, None] + self._columns]


def descend(tree: Tree, rule, ties: Ties, count: int, playouts: int) -> Leaves:
    """Takes `count` descents from a root that is ready, adds the nodes that they reach, and counts their visits on the way.

    Args:
      tree: the tree.
      rule: the rule of selection (see `search.selection`).
      ties: breaks ties.
      count: number of descents.
      playouts: playouts that each will add.
    """
    nodes, counts, sources = np.array([ROOT]), np.array([count]), np.array([ROOT])
    parents, moves, children = [], [], []
    while len(nodes):
        at, move, number = _share_out(tree, rule, ties, nodes, counts, sources, playouts)
        parent = nodes[at]
        tree.node_visits[nodes] += (playouts * counts).astype(np.int32)
        tree.visits[parent, move] += (playouts * number).astype(np.int32)
        child = tree.child[parent, move]
        new = child == UNEXPLORED
        if new.any():
            child[new] = tree.add(parent[new], move[new])
        inner = (child > 0) & tree.ready[child] & (tree.passes[child] < 2)
        ended = ~inner
        parents.append(np.repeat(parent[ended], number[ended]))
        moves.append(np.repeat(move[ended], number[ended]))
        children.append(np.repeat(child[ended], number[ended]))
        held = ended & (child != FORBIDDEN)
        tree.node_visits[child[held]] += (playouts * number[held]).astype(np.int32)
        nodes, counts = child[inner].astype(np.int64), number[inner]
        sources = np.where(tree.node_visits[nodes] >= rule.reference_visits, nodes, sources[at[inner]])
    return Leaves(np.concatenate(parents), np.concatenate(moves), np.concatenate(children))


def _share_out(tree: Tree, rule, ties: Ties, nodes, counts, sources, playouts: int):
    """(index of the node, move, number of descents) for every move that gets some."""
    rows = np.repeat(np.arange(len(nodes)), counts)
    starts = np.cumsum(counts) - counts
    losses = playouts * (np.arange(len(rows)) - starts[rows])[:, None]
    node, source = nodes[rows], sources[rows]
    colour = (tree.depth[node] - tree.depth[source]) & 1
    values = rule.values(
        Counts(
            tree.node_visits[node][:, None] + losses, tree.visits[node] + losses, tree.wins[node],
            tree.rave_visits[source, colour], tree.rave_wins[source, colour],
        )
    )  # fmt: skip
    values += ties(node, tree.node_visits[node])
    values[tree.child[node] == FORBIDDEN] = -np.inf
    single = np.flatnonzero(counts == 1)
    at, move, number = [single], [values[starts[single]].argmax(axis=1)], [np.ones(len(single), np.int64)]
    # The other nodes by the power of two that holds their number of descents, so that each group is one rectangle.
    size = np.maximum(counts - 1, 0)
    group = np.where(counts > 1, np.frexp(size.astype(np.float64))[1], 0)
    for g in np.unique(group[group > 0]):
        chosen = np.flatnonzero(group == g)
        at_, move_, number_ = _largest(values, starts[chosen], counts[chosen])
        at.append(chosen[at_])
        move.append(move_)
        number.append(number_)
    return np.concatenate(at), np.concatenate(move), np.concatenate(number)


def _largest(values: np.ndarray, starts: np.ndarray, counts: np.ndarray):
    """(block, column, number): how the `counts[b]` largest entries of block b, rows starts[b] to starts[b] + counts[b] - 1, lie.

    Columns count as falling: an entry that is larger than one above it is taken for equal.
    """
    most, columns = int(counts.max()), values.shape[1]
    offset = np.arange(most)
    rows = starts[:, None] + np.minimum(offset, counts[:, None] - 1)
    block = np.minimum.accumulate(values[rows], axis=1)
    block[offset[None, :] >= counts[:, None]] = -np.inf
    flat = -block.reshape(len(starts), -1)
    best = np.argpartition(flat, most - 1, axis=1)[:, :most]
    order = np.take_along_axis(flat, best, axis=1).argsort(axis=1, kind="stable")
    best = np.take_along_axis(best, order, axis=1)
    taken = np.broadcast_to(offset, best.shape) < counts[:, None]
    keys = (np.arange(len(starts))[:, None] * columns + best % columns)[taken]
    keys, number = np.unique(keys, return_counts=True)
    return keys // columns, keys % columns, number
