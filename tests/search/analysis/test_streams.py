"""Clients at sockets and pipes, polite and not."""

import contextlib
import json
import os
import random
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from jaxgo import cli
from search.analysis import streams
from search.analysis.options import ServiceOptions
from search.analysis.service import Service
from search.findings import Wanted
from tests.processes import only_on_linux, threads_of
from tests.search.analysis.talk import HANG, Talk, eventually, query
from tests.wide import wide

LONG = {"maxVisits": 10**9}


@pytest.fixture(scope="module")
def listener():
    """A service at a port of this machine."""
    service = Service(ServiceOptions(visits=200, line=2000))
    with service.scheduler.prepared(5, Wanted(), with_tree=True):
        pass
    made = streams.Listener(service, "127.0.0.1", 0)
    yield made
    service.end()
    made.close()


class Peer:
    """A client at a socket."""

    def __init__(self, listener: streams.Listener):
        host, port = listener.address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=HANG)
        self.file = self.socket.makefile("rb")

    def send(self, *queries) -> None:
        self.socket.sendall(b"".join((q if isinstance(q, bytes) else json.dumps(q).encode()) + b"\n" for q in queries))

    def reply(self) -> dict:
        return json.loads(self.file.readline())

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def test_a_client_who_says_all_and_closes_his_half_gets_all_answers(listener):
    peer = Peer(listener)
    peer.send(*(query(f"{i}", playouts=20 + i) for i in range(20)), query("last", maxVisits=300))
    peer.socket.shutdown(socket.SHUT_WR)
    assert sorted(json.loads(line)["id"] for line in peer.file) == sorted([*map(str, range(20)), "last"])
    peer.close()


def test_a_line_that_is_too_long_is_skipped(listener):
    peer = Peer(listener)
    peer.send(b'{"id": "' + b"x" * 5000 + b'"}', query("next", playouts=5))
    assert peer.reply() == {"error": "Input line is longer than the 2000 bytes allowed; it was skipped"}
    assert peer.reply()["id"] == "next"
    peer.close()


def test_many_clients_some_of_whom_vanish(listener):
    """Of 32 clients those who stay get exactly what they asked for."""
    rng, wrong = random.Random(3), []

    def stay(number: int) -> None:
        peer = Peer(listener)
        for i in range(2):
            peer.send(query(f"{number}-{i}a", playouts=50), query(f"{number}-{i}b", maxVisits=200), b"bad", query("c", "C9"))
            replies = [peer.reply() for _ in range(4)]
            names = sorted(str(reply.get("id")) for reply in replies)
            if names != sorted([f"{number}-{i}a", f"{number}-{i}b", "None", "c"]):
                wrong.append(replies)
        peer.close()

    def vanish() -> None:
        for _ in range(3):
            peer = Peer(listener)
            peer.send(query("gone", **LONG), query("gone too", playouts=10**8), b'{"id": "half')
            if rng.random() < 0.5:  # with a reset instead of an end
                peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()

    threads = [threading.Thread(target=stay, args=(i,)) for i in range(24)]
    threads += [threading.Thread(target=vanish) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
        assert not thread.is_alive()
    assert not wrong


def test_who_cannot_be_taken_keeps_nobody_out(listener, monkeypatch):
    """As where there are no more threads, or files: he is hung up on, and the next is served."""
    attend, told, first = streams.attend, [], Peer(listener)
    first.send(query("first", playouts=1))
    assert first.reply()["id"] == "first"  # so those of other tests have been taken, who might be the one who is not
    first.close()
    assert eventually(lambda: listener._clients._value == streams.MOST_CLIENTS)

    def full(*_):
        monkeypatch.setattr(streams, "attend", attend)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(streams.complaints, "tell", told.append)
    monkeypatch.setattr(streams, "attend", full)
    refused = Peer(listener)
    assert refused.file.readline() == b"" and [str(error) for error in told] == ["can't start new thread"]
    served = Peer(listener)
    served.send(query("a", maxVisits=200))
    assert served.reply()["id"] == "a"
    refused.close(), served.close()
    assert eventually(lambda: listener._clients._value == streams.MOST_CLIENTS)  # those of other tests are gone by then, too


def test_what_a_client_who_is_gone_has_asked_for_is_given_up(listener):
    scheduler = listener._service.scheduler
    peer = Peer(listener)
    peer.send(query("gone", reportDuringSearchEvery=0.01, **LONG))
    assert peer.reply()["isDuringSearch"]
    assert scheduler._searches.active
    peer.close()
    assert eventually(lambda: not scheduler._searches.active and not listener._connected)


def test_a_slow_reader_holds_up_nobody(listener):
    """He asks for far more than fits in the pipe, and reads nothing; then he reads it all."""
    slow, other = Peer(listener), Peer(listener)
    number = 5000
    thread = threading.Thread(target=slow.send, args=[{"id": f"{i}", "action": "query_models"} for i in range(number)])
    thread.start()
    for i in range(5):
        other.send(query(f"{i}", playouts=10))
        assert other.reply()["id"] == f"{i}"
    assert [slow.reply()["id"] for _ in range(number)] == [f"{i}" for i in range(number)]
    thread.join()
    slow.close(), other.close()


# The command itself.


def start(*arguments: str) -> subprocess.Popen:
    """`jaxgo analysis` in a process of its own."""
    command = [sys.executable, "-m", "jaxgo", "analysis", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_end_of_stdin_finishes_the_queue(tmp_path):
    log = tmp_path / "log"
    process = start("--visits", "250", "--log", str(log), "--max-line", "300")
    text = "\n".join(json.dumps(q) for q in (query("a"), query("b", "C3", analyzeTurns=[0, 1], playouts=30), {"id": "x" * 300}))
    output, errors = process.communicate(text, timeout=HANG)
    assert process.returncode == 0, errors
    replies = [json.loads(line) for line in output.splitlines()]
    assert sorted((r.get("id", ""), r.get("turnNumber", -1)) for r in replies) == [("", -1), ("a", 0), ("b", 0), ("b", 1)]
    assert errors == "jaxgo analysis: ready\n"
    assert [line[0] for line in log.read_text().splitlines()].count("<") == 2


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen]:
    """The same, which does not outlive the test."""
    with start(*arguments) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), *wide((signal.SIGTERM, 0))])
