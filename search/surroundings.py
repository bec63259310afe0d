"""What lies around the points of a position, as the numbers that `search.shapes` says; compiled."""

import numpy as np

from jaxgo.board.geometry import geometry
from search.compiled import compiled, part
from search.shapes import MOST_LIBERTIES, OUTSIDE

#: A stone of either whose chain has not been looked at, and those of the chain that is.
MINE, THEIRS, LOOKED = 8, 9, 10


@part
def read_rows(words, shifts, found, begin, rows):
    """Reads a board's rows.

    Args:
      words, shifts: where the N rows of a board lie.
      found: uint32, has the stones from `begin` on.
      rows: int64 [N + 4], is filled in: the rows, with two more above and two below, and two bits more on each side; set is what
        lies outside of the board.
    """
    size = len(words)
    inside, all_bits = ((np.int64(1) << size) - 1) << 2, (np.int64(16) << size) - 1
    rows[0] = rows[1] = rows[size + 2] = rows[size + 3] = all_bits
    for y in range(size):
        stones = (np.int64(found[begin + words[y]]) >> shifts[y]) << 2
        rows[y + 2] = (stones & inside) | (all_bits ^ inside)


@part
def rows_around(rows, y):
    """A row of those that were read, the two above it and the two below."""
    return rows[y], rows[y + 1], rows[y + 2], rows[y + 3], rows[y + 4]


@part
def eight(own, opp, x):
    """The number of the eight points around column x of the middle row of either's five."""
    return bits_around(own, x) | (bits_around(opp, x) << 8)


@part
def bits_around(rows, x):
    """The eight bits around that of column x."""
    above, beside, below = (rows[1] >> (x + 1)) & 7, rows[2] >> (x + 1), (rows[3] >> (x + 1)) & 7
    return above | ((beside & 1) << 3) | (((beside >> 2) & 1) << 4) | (below << 5)


@part
def four_beyond(own, opp, x):
    """What the number of twelve points has more than that of eight."""
    return (bits_beyond(own, x) << 16) | (bits_beyond(opp, x) << 20)


@part
def bits_beyond(rows, x):
    """The four bits two steps from that of column x."""
    left, right = (rows[2] >> x) & 1, (rows[2] >> (x + 4)) & 1
    return ((rows[0] >> (x + 2)) & 1) | (left << 1) | (right << 2) | (((rows[4] >> (x + 2)) & 1) << 3)


@part
def sides(classes, place, step):
    """The number of the four sides of a place among `classes`, whose rows have so many."""
    return classes[place - step] | (classes[place - 1] << 3) | (classes[place + 1] << 6) | (classes[place + step] << 9)


@part
def look_at_chains(own, opp, classes, chain):
    """Tells of each point what it is as a side of others.

    Args:
      own, opp: rows, as `read_rows` has read them.
      classes: int64 [(N + 2)**2], is filled in, with a place more on each side of the board.
      chain: int64 [N**2], scratch.
    """
    step = len(own) - 2
    for i in range(step * step):
        classes[i] = OUTSIDE
    for y in range(step - 2):
        mine, theirs, first = own[y + 2] >> 2, opp[y + 2] >> 2, step * (y + 1) + 1
        for x in range(step - 2):
            classes[first + x] = MINE * ((mine >> x) & 1) + THEIRS * ((theirs >> x) & 1)
    for i in range(step, step * step - step):
        if classes[i] == MINE or classes[i] == THEIRS:
            look_at(classes, chain, i, step)


@part
def look_at(classes, chain, first, step):
    """Tells it of the chain of a stone that has not been looked at."""
    colour, stones, done = classes[first], 1, 0
    liberties, one, two = 0, -1, -1
    chain[0], classes[first] = first, LOOKED
    while done < stones:
        for side in range(4):
            near = chain[done] + (-step if side == 0 else -1 if side == 1 else 1 if side == 2 else step)
            if classes[near] == colour:
                chain[stones], classes[near] = near, LOOKED
                stones += 1
            elif classes[near] == 0 and liberties < MOST_LIBERTIES and near != one and near != two:
                one, two = near, one
                liberties += 1
        done += 1
    told = liberties if colour == MINE else MOST_LIBERTIES + liberties
    for i in range(stones):
        classes[chain[i]] = told


@compiled
def number_all(words, shifts, found, numbers, own, opp, classes, chain):
    """The numbers of all points of positions: of shapes and of sides.

    Args:
      words, shifts: int64 [N], where the rows of a board lie.
      found: uint32 [B, 2 W], the mover's stones, then the other's.
      numbers: int64 [2, B, N**2], is filled in.
      own, opp, classes, chain: as `room` has them.
    """
    size, half = len(words), found.shape[1] // 2
    step = size + 2
    for position in range(len(found)):
        read_rows(words, shifts, found[position], 0, own)
        read_rows(words, shifts, found[position], half, opp)
        look_at_chains(own, opp, classes, chain)
        for y in range(size):
            mine, theirs = rows_around(own, y), rows_around(opp, y)
            for x in range(size):
                point = size * y + x
                numbers[0, position, point] = eight(mine, theirs, x) | four_beyond(mine, theirs, x)
                numbers[1, position, point] = sides(classes, step * (y + 1) + x + 1, step)


def numbers(size: int, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(int64 [B, P], int64 [B, P]): the numbers of shapes, and of sides, of all points of positions; words uint32 [B, 2 W]."""
    g, out = geometry(size), np.empty((2, len(words), size * size), np.int64)
    rows = g.word_of_row.astype(np.int64), g.shift_of_row.astype(np.int64)
    number_all(*rows, np.ascontiguousarray(words), out, *room(size))
    return out[0], out[1]


def room(size: int) -> tuple[np.ndarray, ...]:
    """(own, opp, classes, chain) to work in, on a board of this size: int64 [N + 4] twice, [(N + 2)**2] and [N**2]."""
    return tuple(np.empty(places, np.int64) for places in (size + 4, size + 4, (size + 2) ** 2, size * size))
