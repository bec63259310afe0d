"""What a search knows of moves before playouts have told it: prior playouts, by how likely the moves are.

As in Gelly and Silver, "Combining online and offline knowledge in UCT" (2007), a node begins as if each of its moves had been
tried before, won so many times and lost so many. How many were won goes, as in the programs michi and Pachi, by the square root
of the chance that a good player would play the move (`search.move_weights`). These playouts count when a move is chosen, beside
those that were played, which outnumber them soon; they are in no node's visits, wins or RAVE statistics.
"""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from jaxgo.base import checks
from search import shapes
from search.features import weights_by_number
from search.move_weights import MoveWeights, line_of, strengths
from search.surroundings import word_and_shift_of_rows

#: Prior playouts of a move that are won, or lost, at most: they are held in a byte each.
MOST = 255


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """Prior playouts of moves.

    Args:
      even: of every move but the pass so many are won, and as many lost.
      likely: besides, so many of a move that is sure to be played are won, and of others that times the square root of their
        chance, up to 255 in all.
      weights: of which chances are made.

    Raises:
      TypeError, ValueError: a number is not whole, or not between 0 and 255; weights are none.
    """

    even: int = 7
    likely: int = 200
    weights: MoveWeights = dataclasses.field(default_factory=MoveWeights.fitted)

    def __post_init__(self):
        for name in ("even", "likely"):
            object.__setattr__(self, name, checks.integer(name, getattr(self, name), 0, MOST))
        if not isinstance(self.weights, MoveWeights):
            raise TypeError(f"weights must be a search.MoveWeights, not {self.weights!r}")

    def numbers(self, size: int) -> "KnowledgeNumbers":
        """For the compiled loops, on a board of this size."""
        weights = self.weights
        return KnowledgeNumbers(
            self.even, self.likely, weights_by_number(weights.features), weights.lines[line_of(size)].astype(np.int64),
            np.array(weights.patterns), weights.distances.astype(np.int64), np.array(weights.sides),
            shapes.table(weights.shapes.astype(np.int64), weights.shape_weights), strengths(), np.sqrt(strengths()),
            *word_and_shift_of_rows(size),
        )  # fmt: skip


class KnowledgeNumbers(NamedTuple):
    """Knowledge as the compiled loops read it."""

    even: int
    likely: int
    features: np.ndarray
    """int64 [2**F]: weights of all that a move does (`search.features`)."""
    points: np.ndarray
    """int64 [P]: weights of the points, by their lines."""
    patterns: np.ndarray
    """int8 [65,536]: weights."""
    distances: np.ndarray
    """int64 [2, 18]: weights."""
    sides: np.ndarray
    """int8 [4,096]: weights."""
    shapes: np.ndarray
    """uint32 [n]: a table of weights (`search.shapes.table`)."""
    strengths: np.ndarray
    """float64: of weights from -`LIMIT` to `LIMIT`."""
    roots: np.ndarray
    """float64: their roots."""
    words: np.ndarray
    """int64 [N]: in which word of a board a row lies."""
    shifts: np.ndarray
    """int64 [N]: and from which bit on."""


#: The same, kept for all who ask: the table of shapes takes forty milliseconds to make.
numbers_of = functools.lru_cache(64)(Knowledge.numbers)
