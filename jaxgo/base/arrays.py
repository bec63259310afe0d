"""Types of arrays, for annotations."""

from typing import TypeVar

import jax
import numpy as np

Array = TypeVar("Array", np.ndarray, jax.Array)
"""Numpy's or jax's arrays: a class that is generic in it holds those of one kind, as `Playouts[np.ndarray]` does."""
