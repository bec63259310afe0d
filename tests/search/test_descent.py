"""Many descents at once are those that would be taken one after the other, each leaving its playouts behind as losses."""

import copy

import numpy as np
import pytest

from search import UCB1, Rave, Search
from search.descent import TIE, Reached, Ties, descend
from search.selection import Counts
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree
from tests.positions import from_games, middle_game
from tests.referee import WHITE, Game, parse

PLAYOUTS = 4
RULES = {
    "ucb1": UCB1(),
    "ucb1 greedy": UCB1(exploration=0.0),
    "rave": Rave(),
    "rave biased": Rave(bias=0.5, first_play=0.8),
    "hand": Rave(schedule="hand", k=100),
    "exploring": Rave(exploration=0.3),
}


class FixedTies:
    """What breaks ties depends on the path of the node alone here, so that two ways of choosing see the same."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def __call__(self, nodes: np.ndarray, visits: np.ndarray) -> np.ndarray:
        """float64 [n, M], at most TIE."""
        seeds = [[1, *(move + 1 for move in self.tree.path(int(node)))] for node in nodes]
        return np.stack([np.random.default_rng(seed).random(self.tree.moves) for seed in seeds]) * TIE


def single_node(seed: int, closed: float = 0.3, open_moves: int = 1) -> Tree:
    """A root with made-up statistics, whose moves are all without nodes; some are forbidden."""
    rng = np.random.default_rng(seed)
    tree = Tree(5, 400)
    tree.visits[ROOT] = rng.integers(0, 12, tree.moves) * (rng.random(tree.moves) < 0.6)
    tree.wins[ROOT] = rng.integers(0, 2 * tree.visits[ROOT] + 1)
    tree.rave_visits[ROOT] = rng.integers(0, 200, tree.moves) * (rng.random(tree.moves) < 0.8)
    tree.rave_wins[ROOT] = rng.integers(0, 2 * tree.rave_visits[ROOT] + 1)
    tree.node_visits[ROOT] = tree.visits[ROOT].sum() + PLAYOUTS
    tree.child[ROOT] = np.where(rng.random(tree.moves) < closed, FORBIDDEN, UNEXPLORED)
    tree.child[ROOT, :open_moves] = UNEXPLORED
    tree.ready[ROOT] = True
    return tree


def one_after_the_other(tree: Tree, rule, count: int) -> np.ndarray:
    """How often each move of the root is taken: a move that was taken i times has i more lost visits, and so has the node for it.

    That the logarithm of UCB1 sees only the move's own losses makes a move's value depend on nothing but i.
    """
    taken, extra = np.zeros(tree.moves, np.int64), FixedTies(tree)(np.array([ROOT]), tree.node_visits[:1])[0]
    worst = np.full(tree.moves, np.inf)
    for _ in range(count):
        losses = PLAYOUTS * taken[None]
        counts = Counts(tree.node_visits[ROOT] + losses, tree.visits[ROOT] + losses, tree.wins[ROOT][None],
                        tree.rave_visits[ROOT, :1], tree.rave_wins[ROOT, :1])  # fmt: skip
        # A value that rises after a loss counts as the one before.
        worst = np.minimum(worst, rule.values(counts)[0] + extra)
        taken[np.where(tree.child[ROOT] == FORBIDDEN, -np.inf, worst).argmax()] += 1
    return taken


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 17, 64, 257])
def test_sharing_of_one_node(name, count):
    for seed in range(4):
        tree = single_node(seed)
        expected, before = one_after_the_other(tree, RULES[name], count), copy.deepcopy(tree)
        leaves = descend(tree, RULES[name], FixedTies(tree), count, PLAYOUTS)
        np.testing.assert_array_equal(np.bincount(leaves.moves, minlength=tree.moves), expected)
        np.testing.assert_array_equal(tree.visits[ROOT] - before.visits[ROOT], PLAYOUTS * expected)
        assert (leaves.parents == ROOT).all() and (tree.child[ROOT, leaves.moves] == leaves.children).all()
        assert tree.node_visits[ROOT] - before.node_visits[ROOT] == PLAYOUTS * count
        assert tree.count - before.count == (expected > 0).sum()


@pytest.mark.parametrize("name", RULES)
def test_forbidden_moves_are_never_chosen(name):
    """However good they look, and however few moves are left."""
    for open_moves in (1, 2, 5):
        tree = single_node(9, closed=1.0, open_moves=open_moves)
        tree.visits[ROOT, 5:], tree.wins[ROOT, 5:] = 100, 200
        leaves = descend(tree, RULES[name], Ties(0, tree.moves), 100, PLAYOUTS)
        assert len(leaves.moves) == 100
        assert set(leaves.moves.tolist()) <= set(range(open_moves))
        assert (tree.child[ROOT, open_moves:] == FORBIDDEN).all()


@pytest.fixture(scope="module")
def grown() -> Search:
    """A tree of many levels on a board of 5x5."""
    game = middle_game(5, 12, seed=2)
    search = Search(
        from_games(game), rule=Rave(reference_visits=1), leaves=16, playouts_per_leaf=PLAYOUTS, seed=1, komi=0.5,
        memory=3000 * Tree.bytes_per_node(5, colours=2),
    )  # fmt: skip
    search.run(visits=4000)
    search.close()
    return search


def by_path(tree: Tree) -> dict[tuple[int, ...], tuple]:
    """Visits of all nodes."""
    return {tuple(tree.path(i)): (int(tree.node_visits[i]), tree.visits[i].tolist()) for i in range(tree.count)}


def ends_of(tree: Tree, leaves: Reached) -> list[tuple[int, ...]]:
    """The paths of leaves, in order."""
    return sorted((*tree.path(int(parent)), int(move)) for parent, move in zip(leaves.parents, leaves.moves))


@pytest.mark.parametrize("rule", [Rave(), Rave(bias=0.5), Rave(first_play=0.2)], ids=str)
def test_descents_through_many_levels(grown, rule):
    """The values of this schedule depend on a move's own visits alone: sharing out is exactly one descent after the other."""
    together, alone = copy.deepcopy(grown.tree), copy.deepcopy(grown.tree)
    leaves = descend(together, rule, FixedTies(together), 120, PLAYOUTS)
    one_by_one = [descend(alone, rule, FixedTies(alone), 1, PLAYOUTS) for _ in range(120)]
    assert ends_of(together, leaves) == sorted(sum((ends_of(alone, one) for one in one_by_one), []))
    assert by_path(together) == by_path(alone)
    assert len({len(path) for path in ends_of(together, leaves)}) > 3


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("count", [1, 30, 500])
def test_visits_are_conserved(grown, name, count):
    """Every descent ends once, and what enters a node leaves it or ends there."""
    tree, before = copy.deepcopy(grown.tree), grown.tree
    leaves = descend(tree, RULES[name], Ties(3, tree.moves), count, PLAYOUTS)
    assert len(leaves.parents) == len(leaves.moves) == len(leaves.children) == count
    entered = tree.node_visits[: tree.count] - before.node_visits[: tree.count]
    left = (tree.visits - before.visits)[: tree.count].sum(axis=1)
    ended = np.bincount(leaves.children, minlength=tree.count)
    np.testing.assert_array_equal(entered, left + PLAYOUTS * ended)
    assert entered[ROOT] == PLAYOUTS * count
    assert (before.child[leaves.parents, leaves.moves] != FORBIDDEN).all()
    for parent, move, child in zip(leaves.parents, leaves.moves, leaves.children):
        assert tree.child[parent, move] == child
        assert not tree.ready[child] or tree.passes[child] == 2


def test_ends_of_the_game_are_leaves():
    """Nothing is tried after two passes."""
    game, _ = parse("""
        . X O . .
        X X O O O
        X . X X O
        X X . X X
        . X X X .
    """, to_play=WHITE)  # fmt: skip
    search = Search(
        from_games(game), komi=7.0, leaves=16, playouts_per_leaf=PLAYOUTS, seed=2, memory=3000 * Tree.bytes_per_node(5)
    )
    search.run(visits=1200)
    search.close()
    tree = search.tree
    ends = np.flatnonzero(tree.is_terminal(np.arange(tree.count)))
    assert len(ends)
    leaves = descend(tree, Rave(), Ties(3, tree.moves), 500, PLAYOUTS)
    assert np.isin(leaves.children, ends).any()
    assert not tree.visits[ends].any()
    assert (tree.child[ends] == FORBIDDEN).all()


def test_reference_visits_read_the_ancestor_statistics():
    """A node with few visits is guided by what its parent's player found, for the colour that moves (GRAVE)."""
    tree = Tree(3, 50, colours=2)
    (child,) = tree.add(np.array([ROOT]), np.array([4]))
    tree.ready[[ROOT, child]] = True
    tree.child[ROOT] = FORBIDDEN
    tree.child[ROOT, 4] = child
    tree.node_visits[[ROOT, child]] = 100, 10
    tree.rave_visits[[ROOT, child]] = 50
    tree.rave_wins[[ROOT, child]] = 50
    tree.rave_wins[ROOT, 0, 1] = tree.rave_wins[ROOT, 1, 2] = tree.rave_wins[child, 0, 3] = 90
    ties = Ties(0, tree.moves)
    for reference, expected in ((0, 3), (10, 3), (11, 2), (1000, 2)):
        leaves = descend(copy.deepcopy(tree), Rave(reference_visits=reference), ties, 1, 1)
        assert leaves.moves.tolist() == [expected], reference


def test_ties_are_broken_at_random():
    """All moves of an empty board are tried first at some seed; the numbers are tiny and depend on node and visits."""
    first = set()
    for seed in range(60):
        tree = Tree(2, 3)
        tree.ready[ROOT] = True
        first.add(int(descend(tree, UCB1(), Ties(seed, tree.moves), 1, 1).moves[0]))
    assert first == set(range(5))
    ties = Ties(1, 26)
    some, other = ties(np.array([3, 3]), np.array([5, 6]))
    assert ((0 <= some) & (some <= TIE)).all() and (some != other).all()
    np.testing.assert_array_equal(ties(np.array([7, 3]), np.array([5, 5]))[1], some)


def test_room_for_some_of_the_new_nodes():
    """In a tree that fills up, the other leaves have no node, and their visits count all the same."""
    search = Search(from_games(Game(5)), leaves=16, playouts_per_leaf=PLAYOUTS, memory=6 * Tree.bytes_per_node(5))
    search.run(visits=64)
    search.close()
    tree = search.tree
    leaves = descend(tree, UCB1(), Ties(1, tree.moves), 12, PLAYOUTS)
    assert tree.count == tree.capacity == 6
    assert sorted(set(leaves.children.tolist())) == [FORBIDDEN, 1, 2, 3, 4, 5]
    assert len(leaves.moves) == 12 and tree.node_visits[ROOT] == 64 + 12 * PLAYOUTS
    assert tree.visits[ROOT].sum() == 12 * PLAYOUTS
    assert (tree.child[ROOT, leaves.moves[leaves.children == FORBIDDEN]] == UNEXPLORED).all()
