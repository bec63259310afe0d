"""Checks of arguments at the door: each says which argument, what was given and what is allowed."""

import contextlib
import math
import operator
from collections.abc import Sequence

import numpy as np

from jaxgo.base.constants import INT32_MAX, MAX_SIZE, MIN_SIZE


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


def number(name: str, value, least: float, most: float = math.inf) -> float:
    """`value` as a float; ValueError unless it is a finite number between `least` and `most`."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    with contextlib.suppress(OverflowError):  # of an integer of more than 300 digits
        if is_number and least <= (as_float := float(value)) <= most and as_float < math.inf:
            return as_float
    allowed = f"a number from {least} to {most}" if most < math.inf else f"a finite number of at least {least}"
    raise ValueError(f"{name} must be {allowed}, not {value!r:.60}")


def size(value) -> int:
    """A board size."""
    return integer("size", value, MIN_SIZE, MAX_SIZE)


def komi(value) -> float:
    """A finite komi."""
    try:
        if isinstance(value, (str, bytes, bool, np.bool_)):
            raise TypeError
        number = float(value)
    except OverflowError:
        raise ValueError("komi must be finite, not an integer of more than 300 digits") from None
    except (TypeError, ValueError):
        raise TypeError(f"komi must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"komi must be finite, not {number}")
    return number


def komis(value, batch: int) -> float | np.ndarray:
    """A finite komi, or finite ones of so many positions as float64 [B]."""
    if np.isscalar(value) or not hasattr(value, "__len__"):
        return komi(value)
    array = as_array("komi", value)
    if array.ndim == 0:
        return komi(array.item())
    if array.dtype.kind not in "iuf":
        raise TypeError(f"komi must be a number or numbers, not {array.dtype}")
    if array.shape != (batch,):
        raise ValueError(f"komi must be one number or have shape ({batch},), not {array.shape}")
    with np.errstate(over="ignore"):  # longer floats may be beyond these
        points = array.astype(np.float64)
    if not np.isfinite(points).all():
        raise ValueError(f"komi must be finite, not {array[~np.isfinite(points)][0]}")
    return points


def integers(name: str, values, shape: tuple[int, ...], least: int, most: int, where: np.ndarray | None = None) -> np.ndarray:
    """`values` (one integer for all, or an array of `shape`) as an int32 array of `shape` with values from least to most.

    With `where`, bools of `shape`, only the values there are looked at; the others come back as `least`.
    """
    array = as_array(name, values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must be one integer or have shape {shape}, not {array.shape}")
    if where is not None:
        array = np.where(where, array, array.dtype.type(least))
    if array.size and (array.min() < least or array.max() > most):
        wrong = array[(array < least) | (array > most)]
        raise ValueError(f"{name} must be between {least} and {most}, not {wrong.flat[0]}")
    return array.astype(np.int32) if array.shape == shape else np.full(shape, array, np.int32)


def as_array(name: str, values) -> np.ndarray:
    """`values` as an array."""
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of unequal lengths
        raise ValueError(f"{name} must be one number or an array of them, not {values!r:.60} ({error})") from None


def boolean(name: str, value) -> bool:
    """That `value` is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def callable_or_none(name: str, value) -> None:
    """TypeError unless `value` can be called, or is None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function or None, not {value!r}")


def bools(name: str, values, shape: tuple[int, ...]) -> np.ndarray:
    """`values` (one bool for all, or an array of `shape`) as a bool array of `shape`."""
    array = as_array(name, values)
    if array.dtype != np.bool_:
        raise TypeError(f"{name} must hold bools, not {array.dtype}")
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must be one bool or have shape {shape}, not {array.shape}")
    return array if array.shape == shape else np.full(shape, array)


def one_of(name: str, value, allowed: Sequence) -> None:
    """That `value` is one of those allowed."""
    if isinstance(value, (np.ndarray, bool, np.bool_)) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
