"""Descents from a root: what they choose, where they end, and what they leave behind."""

import copy

import numpy as np
import pytest

from jaxgo.running import leaf_columns
from search import UCB1, Rave, Search
from search.backup import take_back
from search.compiled import plain
from search.descent import SCRATCH, TIE, Constants, Ties, choose_and_ask, width_of
from search.nodes import NARROW, NODES, NONE, READY, add_node
from search.rows import add_rave, can_have_children, count_move
from search.tree import Tree
from tests.positions import from_games, middle_game
from tests.referee import WHITE, parse
from tests.search.trees import assert_same_trees

LEAVES, PLAYOUTS = 16, 4
RULES = {
    "ucb1": UCB1(),
    "ucb1 greedy": UCB1(exploration=0.0),
    "rave": Rave(),
    "rave biased": Rave(bias=0.5, first_play=0.8),
    "hand": Rave(schedule="hand", k=100),
    "exploring": Rave(exploration=0.3),
}


def descend(tree: Tree, rule, count: int, *, seed: int = 0, playouts: int = PLAYOUTS, deepest: int = 1 << 30) -> np.ndarray:
    """The nodes that so many descents reach."""
    leaves, rows, ties = np.empty(count, np.int32), np.empty(count, np.int32), Ties(seed, tree.moves).table
    columns, scratch = np.empty((leaf_columns.number(tree.size), count), np.uint32), np.zeros((SCRATCH, width_of(tree.moves)))
    given = plain((tree.memory, rule.numbers, Constants(0, 0, 0, 0)))
    _, depth = choose_and_ask(
        *given[:2], ties, playouts, playouts, deepest, scratch, True, given[2], 0, leaves, rows, columns,
    )  # fmt: skip
    assert depth == tree[leaves]["depth"].max() - tree[tree.root]["depth"]
    return leaves


def open_moves(tree: Tree, node: int, moves) -> None:
    """Makes a node ready, with these moves to try."""
    tree[node]["state"], tree[node]["visits"] = READY, PLAYOUTS
    words = tree.memory.open[node]
    words[:] = np.packbits(np.isin(np.arange(32 * len(words)), moves), bitorder="little").view(np.uint32)


def earn(tree: Tree, node: int, colour: int, point: int, visits: int, wins: int) -> None:
    """Adds to a node's RAVE statistics."""
    earned = np.zeros((tree.rave_colours, 2, tree.moves))
    earned[colour, :, point] = visits, wins
    add_rave(tree.memory, node, earned, 0, NARROW)


@pytest.mark.parametrize("name", RULES)
def test_forbidden_moves_are_never_chosen(name):
    """However good they look, and however few moves are left."""
    for number in (1, 2, 5):
        tree = Tree(5, 1 << 16)
        open_moves(tree, tree.root, range(number))
        for point in range(5, 25):
            earn(tree, tree.root, 0, point, 100, 200)
        leaves = descend(tree, RULES[name], 100)
        assert set(tree[leaves]["move"].tolist()) <= set(range(number))
        assert tree.children(tree.root)[0].max() < number


@pytest.fixture(scope="module")
def grown() -> Search:
    """A tree of many levels on a board of 5x5."""
    game = middle_game(5, 12, seed=2)
    search = Search(
        from_games(game), rule=Rave(reference_visits=1), leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=1, komi=0.5,
        memory=1 << 22,
    )  # fmt: skip
    search.run(visits=4000)
    search.close()
    return search


@pytest.mark.parametrize("name", RULES)
def test_many_descents_are_as_many_single_ones(grown, name):
    together, alone = copy.deepcopy(grown.tree), copy.deepcopy(grown.tree)
    leaves = descend(together, RULES[name], 120)
    assert leaves.tolist() == [int(descend(alone, RULES[name], 1)[0]) for _ in range(120)]
    num_nodes = int(together.memory.pools["count"][NODES])
    for name, array in together.memory._asdict().items():
        used = slice(num_nodes if name == "nodes" else None)  # others hold what memory held before
        np.testing.assert_array_equal(array[used], getattr(alone.memory, name)[used], name)
    assert len(set(together[leaves]["depth"].tolist())) > 2


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("count", [1, 30, 500])
def test_visits_are_conserved(grown, name, count):
    """Every descent ends once, and what enters a node goes on to its children or ends there."""
    tree, before = copy.deepcopy(grown.tree), grown.tree
    leaves = descend(tree, RULES[name], count, seed=3)
    for node in range(tree.count):
        x = tree[node]
        entered = x["visits"] - (before[node]["visits"] if node < before.count else 0)
        left = tree[tree.children(node)[1]]["pending"].sum()
        assert entered == x["pending"] == left + PLAYOUTS * np.count_nonzero(leaves == node)
    assert tree[tree.root]["pending"] == PLAYOUTS * count
    assert all(tree[leaf]["state"] != READY or tree[leaf]["passes"] == 2 for leaf in leaves)


