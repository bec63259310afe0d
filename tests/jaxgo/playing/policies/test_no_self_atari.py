"""Self-ataris are passed over, and nothing else is; what is left is chosen uniformly."""

import numpy as np
import pytest

import jaxgo
from tests import chi_square, referee, scalar_policies
from tests.positions import from_games
from tests.referee import Game
from tests.wide import wide

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 105

# Black plays anywhere but at the points that are named, and in his eyes.
DIAGRAMS = {
    "short of liberties": """
        X X X O .
        O O a O .
        . O . O .
        . . . . .
        . . . . .
    """,
    "with a stone alone it is none": """
        . O . . .
        O . . . .
        . . . . .
        . . . . .
        . . . . .
    """,
    "both share two liberties": """
        X X a O O
        X X X O .
        X X b O .
        O O O O .
        . . . . .
    """,
    "with two stones or three it is none": """
        X X . . O
        O O O O O
        . . . . .
        O O O O O
        X . X . O
    """,
    "of four, the square may be taken": """
        X X a O .
        X . O . .
        O O . . .
        . . . . .
        . . . . .
    """,
    "of five, the bulky one": """
        X X O . O
        X . . O .
        X a O . .
        O O . . .
        . . . . .
    """,
    "what captures is none": """
        . X O X .
        O O O X .
        X X X . .
        . . . . .
        . . . . .
    """,
    "a long chain with its liberties at its ends": """
        a X X X X
        O O O O X
        . . . O X
        . . . O X
        O O O O b
    """,
}  # fmt: skip
#: On the whole board: who plays first at one of its two points loses all.
SEKI = referee.parse(
    """
        X X . O O
        X X X O O
        X X X O O
        X X X O O
        X X . O O
    """
)[0]


@pytest.fixture(scope="module")
def first_moves() -> jaxgo.Playouts:
    """First moves in the diagrams."""
    games = [referee.parse(text)[0] for text in DIAGRAMS.values()]
    return jaxgo.playouts(from_games(*games), 4000, seed=2, max_plies=1, moves=True, policy=jaxgo.NoSelfAtari()).moves[..., 0]


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams(first_moves, name):
    (game, named), index = referee.parse(DIAGRAMS[name]), [*DIAGRAMS].index(name)
    assert game.every_stone_has_liberties()
    expected = [point for point in game.candidates() if point not in named.values()]
    assert scalar_policies.no_self_atari()(game, [])[0] == expected
    points, counts = np.unique(first_moves[index], return_counts=True)
    assert points.tolist() == expected
    assert chi_square.uniform_p_value(counts) > chi_square.ALPHA


def test_a_seki_stands():
    """Asked always, both players pass; asked in half of the plies, now and then one breaks it; uniform playouts always do."""
    for p, stands in ((1.0, (1.0, 1.0)), (0.5, (0.2, 0.3)), (0.0, (0.0, 0.0))):
        played = jaxgo.playouts(from_games(SEKI), 1000, seed=4, policy=jaxgo.NoSelfAtari(p))
        least, most = stands  # where it is a quarter, four standard errors of 0.014
        assert least <= ((played.length == 2) & (played.margin == 3)).mean() <= most


def test_every_move_is_uniform_among_the_others():
    """In 10^4 positions, asked always: the sets are the scalar version's, and the choice in them is uniform."""
    played = jaxgo.playouts(jaxgo.Position.empty(9), PLAYOUTS, seed=3, moves=True, policy=jaxgo.NoSelfAtari())
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, scalar_policies.no_self_atari())
    assert len(made) > 10_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 60) > chi_square.ALPHA


@pytest.mark.parametrize(("policy", "sets"), [(jaxgo.Patterns(), scalar_policies.patterns()), (jaxgo.Capture(), scalar_policies.captures)])
def test_it_goes_for_what_comes_after_it(policy, sets):
    """On 5x5, from the empty board: what another policy prefers, without self-ataris."""
    played = jaxgo.playouts(jaxgo.Position.empty(5), 100, seed=3, moves=True, policy=[jaxgo.NoSelfAtari(), policy])
    made = scalar_policies.choices(Game(5), played, 0, 100, scalar_policies.no_self_atari(sets))
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


@pytest.mark.parametrize("name", ["the next best", *wide("learnt")])
def test_an_advisor_goes_on_to_what_is_no_self_atari(name):
    """Where its best is one. In the diagram that is `a`, and the next best the corner."""
    if name == "learnt":
        start = Game(5)
        position = from_games(start)
        table = jaxgo.AdvisorTable(5, "point").update(jaxgo.playouts(position, 200, moves=True), position)
    else:
        start, points = referee.parse("""
            X X X O .
            O O a O .
            . O . O .
            . . . . .
            . . . . .
        """)
        position = from_games(start)
        visits, results = np.full((2, 1, 25), 100), np.full((2, 1, 25), 20)
        results[..., points["a"]], results[..., 24] = 200, 190
        table = jaxgo.AdvisorTable(5, "point", visits=visits.astype(np.int32), results=results.astype(np.int32))
    policy = [jaxgo.NoSelfAtari(), jaxgo.Advisor(1.0, table, exploration=0.0)]
    played = jaxgo.playouts(position, 100, seed=3, moves=True, policy=policy)
    if name != "learnt":
        assert (played.moves[0, :, 0] == 24).all()
    made = scalar_policies.choices(start, played, 0, 100, scalar_policies.no_self_atari(scalar_policies.advice(table, 0.0, 7)))
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


def test_of_several_any_refuses_them():
    """One that is never asked switches none off; and after each it goes for what that goes for."""
    position = jaxgo.Position.empty(5)
    alone = jaxgo.playouts(position, 100, seed=3, moves=True, policy=jaxgo.NoSelfAtari())
    other = jaxgo.playouts(position, 100, seed=3, moves=True, policy=[jaxgo.NoSelfAtari(), jaxgo.NoSelfAtari(0.0)])
    np.testing.assert_array_equal(other.moves, alone.moves)
    policy = [jaxgo.NoSelfAtari(), jaxgo.Capture(), jaxgo.NoSelfAtari(0.5)]
    played = jaxgo.playouts(position, 100, seed=3, moves=True, policy=policy)
    made = scalar_policies.choices(Game(5), played, 0, 100, scalar_policies.no_self_atari(scalar_policies.captures))
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


def test_what_comes_before_it_is_left_alone():
    """Of the matches of a policy that comes first, some are self-ataris, and are played."""
    sets = scalar_policies.patterns(save=False, match=True, capture=False)
    policy = [jaxgo.Patterns(save=False, capture=False), jaxgo.NoSelfAtari()]
    played = jaxgo.playouts(jaxgo.Position.empty(5), 100, seed=3, moves=True, policy=policy)
    made = scalar_policies.choices(
        Game(5), played, 0, 100, lambda game, moves: [*sets(game, moves), *scalar_policies.no_self_atari()(game, moves)]
    )
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA
