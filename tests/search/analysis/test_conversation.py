"""The replies have the shape of KataGo's: the same queries to both."""

import json
import pathlib

import jaxgo
from search.analysis.options import ServiceOptions
from tests.search.analysis.talk import Talk

GOLDEN = pathlib.Path(__file__).parent / "golden"


def shape(value):
    """Keys and JSON types; of an array, those of its first element."""
    if isinstance(value, dict):
        return {key: shape(x) for key, x in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def by_name(replies: list[dict]) -> dict:
    """The shapes of all replies to each query, in order."""
    out = {}
    for reply in replies:
        out.setdefault(reply.get("id"), []).append(shape(reply))
    return out


def test_replies_are_shaped_like_katagos(talk):
    expected = [json.loads(line) for line in (GOLDEN / "katago_replies.jsonl").read_text().splitlines()]
    talk.send(*(GOLDEN / "queries.jsonl").read_bytes().splitlines())
    replies = talk.wait(lambda replies: len(replies) >= len(expected))
    assert by_name(replies) == by_name(expected)
    texts = {reply["id"]: reply["error"] for reply in expected if "error" in reply and "id" in reply}
    assert {r["id"]: r["error"] for r in replies if "error" in r and "id" in r} == texts
    # KataGo's goes on to name its configuration file.
    warnings = [r["warning"].partition(" (set warnUnusedFields")[0] for r in expected if "warning" in r]
    assert [r["warning"] for r in replies if "warning" in r] == warnings
    without_id = [reply["error"] for reply in replies if "id" not in reply]
    assert without_id[0].endswith("could not parse input line as json request: not json")
    assert without_id[1] == 'Request must have a string "id" field'


def test_a_reply_makes_sense(talk):
    """Figures that hang together, for Black."""
    reply = talk.ask({"id": "a", "moves": [["B", "E5"], ["W", "C3"]], "rules": "tromp-taylor", "komi": 7.0, "boardXSize": 9,
                      "boardYSize": 9, "analyzeTurns": [2], "maxVisits": 1000, "includeOwnership": True, "includePolicy": True})  # fmt: skip
    root, infos = reply["rootInfo"], reply["moveInfos"]
    assert root["visits"] == 1000 and root["currentPlayer"] == "B" and reply["turnNumber"] == 2
    assert [info["order"] for info in infos] == list(range(len(infos)))
    assert infos[0]["visits"] == max(info["visits"] for info in infos)
    assert sum(info["visits"] for info in infos) <= 1000
    assert abs(sum(info["visits"] * info["winrate"] for info in infos) / sum(info["visits"] for info in infos) - root["winrate"]) < 0.1
    for info in infos:
        assert info["pv"][0] == info["move"] not in ("E5", "C3")
        assert info["lcb"] < info["winrate"] and 0 <= info["prior"] <= 1 and info["scoreStdev"] > 0
        assert info["utility"] == 2 * info["winrate"] - 1
    assert len(reply["ownership"]) == 81 and max(map(abs, reply["ownership"])) <= 1
    assert reply["ownership"][4 * 9 + 4] > 0.3 > -0.2 > reply["ownership"][6 * 9 + 2]
    policy = reply["policy"]
    assert len(policy) == 82 and policy[4 * 9 + 4] == policy[6 * 9 + 2] == -1
    assert abs(sum(p for p in policy if p >= 0) - 1) < 1e-9 and policy.count(-1) == 2


def test_a_board_that_the_policy_is_not_for_is_refused():
    """Before anything is compiled; what plays is told."""
    talk = Talk(options=ServiceOptions(policy=jaxgo.Advisor(0.5, jaxgo.AdvisorTable(9))))
    talk.send({"id": "x", "moves": [], "rules": "tromp-taylor", "boardXSize": 5, "boardYSize": 5}, {"id": "y", "action": "query_models"})
    refused, told = talk.wait(lambda replies: len(replies) >= 2)
    text = "Cannot be played by the engine's policy: policy has an advisor's table for boards of size 9, but the board is of size 5"
    assert refused == {"id": "x", "field": "boardXSize", "error": text}
    assert told["models"][0]["internalName"] == "jaxgo rave, 8 playouts by Advisor(p=0.5, size=9, context='previous') from each leaf"
    talk.end()


def test_actions(talk):
    talk.send({"id": "1", "action": "query_version"}, {"id": "2", "action": "query_models"}, {"id": "3", "action": "clear_cache"},
              {"id": "4", "action": "terminate", "terminateId": "x", "turnNumbers": [1]}, {"id": "5", "action": "terminate_all"})  # fmt: skip
    replies = {reply["id"]: reply for reply in talk.wait(lambda replies: len(replies) >= 5)}
    assert replies["1"].keys() == {"id", "action", "version", "git_hash"}
    assert replies["2"]["models"][0]["name"] == "jaxgo-rave"
    assert replies["3"] == {"id": "3", "action": "clear_cache"}
    assert replies["4"] == {"id": "4", "action": "terminate", "terminateId": "x", "turnNumbers": [1]}
    assert replies["5"] == {"id": "5", "action": "terminate_all"}
