"""`jaxgo match`, as a user runs it: what it reports, and what is left of it however it ends."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import types

import pytest
from sgfmill import sgf

from bench import match as matches
from bench.match import _check_memory, _elo, _Progress, _referee
from bench.matches.engine import find_gnugo
from jaxgo import cli
from jaxgo.base import source
from jaxgo.cli import UsageError
from tests.bench.matches.test_standing import a_game

pytestmark = pytest.mark.usefixtures("many_playouts")
ENGINE = pathlib.Path(__file__).parent / "matches" / "scripted_engine.py"
#: Contestants whose programs are compiled once for all matches that play.
LITTLE = ("rave", "rave:visits=100", "--size", "5", "--visits", "200", "--komi", "0.5", "--leaves", "16")
#: Those of a match of which it matters what is said of it.
FLAT = ("amaf", "amaf:visits=100", "--size", "5", "--visits", "200", "--komi", "0.5", "--games", "2", "--workers", "1", "--seed", "7")
#: Those of matches of which it matters how they end: their workers are ready sooner. As a clock runs, they have workers.
QUICK = ("amaf:visits=100,seconds=60", "amaf:visits=90,seconds=60", "--size", "5", "--komi", "0.5")
#: Those of a match whose games are played side by side.
AT_ONCE = ("amaf:visits=30", "amaf:visits=20", "--size", "5", "--komi", "0.5", "--games", "24")


def match(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess:
    """Runs `jaxgo match` in a process of its own."""
    command = [sys.executable, "-m", "jaxgo", "match", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def scripted(behaviour: str) -> str:
    """A GTP engine that does not know much."""
    return f"gtp:{shlex.join([sys.executable, '-S', str(ENGINE), behaviour])}"


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


def wait_for_games(number: int, folder: pathlib.Path, process: subprocess.Popen) -> None:
    """Until so many games of a match are kept in its folder."""
    games = folder / "games.jsonl"
    while not games.exists() or games.read_text().count("\n") < number:
        assert process.poll() is None, "the match has ended"
        time.sleep(0.01)


def gone(processes: list[int]) -> bool:
    """Whether processes have ended, or do so within some seconds."""
    for _ in range(100):
        if not any(pathlib.Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.wide
def test_a_match_is_the_same_however_it_is_spread(tmp_path):
    """Two games by one worker and by two; colours alternate, and every game is in the document."""
    options = (*LITTLE, "--games", "2", "--seed", "7")
    one, done = match(*options, "--workers", "1", "--output", str(tmp_path)), match(*options, "--workers", "2", "--json")
    assert one.returncode == done.returncode == 0, one.stderr + done.stderr
    document = json.loads(done.stdout)
    names = ("number", "first_is_black", "result", "opening", "game")
    records = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    games = [[{name: game[name] for name in names} for game in of] for of in (records, document["records"])]
    assert games[0] == games[1]
    assert [g["first_is_black"] for g in games[0]] == [True, False]
    assert games[0][0]["opening"] == games[0][1]["opening"], "both colours"
    assert document["complete"]
    assert document["interval"][0] <= document["score"] <= document["interval"][1]


@pytest.mark.wide
@pytest.mark.parametrize(("arguments", "end"), [
    ((*QUICK, "--games", "2000", "--workers", "1"), lambda pid: os.killpg(pid, signal.SIGINT)),
    ((*QUICK, "--games", "2000", "--workers", "1"), lambda pid: os.kill(pid, signal.SIGTERM)),
    ((*AT_ONCE[:-1], "200"), lambda pid: os.killpg(pid, signal.SIGINT)),
])  # fmt: skip
def test_an_interrupted_match_reports_its_games_and_ends(arguments, end, tmp_path):
    """Ctrl-C goes to all processes of a terminal, SIGTERM to one: none of them hangs, and nothing that is finished is lost."""
    with begun(*arguments, "--json", "--output", str(tmp_path)) as process:
        wait_for_games(2, tmp_path, process)
        end(process.pid)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert not report["complete"] and report["stopped"] == "interrupted"
    assert 2 <= report["games"] == len(report["records"]) < report["settings"]["games"]
    assert "Traceback" not in err


def test_an_interruption_at_the_very_beginning_is_quiet():
    """While the processes of games still import; for people the report says that it is partial."""
    with begun(*QUICK) as process:
        while len(children(process.pid)) < 2:
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "PARTIAL, interrupted: 0 of 200 games are finished" in out
    assert err == ""


@pytest.mark.wide
def test_a_process_that_is_lost_ends_the_match_with_what_is_finished(tmp_path):
    """As the system does where memory runs out."""
    with begun(*QUICK, "--games", "2000", "--workers", "2", "--output", str(tmp_path)) as process:
        wait_for_games(2, tmp_path, process)
        pools = [child for child in children(process.pid) if "spawn_main" in pathlib.Path(f"/proc/{child}/cmdline").read_text()]
        os.kill(pools[-1], signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert re.search("PARTIAL, failed: BrokenProcessPool: .*: [0-9]+ of 2000 games are finished", out)
    assert "Traceback" not in err


def test_a_report_says_what_was_played_by_what(tmp_path, capfd):
    """Of games that are all there already."""
    done = match(*FLAT, "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert cli.main(["match", *FLAT, "--output", str(tmp_path)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[:4] == [
        "amaf against amaf:visits=100, 5x5, komi 0.5, 2 random moves, seed 7",
        "amaf: 200 playouts a move",
        "amaf:visits=100: 100 playouts a move",
        "referee: own",
    ]
    assert lines[5:] == done.stdout.splitlines()[5:]
    assert lines[4].startswith(f"jaxgo {source.version()}{source.in_words(source.commit())}, 2")
    assert re.match(r"score [0-9.]+ %, 95 % interval [0-9.]+ to [0-9.]+; Elo", lines[5])


def test_a_match_goes_on_after_it_was_killed(tmp_path, capfd):
    """Killed without warning in the middle of games: all processes end, finished games stay, the others are played once."""
    options = (*QUICK, "--output", str(tmp_path / "match"), "--workers", "1", "--json")
    with begun(*options, "--games", "2000") as process:
        wait_for_games(3, tmp_path / "match", process)
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
    assert cli.main(["match", *options, "--seed", "1"]) == 2
    assert "holds a match with seed 0, not 1" in capfd.readouterr().err


@pytest.mark.wide
def test_a_match_at_once_that_was_killed_goes_on_with_the_same_games(tmp_path, capfd):
    """In another process, one by one; together they are the games of a match that nothing has stopped."""
    options = (*AT_ONCE, "--json")
    with begun(*options, "--output", str(tmp_path)) as process:
        wait_for_games(2, tmp_path, process)
        assert not children(process.pid), "there are no workers"
        process.kill()
        process.communicate(timeout=120)
    kept = (tmp_path / "games.jsonl").read_text().count("\n")
    done = match(*options, "--output", str(tmp_path), "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert 2 <= kept and f"{kept} games are in" in done.stderr
    assert cli.main(["match", *options]) == 0
    found = done.stdout, capfd.readouterr().out
    games = [[(g["number"], g["game"], g["result"]) for g in json.loads(x)["records"]] for x in found]
    assert games[0] == games[1] and len({game for _, game, _ in games[0]}) == 24
    assert b"seed 0 from stream" in (tmp_path / "0001.sgf").read_bytes()


def test_a_match_between_gtp_engines_tells_how_games_were_lost(tmp_path):
    """One that dies in the middle of every game is started anew for the next; the referee is a third."""
    done = match(scripted("dies"), scripted("2"), "--size", "5", "--komi", "0.5", "--games", "4", "--workers", "2", "--referee",
                 scripted("scores=B+3"), "--output", str(tmp_path), "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["settings"]["names"] == ["Scripted dies", "Scripted 2"]
    assert (report["losses"], report["first"]["failures"], report["second"]["failures"]) == (4, 4, 0)
    for game in report["records"]:
        assert game["ending"] == "failure" and "exit status 3; stderr: out of matches" in game["remark"]
        record = sgf.Sgf_game.from_bytes((tmp_path / f"{game['number']:04d}.sgf").read_bytes())
        assert {record.get_player_name(colour) for colour in "bw"} == {"Scripted dies", "Scripted 2"}
        assert record.get_root().get("RE") == ("W+F" if game["first_is_black"] else "B+F")
        assert "out of matches" in record.get_last_node().get("C")


def test_the_referee_counts_and_the_board_is_told_too(tmp_path):
    options = ("--size", "5", "--komi", "0.5", "--games", "2", "--workers", "1", "--json")
    done = match(scripted("1"), scripted("2"), *options, "--referee", scripted("scores=B+3"))
    report = json.loads(done.stdout)
    assert [(game["result"], game["won"]) for game in report["records"]] == [("B+3", 1.0), ("B+3", 0.0)]
    assert report["dead_stones_decided"] == sum(game["board"].startswith("W") for game in report["records"])


def test_a_referee_that_fails_is_told_of():
    options = ("--size", "5", "--komi", "0.5", "--games", "2", "--workers", "1", "--referee")
    done = match(scripted("1"), scripted("2"), *options, scripted("scores=none"))
    assert done.returncode == 0, done.stderr
    why = "game [12]: the referee has failed: its final_score is 'none'"
    assert re.search(f"; the referee failed in 2, scored by our own rules \\({why}\\)$", done.stdout, re.M)


def test_no_referee_is_asked_who_does_not_play_on_boards_as_large():
    args = argparse.Namespace(referee=None, first="gtp:x", second="rave", size=21)
    assert _referee(args) == "own"


def test_an_engine_may_be_where_no_text_leads(tmp_path, capfd):
    """Its command line is in every record."""
    folder = tmp_path / os.fsdecode(b"engine\xe9s")
    folder.mkdir()
    shutil.copy(ENGINE, folder)
    odd = f"gtp:{shlex.join([sys.executable, '-S', str(folder / ENGINE.name)])}"
    options = ["--size", "5", "--games", "2", "--workers", "1", "--referee", "own", "--output", str(tmp_path / "out")]
    assert cli.main(["match", odd, scripted("1"), *options]) == 0
    assert b"engine\\\\udce9s" in (tmp_path / "out" / "0001.sgf").read_bytes()


def test_an_engine_that_does_not_come_back_loses_and_the_match_goes_on():
    options = ("--size", "5", "--games", "3", "--workers", "1", "--referee", "own")
    done = match("amaf:visits=100", scripted("absent"), *options)
    assert done.returncode == 0, done.stderr
    assert "3 games: 3 won" in done.stdout
    assert re.search("Scripted absent: .*, failures 1 \\(game 2: it ended at .*\\)$", done.stdout, re.M)


@pytest.mark.wide
def test_engines_end_with_the_match():
    """With Ctrl-C, and when the match is killed."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with begun(scripted("1"), scripted("hangs"), "--size", "5", "--workers", "1", "--referee", "own") as process:
            deadline = time.monotonic() + 120
            while len(engines := [e for worker in children(process.pid) for e in children(worker)]) < 2:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.1)
            os.kill(process.pid, number)
            process.communicate(timeout=120)
            assert gone(engines)


