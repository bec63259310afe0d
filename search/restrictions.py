"""Moves that a search is told to avoid, or to keep to, near its root."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from jaxgo import BLACK, WHITE
from jaxgo.base import checks


@dataclasses.dataclass(frozen=True)
class Restriction:
    """What a program says of some moves of one colour."""

    avoid: bool
    """Whether they are to be avoided; else they alone are to be considered."""
    colour: int
    """1 Black, -1 White."""
    points: tuple[int, ...]
    """0 to P, which is the pass."""
    until: int
    """Less than so many moves from the root, at least 1."""


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
        """What all that is said means together on a board of NxN points; None for nothing.

        Raises:
          TypeError, ValueError: a colour, a point or a number of moves is none.
        """
        moves = checks.size(size) ** 2 + 1
        try:
            said = list(said)
        except TypeError:
            raise TypeError(f"said must be search.restrictions.Restriction objects, not {said!r}") from None
        if not said:
            return None
        out = cls(np.zeros((2, moves), np.int64), np.zeros(2, np.int64), np.zeros((2, moves), np.bool_))
        for one in said:
            if not isinstance(one, Restriction):
                raise TypeError(f"said must hold search.restrictions.Restriction objects, not {one!r}")
            checks.one_of("colour", one.colour, (BLACK, WHITE))
            side, until = 0 if one.colour == BLACK else 1, checks.integer("until", one.until, 1)
            if np.ndim(one.points) != 1:
                raise TypeError(f"points must be a sequence of moves, not {one.points!r}")
            named = one.points if len(one.points) else np.zeros(0, np.int32)
            points = checks.integers("points", named, (len(named),), 0, moves - 1)
            if checks.boolean("avoid", one.avoid):
                out.avoid_until[side, points] = np.maximum(out.avoid_until[side, points], until)
            else:
                out.allow_until[side] = max(out.allow_until[side], until)
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
