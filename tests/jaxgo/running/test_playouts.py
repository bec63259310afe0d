"""`jaxgo.playouts`: recorded playouts keep the rules; occupied, capped and ended positions."""

import numpy as np
import pytest

import jaxgo
from tests import referee
from tests.positions import FEW, SIZES, assert_same, every_size, fields, from_games, middle_game, validate, without_moves
from tests.referee import Game
from tests.wide import wide

# What comes back.


def test_shapes_and_types():
    played = jaxgo.playouts(jaxgo.Position.empty(5, 3), 10, moves=True)
    expected = {
        "margin": ((3, 10), np.int16),
        "length": ((3, 10), np.int16),
        "truncated": ((3, 10), np.bool_),
        "board": ((3, 10, 5, 5), np.int8),
        "moves": ((3, 10, 75), np.int16),
        "captured": ((3, 10, 75), np.bool_),
    }
    assert {name: (array.shape, array.dtype) for name, array in fields(played).items()} == expected
    without = jaxgo.playouts(jaxgo.Position.empty(5, 3), 10)
    assert without.moves is None and without.captured is None
    assert_same(without, without_moves(played))


# Every recorded playout keeps the rules.

# For each size, how many playouts are replayed from the empty board, and from each of two middle games.
REPLAYED = {size: (8, 4) for size in range(2, 26)} | {5: (200, 50), 9: (100, 30), 13: (20, 8), 19: (6, 3), 25: (2, 1)}


