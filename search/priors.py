"""Prior playouts of a node's moves (see `search.knowledge`): worked out when the device has described it, and added to those that
its moves have had whenever one is chosen; compiled."""

from typing import NamedTuple

import numpy as np

from search import surroundings
from search.compiled import part, rare
from search.knowledge import MOST
from search.move_weights import DISTANCES, LIMIT
from search.shapes import FREE, SPREAD


class Room(NamedTuple):
    """Room to work in."""

    weights: np.ndarray
    """int64 [32 W]."""
    own: np.ndarray
    """This and the rest as `search.surroundings.room` has them."""
    opp: np.ndarray
    classes: np.ndarray
    chain: np.ndarray

    @classmethod
    def of(cls, size: int, words: int) -> "Room":
        """On a board of this size, of so many words."""
        return cls(np.empty(32 * words, np.int64), *surroundings.room(size))


@rare
def note(priors, known, found, at, last, before, room):
    """Turns what the device says of a node, and the moves that led there, into prior playouts of its moves.

    Args:
      priors: uint8 [2, M], is filled with those won and those lost.
      known: a `KnowledgeNumbers`.
      found: uint32, the node's row of `jaxgo.running.leaf_results.Rows.positions`.
      at: the places of what stands there.
      last, before: the last move and the one before it; what is no point is a pass, or not known.
      room: a `Room`.
    """
    weights = room.weights
    add_features(known, found, at, weights)
    total, size = add_surroundings(known, found, at, last, before, room), len(known.words)
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
def add_surroundings(known, found, at, last, before, room):
    """Adds what is told by where points lie and what lies around them, and makes of weights their places among the strengths, -1
    where a point is no useful move. Returns the strengths' sum."""
    weights, classes = room.weights, room.classes
    words, size, total = len(weights) >> 5, len(known.words), 0.0
    step = size + 2
    surroundings.read_rows(known.words, known.shifts, found, at.words, room.own)
    surroundings.read_rows(known.words, known.shifts, found, at.words + words, room.opp)
    surroundings.look_at_chains(room.own, room.opp, classes, room.chain)
    for y in range(size):
        first = 32 * known.words[y] + known.shifts[y]
        own, opp = surroundings.rows_around(room.own, y), surroundings.rows_around(room.opp, y)
        for x in range(size):
            point, i = size * y + x, first + x
            if (np.int64(found[at.useful_bits + (point >> 5)]) >> (point & 31)) & 1:
                eight = surroundings.eight(own, opp, x)
                weight = weights[i] + known.points[point] + known.patterns[eight]
                weight += known.sides[surroundings.sides(classes, step * (y + 1) + x + 1, step)]
                weight += weight_of_shape(known, eight | surroundings.four_beyond(own, opp, x))
                weight += weight_of_distance(known, 0, last, y, x) + weight_of_distance(known, 1, before, y, x)
                weights[i] = min(max(weight, -LIMIT), LIMIT) + LIMIT
                total += known.strengths[weights[i]]
            else:
                weights[i] = -1
    return total


@part
def weight_of_shape(known, number):
    """That of what lies on twelve points, 0 where it has none (`search.shapes.table`)."""
    last = len(known.shapes) - 1
    place = ((number * SPREAD) & 0xFFFFFFFF) * len(known.shapes) >> 32
    while True:
        held = np.int64(known.shapes[place])
        if held >> 8 == number:
            return ((held & 255) ^ 128) - 128
        if held == FREE:
            return np.int64(0)
        place = (place + 1) & last


@part
def weight_of_distance(known, which, move, y, x):
    """That of how far a point is from another move, 0 where that is no point."""
    size = len(known.words)
    if move < 0 or move >= size * size:
        return np.int64(0)
    rows, columns = abs(move // size - y), abs(move % size - x)
    return known.distances[which, min(rows + columns + max(rows, columns), DISTANCES - 1)]


@part
def add(priors, visits, wins):
    """Adds a node's prior playouts to those that its moves have had, and to their results in halves."""
    for move in range(len(visits)):
        visits[move] += priors[0, move] + priors[1, move]
        wins[move] += 2 * priors[0, move]
