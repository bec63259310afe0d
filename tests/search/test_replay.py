"""Moves one after the other, as if each had been played by `Position.play`."""

import numpy as np
import pytest

import jaxgo
from search.game import Game, turn
from search.replay import IllegalMove, replay


def wild(number: int, size: int = 5, seed: int = 3) -> tuple[tuple[int, int], ...]:
    """Moves of either colour at any time, passes among them, as far as the rules allow; some repeat positions."""
    rng, game, moves = np.random.default_rng(seed), Game(jaxgo.Position.empty(size)), []
    while len(moves) < number:
        move = int(rng.choice((1, -1))), int(rng.integers(size * size + 1))
        try:
            game.play(move[1], move[0], tolerant=True)
        except IllegalMove:
            move = move[0], size * size
            game.play(move[1], move[0], tolerant=True)
        moves.append(move)
    return tuple(moves)


@pytest.mark.parametrize("number", [1, 70])
def test_moves_are_what_they_are_by_themselves(number):
    moves, position, expected = wild(number), jaxgo.Position.empty(5), []
    for colour, point in moves:
        position = turn(position, colour).play(np.array([point]))
        expected.append(position)
    positions, hashes = replay(jaxgo.Position.empty(5), moves)
    assert positions.batch == len(hashes) == number
    for name in ("to_array", "hash", "legal"):
        wanted = np.concatenate([np.asarray(getattr(position, name)()) for position in expected])
        np.testing.assert_array_equal(getattr(positions, name)(), wanted)
    for name in ("to_play", "ko", "passes"):
        np.testing.assert_array_equal(getattr(positions, name), [int(np.asarray(getattr(x, name))[0]) for x in expected])
    np.testing.assert_array_equal(hashes, positions.hash())


def test_what_is_illegal_is_told_by_its_number_and_reason():
    moves = tuple((1 if i % 2 else -1, 25) for i in range(33))
    with pytest.raises(IllegalMove, match="C3 is illegal: the point is occupied") as caught:
        replay(jaxgo.Position.empty(5), (*moves, (1, 12), (1, 12)))
    assert (caught.value.number, caught.value.reason) == (34, "the point is occupied")
