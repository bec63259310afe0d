"""Every field of a query, good and bad."""

import numpy as np
import pytest

import jaxgo
from search.analysis.query import MOST_WARNINGS, read_query
from tests.search.analysis.talk import query


def test_komi_decides_who_wins(talk):
    rates = [talk.ask(query(str(komi), "C3", komi=komi, playouts=200))["rootInfo"]["winrate"] for komi in (-30, 24, 26.5)]
    assert rates[0] == 1.0 and rates[2] == 0.0 and rates[0] > rates[1] > 0.0


def test_a_drawn_game_counts_half(talk):
    """Nothing is left to play: Black has the two columns on the left with two eyes, White the other three."""
    stones = [["BBWWW"["ABCDE".index(c)], f"{c}{r}"] for c in "ABCDE" for r in range(1, 6) if f"{c}{r}" not in ("A5", "A3", "E5", "E3")]
    for komi, rate in ((-5.5, 1.0), (-5, 0.5), (-4.5, 0.0)):
        root = talk.ask(query(str(komi), initialStones=stones, komi=komi, playouts=8))["rootInfo"]
        assert (root["winrate"], root["scoreLead"], root["scoreStdev"]) == (rate, -5 - komi, 0.0)


def test_playouts_are_those_of_evaluate(talk):
    """A query of playouts alone, the last bit."""
    asked = query("p", "C3", "B2", playouts=3000, komi=3.5, seed=9, includeOwnership=True, includeAmaf=True, includePolicy=True)
    reply = talk.ask(asked)
    position = jaxgo.Position.empty(5).play(np.array([12])).play(np.array([16]))
    expected = jaxgo.evaluate(position, 3000, komi=3.5, seed=9, streams=0)
    root = reply["rootInfo"]
    assert reply["moveInfos"] == [] and root["visits"] == 3000
    assert root["winrate"] == expected.win_rate[0]
    assert root["scoreLead"] == expected.margin_mean[0] - 3.5
    assert root["scoreStdev"] == expected.margin_std[0]
    np.testing.assert_allclose(reply["ownership"], expected.ownership[0].reshape(-1), atol=1e-4)
    np.testing.assert_array_equal(reply["amaf"]["white"]["visits"], expected.amaf_visits[0, 1].reshape(-1))
    rates = expected.amaf_wins[0, 0] / np.maximum(expected.amaf_visits[0, 0], 1)
    np.testing.assert_allclose(reply["amaf"]["black"]["winrate"], np.where(expected.amaf_visits[0, 0] > 0, rates, 0.5).reshape(-1), atol=1e-6)
    assert reply["policy"][12] == reply["policy"][16] == -1


def test_a_single_visit_is_an_evaluation(talk):
    reply = talk.ask(query("one", maxVisits=1))
    assert reply["moveInfos"] == [] and reply["rootInfo"]["visits"] == 50, "as many playouts as the service was told"


def test_amaf_is_of_the_same_perspective_as_all_else(talk):
    """White to move: what is for the player to move is for White."""
    asked = [query(view, "C3", playouts=50, includeAmaf=True, overrideSettings={"reportAnalysisWinratesAs": view})
             for view in ("BLACK", "WHITE", "SIDETOMOVE")]  # fmt: skip
    black, white, mover = (talk.ask(one)["amaf"] for one in asked)
    assert mover == white != black
    np.testing.assert_allclose(np.add(black["black"]["winrate"], white["black"]["winrate"]), 1.0)


def test_locations_in_numbers(talk):
    """As KataGo takes them: columns and rows from 0, from the west and from the north."""
    named, numbered = (talk.ask(query("a", move, maxVisits=200)) for move in ("B B4", "B (1,1)"))
    assert named == numbered
    assert "Could not parse board location: (5,1)" in talk.error(query("a", "B (5,1)"))["error"]


