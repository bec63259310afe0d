"""What must hold of every tree after every step: counts add up, results lie in their bounds; and the tree is reproducible."""

import jax
import numpy as np
import pytest

from search import UCB1, Rave, Search
from search.tree import FORBIDDEN, ROOT, Tree
from tests.positions import from_games, middle_game
from tests.referee import Game, parse
from tests.rounding import UNITS

LEAVES, PLAYOUTS = 16, 4
RULES = {
    "ucb1": UCB1(),
    "ucb1 greedy": UCB1(exploration=0.1, first_play=0.5),
    "rave": Rave(),
    "rave hand loose": Rave(schedule="hand", strict=False),
    "rave loose": Rave(strict=False, bias=0.4),
    "grave": Rave(reference_visits=60),
    "grave loose": Rave(reference_visits=200, strict=False),
    "v1": Rave(credit="weighted_v1"),
    "v2": Rave(credit="weighted_v2", schedule="hand"),
    "mctr": Rave(credit="mctr_simple"),
}


def make(size: int, plies: int, rule, *, seed: int = 0, **options) -> Search:
    """A search from a middle game, with room for 3000 nodes of weightless rules."""
    options = {"memory": 3000 * Tree.bytes_per_node(size), "leaves": LEAVES, "playouts_per_leaf": PLAYOUTS} | options
    return Search(from_games(middle_game(size, plies, seed)), rule=rule, seed=seed, **options)


def assert_sound(tree: Tree, rule) -> None:
    """All invariants of a tree without rounds under way."""
    used = np.arange(tree.count)
    visits, wins, child = tree.visits[used], tree.wins[used], tree.child[used]
    rave_visits, rave_wins = tree.rave_visits[used], tree.rave_wins[used]
    node_visits, node_wins = tree.node_visits[used], tree.node_wins[used]

    # A node's visits are its own first ones and those that went on; an end of the game has only its own.
    own = node_visits - visits.sum(axis=1)
    assert (own >= 0).all() and (own % PLAYOUTS == 0).all()
    assert (own[tree.ready[used]] >= PLAYOUTS).all()
    assert tree.ready[used][node_visits > 0].all()
    assert ((0 <= visits) & (0 <= wins) & (wins <= 2 * visits)).all()
    assert ((0 <= node_wins) & (node_wins <= 2 * node_visits)).all()
    assert (np.abs(tree.node_leads[used]) <= tree.size**2 * node_visits).all()

    # A move and the node that it leads to say the same, from both sides. Without a node (a full tree) a move may have visits too.
    parent, move = np.nonzero(child > 0)
    node = child[parent, move]
    assert sorted(node.tolist()) == sorted(set(node.tolist())) and ROOT not in node
    np.testing.assert_array_equal(tree.parent[node], parent)
    np.testing.assert_array_equal(tree.move[node], move)
    np.testing.assert_array_equal(tree.depth[node], tree.depth[parent] + 1)
    np.testing.assert_array_equal(node_visits[node], visits[parent, move])
    np.testing.assert_array_equal(node_wins[node], 2 * visits[parent, move] - wins[parent, move])
    if tree.count < tree.capacity:
        assert not visits[child == 0].any()
    assert not visits[child == FORBIDDEN].any() and not wins[child == FORBIDDEN].any()

    # Points never earn more than there were playouts (an own play may earn twice by the second weights); a pass earns nothing.
    assert (0 <= rave_visits).all() and (0 <= rave_wins).all()
    assert (rave_wins <= 2 * rave_visits + 1e-9).all()
    assert not rave_visits[:, :, -1].any()
    if rule.credit is None:
        assert not rave_visits.any()
    elif rule.credit == "weighted_v2":
        assert (rave_visits[:, 0, :].sum(axis=1) <= node_visits * 1.5 * tree.size**2).all()
    else:
        assert (rave_visits <= node_visits[:, None, None] + 1e-9).all()
    if rule.credit == "amaf":
        # Who goes to a child by a point was the first there.
        assert (rave_visits[:, 0, :-1] >= visits[:, :-1]).all()
        assert (rave_wins[:, 0, :-1] >= wins[:, :-1]).all()
    if rule.credit == "mctr_simple":
        # A playout adds one in all, within half a unit for each point, unless the player has only passes.
        assert (rave_visits.sum(axis=(1, 2)) <= node_visits * (1 + tree.size**2 / 2 / UNITS)).all()
    assert not any(array[tree.count :].any() for array in tree.arrays.values())


