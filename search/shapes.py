"""Shapes around a point, by number: what lies on the twelve points nearest to it, and which chains on its four sides.

  pattern  bit i is set where the i-th of the eight points around it, in rows from the top, has a stone of the mover's or lies
           outside of the board, bit 8 + i where it has one of the other's or lies outside (`jaxgo`'s pattern table has these);
  shape    the same, and likewise bits 16 + i and 20 + i for the points two steps above, to the left, to the right and below;
  sides    three bits for each of the points above, to the left, to the right and below: 0 where it is empty, 1 to 3 where a chain
           of the mover's has so many liberties (3 or more), 4 to 6 where one of the other's has, 7 outside of the board.
"""

import functools
from collections.abc import Callable

import numpy as np

from jaxgo.playing.policies import pattern_table

#: How many numbers of patterns there are, of shapes, and of sides.
PATTERNS, SHAPES, SIDES = 1 << 16, 1 << 24, 1 << 12
#: Liberties that are told apart, and what a side is outside of the board.
MOST_LIBERTIES, OUTSIDE = 3, 7
#: The four points beyond the eight.
BEYOND = ((-2, 0), (0, -2), (0, 2), (2, 0))
#: Ways to turn and mirror a board.
TURNS = 8
#: What spreads numbers over a table: 2**32 over the golden ratio (Knuth, "The art of computer programming", 6.4).
SPREAD = 2654435769
#: What a table holds where there is no shape: the number of which all points lie outside, which no board has.
FREE = 0xFFFFFFFF


def turned(number: np.ndarray, turn: int) -> np.ndarray:
    """Numbers of shapes, int64, turned and mirrored in one of `TURNS` ways, of which 0 leaves them."""
    out = np.zeros_like(number)
    for steps, first, width in ((pattern_table.STEPS, 0, 8), (BEYOND, 16, 4)):
        for i, j in enumerate(_turned(tuple(steps), turn)):
            for plane in (first, first + width):
                out |= (number >> plane + i & 1) << plane + j
    return out


def turned_sides(number: np.ndarray, turn: int) -> np.ndarray:
    """Numbers of sides likewise."""
    out = np.zeros_like(number)
    for i, j in enumerate(_turned(BEYOND, turn)):
        out |= (number >> 3 * i & 7) << 3 * j
    return out


@functools.cache
def _turned(steps: tuple[tuple[int, int], ...], turn: int) -> list[int]:
    """Which of some steps each becomes."""
    out = []
    for dy, dx in steps:
        y, x = (dx, dy) if turn & 4 else (dy, dx)
        out.append(steps.index((-y if turn & 2 else y, -x if turn & 1 else x)))
    return out


def alike(number: np.ndarray, turning: Callable[[np.ndarray, int], np.ndarray] = turned) -> np.ndarray:
    """The least of the numbers that are the same turned and mirrored."""
    return np.minimum.reduce([turning(number, turn) for turn in range(TURNS)])


def table(number: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """uint32 [n]: a table in which the weights of shapes are looked up, those of all that are alike: 256 times a number, and its
    weight's lowest eight bits.

    n is a power of two. A number stands in the first free place from `number * SPREAD % 2**32 // (2**32 / n)` on, round and
    round; what is free holds `FREE`, and a number that is not found before such a place has no weight.
    """
    numbers = np.concatenate([turned(number, turn) for turn in range(TURNS)])
    numbers, first = np.unique(numbers, return_index=True)
    entries = (numbers << 8 | np.tile(weights, TURNS)[first].astype(np.int64) & 255).astype(np.uint32)
    bits = max(1, int(2 * len(numbers)).bit_length())
    held = np.full(1 << bits, FREE, np.uint32)
    place, left = (numbers * SPREAD & 0xFFFFFFFF) >> 32 - bits, np.arange(len(numbers))
    while len(left):
        here, who = np.unique(place[left], return_index=True)
        free = held[here] == FREE
        held[here[free]] = entries[left[who[free]]]
        left = np.delete(left, who[free])
        place[left] = place[left] + (held[place[left]] != FREE) & (1 << bits) - 1
    return held
