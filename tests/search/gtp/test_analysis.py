"""Analysis: what the lines hold, and which moves they are about."""

import itertools
import json
import re
import types

import numpy as np
import pytest

from search.findings import Findings, Wanted
from search.gtp import reports
from search.gtp.commands import analysis
from search.gtp.reports import Request
from tests.search.gtp.client import Client
from tests.wide import wide

#: Black takes a corner that is his anyway, or saves himself.
MOVES = ("b C3", "w B2", "b D4")


def entries(line: str) -> list[dict[str, list[str]]]:
    """Each `info` of a line as key to words; the root's and the ownership's words are left out."""
    out = []
    for part in re.split(r"(?:^| )info ", re.split(r" (?:rootInfo|ownership) ", line)[0])[1:]:
        words, entry = part.split(), {}
        pv = words.index("pv")
        entry["pv"] = words[pv + 1 :]
        head = words[:pv]
        while head:
            key, *head = head
            count = next((i for i, word in enumerate(head) if i and re.match(r"[a-z]", word)), len(head))
            entry[key], head = head[:count], head[count:]
        out.append(entry)
    return out


@pytest.fixture(scope="module")
def client() -> Client:
    """An engine after a few moves, White's turn."""
    client = Client(5, lines=3)
    client.play(*MOVES)
    return client


@pytest.mark.parametrize("form", ["kata", *wide("lz")])
def test_lines_come_until_the_client_has_heard_enough(client, form):
    client.lines = 3
    lines = client.ok(f"{form}-analyze 1").split("\n")
    assert len(lines) == 3
    visits = [sum(int(entry["visits"][0]) for entry in entries(line)) for line in lines]
    assert visits == sorted(visits)
    for line in lines:
        found = entries(line)
        assert [int(entry["order"][0]) for entry in found] == list(range(len(found)))
        for entry in found:
            assert entry["pv"][0] == entry["move"][0]
            assert not {"C3", "B2", "D4"} & {entry["move"][0]}
            rate = float(entry["winrate"][0]) / (10_000 if form == "lz" else 1)
            assert 0 <= rate <= 1
            assert float(entry["lcb"][0]) / (10_000 if form == "lz" else 1) <= rate
            if form == "lz":
                assert all(re.fullmatch(r"-?\d+", entry[key][0]) for key in ("visits", "winrate", "prior", "lcb", "order"))
    assert client.engine.table.game.to_play == -1


def test_the_last_key_of_a_move_is_its_line(client):
    client.lines = 1
    line = client.ok("kata-analyze w 1 pvVisits true maxmoves 2")
    for part in line.split("info ")[1:]:
        words = part.split()
        assert "pv" in words and "pvVisits" in words[: words.index("pv")]
        for word in words[words.index("pv") + 1 :]:
            assert re.fullmatch(r"[A-E][1-5]|pass", word)
    entry = entries(line)[0]
    assert len(entry["pvVisits"]) == len(entry["pv"])
    assert entry["pvVisits"][0] == entry["visits"][0]
    numbers = [int(word) for word in entry["pvVisits"]]
    assert numbers == sorted(numbers, reverse=True)


def test_moves_as_many_as_asked_for(client):
    client.lines = 1
    assert len(entries(client.ok("lz-analyze w 1 maxmoves 2"))) == 2
    assert len(entries(client.ok("lz-analyze w interval 1 maxmoves 1"))) == 1
    found = entries(client.ok("kata-analyze w 1 minmoves 22"))
    assert len(found) >= 22
    assert len({entry["move"][0] for entry in found}) == len(found)
    assert all(entry["pv"][0] == entry["move"][0] for entry in found), "one that has not been tried is its own line"


@pytest.mark.parametrize("bot", ["rave", "amaf"])
def test_moves_that_restrictions_leave_are_as_many_as_there_are(bot):
    """However many are asked for."""
    client = Client(5, bot=bot)
    client.lines = 1
    found = entries(client.ok("kata-analyze b 1 minmoves 9 pvVisits true pvEdgeVisits true allow b A1,E1,A5 1"))
    assert sorted(entry["move"][0] for entry in found) == ["A1", "A5", "E1"]
    assert all(entry["pvEdgeVisits"] == entry["pvVisits"] and len(entry["pv"]) == len(entry["pvVisits"]) for entry in found)
    avoided = entries(client.ok("kata-analyze b 1 minmoves 26 avoid b C3 1"))
    assert len(avoided) == 25 and not any(entry["move"][0] == "C3" for entry in avoided)