CASES = [(size, plies, name) for size, plies in ((3, 2), (5, 3), (9, 30)) for name in RULES]


@pytest.mark.parametrize("size, plies, name", CASES)
def test_invariants(size, plies, name):
    search = make(size, plies, RULES[name], seed=size, komi=float(size), in_flight=1 + size % 2)
    for visits in (1, 70, 300, 301, 700):
        reached = search.run(visits=visits)
        assert visits <= reached < visits + PLAYOUTS
        assert search.visits == search.tree.node_visits[ROOT] == reached
        assert_sound(search.tree, RULES[name])
    if name == "mctr":
        assert search.tree.rave_visits[ROOT].sum() == pytest.approx(reached, rel=size**2 / 2 / UNITS)
    search.advance(search.best())
    assert_sound(search.tree, RULES[name])
    search.run(visits=search.visits + 100)
    assert_sound(search.tree, RULES[name])
    search.close()


@pytest.mark.parametrize("name", RULES)
def test_invariants_of_a_full_tree(name):
    search = make(5, 3, RULES[name], memory=25 * Tree.bytes_per_node(5))
    search.run(visits=600)
    search.close()
    assert search.tree.count == search.tree.capacity
    assert search.visits == 600
    assert_sound(search.tree, RULES[name])


@pytest.mark.parametrize("rule", [UCB1(), Rave(), Rave(schedule="hand")], ids=["ucb1", "rave", "hand"])
@pytest.mark.parametrize("colour", [1, -1])
def test_a_winning_capture_is_found(rule, colour):
    """The perspective: who takes the only liberty of both captures all; the other move is to pass and be captured."""
    game, named = parse("""
        X X X
        X X a
        O O O
    """)
    search = Search(
        from_games(Game(3, game.stones, to_play=colour)), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, komi=0.5,
        memory=3000 * Tree.bytes_per_node(3),
    )  # fmt: skip
    search.run(visits=1000)
    search.close()
    known = search.statistics()
    assert search.best() == named["a"]
    assert known.win_rate[named["a"]] > known.win_rate[game.pass_move]
    assert known.visits[named["a"]] > known.visits[game.pass_move]


def arrays_after(*steps: int, size: int = 5, rule=None, **options) -> dict[str, np.ndarray]:
    """All arrays of the tree after some calls of `run`."""
    search = make(size, 3, Rave() if rule is None else rule, seed=7, **options)
    for visits in steps:
        search.run(visits=visits)
    search.close()
    return search.tree.arrays | {"count": np.array(search.tree.count)}


def assert_equal(some: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Bit for bit."""
    for name, array in some.items():
        np.testing.assert_array_equal(array, other[name], name, strict=True)


@pytest.mark.parametrize("rule", [UCB1(), Rave(), Rave(credit="weighted_v1")], ids=["ucb1", "rave", "v1"])
@pytest.mark.parametrize("in_flight", [1, 2, 3])
def test_the_tree_depends_on_seed_and_visits_alone(rule, in_flight):
    """Whenever rounds come back: the same calls give the same tree."""
    assert_equal(arrays_after(500, 900, rule=rule, in_flight=in_flight), arrays_after(500, 900, rule=rule, in_flight=in_flight))


@pytest.mark.parametrize("in_flight", [1, 2])
def test_the_tree_does_not_depend_on_workers(in_flight):
    """One thread or two on one device, or as many as there are cores."""
    device = jax.devices()[0]
    expected = arrays_after(700, devices=[device], in_flight=in_flight)
    for devices in ([device] * 2, None):
        assert_equal(arrays_after(700, devices=devices, in_flight=in_flight), expected)


def test_other_seeds_give_other_trees():
    """The comparisons above would see it; and so would a search with another number of rounds under way."""
    one = make(5, 3, Rave(), seed=7)
    one.run(visits=300)
    one.close()
    other = Search(one.position, rule=Rave(), leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=8)
    other.run(visits=300)
    other.close()
    assert (one.tree.rave_visits[ROOT] != other.tree.rave_visits[ROOT]).any()
    with pytest.raises(AssertionError):
        assert_equal(arrays_after(500, in_flight=1), arrays_after(500, in_flight=3))
