"""Active capture: the points that capture, and only these, each as often as the others."""

import numpy as np
import pytest

import jaxgo
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import geometry
from jaxgo.playing.policies.capture import may_be_legal, may_capture
from tests import chi_square, referee, scalar_policies
from tests.positions import from_games
from tests.referee import Game

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 105

DIAGRAMS = {
    "one stone": """
        . . . . .
        . X . . .
        X O a . .
        . X . . .
        . . . . .
    """,
    "two ways": """
        O a . . .
        X X . . .
        . . . X .
        . . X O b
        . . . X .
    """,
    "one point takes two chains": """
        . X . X .
        X O a O X
        . X . X .
        O O . . .
        . X . . .
    """,
    "a long chain around a corner": """
        O O O O a
        X X X X O
        . . . X O
        . . . X O
        . . . X X
    """,
    "liberties far apart are two": """
        . O O O .
        X X X X X
        . X . . .
        X O a . .
        . X . . .
    """,
    "two liberties in even columns are two": """
        . O O O O
        X X X X O
        . X . X O
        X O a X O
        . X . X .
    """,
    "into what looks like an eye": """
        a O O O .
        O X X O .
        X . X O O
        X X X X X
        . . . . .
    """,
}
KO = referee.parse(
    """
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        . . . . .
    """,
    to_play=-1, ko=6,
)[0]  # fmt: skip


@pytest.fixture(scope="module")
def first_moves() -> np.ndarray:
    """int16 [positions, n]: first moves in the diagrams and the ko."""
    games = [*(referee.parse(text)[0] for text in DIAGRAMS.values()), KO]
    return jaxgo.playouts(from_games(*games), 4000, seed=2, max_plies=1, moves=True, policy=jaxgo.Capture()).moves[..., 0]


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams(first_moves, name):
    (game, named), index = referee.parse(DIAGRAMS[name]), [*DIAGRAMS].index(name)
    assert game.every_stone_has_liberties()
    assert scalar_policies.captures(game) == [sorted(named.values())]
    points, counts = np.unique(first_moves[index], return_counts=True)
    assert points.tolist() == sorted(named.values())
    assert len(counts) == 1 or chi_square.uniform_p_value(counts) > chi_square.ALPHA


def test_the_ko_is_left_alone(first_moves):
    """A capture that the ko forbids is none; without others the move is uniform."""
    points, counts = np.unique(first_moves[-1], return_counts=True)
    assert points.tolist() == KO.candidates() and 6 not in points
    assert chi_square.uniform_p_value(counts) > chi_square.ALPHA


def test_every_move_is_uniform_among_the_captures():
    """In 10^4 positions, asked always: the sets are the scalar version's, and the choice in them is uniform."""
    played = jaxgo.playouts(jaxgo.Position.empty(9), PLAYOUTS, seed=3, moves=True, policy=jaxgo.Capture())
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, scalar_policies.captures)
    assert len(made) > 10_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 60) > chi_square.ALPHA


def test_the_coin_is_fair():
    """Asked with probability q, the share of captures is q where there is one, and more by what uniform moves add."""
    q, expected, variance, captured = 0.3, 0.0, 0.0, 0
    played = jaxgo.playouts(jaxgo.Position.empty(9), PLAYOUTS, seed=4, moves=True, policy=jaxgo.Capture(q))
    for moves in played.moves[0].tolist():
        game = Game(9)
        for move in moves[: moves.index(-1)] if -1 in moves else moves:
            (points,) = scalar_policies.captures(game)
            if points:
                chance = q + (1 - q) * len(points) / len(game.candidates())
                expected, variance = expected + chance, variance + chance * (1 - chance)
            captured += bool(game.play(move))
    assert variance > 300
    assert abs(captured - expected) < 4 * variance**0.5


@pytest.mark.parametrize(("size", "share"), [(2, 0.0), (5, 0.2), (9, 0.4)])
def test_what_is_not_drawn_is_illegal(size, share):
    """And of the illegal points a good part is not."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), 500, seed=4, max_plies=size * size)
    position = jaxgo.Position.from_array(played.board[0], to_play=1)
    g = geometry(size)
    own, opp = (bb.of_points(g, played.board[0].reshape(500, -1) == colour) for colour in (1, -1))
    drawn = np.asarray(bb.points_of(g, may_be_legal(g, opp, may_capture(g, own, opp))))
    legal, empty = np.asarray(position.legal()).reshape(500, -1)[:, : size * size], played.board[0].reshape(500, -1) == 0
    assert not (legal & ~drawn).any()
    assert (empty & ~legal & ~drawn).sum() >= share * (empty & ~legal).sum()


def test_one_that_is_never_asked_is_without_effect():
    plain, never = (jaxgo.playouts(jaxgo.Position.empty(9), 300, seed=4, moves=True, policy=policy) for policy in (None, jaxgo.Capture(0)))
    np.testing.assert_array_equal(plain.moves, never.moves)
