"""What a client may not do to the server, to others, and to the machine."""

import contextlib
import gc
import json
import sys
import threading
import time
import tracemalloc

import jax
import pytest

from jaxgo.running import at_work
from search.analysis import complaints
from search.analysis import query as queries
from search.analysis.options import ServiceOptions
from search.analysis.service import Client, Service
from tests.search.analysis.talk import Talk, eventually, is_final, query

#: Fields of queries and actions, with a value that is good.
FIELDS = {
    "id": "f", "moves": [["B", "C3"]], "initialStones": [["W", "A1"]], "initialPlayer": "B", "rules": "chinese", "komi": 6.5,
    "whiteHandicapBonus": "0", "boardXSize": 5, "boardYSize": 5, "analyzeTurns": [0], "maxVisits": 200, "playouts": 20,
    "includeOwnership": False, "includeMovesOwnership": False, "includePolicy": False, "includePVVisits": True, "includeAmaf": False,
    "analysisPVLen": 3, "avoidMoves": [], "allowMoves": [], "overrideSettings": {}, "reportDuringSearchEvery": 10.0,
    "firstReportDuringSearchAfter": 10.0, "priority": 1, "priorities": [1], "seed": 3, "unknown": 0,
}  # fmt: skip
ACTIONS = [{"action": name} for name in queries.ACTIONS] + [
    {"action": name, "terminateId": "nobody", "turnNumbers": [0]} for name in ("terminate", "terminate_all")
]
#: Values in JSON, of every type, as small and as large as they come. The last ones no float holds.
VALUES = [
    "null", "true", "false", "0", "-1", "3", "1e-400", "0.5", "-0.0", "1e308", "9" * 4000, "-" + "9" * 400, '""', '"B"', '"\\ud800"', '"\\u0000"',
    json.dumps("x" * 3000), "[]", "[[]]", "[null]", "[0]", "[" + "0," * 3000 + "0]", "{}", '{"a": 1}', '{"": {}}', '[{"player": "B"}]',
    '[["B", "C3"]]', '[["B", "C3", "D4"]]', '[["B", ["C3"]]]', '[{"player": [], "moves": {}, "untilDepth": []}]', '{"maxTime": []}',
    '{"maxTime": ' + "9" * 400 + "}", '{"maxVisits": 1e300}', "[" * 300 + "]" * 300, '{"a":' * 300 + "0" + "}" * 300,
    "[" * 900 + "]" * 900, "[" * 40_000 + "]" * 40_000, "1" * 5000,
    "NaN", "Infinity", "-Infinity", "1e400", "-1e999999999", "[1e400]", '{"a": [1, {"b": 1e400}]}', '{"maxTime": Infinity}',
]  # fmt: skip
BEYOND = {text for text in VALUES if any(part in text for part in ("1e400", "NaN", "Infinity", "-1e9", "9" * 400, "1" * 400))}


@pytest.fixture
def start():
    """Makes services that end with the test."""
    made = []

    def make(options: ServiceOptions, **more) -> Service:
        made.append(Service(options, **more))
        return made[-1]

    yield make
    for service in made:
        service.end()


def good(talk: Talk) -> None:
    """A client who behaves gets what he asks for."""
    assert talk.ask(query("good", "C3", playouts=50))["rootInfo"]["visits"] == 50
    assert talk.ask(query("good too", maxVisits=300))["rootInfo"]["visits"] >= 300


def with_field(asked: dict, field: str, value: str) -> bytes:
    """A line with a field that is given in JSON."""
    text = ", ".join(f"{json.dumps(name)}: {json.dumps(x)}" for name, x in asked.items() if name != field)
    return f"{{{text}, {json.dumps(field)}: {value}}}".encode()


