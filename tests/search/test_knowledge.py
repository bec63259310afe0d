"""What a search knows of moves before playouts have told it: who is told, what it is worth, and where it must not show.

That the trees are right, node by node, is `tests/search/test_search_equals_scalar.py`'s."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxgo
from search import UCB1, Knowledge, MoveWeights, Rave, Search, make_player
from search.move_weights import DOUBLE
from search.players import rule_of, search_options
from search.tree import bytes_per_node
from tests.search.gtp.client import Client
from tests.search.trees import assert_same_trees, nodes_by_path

LEAVES, PLAYOUTS = 16, 4
#: Black captures three stones at A3.
POSITION = jaxgo.Position.from_ascii("""
    O O X . .
    O X . . .
    . . . . .
    X . . . .
    . . . . .
""")
CAPTURE = 10
#: All that is known: what captures three stones is good.
OF_CAPTURES = Knowledge(even=0, likely=200, weights=MoveWeights.of(capture_more=900))


def searched(rule, visits: int = 800, **options) -> Search:
    """A search from the position, ended."""
    search = Search(POSITION, rule=rule, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=3, memory=1 << 22, **options)
    search.run(visits=visits)
    search.close()
    return search


@pytest.mark.parametrize("rule", [Rave(knowledge=OF_CAPTURES), UCB1(knowledge=OF_CAPTURES, first_play=0.9)], ids=["rave", "uct"])
def test_what_is_known_good_is_tried_first(rule):
    """Before any playout through it: the first leaf that is no longer the root is the capture."""
    search = searched(rule, LEAVES * PLAYOUTS + PLAYOUTS)
    tree = search.tree
    assert tree.children(tree.root)[0].tolist() == [CAPTURE]
    assert tree.memory.priors[tree.root, 0, CAPTURE] == 200 and tree.memory.priors[tree.root].sum() == 200, "it is sure"


def test_a_move_has_no_more_than_a_byte_holds():
    tree = searched(Rave(knowledge=dataclasses.replace(OF_CAPTURES, even=100))).tree
    assert tree.memory.priors[tree.root, :, CAPTURE].tolist() == [255, 100]


def test_chances_are_shares_of_strengths():
    """A move twice as strong as each of nineteen others has two of 21 shares; so many playouts are won as the root of that says."""
    tree = searched(Rave(knowledge=Knowledge(even=3, likely=250, weights=MoveWeights.of(capture_more=DOUBLE)))).tree
    won, lost = tree.memory.priors[tree.root]
    moves = np.flatnonzero(won[:-1] > 3)
    assert CAPTURE in moves and set(lost[:-1].tolist()) == {3}
    for move in moves:
        assert won[move] == 3 + round(250 * ((1 + (move == CAPTURE)) / (len(moves) + 1)) ** 0.5)


def test_the_pass_has_no_prior_playouts():
    tree = searched(Rave(knowledge=Knowledge())).tree
    priors = tree.memory.priors[list(nodes_by_path(tree).values())]
    assert (priors[:, :, -1] == 0).all()
    assert (priors[:, :, :-1] >= Knowledge().even).all(), "every other move has some, half of them won"


@pytest.mark.parametrize("rule", [Rave(knowledge=Knowledge()), UCB1(knowledge=Knowledge())], ids=["rave", "uct"])
def test_reports_count_only_what_was_played(rule):
    """Visits of the root's moves are all its own but for the first round's, at the root itself, and RAVE knows of no more."""
    search = searched(rule)
    found, root = search.statistics(), search.tree[search.tree.root]
    assert found.root_visits == root["visits"] == 800
    assert found.visits.sum() == 800 - LEAVES * PLAYOUTS
    assert found.rave_visits.max() <= 800 and (found.rave_visits > 0).any() == (rule.credit is not None)
    assert all(2 * v >= w for v, w in zip(search.tree.visits(search.tree.root), search.tree.wins(search.tree.root)))


def test_results_do_not_depend_on_the_workers():
    rule = Rave(knowledge=Knowledge())
    assert_same_trees(searched(rule).tree, searched(rule, devices=jax.devices()[:1] * 2).tree)


@pytest.mark.parametrize("tried", [True, False])
def test_the_move_before_is_known_after_an_advance(tried):
    """The root that the game has come to knows the move that led to it, whether or not the tree had tried it: it is the move before
    those of its children, and beside it points have prior playouts there."""
    of_distances = np.zeros((2, 18), np.int16)
    of_distances[1, 2] = 900  # beside the move before the last
    of_moves = Knowledge(even=0, likely=255, weights=MoveWeights.of(distances=of_distances))
    search = Search(POSITION, rule=Rave(knowledge=of_moves), leaves=LEAVES, playouts_per_leaf=PLAYOUTS, seed=3, memory=1 << 22)
    search.run(visits=2 * LEAVES * PLAYOUTS)
    found = search.statistics()
    move = int(np.flatnonzero(found.playable[:-1] & ((found.visits[:-1] > 0) == tried))[-1])
    before = nodes_by_path(search.tree).keys()
    search.advance(move)
    search.run(visits=search.visits + 800)
    tree = search.tree
    new = [node for path, node in nodes_by_path(tree).items() if len(path) == 1 and not (tried and (move, *path) in before)]
    beside = {p for p in range(25) if abs(p // 5 - move // 5) + abs(p % 5 - move % 5) == 1}
    told = set(np.flatnonzero((tree.memory.priors[new, 0] > 90).any(axis=0)).tolist())
    assert new and told and told & beside
    search.close()


def test_memory():
    """A byte for what is won and one for what is lost, of each move, from a node's first visit on."""
    for options in ({}, {"colours": 0}):
        with_priors, without = (bytes_per_node(9, priors=on, **options) for on in (True, False))
        assert [a - b for a, b in zip(with_priors, without)] == [2 * 82, 2 * 82]


@pytest.mark.parametrize("bot", ["rave", "uct"])
def test_one_switch(bot):
    """Of bots, by name; by default as the bot does."""
    assert rule_of(bot, False).knowledge is None and rule_of(bot, True).knowledge == Knowledge()
    assert rule_of(bot) in (rule_of(bot, False), rule_of(bot, True))
    assert search_options(bot, True)["rule"] == rule_of(bot, True)
    for on in (True, False):
        assert make_player(bot, knowledge=on).rule == rule_of(bot, on)
    make_player("mc", knowledge=True)


@pytest.mark.parametrize("on", [True, False])
def test_gtp_has_the_switch(on):
    client = Client(5, bot="rave", visits=64, leaves=LEAVES, playouts_per_leaf=PLAYOUTS, knowledge=on)
    client.ok("genmove b")
    assert (client.engine.thinker.player(0.0).rule.knowledge is not None) == on
    client.ok("quit")


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"even": -1}, ValueError, "even must be between 0 and 255, not -1"),
        ({"likely": 0.5}, TypeError, "likely must be an integer"),
        ({"likely": 256}, ValueError, "likely must be between 0 and 255, not 256"),
        ({"weights": 3}, TypeError, "weights must be a search.MoveWeights, not 3"),
    ],
)
def test_bad_numbers_are_refused(wrong, error, text):
    with pytest.raises(error, match=text):
        Knowledge(**wrong)


@pytest.mark.parametrize("rule", [Rave, UCB1])
def test_rules_take_knowledge_or_none(rule):
    with pytest.raises(TypeError, match="knowledge must be a search.Knowledge or None, not True"):
        rule(knowledge=True)
