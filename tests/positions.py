"""Positions that several test modules start from, and the referee's view of recorded playouts."""

import dataclasses

import numpy as np
import pytest

import jaxgo
from tests import referee
from tests.referee import Game
from tests.wide import mostly_wide

SIZES = {5: 600, 9: 200, 13: 60, 19: 20}
"""Board sizes of the tests of exactness, and how many playouts per position they play: the larger, the slower to check."""
OTHER_SIZES = (2, 3, 4, 6, 7, 8, 10, 15, 16, 25)
"""More sizes, at which rows lie differently in the words of a bitboard."""
FEW = 20
"""How many playouts per position those get."""
USUAL_SIZES = (2, 3, 5, 7, 9, 13, 16, 19, 25)
"""Sizes that stand for all: one word and many, words that are full and such that have room, 32 bits and 64."""


def every_size() -> list:
    """All sizes, as parameters of a test; slow are those that are not usual, and wide those of which others are like them."""
    usual = mostly_wide(USUAL_SIZES, {2, 5, 9, 19})
    return [*usual, *(pytest.param(size, marks=pytest.mark.slow) for size in range(2, 26) if size not in USUAL_SIZES)]


def from_games(*games: Game) -> jaxgo.Position:
    """The referee's positions as a batch."""
    size = games[0].size
    return jaxgo.Position.from_array(
        np.array([game.stones for game in games], dtype=np.int8).reshape(-1, size, size),
        to_play=np.array([game.to_play for game in games], dtype=np.int8),
        ko=np.array([game.ko for game in games], dtype=np.int16),
        passes=np.array([game.passes for game in games], dtype=np.int8),
    )


def middle_game(size: int, plies: int, seed: int) -> Game:
    """The position after so many plies of a random playout of the referee, or before the first pass."""
    rng, game = np.random.default_rng(seed), Game(size)
    for _ in range(plies):
        if not game.candidates():
            break
        game.play(int(rng.choice(game.candidates())))
    return game


def three_positions(size: int) -> jaxgo.Position:
    """The empty board, a middle game, and the same with the other side to move after a pass."""
    middle = middle_game(size, size * size // 2, seed=1)
    other = Game(size, middle.stones, to_play=-middle.to_play, passes=1)
    return from_games(Game(size), middle, other)


def validate(start: Game, played: jaxgo.Playouts, index: int, count: int, **options) -> list[list[referee.Choice]]:
    """Has the referee replay the first playouts of a position of a result; returns the choices of each."""
    boards = played.board[index, :count].reshape(count, -1)
    return [
        referee.validate_playout(
            start,
            played.moves[index, playout].tolist(),
            length=int(played.length[index, playout]),
            truncated=bool(played.truncated[index, playout]),
            margin=int(played.margin[index, playout]),
            board=boards[playout].tolist(),
            captured=played.captured[index, playout].tolist(),
            **options,
        )
        for playout in range(count)
    ]


def fields(played: jaxgo.Playouts) -> dict[str, np.ndarray]:
    """All arrays of a result; those that were not asked for are left out."""
    names = ("margin", "length", "truncated", "board", "moves", "captured")
    return {name: getattr(played, name) for name in names if getattr(played, name) is not None}


def assert_same(actual: jaxgo.Playouts, expected: jaxgo.Playouts, select=lambda array: array) -> None:
    """Asserts that two results are bit-identical; `select` picks the part of the expected arrays that is meant."""
    assert fields(actual).keys() == fields(expected).keys()
    for name, array in fields(actual).items():
        np.testing.assert_array_equal(array, select(fields(expected)[name]), err_msg=name, strict=True)


def without_moves(played: jaxgo.Playouts) -> jaxgo.Playouts:
    """The result as it would be had the moves not been asked for."""
    return dataclasses.replace(played, events=None)
