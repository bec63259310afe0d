"""What lies around points, by number, turned and mirrored; that patterns match is `test_patterns`'s."""

import numpy as np
import pytest

from jaxgo.playing.policies import pattern_table
from tests.referee import Game
from tests.scalar_features import number_of_pattern

TURNS = (lambda a: a, np.flipud, np.fliplr, np.rot90, lambda a: np.rot90(a, 2), lambda a: np.rot90(a, 3), np.transpose)


@pytest.mark.parametrize("turn", TURNS)
def test_what_is_turned_and_mirrored_is_alike(turn):
    """On whole boards: in the corners, at the sides and in the middle."""
    rng, alike = np.random.default_rng(7), pattern_table.alike()
    for _ in range(30):
        stones = rng.choice([-1, 0, 0, 1], (5, 5))
        places = turn(np.arange(25).reshape(5, 5)).ravel()
        game, turned = Game(5, stones.ravel()), Game(5, turn(stones).ravel())
        for there, here in enumerate(places):
            assert alike[number_of_pattern(turned, there)] == alike[number_of_pattern(game, int(here))]


def test_nothing_else_is_alike():
    """Eight cells of four kinds each, by Burnside: 4**8 as they are, 4**4 turned by half, 4**2 by a quarter either way, and 4**5 by
    each of four mirrors; an eighth of the sum."""
    assert len(np.unique(pattern_table.alike())) == (4**8 + 4**4 + 2 * 4**2 + 4 * 4**5) // 8


def test_what_is_alike_matches_alike():
    matches = pattern_table.table()
    assert (matches == matches[pattern_table.alike()]).all() and 0 < matches.mean() < 1
