"""The chains of a position, each flooded once, and their liberties; compiled.

The board lies in an array of (N + 2)**2 places, row by row, with a place more on each side.
"""

import numpy as np

from search.compiled import part
from search.shapes import MOST_LIBERTIES

#: What a place holds where no chain is, and before its chain has been looked at; a chain's stones hold its number.
EMPTY, OUTSIDE, MINE, THEIRS = -1, -2, -3, -4
#: What is told of a chain: how many stones it has, and liberties, up to `MOST_LIBERTIES`, where up to two of them are, its number
#: as a side (`search.shapes`), and whether it is one of the other's that touches one of the mover's in atari.
STONES, LIBERTIES, ONE, TWO, SIDE, ATTACKS = range(6)
FIELDS = 6


@part
def look_at_chains(own, opp, places, chains, stones):
    """Floods all chains.

    Args:
      own, opp: rows, as `search.surroundings.read_rows` has read them.
      places: int64 [(N + 2)**2], is filled in.
      chains: int64 [N**2, FIELDS], is filled in.
      stones: int64 [N**2], scratch.
    """
    step, number, in_atari = len(own) - 2, np.int64(0), False
    for i in range(step * step):
        places[i] = OUTSIDE
    for y in range(step - 2):
        mine, theirs, first = own[y + 2] >> 2, opp[y + 2] >> 2, step * (y + 1) + 1
        for x in range(step - 2):
            places[first + x] = MINE if (mine >> x) & 1 else THEIRS if (theirs >> x) & 1 else EMPTY
    for i in range(step, step * step - step):
        if places[i] <= MINE:
            mine = places[i] == MINE
            look_at(places, chains[number], stones, i, step, number)
            in_atari |= mine and chains[number, LIBERTIES] == 1
            number += 1
    if in_atari:
        note_attackers(places, chains, step)


@part
def look_at(places, chain, stones, first, step, number):
    """Floods the chain of a stone that has not been looked at, and gives it a number."""
    colour, many, done = places[first], 1, 0
    liberties, one, two = 0, -1, -1
    stones[0], places[first] = first, number
    while done < many:
        for side in range(4):
            near = beside(stones[done], side, step)
            if places[near] == colour:
                stones[many], places[near] = near, number
                many += 1
            elif places[near] == EMPTY and liberties < MOST_LIBERTIES and near != one and near != two:
                one, two = near, one
                liberties += 1
        done += 1
    chain[STONES], chain[LIBERTIES], chain[ONE], chain[TWO] = many, liberties, one, two
    chain[SIDE] = liberties if colour == MINE else MOST_LIBERTIES + liberties
    chain[ATTACKS] = 0


@part
def beside(place, side, step):
    """The place above, to the left, to the right or below, where rows have so many places."""
    return place + (-step if side == 0 else -1 if side == 1 else 1 if side == 2 else step)


@part
def note_attackers(places, chains, step):
    """Notes the chains of the other's that touch one of the mover's in atari."""
    for i in range(step, step * step - step):
        if places[i] >= 0 and chains[places[i], SIDE] == 1:
            for side in range(4):
                near = places[beside(i, side, step)]
                if near >= 0 and chains[near, SIDE] > MOST_LIBERTIES:
                    chains[near, ATTACKS] = 1


def room(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(places, chains, stones) to work in, on a board of this size."""
    return np.empty((size + 2) ** 2, np.int64), np.empty((size * size, FIELDS), np.int64), np.empty(size * size, np.int64)
