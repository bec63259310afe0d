"""What lies around the points of a position, as the numbers that `search.shapes` and `search.features` say; compiled."""

from typing import NamedTuple

import numpy as np

from jaxgo.board.geometry import geometry
from search import chains
from search.compiled import compiled, part
from search.features import far_line_of, read_near, sides_and_features


class Around(NamedTuple):
    """A position as it is looked at, on a board of N x N."""

    own: np.ndarray
    """int64 [N + 4]: the mover's stones, as `read_rows` reads them."""
    opp: np.ndarray
    """Likewise the other's."""
    near: np.ndarray
    """int64 [2, N + 4]: likewise what is near stones (`search.features.read_near`), and room to find that out."""
    places: np.ndarray
    """This and the rest as `search.chains.room` has them."""
    chains: np.ndarray
    stones: np.ndarray

    @classmethod
    def room(cls, size: int) -> "Around":
        """Room for one."""
        own, opp = np.empty((2, size + 4), np.int64)
        return cls(own, opp, np.empty((2, size + 4), np.int64), *chains.room(size))


@part
def look_around(words, shifts, found, own, opp, around):
    """Reads a position.

    Args:
      words, shifts: where the N rows of a board lie.
      found: uint32, has the mover's stones from `own` on, the other's from `opp` on.
      around: an `Around`, is filled in.
    """
    read_rows(words, shifts, found, own, around.own)
    read_rows(words, shifts, found, opp, around.opp)
    read_near(around.own, around.opp, around.near[0], around.near[1])
    chains.look_at_chains(around.own, around.opp, around.places, around.chains, around.stones)


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


@compiled
def number_all(words, shifts, found, numbers, around):
    """The numbers of all points of positions: of shapes, of sides, and of what a move there does if it is legal.

    Args:
      words, shifts: int64 [N], where the rows of a board lie.
      found: uint32 [B, 2 W], the mover's stones, then the other's.
      numbers: int64 [3, B, N**2], is filled in.
      around: an `Around`.
    """
    around, size = Around(*around), len(words)
    step = size + 2
    for position in range(len(found)):
        look_around(words, shifts, found[position], 0, found.shape[1] >> 1, around)
        for y in range(size):
            own, opp = rows_around(around.own, y), rows_around(around.opp, y)
            for x in range(size):
                point, far_line = size * y + x, far_line_of(around.near[0], size, y, x)
                place = step * (y + 1) + x + 1
                sides, said = sides_and_features(around.places, around.chains, place, step, far_line)
                numbers[0, position, point] = eight(own, opp, x) | four_beyond(own, opp, x)
                numbers[1, position, point], numbers[2, position, point] = sides, said


def numbers(size: int, words: np.ndarray) -> np.ndarray:
    """int64 [3, B, P]: the numbers of shapes, of sides, and of what moves do, of all points; words uint32 [B, 2 W]."""
    out = np.empty((3, len(words), size * size), np.int64)
    number_all(*word_and_shift_of_rows(size), np.ascontiguousarray(words), out, Around.room(size))
    return out


def word_and_shift_of_rows(size: int) -> tuple[np.ndarray, np.ndarray]:
    """int64 [N] twice: in which word of a board each row lies, and from which bit on."""
    g = geometry(size)
    return g.word_of_row.astype(np.int64), g.shift_of_row.astype(np.int64)
