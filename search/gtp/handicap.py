"""Where handicap stones go."""

import numpy as np


def most_fixed(size: int) -> int:
    """The most stones that custom has places for: 9 on odd boards from 9x9 on, 4 on even ones from 8x8 and on 7x7, else none."""
    if size < 7:
        return 0
    return 9 if size % 2 and size >= 9 else 4


def fixed(size: int, stones: int) -> list[int]:
    """The places of so many fixed handicap stones, in the order in which GTP's specification gives them."""
    near = 2 if size < 13 else 3
    low, far, middle = size - 1 - near, size - 1 - near, size // 2

    def point(column: int, row: int) -> int:
        return row * size + column

    corners = [point(near, low), point(far, near), point(near, near), point(far, low)]
    sides = [point(near, middle), point(far, middle), point(middle, low), point(middle, near)]
    centre = [point(middle, middle)]
    if stones <= 4:
        return corners[:stones]
    return corners + sides[: (stones - 4) // 2 * 2] + centre[: stones % 2]


def free(size: int, stones: int) -> list[int]:
    """Good places for handicap stones, fewer than asked for on a small board: the fixed ones, then the widest gaps."""
    custom = most_fixed(size)
    chosen = fixed(size, min(stones, custom)) if custom else []
    most = max(2, (size * size - 1) // 2)
    y, x = np.divmod(np.arange(size * size), size)
    # How far points are from the stones and the edges; the nearer to the middle, the better.
    room = 2 * np.min([y + 1, x + 1, size - y, size - x], axis=0)
    off = np.abs(2 * y - size + 1) + np.abs(2 * x - size + 1)
    for point in chosen:
        room = np.minimum(room, _distance(y, x, point, size))
    while len(chosen) < min(stones, most):
        point = int(np.lexsort((off, -room))[0])
        chosen.append(point)
        room = np.minimum(room, _distance(y, x, point, size))
    return chosen


def _distance(y: np.ndarray, x: np.ndarray, point: int, size: int) -> np.ndarray:
    return np.abs(y - point // size) + np.abs(x - point % size)
