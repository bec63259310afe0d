"""The backup: what leaves have brought, added to all nodes above them.

Sorted by their paths, the leaves below a node stand side by side, whatever the node. So its sums are differences of running sums,
taken for all nodes of all levels at once, and no level has to wait for another.

First plays (RAVE) are sums of the leaves' first plays too, but for the points on which the tree itself played below the node: seen
from there, such a move is the first play at its point in all playouts of its leaves, whatever these played there later.
"""

import dataclasses

import numpy as np

from search.tree import FORBIDDEN, ROOT, Tree

#: In a path, below the leaf.
BELOW = -1


@dataclasses.dataclass(frozen=True)
class Paths:
    """The paths from the root to leaves, and their segments: the leaves below one node, or one move without a node.

    Columns of `segment` are leaves in the order `order`. Everything else is [segments], in order of level.
    """

    order: np.ndarray
    """[n]: the number of each leaf."""
    segment: np.ndarray
    """[levels, n]: number of the segment that a leaf belongs to at a level."""
    level: np.ndarray
    """Distance from the root."""
    first: np.ndarray
    """First leaf."""
    end: np.ndarray
    """The leaf after the last."""
    node: np.ndarray
    """The node, or FORBIDDEN."""
    parent: np.ndarray
    """Its parent; of the root, the root."""
    move: np.ndarray
    """The move from there; of the root, 0."""


def back_up(
    tree: Tree, parents, moves, children, playouts: int, wins, leads, squares, firsts: np.ndarray | None, strict: bool
) -> None:
    """Adds the results of leaves to their nodes and to all nodes above (visits are counted on the way down).

    Args:
      tree: the tree.
      parents, moves, children: [n], the leaves; children may be FORBIDDEN (a full tree); of the root, children is ROOT.
      playouts: playouts of each leaf.
      wins, leads: [n], for the player to move at the leaf, summed over the playouts.
      squares: [n], the sum of the squares of the playouts' leads.
      firsts: int16 or int32 [n, 2, 2, M] or None, as in `jaxgo.LeafResults`; twice the playouts of all leaves are within its type.
      strict: whether a point in the tree played by the other colour first earns nothing (the papers), or only what the own
        colour played before counts (Gelly's posted code).
    """
    if not len(parents):
        return
    depth = np.where(children == ROOT, 0, tree.depth[parents] + 1)
    paths = _paths(tree, parents, moves, children, depth)
    odd = (depth[paths.order] & 1).astype(bool)
    number = playouts * (paths.end - paths.first)

    def for_mover(values: np.ndarray, total) -> np.ndarray:
        """Sums of each segment for the player to move there; between them, two players share `total` a leaf."""
        sums = _running(np.where(odd, total - values[paths.order], values[paths.order]))
        sums = sums[paths.end] - sums[paths.first]
        return np.where(paths.level & 1, total * (paths.end - paths.first) - sums, sums)

    won, lead = for_mover(np.asarray(wins, np.int64), 2 * playouts), for_mover(np.asarray(leads, np.int64), 0)
    square = _running(np.asarray(squares, np.float64)[paths.order])
    held = np.flatnonzero(paths.node != FORBIDDEN)
    nodes = paths.node[held]
    tree.node_wins[nodes] += won[held].astype(np.int32)
    tree.node_leads[nodes] += lead[held].astype(np.float32)
    tree.node_squares[nodes] += square[paths.end[held]] - square[paths.first[held]]
    inner = np.flatnonzero(paths.level > 0)
    tree.wins[paths.parent[inner], paths.move[inner]] += (2 * number - won)[inner].astype(np.int32)
    if firsts is not None:
        _add_first_plays(tree, paths, held, odd, number, 2 * number - won, firsts, strict)


