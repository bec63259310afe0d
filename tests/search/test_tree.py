"""The tree's memory: subtrees that are kept, nodes that are taken back, and trees without room."""

import copy

import jax
import numpy as np
import pytest

from jaxgo import Position
from jaxgo.running.leaves import MOST_OF_A_LEAF
from search import UCB1, Rave, Search, nodes
from search import game as search_game
from search import tree as tree_module
from search.backup import strike
from search.nodes import (
    CHILDREN,
    FIRST,
    MIDDLE,
    MOST_HELD,
    NARROW,
    NODES,
    NONE,
    TABLE_FROM,
    WIDE,
    add_node,
    bury_one,
    give_up_earliest,
)
from search.rounds import FIRST_LEAVES
from search.rows import MIDDLE_FROM, WIDE_FROM, add_rave, can_have_children, count_move
from search.tree import Tree, bytes_per_node
from search.tree_needs import memory_for
from tests.positions import from_games, middle_game
from tests.referee import Game
from tests.search.trees import assert_same_trees, nodes_by_path, told
from tests.wide import wide

LEAVES, PLAYOUTS = 16, 4


def grown(rule=None, visits: int = 1200, game: Game | None = None, leaves: int = 2000, **options) -> Search:
    """A search after some visits, with room for a number of leaves."""
    game, rule = middle_game(5, 4, seed=1) if game is None else game, Rave() if rule is None else rule
    options = {"memory": memory_for(game.size, rule, leaves), "seed": 3} | options
    search = Search(from_games(game), rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, **options)
    search.run(visits=visits)
    return search


RULES = {"ucb1": UCB1(), "rave": Rave(), "grave": Rave(reference_visits=50)}


def test_what_moves_have_brought_is_that_of_their_nodes():
    search = grown(RULES["rave"])
    search.launch(2000)  # playouts on their way, which do not count
    tree, found = search.tree, search.tree.found(search.tree.root, search.virtual_losses, PLAYOUTS)
    moves, nodes = tree.children(tree.root)
    assert tree[nodes]["pending"].any()
    expected = np.zeros_like(found)
    for move, x in zip(moves, tree[nodes]):
        visits = x["visits"] - x["pending"]
        expected[:, move] = visits, 2 * visits - x["wins"], -x["leads"], x["squares"]
    np.testing.assert_array_equal(found, expected)
    assert found[0].sum() == search.statistics().root_visits - PLAYOUTS * FIRST_LEAVES, "all but the root's own first playouts"
    search.close()


def test_a_move_that_is_struck_while_playouts_are_on_their_way_has_brought_nothing():
    search = grown(RULES["ucb1"], 80)
    before = search.tree.found(search.tree.root, search.virtual_losses, PLAYOUTS)[0]
    while search.launch(4000):
        pass
    tree = search.tree
    moves, nodes = tree.children(tree.root)
    first = [int(move) for move, x in zip(moves, tree[nodes]) if x["pending"] and not before[move]]
    assert first, "moves whose first playouts are under way"
    strike(tree.memory, tree.root, first[0])
    assert tree.visits(tree.root)[first[0]] > 0 == tree.found(tree.root, search.virtual_losses, PLAYOUTS)[0, first[0]]
    search.abandon()
    search.close()


