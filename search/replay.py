"""Moves one after the other, as games have them: either colour at any time, on after two passes, and against superko too.

There is one way to play the moves of a game, whoever sends them. What no rules here allow is refused; a position that is repeated
is the caller's to judge (`search.game`), for the game of another program has gone on all the same.
"""

import dataclasses

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
            name, reason = coordinate(part[number][1], position.size), dynamics.FAULTS[faults[number] - 1]
            raise IllegalMove(f"{name} is illegal: {reason}", reason, start + number)
        positions.append(after)
        hashes.append(some_hashes)
        position = some(after, slice(-1, None))
    return together(positions), np.concatenate(hashes)


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


def together(positions: list[Position]) -> Position:
    """One batch of several on the host."""
    return jax.tree.map(lambda *parts: np.concatenate(parts), *positions)
