"""What a tree says of its root: the move to play, and the statistics that are written out."""

import dataclasses
import json

import numpy as np
import pytest

from search.nodes import READY, add_node
from search.root import PASS_GAIN, RootStatistics, best_move, visits_along
from search.rows import can_have_children, count_move
from search.tree import Tree


def rooted(known: dict[int, tuple[int, int]], passes: int = 0, size: int = 3) -> Tree:
    """A tree whose root knows of moves that may be tried (visits, wins in halves)."""
    tree = Tree(size, 1 << 16)
    tree[tree.root]["state"], tree[tree.root]["passes"], tree[tree.root]["visits"] = READY, passes, 1000
    can_have_children(tree.memory, tree.root)
    tree.memory.open[tree.root] = 0
    for move, (visits, wins) in known.items():
        tree.memory.open[tree.root, move >> 5] |= np.uint32(1 << (move & 31))
        count_move(tree.memory, tree.root, move, visits, wins)
    return tree


@pytest.mark.parametrize(("known", "expected"), [
    ({1: (90, 10), 2: (100, 5)}, 2), ({1: (100, 10), 2: (100, 11)}, 2), ({3: (100, 10), 2: (100, 10)}, 2),
])  # fmt: skip
def test_the_most_visited_move_is_played_then_that_of_more_wins_then_the_first(known, expected):
    assert best_move(rooted(known), as_it_stands=1, cleanup=False) == expected


@pytest.mark.parametrize(("rates", "passes", "as_it_stands", "cleanup", "pass_is_played"), [
    ((0.6, 0.6 - 2 * PASS_GAIN), 0, 2, False, True), ((0.6, 0.6 - PASS_GAIN / 2), 0, 2, False, False),
    ((0.6, 0.6 - 2 * PASS_GAIN), 0, 0, False, False), ((0.6, 0.6 - 2 * PASS_GAIN), 0, 2, True, False),
    ((0.5, 0.5), 1, 1, False, True), ((0.5, 0.51), 1, 1, False, False), ((0.1, 0.9), 1, 2, False, True), ((0.1, 0.9), 1, 2, True, False),
])  # fmt: skip
def test_when_a_pass_is_played(rates, passes, as_it_stands, cleanup, pass_is_played):
    """Of 1,000 playouts, and the other move of 900."""
    of_pass, of_other = (round(2 * number * rate) for number, rate in zip((1000, 900), rates))
    tree = rooted({9: (1000, of_pass), 4: (900, of_other)}, passes)
    assert best_move(tree, as_it_stands=as_it_stands, cleanup=cleanup) == (9 if pass_is_played else 4)


def test_playouts_along_a_line_are_no_more_than_its_first_move_has():
    """Playouts under way are in the tree, but not among those that the first move tells of."""
    tree = rooted({4: (100, 100)})
    child = add_node(tree.memory, tree.root, 4)
    tree[child]["visits"] = 100
    can_have_children(tree.memory, child)
    count_move(tree.memory, child, 5, 95, 0)
    assert visits_along(tree, [4, 5], 90) == [90, 90]
    assert visits_along(tree, [4, 5], 100) == [100, 95]


def test_statistics_as_json_tell_the_most_visited_first_and_nothing_that_is_not_known():
    tree = rooted({1: (10, 10), 2: (30, 15), 4: (20, 10)})
    found = RootStatistics.of(tree, True, 0.5, 1, 4)
    told = found.as_json(str)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [move["move"] for move in told["moves"]] == ["2", "4", "1"]
    assert [move["win_rate"] for move in told["moves"]] == [0.25, 0.25, 0.5]
    assert all(move["lead"] is None and move["rave_win_rate"] is None for move in told["moves"]), "no node tells"
    nothing = dataclasses.replace(found, root_win_rate=np.nan, root_lead=np.nan).as_json(str)
    assert nothing["win_rate"] is nothing["lead"] is None