@pytest.mark.wide
def test_perspectives_mirror_each_other(talk):
    """White to move: figures for Black, for White and for the player to move."""
    asked = dict(includeOwnership=True, includeMovesOwnership=True, maxVisits=400)
    replies = {}
    for view in ("BLACK", "WHITE", "SIDETOMOVE", None):
        settings = {} if view is None else {"overrideSettings": {"reportAnalysisWinratesAs": view}}
        replies[view] = talk.ask(query(f"view {view}", "C3", **asked, **settings))
    same = [{**replies[view], "id": ""} for view in ("BLACK", None, "WHITE", "SIDETOMOVE")]
    assert same[0] == same[1] != same[2] == same[3]
    for black, white in zip([replies["BLACK"]["rootInfo"], *replies["BLACK"]["moveInfos"]],
                            [replies["WHITE"]["rootInfo"], *replies["WHITE"]["moveInfos"]]):  # fmt: skip
        assert black["winrate"] == pytest.approx(1 - white["winrate"])
        assert black["scoreLead"] == -white["scoreLead"] and black["utility"] == -white["utility"]
        assert black["visits"] == white["visits"] and black["scoreStdev"] == white["scoreStdev"]
    first = replies["BLACK"]["moveInfos"][0], replies["WHITE"]["moveInfos"][0]
    assert first[1]["lcb"] < first[1]["winrate"] and first[0]["lcb"] > first[0]["winrate"]
    np.testing.assert_array_equal(replies["BLACK"]["ownership"], -np.array(replies["WHITE"]["ownership"]))
    np.testing.assert_array_equal(first[0]["ownership"], -np.array(first[1]["ownership"]))


def test_several_turns_are_answered_once_each(talk):
    talk.send(query("turns", "C3", "B2", "D4", analyzeTurns=[3, 0, 1, 3], playouts=100))
    replies = talk.finals(3)
    assert set(replies) == {("turns", 0), ("turns", 1), ("turns", 3)}
    assert [replies["turns", turn]["rootInfo"]["currentPlayer"] for turn in (0, 1, 3)] == ["B", "W", "W"]


def test_stones_and_players_that_are_set(talk):
    reply = talk.ask(query("set", initialStones=[["W", "B2"], ["B", "D4"]], initialPlayer="W", playouts=2000, includeOwnership=True))
    assert reply["rootInfo"]["currentPlayer"] == "W"
    assert reply["ownership"][8] > reply["ownership"][16] + 0.1
    assert talk.ask(query("same colour twice", "B C3", "B D3", playouts=10))["rootInfo"]["currentPlayer"] == "W"
    assert talk.ask(query("who begins", "W C3", playouts=10, analyzeTurns=[0]))["rootInfo"]["currentPlayer"] == "W"


@pytest.mark.parametrize(
    ("rules", "moves", "stones", "bonus"),
    [
        ("chinese", [], [["B", "A1"], ["B", "B2"]], 2),
        ("chinese", ["B C3", "B D3", "W A1"], [], 2),
        ("chinese", ["B C3", "W pass", "B D3", "W A1", "B B1"], [], 2),
        ("aga", [], [["B", "A1"], ["B", "B2"]], 1),
        ("tromp-taylor", [], [["B", "A1"], ["B", "B2"]], 0),
        ("chinese", [], [["B", "A1"]], 0),
        ("chinese", ["B C3", "B D3", "W A1", "W A2", "B B1"], [], 0),
        ("chinese", [], [["B", "A1"], ["B", "B2"], ["W", "C3"]], 0),
    ],
)
def test_points_for_handicap_stones(rules, moves, stones, bonus):
    asked = query("handicap", *moves, rules=rules, initialStones=stones, komi=0.5)
    assert read_query(asked)[0].komi_at(len(moves)) == 0.5 + bonus
    assert read_query(asked | {"whiteHandicapBonus": "0"})[0].komi_at(len(moves)) == 0.5


def test_komi_is_that_of_the_rules_where_none_is_given():
    asked = query("komi")
    del asked["komi"]
    assert read_query(asked | {"rules": "japanese"})[0].komi == 6.5
    assert read_query(asked | {"rules": "chinese"})[0].komi == 7.5
    assert read_query(asked | {"rules": {"scoring": "AREA", "komi": 0.5}})[0].komi == 0.5
    assert read_query(asked | {"rules": {"komi": 0.5}, "komi": 3})[0].komi == 3


@pytest.mark.parametrize(
    ("stones", "moves", "colour"),
    [([], [], 1), (["B A1"], [], 1), (["B A1", "B C3"], [], -1), (["B A1", "B C3", "W B2"], [], 1), (["B A1", "B C3"], ["B B2"], 1)],
)
def test_who_moves_first_where_nobody_says(stones, moves, colour):
    """After handicap stones it is White."""
    asked = query("first", *moves, initialStones=[stone.split() for stone in stones])
    assert read_query(asked)[0].to_play(0) == colour
    assert read_query(asked | {"initialPlayer": "W"})[0].to_play(0) == -1


@pytest.mark.parametrize(
    ("visits", "settings", "expected"),
    [
        (300, {"maxVisits": 3000}, 300), (None, {"maxVisits": 3000}, 3000), (300, {"maxPlayouts": 3000}, 300),
        (3000, {"maxPlayouts": 300}, 300), (None, {"maxPlayouts": 3000, "maxVisits": 300}, 300), (None, {}, None),
    ],
)  # fmt: skip
def test_the_strictest_limit_counts_and_the_querys_before_its_settings(visits, settings, expected):
    assert read_query(query("limits", maxVisits=visits, overrideSettings=settings))[0].visits == expected


def test_what_clients_send_for_no_limit():
    found = read_query(query("no limit", overrideSettings={"maxTime": 1e20}, priority=1_800_000_000_000))[0]
    assert (found.seconds, found.priorities) == (None, (1_800_000_000_000,))


def test_moves_to_avoid_and_to_keep_to(talk):
    def moves(name: str, **more) -> set[str]:
        return {info["move"] for info in talk.ask(query(name, maxVisits=1000, **more))["moveInfos"]}

    assert "C3" in moves("all")
    avoided = moves("avoid", avoidMoves=[{"player": "B", "moves": ["C3", "B2"], "untilDepth": 1}])
    assert avoided and not avoided & {"C3", "B2"}
    assert "C3" in moves("other", avoidMoves=[{"player": "W", "moves": ["C3", "B2"], "untilDepth": 5}])
    assert moves("allow", allowMoves=[{"player": "B", "moves": ["A1", "E5"], "untilDepth": 3}]) == {"A1", "E5"}


def test_the_length_of_variations(talk):
    def longest(name: str, **more) -> int:
        return max(len(info["pv"]) for info in talk.ask(query(name, maxVisits=3000, **more))["moveInfos"])

    assert longest("one", analysisPVLen=1) == 2, "not including the first move, as KataGo has it"
    assert longest("two", analysisPVLen=2) == 3
    assert longest("many") > 2


def test_settings(talk):
    reply = talk.ask(query("visits", overrideSettings={"maxVisits": 250, "wideRootNoise": 0.04}))
    assert reply["rootInfo"]["visits"] <= 256
    assert not [r for r in talk.replies if "warning" in r]
    late = talk.ask(query("time", maxVisits=10**9, overrideSettings={"maxTime": 0.2}))
    assert 0 < late["rootInfo"]["visits"] < 10**8 and late["moveInfos"]
    assert talk.ask(query("no time", maxVisits=10**9, overrideSettings={"maxTime": 0}))["rootInfo"]["visits"] > 0
    talk.ask(query("unknown", playouts=5, overrideSettings={"maxVisit": 250}))
    assert [r["field"] for r in talk.replies if "warning" in r] == ["overrideSettings"]


def test_unknown_fields_and_other_rules_are_warned_of_and_answered(talk):
    talk.ask(query("w", playouts=5, rules="japanese", maxvisits=3, includeOwnershipStdev=True))
    warnings = {r["field"]: r["warning"] for r in talk.replies if "warning" in r}
    assert warnings.keys() == {"rules", "maxvisits", "includeOwnershipStdev"}
    assert "area scoring" in warnings["rules"]
    assert all(r["id"] == "w" for r in talk.replies)


def test_a_game_that_is_over_can_be_asked_about(talk):
    reply = talk.ask(query("over", "C3", "pass", "pass", maxVisits=300))
    assert reply["rootInfo"]["currentPlayer"] == "W" and reply["moveInfos"]
    assert talk.ask(query("goes on", "C3", "pass", "pass", "B2", playouts=10))["rootInfo"]["currentPlayer"] == "B"