@pytest.mark.parametrize("name", ["ucb1", "rave"])
def test_what_forgotten_moves_have_brought_is_known_at_a_new_root(name):
    """A full tree forgets leaves that are no moves of its root; those may be moves of the next, which goes by their visits."""
    full, forgotten = grown(RULES[name], 6000, leaves=60), 0
    for move in map(int, np.flatnonzero(full.statistics().visits > 8 * PLAYOUTS)):
        full.advance(move)
        tree, statistics = full.tree, full.statistics()
        known, wins = tree.visits_and_wins(tree.root)
        np.testing.assert_array_equal(statistics.visits, known)
        np.testing.assert_array_equal(statistics.win_rate[known > 0], wins[known > 0] / (2 * known[known > 0]))
        assert statistics.visits[full.best()] > 0 and not np.isnan(statistics.win_rate[full.best()])
        tried = np.zeros_like(known)
        tried[tree.children(tree.root)[0]] = tree[tree.children(tree.root)[1]]["visits"]
        forgotten += (known > tried).sum()
        assert np.isnan(statistics.lead[(known > 0) & (tried == 0)]).all() and not np.isnan(statistics.lead[tried > 0]).any()
        assert full.retreat()
    assert forgotten > 5, "else there was nothing to see"
    full.advance(move)
    before, looks = full.statistics(), []

    def look(_: int) -> None:
        now = full.statistics()
        assert (now.visits >= looks[-1].visits).all() if looks else (now.visits >= before.visits).all()
        rates = now.win_rate[now.visits > 0]
        assert ((rates >= 0) & (rates <= 1)).all()
        looks.append(now)

    full.run(visits=full.visits + 3000, progress=look)
    assert len(looks) > 5
    np.testing.assert_array_equal(full.statistics().visits, full.tree.visits(full.tree.root))
    full.close()


@pytest.mark.parametrize("name", RULES)
def test_advance_keeps_exactly_the_subtree_and_goes_on(name):
    search = grown(RULES[name])
    for _ in range(3):
        tree, move = search.tree, search.best()
        expected, position = told(tree, tree.child(tree.root, move)), search.position.play(np.array([move]))
        search.advance(move)
        assert search.tree is tree and told(tree) == expected
        for found, wanted in zip(*map(jax.tree.leaves, (search.position, position)), strict=True):  # which the tree knows
            np.testing.assert_array_equal(found, wanted, strict=True)
        visits = search.visits
        assert visits == expected[()]["visits"]
        assert search.run(visits=visits + 200) == visits + 200
        assert tree[tree.root]["parent"] == NONE and tree.path(tree.root) == []
    search.close()


def test_what_was_given_up_is_used_again():
    """A game goes on in the same memory: nodes are buried as new ones are made, and all bytes are accounted for."""
    search = grown(visits=8000, leaves=1000)
    tree = search.tree
    for _ in range(4):
        search.advance(search.best())
        search.run(visits=search.visits + 4000)
    search.advance(search.best())
    kept = nodes_by_path(tree)
    assert tree.count > len(kept)
    forget_all_else(tree)
    assert tree.count == len(kept) and nodes_by_path(tree) == kept
    assert_all_bytes_are_counted(tree)
    assert tree.memory.pools[NODES]["count"] < 24_000 / PLAYOUTS / 2, "of all nodes ever made"
    search.close()


def forget_all_else(tree: Tree) -> None:
    """Gives up the earlier roots and frees what was given up, as new nodes do in a full tree."""
    book = tree.memory.book[0]
    while book["held"]:
        give_up_earliest(tree.memory)
    while book["dead"] != NONE:
        bury_one(tree.memory)


def assert_all_bytes_are_counted(tree: Tree) -> None:
    """The bytes used are those of the rows in use."""
    assert tree.bytes_used == sum(int((pool["count"] - pool["spare"]) * pool["bytes"]) for pool in tree.memory.pools)
    assert tree.bytes_used <= tree.memory.book["limit"][0]


@pytest.mark.parametrize("name", RULES)
def test_retreat_goes_back_to_the_tree_there(name):
    """Through several roots, and on to the same ones again: nothing is changed by going to and fro."""
    search, before = grown(RULES[name]), []
    for _ in range(3):
        before.append((search.position, search.history, told(search.tree), search.best()))
        search.advance(search.best())
    for _ in range(2):
        for position, history, known, _ in reversed(before):
            assert search.retreat()
            assert repr(search.position) == repr(position)
            np.testing.assert_array_equal(search.history, history)
            assert told(search.tree) == known
        assert not search.retreat()
        for *_, move in before:
            search.advance(move)
    search.close()


