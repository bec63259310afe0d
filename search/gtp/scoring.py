"""Which stones live at the end of a game (see `jaxgo.results.statuses`), and the score."""

import dataclasses

import numpy as np

from jaxgo import BLACK, WHITE, Position
from jaxgo.board.stones import chains, neighbours
from jaxgo.results.statuses import ALIVE, DEAD, DEAD_BEYOND, POLICY, STATUSES, Statuses, settled
from search.gtp.table import Table
from search.ownership import Samples

__all__ = ["STATUSES", "Judgement", "judge", "score"]


@dataclasses.dataclass(frozen=True, eq=False)
class Judgement:
    """What is left of a position at its end."""

    chains: Statuses
    """Each chain of the board, and its status."""
    sureness: float
    """How surely each point is somebody's, at least, whoever moves first: 1 where playouts always agree on all points, 0 where
    some point may be either's."""
    owners: np.ndarray | None = None
    """float64 [N, N]: who ends up with each point, 1 Black and -1 White, the mean of who moves first; None where all live."""


def judge(position: Position, *, all_live: bool = False, devices=None) -> Judgement:
    """The status of each chain.

    Args:
      position: one position.
      all_live: whether all stones live, as by rules under which dead ones must be captured.
      devices: as in `jaxgo.evaluate`.
    """
    boards = np.asarray(position.to_array())
    if all_live:
        return Judgement([(chain, ALIVE) for chain in chains(boards[0])], 0.0)

    def owners_of(boards: np.ndarray, to_play: np.ndarray) -> np.ndarray:
        # One by one, by the same program however many there are.
        positions = (Position.from_array(board, to_play=colour) for board, colour in zip(boards, to_play))
        return np.stack([Samples.without_tree(each, policy=POLICY).ownership(devices)[0] for each in positions])

    (found,), owners = settled(boards, owners_of)
    black, white = owners[:, 0]
    sureness = np.minimum(np.abs(black), np.abs(white)) * (np.sign(black) == np.sign(white))
    return Judgement(found, float(sureness.min()), (black + white) / 2)


def score(table: Table, judged: Judgement | None = None) -> float:
    """Black's area minus White's and komi, once the dead stones of a judgement are taken off.

    The points around such stones, where living ones of both colours touch them, are the player's who mostly ends up with them;
    other empty points that touch both colours are nobody's.
    """
    stones, dead = table.stones.copy(), set[int]()
    for chain, status in judged.chains if judged is not None else ():
        if status == DEAD:
            stones.flat[chain] = 0
            dead.update(chain)
    area = int(np.asarray(Position.from_array(stones).score())[0])
    if judged is not None and judged.owners is not None:
        area += sum(_by_owners(stones, region, judged.owners) for region in chains(stones == 0) if not dead.isdisjoint(region))
    return area - table.komi


def _by_owners(stones: np.ndarray, region: list[int], owners: np.ndarray) -> int:
    """Black's points minus White's of an empty region that touches both colours; 0 of another, which counts as it is."""
    around = {int(stones.flat[near]) for point in region for near in neighbours(point, len(stones))}
    found = owners.flat[region]
    return int(np.sign(found[np.abs(found) > DEAD_BEYOND]).sum()) if {BLACK, WHITE} <= around else 0
