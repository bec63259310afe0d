"""RAVE statistics from the moves of the playouts, ply by ply.

The slow and general way to update a tree: every ancestor of a leaf sees each playout as the tree's moves below it followed by the
playout's, and credits them by one of the rules of `jaxgo.credits`. For plain first plays it gives what `search.backup.back_up` gives from
counts; weighted credits depend on the distance to the leaf and need it.
"""

import numpy as np

from jaxgo.results import credits
from search.tree import ROOT, Tree


def add_histories(tree: Tree, children, parents, moves, words, played, captured, results, rule) -> None:
    """Adds the credits of playouts to the RAVE statistics of all nodes above them.

    Args:
      tree: the tree.
      children, parents, moves: [n], the leaves, as in `search.backup.back_up`.
      words: [n, 2 W], the positions of the leaves, as in `jaxgo.LeafResults`.
      played, captured: [n, K, T], each playout's moves and whether they captured, as in `jaxgo.LeafResults`.
      results: [n, K], in halves, for the player to move at the leaf.
      rule: a rule of selection with `credit`, `strict`.
    """
    leaves, playouts, plies = played.shape
    inner = children != ROOT
    depth = np.where(inner, tree.depth[parents] + 1, 0)
    deepest = int(depth.max(initial=0))
    # The tree's moves stand before the playout's, so that an ancestor at distance d sees columns deepest - d and later.
    lines = np.full((leaves, playouts, deepest + plies), -1, np.int16)
    lines[:, :, deepest:] = played
    breaks = np.zeros(lines.shape, np.bool_)
    breaks[:, :, deepest:] = captured
    node, rows, words = children.copy(), np.arange(leaves), words.copy()
    for distance in range(deepest + 1):
        if distance:
            rows = rows[depth[rows] >= distance]
            first_step = distance == 1
            move = moves[rows] if first_step else tree.move[node[rows]]
            above = parents[rows] if first_step else tree.parent[node[rows]]
            lines[rows, :, deepest - distance] = move[:, None]
            breaks[rows, :, deepest - distance] = _captures(tree.words[above], words[rows])[:, None]
            node[rows], words[rows] = above, tree.words[above]
        here = rows[node[rows] >= 0]
        if not len(here):
            continue
        won = results[here].astype(np.int64)
        if distance % 2:
            won = 2 - won
        view = (lines[here, :, deepest - distance :], breaks[here, :, deepest - distance :])
        _add(tree, rule, node[here], *(x.reshape(-1, x.shape[2]) for x in view), won.reshape(-1), distance, playouts)


def _add(tree: Tree, rule, nodes, moves, breaks, won, distance: int, playouts: int) -> None:
    """Adds the credits of playouts [n * K] seen from nodes [n]; `won` is the result for the nodes' mover."""
    num_points = tree.moves - 1
    node = np.repeat(nodes, playouts)
    if rule.credit == "amaf":
        own, other = _first_plays(moves, num_points, distance, rule.strict)
        earned = [own, other][: tree.rave_visits.shape[1]]
    else:
        legal = np.repeat(tree.legal[nodes], playouts, axis=0)
        earned = [credits.credit(rule.credit, credits.Histories(moves, breaks, legal)) / credits.UNIT]
    for colour, credit in enumerate(earned):
        row, ply = np.nonzero(credit)
        place = (node[row], colour, moves[row, ply])
        amount = credit[row, ply].astype(tree.rave_visits.dtype)
        result = won[row] if colour == 0 else 2 - won[row]
        np.add.at(tree.rave_visits, place, amount)
        np.add.at(tree.rave_wins, place, amount * result.astype(tree.rave_wins.dtype))


def _first_plays(moves: np.ndarray, num_points: int, distance: int, strict: bool) -> tuple[np.ndarray, np.ndarray]:
    """bool [n, T] twice: the plies that earn for the player of ply 0 and for the other; the first `distance` plies lie in the tree."""
    ply = np.arange(moves.shape[1])
    on_board = (moves >= 0) & (moves < num_points)
    if strict:
        first = on_board & (credits.first_plies(np, moves, num_points) == ply)
        return first & (ply % 2 == 0), first & (ply % 2 == 1)
    out = []
    tree_part, playout = moves[:, :distance], moves[:, distance:]
    in_playout = credits.first_plies(np, playout, num_points) == np.arange(playout.shape[1])
    for colour in (0, 1):
        mine = np.where(np.arange(distance) % 2 == colour, tree_part, -1)
        in_tree = credits.first_plies(np, mine, num_points) == np.arange(distance)
        played = np.zeros((len(moves), num_points + 1), np.bool_)
        played[np.arange(len(moves))[:, None], np.where(mine < 0, num_points, mine)] = True
        point = np.where(playout < 0, num_points, playout)
        fresh = ~played[np.arange(len(moves))[:, None], point]
        first = np.concatenate([in_tree, in_playout & fresh], axis=1)
        out.append(on_board & first & (ply % 2 == colour))
    return out[0], out[1]


def _captures(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """bool [n]: whether a move captured, from the words of the positions: the player who comes to move has lost stones."""
    words = before.shape[1] // 2
    return (before[:, words:] != after[:, :words]).any(axis=1)
