"""A soak: plays by GTP, analyses by JSON, and serves clients at a port beside hostile ones, all at once, for as long as wanted;
checks that nothing is lost and that memory stays flat, and tells how long clients who behave have waited.

    python -m tests.search.soak --minutes 60
"""

import argparse
import collections
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from tests.search.analysis.test_hostile import ACTIONS, FIELDS, LONG_LINES, VALUES, with_field

LETTERS = "ABCDE"
#: The most memory at the end, as a multiple of the most at the beginning.
GROWTH = 1.1


def start(*arguments: str) -> subprocess.Popen:
    """A command of `jaxgo` with pipes."""
    command = [sys.executable, "-m", "jaxgo", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)


def play(until: float, seed: int) -> str:
    """Plays games by GTP; every command gets one reply, and no move is refused."""
    games = moves = 0
    with start("gtp", "--size", "5", "--visits", "200", "--seed", str(seed)) as engine:

        def ask(command: str) -> str:
            engine.stdin.write(f"{command}\n")
            engine.stdin.flush()
            lines = []
            while (line := engine.stdout.readline()).strip() or not lines:
                assert line, f"the engine has gone, after {games} games, at {command}"
                lines.append(line)
            assert lines[0].startswith("="), (command, lines)
            return lines[0][1:].strip()

        while time.monotonic() < until:
            ask("clear_board")
            passes = 0
            for number in range(120):
                move = ask(f"genmove {'bw'[number % 2]}")
                moves += 1
                passes = passes + 1 if move.lower() == "pass" else 0
                if passes == 2 or move == "resign":
                    break
            ask("final_score")
            games += 1
        ask("quit")
        assert engine.wait(60) == 0
    return f"{games} games, {moves} moves"


def analyse(until: float, seed: int) -> str:
    """Keeps 30 queries outstanding, gives some up; every position gets one last reply."""
    rng, waiting, answered, slots = random.Random(seed), set(), 0, threading.Semaphore(30)
    with start("analysis") as engine:

        def send() -> None:
            number = 0
            while time.monotonic() < until:
                slots.acquire()
                waiting.add(str(number))
                engine.stdin.write(json.dumps(some_query(rng, str(number))) + "\n")
                if rng.random() < 0.1:
                    engine.stdin.write(json.dumps({"id": "t", "action": "terminate", "terminateId": str(rng.randrange(number + 1))}) + "\n")
                number += 1
            engine.stdin.close()

        sender = threading.Thread(target=send)
        sender.start()
        for line in engine.stdout:
            reply = json.loads(line)
            if "action" in reply:
                continue
            assert "error" not in reply, reply
            waiting.remove(reply["id"])  # a reply that comes twice fails here
            answered += 1
            slots.release()
        sender.join()
        assert engine.wait(60) == 0
    assert not waiting, f"never answered: {sorted(waiting)}"
    return f"{answered} positions"


def some_query(rng: random.Random, name: str) -> dict:
    """A query of a client who behaves."""
    moves = [["BW"[i % 2], f"{rng.choice(LETTERS[2 * i % 5:])}{i + 1}"] for i in range(rng.randrange(4))]
    kind = rng.choice([{"playouts": rng.choice([50, 2000])}, {"maxVisits": rng.choice([200, 3000])}])
    asked = {"id": name, "moves": moves, "rules": "chinese", "boardXSize": 5, "boardYSize": 5} | kind
    return asked | {"includeOwnership": rng.random() < 0.3, "includePolicy": rng.random() < 0.1}


class Waits:
    """How long clients who behave have waited for replies, by what they asked for."""

    def __init__(self):
        self._seconds: dict[str, list[float]] = collections.defaultdict(list)

    def note(self, kind: str, seconds: float) -> None:
        """One reply."""
        self._seconds[kind].append(seconds)

    def __str__(self) -> str:
        lines = []
        for kind, seconds in sorted(self._seconds.items()):
            seconds = sorted(seconds)
            middle, late = (seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.99))
            lines.append(f"  {kind}: {len(seconds)} replies after {middle:.3f} s (median), {late:.3f} s (p99), {seconds[-1]:.3f} s (most)")
        return "\n".join(lines)


def behave(address: tuple[str, int], until: float, seed: int, waits: Waits) -> int:
    """Asks query after query, some at a time; each position gets one last reply. How many."""
    rng, answered = random.Random(seed), 0
    with socket.create_connection(address, timeout=300) as connection, connection.makefile("rb") as replies:
        while time.monotonic() < until:
            asked = {name: some_query(rng, name) for name in (f"{seed} {answered + i}" for i in range(rng.randrange(1, 6)))}
            start = time.monotonic()
            connection.sendall(b"".join(json.dumps(one).encode() + b"\n" for one in asked.values()))
            while asked:
                reply = json.loads(replies.readline())
                assert "error" not in reply and "noResults" not in reply, reply
                one = asked.pop(reply["id"])  # a reply that comes twice fails here
                kind = next(f"{name} {one[name]}" for name in ("playouts", "maxVisits") if name in one)
                waits.note(f"some at a time, {kind}{', ownership' * one['includeOwnership']}", time.monotonic() - start)
                answered += 1
    return answered