@pytest.mark.parametrize("field", [*FIELDS, "action", "terminateId", "turnNumbers"])
def test_every_field_with_every_value(service, field):
    """In queries and in actions: an answer each, and never "internal error"."""
    talk, lines = Talk(service), []
    for value in VALUES:
        lines.append((value, with_field(FIELDS, field, value)))
        lines += [(value, with_field({"id": "f", **action}, field, value)) for action in ACTIONS if field not in ("playouts", "seed")]
    for value, line in lines:
        before = len(talk.replies)
        talk.send(line)
        replies = talk.wait(lambda replies, before=before: any("warning" not in reply for reply in replies[before:]))[before:]
        talk.send({"id": "f", "action": "terminate_all"})  # what has been asked for with a billion playouts
        replies = talk.wait(lambda replies: replies[-1] == {"id": "f", "action": "terminate_all"})[before:-1]
        if value in BEYOND and field != "id":
            assert replies[0]["field"] == field and "float's range" in replies[0]["error"] and len(replies) == 1, line
        assert "Internal" not in json.dumps(replies), (line, replies)
    good(talk)
    talk.end()


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action["action"])
def test_an_action_is_not_answered_with_numbers_that_are_none(talk, action):
    line = json.dumps({"id": "t", **action})[:-1].encode() + b', "x": 1e400}'
    reply = talk.error(line)
    assert (reply["id"], reply["field"]) == ("t", "x") and reply["error"].endswith("not 1e400")
    good(talk)