@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"moves": [["B", "Z9"]]}, "moves", "Could not parse board location: Z9"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves", "Illegal move 1: W C3: the point is occupied"),
        ({"moves": [["B", ""]]}, "moves", "Could not parse board location: "),
        ({"moves": [["B", "I3"]]}, "moves", "Could not parse board location: I3"),
        ({"moves": [["B", 3]]}, "moves", "Could not parse board location: 3"),
        ({"moves": [["purple", "A1"]]}, "moves", "Could not parse player: purple"),
        ({"moves": [["B"]]}, "moves", "Must be an array of pairs"),
        ({"moves": "C3"}, "moves", "Must be an array"),
        ({"moves": None}, "moves", "Must specify moves"),
        ({"boardXSize": 1, "boardYSize": 1}, "boardXSize", "Must be an integer from 2 to 25, not 1"),
        ({"boardXSize": 26, "boardYSize": 26}, "boardXSize", "Must be an integer from 2 to 25, not 26"),
        ({"boardYSize": 7}, "boardYSize", "Only square boards are played, not 5x7"),
        ({"boardYSize": None}, "boardYSize", "Must specify boardYSize"),
        ({"boardXSize": 5.0}, "boardXSize", "Must be an integer"),
        ({"boardXSize": True}, "boardXSize", "Must be an integer"),
        ({"rules": "nope"}, "rules", "Could not parse rules: nope"),
        ({"rules": 3}, "rules", "Could not parse rules: 3"),
        ({"rules": {"ko": "LOOSE"}}, "rules", "Could not parse rules"),
        ({"rules": None}, "rules", "Must specify rules"),
        ({"komi": "seven"}, "komi", "Must be a number"),
        ({"komi": float("nan")}, "komi", "Must be a number"),
        ({"komi": float("inf")}, "komi", "Must be a number"),
        ({"whiteHandicapBonus": "M"}, "whiteHandicapBonus", 'Must be one of "0", "N", "N-1"'),
        ({"initialStones": [["B", "C3"], ["W", "C3"]]}, "initialStones", "Two stones on one point"),
        ({"initialStones": [["B", "pass"]]}, "initialStones", "Could not parse board location: pass"),
        ({"initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]}, "initialStones", "Illegal initial stones"),
        ({"initialPlayer": "X"}, "initialPlayer", "Could not parse player: X"),
        ({"analyzeTurns": [1]}, "analyzeTurns", "Invalid turn number: must be from 0 to 0, the number of moves, not 1"),
        ({"analyzeTurns": [-1]}, "analyzeTurns", "Invalid turn number"),
        ({"analyzeTurns": [0.5]}, "analyzeTurns", "Invalid turn number"),
        ({"analyzeTurns": []}, "analyzeTurns", "at least one turn"),
        ({"analyzeTurns": 0}, "analyzeTurns", "Must be an array"),
        ({"maxVisits": 0}, "maxVisits", "Must be an integer from 1 to"),
        ({"maxVisits": "many"}, "maxVisits", "Must be an integer from 1 to"),
        ({"maxVisits": 10**30}, "maxVisits", "Must be an integer from 1 to"),
        ({"playouts": 0}, "playouts", "Must be an integer from 1 to"),
        ({"seed": -1}, "seed", "Must be an integer from 0 to"),
        ({"includeOwnership": 1}, "includeOwnership", "Must be a boolean"),
        ({"includePolicy": "yes"}, "includePolicy", "Must be a boolean"),
        ({"analysisPVLen": 0}, "analysisPVLen", "Must be an integer from 1 to"),
        ({"priority": 1.5}, "priority", "Must be an integer"),
        ({"priorities": [1, 2]}, "priorities", "one for each of analyzeTurns, not [1, 2]"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery", "Must be a number from 0.001"),
        ({"overrideSettings": []}, "overrideSettings", "Must be a json object"),
        ({"overrideSettings": {"maxTime": -1}}, "overrideSettings", "maxTime: Must be a number from 0"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "GREEN"}}, "overrideSettings", "reportAnalysisWinratesAs: Must be one of"),
        ({"avoidMoves": [3]}, "avoidMoves", "Must be an array of dictionaries with player, moves and untilDepth, not of 3"),
        ({"moves": [["B"]]}, "moves", "Must be an array of pairs of a player and a location, such as [\"B\", \"C4\"], not of ['B']"),
        ({"avoidMoves": [{"player": "B", "moves": ["C3"]}]}, "avoidMoves", "untilDepth: Must specify untilDepth"),
        ({"avoidMoves": [{"player": "B", "moves": ["C3"], "untilDepth": 0}]}, "avoidMoves", "untilDepth: Must be an integer from 1 to"),
        ({"allowMoves": [{"player": "B", "moves": ["C9"], "untilDepth": 1}]}, "allowMoves", "Could not parse board location: C9"),
        ({"action": "dance"}, "action", "terminate_all, not 'dance'"),
        ({"action": "terminate", "terminateId": 5}, "terminateId", "Must be a string, not 5"),
        ({"action": "terminate"}, "terminateId", "Must specify terminateId"),
        ({"action": "terminate", "terminateId": "x", "turnNumbers": ["1"]}, "turnNumbers", "Must be an array of integers, not ['1']"),
    ],
)
def test_bad_fields(talk, change, field, text):
    reply = talk.error(query("bad") | change)
    assert (reply["id"], reply["field"]) == ("bad", field)
    assert text in reply["error"]


