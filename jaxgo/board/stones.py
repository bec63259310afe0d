"""Stones on a board, int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 is the top, and points are y * size + x."""

import collections

import numpy as np


def chains(stones: np.ndarray) -> list[list[int]]:
    """The chains of a board [N, N], each a list of points, the first points first."""
    seen, out = set(), []
    for start in np.flatnonzero(stones).tolist():
        if start not in seen:
            chain = chain_at(stones, start)
            seen |= chain
            out.append(sorted(chain))
    return out


def chain_at(stones: np.ndarray, start: int) -> set[int]:
    """The points of the chain that a stone of a board [N, N] belongs to."""
    size, queue, chain = len(stones), collections.deque([start]), {start}
    while queue:
        for near in neighbours(queue.popleft(), size):
            if near not in chain and stones.flat[near] == stones.flat[start]:
                chain.add(near)
                queue.append(near)
    return chain


def captured_by(stones: np.ndarray, colour: int, point: int) -> set[int]:
    """The points that a legal move takes off a board [N, N]; none for a pass."""
    size = len(stones)
    if point == size * size:
        return set()
    stones = stones.copy()
    stones.flat[point] = colour
    taken: set[int] = set()
    for near in neighbours(point, size):
        if stones.flat[near] == -colour and near not in taken:
            chain = chain_at(stones, near)
            if all(stones.flat[p] for stone in chain for p in neighbours(stone, size)):
                taken |= chain
    return taken


def after_move(stones: np.ndarray, colour: int, point: int) -> np.ndarray:
    """The stones [N, N] after a legal move; a pass changes nothing."""
    after = stones.copy()
    if point < stones.size:
        after.flat[point] = colour
        after.flat[list(captured_by(stones, colour, point))] = 0
    return after


def neighbours(point: int, size: int) -> list[int]:
    """The points beside a point."""
    y, x = divmod(point, size)
    return [v * size + u for v, u in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)) if 0 <= v < size and 0 <= u < size]
