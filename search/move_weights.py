"""How likely moves are, by what they do and by what lies around them: weights that were learnt from games.

A move's chance is its strength's share of the strengths of all the mover's moves, and a strength is the product of those of all
that is said of the move (a generalised Bradley-Terry model: Coulom, "Computing Elo ratings of move patterns in the game of Go",
2007; a conditional logit). Logarithms of strengths are whole numbers here, in sixteenths of the binary one, so that sums and
chances are the same on every machine.
"""

import dataclasses
import functools
import os
import pathlib
import zlib
from typing import Any, Self

import numpy as np

from jaxgo.base import checks, saved
from search.features import FEATURES
from search.shapes import PATTERNS, SHAPES, SIDES, alike

#: A strength of two, in these units.
DOUBLE = 16
#: Weights of moves are held between plus and minus so much.
LIMIT = 1023
#: Lines from the edge that are told apart; those further in are as the last one.
LINES = 5
#: Distances from another move that are told apart; those further are as the last one.
DISTANCES = 18
#: Of the files that `MoveWeights.save` writes.
FORMAT = 3
#: Fitted to games of Pachi against itself by `python -m bench.move_prediction`.
FITTED = pathlib.Path(__file__).with_suffix(".npz")


@dataclasses.dataclass(frozen=True, eq=False)
class MoveWeights:
    """Logarithms of strengths, in sixteenths of the binary one: 16 makes a move twice as likely.

    Args:
      features: int16 [F], of what a move does, in the order of `search.features.FEATURES`.
      lines: int16 [5], of the first line, the second, and so on; the last holds for all further ones.
      patterns: int8 [65,536], of what lies on the eight points around it, by number: bit i is set where the i-th of them, in rows
        from the top, has a stone of the mover's or lies outside of the board, bit 8 + i where it has one of the other's or lies
        outside.
      distances: int16 [2, 18], of how far from the last move (0) and the one before it (1) it is: columns plus rows plus the
        larger of these; the last holds for all that are further.
      sides: int8 [4,096], of which chains are on its four sides, by number (`search.shapes`).
      shapes: int32 [n], rising, and
      shape_weights: int8 [n], of what lies on the twelve points around it, by number: the least of those of shapes that are the
        same turned and mirrored, of each that has a weight.

    Raises:
      ValueError: an array is not as it must be.
    """

    features: np.ndarray
    lines: np.ndarray
    patterns: np.ndarray
    distances: np.ndarray
    sides: np.ndarray
    shapes: np.ndarray
    shape_weights: np.ndarray

    def __reduce__(self):
        return type(self), tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __post_init__(self):
        forms = {
            "features": ((len(FEATURES),), np.int16), "lines": ((LINES,), np.int16), "patterns": ((PATTERNS,), np.int8),
            "distances": ((2, DISTANCES), np.int16), "sides": ((SIDES,), np.int8), "shapes": ((np.size(self.shapes),), np.int32),
            "shape_weights": ((np.size(self.shapes),), np.int8),
        }  # fmt: skip
        for name, (shape, dtype) in forms.items():
            given = np.asarray(getattr(self, name))
            if given.shape != shape or given.dtype != dtype:
                raise ValueError(f"{name} must be {np.dtype(dtype)} of shape {shape}, not {given.dtype} of {given.shape}")
            mine = given.copy()
            mine.setflags(write=False)
            object.__setattr__(self, name, mine)
        known = self.shapes.astype(np.int64)
        if ((known < 0) | (known >= SHAPES - 1) | (alike(known) != known)).any() or (np.diff(known) <= 0).any():
            raise ValueError(f"shapes must be numbers below {SHAPES - 1}, rising, each the least of those that are alike")

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Those of some features by name, such as `capture_one=32`, and of other arrays by name; all others 0.

        Raises:
          TypeError, ValueError: there is no such feature, or a weight is not whole or beyond `LIMIT`; as of arrays.
        """
        nothing = {
            "lines": np.zeros(LINES, np.int16), "patterns": np.zeros(PATTERNS, np.int8),
            "distances": np.zeros((2, DISTANCES), np.int16), "sides": np.zeros(SIDES, np.int8), "shapes": np.empty(0, np.int32),
            "shape_weights": np.empty(0, np.int8),
        }  # fmt: skip
        unknown = sorted(given.keys() - {*FEATURES, *nothing})
        if unknown:
            raise ValueError(f"features must be of {', '.join(FEATURES)}, not {', '.join(unknown)}")
        features = np.array([checks.integer(name, given.get(name, 0), -LIMIT, LIMIT) for name in FEATURES], np.int16)
        return cls(features, **{name: given.get(name, zeros) for name, zeros in nothing.items()})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Those in a file that `save` has written.

        Raises:
          OSError: it cannot be read.
          ValueError: it holds something else.
        """
        _, arrays = saved.read(path, "jaxgo_move_weights", FORMAT, "MoveWeights.save")
        with saved.blamed_on(path, "MoveWeights.save"):
            return cls(**{field.name: arrays[field.name] for field in dataclasses.fields(cls)})

    def save(self, path: str | os.PathLike) -> None:
        """Writes them to a file, in numpy's npz format."""
        arrays = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        saved.write(path, saved.facts("jaxgo_move_weights", FORMAT) | arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MoveWeights) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    @functools.cached_property
    def _bytes(self) -> bytes:
        return b"".join(getattr(self, field.name).tobytes() for field in dataclasses.fields(self))

    def __repr__(self) -> str:
        return f"<MoveWeights {zlib.crc32(self._bytes):08x}>"

    @classmethod
    @functools.cache
    def fitted(cls) -> "MoveWeights":
        """Those that come with jaxgo."""
        return MoveWeights.load(FITTED)


@functools.cache
def strengths() -> np.ndarray:
    """float64 [2 * LIMIT + 1]: those of -LIMIT to LIMIT, by products, quotients and roots alone, which are exactly rounded."""
    step = np.float64(2)
    for _ in range(DOUBLE.bit_length() - 1):
        step = np.sqrt(step)
    up = np.ones(LIMIT + 1)
    for i in range(1, LIMIT + 1):
        up[i] = up[i - 1] * step if i % DOUBLE else 2.0 ** (i // DOUBLE)
    return np.concatenate([1 / up[:0:-1], up])


def line_of(size: int) -> np.ndarray:
    """int64 [P]: the line of each point from the edge, from 0, those further in than `LINES` as the last of these."""
    rows, columns = np.divmod(np.arange(size * size), size)
    line = np.minimum(np.minimum(rows, size - 1 - rows), np.minimum(columns, size - 1 - columns))
    return np.minimum(line, LINES - 1)
