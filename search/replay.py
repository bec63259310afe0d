"""Moves one after the other, as games have them: either colour at any time, on after two passes, and against superko too.

There is one way to play the moves of a game, whoever sends them. What no rules here allow is refused; a position that is repeated
is the caller's to judge (`search.game`), for the game of another program has gone on all the same.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxgo import NO_KO, Position
from jaxgo.board import dynamics, host_moves
from jaxgo.board.coordinates import coordinate

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
    size, place, places = position.size, host_moves.place_of(position), []
    for number, (colour, point) in enumerate(moves):
        place, fault = host_moves.play(size, place, colour, point)
        if fault:
            raise illegal(point, size, fault, number)
        places.append(place)
    return host_moves.positions_of(size, places), host_moves.hashes_of(places)


def illegal(point: int, size: int, fault: int, number: int = 0) -> IllegalMove:
    """The error for a move at a point with a fault, as `jaxgo.board.dynamics.tried` counts them."""
    name, reason = coordinate(point, size), dynamics.FAULTS[fault - 1]
    return IllegalMove(f"{name} is illegal: {reason}", reason, number)


def turned(positions: Position, colours) -> Position:
    """The positions with these colours to move, int8 [B], which go on after two passes; on the host.

    A ko binds only the player it was set against, and a pass is answered only by the other player's.
    """
    other, over = positions.to_play != colours, positions.passes >= np.int8(2)
    ko: Any = np.where(other | over, np.int16(NO_KO), positions.ko)
    passes: Any = np.where(other & ~over, np.int8(0), np.minimum(positions.passes, np.int8(1)))
    return dataclasses.replace(positions, to_play=colours, ko=ko, passes=passes)


def some(arrays, rows: slice):
    """Some rows of arrays on the host, copied, so that not more is kept than these."""
    return jax.tree.map(lambda x: x[rows].copy(), arrays)


def together(positions: Sequence[Position]) -> Position:
    """One batch of several on the host."""
    columns = zip(*(_columns(position) for position in positions))
    return _of_columns([np.concatenate(column) for column in columns], positions[0].size)


# By hand, as to flatten pytrees takes some ten times as long, which adds up over the moves of many games.


def _columns(position: Position) -> tuple[Any, ...]:
    return (*position.black, *position.white, position.to_play, position.ko, position.passes)


def _of_columns(columns: Sequence[Any], size: int) -> Position:
    words = (len(columns) - 3) // 2
    to_play, ko, passes = columns[-3:]
    return Position(tuple(columns[:words]), tuple(columns[words:-3]), to_play, ko, passes, size)
