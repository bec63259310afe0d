"""Selection: many descents at once from the root to the leaves, level by level.

A node that m descents enter gives them to its moves as if they came one after the other, each leaving its playouts behind as
losses (virtual loss): descent i takes the best move after the first i. As a move's value falls with every loss, that is the same
as taking the m largest of all values "of move j after i losses", which is done for all nodes of a level together. (A rule that looks at
the node's own visits sees those of the move's losses only; that is the one difference.)
"""

import dataclasses

import numpy as np

from search.selection import Counts
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree

#: Values that differ by less count as equal; ties are broken at random.
TIE = 1e-9
#: Nodes that up to 4 ** 2 descents enter share them out together.
SMALLEST_GROUP = 2
#: With more than 4 ** 3 descents, it pays to see first which moves can matter.
LARGE_GROUP = 3
#: Among how many moves many descents are shared out as a trial, to see which others cannot matter; not more than any board has.
CONTENDERS = (1, 2, 4)


@dataclasses.dataclass(frozen=True)
class Reached:
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
        table = np.random.default_rng([0x71E5, seed]).random(8192 + moves) * TIE
        self._rows = np.lib.stride_tricks.sliding_window_view(table, moves)

    def __call__(self, nodes: np.ndarray, visits: np.ndarray) -> np.ndarray:
        """float64 [n, M], at most TIE, for nodes [n] and their visits [n]."""
        start = (nodes.astype(np.int64) * 2654435761 + visits.astype(np.int64) * 40503) & 8191
        return self._rows[start]


def descend(tree: Tree, rule, ties: Ties, count: int, playouts: int, depth: int = 1 << 30) -> Reached:
    """Takes `count` descents from a root that is ready, adds the nodes that they reach, and counts their visits on the way.

    Args:
      tree: the tree.
      rule: the rule of selection (see `search.selection`).
      ties: breaks ties.
      count: number of descents.
      playouts: playouts that each will add.
      depth: how many moves a descent may go.
    """
    nodes, counts, sources = np.array([ROOT]), np.array([count]), np.array([ROOT])
    parents, moves, children = [], [], []
    while len(nodes):
        at, move, number = _share_out(tree, rule, ties, nodes, counts, sources, playouts)
        parent = nodes[at]
        tree.node_visits[nodes] += (playouts * counts).astype(np.int32)
        edge = parent * tree.moves + move
        tree.visits.reshape(-1)[edge] += (playouts * number).astype(np.int32)
        child = tree.child.reshape(-1)[edge]
        new = child == UNEXPLORED
        if new.any():
            child[new] = tree.add(parent[new], move[new])
        inner = (child > 0) & tree.ready[child] & (tree.passes[child] < 2) & (tree.depth[child] < depth)
        ended = ~inner
        parents.append(np.repeat(parent[ended], number[ended]))
        moves.append(np.repeat(move[ended], number[ended]))
        children.append(np.repeat(child[ended], number[ended]))
        held = ended & (child != FORBIDDEN)
        tree.node_visits[child[held]] += (playouts * number[held]).astype(np.int32)
        nodes, counts = child[inner].astype(np.int64), number[inner]
        sources = np.where(tree.node_visits[nodes] >= rule.reference_visits, nodes, sources[at[inner]])
    return Reached(np.concatenate(parents), np.concatenate(moves), np.concatenate(children))


def _share_out(tree: Tree, rule, ties: Ties, nodes, counts, sources, playouts: int):
    """(index of the node, move, number of descents) for every move that gets some."""
    colour = (tree.depth[nodes] - tree.depth[sources]) & 1
    known = Counts(
        tree.node_visits[nodes][:, None], tree.visits[nodes], tree.wins[nodes],
        tree.rave_visits[sources, colour], tree.rave_wins[sources, colour],
    )  # fmt: skip
    extra = ties(nodes, known.node_visits[:, 0])
    extra[tree.child[nodes] == FORBIDDEN] = -np.inf
    values = rule.values(known) + extra
    single = np.flatnonzero(counts == 1)
    at, move, number = [single], [values.argmax(axis=1)[single]], [np.ones(len(single), np.int64)]
    # The other nodes by the power of four that holds their number of descents, so that each group is one rectangle.
    group = np.where(counts > 1, np.maximum((np.frexp(counts - 0.5)[1] + 1) // 2, SMALLEST_GROUP), 0)
    for g in range(SMALLEST_GROUP, group.max() + 1):
        chosen = np.flatnonzero(group == g)
        if not len(chosen):
            continue
        first, m = values[chosen], counts[chosen]
        # Only the m best moves can be among m choices: the first choice of any other is worse than all of those.
        most = min(int(m.max()), tree.moves)
        if g > LARGE_GROUP:
            most = min(most, _contenders(rule, known.rows(chosen), first, extra[chosen], m, playouts))
        columns = np.argpartition(-first, most - 1, axis=1)[:, :most]
        some = known.moves_of(chosen, columns)
        block, column, amount = _largest(rule, some, extra[chosen[:, None], columns], m, playouts)
        at.append(chosen[block])
        move.append(columns[block, column])
        number.append(amount)
    return np.concatenate(at), np.concatenate(move), np.concatenate(number)


def _contenders(rule, known: Counts, values: np.ndarray, extra: np.ndarray, counts: np.ndarray, playouts: int) -> int:
    """The most moves of a node that can be among its counts[b] choices.

    If k moves are each worth something even after counts[b] / k choices, then no move that is worth less from the first is chosen.
    """
    k = np.array(CONTENDERS)
    losses = (playouts * (-(-counts[:, None] // k) - 1)).astype(np.int32)[:, :, None]
    later = rule.values(known.after(losses))
    later = np.sort(np.minimum(later + extra[:, None], values[:, None]), axis=2)
    least = later[:, np.arange(len(k)), values.shape[1] - k].max(axis=1)
    return int((values >= least[:, None]).sum(axis=1).max())


def _largest(rule, known: Counts, extra: np.ndarray, counts: np.ndarray, playouts: int):
    """(node, column, number): how counts[b] descents that follow each other share out over the columns of each node b.

    `known` and `extra`, what is added to the values, are [nodes, columns].
    """
    offset = np.arange(counts.max(), dtype=np.int32)
    losses = np.int32(playouts) * offset[None, :, None]
    values = rule.values(known.after(losses))
    values += extra[:, None]
    # A value that rises with a loss counts as equal to the one before.
    np.minimum.accumulate(values, axis=1, out=values)
    values[offset[None, :] >= counts[:, None]] = -np.inf
    flat = values.reshape(len(counts), -1)
    last = flat.shape[1] - counts
    in_order = np.partition(flat, last, axis=1) if len(counts) == 1 else np.sort(flat, axis=1)
    least = in_order[np.arange(len(counts)), last, None, None]
    number = np.count_nonzero(values >= least, axis=1)
    if (number.sum(axis=1) > counts).any():  # several are worth the same
        better, equal = (values > least).sum(axis=1), (values == least).sum(axis=1)
        missing = counts - better.sum(axis=1)
        number = better + np.clip(missing[:, None] - (np.cumsum(equal, axis=1) - equal), 0, equal)
    block, column = np.nonzero(number)
    return block, column, number[block, column]