def test_descents_are_taken_back(grown):
    """All that they had left behind, and the nodes that they had added."""
    tree, before = copy.deepcopy(grown.tree), grown.tree
    leaves = descend(tree, Rave(), 50)
    assert tree.count > before.count
    for leaf in leaves[::-1]:
        take_back(tree.memory, int(leaf), PLAYOUTS, PLAYOUTS)
    assert tree.count == before.count
    assert_same_trees(tree, before)


def test_ends_of_the_game_are_leaves():
    """Nothing is tried after two passes."""
    game, _ = parse("""
        . X O . .
        X X O O O
        X . X X O
        X X . X X
        . X X X .
    """, to_play=WHITE)  # fmt: skip
    search = Search(from_games(game), komi=7.0, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=2, memory=1 << 22)
    search.run(visits=1200)
    search.close()
    tree = search.tree
    used = tree[: tree.count]
    ends = np.flatnonzero((used["state"] == READY) & (used["passes"] == 2))
    assert len(ends) and (used["visits"][ends] > PLAYOUTS).any()
    assert np.isin(descend(tree, Rave(), 500, seed=3), ends).any()
    assert not any(tree.open(end).any() or len(tree.children(end)[0]) for end in ends)


def test_descents_go_as_deep_as_they_may(grown):
    tree = copy.deepcopy(grown.tree)
    leaves = descend(tree, Rave(), 100, deepest=1)
    assert set(tree[leaves]["depth"].tolist()) == {1}
    assert set(leaves.tolist()) <= set(tree.children(tree.root)[1].tolist())


def test_reference_visits_read_the_ancestor_statistics():
    """A node with few visits is guided by what its parent's player found, for the colour that moves (GRAVE)."""
    tree = Tree(3, 1 << 16, colours=2)
    child = add_node(tree.memory, tree.root, 4)
    can_have_children(tree.memory, tree.root)
    count_move(tree.memory, tree.root, 4, 10, 10)
    open_moves(tree, tree.root, [4])
    open_moves(tree, child, range(9))
    tree[tree.root]["visits"], tree[child]["visits"] = 100, 10
    for node in (tree.root, child):
        for colour in (0, 1):
            for point in range(9):
                earn(tree, node, colour, point, 50, 50)
    for node, colour, point in ((tree.root, 0, 1), (tree.root, 1, 2), (child, 0, 3)):
        earn(tree, node, colour, point, 0, 40)
    for reference, expected in ((0, 3), (10, 3), (11, 2), (1000, 2)):
        copied = copy.deepcopy(tree)
        leaf = descend(copied, Rave(reference_visits=reference), 1, playouts=1)[0]
        assert copied.path(leaf) == [4, expected], reference


def test_ties_are_broken_at_random():
    """All moves of an empty board are tried first at some seed; the numbers are tiny and depend on position and visits."""
    first = set()
    for seed in range(60):
        tree = Tree(2, 1 << 16)
        open_moves(tree, tree.root, range(5))
        first.add(int(tree[descend(tree, UCB1(), 1, seed=seed, playouts=1)[0]]["move"]))
    assert first == set(range(5))
    ties = Ties(1, 26)
    assert ((0 <= ties(3, 5)) & (ties(3, 5) <= TIE)).all()
    assert (ties(3, 5) != ties(3, 6)).any() and (ties(3, 5) != ties(4, 5)).any()
    np.testing.assert_array_equal(ties(3, 5), ties(3, 5))


def test_where_a_full_tree_has_no_room_the_node_itself_is_the_leaf():
    """All its nodes are on their way: none can be taken back."""
    tree = Tree(5, 1000)
    open_moves(tree, tree.root, range(26))
    leaves = descend(tree, UCB1(), 30)
    added = set(leaves.tolist()) - {tree.root}
    assert 0 < len(added) == tree.count - 1 < 10 and tree.bytes_used <= 1000
    assert tree.root in leaves
    assert tree[tree.root]["visits"] == 31 * PLAYOUTS
    assert tree.child(tree.root, 25) == NONE or len(added) < 26