@pytest.mark.parametrize("name", RULES)
def test_what_was_played_below_counts_above_after_going_back(name):
    """All but RAVE statistics; and the search goes on from there."""
    search = grown(RULES[name])
    tree, fields = search.tree, ("visits", "wins", "leads", "squares")
    roots = []
    for _ in range(3):
        move = search.best()
        roots.append(([tree[tree.root][x].item() for x in fields], tree.rave(tree.root)))
        child = tree[tree.child(tree.root, move)]
        started = np.array([child[x] for x in fields])
        search.advance(move)
    search.run(visits=search.visits + 400)
    gained = np.array([tree[tree.root][x] for x in fields]) - started
    assert gained[0] == 400
    for sums, rave in reversed(roots):
        assert search.retreat()
        gained = gained * [1, -1, -1, 1] + [0, 2 * gained[0], 0, 0]
        np.testing.assert_array_equal([tree[tree.root][x] for x in fields], sums + gained)
        np.testing.assert_array_equal(tree.rave(tree.root), rave)
        assert_nodes_know_their_moves(tree)
    visits = search.visits
    assert search.run(visits=visits + 200) == visits + 200
    assert_nodes_know_their_moves(tree)
    search.close()


def test_held_roots_take_no_room_from_the_present_one():
    """They are given up before any of its leaves: it grows as if they were not there, to what there is just room for."""
    held, free = (grown(leaves=175) for _ in range(2))
    for search in (held, free):
        search.advance(search.best())
    forget_all_else(free.tree)
    for search in (held, free):
        search.run(visits=search.visits + 800)
        search.close()
    assert_same_trees(held.tree, free.tree)
    assert not held.retreat()


def test_only_the_last_roots_are_held():
    search = grown(UCB1(), visits=100)
    for _ in range(MOST_HELD + 2):
        search.run(visits=search.visits + 200)
        search.advance(search.best())
    assert sum(iter(search.retreat, False)) == MOST_HELD
    search.close()


@pytest.mark.parametrize("leaves", [0, 300, *wide(30)])
@pytest.mark.parametrize("name", RULES)
def test_a_small_tree_holds_earlier_roots_as_long_as_there_is_room(name, leaves):
    """A long game with moves taken back; other moves follow. All nodes and bytes are accounted for at every step."""
    search, rng, held = grown(RULES[name], visits=300, leaves=leaves), np.random.default_rng(1), []
    tree = search.tree
    for _ in range(40):
        if rng.random() < 0.3:
            search.retreat()
        tried = np.flatnonzero(tree.visits(tree.root) > PLAYOUTS)
        if search.tree is not tree or not len(tried) or search.position.play(np.array([tried[-1]])).is_over()[0]:
            break
        search.advance(int(rng.choice(tried)))
        held.append(int(tree.memory.book["held"][0]))
        search.run(visits=search.visits + 200)
        for node in nodes_by_path(tree).values():
            (moves, children), visits = tree.children(node), tree.visits(node)
            assert (visits[moves] >= tree[children]["visits"]).all(), "forgotten leaves still count"
            assert visits.sum() < tree[node]["visits"]
        assert_all_bytes_are_counted(tree)
    assert 0 < max(held) <= MOST_HELD
    copied = copy.deepcopy(tree)
    forget_all_else(copied)
    assert copied.count == len(nodes_by_path(copied)) and told(copied) == told(tree)
    assert_all_bytes_are_counted(copied)
    search.close()


def test_advance_to_a_move_without_a_node():
    """It starts anew."""
    search = grown(visits=4)
    search.advance(0 if search.position.legal()[0, 0] else 1)
    assert (search.visits, search.tree.count) == (0, 1)
    assert search.run(visits=100) == 100
    search.close()


@pytest.mark.parametrize("leaves", [0, 30])
@pytest.mark.parametrize("name", RULES)
def test_full_trees_forget_cold_leaves_and_go_on_learning(name, leaves):
    search = grown(RULES[name], visits=2000, leaves=leaves)
    tree = search.tree
    before = tree.visits(tree.root)
    assert search.run(visits=4000) == 4000
    search.close()
    limit = int(tree.memory.book["limit"][0])
    assert limit - 2 * max(bytes_per_node(5, colours=tree.rave_colours)) < tree.bytes_used <= limit
    after = tree.visits(tree.root)
    assert (after >= before).all() and (after > before).sum() > 1, "the root's moves are not forgotten"
    assert tree[tree.root]["visits"] - after.sum() >= PLAYOUTS
    assert not tree[: tree.count]["pending"].any()
    assert tree.open(tree.root)[search.best()]
    assert max(len(path) for path in nodes_by_path(tree)) > 1


