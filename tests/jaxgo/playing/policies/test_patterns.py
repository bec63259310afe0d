"""MoGo's order: saves from the last move's atari, patterns around it, captures beside it; each exactly, and uniformly chosen."""

import itertools

import numpy as np
import pytest

import jaxgo
from jaxgo.playing.policies import pattern_table
from tests import chi_square, referee, scalar_policies
from tests.positions import from_games
from tests.referee import Game

#: Playouts that the referee replays; on 9x9 they pass through some 11,000 positions.
PLAYOUTS = 95


def test_every_move_is_uniform_among_what_is_preferred():
    """In 10^4 positions, asked always: the sets are the scalar version's, and the choice in them is uniform."""
    played = jaxgo.playouts(jaxgo.Position.empty(9), PLAYOUTS, seed=3, moves=True, policy=jaxgo.Patterns())
    made = scalar_policies.choices(Game(9), played, 0, PLAYOUTS, scalar_policies.patterns())
    assert len(made) > 10_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 60) > chi_square.ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 9])
def test_what_is_preferred_in_many_positions(size):
    """In 10^5 positions of each of the smaller boards, as the sets were once wrong in one of 10^4."""
    count = 100_000 // (size * size)
    played = jaxgo.playouts(jaxgo.Position.empty(size), count, seed=4, moves=True, policy=jaxgo.Patterns())
    assert len(scalar_policies.choices(Game(size), played, 0, count, scalar_policies.patterns())) > 100_000


@pytest.mark.parametrize("part", ["save", "match", "capture"])
def test_each_part_has_a_switch(part):
    """One part alone, on 5x5, from the empty board: its sets are the scalar version's."""
    parts = {name: name == part for name in ("save", "match", "capture")}
    played = jaxgo.playouts(jaxgo.Position.empty(5), 100, seed=3, moves=True, policy=jaxgo.Patterns(**parts))
    made = scalar_policies.choices(Game(5), played, 0, 100, scalar_policies.patterns(**parts))
    assert len(made) > 2_000
    assert chi_square.ranks_p_value(scalar_policies.by_number(made), 20) > chi_square.ALPHA


# After a move at a, what White plays: the other letters.
DIAGRAMS = {
    "extend": """
        . . X . .
        . X O b .
        . . a . .
        . . . . .
        . . . . .
    """,
    "extend and connect, or take the attacker": """
        c . . . .
        X O . . .
        O b . . .
        a . . . .
        . . . . .
    """,
    "only taking saves": """
        O a b . .
        . O X . .
        X X . . .
        . . . . .
        . . . . .
    """,
    "hane on either side": """
        . . . . .
        . b O c .
        . d a e .
        . . . . .
        . . . . .
    """,
}


@pytest.fixture(scope="module")
def second_moves() -> jaxgo.Playouts:
    games = [referee.parse(text)[0] for text in DIAGRAMS.values()]
    return jaxgo.playouts(from_games(*games), 4000, seed=2, max_plies=2, moves=True, policy=jaxgo.Patterns())


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams(second_moves, name):
    (game, named), index = referee.parse(DIAGRAMS[name]), [*DIAGRAMS].index(name)
    assert game.every_stone_has_liberties()
    first, second = second_moves.moves[index].T
    points, counts = np.unique(second[first == named["a"]], return_counts=True)
    assert points.tolist() == sorted(point for letter, point in named.items() if letter != "a")
    assert counts.sum() > 100 and (len(counts) == 1 or chi_square.uniform_p_value(counts) > chi_square.ALPHA)


def test_the_table_is_of_the_patterns():
    """Each pattern in all its turns, and what is near it, cell by cell against a plain reading of the diagrams."""
    rng, symbols, seen = np.random.default_rng(1), ".XO#", {True: 0, False: 0}
    table = pattern_table.table()
    texts = {cells for pattern in pattern_table.PATTERNS.values() for cells in pattern_table.symmetries(pattern)}
    meant = {"x": ".O#", "o": ".X#", "?": symbols}
    for text, changed in itertools.product(sorted(texts), (False, True)):
        cells = [rng.choice(list(meant.get(symbol, symbol))) for symbol in text]
        if changed:
            cells[rng.choice(pattern_table.AROUND)] = rng.choice(list(symbols))
        cells[4] = "."
        kinds = [symbols.index(cells[i]) for i in pattern_table.AROUND]
        number = sum((kind & 1) << i | (kind >> 1) << 8 + i for i, kind in enumerate(kinds))
        found = bool(table[number])
        assert found == scalar_policies.fits_a_pattern("".join(cells))
        seen[found] += 1
    assert seen[True] > 100 and seen[False] > 20


def test_switches_are_checked():
    with pytest.raises(TypeError, match="match must be True or False, not 1"):
        jaxgo.Patterns(match=1)
