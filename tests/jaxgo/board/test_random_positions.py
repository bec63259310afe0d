"""10^5 random positions of all sizes, two thirds of them of the usual ones, against the scalar referee and sgfmill's board."""

import random

import jax
import numpy as np
import pytest
from sgfmill import boards

import jaxgo
from tests.positions import every_size, from_games
from tests.referee import NO_KO, Game

PASSES = 0.02
"""How often a random player passes although he could move."""


def plan(size: int) -> tuple[int, int]:
    """(games side by side, stops in each) for a size; most positions are on small boards. A stop looks at two positions."""
    return (250, 25) if size <= 9 else (2, 12)


def test_random_positions_are_a_hundred_thousand():
    assert sum(2 * games * stops for games, stops in map(plan, range(2, 26))) >= 10**5


@pytest.mark.parametrize("size", every_size())
def test_random_positions_equal_the_referees(size):
    """Random games of the referee, passes and filled eyes included; now and then `Position` takes over for a move.

    Before and after that move it must agree on everything: stones, ko, side to move, legality of each point, and score.
    """
    num_games, num_stops = plan(size)
    rng = random.Random(size)
    games = [Game(size) for _ in range(num_games)]
    # Long enough to fill the board and to capture; on the smallest boards longer, so that the stops see different positions.
    num_plies = max(2 * size * size, 3 * num_stops)
    for num_more in np.diff(np.linspace(0, num_plies, num_stops + 1).astype(int)):
        for _ in range(num_more - 1):
            for index, game in enumerate(games):
                if game.is_over:
                    games[index] = Game(size)
                else:
                    game.play(random_move(rng, game))
        games = [Game(size) if game.is_over else game for game in games]
        position = from_games(*games)
        check_against_referee(position, games)
        moves = [random_move(rng, game) for game in games]
        for game, move in zip(games, moves):
            game.play(move)
        before, position = position, play(position, np.array(moves, np.int32))
        check_against_referee(position, games)
        stones, margins, *_ = map(np.asarray, everything(before))
        stones_after, ko_after = np.asarray(everything(position)[0]), np.asarray(position.ko)
        for i in rng.sample(range(num_games), 2):
            ko = check_against_sgfmill(stones[i], int(margins[i]), int(before.to_play[i]), moves[i], stones_after[i])
            assert ko_after[i] == ko


def random_move(rng: random.Random, game: Game) -> int:
    """A random legal point; a pass where there is none, and now and then where there is."""
    if rng.random() >= PASSES:
        empty = [point for point, stone in enumerate(game.stones) if stone == 0]
        while empty:
            point = empty.pop(rng.randrange(len(empty)))
            if game.why_illegal(point) is None:
                return point
    return game.pass_move


@jax.jit
def everything(position: jaxgo.Position) -> tuple[jax.Array, ...]:
    """What `Position` says of a batch, in one program: many small ones would take three times as long to compile."""
    return position.to_array(), position.score(), position.legal(), position.useful()


@jax.jit
def play(position: jaxgo.Position, moves: jax.Array) -> jaxgo.Position:
    """The positions after moves."""
    return position.play(moves)


def check_against_referee(position: jaxgo.Position, games: list[Game]) -> None:
    """Everything `Position` says of a batch of positions is what the referee says."""
    size = position.size
    board, score, legal, useful = map(np.asarray, everything(position))
    stones = np.array([game.stones for game in games], dtype=np.int8).reshape(-1, size, size)
    np.testing.assert_array_equal(board, stones)
    np.testing.assert_array_equal(position.ko, [game.ko for game in games])
    np.testing.assert_array_equal(position.to_play, [game.to_play for game in games])
    np.testing.assert_array_equal(position.passes, [game.passes for game in games])
    np.testing.assert_array_equal(score, [game.margin() for game in games])
    expected = np.zeros_like(legal)
    for index, game in enumerate(games):
        expected[index, game.legal_points()] = True
        expected[index, size * size] = not game.is_over
    np.testing.assert_array_equal(legal, expected)
    expected = np.zeros_like(legal)
    for index, game in enumerate(games):
        expected[index, game.candidates()] = True
    np.testing.assert_array_equal(useful, expected[:, :-1])


def check_against_sgfmill(stones: np.ndarray, margin: int, to_play: int, move: int, stones_after: np.ndarray) -> int:
    """sgfmill agrees on the score of a position, and on what the move does to its board; returns sgfmill's ko point."""
    size = len(stones)
    board = boards.Board(size)
    black, white = (list(map(tuple, np.argwhere(stones == colour).tolist())) for colour in (1, -1))
    assert board.apply_setup(black, white, []), "stones without liberties"
    assert board.area_score() == margin
    ko = None if move == size * size else board.play(*divmod(move, size), "b" if to_play == 1 else "w")
    expected = [[{"b": 1, "w": -1, None: 0}[board.get(y, x)] for x in range(size)] for y in range(size)]
    assert stones_after.tolist() == expected
    return NO_KO if ko is None else ko[0] * size + ko[1]
