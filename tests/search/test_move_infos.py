"""Figures of moves under KataGo's names, and ownership of a search."""

import dataclasses
import json
import math
import types

import numpy as np
import pytest

import jaxgo
import search
from jaxgo.board.coordinates import coordinate
from search.choice import Choice, passing
from search.move_infos import lower_bound, move_infos, move_infos_of_choice, other_side, priors, root_info, root_info_of_choice
from search.ownership import Samples, sample

KEYS = {
    "move", "visits", "edgeVisits", "weight", "edgeWeight", "winrate", "scoreLead", "scoreMean", "scoreSelfplay", "scoreStdev",
    "prior", "utility", "lcb", "utilityLcb", "playSelectionValue", "order", "pv",
}  # fmt: skip


@pytest.fixture(scope="module", params=["rave", "uct"])
def searched(request):
    """A search on 5x5, White to move."""
    rule = search.Rave() if request.param == "rave" else search.UCB1()
    made = search.Search(jaxgo.Position.empty(5).play(np.array([12])), komi=3.5, rule=rule, leaves=16)
    made.run(visits=3000)
    yield made
    made.close()


def test_move_infos_are_the_statistics(searched):
    found, infos = searched.statistics(), move_infos(searched)
    json.dumps(infos, allow_nan=False)
    assert all(info.keys() == KEYS for info in infos)
    assert len(infos) == np.count_nonzero(found.visits)
    assert sum(info["visits"] for info in infos) == found.visits.sum()
    best = searched.best()
    assert infos[0]["move"] == coordinate(best, 5) and infos[0]["winrate"] == found.win_rate[best]
    visits = [info["visits"] for info in infos[1:]]
    assert visits == sorted(visits, reverse=True)
    assert [info["order"] for info in infos] == list(range(len(infos)))
    assert 0 < sum(info["prior"] for info in infos) <= 1 + 1e-9
    np.testing.assert_allclose(priors(found).sum(), 1)
    only_pass = dataclasses.replace(found, playable=np.arange(len(found.playable)) == len(found.playable) - 1)
    visits = np.where(only_pass.playable, 100, 0)
    np.testing.assert_array_equal(priors(dataclasses.replace(only_pass, visits=visits)), only_pass.playable)


def test_the_standard_deviation_is_that_of_the_playouts():
    """At a root whose playouts are all its own: the first round's."""
    tree = search.Search(jaxgo.Position.empty(5), komi=3.5, seed=2)
    tree.launch(visits=10_000)
    while not tree.finish():
        pass
    margins = jaxgo.playouts(jaxgo.Position.empty(5, 16), 8, seed=2).margin
    root = root_info(tree.statistics())
    assert root["scoreLead"] == pytest.approx(margins.mean() - 3.5)
    assert root["scoreStdev"] == pytest.approx(margins.std())
    tree.close()


def test_most_and_line(searched):
    infos = move_infos(searched, most=2, line=1)
    assert len(infos) == 2 and all(info["pv"] == [info["move"]] for info in infos)


def test_the_lower_bound():
    assert lower_bound(0.5, 10_000) == pytest.approx(0.5 - 5 * 0.005, rel=1e-3)
    assert lower_bound(1.0, 8) < 1.0, "few playouts that were all won prove little"
    assert math.isfinite(lower_bound(0.0, 0))


def test_the_other_side_twice_is_the_same(searched):
    for info in (*move_infos(searched), root_info(searched.statistics())):
        turned = other_side(info)
        assert turned["winrate"] == 1 - info["winrate"] and turned["scoreLead"] == -info["scoreLead"]
        again = other_side(turned)
        assert again.keys() == info.keys()
        assert all(again[key] == pytest.approx(info[key]) for key in info if isinstance(info[key], float))


def test_flat_bots():
    choice = search.make_player("wamaf", komi=3.5).genmove(jaxgo.Position.empty(5), None, search.Limits(visits=1000))
    infos = move_infos_of_choice(choice, 5)
    json.dumps(infos, allow_nan=False)
    assert all(info.keys() == KEYS for info in infos) and len(infos) == 25
    assert infos[0]["move"] == coordinate(choice.move, 5) and infos[0]["winrate"] == choice.win_rate
    assert 0 < sum(info["prior"] for info in infos) <= 1 + 1e-9


