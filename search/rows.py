"""What is known of a node's moves: a row in one of four pools, as large as its playouts need; compiled.

Most nodes are visited once, and what one visit brings for RAVE fits a byte for each point, or two 32-bit floats where points earn
fractions (weighted credits); from the second visit on there is a row of 16-bit counts, or of such floats, for the moves too; a
node of many playouts has 32-bit floats for counts as well, for every descent reads it, and what is read crowds out the rest; one
of millions has 64-bit floats, which hold counts exactly beyond 10**15. The row also has the playouts through each move and their
results, side by side, so that choosing a move reads one row instead of all children.
"""

import math

import numpy as np

from search.compiled import compiled, once, part, rare
from search.nodes import FIRST, MIDDLE, NARROW, NODES, NONE, WIDE, give_back, take

#: Playouts of a leaf's first visit whose statistics fit a byte: (15 + 1) ** 2 pairs of a number and its results in halves.
MOST_IN_A_BYTE = 15
#: From so many playouts on, a node's counts of 16 bits become 32-bit floats, and all 32-bit floats 64-bit ones. What one leaf's
#: playouts, at most 16,000, add beyond, and their results, in halves, are held exactly, as V2's credits are, which are larger.
MIDDLE_FROM, WIDE_FROM = 1 << 14, 1 << 22


@once
def read_rave(memory, node, colour, out):
    """Copies what a node's points have earned for one of the colours into float64 [2, M]; zeros where nothing is held."""
    x = memory.nodes[node]
    read_row(memory, np.int64(x.pool), np.int64(x.row), colour, out)


@once
def read_moves(memory, node, out):
    """Copies the visits of a node's moves and their results for its mover, in halves, into float64 [2, M]."""
    x = memory.nodes[node]
    read_row(memory, np.int64(x.pool), np.int64(x.row), memory.narrow.shape[1] - 1, out)


@part
def read_row(memory, pool, row, colour, out):
    """The same of a row of a pool; for the colour after the last, the visits and wins of moves; zeros where nothing is held."""
    if pool == NARROW:
        for what in range(2):
            copy(out[what], memory.narrow[row, colour, what])
    elif pool == MIDDLE:
        for what in range(2):
            copy(out[what], memory.middle[row, colour, what])
    elif pool == WIDE:
        for what in range(2):
            copy(out[what], memory.wide[row, colour, what])
    else:
        read_first(memory, pool, row, colour, out)


@part
def read_first(memory, pool, row, colour, out):
    """The same of a node that has had one visit, or none."""
    if pool != FIRST or colour >= memory.first.shape[1]:
        out[:] = 0
    elif memory.first.shape[2] == 2:
        for what in range(2):
            copy(out[what], memory.first[row, colour, what])
    else:
        for move in range(memory.first.shape[3]):
            code = np.float64(memory.first[row, colour, 0, move])
            number = math.floor(math.sqrt(code))
            out[0, move], out[1, move] = number, code - number * number


@part
def copy(out, values):
    """out = values, as far as both reach."""
    for i in range(min(len(out), len(values))):
        out[i] = values[i]


@part
def add_to(total, values):
    """total += values."""
    for i in range(len(total)):
        total[i] += values[i]


@rare
def grow(memory, node, pool):
    """Moves a node's statistics to a larger pool: NARROW from smaller ones, MIDDLE from NARROW, WIDE from both; whether there was
    room."""
    x = memory.nodes[node]
    x.pending += 1  # it must not be taken for a cold leaf
    row = take(memory, pool)
    x.pending -= 1
    if row == NONE:
        return False
    for plane in range(memory.narrow.shape[1]):
        if pool == NARROW:
            read_first(memory, np.int64(x.pool), np.int64(x.row), plane, memory.narrow[row, plane])
        else:
            for what in range(2):
                if pool == MIDDLE:
                    copy(memory.middle[row, plane, what], memory.narrow[x.row, plane, what])
                elif x.pool == MIDDLE:
                    copy(memory.wide[row, plane, what], memory.middle[x.row, plane, what])
                else:
                    copy(memory.wide[row, plane, what], memory.narrow[x.row, plane, what])
    if x.pool != NODES:
        give_back(memory, np.int64(x.pool), np.int64(x.row))
    x.row, x.pool = row, pool
    return True


@once
def can_have_children(memory, node):
    """Sees to it that a node has room for what is known of its moves, exactly; whether it has."""
    return holds(memory, node, memory.nodes[node].visits)


@once
def holds(memory, node, visits):
    """The same for a node of so many visits."""
    x, book = memory.nodes[node], memory.book[0]
    if x.pool < NARROW and not grow(memory, node, np.int64(NARROW)):
        return False
    if visits < book.middle_from or x.pool == WIDE:
        return True
    if visits < book.wide_from:
        return x.pool == MIDDLE or grow(memory, node, np.int64(MIDDLE))
    return grow(memory, node, np.int64(WIDE))


@compiled
def count_move(memory, node, move, visits, wins):
    """Adds visits of a move and their results to what its node knows."""
    x, plane = memory.nodes[node], memory.narrow.shape[1] - 1
    if x.pool == NARROW:
        memory.narrow[x.row, plane, 0, move] += visits
        memory.narrow[x.row, plane, 1, move] += wins
    elif x.pool == MIDDLE:
        memory.middle[x.row, plane, 0, move] += visits
        memory.middle[x.row, plane, 1, move] += wins
    elif x.pool == WIDE:
        memory.wide[x.row, plane, 0, move] += visits
        memory.wide[x.row, plane, 1, move] += wins


@once
def add_rave(memory, node, earned, mover, pool):
    """Adds what points have earned to a node's RAVE statistics.

    Where a full tree has no room for more than a first visit's statistics, these stay as they are.

    Args:
      memory: the tree.
      node: the node.
      earned: int16 or float64 [players, 2, M], whole numbers where the tree has no fractions.
      mover: which of the players is the node's.
      pool: FIRST or NARROW, where those of a first visit go.
    """
    x, colours = memory.nodes[node], memory.first.shape[1]
    if x.pool == NODES and pool == FIRST:
        x.pending += 1
        row = take(memory, pool)
        x.pending -= 1
        if row != NONE:
            x.row, x.pool = row, pool
            for colour in range(colours):
                number, won = earned[colour ^ mover, 0], earned[colour ^ mover, 1]
                if memory.first.shape[2] == 2:
                    copy(memory.first[row, colour, 0], number)
                    copy(memory.first[row, colour, 1], won)
                else:
                    for move in range(len(number)):
                        memory.first[row, colour, 0, move] = np.uint8(number[move] * number[move] + won[move])
    elif can_have_children(memory, node):
        for colour in range(colours):
            for what in range(2):
                if x.pool == NARROW:
                    add_to(memory.narrow[x.row, colour, what], earned[colour ^ mover, what])
                elif x.pool == MIDDLE:
                    add_to(memory.middle[x.row, colour, what], earned[colour ^ mover, what])
                else:
                    add_to(memory.wide[x.row, colour, what], earned[colour ^ mover, what])
