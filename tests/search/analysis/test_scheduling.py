"""Many queries at once: what they share does not show, nothing is lost, nothing comes twice."""

import functools
import itertools
import random
import threading
import time
import types

import numpy as np
import pytest

import jaxgo
from search import Search
from search.analysis import batches as batches_module
from search.analysis.batches import Batches, Slice
from search.analysis.devices import LEAVES
from search.analysis.options import ServiceOptions
from search.analysis.query import read_query
from search.analysis.scheduler import Scheduler
from search.analysis.searches import SHARE, Searches
from search.analysis.service import Service
from search.analysis.work import tasks_of
from search.findings import Findings, Wanted
from search.game import Game
from search.move_infos import move_infos
from search.players import search_options
from tests.search.analysis.talk import Talk, eventually, is_final, query

#: Practically for ever.
LONG = {"maxVisits": 10**9}


def of_all_kinds(number: int) -> dict:
    """A query; each number's is different, and the same every time."""
    kinds = [{"maxVisits": 250}, {"maxVisits": 400, "seed": 5}, {"playouts": 300}, {"playouts": 70, "seed": 3, "komi": 3}]
    kinds += [{"maxVisits": 300, "includeOwnership": True, "includeMovesOwnership": True, "includePolicy": True}]
    kinds += [{"playouts": 300, "includeOwnership": True, "includeAmaf": True}]
    moves = [f"{'ABCDE'[number % 5]}{1 + number // 5 % 5}"] if number % 3 else []
    return query(f"q{number}", *moves, **kinds[number % len(kinds)])


def test_a_reply_is_the_same_alone_and_among_63_others(service):
    """Searches and playouts of several seeds and komi, in another order the second time."""
    one_by_one = Talk(service)
    alone = [one_by_one.ask(of_all_kinds(i)) for i in range(0, 64, 7)]
    one_by_one.end()
    together = Talk(service)
    order = random.Random(1).sample(range(64), 64)
    together.send(*(of_all_kinds(i) for i in order))
    replies = together.finals(64)
    together.end()
    for reply in alone:
        assert replies[reply["id"], reply["turnNumber"]] == reply


def test_a_search_is_that_of_the_library(talk):
    """The same moves, visits and rates as `search.Search` of the same position, seed and superko."""
    game = Game(jaxgo.Position.empty(5))
    for point in (12, 6):
        game.play(point)
    search = Search(game.position, history=game.history, komi=0.5, seed=3, in_flight=1, share=SHARE)
    search.run(visits=800)
    reply = talk.ask(query("lib", "C3", "B4", maxVisits=800, seed=3, overrideSettings={"reportAnalysisWinratesAs": "SIDETOMOVE"}))
    assert reply["moveInfos"] == move_infos(search, line=15)
    search.close()


def test_slices_add_up(service):
    """However playouts are cut, and with whichever others they are played, the result is that of one call."""
    kinds = [("a", 700, 7.5), ("b", 150, 3.0), ("c", 64, -2.0)]
    asked = [read_query(query(name, *["C3"][:i], playouts=n, komi=komi))[0] for i, (name, n, komi) in enumerate(kinds)]
    tasks = [task for one in asked for task in tasks_of(one, None, ServiceOptions(seed=4))]
    parts = {task: [] for task in tasks}
    while any(task.left for task in tasks):
        part = Slice(service.games, service.options, threading.Lock())
        taken = {task: part.take(task, 165 - 40 * i) for i, task in enumerate(tasks) if task.left}
        found = part.play()
        for i, (task, count) in enumerate(taken.items()):
            assert found[i].num_playouts == count
            parts[task].append(found[i])
    for task, (_, number, komi) in zip(tasks, kinds):
        whole = jaxgo.evaluate(task.position, number, komi=komi, seed=4, streams=0)[0]
        added = functools.reduce(jaxgo.Evaluation.plus, parts[task])
        for name, expected in whole.sums._asdict().items():
            np.testing.assert_array_equal(getattr(added.sums, name), expected, name)


def test_queries_of_all_kinds_are_played_together(service, monkeypatch):
    """Of two clients, with komi and numbers of playouts of their own: in one call, once the device is free for it."""
    played, play = [], Slice.play
    monkeypatch.setattr(Slice, "play", lambda part: (played.append(part), play(part))[1])
    batches, talks = service.scheduler._batches, (Talk(service), Talk(service))
    slice_of = batches.slice_of
    batches.slice_of = lambda client: None
    for i, talk in enumerate(talks):
        talk.send(*(query(f"{i} {j}", playouts=10 + 90 * j + i, komi=j) for j in range(5)))
    assert eventually(lambda: len(batches._active) == 10)
    batches.slice_of = slice_of
    service.scheduler.wake()
    for i, talk in enumerate(talks):
        assert {name: reply["rootInfo"]["visits"] for (name, _), reply in talk.finals(5).items()} == {
            f"{i} {j}": 10 + 90 * j + i for j in range(5)
        }
        talk.end()
    assert [len(part.tasks) for part in played] == [10]


