"""Points by the names that people and GTP give them: "E5", "pass".

A name is a column's letter, A to Z without I from the left, and a row's number, 1 at the bottom. In arrays row 0 is the top, and
point `p = y * N + x` lies in row y and column x; `N * N` is the pass.

Source: GTP version 2, section 2.11, https://www.lysator.liu.se/~gunnar/gtp/ .
"""

import functools
import re

from jaxgo.base import checks

#: The columns' letters from the left; the first N are those of a board of size N. There is no I, which looks like 1.
COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
PASS = "pass"


def point(name: str, size: int) -> int:
    """The point that a name means on a `size` x `size` board, 0 to N * N, where N * N is the pass.

        >>> point("E5", 9), point("a9", 9), point("pass", 9)
        (40, 0, 81)

    Args:
      name: a letter and a number, or "pass", in capitals or small letters.
      size: N, 2 to 25.

    Raises:
      TypeError: name is no str, or size no integer.
      ValueError: the name is no point of the board.
    """
    size = checks.size(size)
    if not isinstance(name, str):
        raise TypeError(f"name must be a str such as 'E5', not {name!r}")
    if name.lower() == PASS:
        return size * size
    found = re.fullmatch("([A-Za-z])([0-9]{1,2})", name)
    column, row = (COLUMNS.find(found[1].upper()), size - int(found[2])) if found else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        letters = f"A to {COLUMNS[size - 1]}" + (" without I" if size > 8 else "")
        raise ValueError(f'name must be a column, {letters}, and a row, 1 to {size}, such as "A1", or "pass", not {name!r}')
    return row * size + column


def coordinate(point: int, size: int) -> str:
    """The name of a point of a `size` x `size` board, "pass" for N * N; the inverse of `jaxgo.board.coordinates.point`.

        >>> coordinate(40, 9), coordinate(81, 9)
        ('E5', 'pass')

    Args:
      point: 0 to N * N.
      size: N, 2 to 25.

    Raises:
      TypeError: point or size is no integer.
      ValueError: point or size is out of range.
    """
    size = checks.size(size)
    point = checks.integer("point", point, 0, size * size)
    return names(size)[point]


@functools.cache
def names(size: int) -> tuple[str, ...]:
    """The names of all points of a `size` x `size` board in order, the pass the last."""
    return (*(f"{column}{size - row}" for row in range(size) for column in COLUMNS[:size]), PASS)


def star_points(size: int) -> list[tuple[int, int]]:
    """(x, y) of the points that a real board marks."""
    if size < 7:
        return [(size // 2, size // 2)] if size % 2 else []
    edge = 2 if size < 13 else 3
    lines = [edge, size - 1 - edge]
    corners = [(x, y) for x in lines for y in lines]
    if size % 2 == 0:
        return corners
    middle = size // 2
    if size < 19:
        return [*corners, (middle, middle)]
    lines.insert(1, middle)
    return [(x, y) for x in lines for y in lines]
