"""Prior playouts of a node's moves (see `search.knowledge`): worked out when the device has described it, and added to those that
its moves have had whenever one is chosen; compiled."""

from typing import NamedTuple

import numpy as np

from jaxgo.running.leaf_results import Places
from search.compiled import compiled, once, part
from search.features import far_line_of, sides_and_features
from search.knowledge import MOST, KnowledgeNumbers
from search.move_weights import DISTANCES, LIMIT
from search.nodes import NEW, NONE, Memory, parent_of
from search.shapes import FREE, SPREAD
from search.surroundings import Around, eight, four_beyond, look_around, rows_around


class Room(NamedTuple):
    """Room to work in."""

    weights: np.ndarray
    """int64 [P]."""
    around: Around

    @classmethod
    def of(cls, size: int) -> "Room":
        """On a board of this size."""
        return cls(np.empty(size * size, np.int64), Around.room(size))


@compiled
def note_new(memory, known, places, leaves, rows, found, room):
    """Notes the prior playouts of the moves of a round's new leaves, before its results are added to the tree; named tuples come
    as plain ones (`search.compiled.plain`).

    Args:
      memory: the tree, a `search.nodes.Memory`.
      known: a `KnowledgeNumbers`.
      places: a `jaxgo.running.leaf_results.Places`.
      leaves, rows: int32 [n], as `search.backup.take_results` is given them.
      found: `jaxgo.running.leaf_results.Rows.positions`.
      room: a `Room`.
    """
    memory, known, at = Memory(*memory), KnowledgeNumbers(*known), Places(*places)
    room, opp = Room(room[0], Around(*room[1])), at.words + (memory.words.shape[1] >> 1)
    for i in range(len(leaves)):
        leaf = np.int64(leaves[i])
        if leaf != NONE and memory.nodes[leaf].state == NEW:
            above, last = parent_of(memory.nodes, leaf), np.int64(memory.nodes[leaf].move)
            before = NONE if above == NONE else np.int64(memory.nodes[above].move)
            note(memory.priors[leaf], known, found[rows[i]], at.words, opp, at.useful_bits, last, before, room)


@once
def note(priors, known, found, own, opp, useful, last, before, room):
    """Turns what lies on a node's board, and the moves that led there, into prior playouts of its moves.

    Args:
      priors: uint8 [2, M], is filled with those won and those lost.
      known: a `KnowledgeNumbers`.
      found: uint32, the node's row of `jaxgo.running.leaf_results.Rows.positions`.
      own, opp, useful: where in it the mover's stones, the other's, and the bits of useful moves begin.
      last, before: the last move and the one before it; what is no point is a pass, or not known.
      room: a `Room`.
    """
    weights = room.weights
    root_of_all = np.sqrt(weigh(known, found, own, opp, useful, last, before, room))
    for point in range(len(weights)):
        won = np.int64(0)
        if weights[point] >= 0:
            won = np.int64(known.likely * (known.roots[weights[point]] / root_of_all) + 0.5)
        priors[0, point], priors[1, point] = min(known.even + won, MOST), known.even
    priors[0, len(weights)] = priors[1, len(weights)] = 0


@part
def weigh(known, found, own, opp, useful, last, before, room):
    """Fills in the weights of moves, as their places among the strengths, -1 where a point is no useful move. Returns the
    strengths' sum. The arguments are those of `note`."""
    weights, around = room.weights, room.around
    look_around(known.words, known.shifts, found, own, opp, around)
    size, total = len(known.words), 0.0
    step = size + 2
    for y in range(size):
        mine, theirs = rows_around(around.own, y), rows_around(around.opp, y)
        for x in range(size):
            point = size * y + x
            if (np.int64(found[useful + (point >> 5)]) >> (point & 31)) & 1:
                far_line, number = far_line_of(around.near[0], size, y, x), eight(mine, theirs, x)
                sides, said = sides_and_features(around.places, around.chains, step * (y + 1) + x + 1, step, far_line)
                weight = known.points[point] + known.patterns[number] + known.sides[sides] + known.features[said]
                weight += weight_of_shape(known, number | four_beyond(mine, theirs, x))
                weight += weight_of_distance(known.distances[0], last, size, y, x)
                weight += weight_of_distance(known.distances[1], before, size, y, x)
                weights[point] = min(max(weight, -LIMIT), LIMIT) + LIMIT
                total += known.strengths[weights[point]]
            else:
                weights[point] = -1
    return total


@compiled
def weigh_all(known, found, useful, last, before, room, chances):
    """The chances of moves.

    Args:
      known: a `KnowledgeNumbers`.
      found: uint32 [B, .], the mover's stones, the other's, and from `useful` on the bits of useful moves.
      last, before: int64 [B], the last moves and the ones before.
      room: a `search.priors.Room`.
      chances: float64 [B, P], is filled in.
    """
    known, room = KnowledgeNumbers(*known), Room(room[0], Around(*room[1]))
    for position in range(len(found)):
        total = weigh(known, found[position], 0, useful >> 1, useful, last[position], before[position], room)
        for point in range(chances.shape[1]):
            weight = room.weights[point]
            chances[position, point] = known.strengths[weight] / total if weight >= 0 else 0.0


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
def weight_of_distance(weights, move, size, y, x):
    """That of how far a point is from another move, 0 where that is no point."""
    if move < 0 or move >= size * size:
        return np.int64(0)
    rows, columns = abs(move // size - y), abs(move % size - x)
    return weights[min(rows + columns + max(rows, columns), DISTANCES - 1)]


@part
def add(priors, visits, wins):
    """Adds a node's prior playouts to those that its moves have had, and to their results in halves."""
    for move in range(priors.shape[1]):
        visits[move] += priors[0, move] + priors[1, move]
        wins[move] += 2 * priors[0, move]