class Someone:
    """A client."""

    has_room = True


@pytest.fixture
def batches(monkeypatch) -> Batches:
    """Whose slices have room for 32 pieces."""
    monkeypatch.setattr(batches_module, "QUIET", 0.0)
    return Batches(None, types.SimpleNamespace(pieces=lambda size, client=None: 32), None, ServiceOptions())


def begin(batches: Batches, client: Someone, name: str, playouts: int, **more):
    """A task that has begun."""
    (task,) = tasks_of(read_query(query(name, playouts=playouts, **more))[0], client, batches._options)
    batches.push(task)
    assert batches.begin() is None
    return task


def next_slice(batches: Batches, client: Someone) -> list[str]:
    """The names of the tasks in a client's next slice."""
    return [task.query.id for task in batches.slice_of(client).play.__self__.tasks]


def test_who_came_first_is_played_first(batches):
    """Though new queries come for those that are played."""
    client, number, order = Someone(), itertools.count(), []
    for _ in range(8):
        begin(batches, client, str(next(number)), 1000)
    for _ in range(10):
        order += next_slice(batches, client)
        for _ in range(2):
            begin(batches, client, str(next(number)), 1000)
    assert order == [str(i) for i in range(20)]


def test_nobody_waits_for_those_without_end(batches):
    """A query of usual length has its playouts in the slice after it has come, or soon; one that is taken back is told at once,
    whatever comes before it."""
    client = Someone()
    for i in range(3):
        begin(batches, client, f"endless {i}", 10**9)
    assert next_slice(batches, client) == ["endless 0", "endless 1"]
    usual = begin(batches, client, "usual", 900)
    low = begin(batches, client, "low", 10**9, priority=-1)
    found = [next_slice(batches, client), next_slice(batches, client)]
    assert any("usual" in names for names in found) and not usual.left
    assert low.issued == 0
    low.stopped = True
    assert next_slice(batches, client)[0] == "low"
    assert "low" not in next_slice(batches, client)


def test_a_task_of_few_playouts_takes_a_piece_of_a_slice(batches):
    """So those that have begun are no more than are played soon."""
    client, pieces = Someone(), batches_module.SHORT_SLICE // batches_module.PIECE
    tasks = [task for i in range(0, 8 * pieces, 100) for task in tasks_of(
        read_query(query(str(i), *["pass"] * 99, analyzeTurns=list(range(100)), playouts=1))[0], client, batches._options)]
    for task in tasks:
        batches.push(task)
    batches.begin()
    begun = sum(not task.waiting for task in tasks)
    assert pieces < begun < (batches_module.BEGUN + 1) * pieces < len(tasks)


def test_nothing_is_played_for_who_does_not_read_or_told_him(batches, monkeypatch):
    """His tasks wait, begun as they are, beside those of others."""
    client, other, told = Someone(), Someone(), []
    monkeypatch.setattr(batches, "_told", lambda task, during: task.query.id)
    client.finish = lambda task, reply: told.append(reply)
    mine = begin(batches, client, "mine", 1000)
    begin(batches, other, "another's", 1000)
    client.has_room = False
    assert batches.owners == [other] and batches.slice_of(client) is None
    assert next_slice(batches, other) == ["another's"]
    batches._end([mine])
    assert not batches.reply(client) and not told
    client.has_room = True
    assert batches.reply(client) and told == ["mine"]


def test_who_does_not_read_takes_no_others_places(batches):
    """What he has under way stays, and others begin as many as without him."""
    client, other = Someone(), Someone()
    for i in range(batches_module.BEGUN):
        begin(batches, client, f"his {i}", 10**9)
    client.has_room = False
    mine = [begin(batches, other, f"mine {i}", 100) for i in range(3)]
    assert not any(task.waiting for task in mine)


def test_answers_come_out_of_order(talk):
    talk.send(query("slow", maxVisits=30_000), query("fast", maxVisits=200))
    replies = talk.wait(lambda replies: sum(map(is_final, replies)) == 2)
    assert [reply["id"] for reply in replies] == ["fast", "slow"]


