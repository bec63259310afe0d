"""A game: superko, undo, either colour's turn."""

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.records.sgf import read_game
from search import Game, IllegalMove, Limits, Search, make_player
from search.game import hash_numbers, legal_moves, repeating, turn

#: Black takes at E4, White would take back.
KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


def forbidden(game: Game, colour: int) -> list[int]:
    """Legal points that positional superko forbids to a colour."""
    found = []
    for point in np.flatnonzero(np.asarray(game.turn(colour).legal())[0]).tolist():
        try:
            game.play(point, colour)
            game.undo()
        except IllegalMove:
            found.append(point)
    return found


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


def test_a_game_goes_on_after_two_passes_for_a_colour_that_is_named():
    game = Game(jaxgo.Position.empty(5))
    game.play(25)
    game.play(25)
    with pytest.raises(IllegalMove, match="the game is over"):
        game.play(12)
    for point, colour, over in ((25, 1, True), (25, 1, True), (12, 1, False), (25, -1, False), (25, -1, False), (25, 1, True), (13, -1, False)):
        game.play(point, colour)
        assert game.over == over
    assert game.moves[2:] == [(1, 25), (1, 25), (1, 12), (-1, 25), (-1, 25), (1, 25), (-1, 13)]
    for _ in range(7):
        game.undo()
    assert game.over


def test_who_has_passed_and_moves_again_has_not_been_passed_to():
    """A game ends when both players pass, and only to the other's pass is a pass an answer."""
    game = Game(jaxgo.Position.empty(5), 3.5)
    game.play(25, -1)
    assert np.asarray(game.turn(1).passes) == [1] and np.asarray(game.turn(-1).passes) == [0]
    choice = make_player("rave", komi=3.5, seed=1).genmove(game.turn(-1), game.history, Limits(visits=1000))
    assert choice.move < 25
    game.play(25, 1)
    assert game.over


def test_the_game_of_a_record_can_be_taken_back():
    record = read_game("(;SZ[4]AB[bb]AW[cb]PL[W];W[cc];B[bc];W[])")
    game = Game.of_record(record, 3, 0.5)
    assert game.moves == [(-1, 10), (1, 9), (-1, 16)]
    assert game.komi == 0.5
    np.testing.assert_array_equal(game.history, np.asarray(record.positions().hash())[:-1])
    for _ in range(3):
        game.undo()
    np.testing.assert_array_equal(game.position.to_array(), record.position(0).to_array())
    assert game.to_play == -1
    assert len(Game.of_record(record, 0, 0.5).positions) == 1
    with pytest.raises(ValueError, match="moves must be between 0 and 3, not 4"):
        Game.of_record(record, 4, 0.5)


def test_a_record_may_go_on_illegally_after_the_moves_that_are_asked_for():
    record = read_game("(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb]PL[B];B[cb];W[bb])")
    assert Game.of_record(record, 1, 7.5).position.ko[0] == 6
    with pytest.raises(ValueError, match="move 2, White B4, is illegal: it retakes the ko at once"):
        Game.of_record(record, 2, 7.5)


def test_positions_before_the_game_count_for_superko():
    first = jaxgo.Position.from_ascii(KO)
    taken = first.play(6)
    for earlier, repeats in ((None, False), (first.hash(), True)):
        game = Game(taken, earlier=earlier)
        game.play(16)
        game.play(16)
        assert (5 in forbidden(game, -1)) == repeats
        assert len(game.history) == 2 + repeats
        with Search(game.turn(-1), history=game.history) as search:
            search.run(visits=200)
            assert search.statistics().playable[5] == (not repeats), "as the game forbids it"


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
    assert not forbidden(game, 1), "for Black nothing repeats"
    assert forbidden(game, -1) == [5]
    with pytest.raises(IllegalMove, match=r"B3 repeats an earlier position \(positional superko\)"):
        game.play(5, -1)
    game.play(15, 1)
    assert not forbidden(game, -1), "with another stone on the board it does not repeat"


