"""Fractions of a credit in whole units, from their definition."""

import math
from fractions import Fraction

UNITS = 65536
"""To a credit of 1."""


def in_units(credit: Fraction | int) -> int:
    """The nearest number of units, half a unit up."""
    return math.floor(credit * UNITS + Fraction(1, 2))
