"""Prior playouts of a node's moves (see `search.knowledge`): worked out when the device has described it, and added to those that
its moves have had whenever one is chosen; compiled."""

import numpy as np

from search.compiled import part
from search.knowledge import MOST


@part
def note(priors, known, features, sums):
    """Turns what the device says of a node's moves into prior playouts.

    Args:
      priors: uint8 [2, M], is filled with those won and those lost.
      known: a `KnowledgeNumbers`.
      features: uint32 [F * W], the node's `jaxgo.LeafResults.features`.
      sums: int64 [2, 32 W], scratch.
    """
    words = sums.shape[1] >> 5
    for i in range(sums.shape[1]):
        sums[0, i] = sums[1, i] = known.even
    for feature in range(len(known.weights)):
        weight = known.weights[feature]
        lost, number = (1, -weight) if weight < 0 else (0, weight)
        if number > 0:
            for word in range(words):
                bits = np.int64(features[feature * words + word])
                if bits:
                    for bit in range(32):
                        sums[lost, 32 * word + bit] += number * ((bits >> bit) & 1)
    for i in range(sums.shape[1]):
        priors[0, known.points[i]], priors[1, known.points[i]] = min(sums[0, i], MOST), min(sums[1, i], MOST)
    priors[0, priors.shape[1] - 1] = priors[1, priors.shape[1] - 1] = 0


@part
def add(priors, visits, wins):
    """Adds a node's prior playouts to those that its moves have had, and to their results in halves."""
    for move in range(len(visits)):
        visits[move] += priors[0, move] + priors[1, move]
        wins[move] += 2 * priors[0, move]
