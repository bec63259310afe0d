"""Arguments of commands, checked as they are read: colours, points, numbers."""

import math
import re

from jaxgo.board.coordinates import point
from search.game import COLOURS
from search.gtp.protocol import INVALID_POINT, SYNTAX_ERROR, Failure


def is_colour(text: str) -> bool:
    """Whether a text is a colour."""
    return text.lower() in COLOURS


def colour(text: str) -> int:
    """1 Black, -1 White."""
    if not is_colour(text):
        raise Failure(INVALID_POINT)
    return COLOURS[text.lower()]


def vertex(text: str, size: int) -> int:
    """A point y * size + x with row 0 at the top; size * size for a pass."""
    try:
        return point(text, size)
    except ValueError:
        raise Failure(INVALID_POINT) from None


def whole(text: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number between two bounds."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise Failure(SYNTAX_ERROR)
    return int(text)


def number(text: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number, at least and at most so large."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and least <= value <= most):
        raise Failure(SYNTAX_ERROR)
    return value


def truth(text: str) -> bool:
    """true or false."""
    if text.lower() not in ("true", "false"):
        raise Failure(SYNTAX_ERROR)
    return text.lower() == "true"