def test_ownership_is_the_movers_and_comes_last(client):
    client.lines = 1
    values = []
    for colour in "bw":
        line = client.ok(f"kata-analyze {colour} 1 ownership true rootInfo true maxmoves 1")
        order = [line.index(word) for word in ("info move", " pv ", " rootInfo visits ", " ownership ")]
        assert order == sorted(order)
        values.append(np.array([float(word) for word in line.partition(" ownership ")[2].split()]).reshape(5, 5))
    assert np.abs(values[0]).max() <= 1
    assert values[0][1, 3] > 0.2 > -0.2 > values[1][1, 3], "D4 is Black's, in the second row from the top"


@pytest.mark.parametrize("bot", ["rave", "amaf"])
def test_avoided_moves_are_not_considered_and_allowed_ones_alone(bot):
    client = Client(5, lines=2, bot=bot)
    client.play(*MOVES)
    some = {"E5", "A1", "C4"}
    found = entries(client.ok(f"lz-analyze w 1 allow w {','.join(some)} 1").split("\n")[-1])
    assert {entry["move"][0] for entry in found} <= some and found
    avoided = "A1,A2,A3,A4,A5,B1"
    found = entries(client.ok(f"kata-analyze w 1 avoid w {avoided} 1 avoid w B3 5").split("\n")[-1])
    assert found and not {entry["move"][0] for entry in found} & {*avoided.split(","), "B3"}
    answer = client.ok("kata-genmove_analyze w 1 allow w E5 1")
    assert answer.endswith("play E5")


def test_restrictions_hold_as_deep_as_they_say():
    request = Request.parse(("w", "10", "avoid", "w", "A1,B2", "3", "avoid", "b", "pass", "1", "allow", "b", "C3", "7"), 5)
    found = request.restrictions
    assert request.colour == -1 and request.interval == 0.1
    assert np.argwhere(found.avoid_until).tolist() == [[0, 25], [1, 16], [1, 20]]
    assert found.avoid_until[1, 16] == 3 and found.allow_until.tolist() == [7, 0]
    assert np.flatnonzero(found.allowed[0]).tolist() == [12]


def test_what_clients_send_beyond_is_taken():
    words = "b interval 50 minmoves 1 maxmoves 10 pvVisits true movesOwnership true ownershipStdev false rootInfo TRUE pvEdgeVisits true"
    request = Request.parse(("b", *words.split()[1:], "OWNERSHIP", "false"), 9)
    assert (request.colour, request.interval, request.root_info) == (1, 0.5, True)
    assert request.wanted == Wanted(least_moves=1, most_moves=10, pv_visits=True, pv_edge_visits=True, moves_ownership=True)
    assert Request.parse((), 9) == Request()
    assert Request.parse(("0",), 9).interval == 0.01


@pytest.mark.parametrize("bot", ["rave", "amaf"])
@pytest.mark.parametrize("form", ["lz", "kata", "cgos"])
def test_a_move_is_reported_played_and_ends_the_reply(bot, form):
    client = Client(5, bot=bot)
    client.play("b C3")
    answer = client(f"7 {form}-genmove_analyze w")
    lines = answer.removesuffix("\n\n").split("\n")
    assert answer.startswith("=7\n") and len(lines) == 3
    move = re.fullmatch(r"play ([A-E][1-5])", lines[-1])[1]
    assert client.board().count("O") == 1
    if form == "cgos":
        report = json.loads(lines[1])
        assert report["moves"][0]["move"] == move
        assert len(report["ownership"]) == 25
        assert set(report) == {"winrate", "score", "visits", "moves", "ownership"}
        assert report["visits"] == 64
    else:
        assert entries(lines[1])[0]["move"] == [move]


@pytest.mark.parametrize(("words", "most"), [("w 100", 10), ("100", 10), ("maxmoves 12", 12), ("w 100 maxmoves 1 ownership false", 1)])
def test_cgos_gets_one_report_however_its_client_asks(words, most):
    """Some give an interval, in the form of the other commands."""
    client = Client(5, visits=1000)
    client.play("b C3")
    report, move = client.ok(f"cgos-genmove_analyze {words}").split("\n")
    found = json.loads(report)
    assert move == f"play {found['moves'][0]['move']}" and len(found["moves"]) == most and len(found["ownership"]) == 25


