"""Which stones live at the end of a game (see `jaxgo.results.statuses`), and the score."""

import dataclasses

import numpy as np

from jaxgo import BLACK, NO_KO, WHITE, Position
from jaxgo.board.stones import chains
from jaxgo.results.statuses import ALIVE, DEAD, POLICY, STATUSES, Statuses, settled
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

    def owners_of(boards: np.ndarray) -> np.ndarray:
        return np.stack([[_ownership(Position.from_array(boards), colour, devices)] for colour in (BLACK, WHITE)])

    (found,), owners = settled(boards, owners_of)
    black, white = owners[:, 0]
    sureness = np.minimum(np.abs(black), np.abs(white)) * (np.sign(black) == np.sign(white))
    return Judgement(found, float(sureness.min()))


def _ownership(position: Position, colour: int, devices) -> np.ndarray:
    """float64 [N, N]: who ends up with each point when a player moves first, as if nobody had passed."""
    fields = {"to_play": colour, "ko": NO_KO, "passes": 0}
    fresh = {name: np.full_like(np.asarray(getattr(position, name)), value) for name, value in fields.items()}
    return Samples.without_tree(dataclasses.replace(position, **fresh), policy=POLICY).ownership(devices)[0]


def score(table: Table, judged: Judgement | None = None) -> float:
    """Black's area minus White's and komi, once the dead stones of a judgement are taken off."""
    stones = table.stones.copy()
    for chain, status in judged.chains if judged is not None else ():
        if status == DEAD:
            stones.flat[chain] = 0
    return int(np.asarray(Position.from_array(stones).score())[0]) - table.komi