@pytest.mark.parametrize("size", every_size())
def test_recorded_playouts_keep_the_rules(size):
    """Replayed by the referee: each ply legal, no own eye, passes only for want of moves, the right end, margin and board."""
    starts = [Game(size), middle_game(size, size * size // 2, seed=size), middle_game(size, 2 * size * size // 3 + 1, seed=size)]
    num_empty, num_middle = REPLAYED[size]
    played = jaxgo.playouts(from_games(*starts), SIZES.get(size, FEW), seed=size, moves=True)
    for index, (start, count) in enumerate(zip(starts, (num_empty, num_middle, num_middle))):
        validate(start, played, index, count)


def test_the_last_eye_can_be_taken_after_the_other_was_filled():
    """Black lives by the points a and b, so both are suicide for White; but a is no eye by the playouts' rule.

    Once Black has filled it, White takes everything with b. An engine that remembers what was suicide has to forget it then.
    White owns the rest of a large board, where the engine looks further at once. The board is turned around, too.
    """
    corner, named = referee.parse(
        """
        a X X X X b X
        X O O O X X X
        X O . O X O O
        X O O O X O O
        X X X X X O O
        O O O O O O O
        . O O O O O .
        """
    )
    stones = np.full((16, 16), -1, dtype=np.int8)
    stones[:7, :7] = np.reshape(corner.stones, (7, 7))
    a, b = (np.zeros((16, 16), bool) for _ in "ab")
    a[divmod(named["a"], 7)] = b[divmod(named["b"], 7)] = True
    turns = (lambda board: board, np.transpose, lambda board: board[::-1, ::-1])
    starts = [Game(16, turn(stones).reshape(-1), to_play=-1) for turn in turns]
    assert not any(start.candidates() for start in starts)
    played = jaxgo.playouts(from_games(*starts), FEW, seed=1, moves=True)
    for index, (start, turn) in enumerate(zip(starts, turns)):
        validate(start, played, index, FEW)
        filled = played.moves[index, :, 1] == turn(a).argmax()
        assert 2 < filled.sum() < FEW - 2, "Black's other move takes the White stones inside; standard error 2.2"
        assert (played.moves[index, filled, 2] == turn(b).argmax()).all()


# Occupied, capped and ended positions.


def test_an_ended_position_is_scored_at_once():
    middle = middle_game(9, 60, seed=3)
    ended = Game(9, middle.stones, to_play=1, passes=2)
    ongoing = Game(9, middle.stones, to_play=1)
    played = jaxgo.playouts(from_games(ended, ongoing), 50, moves=True)
    assert not played.length[0].any() and not played.truncated[0].any()
    assert (played.moves[0] == -1).all() and not played.captured[0].any()
    assert (played.margin[0] == middle.margin()).all()
    assert (played.board[0] == np.array(middle.stones).reshape(9, 9)).all()
    assert (played.length[1] > 0).all()


@pytest.mark.parametrize("size", [5, 9])
def test_finished_boards_are_full_and_their_margins_odd(size):
    """At the end of a playout that was not cut short every empty point is somebody's: no point is left for neither."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), 1000, seed=4, moves=True)
    finished = ~played.truncated
    assert finished.mean() > 0.9
    assert (played.margin[finished] % 2 == 1).all()


def test_after_one_pass_a_pass_ends_the_playout():
    """Black has only eyes left: after White's pass he passes too, and otherwise White, who has no move either, ends it."""
    text = "X X .\nX X X\n. X X"
    for passes in (0, 1):
        game = referee.parse(text, to_play=1, passes=passes)[0]
        assert not game.candidates()
        played = jaxgo.playouts(from_games(game), 20, moves=True)
        assert (played.length == 2 - passes).all() and not played.truncated.any()
        assert (played.moves[0, :, : 2 - passes] == 9).all() and (played.margin == 9).all()


@pytest.mark.parametrize("max_plies", [2, 17, *wide(1, 50)])
def test_capped_playouts_are_flagged_and_scored_as_they_stand(max_plies):
    start = Game(5)
    played = jaxgo.playouts(from_games(start), 300, seed=2, max_plies=max_plies, moves=True)
    assert played.moves.shape[-1] == max_plies
    validate(start, played, 0, 300, max_plies=max_plies)
    assert played.truncated.any()
    if max_plies < 10:
        assert played.truncated.all() and (played.length == max_plies).all()


def test_the_default_cap_is_three_times_the_points():
    """On 2x2 nearly half of the playouts go on for ever."""
    played = jaxgo.playouts(jaxgo.Position.empty(2), 1000)
    assert (played.length[played.truncated] == 12).all() and 0.3 < played.truncated.mean() < 0.6
    assert (played.length[~played.truncated] <= 12).all()


def test_a_shorter_cap_cuts_the_same_playouts():
    """The cap does not change what is drawn before it."""
    full = jaxgo.playouts(jaxgo.Position.empty(9), 200, seed=8, moves=True)
    cut = jaxgo.playouts(jaxgo.Position.empty(9), 200, seed=8, max_plies=60, moves=True)
    np.testing.assert_array_equal(cut.moves, full.moves[:, :, :60])
    np.testing.assert_array_equal(cut.captured, full.captured[:, :, :60])
    np.testing.assert_array_equal(cut.truncated, (full.length > 60))


def test_two_passes_at_the_cap_are_an_end():
    game = referee.parse("X X .\nX X X\n. X X", to_play=1)[0]
    played = jaxgo.playouts(from_games(game), 5, max_plies=2)
    assert not played.truncated.any() and (played.length == 2).all()
    cut = jaxgo.playouts(from_games(game), 5, max_plies=1)
    assert cut.truncated.all() and (cut.length == 1).all()


@pytest.mark.parametrize("size", [2, 3, 8, 16])
def test_crowded_boards(size):
    """A board full of one colour but for a point, for either side to move, and a board with one stone."""
    full = Game(size, [1] * (size * size - 1) + [0], to_play=-1)
    lone = Game(size, [0] * (size * size - 1) + [-1], to_play=1)
    starts = [full, Game(size, full.stones, to_play=1), lone]
    played = jaxgo.playouts(from_games(*starts), FEW, moves=True)
    for index, start in enumerate(starts):
        validate(start, played, index, 5)
    assert (played.moves[0, :, 0] == size * size - 1).all(), "White captures everything"
    assert played.captured[0, :, 0].all()
