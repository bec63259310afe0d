"""The tree's memory: backup by hand, subtrees that are kept, nodes that are taken back, and trees without room."""

import copy

import numpy as np
import pytest

from jaxgo import Position
from search import UCB1, Rave, Search
from search import game as search_game
from search.backup import back_up
from search.descent import Ties, descend
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree
from tests.positions import from_games, middle_game
from tests.referee import Game

LEAVES, PLAYOUTS = 16, 4
PASS = 9
"""On 3x3."""


def line_of_three() -> Tree:
    """A tree of 3x3 with the root, its child by 4, and that one's child by 0."""
    tree = Tree(3, 10, colours=2)
    np.testing.assert_array_equal(tree.add(np.array([ROOT]), np.array([4])), [1])
    np.testing.assert_array_equal(tree.add(np.array([1]), np.array([0])), [2])
    tree.ready[:3] = True
    return tree


def first_plays(mine: dict[int, tuple[int, int]], theirs: dict[int, tuple[int, int]]) -> np.ndarray:
    """int16 [1, 2, 2, 10]: of (playouts in which he was first, his results in them) by point."""
    out = np.zeros((1, 2, 2, PASS + 1), np.int16)
    for colour, counts in enumerate((mine, theirs)):
        for point, (number, results) in counts.items():
            out[0, colour, :, point] = number, results
    return out


def back_up_leaf(tree: Tree, parent: int, move: int, child: int, strict: bool = True) -> None:
    """5 playouts of a leaf: its mover wins 3, draws 1, loses 1; area difference -6 in all; first plays of both."""
    leaf = np.array([parent]), np.array([move]), np.array([child])
    tree.count_visits(*leaf, 5)
    firsts = first_plays({0: (2, 4), 3: (5, 7)}, {4: (3, 5), 5: (4, 2), 0: (1, 2)})
    back_up(tree, *leaf, 5, np.array([7]), np.array([-6]), np.array([60]), firsts, strict)


def row(**points) -> list[int]:
    """Ten numbers, of which some are given as p0 to p9."""
    return [points.get(f"p{i}", 0) for i in range(PASS + 1)]


@pytest.mark.parametrize("strict", [True, False])
def test_backup_by_hand(strict):
    """Every node sees the results of its own mover, and its children's moves as first plays."""
    tree = line_of_three()
    back_up_leaf(tree, 1, 0, 2, strict)
    assert tree.node_visits[:4].tolist() == [5, 5, 5, 0]
    assert tree.node_wins[:4].tolist() == [7, 3, 7, 0]
    assert tree.node_leads[:4].tolist() == [-6, 6, -6, 0]
    assert tree.node_squares[:4].tolist() == [60, 60, 60, 0]
    assert tree.visits[:3].tolist() == [row(p4=5), row(p0=5), row()]
    assert tree.wins[:3].tolist() == [row(p4=7), row(p0=3), row()]
    # The leaf, for its mover and the other one.
    assert tree.rave_visits[2].tolist() == [row(p0=2, p3=5), row(p0=1, p4=3, p5=4)]
    assert tree.rave_wins[2].tolist() == [row(p0=4, p3=7), row(p0=2, p4=5, p5=2)]
    # Its parent, whose mover played 0 in all five. By the strict reading nobody else was first there.
    late = {} if strict else {"p0": 2}
    late_wins = {} if strict else {"p0": 4}
    assert tree.rave_visits[1].tolist() == [row(p0=5, p4=3, p5=4), row(p3=5, **late)]
    assert tree.rave_wins[1].tolist() == [row(p0=3, p4=5, p5=2), row(p3=7, **late_wins)]
    # The root, whose mover played 4 in all five; it is the leaf's mover too.
    assert tree.rave_visits[ROOT].tolist() == [row(p3=5, p4=5, **late), row(p0=5, p5=4, **({} if strict else {"p4": 3}))]
    assert tree.rave_wins[ROOT].tolist() == [row(p3=7, p4=7, **late_wins), row(p0=3, p5=2, **({} if strict else {"p4": 5}))]


