"""`jaxgo match`, as a user runs it: what it reports, and what is left of it however it ends."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
from sgfmill import sgf

from jaxgo.base import source

LITTLE = ("rave", "amaf:visits=100", "--size", "5", "--visits", "200", "--komi", "0.5", "--leaves", "16")


def match(*arguments: str) -> subprocess.CompletedProcess:
    """Runs `jaxgo match` in a process of its own."""
    command = [sys.executable, "-m", "jaxgo", "match", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def begun(*arguments: str) -> subprocess.Popen:
    """`jaxgo match` under way in a process group of its own, as a terminal has it; ended for certain after the `with`."""
    # Where tests run in the background, Ctrl-C is ignored by those that inherit it.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import jaxgo.__main__"
    command, pipe = [sys.executable, "-c", code, "match", *arguments], subprocess.PIPE
    return Ended(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


class Ended(subprocess.Popen):
    """A process that is killed at the end of its `with`, with all that it has started."""

    def __exit__(self, *exception):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*exception)


def children(process: int) -> list[int]:
    """The identifiers of the processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def gone(processes: list[int]) -> bool:
    """Whether processes have ended, or do so within some seconds."""
    for _ in range(100):
        if not any(pathlib.Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.1)
    return False


def test_a_match_is_the_same_however_it_is_spread():
    """Two games by one worker and by two; colours alternate, and every game is in the document."""
    documents = []
    for workers in ("1", "2"):
        done = match(*LITTLE, "--games", "2", "--workers", workers, "--json")
        assert done.returncode == 0, done.stderr
        documents.append(json.loads(done.stdout))
    names = ("number", "first_is_black", "result", "opening", "game")
    games = [[{name: game[name] for name in names} for game in document["records"]] for document in documents]
    assert games[0] == games[1]
    assert [g["first_is_black"] for g in games[0]] == [True, False]
    assert games[0][0]["opening"] == games[0][1]["opening"], "both colours"
    assert documents[0]["complete"]
    assert documents[0]["interval"][0] <= documents[0]["score"] <= documents[0]["interval"][1]


def test_an_interrupted_match_reports_its_games_and_ends():
    """Ctrl-C goes to all processes of a terminal: none of them hangs, and nothing that is finished is lost."""
    with begun("mc", "ucb", "--size", "4", "--games", "100000", "--visits", "64", "--json") as process:
        next(line for line in process.stderr if "2 of" in line)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert not report["complete"] and report["stopped"] == "interrupted"
    assert 2 <= report["games"] == len(report["records"]) < 100_000
    assert "Traceback" not in err


def test_an_interruption_at_the_very_beginning_is_quiet():
    """While the processes of games still import; for people the report says that it is partial."""
    with begun("mc", "ucb", "--size", "4") as process:
        while len(children(process.pid)) < 2:
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "PARTIAL, interrupted: 0 of 200 games are finished" in out
    assert err == ""


def test_a_report_says_what_was_played_by_what():
    done = match(*LITTLE, "--games", "2", "--seed", "7")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "rave against amaf:visits=100, 5x5, komi 0.5, 2 random moves, seed 7",
        "rave: 200 playouts a move, 16 leaves of 8 playouts a round",
        "amaf:visits=100: 100 playouts a move",
    ]
    assert lines[3].startswith(f"jaxgo {source.version()}{source.in_words(source.commit())}, 2")
    assert re.match(r"score [0-9.]+ %, 95 % interval [0-9.]+ to [0-9.]+; Elo", lines[4])


def test_a_match_goes_on_after_it_was_killed(tmp_path):
    """Killed without warning in the middle of games: all processes end, finished games stay, the others are played once."""
    options = (*LITTLE, "--output", str(tmp_path / "match"), "--json")
    with begun(*options, "--games", "100000") as process:
        next(line for line in process.stderr if "3 of" in line)
        workers = children(process.pid)
        process.kill()
        process.communicate(timeout=120)
    assert len(workers) >= 2
    assert gone(workers), "nobody plays on"
    kept = [json.loads(line) for line in (tmp_path / "match" / "games.jsonl").read_text().splitlines()]
    assert len(kept) >= 3
    wanted = max(game["number"] for game in kept) + 2
    done = match(*options, "--games", str(wanted))
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} games are in" in done.stderr
    report = json.loads(done.stdout)
    assert report["complete"] and report["games"] == wanted
    assert [game["number"] for game in report["records"]] == list(range(1, wanted + 1))
    assert all(game in report["records"] for game in kept)
    for game in report["records"]:
        root = sgf.Sgf_game.from_bytes((tmp_path / "match" / f"{game['number']:04d}.sgf").read_bytes()).get_root()
        assert root.get("RE") == game["result"]
        assert f"game {game['number']} of `jaxgo match`, seed 0" in root.get("GC")
    assert "holds a match with seed 0, not 1" in match(*options, "--seed", "1").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mc:bias=1", "uct"), "mc:bias=1: mc has no setting 'bias'; it has: visits, seconds"),
        (("rave", "uct:exploration=-1"), "uct:exploration=-1: exploration must be a number from 0 to inf, not -1.0"),
        (("rave", "uct", "--cores", "1000"), "--cores must be at most "),
        (("rave",), "the following arguments are required: SECOND"),
        (("rave", "uct", "--output", ""), "--output: must be a folder, not ''"),
        (("rave", "uct", "--output", "/proc/x"), "the folder '/proc/x' cannot be used"),
        (("rave", "uct", "--output", os.path.dirname(__file__)), "holds other files but no match.json"),
        (("rave", "uct", "--memory", "lots"), "--memory: must be a size such as 512M or 2G, not 'lots'"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments, message):
    done = match(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