def test_terminate(talk):
    """One turn of a query, then all of another, then all that is left: what is under way is told as far as it has come."""
    much = {"reportDuringSearchEvery": 0.05}
    talk.send(query("a", "C3", "B2", analyzeTurns=[0, 1, 2], **LONG, **much), query("b", playouts=10**9, **much), query("c", **LONG))
    told = talk.wait(lambda replies: {(reply["id"], reply["turnNumber"]) for reply in replies} >= {("a", 1), ("b", 0)})
    visits = {(reply["id"], reply["turnNumber"]): reply["rootInfo"]["visits"] for reply in told}
    asked = {"id": "t1", "action": "terminate", "terminateId": "a", "turnNumbers": [1, 7]}
    talk.send(asked, {"id": "t2", "action": "terminate", "terminateId": "b"}, {"id": "t3", "action": "terminate", "terminateId": "nobody"})
    finals = talk.finals(2)
    assert finals.keys() == {("a", 1), ("b", 0)} and asked in talk.replies
    for which, reply in finals.items():
        assert reply["rootInfo"]["visits"] >= visits[which] and "noResults" not in reply
    assert finals["a", 1]["moveInfos"]
    talk.send({"id": "t4", "action": "terminate_all"})
    assert all(reply["rootInfo"]["visits"] > 0 for reply in talk.finals(5).values())
    assert talk.ask(query("d", playouts=5))["rootInfo"]["visits"] == 5


def test_what_has_not_begun_has_no_results(narrow):
    talk = Talk(narrow)
    talk.send(query("long", reportDuringSearchEvery=0.01, **LONG), query("waits", "C3", **LONG))
    talk.wait(lambda replies: replies)
    talk.send({"id": "t", "action": "terminate", "terminateId": "waits"})
    assert talk.finals(1) == {("waits", 1): {"id": "waits", "isDuringSearch": False, "noResults": True, "turnNumber": 1}}
    talk.send({"id": "t2", "action": "terminate_all"})
    talk.end()


def test_terminate_is_for_the_own_queries_only(service):
    one, other = Talk(service), Talk(service)
    one.send(query("same", playouts=200_000))
    other.send({"id": "t", "action": "terminate", "terminateId": "same"}, {"id": "u", "action": "terminate_all"})
    other.wait(lambda replies: len(replies) == 2)
    assert "noResults" not in one.finals(1)["same", 0]
    one.end(), other.end()


@pytest.mark.parametrize("kind", ["maxVisits", "playouts"])
def test_reports_during_the_search(talk, kind):
    talk.send(query("r", **{kind: 10**9}, reportDuringSearchEvery=0.05, firstReportDuringSearchAfter=0.01, includeOwnership=True))

    def visits(replies: list[dict]) -> list[int]:
        return [reply["rootInfo"]["visits"] for reply in replies]

    # On a busy machine several may come before there are more playouts to tell of.
    replies = talk.wait(lambda replies: len(replies) >= 4 and len(set(visits(replies))) > 1)
    assert all(reply["isDuringSearch"] is True for reply in replies)
    assert visits(replies) == sorted(visits(replies))
    assert all(len(reply["ownership"]) == 25 for reply in replies)
    talk.send({"id": "t", "action": "terminate", "terminateId": "r"})
    talk.finals(1)
    number = len(talk.replies)
    assert talk.ask(query("after", maxVisits=200))["id"] == "after"
    assert len(talk.replies) == number + 1, "no report comes after the last reply"


def test_a_report_is_given_up_once_the_last_reply_is_to_come(talk, monkeypatch):
    """Nobody wants its ownership played out then; that of the last reply is."""
    begun, parts = [], Findings.in_parts

    def slow(found, *args):
        begun.append(len(begun))
        return slowly(begun[-1], parts(found, *args))

    def slowly(number, playing):
        for _ in range(10_000 if not number else 0):  # the first report's would take minutes
            yield time.sleep(0.01)
        return (yield from playing)

    monkeypatch.setattr(Findings, "in_parts", slow)
    talk.send(query("r", **LONG, reportDuringSearchEvery=1000, firstReportDuringSearchAfter=0.01, includeMovesOwnership=True))
    assert eventually(lambda: begun)
    talk.send({"id": "t", "action": "terminate", "terminateId": "r"})
    reply = talk.finals(1)["r", 0]
    assert all(len(info["ownership"]) == 25 for info in reply["moveInfos"]) and len(begun) == 2
    assert [reply["isDuringSearch"] for reply in talk.replies if reply["id"] == "r"] == [False]


