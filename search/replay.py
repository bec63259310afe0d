"""Moves one after the other, as games have them: either colour at any time, on after two passes, and against superko too.

There is one way to play the moves of a game, whoever sends them. What no rules here allow is refused; a position that is repeated
is the caller's to judge (`search.game`), for the game of another program has gone on all the same.
"""

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo import BLACK, NO_KO, Position
from jaxgo.board import dynamics
from jaxgo.board.coordinates import coordinate

#: Moves that one call of the device plays at most.
BLOCK = 32

Moves = tuple[tuple[int, int], ...]
"""(colour, point) of each move, P for a pass."""


class IllegalMove(ValueError):
    """A move that the rules forbid; the text says which and why.

    Args:
      text: that.
      reason: why alone.
      number: which of several moves it is, from 0 on.
    """

    def __init__(self, text: str, reason: str = "", number: int = 0):
        super().__init__(text)
        self.reason, self.number = reason, number


def replay(position: Position, moves: Moves) -> tuple[Position, np.ndarray]:
    """(positions [n], hashes uint32 [n, 2]) after each of n moves, at least one; on the host.

    Args:
      position: one position.
      moves: what is played from it.

    Raises:
      IllegalMove: a point is taken, a move is suicide, or it retakes a simple ko at once.
    """
    positions, hashes = [], []
    for start in range(0, len(moves), BLOCK):
        part = moves[start : start + BLOCK]
        colours, points, rows = np.full(BLOCK, BLACK, np.int8), np.zeros(BLOCK, np.int32), slice(len(part))
        colours[rows], points[rows] = zip(*part)
        found = jax.device_get(dynamics.run(_played, position, colours, points, np.int32(len(part))))
        after, some_hashes, faults = some(found, rows)
        if faults.any():
            number = int((faults != 0).argmax())
            raise illegal(part[number][1], position.size, faults[number], start + number)
        positions.append(after)
        hashes.append(some_hashes)
        position = some(after, slice(-1, None))
    return together(positions), np.concatenate(hashes)


def illegal(point: int, size: int, fault: int, number: int = 0) -> IllegalMove:
    """The error for a move at a point with a fault, as `jaxgo.board.dynamics.tried` counts them."""
    name, reason = coordinate(point, size), dynamics.FAULTS[fault - 1]
    return IllegalMove(f"{name} is illegal: {reason}", reason, number)


@dataclasses.dataclass(frozen=True)
class OneMove:
    """The kind of questions what comes of a move: (position, colour, point), as in `replay`.

    The answers are (the position after it on the host, its hash uint32 [2], what is wrong with the move, 0 for nothing, as
    `jaxgo.board.dynamics.tried` counts it).
    """

    size: int
    long = False

    def answers(self, questions: Sequence[tuple[Position, int, int]], stop=None) -> list[tuple[Position, np.ndarray, int]]:
        positions, colours, points = zip(*questions)
        moves = np.array(colours, np.int8), np.array(points, np.int32)
        after, hashes, faults = jax.device_get(dynamics.run(_moved, together(positions), *moves))
        return list(zip(each(after), hashes, faults.tolist()))


def _moved(position: Position, colours: jax.Array, points: jax.Array) -> tuple[Position, jax.Array, jax.Array]:
    """The positions after one move in each, their hashes, and faults."""
    after, faults = dynamics.tried(turned(jnp, position, colours), points, jnp.ones_like(points, jnp.bool_))
    return after, dynamics.stones_hash(after), faults


def _played(position: Position, colours: jax.Array, points: jax.Array, count: jax.Array):
    """The positions, their hashes and faults after each of so many moves; the rows beyond are not specified."""

    def play(number: jax.Array, state):
        position, found = state
        position = turned(jnp, position, colours[number][None])
        after, fault = dynamics.tried(position, points[number][None], jnp.ones(1, jnp.bool_))
        now = (after, dynamics.stones_hash(after), fault)
        return after, jax.tree.map(lambda rows, row: rows.at[number].set(row[0]), found, now)

    shapes = jax.eval_shape(lambda: (position, dynamics.stones_hash(position), points[:1]))
    nothing = jax.tree.map(lambda x: jnp.zeros((BLOCK, *x.shape[1:]), x.dtype), shapes)
    return jax.lax.fori_loop(0, count, play, (position, nothing))[1]


def turned(xp, positions: Position, colours) -> Position:
    """The positions with these colours to move, int8 [B], which go on after two passes; `xp` is numpy or jax.numpy.

    A ko binds only the player it was set against.
    """
    other = (positions.to_play != colours) | (positions.passes >= xp.int8(2))
    ko, passes = xp.where(other, xp.int16(NO_KO), positions.ko), xp.minimum(positions.passes, xp.int8(1))
    return dataclasses.replace(positions, to_play=colours, ko=ko, passes=passes)


def some(arrays, rows: slice):
    """Some rows of arrays on the host, copied, so that not more is kept than these."""
    return jax.tree.map(lambda x: x[rows].copy(), arrays)


def together(positions: Sequence[Position]) -> Position:
    """One batch of several on the host."""
    columns = zip(*(_columns(position) for position in positions))
    return _of_columns([np.concatenate(column) for column in columns], positions[0].size)


def each(positions: Position) -> list[Position]:
    """The positions of a batch on the host, one by one."""
    return [_of_columns(row, positions.size) for row in zip(*(column[:, None] for column in _columns(positions)))]


# By hand, as to flatten pytrees takes some ten times as long, which adds up over the moves of many games.


def _columns(position: Position) -> tuple[np.ndarray, ...]:
    return (*position.black, *position.white, position.to_play, position.ko, position.passes)


def _of_columns(columns: Sequence[np.ndarray], size: int) -> Position:
    words = (len(columns) - 3) // 2
    return Position(tuple(columns[:words]), tuple(columns[words:-3]), *columns[-3:], size)
