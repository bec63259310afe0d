"""The referee that judges the engine is judged: by Tromp's counts, published sequence counts, and a second way of doing it."""

import itertools
import random

import pytest

from tests import referee
from tests.referee import Game


@pytest.mark.parametrize("size, legal_boards", [(1, 1), (2, 57), (3, 12675)])
def test_legal_boards_are_tromps_numbers(size, legal_boards):
    boards = itertools.product((0, 1, -1), repeat=size * size)
    assert sum(Game(size, stones).every_stone_has_liberties() for stones in boards) == legal_boards


@pytest.mark.parametrize(
    "size, passes, superko, counts",
    [
        (2, False, False, [4, 12, 24, 16, 32, 32, 32]),
        (2, False, True, [4, 12, 24, 16, 32, 32, 16]),
        (2, True, False, [5, 21, 68, 156, 316, 604]),
        (3, False, False, [9, 72, 504, 2976]),
        (9, False, False, [81, 6480]),
        (9, True, False, [82, 6643]),
    ],
)
def test_sequences_of_plies(size, passes, superko, counts):
    found = [referee.count_sequences(Game(size), depth + 1, passes=passes, superko=superko) for depth in range(len(counts))]
    assert found == counts


def test_legality_by_liberties_equals_legality_by_trying():
    rng = random.Random(0)
    for size in (2, 3, 5, 9):
        for _ in range(20):
            game = Game(size)
            for _ in range(3 * size * size):
                legal = game.legal_points()
                assert legal == [point for point in range(size * size) if game.why_illegal(point) is None]
                game.play(rng.choice(legal or [game.pass_move]))
                assert game.every_stone_has_liberties()
                if game.is_over:
                    break


def test_eyes():
    game, named = referee.parse(
        """
        a X . X b
        X X . X O
        . . X . .
        . X c X .
        . O X X .
        """
    )
    assert game.is_eye(named["a"], 1)
    assert not game.is_eye(named["a"], -1)
    assert not game.is_eye(named["b"], 1)  # one neighbour is White's
    assert game.is_eye(named["c"], 1)  # one enemy stone on a diagonal does no harm inside the board
    game.stones[2 * 5 + 3] = -1
    assert not game.is_eye(named["c"], 1)  # two do
    game.stones[1 * 5 + 1] = -1
    assert not game.is_eye(named["a"], 1)  # one does in the corner


def test_validate_playout_finds_faults():
    # On 2x2, a a real playout by hand: Black a, White c (the diagonal), Black b captures nothing, and so on.
    start = Game(2)
    rng = random.Random(1)
    game, moves = start.copy(), []
    while not game.is_over and len(moves) < 12:
        move = rng.choice(game.candidates() or [game.pass_move])
        game.play(move)
        moves.append(move)
    good = dict(length=len(moves), truncated=not game.is_over, margin=game.margin(), board=game.stones)
    referee.validate_playout(start, moves + [-1], **good)
    for wrong in (
        dict(length=len(moves) + 1),
        dict(truncated=game.is_over),
        dict(margin=game.margin() + 1),
        dict(board=[-stone for stone in game.stones]),
        dict(captured=[True] * (len(moves) + 1)),
    ):
        with pytest.raises(AssertionError):
            referee.validate_playout(start, moves + [-1], **{**good, **wrong})
    for wrong_moves in (moves[:-1], [start.pass_move, *moves], [moves[0], moves[0], *moves[1:]], moves + [0]):
        with pytest.raises(AssertionError):
            referee.validate_playout(start, wrong_moves)