LONG = 1 << 18
#: Lines of about so many bytes.
LONG_LINES = {
    "passes": query("p", moves=[["B", "pass"]] * 17_500, analyzeTurns=list(range(2000))),
    "turns": query("t", "C3", analyzeTurns=[0] * 125_000),
    "priorities": query("t", "C3", analyzeTurns=[0], priorities=[0] * 125_000),
    "stones": query("s", initialStones=[["B", "C3"]] * 20_000),
    "avoided": query("a", avoidMoves=[{"player": "B", "moves": ["C3"] * 42_000, "untilDepth": 1}]),
    "dictionaries": query("d", avoidMoves=[{}] * 125_000),
    "allowed": query("a", allowMoves=[{"player": "B", "moves": ["C3"], "untilDepth": 1}] * 5_000),
    "fields": query("f", playouts=5) | {f"unknown {i}": i for i in range(10_000)},
    "settings": query("o", playouts=5, overrideSettings={f"unknown {i}": i for i in range(10_000)}),
    "lists": query("l", moves=[[]] * 125_000),
    "id": query("x" * 250_000),
    "location": query("l", moves=[["B", "C" * 250_000]]),
    "rules": query("r", rules="x" * 250_000),
    "turnNumbers": {"id": "n", "action": "terminate_all", "turnNumbers": list(range(37_500))},
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_line_costs_little(service, name):
    """In time as some readings of its JSON, in memory so many times its length; the replies are shorter than it is."""
    client, line = Client(service), json.dumps(LONG_LINES[name], separators=(",", ":")).encode()
    assert LONG / 3 < len(line) < 2 * LONG
    client.read(json.dumps(query("first", "C3", playouts=5)).encode())  # what a first query costs is not the line's fault
    assert json.loads(client.next_lines())["id"] == "first"
    times = []
    # The collector of garbage would look through all that other tests have left behind, again and again.
    gc.disable()
    try:
        for work in (json.loads, client.read):
            start = time.thread_time()
            work(line)
            times.append(time.thread_time() - start)
    finally:
        gc.enable()
    assert times[1] < 25 * times[0] + 0.01, times
    client.drop()
    client = Client(service)
    tracemalloc.start()
    try:
        client.read(line)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 60 * len(line) and held < 2 * len(line), (most, held)
    assert client._unsent < 1.2 * len(line)
    client.drop()


def test_thousands_of_turns_are_refused_before_anything_is_built(talk):
    """With the limit; 71 kB took seconds and a hundred megabytes."""
    played = talk.service.games.played
    reply = talk.error(query("p", moves=[["B", "pass"], ["W", "pass"]] * 2000, analyzeTurns=list(range(4000))))
    assert reply == {"id": "p", "field": "moves", "error": f"Must hold at most {queries.MOST_MOVES:,} elements, not 4,000"}
    assert talk.service.games.played == played


def test_a_long_game_is_played_once_and_histories_are_made_when_a_search_begins(start):
    """All positions of the longest game that is taken, while the scheduler is busy, so that no search begins."""
    service = start(ServiceOptions())
    talk, go_on = Talk(service), threading.Event()
    talk.ask(query("first", maxVisits=200))  # what a first query compiles is not the line's fault
    service.scheduler._post(go_on.wait)
    played, number = service.games.played, queries.MOST_MOVES
    moves = [["B", "pass"], ["W", "pass"]] * (number // 2)
    line = json.dumps(query("p", moves=moves, analyzeTurns=list(range(number + 1)), maxVisits=200)).encode()
    # Python up to 3.13 may crash if tracing stops while threads that are not Python's own begin to run Python.
    assert eventually(lambda: not at_work.number(jax.local_devices()[0]))
    tracemalloc.start()
    try:
        talk.client.read(line)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        talk.send({"id": "t", "action": "terminate_all"})
        go_on.set()
    finals = talk.finals(1 + number + 1)
    assert service.games.played == played + number, "each move once"
    assert held < 3 << 20 and most < 5 << 20, (held, most)
    assert sum("noResults" in reply for reply in finals.values()) == number + 1
    talk.end()


def test_what_waits_is_bounded_by_memory_too(start):
    """For one client by half of it, so that another still finds room."""
    service = start(ServiceOptions(active=1, memory=16 << 20))
    talk, other = Talk(service), Talk(service)
    talk.send(*(query(str(i), maxVisits=10**9) for i in range(600)))
    refused = [reply for reply in talk.wait(lambda replies: any("error" in reply for reply in replies)) if "error" in reply]
    assert refused and all("may take no more memory than is left for others" in reply["error"] for reply in refused)
    assert 100 < talk.client._pending < 400
    other.send(query("mine", maxVisits=200), {"id": "v", "action": "query_version"})
    assert "mine" in {reply["id"] for reply in other.finals(1).values()}
    talk.send({"id": "t", "action": "terminate_all"})
    talk.end(), other.end()
    assert service._queues.held == 0


def test_the_memory_of_all_searches_is_bounded(start):
    """Though each of sixty may grow for ever; a small one of another client finds room."""
    service = start(ServiceOptions(memory=32 << 20))
    talk, other = Talk(service), Talk(service)
    talk.send(*(query(str(i), maxVisits=10**9) for i in range(60)))
    searches = service.scheduler._searches
    assert eventually(lambda: any(task.search is not None for task in searches.active))
    assert other.ask(query("small", maxVisits=300))["moveInfos"]
    assert 2 <= len(searches.active) < 20 and searches.memory.held <= 32 << 20
    assert 0 < sum(task.search.tree.bytes_used for task in searches.active if task.search) <= searches.memory.held
    talk.send({"id": "t", "action": "terminate_all"})
    talk.end(), other.end()
    assert eventually(lambda: searches.memory.held == 0)


def test_who_does_not_read_is_not_worked_for(service):
    """His searches wait, and go on when he reads again."""
    client, other = Client(service), Talk(service)
    while client.has_room:
        client.read(b"bad")
    client.read(json.dumps(query("waits", maxVisits=200)).encode())
    assert other.ask(query("o", maxVisits=300))["moveInfos"]
    assert client._pending == 1
    assert client not in {task.client for task in service.scheduler._searches.active}
    client.next_lines()
    assert json.loads(client.next_lines())["id"] == "waits"
    client.drop()
    other.end()


def test_playouts_wait_for_who_does_not_read_too(service):
    """However few they are."""
    client, other = Client(service), Talk(service)
    client.read(json.dumps(query("first", playouts=1)).encode())
    assert eventually(lambda: not client._pending)
    while client.has_room:
        client.read(b"bad")
    for i in range(100):
        client.read(json.dumps(query(f"waits {i}", playouts=1)).encode())
    assert other.ask(query("o", playouts=1))["turnNumber"] == 0
    assert client._pending == 100
    client.next_lines()
    assert eventually(lambda: not client._pending)
    assert client.next_lines().count(b'"id":"waits') == 100
    client.drop()
    other.end()


def test_replies_that_nobody_reads_count_as_waiting(service):
    """Each has the query's id, which may be long; the memory is given back as they are read, or their client goes."""
    queues, others = service._queues, service._queues.held
    for reads in (True, False):
        client = Client(service)
        for _ in range(100):
            client.read(json.dumps(query("\U0001f600" * 1000, playouts=10**9)).encode())
        client.give_up()
        assert not client._pending and queues.held - others > 100 * 12_000
        if reads:
            assert client.next_lines().count(b'"noResults"') == 100
        else:
            client.drop()
        assert queues.held == others and not client._queued
        client.drop()


def test_giving_up_in_the_middle_of_a_batch_is_quiet(talk, capfd):
    for i in range(20):
        talk.send(*(query(f"{i} {j}", "C3", playouts=10**8 + i % 2) for j in range(3)))
        talk.send(query(f"{i} small", playouts=3000), {"id": f"t{i}", "action": "terminate_all"})
        talk.wait(lambda replies, i=i: any(reply["id"] == f"t{i}" for reply in replies))
    assert len(talk.finals(80)) == 80
    good(talk)
    assert capfd.readouterr().err == ""


def test_what_comes_when_all_has_ended_is_answered_too():
    service = Service(ServiceOptions(visits=300))
    talk = Talk(service)
    talk.ask(query("before"))
    service.end()
    talk.send(query("after"))
    assert talk.finals(2)["after", 0]["noResults"]
    talk.end()


@pytest.mark.parametrize("more", [{"playouts": 10}, {"maxVisits": 200}])
def test_what_comes_while_all_is_about_to_end_is_answered_too(more):
    """The end waits for what the scheduler is at."""
    service = Service(ServiceOptions())
    talk, busy = Talk(service), threading.Event()
    talk.ask(query("before", **more))
    service.scheduler._post(busy.wait)
    ends = threading.Thread(target=service.end)
    ends.start()
    assert eventually(lambda: len(service.scheduler._posted) == 1)
    talk.send(query("behind", **more))
    busy.set()
    ends.join()
    assert talk.finals(2)["behind", 0]["noResults"]
    talk.end()


def test_the_scheduler_outlives_whatever_is_posted_to_it(talk, capfd):
    for _ in range(3):
        talk.service.scheduler._post(lambda: 1 / 0)
        talk.service.scheduler._post(lambda: json.dumps(float("inf"), allow_nan=False))
    good(talk)
    assert capfd.readouterr().err.count("Traceback") == 6


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_scheduler_that_fails_says_so_to_all(error, start, monkeypatch, capfd):
    """At once or after trying again, by what it can survive once."""
    failed = []
    service = start(ServiceOptions(active=1), on_failure=lambda: failed.append(True))
    talk = Talk(service)
    talk.send(*(query(str(i), maxVisits=10**9) for i in range(3)), query("p", playouts=10**9))
    assert eventually(lambda: service.scheduler._searches.active)

    def fail() -> None:
        raise error("by the test")

    monkeypatch.setattr(service.scheduler._searches, "sweep", fail)
    service.scheduler.wake()
    replies = talk.wait(lambda replies: len(replies) >= 4)
    assert sorted(reply["id"] for reply in replies) == ["0", "1", "2", "p"]
    assert {reply["error"] for reply in replies} == {"The engine has failed"}
    assert talk.error(query("later", playouts=5))["error"] == "The engine has failed"
    assert failed == [True] and service.scheduler.failed
    text = capfd.readouterr().err
    assert error.__name__ in text and "the scheduler has failed, nothing can be analysed any more" in text
    talk.end()


@pytest.mark.parametrize("broken", [None, "closed", "full"])
def test_complaints_need_no_stderr(broken, monkeypatch):
    if broken is None:
        monkeypatch.setattr(sys, "stderr", None)
    else:
        file = open("/dev/full", "w", buffering=1)
        if broken == "closed":
            file.close()
        monkeypatch.setattr(sys, "stderr", file)
    complaints.say("something")
    complaints.tell(ValueError("something"))
    if broken == "full":
        with contextlib.suppress(OSError):
            file.close()


def test_reports_come_when_they_are_due_under_load(service):
    """Beside thirty searches of another client; of those that all want reports at once each gets some."""
    busy, talk = Talk(service), Talk(service)
    busy.send(*(query(f"b{i}", maxVisits=100_000, reportDuringSearchEvery=0.001) for i in range(30)))
    talk.send(query("r", maxVisits=10**9, reportDuringSearchEvery=0.1), query("p", playouts=10**9, reportDuringSearchEvery=0.1))
    for name in ("r", "p"):
        assert eventually(lambda name=name: sum(reply["id"] == name for reply in talk.replies) >= 5)
    assert not any(map(is_final, talk.replies))
    assert eventually(lambda: len({reply["id"] for reply in busy.replies}) == 30)
    for one in (busy, talk):
        one.send({"id": "t", "action": "terminate_all"})
        one.end()
