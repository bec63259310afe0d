"""Prior playouts of a node's moves (see `search.knowledge`): worked out when the device has described it, and added to those that
its moves have had whenever one is chosen; compiled."""

import numpy as np

from search.compiled import part, rare
from search.knowledge import MOST
from search.move_weights import LIMIT


@rare
def note(priors, known, found, at, weights):
    """Turns what the device says of a node into prior playouts of its moves.

    Args:
      priors: uint8 [2, M], is filled with those won and those lost.
      known: a `KnowledgeNumbers`.
      found: uint32, the node's row of `jaxgo.running.leaf_results.Rows.positions`.
      at: the places of what stands there.
      weights: int64 [32 W], scratch.
    """
    add_features(known, found, at, weights)
    total, size = add_surroundings(known, found, at, weights), len(known.words)
    for point in range(size * size):
        y = point // size
        weight, won = weights[32 * known.words[y] + known.shifts[y] + point - size * y], np.int64(0)
        if weight >= 0:
            won = np.int64(known.likely * np.sqrt(known.strengths[weight] / total) + 0.5)
        priors[0, point], priors[1, point] = min(known.even + won, MOST), known.even
    priors[0, size * size] = priors[1, size * size] = 0


@part
def add_features(known, found, at, weights):
    """Fills in what is said of moves; by their bits on the board."""
    words = len(weights) >> 5
    for i in range(len(weights)):
        weights[i] = 0
    for feature in range(len(known.features)):
        for word in range(words):
            bits = np.int64(found[at.features + feature * words + word])
            if bits:
                for bit in range(32):
                    weights[32 * word + bit] += known.features[feature] * ((bits >> bit) & 1)


@part
def add_surroundings(known, found, at, weights):
    """Adds lines and patterns, and makes of weights their places among the strengths, -1 where a point is no useful move. Returns
    the strengths' sum."""
    words, size, total = len(weights) >> 5, len(known.words), 0.0
    for y in range(size):
        mine, theirs, first = at.words, at.words + words, 32 * known.words[y] + known.shifts[y]
        own = row(known, found, mine, y - 1), row(known, found, mine, y), row(known, found, mine, y + 1)
        opp = row(known, found, theirs, y - 1), row(known, found, theirs, y), row(known, found, theirs, y + 1)
        for x in range(size):
            point, i = size * y + x, first + x
            if (np.int64(found[at.useful_bits + (point >> 5)]) >> (point & 31)) & 1:
                pattern = known.patterns[around(own, x) | (around(opp, x) << 8)]
                weight = min(max(weights[i] + known.points[point] + pattern, -LIMIT), LIMIT)
                weights[i] = weight + LIMIT
                total += known.strengths[weights[i]]
            else:
                weights[i] = -1
    return total


@part
def row(known, found, begin, y):
    """A row of the stones whose words begin there, with a bit more on each side; set is what lies outside of the board."""
    size = len(known.words)
    inside = (np.int64(1) << size) - 1
    all_bits = (np.int64(4) << size) - 1
    if y < 0 or y >= size:
        return all_bits
    stones = (np.int64(found[begin + known.words[y]]) >> known.shifts[y]) & inside
    return (stones << 1) | (all_bits ^ (inside << 1))


@part
def around(rows, x):
    """The eight bits around that of column x in the middle one of three such rows."""
    above, beside, below = (rows[0] >> x) & 7, rows[1] >> x, (rows[2] >> x) & 7
    return above | ((beside & 1) << 3) | (((beside >> 2) & 1) << 4) | (below << 5)


@part
def add(priors, visits, wins):
    """Adds a node's prior playouts to those that its moves have had, and to their results in halves."""
    for move in range(len(visits)):
        visits[move] += priors[0, move] + priors[1, move]
        wins[move] += 2 * priors[0, move]
