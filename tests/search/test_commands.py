"""`jaxgo genmove` and `jaxgo selfplay`, as a user runs them."""

import argparse
import datetime
import io
import json
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from sgfmill import sgf

import jaxgo
from jaxgo.cli import main, version
from search import bots
from search.commands import genmove, selfplay
from search.players import _FLAT, _TREES
from tests.wide import wide

GAME = "(;SZ[5]KM[0.5];B[cc];W[cb];B[bb];W[dc])"
FEW = ("--visits", "200", "--leaves", "8", "--playouts-per-leaf", "4")


def run(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    """Runs `jaxgo` in a process of its own."""
    command = [sys.executable, "-m", "jaxgo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=text, timeout=300, check=False)


def test_every_bot_has_a_summary_and_a_player():
    assert set(bots.SUMMARIES) == set(_TREES) | set(_FLAT)
    assert bots.TREES == tuple(_TREES)


@pytest.mark.wide
def test_genmove_says_where_no_playout_has_been_through_a_move():
    done = run("genmove", "--size", "3", "--bot", "ucb", "--visits", "1")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"Black plays [A-C][1-3]\nno playouts through it; 8 playouts in .* s\n", done.stdout)


@pytest.mark.wide
def test_genmove_prints_the_move_and_why(tmp_path):
    record, picture = tmp_path / "game.sgf", tmp_path / "map.png"
    record.write_text(GAME)
    done = run("genmove", str(record), *FEW, "--heatmap", "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Black plays ")
    board = [line for line in lines if line[:2].strip().isdigit() and len(line) == 12]
    assert len(board) == 5
    assert [row[3:].split()[2] for row in board][1:3] == ["O", "X"], "C4 and C3 are the record's first stones"
    assert sum(c in "0123456789" for row in board for c in row[3:].split()) > 1
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize("bot", ["rave", *wide("wamaf")])
def test_genmove_json_is_the_result_and_reproducible(bot, capfd, monkeypatch):
    """In this process, and for a bot with a tree in one of its own."""
    command, outputs = ["genmove", "-", *FEW, "--bot", bot, "--json", "--seed", "3"], []
    for _ in range(2 if bot == "wamaf" else 1):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GAME.encode())))
        assert main(command) == 0
        outputs.append(capfd.readouterr().out)
    if bot == "rave":
        outputs.append(run(*command, text=GAME).stdout)
    documents = [json.loads(output) for output in outputs]
    for document in documents:
        document.pop("seconds")
    assert documents[0] == documents[1]
    document = documents[0]
    assert document["to_play"] == "black"
    assert document["komi"] == 0.5
    assert document["move"] in {m["move"] for m in document["moves"]}
    assert document["variation"][0] == document["move"]
    assert 0 <= document["win_rate"] <= 1
    if bot == "rave":
        assert document["root"]["visits"] >= 200


def test_genmove_knows_the_games_history(tmp_path):
    """The hashes of all earlier positions of the record, which superko forbids."""
    record = tmp_path / "game.sgf"
    record.write_text(GAME)
    game = genmove._game(argparse.Namespace(file=str(record), size=None, move=None, komi=None))
    np.testing.assert_array_equal(game.history, jaxgo.Position.from_sgf(GAME, move="all").hash()[:-1])
    assert game.komi == 0.5


def test_genmove_says_what_it_makes_of_the_komi(tmp_path, capsys):
    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[5]KM[375];B[cc])")
    game = genmove._game(argparse.Namespace(file=str(record), size=None, move=None, komi=None))
    assert game.komi == 7.5
    assert "KM[375], is taken for 7.5 points" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("genmove",), "give a game record, or --size N for an empty board"),
        (("genmove", "x.sgf", "--size", "9"), "not both"),
        (("genmove", "/nonexistent.sgf"), "nonexistent.sgf"),
        (("genmove", "--size", "26"), "must be between 2 and 25, not 26"),
        (("genmove", "--size", "5", "--bot", "gnugo"), "there is no bot 'gnugo'; there are: rave"),
        (("genmove", "--size", "5", "--visits", "0"), "must be between 1 and"),
        (("genmove", "--size", "5", "--seconds", "-1"), "must be a positive number of seconds"),
        (("genmove", "--size", "5", "--komi", "nan"), "'nan' is not a number of points from -1,000,000 to 1,000,000"),
        (("genmove", "--size", "5", "--leaves", "70000"), "leaves must be between 1 and 65536"),
        (("genmove", "--size", "5", "--plot", "/nonexistent/x.png"), "nonexistent"),
        (("selfplay", "--output", "/proc/x"), "the folder '/proc/x' cannot be made"),
        (("selfplay", "--output", ""), "--output: must be a folder, not ''"),
        (("selfplay", "--output", __file__), "cannot be made: File exists"),
        (("selfplay", "--playouts-per-leaf", "20000"), "playouts_per_leaf must be between 1 and 16000"),
        (("selfplay", "--memory", "2X"), "argument --memory: must be a size such as 512M or 2G, not '2X'"),
        (("genmove", "--size", "5", "--memory", "1M"), "argument --memory: must be between 128M and 1024T, not '1M'"),
        (("selfplay", "--black", "foo"), "there is no bot 'foo'"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments, message, capfd):
    assert main(list(arguments)) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1
    assert message in printed.err


