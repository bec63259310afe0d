"""Openings of pairs of games."""

import numpy as np
import pytest

from bench.matches.openings import opening_in_steps
from jaxgo import Position
from search import Game
from search.in_steps import alone


def opening(size: int, moves: int, seed: int, pair: int) -> list[int]:
    """The points of an opening."""
    game = Game(Position.empty(size))
    alone(opening_in_steps(game, moves, seed, pair))
    return [point for _, point in game.moves]


def test_a_pair_has_the_same_opening_and_others_have_others():
    assert opening(9, 4, 7, 3) == opening(9, 4, 7, 3)
    assert len({tuple(opening(9, 4, 7, pair)) for pair in range(20)}) == 20
    assert opening(9, 4, 7, 3) != opening(9, 4, 8, 3)
    assert opening(9, 0, 7, 3) == []


@pytest.mark.parametrize(("size", "line"), [(9, 2), (5, 1), (2, 0)])
def test_stones_are_not_near_the_edge(size, line):
    for pair in range(10):
        y, x = np.divmod(opening(size, 2, 1, pair), size)
        assert len(y) == 2
        assert (np.minimum(np.minimum(y, size - 1 - y), np.minimum(x, size - 1 - x)) >= line).all()


def test_openings_end_where_there_is_no_point_left():
    assert 0 < len(opening(2, 100, 0, 0)) < 100