def test_other_lines_do_not_silence_the_reports_on_a_move():
    """Unlike analysis, a move is not interrupted; its reports go on, as often as they are wanted."""
    client = Client(5, visits=6000)
    client.engine.interrupted = lambda: True
    lines = client.ok("kata-genmove_analyze b 0 maxmoves 1 ownership true").split("\n")
    assert len(lines) > 2, "on one core few come"
    assert all(line.startswith("info move ") and len(line.partition(" ownership ")[2].split()) == 25 for line in lines[:-1])
    assert lines[-1].startswith("play ")


def test_reports_leave_the_search_half_of_the_time(monkeypatch):
    """They are wanted all the time, and take a second each; the search has ten."""
    client, now, said = Client(5), [0.0], []
    monkeypatch.setattr(analysis, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    player, game = client.engine.thinker.player(0.5), client.engine.table.game
    player.prepare(game.position, game.history).run(visits=64)

    def form(found: Findings, root_info: bool) -> str:
        now[0] += 1.0
        return found.infos[0]["move"]

    reporter = analysis.Reporter(client.engine, Request(interval=0.01), form, said.append)
    for _ in range(100):
        now[0] += 0.1
        reporter(player)
    assert 8 <= len(said) <= 10


def test_a_position_that_is_over_can_be_analysed():
    client = Client(5)
    client.play("b pass", "w pass")
    assert client.ok("lz-analyze b 1").startswith("info move ")
    assert client.ok("kata-genmove_analyze b 1").split("\n")[-1].startswith("play ")


def test_a_pass_that_wins_needs_no_report():
    client = Client(5, komi=0.5)
    client.play("b C3", "w pass")
    for form, colour in itertools.product(("lz", "kata", "cgos"), "b"):
        assert client.ok(f"{form}-genmove_analyze {colour}") == "play pass"
        client.ok("undo")


@pytest.mark.parametrize(("rate", "text"), [(1.0, "1.0"), (0.0, "0.0"), (1e-7, "1e-07"), (0.25, "0.25"), (0.9999999, "1.0")])
def test_katas_rates_have_a_point(rate, text):
    """Sabaki takes whole numbers for ten thousandths."""
    info = {"move": "C3", "visits": 5, "winrate": rate, "scoreMean": -3.0, "pv": ["C3"]}
    line = reports.kata_line(Findings(5, [info], {"winrate": rate, "scoreLead": -3.0}), True)
    assert f" winrate {text} " in line and f"rootInfo winrate {text} scoreMean -3.0" in line and " scoreMean -3.0 " in line


def test_cgos_letters_are_those_of_the_server():
    values = np.array([-1.0, 1.0, 0.0, -2.0, 2.0])
    found = Findings(1, [], {"winrate": 0.5, "scoreLead": 0.0, "visits": 1}, ownership=values)
    assert json.loads(reports.cgos_line(found, True))["ownership"] == "A+fA+"


def test_cgos_hears_of_the_movers_lead_and_of_what_follows_each_move():
    info = {"move": "C3", "visits": 5, "winrate": 0.123456, "scoreLead": -3.456, "prior": 0.98765, "pv": ["C3", "D4", "pass"]}
    told = json.loads(reports.cgos_line(Findings(5, [info], {"winrate": 0.87654, "scoreLead": 2.346, "visits": 9}), True))
    assert told == {
        "winrate": 0.8765, "score": 2.35, "visits": 9,
        "moves": [{"move": "C3", "winrate": 0.1235, "score": -3.46, "prior": 0.9877, "visits": 5, "pv": "D4 pass"}],
    }  # fmt: skip


def test_an_interval_may_be_a_fraction_and_other_keys_of_katago_are_passed_over():
    words = ("w", "12.5", "noResultValue", "true", "ownershipStdev", "true", "movesOwnershipStdev", "true", "maxmoves", "2")
    request = Request.parse(words, 5)
    assert (request.colour, request.interval, request.wanted) == (-1, 0.125, Wanted(most_moves=2))


def test_what_follows_each_move_is_not_played_out_on_the_clock():
    """In an analysis it is, as nobody waits for a move."""
    client, request = Client(None), Request(wanted=Wanted(moves_ownership=True, pv_visits=True))
    told = [analysis.Reporter(client.engine, request, reports.kata_line, print, stop)._wanted for stop in (None, lambda: False)]
    assert told == [Wanted(pv_visits=True), Wanted(moves_ownership=True, pv_visits=True)]