@pytest.mark.parametrize("size", [2, 3, 4, 9])
def test_legal_moves_are_the_devices_without_those_that_repeat(size):
    """Of positions of random games, which on 2x2 repeat a lot."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), 3, seed=size, moves=True, policy=None)
    repeats = 0
    for moves in np.asarray(played.moves).reshape(3, -1):
        game = Game(jaxgo.Position.empty(size))
        for point in moves[:60][moves[:60] >= 0]:
            legal = np.array(game.position.legal())[0]
            again = repeating(game.position, legal[None, :-1], [hash_numbers(np.concatenate([game.history, game.position.hash()]))])[0]
            repeats += again.sum()
            legal[:-1] &= ~again
            np.testing.assert_array_equal(legal_moves(game.position, game.history), legal)
            game.play(int(point), game.to_play, tolerant=True)
    assert repeats or size > 2


def test_no_move_is_legal_when_the_game_is_over():
    over = jaxgo.Position.empty(3).play(9).play(9)
    assert not legal_moves(over, None).any() and not np.asarray(over.legal()).any()


def test_a_move_against_superko_is_taken_where_it_is_tolerated_and_binds_what_follows():
    """White takes back after a pass each; Black's retaking would repeat the board once more, and stays forbidden."""
    game = Game(jaxgo.Position.from_ascii(KO))
    assert not game.play(6, tolerant=True)
    with pytest.raises(IllegalMove, match="the ko forbids it"):
        game.play(5, tolerant=True)
    for _ in range(2):
        assert not game.play(16, tolerant=True), "passes repeat nothing"
    with pytest.raises(IllegalMove, match="positional superko"):
        game.play(5, -1)
    assert game.play(5, -1, tolerant=True)
    np.testing.assert_array_equal(np.asarray(game.position.to_array()), game.positions[0].to_array())
    assert len(game.history) == 4
    assert game.position.ko[0] == 6, "at once by simple ko"
    game.play(16)
    game.play(16)
    assert forbidden(game, 1) == [6], "later by superko"
    for point, reason in ((5, "occupied"), (4, "occupied")):
        with pytest.raises(IllegalMove, match=reason):
            game.play(point, 1, tolerant=True)
    for _ in range(3):
        game.undo()
    assert forbidden(game, -1) == [5], "the repeated position counts once again"


def test_suicide_is_refused_however_tolerant():
    game = Game(jaxgo.Position.from_ascii(". X . \n X X . \n . . ."))
    with pytest.raises(IllegalMove, match="suicide"):
        game.play(0, -1, tolerant=True)


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


@pytest.mark.parametrize("none", [None, [], (), np.array([]), np.empty((0, 2), np.uint32), np.empty(0, np.uint64)])
def test_there_may_be_no_earlier_positions(none):
    assert hash_numbers(none).dtype == np.uint64 and hash_numbers(none).shape == (0,)


def test_bad_moves_are_refused():
    game = Game(jaxgo.Position.empty(5))
    game.play(0)
    with pytest.raises(IllegalMove, match="occupied"):
        game.play(0)
    for point in (-1, 26):
        with pytest.raises(IllegalMove, match=f"point must be between 0 and 25, not {point}"):
            game.play(point)
    for point in (3.0, True, None, "D4"):
        with pytest.raises(TypeError, match="point must be an integer, not"):
            game.play(point)
    for colour in (True, 0, 2):
        with pytest.raises(ValueError, match=f"colour must be one of 1, -1, not {colour}"):
            game.play(3, colour)
    with pytest.raises(TypeError, match="position must have values: it cannot be searched inside jit"):
        jax.jit(lambda position: Game(position).komi)(jaxgo.Position.empty(5))
    game.play(np.int8(7))
    assert [(type(point), point) for _, point in game.moves] == [(int, 0), (int, 7)]
    with pytest.raises(ValueError, match="one position, not a batch of 2"):
        Game(jaxgo.Position.empty(5, 2))


def test_a_history_that_was_told_stays_as_it_was():
    """Also where moves are taken back and others played; who has it cannot change it."""
    game = Game(jaxgo.Position.empty(5))
    for point in range(4):
        game.play(point)
    told, before = game.history, game.history.copy()
    for _ in range(2):
        game.undo()
    for point in (7, 8, 9):
        game.play(point)
    np.testing.assert_array_equal(told, before)
    with pytest.raises(ValueError, match="read-only"):
        told[0] = 0


def test_what_another_game_has_seen_forbids_nothing():
    first = jaxgo.Position.from_ascii(KO)
    after = turn(first.play(6).play(16).play(16), -1)
    both = jaxgo.Position.concatenate([after, after])
    among, own = np.asarray(both.legal())[:, :-1], hash_numbers(after.hash())
    found = repeating(both, among, [np.append(own, hash_numbers(first.hash())), own])
    assert [np.flatnonzero(row).tolist() for row in found] == [[5], []]


def test_a_turn_after_two_passes_goes_on():
    over = jaxgo.Position.empty(3).play(9).play(9)
    for colour in (1, -1):
        there = turn(over, colour)
        assert not there.is_over()[0] and there.to_play[0] == colour
    position = jaxgo.Position.empty(3)
    assert turn(position, 1) is position
