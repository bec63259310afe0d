"""The vital points of small eye spaces: each shape in each of its turns, and nothing else."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import geometry
from jaxgo.playing.policies import nakade
from tests import chi_square, referee, scalar_policies
from tests.positions import from_games
from tests.referee import Game

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 100

# After a move at a, what White plays: the other letters.
DIAGRAMS = {
    "three in a row": """
        . b . a . .
        X X X . . .
        O O . . . .
        . . . . . .
        . . . . . .
        . . . . . .
    """,
    "a bent three in the corner": """
        b . a . . .
        . X X . . .
        X O O . . .
        O . . . . .
        . . . . . .
        . . . . . .
    """,
    "a pyramid": """
        X . b . X .
        X X . X X .
        O X a X O .
        O O . O O .
        . . . . . .
        . . . . . .
    """,
    "a bulky five": """
        . . X O . .
        . b . a . .
        X X X X . .
        O O O O . .
        . . . . . .
        . . . . . .
    """,
    "a crossed five": """
        X X . X X .
        X . b . X .
        X X . X X .
        O X a X O .
        O O . O O .
        . . . . . .
    """,
    "a rabbity six": """
        X X . X X .
        X . b . X .
        X . . X X .
        X X a X O .
        O O . O O .
        . . . . . .
    """,
}  # fmt: skip


@pytest.fixture(scope="module")
def second_moves() -> jaxgo.Playouts:
    games = [referee.parse(text)[0] for text in DIAGRAMS.values()]
    return jaxgo.playouts(from_games(*games), 4000, seed=2, max_plies=2, moves=True, policy=jaxgo.Nakade())


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams(second_moves, name):
    (game, named), index = referee.parse(DIAGRAMS[name]), [*DIAGRAMS].index(name)
    assert game.every_stone_has_liberties()
    first, second = second_moves.moves[index].T
    answers = second[first == named["a"]]
    assert len(answers) > 50 and (answers == named["b"]).all()
    assert not (second[first != named["a"]] == named["b"]).all()


def test_every_shape():
    """Each of the 4,096 sets of empty points in a corner of 3 by 4: only the shapes have a vital point, whatever the others are."""
    size, corner = 5, [y * 5 + x for y in range(3) for x in range(4)]
    games = []
    for holes in itertools.product((False, True), repeat=len(corner)):
        stones = [-1] * size * size
        for point, hole in zip(corner, holes):
            stones[point] = 0 if hole else -1
        games.append(Game(size, stones))
    found, expected = vital_points(games), [scalar_policies.vital_points(game) for game in games]
    assert found == expected
    assert sum(map(bool, expected)) > 300


def test_own_stones_around_it_make_it_none_of_the_others():
    """In 2,000 random fillings of 6x6, most of whose eye spaces both players touch."""
    rng = np.random.default_rng(1)
    games = [Game(6, rng.choice([-1, 0, 1], 36, p=[0.55, 0.4, 0.05])) for _ in range(2000)]
    found, expected = vital_points(games), [scalar_policies.vital_points(game) for game in games]
    assert found == expected
    assert sum(map(bool, expected)) > 100


def vital_points(games: list[Game]) -> list[list[int]]:
    """Those that the engine finds in positions, which need not be legal."""
    g = geometry(games[0].size)
    stones = jnp.asarray([game.stones for game in games])
    own, opp = (bb.of_points(g, stones == colour) for colour in (1, -1))
    return [np.flatnonzero(row).tolist() for row in np.asarray(bb.points_of(g, nakade.vital_points(g, own, opp)))]


def test_every_move_is_among_the_vital_points():
    """In 10^4 positions, asked always: the sets are the scalar version's."""
    played = jaxgo.playouts(jaxgo.Position.empty(9), PLAYOUTS, seed=3, moves=True, policy=jaxgo.Nakade())
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, scalar_policies.nakade)
    assert len(made) > 10_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 60) > chi_square.ALPHA
