"""Published counts: legal boards of small sizes (John Tromp), and sequences of plies under simple ko and positional superko."""

import itertools

import numpy as np
import pytest

import jaxgo
from tests import referee
from tests.referee import Game

CHUNK = 1024
"""Positions are counted in batches of this size, filled up with repeats, so that few shapes are compiled."""


def every_board(size: int) -> np.ndarray:
    """int8 [3**P, N, N]: all boards, legal or not."""
    boards_flat = np.array(list(itertools.product((0, 1, -1), repeat=size * size)), dtype=np.int8)
    return boards_flat.reshape(-1, size, size)


@pytest.mark.parametrize("size, tromp", [(2, 57), (3, 12675)])
def test_legal_boards_are_tromps_numbers(size, tromp):
    """The legal boards are taken, each other one is refused because of its stones without liberties."""
    boards = every_board(size)
    is_legal = np.array([Game(size, stones.reshape(-1)).every_stone_has_liberties() for stones in boards])
    assert is_legal.sum() == tromp
    np.testing.assert_array_equal(jaxgo.Position.from_array(boards[is_legal]).to_array(), boards[is_legal])
    for stones in boards[~is_legal]:
        with pytest.raises(ValueError, match="libert"):
            jaxgo.Position.from_array(stones)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("to_play", [1, -1])
def test_every_position_of_a_small_board(size, to_play):
    """All legal boards: the legality of each point, the boards after each legal move, the ko points and the scores."""
    games = [Game(size, stones, to_play=to_play) for stones in every_board(size).reshape(-1, size * size)]
    games = [game for game in games if game.every_stone_has_liberties()]
    stones = np.array([game.stones for game in games], dtype=np.int8).reshape(-1, size, size)
    position = jaxgo.Position.from_array(stones, to_play=to_play)
    np.testing.assert_array_equal(position.score(), [game.margin() for game in games])
    legal = np.asarray(position.legal())
    expected = np.zeros_like(legal)
    expected[:, -1] = True
    for index, game in enumerate(games):
        expected[index, game.legal_points()] = True
    np.testing.assert_array_equal(legal, expected)
    for point in range(size * size):
        able = np.flatnonzero(legal[:, point])
        # The rest pass, so that one shape serves all points.
        after = position.play(np.where(legal[:, point], point, size * size))
        boards_after, ko_after = np.asarray(after.to_array()).reshape(len(games), -1), np.asarray(after.ko)
        for index in able:
            game = games[index].copy()
            game.play(point)
            assert boards_after[index].tolist() == game.stones, f"{point} in\n{games[index]}"
            assert ko_after[index] == game.ko, f"{point} in\n{games[index]}"


def boards_seen(position: jaxgo.Position) -> np.ndarray:
    """uint64 [batch]: the stones' hash as one number."""
    words = np.asarray(position.hash()).astype(np.uint64)
    return words[:, 0] << np.uint64(32) | words[:, 1]


def sequence_counts(size: int, depths: int, *, passes: bool, superko: bool = False) -> list[int]:
    """The number of sequences of exactly 1, 2, .. plies from the empty board, counted breadth first through batches."""
    pass_move = size * size
    position = jaxgo.Position.empty(size)
    history = boards_seen(position)[:, None]
    counts = []
    for depth in range(1, depths + 1):
        chunks, histories, total = [], [], 0
        for start in range(0, len(position), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(position)))
            legal = np.asarray(position[np.resize(rows, CHUNK)].legal())[: len(rows)].copy()
            if not passes:
                legal[:, pass_move] = False
            if depth == depths and not superko:
                total += int(legal.sum())
                continue
            parents, moves = np.nonzero(legal)
            for first in range(0, len(parents), CHUNK):
                parent, move = parents[first : first + CHUNK], moves[first : first + CHUNK]
                after = position[np.resize(rows[parent], CHUNK)].play(np.resize(move, CHUNK))
                seen, past = boards_seen(after)[: len(parent)], history[rows[parent]]
                kept = np.ones(len(parent), bool)
                if superko:
                    kept = (move == pass_move) | ~(past == seen[:, None]).any(axis=1)
                total += int(kept.sum())
                chunks.append(after[np.flatnonzero(kept)])
                histories.append(np.column_stack([past, seen])[kept])
        counts.append(total)
        if depth < depths:
            position, history = jaxgo.Position.concatenate(chunks), np.concatenate(histories)
    return counts


@pytest.mark.parametrize(
    "size, passes, counts",
    [
        (2, False, [4, 12, 24, 16, 32, 32, 32]),
        (2, True, [5, 21, 68, 156, 316, 604]),
        (3, False, [9, 72, 504, 2976, 14720]),
        (9, False, [81, 6480, 511920]),
        (9, True, [82, 6643, 531522]),
    ],
)
def test_sequences_under_simple_ko(size, passes, counts):
    assert sequence_counts(size, len(counts), passes=passes) == counts


def test_sequences_under_positional_superko():
    """Superko is the caller's, by `hash()`: on 2x2 it first differs from simple ko at the seventh ply."""
    assert sequence_counts(2, 7, passes=False, superko=True) == [4, 12, 24, 16, 32, 32, 16]


@pytest.mark.parametrize("size, depths, passes", [(2, 6, True), (3, 5, False), (3, 4, True)])
@pytest.mark.parametrize("superko", [False, True])
def test_sequences_equal_the_referees(size, depths, passes, superko):
    expected = [referee.count_sequences(Game(size), d, passes=passes, superko=superko) for d in range(1, depths + 1)]
    assert sequence_counts(size, depths, passes=passes, superko=superko) == expected