def test_backup_after_a_pass():
    """A pass earns nothing and hides nothing."""
    tree = Tree(3, 10)
    tree.add(np.array([ROOT]), np.array([PASS]))
    tree.ready[:2] = True
    back_up_leaf(tree, ROOT, PASS, 1)
    assert tree.visits[ROOT].tolist() == row(p9=5) and tree.wins[ROOT].tolist() == row(p9=3)
    assert tree.rave_visits[ROOT].tolist() == [row(p0=1, p4=3, p5=4)]
    assert tree.rave_wins[ROOT].tolist() == [row(p0=2, p4=5, p5=2)]


def test_backup_of_a_leaf_without_a_node():
    """In a full tree: all nodes above see what they would see otherwise."""
    whole, full = line_of_three(), line_of_three()
    full.forget_last(2)
    back_up_leaf(whole, 1, 0, 2)
    back_up_leaf(full, 1, 0, FORBIDDEN)
    for name, array in whole.arrays.items():
        if name != "child":
            np.testing.assert_array_equal(full.arrays[name][:2], array[:2], name)
            assert not full.arrays[name][2:].any(), name


def test_backup_of_several_leaves_is_the_sum():
    """Leaves at different depths, one of them twice, in one call and one by one."""
    rng = np.random.default_rng(1)
    together, alone = line_of_three(), line_of_three()
    parents, moves, children = np.array([1, ROOT, 1, ROOT, 2, 2]), np.array([0, 4, 0, 7, 8, PASS]), np.array([2, 1, 2, 3, 4, 5])
    for tree in (together, alone):
        tree.add(parents[3:], moves[3:])
    wins, leads = rng.integers(0, 11, 6), rng.integers(-20, 20, 6)
    number = rng.integers(0, 6, (6, 2, PASS + 1))
    firsts = np.stack([number, rng.integers(0, 2 * number + 1)], axis=2).astype(np.int16)
    firsts[..., PASS] = 0
    squares = rng.integers(0, 400, 6)
    back_up(together, parents, moves, children, 5, wins, leads, squares, firsts, True)
    for i in range(6):
        one = slice(i, i + 1)
        back_up(alone, parents[one], moves[one], children[one], 5, wins[one], leads[one], squares[one], firsts[one], True)
    for name, array in together.arrays.items():
        np.testing.assert_array_equal(alone.arrays[name], array, name)
    assert together.rave_visits[ROOT].any()


def first_plays_of(in_tree: list[int], lines: list[list[int]], results: list[int], strict: bool) -> np.ndarray:
    """int [2, 2, 10]: what the mover (0) and the other earn by first plays, ply by ply; results are the mover's."""
    out = np.zeros((2, 2, PASS + 1), int)
    for line, result in zip(lines, results):
        plies = [*in_tree, *line]
        for ply, move in enumerate(plies):
            before = plies[:ply]
            if not strict and ply < len(in_tree):
                before = before[ply % 2 :: 2]
            elif not strict:
                before = in_tree[ply % 2 :: 2] + line[: ply - len(in_tree)]
            if move != PASS and move not in before:
                out[ply % 2, 0, move] += 1
                out[ply % 2, 1, move] += 2 - result if ply % 2 else result
    return out


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_backup_of_lines_that_repeat_points(seed, strict):
    """Three leaves at the ends of lines on which points come again, as after captures, against a count ply by ply."""
    rng = np.random.default_rng(seed)
    tree, playouts, leaves, expected = Tree(3, 40, colours=2), 3, [], {}
    tree.ready[:] = True
    trunk = rng.integers(0, 4, 3).tolist()
    for end in ([4, 0, 4], [5, PASS, 5, 0], [6]):
        node, path = ROOT, [ROOT]
        for move in trunk + end:
            if tree.child[node, move] == UNEXPLORED:
                tree.add(np.array([node]), np.array([move]))
            node = int(tree.child[node, move])
            path.append(node)
        lines, results = rng.integers(0, PASS, (playouts, 7)).tolist(), rng.integers(0, 3, playouts).tolist()
        leaves.append((path[-2], (trunk + end)[-1], node, sum(results), first_plays_of([], lines, results, True)))
        for distance, above in enumerate(reversed(path)):
            mine = results if distance % 2 == 0 else [2 - result for result in results]
            in_tree = (trunk + end)[len(path) - 1 - distance :]
            expected[above] = expected.get(above, 0) + first_plays_of(in_tree, lines, mine, strict)
    parents, moves, children, wins, firsts = (np.array(x) for x in zip(*leaves))
    back_up(tree, parents, moves, children, playouts, wins, np.zeros(3, int), np.zeros(3, int), firsts, strict)
    for node, counts in expected.items():
        np.testing.assert_array_equal(tree.rave_visits[node], counts[:, 0], str(node))
        np.testing.assert_array_equal(tree.rave_wins[node], counts[:, 1], str(node))


