"""How likely moves are in positions, for programs that bring a search of their own."""

import numpy as np
from numpy.typing import ArrayLike

from jaxgo import Leaves, Position
from jaxgo.base import checks
from jaxgo.board.dynamics import is_traced
from jaxgo.board.position import check_position
from search.compiled import keep_loops, plain
from search.knowledge import Knowledge, numbers_of
from search.move_weights import MoveWeights
from search.priors import Room, weigh_all

#: A move that is not known.
NO_MOVE = -1


def move_chances(
    position: Position, last_moves: ArrayLike = NO_MOVE, moves_before: ArrayLike = NO_MOVE, *, weights: MoveWeights | None = None
) -> np.ndarray:
    """float64 [B, P]: how likely a good player is to play each point, as `search.MoveWeights` says it.

    The chances of points that the player to move may play, and that fill no eye of his own, add up to 1; all others are 0. They
    know no ladders, and nothing of the pass.

    Args:
      position: B positions.
      last_moves: the moves that led to them, integers [B] or one for all: a point, P for a pass, -1 where it is not known. Near
        them moves are likelier.
      moves_before: likewise the moves before those.
      weights: by default those that come with jaxgo.

    Raises:
      TypeError, ValueError: an argument is not what it must be.
    """
    check_position(position)
    if is_traced(position, last_moves, moves_before):
        raise TypeError("move_chances needs values, not traced arrays: it runs on the host, outside of jit, vmap and their kin")
    size, batch, points = position.size, position.batch, position.size**2
    numbers = (("last_moves", last_moves), ("moves_before", moves_before))
    last, before = (checks.integers(name, x, (batch,), NO_MOVE, points).astype(np.int64) for name, x in numbers)
    known = numbers_of(Knowledge() if weights is None else Knowledge(weights=weights), size)
    words, *_ = Leaves.arguments_of(position)
    useful = np.zeros((batch, 32 * (points // 32 + 1)), np.bool_)
    useful[:, :points] = position.useful()
    bits = np.packbits(useful, axis=1, bitorder="little").view("<u4").astype(np.uint32, copy=False)
    chances = np.empty((batch, points))
    keep_loops()
    weigh_all(plain(known), np.hstack([words, bits]), words.shape[1], last, before, plain(Room.of(size)), chances)
    return chances