@pytest.mark.slow
@pytest.mark.skipif(find_gnugo() is None, reason="GNU Go is not installed")
def test_rave_holds_its_own_against_gnugo(tmp_path):
    """Ten games at 9x9: no illegal move, no loss on time, no failure, and a floor under the score of level 1."""
    options = ("--games", "10", "--seed", "1", "--cleanup", "--output", str(tmp_path), "--json")
    done = match("rave:visits=20000", "gtp:gnugo --mode gtp --level 1 --chinese-rules", *options, timeout=3600)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["complete"] and report["games"] == 10 == report["different"]
    for side in ("first", "second"):
        assert [report[side][name] for name in ("losses_on_time", "illegal_moves", "failures")] == [0, 0, 0]
    assert report["score"] >= 0.2, report["records"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rave", "gtp:no-such-engine"), "gtp:no-such-engine: 'no-such-engine' cannot be started: No such file or directory"),
        (("rave", "gtp:"), "gtp:: there is no command line"),
        (("rave", "gtp:true"), "gtp:true: it ended at 'list_commands' with exit status 0"),
        (("rave", "gtp:cat"), "gtp:cat: its answer to 'list_commands' is not GTP's: 'list_commands'"),
        (("rave", scripted("small")), "it refuses 'boardsize 9': unacceptable size"),
        (("rave", "uct", "--referee", "gnugo"), "--referee must be own, or gtp: and an engine's command line, not 'gnugo'"),
        (("mc:bias=1", "uct"), "mc:bias=1: mc has no setting 'bias'; it has: visits, seconds"),
        (("rave", "uct:exploration=-1"), "uct:exploration=-1: exploration must be a finite number of at least 0, not -1.0"),
        (("rave", "uct", "--cores", "1000"), "--cores must be at most "),
        (("rave",), "the following arguments are required: SECOND"),
        (("rave", "uct", "--output", ""), "--output: must be a folder, not ''"),
        (("rave", "uct", "--output", "/proc/x"), "the folder '/proc/x' cannot be used"),
        (("rave", "uct", "--output", os.path.dirname(__file__)), "holds other files but no match.json"),
        (("grave", "rave", "--size", "25", "--visits", "20", "--workers", "40", "--memory", "128M"), "--memory must be at least "),
        (("rave", "uct", "--memory", "lots"), "--memory: must be a size such as 512M or 2G, not 'lots'"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments, message, capfd):
    assert cli.main(["match", *arguments]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err


def test_progress_counts_moves_until_games_end(monkeypatch):
    """Games side by side end all at a time: the time that is left goes by the moves of those under way too."""
    clock, said = iter([0.0, 10.0, 20.0]), []
    monkeypatch.setattr("bench.match.time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    progress = _Progress(lambda done, total, words: said.append((done, total, words())), 3, [{"won": 1.0}])
    for _ in range(90):
        progress.moved()
    progress.finished({"won": 0.0, "moves": 50, "opening": ["A1", "A2"]})
    progress.finished({"won": 0.0, "moves": 40, "opening": ["A1", "A2"]})
    assert said[0] == (1, 3, "1 of 3 games, 100.0 % (20.7 to 100.0), 1 moves")
    assert said[89][2].endswith("90 moves")
    # 48 moves of the one that ended, 42 of the one under way, which may have 50 too: 8 of 92 moves are left, 92 took 10 s.
    assert said[90:] == [
        (2, 3, "2 of 3 games, 50.0 % (9.5 to 90.5), 1 s left"), (3, 3, "3 of 3 games, 33.3 % (6.1 to 79.2), 0 s left"),
    ]  # fmt: skip


def test_all_trees_of_the_games_at_a_time_share_the_memory(monkeypatch, capfd):
    """Two a game, of as many games as there may be, though there are fewer: later there may be more."""
    asked = []
    monkeypatch.setattr(matches, "_play", lambda match, *others: (asked.append(match), ("interrupted", 130))[1])
    assert cli.main(["match", "amaf", "mc", "--games", "2", "--workers", "4", "--memory", "256M", "--size", "5"]) == 130
    assert asked[0].conditions.memory == (256 << 20) // 8
    assert "PARTIAL, interrupted: 0 of 2 games are finished" in capfd.readouterr().out


def test_the_least_memory_is_that_of_all_trees():
    contestants = [types.SimpleNamespace(least_memory=lambda size, bytes=bytes: bytes) for bytes in (0, 100)]
    _check_memory(argparse.Namespace(size=9), contestants, 600, 3)
    with pytest.raises(UsageError, match="--memory must be at least 600 bytes for 3 games at a time on 9x9, not 599"):
        _check_memory(argparse.Namespace(size=9), contestants, 599, 3)


def test_games_stand_in_the_document_by_their_numbers(monkeypatch, capfd):
    """However they have ended."""

    def play(match, games, *others):
        games += [a_game(1.0, True) | {"number": number} for number in (3, 1, 2)]
        return "", 0

    monkeypatch.setattr(matches, "_play", play)
    assert cli.main(["match", "amaf", "mc", "--games", "3", "--json"]) == 0
    assert [game["number"] for game in json.loads(capfd.readouterr().out)["records"]] == [1, 2, 3]


@pytest.mark.parametrize(("elo", "interval", "words"), [
    (12.3, [-5.0, 30.0], "Elo +12 (-5 to +30)"), (None, [300.2, None], "Elo at least +300"), (None, [None, -300.2], "Elo at most -300"),
])  # fmt: skip
def test_ratings_in_words(elo, interval, words):
    assert _elo({"elo": elo, "elo_interval": interval}) == words
