"""RAVE statistics from the playouts' moves are those from the device's counts, at every node."""

import pytest

from search import Rave, Search
from search.tree_needs import memory_for
from tests.positions import from_games, middle_game
from tests.referee import Game, parse
from tests.search.trees import assert_same_trees, nodes_by_path, rave_visits
from tests.wide import wide

LEAVES, PLAYOUTS = 16, 4
"""Of every search here, and in the modules beside this one: fewer programs to compile."""


def grown(game: Game, rule: Rave, updates: str, visits: int = 1200, **options) -> Search:
    """A search after some visits."""
    out = Search(from_games(game), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=2, updates=updates, **options)
    out.run(visits=visits)
    out.close()
    return out


OPTIONS = {
    "strict": {},
    "loose": {"strict": False},
    "hand": {"schedule": "hand"},
    "grave": {"reference_visits": 100},
    "grave loose": {"reference_visits": 40, "strict": False},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size, plies", [(5, 4), *wide((9, 20))])
def test_histories_and_reductions_give_the_same_tree(size, plies, options):
    game, rule = middle_game(size, plies, seed=1), Rave(**OPTIONS[options])
    histories, reductions = (grown(game, rule, updates, komi=0.5).tree for updates in ("histories", "reductions"))
    assert_same_trees(histories, reductions)
    assert max(len(path) for path in nodes_by_path(histories)) > 2
    assert (rave_visits(histories) > 0).any(axis=2).all(axis=1).sum() > 100


def test_the_same_with_ends_in_the_tree():
    """Games that end in the tree credit their moves in the tree alone."""
    game = parse("""
        . X O . .
        X X O O O
        X . X X O
        X X . X X
        . X X X .
    """, to_play=-1)[0]  # fmt: skip
    histories, reductions = (grown(game, Rave(), updates, komi=7.0).tree for updates in ("histories", "reductions"))
    assert_same_trees(histories, reductions)
    used = reductions[: reductions.count]
    assert (used["visits"][used["passes"] == 2] > PLAYOUTS).any()


def test_the_same_in_a_full_tree():
    """Which forgets the same leaves."""
    memory = memory_for(5, Rave(), 0)
    histories, reductions = (grown(Game(5), Rave(), updates, 4000, memory=memory).tree for updates in ("histories", "reductions"))
    assert len(nodes_by_path(histories)) < 200
    assert_same_trees(histories, reductions)


def test_strict_and_loose_first_plays_differ():
    """The comparison would see one taken for the other."""
    game = middle_game(5, 4, seed=1)
    strict, loose = (grown(game, Rave(strict=strict), "reductions", 400).tree for strict in (True, False))
    assert strict[strict.root]["visits"] == loose[loose.root]["visits"]
    with pytest.raises(AssertionError):
        assert_same_trees(strict, loose)


def test_weighted_credits_take_histories_by_themselves():
    search = grown(Game(5), Rave(credit="weighted_v1"), None, 64)
    assert search.updates == "histories"
    assert (rave_visits(search.tree)[0] % 1).any()
    with pytest.raises(ValueError, match="updates must be 'histories' for the credit 'weighted_v1', not 'reductions'"):
        grown(Game(5), Rave(credit="weighted_v1"), "reductions", 64)