def test_a_full_tree_keeps_what_it_visits_often():
    """Of a long search in little memory the expected line is left, though most of what it ever saw is gone."""
    search = grown(visits=20_000, leaves=110)
    tree = search.tree
    search.close()
    assert tree.count < 20_000 / PLAYOUTS / 5
    assert_all_bytes_are_counted(tree)
    assert (tree.memory.pools[CHILDREN]["count"] > 1) and nodes_by_path(tree)  # whose tables tell what their links tell
    node = tree.root
    for move in search.variation()[:3]:
        node = tree.child(node, move)
    assert tree[node]["visits"] > 20 * PLAYOUTS


def test_lines_are_of_moves_that_there_are():
    search = grown(visits=64)
    for asked in (lambda: search.variation(-1), lambda: search.variations([0, 26])):
        with pytest.raises(ValueError, match="move must be .*between 0 and"):
            asked()
    with pytest.raises(ValueError, match="most must be between 0"):
        search.variation(most=-1)
    assert search.variation(most=2**31 - 1) == search.variation(most=25)  # and takes no memory for more than there are
    assert search.variations([]) == [] and search.variations([search.best()]) == [search.variation(search.best())]
    search.close()


def test_memory_must_hold_the_moves_of_the_root():
    with pytest.raises(ValueError, match="memory must be at least [0-9]+ bytes, not 1000"):
        Search(Position.empty(5), memory=1000)


def test_memory_must_be_there():
    with pytest.raises(MemoryError, match=f"memory must be what the system can give, not {1 << 50} bytes"):
        Tree(25, 1 << 50)


