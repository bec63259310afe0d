"""A game: superko, undo, either colour's turn."""

import numpy as np
import pytest

import jaxgo
from search import Game, IllegalMove

#: Black takes at E4, White would take back.
KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


def test_a_game_is_played_and_taken_back():
    game = Game(jaxgo.Position.empty(5), komi=0.5)
    for point in (12, 11, 7, 25):
        game.play(point)
    assert game.moves == [(1, 12), (-1, 11), (1, 7), (-1, 25)]
    assert len(game.history) == 4
    before = np.asarray(game.position.to_array())
    game.play(0)
    game.undo()
    np.testing.assert_array_equal(game.position.to_array(), before)
    assert game.to_play == 1
    assert not game.over
    game.play(25)
    assert game.over
    for _ in range(5):
        game.undo()
    assert not np.asarray(game.position.to_array()).any()
    with pytest.raises(ValueError, match="no move to take back"):
        game.undo()


def test_simple_ko_is_illegal_at_once():
    game = Game(jaxgo.Position.from_ascii(KO))
    game.play(6)
    with pytest.raises(IllegalMove, match="the ko forbids it"):
        game.play(5)


def test_positional_superko_after_a_pass():
    """A pass lifts the simple ko, but taking back would repeat the first position."""
    game = Game(jaxgo.Position.from_ascii(KO))
    game.play(6)
    game.play(16)
    assert not game.forbidden().any(), "for Black nothing repeats"
    white = game.turn(-1)
    assert np.flatnonzero(game.forbidden(white)).tolist() == [5]
    with pytest.raises(IllegalMove, match=r"B3 repeats an earlier position \(positional superko\)"):
        game.play(5, -1)
    game.play(15, 1)
    assert not game.forbidden(game.turn(-1)).any(), "with another stone on the board it does not repeat"


def test_either_colour_may_move_twice():
    game = Game(jaxgo.Position.empty(5))
    game.play(0, 1)
    game.play(1, 1)
    game.play(2, -1)
    stones = np.asarray(game.position.to_array())[0].reshape(-1)
    assert list(stones[:3]) == [1, 1, -1]


def test_the_score_counts_komi():
    game = Game(jaxgo.Position.from_ascii("X X . \n X X X \n X X X"), komi=7.5)
    assert game.score() == 9 - 7.5


def test_bad_moves_are_refused():
    game = Game(jaxgo.Position.empty(5))
    game.play(0)
    with pytest.raises(IllegalMove, match="occupied"):
        game.play(0)
    with pytest.raises(IllegalMove, match="between 0 and 25"):
        game.play(26)
    with pytest.raises(ValueError, match="one position, not a batch of 2"):
        Game(jaxgo.Position.empty(5, 2))