def grown(rule=None, visits: int = 1200, game: Game | None = None, nodes: int = 2000, **options) -> Search:
    """A search after some visits, with room for a number of nodes (of weightless rules)."""
    game = middle_game(5, 4, seed=1) if game is None else game
    options = {"memory": nodes * Tree.bytes_per_node(game.size), "seed": 3} | options
    search = Search(from_games(game), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, **options)
    search.run(visits=visits)
    return search


# Statistics and descriptions of a node that do not depend on where the root is.
OF_NODES = (
    "visits", "wins", "rave_visits", "rave_wins", "node_visits", "node_wins", "node_leads", "ready", "words", "ko",
    "passes", "hash", "margin",
)  # fmt: skip


def by_path(tree: Tree, root: int = ROOT) -> dict[tuple[int, ...], dict[str, object]]:
    """What every node below one says, by the moves that lead there from it; found by its children."""
    out, frontier = {}, [((), root)]
    while frontier:
        path, node = frontier.pop()
        out[path] = {name: tree.arrays[name][node].tolist() for name in OF_NODES}
        out[path]["depth"] = int(tree.depth[node] - tree.depth[root])
        out[path]["closed"] = np.flatnonzero(tree.child[node] == FORBIDDEN).tolist()
        frontier += [((*path, int(move)), int(tree.child[node, move])) for move in np.flatnonzero(tree.child[node] > 0)]
    return out


@pytest.mark.parametrize("rule", [UCB1(), Rave(), Rave(reference_visits=50)], ids=["ucb1", "rave", "grave"])
def test_keep_keeps_exactly_the_subtree(rule):
    tree = grown(rule).tree
    nodes = np.argsort(-tree.node_visits[: tree.count])[[1, 2, 5, 20]].tolist()
    nodes.append(int(np.flatnonzero(tree.ready[: tree.count] & (tree.node_visits[: tree.count] == PLAYOUTS))[0]))
    for node in nodes:
        kept, expected = copy.deepcopy(tree), by_path(tree, node)
        kept.keep(node)
        assert by_path(kept) == expected
        assert kept.count == len(expected)
        paths = [tuple(kept.path(i)) for i in range(kept.count)]
        assert sorted(paths) == sorted(expected)
        assert [kept.depth[i] for i in range(kept.count)] == [len(path) for path in paths]
        assert not any(array[kept.count :].any() for array in kept.arrays.values())
    assert len(expected) == 1 < tree.count


def test_keeping_the_root_changes_nothing():
    tree = grown().tree
    kept = copy.deepcopy(tree)
    kept.keep(ROOT)
    for name, array in tree.arrays.items():
        np.testing.assert_array_equal(kept.arrays[name], array, name)


def test_advance_keeps_the_subtree_and_goes_on():
    search = grown()
    for _ in range(3):
        move = search.best()
        expected = by_path(search.tree, int(search.tree.child[ROOT, move]))
        search.advance(move)
        assert by_path(search.tree) == expected
        visits = search.visits
        assert visits == expected[()]["node_visits"]
        assert search.run(visits=visits + 200) == visits + 200
    search.close()


