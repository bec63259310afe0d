"""Small searches that other processes do."""

import contextlib
import io
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import types
from collections.abc import Iterator

import pytest

from jaxgo.base.processor import usable_cores
from search.analysis import in_process, processes, scheduler
from search.analysis.memory import LARGEST, MOST_PROCESSES, Trees
from search.analysis.messages import Drop, Room, Stop, Take
from search.analysis.options import ServiceOptions
from search.analysis.query import read_query
from search.analysis.service import Client, Service
from search.analysis.waiting import Waiting
from search.analysis.work import Task, tasks_of
from tests.processes import only_on_linux
from tests.search.analysis.talk import HANG, Talk, eventually, is_final, query

#: As long as a search may take that other processes do; on 5x5 some tenths of a second.
LONG = {"maxVisits": processes.LARGE_SEARCH}
#: Seconds that a process may take to start, and to compile.
START = 120
WANTED = {"includeOwnership": True}


@contextlib.contextmanager
def started() -> Iterator[Service]:
    """A service of two processes, of which the second is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "MANY_SEARCHES", 1)
        service = Service(ServiceOptions(visits=300, playouts=50, active=4, processes=2))
        talk = Talk(service)
        talk.ask(query("first", **WANTED))
        assert eventually(lambda: others(service).ready == 1, START)
        talk.end()
        yield service
        service.end()


@pytest.fixture(scope="module")
def shared():
    """One for tests that leave it as it is."""
    with started() as service:
        yield service


def others(service: Service) -> processes.Processes:
    return service.scheduler._others


@pytest.mark.wide
def test_it_does_not_matter_where_a_search_is_made(shared, talk, monkeypatch):
    """Its reply is the same, byte for byte but for its place among the others."""
    taken, take = [], processes._Process.take
    monkeypatch.setattr(processes._Process, "take", lambda self, task: (taken.append(task.number), take(self, task)))
    more = [{}, WANTED, {"includeMovesOwnership": True, "includePVVisits": True}, {"seed": 7, "komi": 3, "maxVisits": 1000}]
    asked = [query(f"{i}", "C3", "BC"[i % 2] + "2", "W A1", analyzeTurns=[1, 2, 3], **more[i % 4]) for i in range(16)]
    there = Talk(shared)
    there.send(*asked), talk.send(*asked)
    assert there.finals(48) == talk.finals(48)
    assert 8 <= len(taken) < 48, "both have done some"
    there.end()


@pytest.mark.wide
@only_on_linux
def test_a_process_that_is_stuck_holds_up_nobody_and_is_given_up(capfd, monkeypatch):
    with started() as service:
        talk = Talk(service)
        talk.send(*(query(f"{i}", **LONG) for i in range(8)))
        assert eventually(lambda: others(service).tasks)
        os.kill(others(service)._running[0]._process.pid, signal.SIGSTOP)
        assert Talk(service).ask(query("of another"))
        assert eventually(lambda: len(list(filter(is_final, talk.replies))) + len(others(service).tasks) == 8)
        monkeypatch.setattr(processes, "SILENT", 0.5)
        service.scheduler.wake()
        assert all("noResults" not in reply for reply in talk.finals(8).values())
        assert "a process that searched has ended, as it had said nothing for 0.5 seconds; " in capfd.readouterr().err
        talk.end()


@pytest.mark.wide
def test_a_process_that_has_nothing_to_tell_says_that_it_goes_on(shared):
    """Searches may take long, and clients may not read: that is nothing wrong."""
    (process,) = others(shared)._running
    before = process.heard
    assert eventually(lambda: process.heard > before + scheduler.BEAT / 2, 3 * scheduler.BEAT)


@pytest.mark.wide
def test_modules_of_the_folder_are_not_taken_for_its_own(tmp_path):
    """Another process imports what this one would, whatever lies where it was started."""
    (tmp_path / "search.py").write_text("raise SystemExit('not this')")
    (tmp_path / "queue.py").write_text("raise SystemExit('nor this')")
    program = "import sys; sys.path[:] = [p for p in sys.path if p]; from search.analysis import processes; processes.MANY_SEARCHES = 1; "
    program += "from jaxgo import cli; sys.exit(cli.main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", program, "analysis", "--processes", "2", "--active", "4"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(pathlib.Path(processes.__file__).parents[2])},
    ) as process:  # fmt: skip
        out, told = process.communicate("".join(json.dumps(query(f"{i}", maxVisits=2000)) + "\n" for i in range(100)), START)
    assert len(out.splitlines()) == 100 and told.splitlines() == ["jaxgo analysis: ready"]


def test_a_client_who_has_had_enough_is_told_what_there_is(shared):
    talk = Talk(shared)
    talk.send(*(query(f"{i}", "C3", analyzeTurns=[0, 1], reportDuringSearchEvery=0.01, **LONG) for i in range(8)))

    def told(task) -> bool:
        """Whether a search there has something to tell of."""
        return any((r.get("id"), r.get("turnNumber")) == (task.query.id, task.turn) for r in talk.replies)

    found_one: list = []
    assert eventually(lambda: found_one.extend(filter(told, others(shared).tasks)) or found_one)
    one = found_one[0]
    talk.send({"id": "t", "action": "terminate", "terminateId": one.query.id, "turnNumbers": [one.turn]})
    talk.wait(lambda replies: any(is_final(r) and (r["id"], r["turnNumber"]) == (one.query.id, one.turn) for r in replies))
    talk.send({"id": "all", "action": "terminate_all"})
    found = talk.finals(16)
    assert found[one.query.id, one.turn]["rootInfo"]["visits"] < LONG["maxVisits"]
    assert eventually(lambda: not others(shared).tasks)
    talk.end()


def test_a_process_goes_on_with_what_others_want_when_a_client_is_gone(shared):
    one, other = Talk(shared), Talk(shared)
    one.send(*(query(f"{i}", **LONG) for i in range(8)))
    assert eventually(lambda: others(shared).tasks)
    one.client.drop()
    other.send(*(query(f"{i}") for i in range(8)))
    assert all(reply["rootInfo"]["visits"] >= 300 for reply in other.finals(8).values())
    assert eventually(lambda: not others(shared).tasks and not shared.scheduler._searches.active)
    one.end(), other.end()


def test_reports_come_from_there_too(shared):
    talk = Talk(shared)
    talk.send(*(query(f"{i}", reportDuringSearchEvery=0.03, **LONG) for i in range(6)))
    assert eventually(lambda: others(shared).tasks)
    names = {task.query.id for task in others(shared).tasks}
    talk.finals(6)
    assert names & {reply["id"] for reply in talk.replies if reply["isDuringSearch"]}
    talk.end()


def test_a_client_who_does_not_read_is_not_searched_for_there(shared, monkeypatch):
    """As here: what has begun is finished, and no more begins before he reads."""
    monkeypatch.setattr("search.analysis.service.FEW_UNSENT", 1)
    client, count = Client(shared), 40
    for i in range(count):
        client.read(json.dumps(query(f"{i}")).encode())
    assert eventually(lambda: client._lines)
    assert eventually(lambda: not others(shared).tasks and not shared.scheduler._searches.active)
    assert len(client._lines) < count
    read = []
    while len(read) < count:
        read += client.next_lines().splitlines()
    assert sorted(int(json.loads(line)["id"]) for line in read) == list(range(count))
    client.drop()


def test_what_a_process_had_that_is_killed_is_done_all_the_same(capfd):
    with started() as service:
        talk = Talk(service)
        talk.send(*(query(f"{i}", **LONG) for i in range(8)))
        assert eventually(lambda: others(service).tasks)
        os.kill(others(service)._running[0]._process.pid, signal.SIGKILL)
        assert all("noResults" not in reply for reply in talk.finals(8).values())
        assert capfd.readouterr().err.count("a process that searched has ended, by signal 9; ") == 1
        talk.send(*(query(f"again {i}") for i in range(8)))
        assert eventually(lambda: others(service).ready == 1, START), "another takes its place"
        talk.finals(16)
        talk.end()


def test_each_has_room_for_the_largest_search():
    """Which has as much, however many processes there are."""
    for number in (1, 2, MOST_PROCESSES):
        trees = Trees(1 << 30, number)
        assert trees.share(1 << 40) == (1 << 30) // LARGEST and trees.has_room(trees.share(1 << 40), first=True)
        assert number * trees.total <= 1 << 30


def test_how_many_suit_cpus():
    assert processes.suited(1) == 1 and processes.suited(2) == processes.suited(5) == 2
    assert processes.suited(12) == 6 and processes.suited(500) == MOST_PROCESSES
    assert processes.suited(None) == processes.suited(len(usable_cores()))


@pytest.mark.wide
@only_on_linux
def test_none_is_left_when_the_command_ends():
    program = "from search.analysis import processes; processes.MANY_SEARCHES = 2; import sys; from jaxgo import cli; sys.exit(cli.main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "analysis", "--processes", "2", "--active", "4"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        process.stdin.write("".join(json.dumps(query(f"{i}", maxVisits=2000)) + "\n" for i in range(200)))
        process.stdin.close()
        assert sorted(int(json.loads(line)["id"]) for line in process.stdout) == list(range(200))
        assert process.wait(HANG) == 0

    def all_are_gone() -> bool:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    assert eventually(all_are_gone)


class Asker:
    """A client."""

    has_room = True


class Pretended:
    """Another process, which does nothing."""

    end, heard = "as it was told", 0.0

    def __init__(self, *_):
        self.tasks, self.prepared = {}, set()
        self.tell_changes = self.see_that_it_goes_on = self.close = lambda: None

    def is_prepared(self, task: Task) -> bool:
        return bool(self.prepared)

    def take(self, task: Task) -> None:
        self.tasks[task.number] = task


def task_of(client, visits: int = 300) -> Task:
    (task,) = tasks_of(read_query(query("q", maxVisits=visits))[0], client, ServiceOptions())
    return task


def test_one_that_could_not_begin_has_no_successor_and_what_another_had_begins_anew(monkeypatch, capsys):
    """But for what nobody waits for any more."""
    monkeypatch.setattr(processes, "_Process", Pretended)
    again: list[Task] = []
    made, client = processes.Processes(ServiceOptions(), 1, None, again.append), Asker()
    active = [task_of(client) for _ in range(processes.MANY_SEARCHES)]
    made.start(active)
    (first,) = made._running
    first.prepared.add("what it can do")
    kept, given_up = task_of(client), task_of(client)
    for task in (kept, given_up):
        first.take(task)
        task.waiting = False
    given_up.finished = True
    made._lost(first)
    assert again == [kept] and kept.waiting and "1 searches that it had begin anew" in capsys.readouterr().err
    made.start(active)
    (second,) = made._running
    made._lost(second)
    made.start(active)
    assert not made._running


def test_large_searches_stay_here_and_count_for_nothing(monkeypatch):
    """They have several rounds under way, and so all that the device can do."""
    monkeypatch.setattr(processes, "_Process", Pretended)
    made, client, waiting = processes.Processes(ServiceOptions(), 1, None, None), Asker(), Waiting()
    large = [task_of(client, processes.LARGE_SEARCH + 1) for _ in range(processes.MANY_SEARCHES)]
    small = [task_of(client, processes.LARGE_SEARCH) for _ in range(processes.MANY_SEARCHES)]
    made.start(large + small[1:])
    assert not made._running
    made.start(small)
    (process,) = made._running
    process.prepared.add("what it can do")
    waiting.push(large[0])
    made.hand_out(waiting)
    assert not process.tasks
    waiting.push(small[0])
    large[0].finished = True
    made.hand_out(waiting)
    assert list(process.tasks.values()) == [small[0]]


def test_nobody_looks_whether_one_that_has_nothing_to_do_goes_on(monkeypatch):
    made = processes.Processes(ServiceOptions(), 1, None, None)
    made._running = [Pretended(), Pretended()]
    assert made.alarm() is None
    made._running[1].heard = 7.0
    made._running[1].take(task_of(Asker()))
    assert made.alarm() == 7.0 + processes.SILENT


def test_what_has_not_begun_there_has_no_results_and_who_reads_no_more_has_no_room(monkeypatch):
    nothing = types.SimpleNamespace(need=lambda size: None, release=lambda size: None)
    pretended = types.SimpleNamespace(devices=nothing, wake=lambda: None, failed=False)
    monkeypatch.setattr(in_process, "Scheduler", lambda *_, **__: pretended)
    said = io.BytesIO()
    work = in_process._Work(said, ServiceOptions())
    work._beginning = types.SimpleNamespace(submit=lambda *_: None)
    waits, begun, given_up = tasks = [task_of(None) for _ in range(3)]
    for task in tasks:
        work.do(Take(1, True, task))
    begun.waiting = False
    work.do(Room(1, False))
    assert not begun.client.has_room
    work.do(Drop([given_up.number]))
    work.do(Stop([task.number for task in tasks]))
    assert waits.finished and begun.stopped and not begun.finished and not given_up.stopped
    said.seek(0)
    told = pickle.load(said)
    assert (told.number, told.last, json.loads(told.line)["noResults"]) == (waits.number, True, True) and not said.read()