def test_nodes_are_no_more_than_numbers_of_32_bits_tell_apart(monkeypatch):
    """As links are."""
    monkeypatch.setattr(tree_module, "MOST_NODES", 40)
    tree = Tree(5, 1 << 30)
    assert len(tree.memory.nodes) == 40 == tree.memory.book["limit"][0] // tree.memory.pools["bytes"][NODES]
    assert nodes.MOST_NODES == np.iinfo(nodes.NODE["parent"]).max


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("colours", [1, 2])
def test_rave_statistics_move_to_larger_rows_as_they_grow(colours, fractions):
    """From a byte to two, to a float, to a double for each point; nothing is lost, and the smaller rows are free again."""
    tree, rng = Tree(3, 1 << 16, colours=colours, fractions=fractions), np.random.default_rng(1)
    total, pools = np.zeros((colours, 2, 10)), []
    for visits in (8, 16, 24, MIDDLE_FROM, MIDDLE_FROM + 8, WIDE_FROM, WIDE_FROM + 8):
        number = rng.integers(0, 9, (colours, 10))
        earned = np.stack([number, rng.integers(0, 2 * number + 1)], axis=1).astype(float)
        tree[tree.root]["visits"] = visits
        add_rave(tree.memory, tree.root, earned, 0, FIRST)
        total += earned
        pools.append(int(tree[tree.root]["pool"]))
        np.testing.assert_array_equal(tree.rave(tree.root), total)
    middle = NARROW if fractions else MIDDLE  # which is of floats already
    assert pools == [FIRST, NARROW, NARROW, middle, middle, WIDE, WIDE]
    assert [int(pool["count"] - pool["spare"]) for pool in tree.memory.pools] == [1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("name", RULES)
def test_trees_do_not_depend_on_how_large_their_rows_are(name):
    """With rows of 32 and 64 bits from few playouts on, and with tables: each node says what it says in rows of 16 bits."""
    game = middle_game(5, 4, seed=1)
    trees = []
    for middle_from, wide_from in ((MIDDLE_FROM, WIDE_FROM), (100, 800), (100, 100)):
        search = Search(from_games(game), rule=RULES[name], leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=3)
        search.tree.memory.book["middle_from"], search.tree.memory.book["wide_from"] = middle_from, wide_from
        search.run(visits=6000)
        search.close()
        trees.append(search.tree)
    assert [{NARROW, MIDDLE, WIDE} & {*tree[[*nodes_by_path(tree).values()]]["pool"].tolist()} for tree in trees] == [
        {NARROW}, {NARROW, MIDDLE, WIDE}, {NARROW, WIDE},
    ]  # fmt: skip
    for tree in trees[1:]:
        assert_same_trees(tree, trees[0])


def test_a_full_tree_goes_back_only_where_there_is_room_for_the_sums():
    tree = Tree(3, 1 << 16)
    can_have_children(tree.memory, tree.root)
    earlier, child = tree.root, add_node(tree.memory, tree.root, 4)
    tree[earlier]["visits"], tree[child]["visits"] = MIDDLE_FROM - 8, 8
    count_move(tree.memory, earlier, 4, 8, 8)
    tree.keep(4)
    tree[child]["visits"] += 16  # played since then
    room, tree.memory.book["limit"] = int(tree.memory.book["limit"][0]), tree.bytes_used
    assert not tree.go_back()
    assert tree.root == child
    tree.memory.book["limit"] = room
    assert tree.go_back()
    assert (tree.root, tree[earlier]["visits"], tree.visits(earlier)[4]) == (earlier, MIDDLE_FROM + 8, 24)


def test_a_root_that_was_given_up_for_room_is_linked_to_nothing():
    """Going back looks for room among the roots held before; it finds too little, and nothing leads to those any more."""
    tree = Tree(3, 1 << 16)
    for visits, move in ((100, 4), (WIDE_FROM - 8, 3)):
        can_have_children(tree.memory, tree.root)
        child = add_node(tree.memory, tree.root, move)
        tree[tree.root]["visits"], tree[child]["visits"] = visits, 8
        count_move(tree.memory, tree.root, move, 8, 8)
        tree.keep(move)
    tree[tree.root]["visits"] += 16
    tree.memory.book["limit"] = tree.bytes_used
    assert not tree.go_back()
    assert (tree.memory.book["held"][0], tree[tree.memory.book["earlier"][0]]["sibling"]) == (1, NONE)


def test_counts_stand_a_million_million_playouts():
    """Additions of single playouts are not lost beside that many."""
    tree, many = Tree(3, 1 << 16), 10**12
    tree[tree.root]["visits"] = many
    tree[tree.root]["wins"] = 2 * many
    for number in (1, many, many, 1):
        add_rave(tree.memory, tree.root, np.full((1, 2, 10), float(number)), 0, NARROW)
    assert tree[tree.root]["pool"] == WIDE
    assert (tree.rave(tree.root) == 2 * many + 2).all()
    assert tree[tree.root]["wins"] == 2 * 10**12


def test_memory_of_a_node():
    """Most nodes are visited once; docs/bot-authors.md tells these figures."""
    once, again = bytes_per_node(9)
    assert (once, again) == (206, 780)
    assert bytes_per_node(9, colours=0)[0] < once < bytes_per_node(9, colours=2)[0]
    assert again < bytes_per_node(9, fractions=True)[1]
    # With a quarter of the nodes visited again, 12 M are within 4 GiB.
    assert 12_000_000 * (0.75 * once + 0.25 * again) < 4 << 30


def test_nodes_that_share_memory_are_counted():
    search = grown(visits=3000)
    tree = search.tree
    search.close()
    pools = np.array([tree[node]["pool"] for node in nodes_by_path(tree).values()])
    visits = np.array([tree[node]["visits"] for node in nodes_by_path(tree).values()])
    np.testing.assert_array_equal(pools == FIRST, visits == PLAYOUTS)
    np.testing.assert_array_equal(pools == NARROW, visits > PLAYOUTS)
    of_a_table, tables, spare = tree.memory.pools[CHILDREN].tolist()
    assert (tables, spare) == (np.count_nonzero([tree[node]["table"] != NONE for node in nodes_by_path(tree).values()]), 0)
    assert 1 < tables <= np.count_nonzero(visits >= TABLE_FROM)
    assert tree.bytes_used == sum(bytes_per_node(5)[int(pool == NARROW)] for pool in pools) + tables * of_a_table


@pytest.mark.parametrize("name", RULES)
def test_what_a_node_knows_of_its_moves_is_what_their_nodes_know(name):
    """Visits and results lie in the node's own row too, beside each other."""
    search = grown(RULES[name])
    assert_nodes_know_their_moves(search.tree)
    search.close()


def assert_nodes_know_their_moves(tree: Tree) -> None:
    """The visits and results of moves in each node's row are those of its children."""
    for node in nodes_by_path(tree).values():
        moves, children = tree.children(node)
        below, visits, wins = tree[children], tree.visits(node), tree.wins(node)
        np.testing.assert_array_equal(visits[moves], below["visits"])
        np.testing.assert_array_equal(wins[moves], 2 * (below["visits"] - below["pending"]) - below["wins"])
        assert visits.sum() == below["visits"].sum() < tree[node]["visits"]


def test_a_copy_is_independent():
    tree = grown().tree
    copied, before = copy.deepcopy(tree), told(tree)
    copied.keep(int(copied.visits(copied.root).argmax()))
    assert told(tree) == before != told(copied)


def test_a_position_is_found_where_the_tree_holds_it():
    search = Search(Position.empty(5), leaves=16, playouts_per_leaf=8, seed=3)
    search.run(visits=3000)
    tree, game = search.tree, search_game.Game(Position.empty(5))
    assert search.line_to(game.position, game.history) == ()
    first = search.best()
    second = int(tree.visits(tree.child(tree.root, first)).argmax())
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


@pytest.mark.parametrize("name", RULES)
def test_full_trees_keep_the_roots_moves(name):
    search = grown(RULES[name], visits=4000, leaves=0)
    tree = search.tree
    search.close()
    assert all(tree.child(tree.root, int(move)) != NONE for move in np.flatnonzero(tree.visits(tree.root)))


@pytest.mark.parametrize("most", [MIDDLE_FROM - 1, WIDE_FROM - 1])
def test_rows_hold_what_one_more_leaf_adds_before_they_grow(most):
    """All its playouts and their results, the largest leaf there may be: counts of 16 bits do not run over, floats of 32 are exact."""
    tree = Tree(3, 1 << 16)
    tree[tree.root]["visits"] = most
    assert can_have_children(tree.memory, tree.root)
    for visits, wins in ((most, 2 * most), (MOST_OF_A_LEAF, 2 * MOST_OF_A_LEAF - 1)):
        count_move(tree.memory, tree.root, 4, visits, wins)
    assert tree.visits_and_wins(tree.root)[:, 4].tolist() == [most + MOST_OF_A_LEAF, 2 * (most + MOST_OF_A_LEAF) - 1]


def test_leads_that_are_forgotten_were_as_those_since():
    """Of 24 playouts the node that is there has had eight; the move's mean lead is theirs."""
    tree = Tree(3, 1 << 16)
    can_have_children(tree.memory, tree.root)
    child = add_node(tree.memory, tree.root, 4)
    tree[child]["visits"], tree[child]["wins"], tree[child]["leads"], tree[child]["squares"] = 8, 6, -24.0, 80.0
    count_move(tree.memory, tree.root, 4, 24, 30)
    assert tree.found(tree.root, 1, 4)[:, 4].tolist() == [24, 30, 72, 240]


def test_a_position_after_another_number_of_passes_is_another():
    """Of the same stones, hash and player to move."""
    search = Search(Position.empty(3), leaves=16, playouts_per_leaf=4, seed=3)
    search.run(visits=400)
    assert search.line_to(Position.empty(3)) == ()
    assert search.line_to(Position.from_array(np.zeros((3, 3), np.int8), passes=1)) is None
    search.close()
