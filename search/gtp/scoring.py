"""Which stones live at the end of a game, and the score.

Random playouts decide, from the position with either player to move: a chain whose points mostly end up with the other player is
dead. It is in seki where the player who has to move there dies; on a board with other moves left that shows as neighbours of
different colours, short of liberties, that mostly neither keep nor lose their points.
"""

import dataclasses

import numpy as np

from jaxgo import BLACK, NO_KO, WHITE, Position
from search.gtp.table import Table
from search.ownership import Samples
from search.stones import chains, neighbours

ALIVE, DEAD, SEKI = STATUSES = ("alive", "dead", "seki")

#: A chain is dead where its points belong to the other player by more than this, on the scale from -1 to 1.
DEAD_BEYOND = 0.3
#: Chains in seki belong to nobody by more than this.
SEKI_WITHIN = 0.5
#: Where moving kills, a chain's points are its owner's less when he has the move than when he has not, by more than this.
SEKI_BEYOND = 0.5

Judgement = list[tuple[list[int], str]]
"""Each chain of the board, and its status."""


def judge(position: Position, *, all_live: bool = False, devices=None) -> Judgement:
    """The status of each chain.

    Args:
      position: one position.
      all_live: whether all stones live, as by rules under which dead ones must be captured.
      devices: as in `jaxgo.evaluate`.
    """
    stones = np.asarray(position.to_array())[0]
    size, found = position.size, chains(stones)
    if all_live:
        return [(chain, ALIVE) for chain in found]
    # [2, chain]: how far a chain's points are its own colour's, with its owner to move and with the other.
    owners = {colour: _ownership(position, colour, devices) for colour in (BLACK, WHITE)}
    colours = [int(stones.flat[chain[0]]) for chain in found]
    held = np.array(
        [[colour * owners[mover * colour].flat[chain].mean() for chain, colour in zip(found, colours)] for mover in (1, -1)]
    )  # fmt: skip
    mean = held.mean(axis=0)
    stuck = held[1] - held[0] > SEKI_BEYOND
    at = {point: number for number, chain in enumerate(found) for point in chain}
    out = []
    for number, chain in enumerate(found):
        liberties = {p for point in chain for p in neighbours(point, size) if not stones.flat[p]}
        others = {at[p] for liberty in liberties for p in neighbours(liberty, size) if stones.flat[p] == -colours[number]}
        undecided = abs(mean[number]) < SEKI_WITHIN and any(abs(mean[other]) < SEKI_WITHIN for other in others)
        seki = stuck[number] or (undecided and len(liberties) <= 2)
        out.append((chain, SEKI if seki else DEAD if mean[number] < -DEAD_BEYOND else ALIVE))
    return out


def _ownership(position: Position, colour: int, devices) -> np.ndarray:
    """float64 [N, N]: who ends up with each point when a player moves first, as if nobody had passed."""
    fields = {"to_play": colour, "ko": NO_KO, "passes": 0}
    fresh = {name: np.full_like(np.asarray(getattr(position, name)), value) for name, value in fields.items()}
    return Samples.without_tree(dataclasses.replace(position, **fresh)).ownership(devices)[0]


def score(table: Table, judged: Judgement = ()) -> float:
    """Black's area minus White's and komi, once the dead stones of a judgement are taken off."""
    stones = table.stones.copy()
    for chain, status in judged:
        if status == DEAD:
            stones.flat[chain] = 0
    return int(np.asarray(Position.from_array(stones).score())[0]) - table.komi