@pytest.mark.parametrize("kind", ["maxVisits", "playouts"])
def test_one_report_where_only_its_time_is_given(talk, kind):
    talk.send(query("one", **{kind: 10**9}, firstReportDuringSearchAfter=0.01))
    (report,) = talk.wait(lambda replies: replies)
    assert report["isDuringSearch"] is True
    assert talk.ask(query("meanwhile", maxVisits=2_000))["id"] == "meanwhile"
    talk.send({"id": "t", "action": "terminate", "terminateId": "one"})
    talk.finals(2)
    assert [reply["isDuringSearch"] for reply in talk.replies if reply["id"] == "one"] == [True, False]


@pytest.fixture
def narrow():
    """A service that has one search under way at a time."""
    made = Service(ServiceOptions(active=1, visits=300, queue=6))
    with made.scheduler.prepared(5, Wanted(), with_tree=True):
        pass
    yield made
    made.end()


def test_priorities(narrow):
    """What waits is taken by priority, then by arrival."""
    talk = Talk(narrow)
    talk.send(query("first", maxVisits=20_000))
    assert eventually(lambda: narrow.scheduler._searches.active)
    talk.send(query("low", priority=-1), query("high", priority=5), query("mid", "C3", "B2",
              analyzeTurns=[0, 2], priorities=[1, 3]), query("mid2", priority=3))  # fmt: skip
    replies = talk.wait(lambda replies: len(replies) == 6)
    assert [(r["id"], r["turnNumber"]) for r in replies] == [("first", 0), ("high", 0), ("mid", 2), ("mid2", 0), ("mid", 0), ("low", 0)]
    talk.end()


def test_the_queue_is_bounded_for_each_client(narrow):
    talk, other = Talk(narrow), Talk(narrow)
    talk.send(query("long", **LONG))
    talk.send(query("five", *["C3"], analyzeTurns=[0, 1]), *(query(f"q{i}") for i in range(3)))
    reply = talk.error(query("two", "C3", analyzeTurns=[0, 1]))
    assert "The queue is full: a client may have 6 positions waiting" in reply["error"] and reply["id"] == "two"
    other.send(query("of another"))
    talk.send({"id": "t", "action": "terminate", "terminateId": "long"})
    assert len(talk.finals(6)) == 6
    assert other.finals(1)
    assert talk.ask(query("again"))["moveInfos"]
    talk.end(), other.end()


def test_clients_take_turns(narrow):
    """One who asks for much, at whatever priority, does not keep another waiting for all of it."""
    much, little = Talk(narrow), Talk(narrow)
    much.send(*(query(f"m{i}", maxVisits=3000, priority=9) for i in range(6)))
    little.send(query("little", priority=-9))
    little.finals(1)
    assert sum(map(is_final, much.replies)) < 6
    much.finals(6)
    much.end(), little.end()


def test_two_who_ask_at_once_for_a_new_board(service):
    """Each gets his answer; the programs for the board are compiled once."""
    talks = [Talk(service) for _ in range(2)]
    threads = [threading.Thread(target=talk.send, args=(query("new", size=4),)) for talk in talks]
    for thread in threads:
        thread.start()
    replies = [talk.finals(1)["new", 0] for talk in talks]
    assert replies[0] == replies[1]
    for talk in talks:
        talk.end()