def ask_little(address: tuple[str, int], until: float, seed: int, waits: Waits) -> int:
    """Asks for fifty playouts, and when they are there again, and for the version; how often."""
    asked = 0
    with socket.create_connection(address, timeout=300) as connection, connection.makefile("rb") as replies:
        while time.monotonic() < until:
            little = {"id": "l", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "playouts": 50}
            for kind, one in (("one at a time, playouts 50", little), ("query_version", {"id": "v", "action": "query_version"})):
                start = time.monotonic()
                connection.sendall(json.dumps(one).encode() + b"\n")
                reply = json.loads(replies.readline())
                assert reply["id"] == one["id"] and "error" not in reply, reply
                waits.note(kind, time.monotonic() - start)
                asked += 1
            time.sleep(0.02)
    return asked


def misbehave(address: tuple[str, int], until: float, seed: int, _waits: Waits) -> int:
    """Sends whatever may harm, reads little of what comes back, and vanishes, again and again. How many lines."""
    rng, sent = random.Random(seed), 0
    endless = [{"maxVisits": 10**9}, {"playouts": 10**9}, {"maxVisits": 10**9, "reportDuringSearchEvery": 0.001, "includeMovesOwnership": True}]
    while time.monotonic() < until:
        reads = rng.random() < 0.7
        try:
            with socket.create_connection(address, timeout=20) as connection:
                if reads:
                    threading.Thread(target=_swallow, args=(connection.dup(),), daemon=True).start()
                for _ in range(rng.randrange(1, 60)):
                    kind = rng.random()
                    if kind < 0.5:
                        asked = rng.choice([FIELDS, *({"id": "h", **action} for action in ACTIONS)])
                        line = with_field(asked, rng.choice([*FIELDS, "action", "terminateId", "turnNumbers"]), rng.choice(VALUES))
                    elif kind < 0.6:
                        line = json.dumps(rng.choice(list(LONG_LINES.values()))).encode()
                    elif kind < 0.7:
                        line = rng.randbytes(rng.randrange(2000)).replace(b"\n", b" ")
                    else:
                        asked = some_query(rng, str(sent)) | rng.choice(endless) | {"seed": rng.randrange(5), "priority": rng.randrange(-9, 9)}
                        line = json.dumps(asked).encode()
                    connection.sendall(line + b"\n")
                    sent += 1
                time.sleep(rng.random() * 2)
        except OSError:  # one who does not read is not read from either
            continue
    return sent


def _swallow(connection: socket.socket) -> None:
    with connection:
        try:
            while connection.recv(1 << 16):
                pass
        except OSError:
            return


def serve(until: float, seed: int) -> str:
    """Clients who behave beside hostile ones at one server, which ends as it should."""
    command = [sys.executable, "-m", "jaxgo", "analysis", "--listen", "0", "--memory", "512M"]
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        (host, _, port) = server.stderr.readline().split()[-1].rpartition(":")
        threading.Thread(target=lambda: [errors.write(line) for line in server.stderr], daemon=True).start()
        counts, failures, memory, waits = collections.Counter(), [], [], Waits()

        def run(work, number: int) -> None:
            try:
                counts[work.__name__] += work((host, int(port)), until, seed * 1000 + number, waits)
            except BaseException as error:
                failures.append(f"{work.__name__}: {type(error).__name__}: {error}")

        threads = [threading.Thread(target=run, args=(work, i)) for i, work in enumerate([behave] * 3 + [ask_little] + [misbehave] * 4)]
        for thread in threads:
            thread.start()
        while time.monotonic() < until:
            memory.append(int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * 4096 >> 20)
            time.sleep(2)
        for thread in threads:
            thread.join(600)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0, server.returncode
        errors.seek(0)
        text = errors.read()
    assert not failures, failures
    assert "Traceback" not in text, text[:3000]
    print(waits, flush=True)
    # After the programs for the board have been compiled; trees come and go, up to what they may take.
    settled = memory[len(memory) // 4 :]
    third = max(1, len(settled) // 3)
    print(f"  MiB over time: {' '.join(map(str, memory[:: max(1, len(memory) // 20)]))}", flush=True)
    first, last = max(settled[:third]), max(settled[-third:])
    assert last < max(GROWTH * first, first + 200), f"memory grew from {first} to {last} MiB"
    return (
        f"all held: {counts['behave'] + counts['ask_little']} of as many answered once beside {counts['misbehave']} hostile lines, "
        f"nothing failed, memory flat ({last} MiB after {first} MiB at first, {last / first:.2f} times)"
    )


def main() -> None:
    """Runs all for the time that the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("play", "analyse", "serve"), help="one of them alone")
    args = parser.parse_args()
    chosen = [work for work in (play, analyse, serve) if args.only in (None, work.__name__)]
    until, failures = time.monotonic() + 60 * args.minutes, []

    def run(work) -> None:
        try:
            print(f"{work.__name__}: {work(until, args.seed)}", flush=True)
        except BaseException as error:
            failures.append(work.__name__)
            print(f"{work.__name__}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    threads = [threading.Thread(target=run, args=(work,)) for work in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
