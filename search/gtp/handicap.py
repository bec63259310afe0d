"""Where handicap stones go."""

import itertools


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
    while len(chosen) < min(stones, most):
        chosen.append(max((p for p in range(size * size) if p not in chosen), key=lambda p: _room(p, chosen, size)))
    return chosen


def _room(point: int, chosen: list[int], size: int) -> tuple[float, int]:
    """How far a point is from the stones and the edges; the nearer to the middle, the better."""
    y, x = divmod(point, size)
    stones = (abs(y - other // size) + abs(x - other % size) for other in chosen)
    edges = (2 * (d + 1) for d in (y, x, size - 1 - y, size - 1 - x))
    return min(itertools.chain(stones, edges)), -abs(2 * y - size + 1) - abs(2 * x - size + 1)
