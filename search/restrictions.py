"""Moves that a search is told to avoid, or to keep to, near its root."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from jaxgo import BLACK


@dataclasses.dataclass(frozen=True)
class Restriction:
    """What a program says of some moves of one colour."""

    avoid: bool
    """Whether they are to be avoided; else they alone are to be considered."""
    colour: int
    """1 Black, -1 White."""
    points: tuple[int, ...]
    """P for the pass."""
    until: int
    """Less than so many moves from the root."""


@dataclasses.dataclass(frozen=True)
class Restrictions:
    """Moves that a search is told to avoid, or to keep to, near its root; arrays [2, M], Black's moves (0) and White's (1)."""

    avoid_until: np.ndarray
    """int: the move is avoided at nodes less than so many moves from the root; 0 never is."""
    allow_until: np.ndarray
    """int [2]: up to so many moves from the root, only the allowed moves are considered."""
    allowed: np.ndarray
    """bool: these. They need only be legal, not useful."""

    @classmethod
    def of(cls, said: Iterable[Restriction], size: int) -> "Restrictions | None":
        """What all that is said means together on a board of NxN points; None for nothing."""
        said, moves = list(said), size * size + 1
        if not said:
            return None
        out = cls(np.zeros((2, moves), np.int64), np.zeros(2, np.int64), np.zeros((2, moves), np.bool_))
        for one in said:
            side, points = 0 if one.colour == BLACK else 1, list(one.points)
            if one.avoid:
                out.avoid_until[side, points] = np.maximum(out.avoid_until[side, points], one.until)
            else:
                out.allow_until[side] = max(out.allow_until[side], one.until)
                out.allowed[side, points] = True
        return out

    @property
    def avoids(self) -> bool:
        """Whether some moves are to be avoided."""
        return bool(self.avoid_until.any())

    @property
    def num_bytes(self) -> int:
        """Memory."""
        return self.avoid_until.nbytes + self.allow_until.nbytes + self.allowed.nbytes

    def leave_pass(self, black: bool) -> bool:
        """Whether the player to move at the root may pass, as far as they say."""
        everything = np.ones(self.allowed.shape[1], np.bool_)
        return bool(self.at_root(everything, everything, black)[-1])

    @classmethod
    def none(cls, moves: int) -> "Restrictions":
        """That restrict nothing."""
        return cls(np.zeros((2, moves), np.int64), np.zeros(2, np.int64), np.ones((2, moves), np.bool_))

    def at_root(self, playable: np.ndarray, legal: np.ndarray, black: bool) -> np.ndarray:
        """bool [M]: what is left of the moves that are considered at the root; the pass where nothing is.

        Args:
          playable: bool [M], what is considered without restrictions.
          legal: bool [M].
          black: whether Black is to move.
        """
        side = 0 if black else 1
        left = (legal & self.allowed[side] if self.allow_until[side] else playable) & (self.avoid_until[side] == 0)
        left[-1] |= not left.any()
        return left


def check_restrictions(restrictions, size: int | None = None) -> None:
    """TypeError or ValueError unless these are restrictions, or None, and for boards of this size where one is given."""
    if restrictions is None:
        return
    if not isinstance(restrictions, Restrictions):
        raise TypeError(f"restrictions must be a search.restrictions.Restrictions, not {restrictions!r}")
    shapes = [np.shape(x) for x in (restrictions.avoid_until, restrictions.allow_until, restrictions.allowed)]
    if size is not None and shapes != [(2, size * size + 1), (2,), (2, size * size + 1)]:
        wanted = f"a board of {size}x{size}, with {size * size + 1} moves"
        raise ValueError(f"restrictions must be for {wanted}, not of the shapes {shapes}")
