"""The programs in `examples/` run as they stand. (The one in JavaScript is in `tests/search/analysis/test_javascript.py`.)"""

import csv
import io
import pathlib
import re
import runpy
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[1]


EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch, stdin: str = "") -> None:
    """Runs an example in this process, which has compiled much of what it needs."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_amaf_bot(monkeypatch, capsys):
    """It captures what can be captured, and passes where no useful move is left."""
    lines = ["boardsize 5", "komi 5.5", "clear_board", *(f"play b {x}" for x in ("B3", "C2", "D3")), "play w C3", "genmove b"]
    run("amaf_bot.py", monkeypatch=monkeypatch, stdin="\n".join([*lines, "play b Z9", "foo", "name", "quit", "name"]))
    answers = capsys.readouterr().out.split("\n\n")
    assert answers[:7] == ["= "] * 7
    assert answers[7] == "= C4" and answers[8].startswith("? ") and answers[9] == "? unknown command"
    assert answers[10:] == ["= AMAF", "= ", ""]


def test_amaf_bot_keeps_to_the_protocol(monkeypatch, capsys):
    """Numbers of commands come back, blank lines and comments have no reply, and what cannot be is refused."""
    lines = ["1 name", "", "# a comment", "2 known_command play # another", "known_command undo", "komi nan", "3 quit"]
    run("amaf_bot.py", monkeypatch=monkeypatch, stdin="\n".join(lines))
    answers = ["=1 AMAF", "=2 true", "= false", "? komi must be finite, not nan", "=3 ", ""]
    assert capsys.readouterr().out.split("\n\n") == answers


def test_own_tree(monkeypatch, capsys):
    run("own_tree.py", "--size", "5", "--playouts", "4000", monkeypatch=monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and all(re.fullmatch(r"[A-E][1-5]: \d+ playouts, \d\d\.\d% won", line) for line in lines)
    assert lines[0][0] in "BCD" and lines[0][1] in "234", "no move on the edge is good on 5x5"


def test_ownership_regression(monkeypatch, capsys):
    run("ownership_regression.py", "--size", "5", "--games", "300", "--playouts", "100", monkeypatch=monkeypatch)
    explained = re.fullmatch(r"300 positions, 51 weights: (\d+)% of the variance .*\n", capsys.readouterr().out)
    assert 10 < int(explained[1]) < 100


def test_many_games(capsys):
    record = ROOT / "games" / "gnugo-9x9.sgf"
    runpy.run_path(str(EXAMPLES / "many_games.py"))["main"]([str(record)], playouts=50)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["move"]) for row in rows] == list(range(len(rows)))
    rates = np.array([float(row["win_rate"]) for row in rows])
    assert ((0 <= rates) & (rates <= 1)).all() and {row["game"] for row in rows} == {str(record)}