def test_advance_to_a_move_without_a_node():
    """It starts anew."""
    search = grown(visits=4)
    search.advance(0 if search.position.legal()[0, 0] else 1)
    assert (search.visits, search.tree.count) == (0, 1)
    assert search.run(visits=100) == 100
    search.close()


def test_descents_are_taken_back():
    """`count_visits` and `forget_last` undo `descend`, down to the last bit of the memory."""
    tree = grown().tree
    before = copy.deepcopy(tree.arrays)
    count = tree.count
    leaves = descend(tree, Rave(), Ties(1, tree.moves), 50, PLAYOUTS)
    assert tree.count > count and tree.node_visits[ROOT] == before["node_visits"][ROOT] + 50 * PLAYOUTS
    tree.count_visits(leaves.parents, leaves.moves, leaves.children, -PLAYOUTS)
    tree.forget_last(count)
    assert tree.count == count
    for name, array in before.items():
        np.testing.assert_array_equal(tree.arrays[name], array, name)


@pytest.mark.parametrize("nodes", [2, 30])
@pytest.mark.parametrize("rule", [UCB1(), Rave()], ids=["ucb1", "rave"])
def test_full_trees_go_on_learning(rule, nodes):
    search = grown(rule, visits=400, nodes=nodes)
    assert search.tree.count == search.tree.capacity == nodes
    wins, visits = (getattr(search.tree, name)[ROOT].copy() for name in ("wins", "visits"))
    assert visits.sum() == 400 - PLAYOUTS * LEAVES
    assert search.run(visits=1200) == 1200
    search.close()
    more = search.tree.visits[ROOT] > visits
    assert more.sum() > 1 and (search.tree.wins[ROOT] >= wins).all() and (search.tree.wins[ROOT] > wins).any()
    assert search.tree.count == nodes
    assert search.tree.path(nodes - 1)[-1] == search.tree.move[nodes - 1]
    assert search.tree.child[ROOT, search.best()] != FORBIDDEN


def test_add_as_far_as_there_is_room():
    tree = Tree(3, 3)
    nodes = tree.add(np.array([ROOT, ROOT, ROOT]), np.array([1, 5, PASS]))
    assert nodes.tolist() == [1, 2, FORBIDDEN]
    assert tree.count == 3
    assert tree.child[ROOT].tolist() == row(p1=1, p5=2, p9=UNEXPLORED)
    assert tree.add(np.array([1]), np.array([0])).tolist() == [FORBIDDEN]


def test_memory_of_a_node():
    """As numpy counts it; more for two colours and for fractions."""
    plain = Tree.bytes_per_node(5)
    assert plain == sum(array.itemsize * array[0].size for array in Tree(5, 7).arrays.values())
    assert Tree.bytes_per_node(5, colours=2) == plain + 2 * 26 * 4
    assert Tree.bytes_per_node(5, fractions=True, legal=True) == plain + 2 * 26 * 4 + 2 * 25


def test_a_position_is_found_where_the_tree_holds_it():
    search = Search(Position.empty(5), leaves=16, playouts_per_leaf=8, seed=3)
    search.run(visits=3000)
    tree, game = search.tree, search_game.Game(Position.empty(5))
    assert search.line_to(game.position, game.history) == ()
    first = search.best()
    second = int(tree.visits[tree.child[0, first]].argmax())
    game.play(first)
    assert search.line_to(game.position, game.history) == (first,)
    assert search.line_to(game.turn(1), game.history) is None, "the other player's turn is another position"
    game.play(second)
    assert search.line_to(game.position, game.history) == (first, second)
    assert search.line_to(game.position, game.history, most=1) is None
    assert search.line_to(game.position, game.history[::-1]) is None, "another game led there"
    assert search.line_to(game.position) is None
    search.advance(first)
    assert search.line_to(game.position, game.history) == (second,)