@pytest.mark.parametrize("bot", ["amaf", *wide("uct")])
def test_ctrl_c_ends_the_thinking_with_a_move(bot):
    """The move is chosen from what there is, and the status says that it was interrupted."""
    command = [sys.executable, "-m", "jaxgo", "genmove", "--size", "5", "--bot", bot, "--seconds", "300", *FEW[2:]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "playouts/s" in process.stderr.readline(), "thinking has begun"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.startswith("Black plays ")
    assert "interrupted after" in errors


@pytest.mark.parametrize(
    ("text", "move", "message"), [(GAME, "9", "--move must be at most 4"), ("(;SZ[5];B[];W[])", "2", "the game is over")]
)
def test_genmove_refuses_what_is_no_position_to_play_from(tmp_path, capfd, text, move, message):
    record = tmp_path / "game.sgf"
    record.write_text(text)
    assert main(["genmove", str(record), "--move", move]) == 2
    assert message in capfd.readouterr().err


def test_a_picture_that_cannot_be_written_loses_no_move(tmp_path, capfd):
    pytest.importorskip("matplotlib")
    (tmp_path / "full.png").symlink_to("/dev/full")
    assert main(["genmove", "--size", "3", "--bot", "mc", "--visits", "50", "--plot", str(tmp_path / "full.png")]) == 1
    printed = capfd.readouterr()
    assert printed.out.startswith("Black plays ") and "full.png cannot be written: No space left on device" in printed.err


def test_selfplay_writes_records_that_replay(tmp_path, capfd):
    folder = tmp_path / "games"
    command = ["selfplay", "--size", "5", "--komi", "0.5", "--games", "2", "--white", "amaf", *FEW]
    assert main([*command, "--output", str(folder)]) == 0
    assert capfd.readouterr().out == ""
    for name in ("0001.sgf", "0002.sgf"):
        text = pathlib.Path(folder, name).read_text()
        position = jaxgo.Position.from_sgf(text)
        assert bool(position.is_over()[0])
        score = int(position.score()[0]) - 0.5
        assert f"RE[{'B' if score > 0 else 'W'}+{abs(score):g}]" in text
        assert "wins" in text
        assert "PW[amaf]" in text


def test_selfplay_goes_on_numbering(tmp_path, capfd):
    """Earlier records stay as they are, and the games that follow are others: the same command again adds to them."""
    (tmp_path / "notes.sgf").write_text("mine")
    command = ["selfplay", "--size", "5", "--komi", "0.5", "--games", "2", "--seed", "4", *FEW, "--output", str(tmp_path)]
    assert main(command) == 0
    assert "going on" not in capfd.readouterr().err
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) == {"notes.sgf", "0001.sgf", "0002.sgf"}
    assert main(command) == 0
    assert "holds records; going on with 0003.sgf" in capfd.readouterr().err
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(after) == {*before, "0003.sgf", "0004.sgf"}
    assert {name: after[name] for name in before} == before
    games = [sgf.Sgf_game.from_bytes(after[f"000{number}.sgf"]) for number in (1, 2, 3, 4)]
    assert len({tuple(node.get_move() for node in game.get_main_sequence()[1:]) for game in games}) == 4
    (tmp_path / "0004.sgf").write_bytes(b"")  # as where a run was killed just when it began to write
    assert main([*command, "--games", "1"]) == 0
    again = sgf.Sgf_game.from_bytes((tmp_path / "0004.sgf").read_bytes())
    assert [game.get_root().get("GC") for game in (again, games[3])] == [games[3].get_root().get("GC")] * 2
    assert not (tmp_path / "0005.sgf").exists()


def test_a_record_says_how_to_play_it_again(tmp_path):
    assert main(["selfplay", "--size", "5", "--black", "amaf", "--seed", "4", *FEW, "--output", str(tmp_path)]) == 0
    root = sgf.Sgf_game.from_bytes((tmp_path / "0001.sgf").read_bytes()).get_root()
    assert root.get("AP") == ("jaxgo", version())
    assert abs(datetime.date.fromisoformat(root.get("DT")) - datetime.date.today()) <= datetime.timedelta(days=1)
    limits, seeds, source = root.get("GC").splitlines()
    assert limits == "200 playouts a move, 8 leaves of 4 playouts a round"
    assert seeds == "game 1 of seed 4: Black's seed 4036670453253975340, White's 5971567961183609204"
    assert source.startswith(f"jaxgo {version()}")


@pytest.mark.wide
def test_two_runs_do_not_write_to_one_folder(tmp_path, capfd):
    """They would play the same games; when one ends, the folder is free."""
    from search.commands.selfplay import _taken

    command = ["selfplay", "--size", "3", "--black", "mc", "--white", "mc", *FEW, "--output", str(tmp_path)]
    with _taken(tmp_path):
        assert main(command) == 2
    assert f"the folder {str(tmp_path)!r} is in use by another run" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(command) == 0 and [path.name for path in tmp_path.iterdir()] == ["0001.sgf"]


def test_two_programs_write_to_one_folder(tmp_path):
    """A number that was taken meanwhile is passed over."""
    assert selfplay._write(tmp_path, 1, b"a") == str(tmp_path / "0001.sgf")
    assert selfplay._write(tmp_path, 1, b"b") == str(tmp_path / "0002.sgf")
    assert (tmp_path / "0001.sgf").read_bytes() == b"a"


@pytest.mark.parametrize(
    ("command", "text"),
    [("genmove", "points for White (default: the record's, else 7.5)"), ("selfplay", "points for White (default: 7.5)"),
     ("match", "points for White (default: 7.5)"), ("gtp", "points for White (default: 7.5)")],
)  # fmt: skip
def test_the_help_of_komi_says_where_it_comes_from(command, text, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert text in capsys.readouterr().out
