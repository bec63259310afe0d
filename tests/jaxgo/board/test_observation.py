"""Planes of positions, against the referee's view and pgx's planes."""

import re

import jax
import numpy as np
import pytest

from jaxgo import Position
from jaxgo.board.observation import NUM_PLANES, observation
from jaxgo.board.symmetries import symmetry, transform_moves
from tests.positions import from_games
from tests.referee import Game, parse


@pytest.fixture(scope="module")
def games() -> list[Game]:
    """Positions on 4x4: the empty board, a ko for each colour, after one pass and after two."""
    ko, _ = parse(". X O .\nX O . .\n. . . .\n. . . .", to_play=-1)
    ko.play(0)
    other = Game(4, [-stone for stone in ko.stones], to_play=-ko.to_play, ko=ko.ko)
    passed = ko.copy()
    passed.play(16)
    over = passed.copy()
    over.play(16)
    return [Game(4), ko, other, passed, over]


def expected_planes(game: Game, last_moves: list[int]) -> np.ndarray:
    """bool [P, C], written out point by point."""
    return np.array([
        [
            game.stones[point] == game.to_play, game.stones[point] == -game.to_play, game.to_play == 1, game.ko == point,
            game.passes > 0, game.is_over, *[move == point for move in last_moves],
        ]
        for point in range(game.num_points)
    ])  # fmt: skip


MOVES = [[-1, -1, -1], [0, 2, -1], [0, 2, 5], [16, 0, 2], [16, 16, 0]]


def test_planes(games):
    position = from_games(*games)
    seen = observation(position, MOVES)
    assert seen.shape == (5, 4, 4, NUM_PLANES + 3) and seen.dtype == np.bool_
    expected = np.stack([expected_planes(game, moves) for game, moves in zip(games, MOVES)]).reshape(seen.shape)
    np.testing.assert_array_equal(seen, expected)
    np.testing.assert_array_equal(observation(position), expected[..., :NUM_PLANES])
    np.testing.assert_array_equal(observation(position, np.empty((5, 0), np.int64)), expected[..., :NUM_PLANES])


def test_inside_jit_and_vmap(games):
    position, moves = from_games(*games), np.array(MOVES, np.int32)
    expected = observation(position, moves)
    np.testing.assert_array_equal(jax.jit(observation)(position, moves), expected)
    np.testing.assert_array_equal(jax.vmap(observation)(position, moves), expected)
    np.testing.assert_array_equal(jax.vmap(observation)(position), expected[..., :NUM_PLANES])


def test_planes_turn_with_the_position(games):
    position, moves = from_games(*games), np.array(MOVES, np.int32)
    found = observation(symmetry(position, 5), transform_moves(moves, 4, 5))
    np.testing.assert_array_equal(found, np.rot90(np.flip(observation(position, moves), axis=2), 1, axes=(1, 2)))


@pytest.mark.parametrize(
    ("moves", "error", "message"),
    [
        ([1, 2], ValueError, "last_moves must have shape [2, K], not [2]"),
        ([[1]], ValueError, "last_moves must have shape [2, K], not [1, 1]"),
        ([[1], [17]], ValueError, "last_moves must be between -1 and 16, not 17"),
        ([[1], [-2]], ValueError, "last_moves must be between -1 and 16, not -2"),
        ([[1.0], [2.0]], TypeError, "last_moves must hold integers, not float64"),
    ],
)
def test_bad_input(moves, error, message):
    with pytest.raises(error, match=re.escape(message)):
        observation(Position.empty(4, 2), moves)


def test_what_is_no_position_is_refused():
    with pytest.raises(TypeError, match="position must be a jaxgo.Position, not ndarray"):
        observation(np.zeros((4, 4)))
