"""What programs are told of a position: the same of the same search, in both protocols, with a tree and without one."""

import jax
import numpy as np
import pytest

import jaxgo
import search
from jaxgo.board.coordinates import point
from search.analysis import searches
from search.analysis.options import ServiceOptions
from search.analysis.query import read_query
from search.analysis.replies import _hashes, of_findings
from search.analysis.work import tasks_of
from search.findings import Findings, Wanted
from search.gtp import reports
from search.ownership import Samples
from tests.search.analysis.talk import Talk, query
from tests.search.gtp.client import Client
from tests.search.gtp.test_analysis import entries

EVERYTHING = Wanted(pv_visits=True, ownership=True, moves_ownership=True, shares=True, amaf=True)


@pytest.fixture(scope="module")
def position() -> jaxgo.Position:
    """Black has the middle; White to move."""
    return jaxgo.Position.empty(5).play(np.array([12]))


@pytest.fixture(scope="module")
def searched(position):
    """(a search with a tree, one without)."""
    players = [search.make_player(bot, komi=3.5, seed=1, leaves=16) for bot in ("rave", "wamaf")]
    for player in players:
        player.genmove(position, None, search.Limits(visits=1000))
    yield [player.search for player in players]
    for player in players:
        player.search.close()


def numbers(line: str, key: str) -> np.ndarray:
    """The numbers after a key of a line, up to the next word."""
    found = []
    for word in line.partition(f" {key} ")[2].split():
        try:
            found.append(float(word))
        except ValueError:
            break
    return np.array(found)


def test_both_protocols_tell_the_same_of_the_same_search(monkeypatch):
    """From the query and the commands on; the trees are equal, as both have as many rounds under way."""
    monkeypatch.setattr(searches, "LARGE_SEARCH", 0)
    client = Client(5, visits=1000, leaves=256, playouts_per_leaf=8, seed=7, komi=3.5)
    client.play("b C3", "w C2")
    said = client.ok("kata-search_analyze b 1000000 ownership true pvVisits true rootInfo true").split("\n")[0]
    talk = Talk()
    side = {"overrideSettings": {"reportAnalysisWinratesAs": "SIDETOMOVE"}}
    reply = talk.ask(query("s", "C3", "C2", maxVisits=1000, seed=7, komi=3.5, includeOwnership=True, includePVVisits=True,
                           analysisPVLen=20, **side))  # fmt: skip
    talk.end()
    talk.service.end()
    np.testing.assert_allclose(numbers(said, "ownership"), reply["ownership"], atol=1e-4)
    assert np.ptp(reply["ownership"]) > 0.1
    told = entries(said)
    assert len(told) == len(reply["moveInfos"]) > 2
    for one, other in zip(told, reply["moveInfos"]):
        for key in ("visits", "winrate", "scoreLead", "scoreStdev", "prior", "lcb", "utility"):
            assert float(one[key][0]) == pytest.approx(other[key], rel=1e-5), key
        assert one["move"] == [other["move"]] and one["pv"] == other["pv"]
        assert list(map(int, one["pvVisits"])) == other["pvVisits"] == other["pvEdgeVisits"]
    for key in ("visits", "winrate", "scoreLead", "scoreStdev"):
        assert numbers(said.partition(" rootInfo")[2], key)[0] == pytest.approx(reply["rootInfo"][key], rel=1e-5)
    assert numbers(said.partition(" rootInfo")[2], "scoreMean") == numbers(said.partition(" rootInfo")[2], "scoreLead")


@pytest.mark.wide
@pytest.mark.parametrize("tree", [True, False])
def test_the_forms_of_both_hold_the_same_ownership(searched, position, tree):
    found = Findings.of(searched[not tree], EVERYTHING)
    assert found.waits
    found = found.with_ownership()
    assert not found.waits and found.viewer == -1
    asked = query("f", "C3", maxVisits=300, includePolicy=True)
    task = tasks_of(read_query(asked)[0], None, ServiceOptions())[0]
    task.position, task.legal = position, np.asarray(position.legal())[0]
    reply, line = of_findings(task, found, during=False), reports.kata_line(found, True)
    np.testing.assert_allclose(numbers(line, "ownership"), -np.array(reply["ownership"]), atol=1e-4)
    gained = []
    for info, words in zip(reply["moveInfos"], line.split("info ")[1:], strict=True):
        np.testing.assert_allclose(numbers(words, "movesOwnership"), -np.array(info["ownership"]), atol=1e-4)
        more = np.array(reply["ownership"]) - info["ownership"]
        gained += [more[p] - more.mean() for p in [point(info["move"], 5)] if p < 25]
        assert len(info["pvVisits"]) == len(info["pv"]) and info["pvVisits"][0] == info["visits"]
    assert np.mean(gained) > 0.02, "White's own stones are his, by more than the rest of the board"
    assert sum(share for share in reply["policy"] if share > 0) == pytest.approx(1)
    assert reply["policy"][12] == -1 and set(reply["amaf"]) == {"white"}