def _paths(tree: Tree, parents, moves, children, depth) -> Paths:
    levels = int(depth.max(initial=0)) + 1
    # A move without a node gets a number of its own, so that leaves which share it share a segment.
    name = np.where(children == FORBIDDEN, BELOW - 1 - (parents * tree.moves + moves), children)
    names = np.full((levels, len(parents)), BELOW, np.int64)
    above = np.zeros(len(parents), np.int64)
    for level in range(levels - 1, -1, -1):
        ends = depth == level
        names[level] = np.where(ends, name, np.where(depth > level, above, BELOW))
        above = np.where(ends, parents, tree.parent[above])
    order = np.lexsort(names[::-1])
    names = names[:, order]
    begins = np.ones(names.shape, np.bool_)
    np.not_equal(names[:, 1:], names[:, :-1], out=begins[:, 1:])
    begins = np.flatnonzero(begins)
    ends = np.append(begins[1:], names.size)
    level, first = np.divmod(begins, len(parents))
    name = names.reshape(-1)[begins]
    real = name != BELOW
    segment = np.repeat(np.cumsum(real) - 1, ends - begins).reshape(names.shape)
    length, level, first, name = (ends - begins)[real], level[real], first[real], name[real]
    node = np.maximum(name, FORBIDDEN)
    parent, move = tree.parent[node].astype(np.int64), tree.move[node].astype(np.int64)
    placeless = np.flatnonzero(name < BELOW)
    parent[placeless], move[placeless] = np.divmod(BELOW - 1 - name[placeless], tree.moves)
    return Paths(order, segment, level, first, first + length, node, parent, move)


def _running(values: np.ndarray) -> np.ndarray:
    """[n + 1]: the sums of the values before each."""
    return np.concatenate([[0], np.cumsum(values)])


def _add_first_plays(tree: Tree, paths: Paths, held, odd, number, won, firsts: np.ndarray, strict: bool) -> None:
    """Adds first plays to the nodes; `won` are the results of the player who made the move into each segment."""
    leaves, num_moves = len(firsts), tree.moves
    # Rows: what the root's mover (even) and the other one (odd) have earned up to each leaf.
    rows = 2 * paths.order[:, None] + (np.arange(2) ^ odd[:, None])
    running = np.zeros((leaves + 1, 4 * num_moves), firsts.dtype)
    np.cumsum(firsts.reshape(2 * leaves, -1)[rows.reshape(-1)].reshape(leaves, -1), axis=0, dtype=firsts.dtype, out=running[1:])
    running = running.reshape(2 * leaves + 2, 2 * num_moves)
    above, below, change = _tree_plays(paths, running, number, won, num_moves - 1, strict)
    place = paths.move[below][:, None] + num_moves * np.arange(2)
    for colour in range(tree.rave_visits.shape[1]):
        player = (paths.level + colour) & 1
        earned = running[2 * paths.end + player] - running[2 * paths.first + player]
        np.add.at(earned.reshape(-1), above[:, None] * (2 * num_moves) + place, change[below, player[above]])
        tree.rave_visits[paths.node[held], colour] += earned[held, :num_moves]
        tree.rave_wins[paths.node[held], colour] += earned[held, num_moves:]


def _tree_plays(paths: Paths, running: np.ndarray, number, won, num_points: int, strict: bool):
    """(above, below, change): what the tree's own moves change in the sums of the segments above them.

    `above` and `below` are pairs of segments; the first play at the point of the move into `below` is that move, seen from
    `above`. `change` is [segments, 2 players, 2]: what that adds to the player's playouts and results there.
    """
    player, players = (paths.level - 1) & 1, np.arange(2)
    column = paths.move[:, None, None] + (num_points + 1) * np.arange(2)
    end, first = (2 * x[:, None, None] + players[:, None] for x in (paths.end, paths.first))
    change = running[first, column] - running[end, column]
    every = np.arange(len(number))
    change[every, player] += np.stack([number, won], axis=1).astype(change.dtype)
    if not strict:
        change[every, 1 - player] = 0
    # Moves above at the same point (where stones have been captured) stand before this one.
    level, levels = paths.level, np.arange(len(paths.segment))[:, None]
    line = paths.segment[:, paths.first]
    before = (paths.move[line] == paths.move) & (levels >= 1) & (levels < level)
    if not strict:
        before &= (levels - level) % 2 == 0
    since = np.where(before, levels, 0).max(axis=0)
    from_level, below = np.nonzero((levels < level) & (levels >= since) & (paths.move != num_points))
    return line[from_level, below], below, change
