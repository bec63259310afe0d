"""What a search knows of moves before playouts have told it: prior playouts, by what the device says of the moves.

As in Gelly and Silver, "Combining online and offline knowledge in UCT" (2007), and in the program michi: a node begins as if each
of its moves had been tried before, won so many times and lost so many, by simple signs. These playouts count when a move is
chosen, beside those that were played, which outnumber them soon; they are in no node's visits, wins or RAVE statistics. The
numbers are michi's, but for patterns and captures, which matches have doubled.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgo.base import checks
from jaxgo.board.geometry import geometry
from jaxgo.playing.features import FEATURES

#: Prior playouts of a move that are won, or lost, at most: they are held in a byte each.
MOST = 255


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """Prior playouts of moves: for each thing that may be said of a move (`jaxgo.FEATURES`) how many are won, or, where the
    number is negative, lost; of all that is said of it the sum, up to `MOST` won and as many lost.

    Args:
      even: of every move but the pass, so many won and as many lost.
      capture_one, capture_two, capture_more: it captures one stone, two, more.
      save: it saves an own chain in atari.
      atari: it puts an enemy chain in atari.
      self_atari: it captures nothing, and its own chain has one liberty then.
      pattern: a 3x3 pattern matches around it.
      near_last_1, near_last_2, near_last_3: it lies one, two, three steps from the last move; chains are as near as their nearest
        stone.
      near_before_1, near_before_2, near_before_3: likewise from the move before the last.
      far_line_1, far_line_2, far_line_3: it lies on the first, second, third line, with no stone within three steps.
      eyelike: it fills an empty region of one or two points which touches own stones only.

    Raises:
      TypeError, ValueError: a number is not whole, or beyond `MOST` won or lost.
    """

    even: int = 5
    capture_one: int = 30
    capture_two: int = 60
    capture_more: int = 60
    save: int = 15
    atari: int = 5
    self_atari: int = -10
    pattern: int = 20
    near_last_1: int = 24
    near_last_2: int = 22
    near_last_3: int = 8
    near_before_1: int = 8
    near_before_2: int = 4
    near_before_3: int = 0
    far_line_1: int = -10
    far_line_2: int = -10
    far_line_3: int = 10
    eyelike: int = -10

    def __post_init__(self):
        checks.integer("even", self.even, 0, MOST)
        for name in FEATURES:
            checks.integer(name, getattr(self, name), -MOST, MOST)

    def numbers(self, size: int) -> "KnowledgeNumbers":
        """For the compiled loops, on a board of this size."""
        g = geometry(size)
        points = np.full(32 * g.num_words, size * size, np.int16)
        points[g.index_of_point[:-1]] = np.arange(size * size)
        return KnowledgeNumbers(self.even, np.array([getattr(self, name) for name in FEATURES], np.int64), points)


class KnowledgeNumbers(NamedTuple):
    """Knowledge as the compiled loops read it."""

    even: int
    weights: np.ndarray
    """int64 [F]."""
    points: np.ndarray
    """int16 [32 W]: the point of each bit of a board, P for those of none."""

    @classmethod
    def none(cls) -> "KnowledgeNumbers":
        """Where nothing is known."""
        return cls(0, np.empty(0, np.int64), np.empty(0, np.int16))