def test_samples_share_out_as_the_playouts_were(searched):
    tree = searched.tree
    nodes, counts = sample(tree, tree.root, 1000)
    assert counts.sum() == 1000 and len(set(nodes)) == len(nodes)
    below = {int(node): int(move) for move, node in zip(*tree.children(tree.root))}
    got = np.zeros(tree.moves)
    for node, count in zip(nodes, counts):
        while node != tree.root and node not in below:
            node = int(tree[node]["parent"])
        if node != tree.root:
            got[below[node]] += count
    np.testing.assert_allclose(got, tree.visits(tree.root) * (1000 / searched.visits), atol=1.0)


def test_ownership_of_a_settled_board():
    """Black owns the left, White the right, whatever is played; one move of each is left between them."""
    position = jaxgo.Position.from_ascii("""
        . X . O .
        X X . O O
        . X . O .
        X X X O O
        . X O O .
    """)
    tree = search.Search(position, komi=0.5)
    tree.run(visits=2000)
    owner = Samples.of(tree).ownership()[0]
    assert (owner[:, :2] == 1).all() and (owner[:, 3:] == -1).all()
    moves = np.flatnonzero(tree.statistics().visits)
    of_moves = Samples.of(tree, moves).ownership()
    assert of_moves.shape == (len(moves), 5, 5) and (of_moves[:, :, 3:] == -1).all()
    np.testing.assert_array_equal(owner, Samples.of(tree).ownership()[0])
    tree.close()


def test_the_other_side_is_told_of_all_that_has_sides(searched):
    for info in move_infos(searched):
        turned = other_side(info)
        assert turned["utility"] == pytest.approx(2 * turned["winrate"] - 1)
        assert turned["utilityLcb"] == pytest.approx(2 * turned["lcb"] - 1)
        assert turned["lcb"] == 1 - info["lcb"]
        assert turned["scoreMean"] == turned["scoreSelfplay"] == turned["scoreLead"]
    turned = other_side(root_info(searched.statistics()))
    assert turned["rawWinrate"] == turned["winrate"]
    assert turned["rawLead"] == turned["rawScoreSelfplay"] == turned["scoreLead"]


def test_what_was_chosen_without_playouts_is_told_in_numbers():
    """A half where nothing is known, and no NaN, which is no JSON."""
    choice = passing(25)
    assert root_info_of_choice(choice)["winrate"] == 0.5 and root_info_of_choice(choice)["visits"] == 0
    (info,) = move_infos_of_choice(choice, 5)
    assert (info["move"], info["pv"], info["visits"], info["winrate"]) == ("pass", ["pass"], 0, 0.0)
    json.dumps([info, root_info_of_choice(choice)], allow_nan=False)
    unknown = np.full(26, np.nan)
    found = move_infos_of_choice(Choice(3, False, 0.4, np.zeros(26), unknown, 10, [3], None), 5)
    assert [(info["move"], info["winrate"]) for info in found] == [("D5", 0.4)]


def test_what_is_not_known_of_a_move_is_the_roots_and_the_better_comes_first():
    """Of moves with as many visits; but the first is the one that would be played."""
    visits, none = np.array([50, 50, 50, 0, 0]), np.full(5, np.nan)
    found = types.SimpleNamespace(
        visits=visits, playable=np.ones(5, bool), win_rate=np.array([0.25, 0.5, 0.75, np.nan, np.nan]), rave_visits=0 * visits,
        rave_win_rate=none, lead=none, lead_stdev=none, root_lead=-2.5, root_lead_stdev=4.5,
    )  # fmt: skip
    made = types.SimpleNamespace(
        best=lambda: 1, variations=lambda moves, line: [[move] for move in moves], position=jaxgo.Position.empty(2)
    )
    infos = move_infos(made, statistics=found)
    assert [info["move"] for info in infos] == [coordinate(move, 2) for move in (1, 2, 0)]
    assert {(info["scoreLead"], info["scoreStdev"]) for info in infos} == {(-2.5, 4.5)}
