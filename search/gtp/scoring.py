"""Which stones live at the end of a game, and the score.

Random playouts decide: a chain whose points mostly end up with the other player is dead. Two neighbours of different colours that
mostly neither keep nor lose are in seki.
"""

import dataclasses

import numpy as np

from jaxgo import Position
from search.gtp.table import Table, chains, neighbours
from search.gtp.thinker import Ownership

ALIVE, DEAD, SEKI = STATUSES = ("alive", "dead", "seki")

#: A chain is dead where its points belong to the other player by more than this, on the scale from -1 to 1.
DEAD_BEYOND = 0.3
#: Chains in seki belong to nobody by more than this.
SEKI_WITHIN = 0.5

Judgement = list[tuple[list[int], str]]
"""Each chain of the board, and its status."""


def judge(position: Position, *, all_live: bool = False) -> Judgement:
    """The status of each chain.

    Args:
      position: one position.
      all_live: whether all stones live, as by rules under which dead ones must be captured.
    """
    stones = np.asarray(position.to_array())[0]
    size, found = position.size, chains(stones)
    if all_live:
        return [(chain, ALIVE) for chain in found]
    owners = Ownership(resumed(position))
    owners.refine()
    held = [float(stones.flat[chain[0]] * owners.of_black.flat[chain].mean()) for chain in found]
    at = {point: number for number, chain in enumerate(found) for point in chain}
    out = []
    for number, chain in enumerate(found):
        status = DEAD if held[number] < -DEAD_BEYOND else ALIVE
        if abs(held[number]) < SEKI_WITHIN:
            liberties = {p for point in chain for p in neighbours(point, size) if not stones.flat[p]}
            shared = {at[p] for liberty in liberties for p in neighbours(liberty, size) if stones.flat[p] == -stones.flat[chain[0]]}
            if len(liberties) <= 2 and any(abs(held[other]) < SEKI_WITHIN for other in shared):
                status = SEKI
        out.append((chain, status))
    return out


def resumed(position: Position) -> Position:
    """The position as if nobody had passed, so that it is played on."""
    return dataclasses.replace(position, passes=np.zeros_like(np.asarray(position.passes)))


def score(table: Table, judged: Judgement = ()) -> float:
    """Black's area minus White's and komi, once the dead stones of a judgement are taken off."""
    stones = table.stones.copy()
    for chain, status in judged:
        if status == DEAD:
            stones.flat[chain] = 0
    return int(np.asarray(Position.from_array(stones).score())[0]) - table.komi