def test_signals_end_it_cleanly(number, status):
    with started("--active", "1") as process:
        process.stdin.write("".join(json.dumps(query(name, reportDuringSearchEvery=0.05, **LONG)) + "\n" for name in "ab"))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["isDuringSearch"]
        process.send_signal(number)
        output = process.stdout.read()
        assert process.wait(HANG) == status
        assert "Traceback" not in process.stderr.read()
    finals = [reply for reply in map(json.loads, output.splitlines()) if not reply["isDuringSearch"]]
    assert sorted((reply["id"], reply["noResults"]) for reply in finals) == [("a", True), ("b", True)]


def test_a_reader_that_is_gone_ends_the_work():
    """At stdin and stdout, before anything is written to him: his queries have no end, and stdin stays open."""
    with started("--log", os.devnull) as process:
        process.stdin.write("".join(json.dumps(query(name, **LONG)) + "\n" for name in "abc"))
        process.stdin.write(json.dumps({"id": "v", "action": "query_version"}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["version"]
        process.stdout.close()
        assert process.wait(HANG) == 0
        assert "Traceback" not in process.stderr.read()


@only_on_linux
@pytest.mark.parametrize("broken", ["2>/dev/full", *wide("2>&-", "--log /dev/full")])
def test_what_cannot_be_written_besides_the_replies(broken):
    """stderr that is closed or full, and a log on a full disk, of which is told once: all queries are answered."""
    text = "".join(json.dumps({"id": str(i), "action": "query_version"}) + "\n" for i in range(3)) + "bad\n"
    command = f"exec {shlex.quote(sys.executable)} -m jaxgo analysis {broken}"
    done = subprocess.run(["sh", "-c", command], input=text, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(reply.get("id", "") for reply in replies) == ["", "0", "1", "2"]
    if "log" in broken:
        assert done.stderr.count("the log '/dev/full' cannot be written: No space left on device; going on without") == 1


@only_on_linux
@pytest.mark.parametrize("output", [">/dev/full", *wide(">&-")])
def test_replies_that_cannot_be_written_are_told(output):
    """Of the form that the help shows, with a file: who is told nothing would take what is there for all."""
    command = f"exec {shlex.quote(sys.executable)} -m jaxgo analysis {output}"
    text = json.dumps({"id": "v", "action": "query_version"}) + "\n"
    done = subprocess.run(["sh", "-c", command], input=text, stderr=subprocess.PIPE, text=True, timeout=HANG, check=False)
    assert done.returncode == 1 and done.stderr.count("jaxgo analysis: replies cannot be written: ") == 1


@pytest.mark.parametrize("work", [{"playouts": 10**9}, *wide(LONG)], ids=["playouts", "search"])
def test_a_scheduler_that_fails_ends_the_command(work):
    """With status 1, though stdin is still open and a tree's loops may be compiling."""
    program = """
import sys
from search.analysis import searches
from jaxgo import cli
from tests.wide import wide
searches.Searches.begin = lambda *_: 1 / 0
sys.exit(cli.main(["analysis"]))
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        process.stdin.write(json.dumps(query("q", **work)) + "\n")
        process.stdin.flush()
        assert process.wait(HANG) == 1
        # On a busy machine it may have ended before the query was read, or before all that is to be compiled for a tree was.
        assert {json.loads(line)["error"] for line in process.stdout} <= {"The engine has failed"}
        assert "the scheduler has failed" in process.stderr.read()


@pytest.mark.wide
@only_on_linux
def test_signals_to_another_thread_end_it_too():
    """Then the main thread, which handles signals, is not woken by it."""
    with started() as process:
        assert process.stderr.readline()
        os.kill(max(threads_of(process.pid)), signal.SIGTERM)
        assert process.wait(HANG) == 0


@only_on_linux
def test_the_command_listens_and_signals_to_another_thread_end_it_too():
    with started("--listen", "0") as process:
        line = process.stderr.readline()
        assert line.startswith("jaxgo analysis: listening at 127.0.0.1:")
        with socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), timeout=HANG) as connection:
            connection.sendall(b'{"id": "v", "action": "query_version"}\n')
            with connection.makefile() as file:
                assert json.loads(file.readline())["version"]
            os.kill(max(threads_of(process.pid)), signal.SIGTERM)
            assert process.wait(HANG) == 0
            assert connection.recv(100) == b"", "the connection is closed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bot", "amaf"), "must be a bot with a tree"),
        (("--listen", "here"), "must be PORT or HOST:PORT"),
        (("--listen", "127.0.0.1:99999"), "must be PORT or HOST:PORT"),
        (("--visits", "0"), "must be between 1 and"),
        (("--log", "/nonexistent/log"), "cannot be written"),
        (("--listen", "203.0.113.1:80"), "cannot listen at 203.0.113.1:80"),
    ],
)
def test_bad_usage(arguments, message, capfd):
    assert cli.main(["analysis", *arguments]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1 and message in printed.err


@pytest.mark.wide
def test_a_talk_in_this_process_and_a_socket_are_alike(listener):
    """The same query gets the same reply by either way."""
    talk, peer = Talk(listener._service), Peer(listener)
    peer.send(query("q", maxVisits=300, includeOwnership=True))
    assert peer.reply() == talk.ask(query("q", maxVisits=300, includeOwnership=True))
    peer.close(), talk.end()


def test_a_listener_that_is_closed_takes_nobody():
    service = Service(ServiceOptions())
    made = streams.Listener(service, "127.0.0.1", 0)
    host, port = made.address.split(":")
    made.close()
    with pytest.raises(OSError):
        socket.create_connection((host, int(port)), timeout=5.0).close()
    service.end()


def test_an_address_of_ipv6_is_listened_at():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6")
    service = Service(ServiceOptions())
    made = streams.Listener(service, "::1", 0)
    port = re.fullmatch(r"\[::1\]:([0-9]+)", made.address)
    assert port is not None
    socket.create_connection(("::1", int(port[1])), timeout=5.0).close()
    made.close()
    service.end()


def test_one_client_too_many_is_told_so_and_comes_in_once_another_has_gone(monkeypatch):
    monkeypatch.setattr(streams, "MOST_CLIENTS", 1)
    service = Service(ServiceOptions())
    made = streams.Listener(service, "127.0.0.1", 0)
    first, second = Peer(made), Peer(made)
    assert second.reply() == {"error": "Too many clients"} and not second.file.readline()
    first.send({"id": "a", "action": "query_version"})
    assert first.reply()["id"] == "a"
    first.close(), second.close()
    for _ in range(100):  # until it has been seen that he is gone
        third = Peer(made)
        third.send({"id": "b", "action": "query_version"})
        if (reply := third.reply()).get("id") == "b":
            break
        third.close()
    assert reply["id"] == "b"
    third.close()
    made.close()
    service.end()
