"""Checks of arguments at the door: each says which argument, what was given and what is allowed."""

import math
import operator
from collections.abc import Sequence

import numpy as np

from jaxgo.board.geometry import MAX_SIZE, MIN_SIZE

INT32_MAX = 2**31 - 1


def integer(name: str, value, least: int, most: int = INT32_MAX) -> int:
    """`value` as an int between `least` and `most`; TypeError or ValueError otherwise."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} must be between {least} and {most}, not {number}")
    return number


def size(value) -> int:
    """A board size."""
    return integer("size", value, MIN_SIZE, MAX_SIZE)


def komi(value) -> float:
    """A finite komi."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"komi must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"komi must be finite, not {number}")
    return number


def integers(name: str, values, shape: tuple[int, ...], least: int, most: int) -> np.ndarray:
    """`values` (one integer for all, or an array of `shape`) as an int32 array of `shape` with values from least to most."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must be one integer or have shape {shape}, not {array.shape}")
    wrong = array[(array < least) | (array > most)]
    if wrong.size:
        raise ValueError(f"{name} must be between {least} and {most}, not {wrong.flat[0]}")
    return np.broadcast_to(array, shape).astype(np.int32)


def one_of(name: str, value, allowed: Sequence) -> None:
    """That `value` is one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