@pytest.mark.wide
def test_without_a_tree_the_position_itself_is_played_out(searched, position):
    flat = searched[1]
    found = Findings.of(flat, Wanted(ownership=True)).with_ownership()
    streams = jaxgo.evaluate(position[np.zeros(64, int)], 16, seed=flat.seed)
    np.testing.assert_allclose(found.ownership, -streams.ownership.mean(axis=0))
    np.testing.assert_array_equal(found.ownership, -Samples.without_tree(position, flat.seed).ownership()[0])


def test_nobody_waits_for_what_is_not_wanted(searched):
    assert not Findings.of(searched[0]).waits
    assert Findings.of(searched[0], EVERYTHING).with_ownership(stop=lambda: True) is None


def test_twice_seen_by_the_other_is_the_same(searched):
    found = Findings.of(searched[0], EVERYTHING).with_ownership()
    turned = found.seen_by(1)
    assert found.seen_by(-1) is found
    np.testing.assert_array_equal(turned.ownership, -found.ownership)
    np.testing.assert_array_equal(turned.moves_ownership, -found.moves_ownership)
    assert turned.infos[0]["winrate"] == 1 - found.infos[0]["winrate"] and turned.root["scoreLead"] == -found.root["scoreLead"]
    again = turned.seen_by(-1)
    np.testing.assert_array_equal(again.ownership, found.ownership)
    assert again.root == pytest.approx(found.root)


def test_moves_that_have_not_been_tried_are_legal_by_superko_too():
    """White may not take back: that would be the first position again."""
    first = jaxgo.Position.from_ascii("""
        . X O . .
        X O . O .
        . X O . .
        . . . . .
        . . . . .
    """)
    game = search.Game(first)
    for move in (7, 25, 25):
        game.play(move)
    flat = search.make_player("amaf", komi=0.5).prepare(game.turn(-1), game.history)
    flat.run(visits=20)
    told = {info["move"] for info in Findings.of(flat, Wanted(least_moves=26)).infos}
    stones_and_suicide = set("B5 C5 A4 C4 D4 B3 C3 A5".split())
    assert told == {f"{c}{r}" for c in "ABCDE" for r in range(1, 6)} - stones_and_suicide - {"B4"} | {"pass"}
    cut = Findings.of(flat, Wanted(least_moves=26, most_moves=3)).infos
    assert len(cut) == 3


@pytest.mark.parametrize("to_play", [1, -1])
def test_what_playouts_tell_is_the_movers(to_play):
    """Raw figures have standard errors, and the shares are those of the mover's first plays."""
    position = jaxgo.Position.from_array(np.zeros((5, 5), np.int8), to_play=to_play)
    found, black = jaxgo.evaluate(position, 200, komi=3.5)[0], to_play == 1
    told = Findings.of_playouts(found, to_play, 3.5, Wanted(shares=True), np.ones(26, bool))
    wins = found.amaf_wins[0 if black else 1].reshape(-1)
    np.testing.assert_allclose(told.shares, [*wins / wins.sum(), 0.0])
    assert told.root["winrate"] == (found.win_rate if black else 1 - found.win_rate)
    assert told.root["scoreLead"] == to_play * (found.margin_mean - 3.5)
    assert told.root["rawStScoreError"] == pytest.approx(found.margin_std / np.sqrt(200))
    assert (told.root["rawStWrError"], told.root["rawVarTimeLeft"]) == (found.win_rate_error, found.length_mean)


def test_shares_are_of_plays_where_nothing_is_won():
    """They sum to 1, for clients that draw moves by them; who can only pass has the pass."""
    position = jaxgo.Position.from_array(np.zeros((3, 3), np.int8))
    found = jaxgo.evaluate(position, 100, komi=100.0)[0]
    legal = np.ones(10, bool)
    legal[4] = False
    told = Findings.of_playouts(found, 1, 100.0, Wanted(shares=True), legal)
    plays = np.where(legal[:-1], found.amaf_visits[0].reshape(-1), 0)
    np.testing.assert_allclose(told.shares, [*plays / plays.sum(), 0.0])
    told = Findings.of_playouts(found, 1, 100.0, Wanted(shares=True), np.arange(10) == 9)
    assert told.shares.tolist() == [0.0] * 9 + [1.0]


def test_moves_that_have_not_been_tried_come_last():
    flat = search.make_player("amaf", komi=0.5).prepare(jaxgo.Position.empty(5), None)
    flat.run(visits=1)
    infos = Findings.of(flat, Wanted(least_moves=26)).infos
    assert [info["order"] for info in infos] == list(range(26))
    assert any(info["visits"] == 0 for info in infos)
    assert all(info["utilityLcb"] == pytest.approx(2 * info["lcb"] - 1) for info in infos)


def test_hashes_tell_a_ko_and_the_player_to_move_apart():
    ko = jaxgo.Position.from_ascii("""
        . X O . .
        X O . O .
        . X O . .
        . . . . .
        . . . . .
    """).play(np.array([7]))
    stones = np.asarray(ko.to_array())[0]
    free, other = (jaxgo.Position.from_array(stones, to_play=colour) for colour in (-1, 1))
    assert np.asarray(ko.ko)[0] == 6
    assert len({_hashes(jax.device_get(x))[0] for x in (ko, free, other)}) == 3
