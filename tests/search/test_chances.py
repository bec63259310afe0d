"""Chances of moves: those that begin a node's moves, as a scalar version counts them, and what is refused."""

import math

import jax
import numpy as np
import pytest

import jaxgo
import search
from search import Knowledge, MoveWeights
from search.chances import NO_MOVE
from search.move_weights import LIMIT
from search.shapes import alike
from tests.positions import from_games
from tests.referee import Game
from tests.search.scalar_tree import ScalarTree


def played(size: int, moves: int, seed: int) -> tuple[Game, list[int]]:
    """A position of a random game, and its last two moves, the last first."""
    rng, game, last = np.random.default_rng(seed), Game(size), [NO_MOVE, NO_MOVE]
    for _ in range(moves):
        last = [int(rng.choice(game.candidates())), last[0]]
        game.play(last[0])
    return game, last


@pytest.mark.parametrize("size", [2, 5, 9, 13])
def test_they_are_those_that_nodes_begin_with(size):
    """Prior playouts that a scalar tree counts are as many won as the roots of these chances say."""
    games, lasts = zip(*(played(size, moves, seed) for seed, moves in enumerate((0, 1, 2, size * size // 2))))
    found = search.move_chances(from_games(*games), *np.array(lasts).T)
    scalar = ScalarTree.__new__(ScalarTree)
    scalar.rule = search.Rave(knowledge=Knowledge(even=0, likely=255))
    for game, last, chances in zip(games, lasts, found):
        candidates = game.candidates()
        assert sorted(np.flatnonzero(chances).tolist()) == candidates and math.isclose(chances.sum(), 1)
        expected = {move: won for move, (won, _) in scalar.priors(game, *last).items() if move in candidates}
        assert {move: int(255 * math.sqrt(chances[move]) + 0.5) for move in candidates} == pytest.approx(expected, abs=1)


def test_the_last_move_draws_moves_near():
    """And where it is not known all that is alike is as likely."""
    game = Game(9)
    game.play(20)
    unknown, known = search.move_chances(from_games(game, game), [NO_MOVE, 20])
    near = [p for p in range(81) if 0 < abs(p // 9 - 2) + abs(p % 9 - 2) <= 2]
    assert known[near].sum() > 1.5 * unknown[near].sum()
    empty = search.move_chances(jaxgo.Position.empty(9))[0].reshape(9, 9)
    assert np.array_equal(empty, empty.T) and np.array_equal(empty, empty[::-1])


def test_a_pass_draws_no_moves_near():
    """As if it were not known; a point in the corner does."""
    position = jaxgo.Position.empty(5).play(np.array([12]))
    for given, alike_to in (((25, 12), (NO_MOVE, 12)), ((12, 25), (12, NO_MOVE)), ((25, 25), (NO_MOVE, NO_MOVE))):
        np.testing.assert_array_equal(search.move_chances(position, *given), search.move_chances(position, *alike_to))
    assert (search.move_chances(position, 0, 12) != search.move_chances(position, NO_MOVE, 12)).any()


def test_games_that_are_over_and_other_weights():
    over = jaxgo.Position.from_ascii(". .\n. .", passes=2)
    assert (search.move_chances(over) == 0).all()
    shape = MoveWeights.of(shapes=np.array([int(alike(np.array([0]))[0])], np.int32), shape_weights=np.array([16], np.int8))
    chances = search.move_chances(jaxgo.Position.empty(7), weights=shape)[0]
    inner = [p for p in range(49) if 2 <= p // 7 <= 4 and 2 <= p % 7 <= 4]
    assert np.allclose(chances[inner], 2 / (49 + 9)) and np.allclose(np.delete(chances, inner), 1 / (49 + 9))


@pytest.mark.parametrize(("given", "error", "text"), [
    (([3],), TypeError, "position must be a jaxgo.Position, not list"),
    ((jaxgo.Position.empty(5), 26), ValueError, "last_moves must be between -1 and 25, not 26"),
    ((jaxgo.Position.empty(5), 3, [1, 2]), ValueError, "moves_before must be one integer or have shape"),
    ((jaxgo.Position.empty(5), 0.5), TypeError, "last_moves must"),
])  # fmt: skip
def test_other_arguments_are_refused(given, error, text):
    with pytest.raises(error, match=text):
        search.move_chances(*given)


def test_traced_positions_are_refused():
    with pytest.raises(TypeError, match="move_chances needs values, not traced arrays"):
        jax.jit(search.move_chances)(jaxgo.Position.empty(5))


def test_other_weights_are_refused():
    with pytest.raises(TypeError, match="weights must be a search.MoveWeights, not 3"):
        search.move_chances(jaxgo.Position.empty(5), weights=3)


@pytest.mark.parametrize("sign", [1, -1])
def test_moves_are_no_stronger_than_the_strongest_nor_weaker_than_the_weakest(sign):
    """Weights are added up, and held within the limit."""
    lines = np.array([sign * 1000, 0, 0, 0, 0], np.int16)
    far = {"far_line_1": sign * 1000, "far_line_2": sign * LIMIT, "far_line_3": sign * LIMIT}
    chances = search.move_chances(jaxgo.Position.empty(5), weights=MoveWeights.of(lines=lines, **far))[0]
    assert np.allclose(chances, 1 / 25)