def test_a_client_who_does_not_read_is_not_listened_to(service):
    """What waits for him stays bounded, and others are served."""
    from search.analysis import service as module
    from search.analysis.service import Client

    client, other = Client(service), Talk(service)

    def pour() -> None:
        for _ in range(module.MOST_UNSENT // 100):
            client.wait_for_room()
            client.read(b"bad")

    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    assert eventually(lambda: client._unsent >= module.MOST_UNSENT)
    assert other.ask(query("o", playouts=5))["id"] == "o"
    assert client._unsent <= module.MOST_UNSENT + 1000 and thread.is_alive()
    assert not client.has_room
    client.drop()
    thread.join(60)
    assert not thread.is_alive()
    other.end()


def test_a_fault_in_a_search_is_answered_and_survived(talk, monkeypatch, capsys):
    from search.analysis import replies

    monkeypatch.setattr(replies, "of_findings", lambda *_, **__: 1 / 0)
    for name, more in (("f", {"maxVisits": 200}), ("g", {"playouts": 20})):
        assert "Internal error: ZeroDivisionError" in talk.error(query(name, **more))["error"]
    monkeypatch.undo()
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert talk.ask(query("h", maxVisits=200))["moveInfos"]


def test_the_end_answers_what_is_pending():
    service = Service(ServiceOptions(active=1))
    talk = Talk(service)
    talk.send(query("a", **LONG), query("b", **LONG), query("c", playouts=10**9))
    service.end()
    assert all(reply["noResults"] for reply in talk.finals(3).values())
    talk.end()


def test_a_deadline_that_has_passed_wakes_nobody_before_there_are_results():
    """The scheduler would look for work again and again until then."""
    def task(late: bool, has_tried: bool, deadline: float):
        search = types.SimpleNamespace(has_tried=has_tried)
        return types.SimpleNamespace(search=search, winding_up=False, deadline=deadline, late=lambda: late)

    searches = object.__new__(Searches)
    searches._told = []
    for active, expected in (
        ([task(True, False, 5.0)], None), ([task(True, True, 5.0)], 5.0), ([task(False, False, 7.0)], 7.0),
        ([task(True, False, 5.0), task(False, True, 7.0)], 7.0), ([types.SimpleNamespace(
            search=None, winding_up=False, deadline=5.0, late=lambda: True)], None),
    ):  # fmt: skip
        searches.active = active
        assert searches.alarm() == expected


def test_positions_are_judged_as_the_command_was_told():
    """By its policy, its bot with or without knowledge, its seed, and as many playouts of a leaf."""
    policy = jaxgo.Capture(1.0)
    talk = Talk(options=ServiceOptions(bot="uct", knowledge=True, policy=policy, seed=5, playouts_per_leaf=4))
    views = {"overrideSettings": {"reportAnalysisWinratesAs": "SIDETOMOVE"}}
    searched, played = (talk.ask(query(name, "C3", **views, **{name: 400})) for name in ("maxVisits", "playouts"))
    talk.end()
    game = Game(jaxgo.Position.empty(5))
    game.play(12)
    with Search(
        game.position, **search_options("uct", True), history=game.history, komi=0.5, seed=5, policy=policy, leaves=LEAVES,
        playouts_per_leaf=4, in_flight=1, share=SHARE,
    ) as search:  # fmt: skip
        search.run(visits=400)
        assert searched["moveInfos"] == move_infos(search, line=15)
    found = jaxgo.evaluate(game.position, 400, komi=0.5, seed=5, streams=0, policy=policy)
    assert played["rootInfo"]["winrate"] == pytest.approx(1 - found.win_rate[0])


def test_the_most_urgent_search_is_seen_to_first_and_then_who_has_waited_longest(monkeypatch):
    """Of a client's own; not those that wait for the device, or for the ownership of their last reply."""
    searches, client, order = object.__new__(Searches), Someone(), []
    searches._steps = itertools.count(10)
    monkeypatch.setattr(searches, "_step", lambda task: order.append(task.name) or True)

    def task(name: str, priority: int, last_step: int, *, whose=client, waits: bool = False, winding_up: bool = False):
        return types.SimpleNamespace(
            name=name, client=whose, search=types.SimpleNamespace(waits=waits), priority=priority, last_step=last_step,
            winding_up=winding_up, finished=False, late=lambda: False,
        )  # fmt: skip

    searches.active = [
        task("usual, just seen", 0, 4), task("usual", 0, 2), task("urgent", 3, 5), task("another's", 9, 0, whose=Someone()),
        task("with the device", 9, 0, waits=True), task("ending", 9, 0, winding_up=True),
    ]  # fmt: skip
    assert list(searches.steps(client)) == [True] * 3
    assert order == ["urgent", "usual", "usual, just seen"]


def test_what_went_wrong_is_said_of_the_position_that_it_went_wrong_with(capsys):
    """Once."""
    told: list[dict] = []

    def finish(task, reply: dict) -> None:
        told.append(reply)
        task.finished = True

    asked, client = read_query(query("f", "C3", "B2", analyzeTurns=[0, 2])), types.SimpleNamespace(finish=finish)
    tasks, scheduler = tasks_of(asked[0], client, ServiceOptions()), object.__new__(Scheduler)
    for _ in range(2):
        scheduler._fail(tasks[0], ValueError("no more"))
    scheduler._refuse(tasks[1:])
    assert [(reply["id"], reply["turnNumber"], reply["error"]) for reply in told] == [
        ("f", 0, "Internal error: ValueError: no more"), ("f", 2, "The engine has failed"),
    ]  # fmt: skip
    assert capsys.readouterr().err.count("ValueError: no more") == 1
