"""The mercy rule: playouts that are decided are not played to their end."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxgo.base import checks
from jaxgo.base.constants import MAX_SIZE
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import is_traced
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes
from jaxgo.playing.policies.policy import Policy


class Mercy(Policy):
    """Ends a playout after the first ply that leaves one player with so many stones more than the other; prefers no moves.

    Such a playout is scored as it stands and counts as truncated. A bot takes as many stones more as one player is ahead in the
    position that it thinks about.

    Args:
      stones: how many more, from 1.
    """

    ARRAYS = ("stones",)

    def __init__(self, stones: int):
        self.stones = np.asarray(checks.integer("stones", stones, 1, MAX_SIZE**2), np.int32)

    stones: Any

    def from_here(self, position: Position) -> "Mercy":
        """As much more as one player is ahead already: a group that is set up may die yet, however large it is."""
        black, white = (np.bitwise_count(np.stack(board)).sum(dtype=np.int64) for board in (position.black, position.white))
        ahead = abs(int(black) - int(white))
        return Mercy(min(int(self.stones) + ahead, MAX_SIZE**2)) if ahead else self

    def typical(self) -> "Mercy":
        """Of a few stones."""
        return Mercy(9)

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Any:
        """How many stones."""
        return jnp.broadcast_to(self.stones, lanes.move.shape)

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """None."""
        return []

    def after(self, g: Geometry, lanes: Lanes, known: Any) -> Lanes:
        """Those that are decided have no plies left."""
        lead = bb.count(lanes.own) - bb.count(lanes.opp)
        decided = (jnp.abs(lead) >= known) & (lanes.plies > np.int32(0))
        return lanes._replace(plies_left=jnp.where(decided, np.int32(0), lanes.plies_left))

    def __repr__(self) -> str:
        return self._named(stones=self.stones if is_traced(self.stones) else int(self.stones))
