"""RAVE statistics from the playouts' moves are those from the device's counts, at every node."""

import numpy as np
import pytest

from search import Rave, Search
from search.tree import ROOT, Tree
from tests.positions import from_games, middle_game
from tests.referee import Game, parse

LEAVES, PLAYOUTS = 16, 4
"""Of every search here, and in the modules beside this one: fewer programs to compile."""


def grown(game: Game, rule: Rave, updates: str, visits: int = 1200, **options) -> Search:
    """A search after some visits."""
    out = Search(from_games(game), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=2, updates=updates, **options)
    out.run(visits=visits)
    out.close()
    return out


def assert_same_arrays(tree: Tree, other: Tree) -> None:
    """All arrays of two trees are equal."""
    assert tree.count == other.count
    assert tree.arrays.keys() == other.arrays.keys()
    for name, array in tree.arrays.items():
        np.testing.assert_array_equal(array[: tree.count], other.arrays[name][: tree.count], name, strict=True)


OPTIONS = {
    "strict": {},
    "loose": {"strict": False},
    "hand": {"schedule": "hand"},
    "grave": {"reference_visits": 100},
    "grave loose": {"reference_visits": 40, "strict": False},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size, plies", [(5, 4), (9, 20)])
def test_histories_and_reductions_give_the_same_tree(size, plies, options):
    game, rule = middle_game(size, plies, seed=1), Rave(**OPTIONS[options])
    histories, reductions = (grown(game, rule, updates, komi=0.5).tree for updates in ("histories", "reductions"))
    assert_same_arrays(histories, reductions)
    assert histories.depth.max() > 2
    assert (histories.rave_visits[: histories.count] > 0).any(axis=2).all(axis=1).sum() > 100


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
    assert_same_arrays(histories, reductions)
    ends = np.flatnonzero(reductions.is_terminal(np.arange(reductions.count)))
    assert (reductions.node_visits[ends] > PLAYOUTS).any()


def test_the_same_in_a_full_tree():
    """Leaves without a node of their own count for the nodes above."""
    memory = 40 * Tree.bytes_per_node(5)
    histories, reductions = (grown(Game(5), Rave(), updates, memory=memory).tree for updates in ("histories", "reductions"))
    assert histories.count == histories.capacity == 40
    assert_same_arrays(histories, reductions)


FULL = {
    "amaf": {},
    "loose": {"strict": False},
    "v1": {"credit": "weighted_v1"},
    "v2": {"credit": "weighted_v2"},
    "mctr": {"credit": "mctr_simple"},
}


@pytest.mark.parametrize("name", FULL)
def test_a_full_tree_credits_its_leaves_all_the_same(name):
    """In the first round below the root, whose leaves do not depend on room."""
    rule, kinds = Rave(**FULL[name]), {"fractions": "credit" in FULL[name], "legal": "credit" in FULL[name]}
    trees = [
        grown(middle_game(5, 14, seed=3), rule, "histories", 80, in_flight=1, memory=nodes * Tree.bytes_per_node(5, **kinds)).tree
        for nodes in (2, 2000)
    ]
    assert trees[0].count == trees[0].capacity < trees[1].count
    for array in ("visits", "wins", "rave_visits", "rave_wins"):
        np.testing.assert_allclose(*(tree.arrays[array][ROOT] for tree in trees), rtol=1e-9, err_msg=array)
    assert trees[0].visits[ROOT].sum() == 16


def test_strict_and_loose_first_plays_differ():
    """The comparison would see one taken for the other."""
    game = middle_game(5, 4, seed=1)
    strict, loose = (grown(game, Rave(strict=strict), "reductions", 400).tree for strict in (True, False))
    assert strict.node_visits[ROOT] == loose.node_visits[ROOT]
    with pytest.raises(AssertionError):
        assert_same_arrays(strict, loose)


def test_weighted_credits_take_histories_by_themselves():
    search = grown(Game(5), Rave(credit="weighted_v1"), None, 64)
    assert search.updates == "histories"
    assert search.tree.rave_visits.dtype == np.float64 and search.tree.rave_visits[ROOT].any()
    with pytest.raises(ValueError, match="updates must be 'histories' for the credit 'weighted_v1', not 'reductions'"):
        grown(Game(5), Rave(credit="weighted_v1"), "reductions", 64)
