"""What lies around all points of positions, as the compiled loops say it and as the referee sees it."""

import numpy as np
import pytest

import jaxgo
from search import surroundings
from tests.referee import Game
from tests.scalar_features import number_of_shape, number_of_sides


@pytest.mark.parametrize("size", [2, 3, 5, 9, 19, 25])
def test_numbers_are_the_referees(size):
    """Of games of random moves, at several stages."""
    rng, games = np.random.default_rng(size), []
    for stage in (0.2, 0.5, 0.8):
        game = Game(size)
        while sum(stone != 0 for stone in game.stones) < stage * size**2 and game.candidates():
            game.play(int(rng.choice(game.candidates())))
        games.append(game)
    boards = np.array([np.array(game.stones).reshape(size, size) for game in games], np.int8)
    to_play = np.array([game.to_play for game in games])
    words, *_ = jaxgo.Leaves.arguments_of(jaxgo.Position.from_array(boards, to_play=to_play))
    shapes, sides, _ = surroundings.numbers(size, words)
    assert shapes.tolist() == [[number_of_shape(game, point) for point in range(size**2)] for game in games]
    assert sides.tolist() == [[number_of_sides(game, point) for point in range(size**2)] for game in games]
