"""A soak: plays by GTP and analyses by JSON at once, for as long as wanted, and checks that nothing is lost.

    python -m tests.search.soak --minutes 60
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time

LETTERS = "ABCDE"


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
                moves = [["BW"[i % 2], f"{rng.choice(LETTERS[2 * i % 5:])}{i + 1}"] for i in range(rng.randrange(4))]
                kind = rng.choice([{"playouts": rng.choice([50, 2000])}, {"maxVisits": rng.choice([200, 3000])}])
                asked = {"id": str(number), "moves": moves, "rules": "chinese", "boardXSize": 5, "boardYSize": 5} | kind
                waiting.add(str(number))
                engine.stdin.write(json.dumps(asked | {"includeOwnership": rng.random() < 0.3}) + "\n")
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


def main() -> None:
    """Runs both for the time that the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    until, failures = time.monotonic() + 60 * args.minutes, []

    def run(work) -> None:
        try:
            print(f"{work.__name__}: {work(until, args.seed)}", flush=True)
        except BaseException as error:
            failures.append(work.__name__)
            print(f"{work.__name__}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    threads = [threading.Thread(target=run, args=(work,)) for work in (play, analyse)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