#: White has just taken a ko at B3, so to speak; Black may take it back at C3.
KO = [["B", "B4"], ["B", "A3"], ["B", "B2"], ["W", "C4"], ["W", "D3"], ["W", "C2"], ["W", "B3"]]


def test_moves_that_no_rules_allow(talk):
    """The ko, taken back at once, and suicide."""
    assert "Illegal move 1: W B3: the ko forbids it" in talk.error(query("ko", "B C3", "W B3", initialStones=KO))["error"]
    assert talk.error(query("suicide", "B A2", "W E5", "B B1", "W A1"))["error"].endswith("it is suicide")


@pytest.mark.parametrize("kind", [{"maxVisits": 400}, {"playouts": 50}])
def test_superko_is_for_the_moves_that_are_proposed(talk, kind):
    """A game may have gone on against it, as other programs' do; what repeats a position is illegal all the same."""
    moves = ["B C3", "W pass", "B pass"]
    before = talk.ask(query("before", *moves, initialStones=KO, includePolicy=True, **kind))
    assert before["policy"][2 * 5 + 1] == -1, "B3 would repeat the position before the first move"
    assert "B3" not in {info["move"] for info in before["moveInfos"]}
    after = talk.ask(query("after", *moves, "W B3", initialStones=KO, includePolicy=True, **kind))
    assert after["rootInfo"]["currentPlayer"] == "B" and after["policy"][2 * 5 + 1] == -1
    elsewhere = talk.ask(query("elsewhere", "B C3", initialStones=KO[:-1], includePolicy=True, **kind))
    assert elsewhere["policy"][2 * 5 + 1] >= 0


def test_visits_along_variations(talk):
    infos = talk.ask(query("pv", maxVisits=1000, includePVVisits=True))["moveInfos"]
    assert all(len(info["pvVisits"]) == len(info["pv"]) and info["pvVisits"][0] == info["visits"] for info in infos)
    assert all(info["pvVisits"] == sorted(info["pvVisits"], reverse=True) and info["pvVisits"][-1] > 0 for info in infos)
    assert max(len(info["pvVisits"]) for info in infos) > 1
    assert all(info["pvEdgeVisits"] == info["pvVisits"] for info in infos), "by which move a position is reached makes no difference"
    assert not {"pvVisits", "pvEdgeVisits"} & set(talk.ask(query("none", maxVisits=1000))["moveInfos"][0])


@pytest.mark.parametrize(("name", "same"), [("white", "WHITE"), ("W", "WHITE"), ("b", "BLACK"), ("Black", "BLACK"), ("sideToMove", "SIDETOMOVE")])
def test_names_of_perspectives(name, same):
    one, other = (read_query(query("p", overrideSettings={"reportAnalysisWinratesAs": x}))[0] for x in (name, same))
    assert one == other


@pytest.mark.parametrize("kind", [{"playouts": 50}, {"maxVisits": 1}])
@pytest.mark.parametrize("field", ["avoidMoves", "allowMoves"])
def test_moves_to_avoid_need_a_tree(talk, field, kind):
    """Playouts would ignore them."""
    reply = talk.error(query("p", **{field: [{"player": "B", "moves": ["C3"], "untilDepth": 1}]}, **kind))
    assert reply["field"] == field and "Cannot be done by playouts without a tree" in reply["error"]


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[]", b"3", b'"text"', b"{", b'{"id": 3}', b'{"id": null}', b"{}", b"\xff\xfe", b"nul", b"[" * 100_000, b"1" * 10_000],
)
def test_what_is_no_query(talk, line):
    assert talk.error(line).keys() == {"error"}


def test_empty_lines_are_nothing(talk):
    talk.send(b"", b"   ", b"\r")
    assert talk.ask(query("after", playouts=5))["id"] == "after"
    assert len(talk.replies) == 1


def test_of_many_unknown_fields_the_others_are_counted():
    names = [f"unknown{number}" for number in range(MOST_WARNINGS + 5)]
    _, warnings = read_query(query("many") | dict.fromkeys(names, 1))
    assert [field for field, _ in warnings] == names[: MOST_WARNINGS + 1]
    assert warnings[-1][1].endswith("(and of 4 more fields)") and "more fields" not in warnings[-2][1]
