"""`jaxgo evaluate`: its figures against the library's and against each other, its outputs, and what it refuses at the door."""

import importlib.util
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest
from sgfmill import boards, common

import jaxgo
from jaxgo import cli
from jaxgo.commands import evaluate, plots
from tests.jaxgo.commands.documents import documents, error

GAMES = pathlib.Path(__file__).parents[3] / "games"
GAME = str(GAMES / "gnugo-9x9.sgf")
_PNG = b"\x89PNG\r\n\x1a\n"


def _json(capsys: pytest.CaptureFixture, *arguments: str) -> dict:
    """The document that `jaxgo evaluate ... --json` prints."""
    (document,) = documents(capsys, *arguments)
    return document


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test if playouts are played."""
    monkeypatch.setattr(jaxgo, "evaluate", lambda *_, **__: pytest.fail("the work began"), raising=False)


def test_document_agrees_with_itself(capsys: pytest.CaptureFixture) -> None:
    document = _json(capsys, GAME, "--every", "20", "--playouts", "60", "--seed", "5")
    assert (document["size"], document["komi"], document["komi_source"], document["seed"]) == (9, 7.0, "file", 5)
    assert (document["playouts"], document["complete"], document["moves"], document["handicap"]) == (60, True, 52, 0)
    assert document["black"] == document["white"] == "GNU Go 3.8 level 10"
    assert document["seconds"] > 0 and (document["playouts_per_second"] is None or document["playouts_per_second"] > 0)
    assert [position["move"] for position in document["positions"]] == [0, 20, 40, 50]
    for position in document["positions"]:
        histogram = {int(margin): count for margin, count in position["margin_histogram"].items()}
        assert sum(histogram.values()) == position["playouts"] == 60
        wins = sum(count * (1.0 if margin > 7 else 0.5 if margin == 7 else 0.0) for margin, count in histogram.items())
        assert position["win_rate"] == pytest.approx(wins / 60)
        assert position["margin_mean"] == pytest.approx(sum(margin * count for margin, count in histogram.items()) / 60)
        ownership = np.array(position["ownership"])
        assert ownership.shape == (9, 9) and np.abs(ownership).max() <= 1
        # The margin is the sum of what the points are worth.
        assert ownership.sum() == pytest.approx(position["margin_mean"])
        for colour in ("black", "white"):
            visits, amaf_wins = np.array(position["amaf"][colour]["visits"]), np.array(position["amaf"][colour]["wins"])
            assert visits.shape == amaf_wins.shape == (9, 9) and (amaf_wins <= visits).all() and visits.max() <= 60
        assert 0 <= position["truncated"] <= 1
    first = document["positions"][0]
    assert first["last_move"] is None and first["to_play"] == "B" and first["board"] == ["." * 9] * 9
    assert document["positions"][1]["last_move"] == {"colour": "W", "point": "F8"}


def test_figures_are_the_librarys(capsys: pytest.CaptureFixture) -> None:
    position = _json(capsys, GAME, "--move", "30", "--playouts", "1000", "--komi", "5.5", "--seed", "3")["positions"][0]
    expected = jaxgo.evaluate(jaxgo.Position.from_sgf(GAME, move=30), 1000, komi=5.5, seed=3, streams=[30])
    assert position["win_rate"] == float(expected.win_rate[0])
    assert position["win_rate_error"] == float(expected.win_rate_error[0])
    assert position["length_mean"] == float(expected.length_mean[0])
    np.testing.assert_array_equal(position["ownership"], expected.ownership[0])
    np.testing.assert_array_equal(position["amaf"]["white"]["visits"], expected.amaf_visits[0, 1])


@pytest.mark.wide
def test_a_policy_can_be_asked(capsys: pytest.CaptureFixture, tmp_path: pathlib.Path) -> None:
    table, position = jaxgo.AdvisorTable(9), jaxgo.Position.from_sgf(GAME, move=30)
    played = jaxgo.playouts(position, 100, moves=True)
    table, replies = table.update(played, position), jaxgo.Replies(9).update(played, position)
    table.save(tmp_path / "table.npz")
    replies.save(tmp_path / "replies.npz")
    text = f"advisor:0.5:{tmp_path / 'table.npz'},mercy:40,replies:0.5:{tmp_path / 'replies.npz'},capture:0.25,uniform"
    document = _json(capsys, GAME, "--move", "30", "--playouts", "1000", "--policy", text)
    policy = [jaxgo.Advisor(0.5, table), jaxgo.Mercy(40), jaxgo.LastGoodReply(replies, 0.5), jaxgo.Capture(0.25)]
    expected = jaxgo.evaluate(position, 1000, komi=7.0, streams=[30], policy=policy)
    assert document["policy"] == text and document["positions"][0]["win_rate"] == float(expected.win_rate[0])
    uniform = _json(capsys, GAME, "--move", "30", "--playouts", "1000", "--policy", "uniform")
    assert uniform["policy"] is None and uniform["positions"][0]["win_rate"] != float(expected.win_rate[0])


@pytest.mark.wide
def test_a_row_is_the_same_however_it_is_asked_for(capsys: pytest.CaptureFixture) -> None:
    alone = _json(capsys, GAME, "--move", "10", "--playouts", "60")["positions"]
    every = _json(capsys, GAME, "--all", "--playouts", "60")["positions"]
    gain = {name: every[10][name] for name in ("gain", "gain_error")}
    assert len(every) == 53 and [row | gain for row in alone] == [every[10]]


@pytest.mark.wide
def test_each_moves_gain(capsys: pytest.CaptureFixture) -> None:
    """A table of the positions has a line for each move: what it gained for who played it, as the rates beside it say."""
    every = _json(capsys, GAME, "--all", "--playouts", "60")["positions"]
    assert every[0]["gain"] is None and every[52]["gain"] is None and every[52]["over"]
    for before, after in zip(every, every[1:52]):
        sign = {"B": 1, "W": -1}[after["colour"]]
        assert after["gain"] == pytest.approx(sign * (after["win_rate"] - before["win_rate"]))
        assert after["gain_error"] == pytest.approx(np.hypot(after["win_rate_error"], before["win_rate_error"]))
    assert [(row["file"], row["move"], row["colour"], row["point"]) for row in every[:3]] == [
        (GAME, 0, None, None), (GAME, 1, "B", "G6"), (GAME, 2, "W", "C7")
    ]  # fmt: skip


def test_the_last_position_in_play_is_the_default(capsys: pytest.CaptureFixture) -> None:
    (position,) = _json(capsys, GAME, "--playouts", "1000")["positions"]
    assert position["move"] == 50 and not position["over"]


@pytest.mark.parametrize("playouts", [1, 1000])
def test_ended_game(capsys: pytest.CaptureFixture, playouts: int) -> None:
    (position,) = _json(capsys, GAME, "--move", "52", "--playouts", str(playouts))["positions"]
    assert position["over"] and position["length_mean"] == 0 and position["win_rate_error"] == 0
    # White's dead stones on the right are taken off, those in the corner because of GNU Go's own count, as playouts are not sure
    # of them. sgfmill counts the same board.
    assert sorted(position["dead"]) == ["E2", "F2", "F3", "F8", "G3", "H3", "H5"]
    dead = {common.move_from_vertex(name, 9) for name in position["dead"]}
    board = boards.Board(9)
    black, white = ({(8 - y, x) for y, row in enumerate(position["board"]) for x, s in enumerate(row) if s == c} for c in "XO")
    assert dead < white and board.apply_setup(black, white - dead, set())
    assert position["margin_histogram"] == {str(board.area_score()): playouts} == {"21": playouts}
    assert (position["score"], position["dead_by_record"], position["win_rate"]) == ("B+14", True, 1.0)


def test_handicap_record(capsys: pytest.CaptureFixture, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[5]KM[0.5]HA[2]AB[bb][dd];W[cc])")
    document = _json(capsys, str(path), "--move", "0", "--playouts", "50")
    assert (document["size"], document["handicap"], document["komi"]) == (5, 2, 0.5)
    assert document["positions"][0]["to_play"] == "W"
    assert document["positions"][0]["board"] == [".....", ".X...", ".....", "...X.", "....."]


@pytest.mark.parametrize(
    ("record", "option", "komi", "source"),
    [
        ("(;SZ[5]KM[3.5];B[cc])", [], 3.5, "file"),
        ("(;SZ[5]KM[3.5];B[cc])", ["--komi", "-2"], -2.0, "option"),
        ("(;SZ[5]KM[nonsense];B[cc])", ["--komi", "0"], 0.0, "option"),
        ("(;SZ[5];B[cc])", [], 7.5, "default"),
    ],
)
def test_komi(capsys, tmp_path: pathlib.Path, record: str, option: list[str], komi: float, source: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(record)
    document = _json(capsys, str(path), *option, "--playouts", "50")
    assert (document["komi"], document["komi_source"]) == (komi, source)


@pytest.mark.parametrize(("text", "komi", "source"), [("375", 7.5, "file"), ("six", 7.5, "default")])
def test_komi_that_is_not_taken_as_written_is_said(capsys, tmp_path, text: str, komi: float, source: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(f"(;SZ[5]KM[{text}];B[cc])")
    assert cli.main(["evaluate", str(path), "--playouts", "50", "--json"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["komi"], document["komi_source"]) == (komi, source)
    assert f"jaxgo evaluate: the game record's komi, KM[{text}], is " in said.err


def test_empty_board(capsys: pytest.CaptureFixture) -> None:
    document = _json(capsys, "--size", "5", "--playouts", "300")
    assert (document["file"], document["size"], document["komi"]) == (None, 5, 7.5)
    assert document["positions"][0]["board"] == ["....."] * 5


def test_record_from_stdin(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"(;SZ[5];B[cc])")))
    document = _json(capsys, "-", "--playouts", "50")
    assert document["file"] == "stdin" and document["positions"][0]["last_move"] == {"colour": "B", "point": "C3"}


def test_table_and_plain_board(capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["evaluate", GAME, "--move", "20", "--playouts", "1000"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert re.search(r"\n\s+20\s+W F8\s+Black\s+\d+\.\d\d % ± \d\.\d\d\s+[+-]\d+\.\d\d ± \d\.\d\d\s+\d+\.\d\s+\d\.\d\d %", text)
    assert "komi 7 (file)" in text and "1,000 playouts in" in text and "PARTIAL" not in text
    # The grid of stones can be pasted back.
    rows = re.findall(r"^ ?\d (( [.XO]){9}) ", text, re.M)
    pasted = jaxgo.Position.from_ascii("\n".join(row for row, _ in rows))
    expected = jaxgo.Position.from_sgf(GAME, move=20)
    np.testing.assert_array_equal(pasted.to_array(), expected.to_array())


def test_ownership_grid_reads_in_percent(capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["evaluate", GAME, "--move", "52", "--playouts", "1000"]) == 0
    text = capsys.readouterr().out
    grid = [[int(cell) for cell in line.split()[-9:]] for line in text.split("\n") if re.match(r" \d  [.XO]", line)]
    stones = np.array(jaxgo.Position.from_sgf(GAME).to_array())
    for y, x in ((7, 4), (7, 5), (6, 5), (6, 6), (6, 7), (4, 7), (1, 5)):
        stones[0, y, x] = 0
    over = np.asarray(jaxgo.evaluate(jaxgo.Position.from_array(stones, passes=2), 1000).ownership[0])  # exact
    np.testing.assert_array_equal(np.array(grid), np.clip(100 * over, -99, 99))
    assert "two passes ended the game there; 7 dead stones are taken off, as the record's result says (" in text
    assert "): B+14, as the record says\n" in text


def test_coloured_board(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert cli.main(["evaluate", GAME, "--move", "20", "--playouts", "1000"]) == 0
    coloured = capsys.readouterr().out
    assert "\x1b[1;38;2;255;255;255;48;2;" in coloured and "(●)" in coloured and "background:" in coloured
    assert coloured.count("●") == 20
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli.main(["evaluate", GAME, "--move", "20", "--playouts", "1000"]) == 0
    assert "ownership in percent" in capsys.readouterr().out


def test_output_in_ascii_only(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    assert cli.main(["evaluate", "--size", "5", "--playouts", "50"]) == 0
    assert b"+- one standard error" in written.getvalue()


@pytest.mark.parametrize("arguments", [["--every", "10"], ["--move", "20"], ["--size", "4"]])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot(capsys, tmp_path: pathlib.Path, arguments: list[str], suffix: str) -> None:
    path = tmp_path / f"game.{suffix}"
    game = [] if "--size" in arguments else [GAME]
    assert cli.main(["evaluate", *game, *arguments, "--playouts", "50", "--plot", str(path)]) == 0
    assert f"wrote {path}" in capsys.readouterr().err
    data = path.read_bytes()
    assert data.startswith(_PNG) if suffix == "png" else b"<svg" in data
    assert len(data) > 10_000


def test_plot_path_is_tried_before_the_work(capsys, tmp_path: pathlib.Path, no_work: None) -> None:
    missing = tmp_path / "no" / "such" / "folder.png"
    reason = "the file cannot be written: No such file or directory"
    assert error(capsys, GAME, "--plot", str(missing)) == f"--plot {missing}: {reason}"
    assert error(capsys, GAME, "--plot", str(tmp_path / "game.bmp")).endswith("the name must end in .pdf, .png, .svg")


def test_plot_path_is_left_as_it_was_when_nothing_is_drawn(capsys, tmp_path: pathlib.Path) -> None:
    new, old = tmp_path / "new.png", tmp_path / "old.png"
    old.write_bytes(b"precious")
    for path in (new, old):
        assert plots.places_of(str(path), [GAME]) == [path]
    assert not new.exists() and old.read_bytes() == b"precious"


def test_plot_without_matplotlib(capsys, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, no_work: None) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    message = "--plot needs matplotlib, which is not installed: pip install 'jaxgo[plot]'"
    assert error(capsys, GAME, "--plot", str(tmp_path / "game.png")) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a game record, or --size N for an empty board"),
        ([GAME, "--size", "9"], "give either game records or --size N for an empty board, not both"),
        (["none.sgf"], "the game record 'none.sgf' cannot be read: No such file or directory"),
        ([str(GAMES.parent / "LICENSE")], "is not an SGF game record"),
        ([GAME, "--move", "53"], f"--move 53: {GAME} has 52 moves"),
        ([GAME, "--mistakes", "0"], "argument --mistakes: '0' is not a whole number from 1"),
        ([GAME, "--mistakes", "1", "--judge", "me"], "--judge me: there is no such judge; there are: playouts"),
        ([GAME, "--compare", "D4"], "argument --compare: 'D4' does not name two or more moves, such as D4,E5"),
        ([GAME, "--compare", "F9,G9,f9"], "--compare F9,G9,f9: f9 is there twice; name different moves"),
        ([GAME, "--compare", "pass,PASS"], "--compare pass,PASS: PASS is there twice; name different moves"),
        ([GAME, "--compare", "F9,G9", "--playouts", "1"], "--playouts must be at least 2 for --compare, not 1"),
        ([GAME, "--compare", "F9,Z9"], "--compare F9,Z9: name must be a column, A to J without I, and a row"),
        ([GAME, "--compare", "F9,E9"], "--compare F9,E9: E9 is no legal move after 50 moves"),
        ([GAME, "--compare", "F9,G9", "--all"], "--compare is for one position of one game: give --move, not "),
        ([GAME, "--sgf", "out.png"], "--sgf out.png: the name must end in .sgf"),
        ([GAME, "--sgf", GAME], "the file is the game record itself; give another name"),
        ([GAME, "--judge", "playouts"], "--judge is for --mistakes N"),
        ([GAME, "--resume", "kept.txt"], "--resume kept.txt: the name must end in .npz"),
        ([GAME, "--resume", "/no/such/folder/kept.npz"], "--resume /no/such/folder/kept.npz: the file cannot be written: "),
        ([GAME, "--resume", str(GAMES.parent / "LICENSE")], "LICENSE: this is no file that --resume has written"),
        ([GAME, "--move", "-1"], "argument --move: '-1' is not a whole number from 0"),
        ([GAME, "--every", "0"], "argument --every: '0' is not a whole number from 1"),
        ([GAME, "--move", "1", "--all"], "not allowed with argument"),
        ([GAME, "--playouts", "0"], "argument --playouts: '0' is not a whole number from 1 to 2147483647"),
        ([GAME, "--playouts", "2147483648"], "argument --playouts: '2147483648' is not a whole number from 1 to 2147483647"),
        ([GAME, "--playouts", "many"], "argument --playouts: 'many' is not a whole number"),
        ([GAME, "--komi", "nan"], "argument --komi: 'nan' is not a number of points from -1,000,000 to 1,000,000"),
        ([GAME, "--komi", "1e300"], "argument --komi: '1e300' is not a number of points from"),
        ([GAME, "--plot", ""], "--plot must name a file or a folder, not ''"),
        ([GAME, "--sgf", ""], "--sgf must name a file or a folder, not ''"),
        ([GAME, "--resume", ""], "--resume must name a file, not ''"),
        ([GAME, "--seed", "-5"], "argument --seed: '-5' is not a whole number from 0"),
        ([GAME, "--policy", "best"], "--policy best: policy must be of capture[:Q], nakade[:P], no-self-atari[:P], patterns[:P[:save/match/capture]], "),
        ([GAME, "--policy", "advisor:0.5"], "--policy advisor:0.5: policy has an advisor without a table (TABLE.npz)"),
        ([GAME, "--policy", "capture:2"], "--policy capture:2: q must be between 0 and 1, not 2.0"),
        ([GAME, "--policy", "capture:x"], "--policy capture:x: policy must be of "),
        ([GAME, "--policy", "uniform,capture"], "--policy uniform,capture: policy must have jaxgo.Uniform() at its end"),
        ([GAME, "--policy", f"replies:1:{GAME}"], "path must be a file that Replies.save has written, not "),
        ([GAME, "--policy", "advisor:1:none.npz"], "--policy advisor:1:none.npz: [Errno 2] No such file or directory"),
        (["--size", "1"], "argument --size: '1' is not a board size from 2 to 25"),
        (["--size", "26"], "argument --size: '26' is not a board size from 2 to 25"),
        ([GAME, "--devices", "abacus"], "--devices abacus: there is no 'abacus' here; JAX has "),
        ([GAME, "--devices", "cpu,"], "--devices cpu,: a name is missing; JAX has "),
        ([GAME, "--devices", "cpu:999"], "--devices cpu:999: there is no 'cpu:999'; JAX has "),
    ],
)
def test_bad_input_is_refused_at_the_door(capsys, no_work: None, arguments: list[str], message: str) -> None:
    assert message in error(capsys, *arguments)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("(;SZ[5]AB[aa]AW[ba][ab])", "the stones set up before the first move are not a legal position: "),
        ("(;SZ[26])", "sizes 2 to 25 are played"),
        ("hello", "is not an SGF game record"),
    ],
)
def test_bad_records_are_refused_at_the_door(capsys, tmp_path: pathlib.Path, no_work: None, record: str, message: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(record)
    assert message in error(capsys, str(path))


def test_devices(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    given, evaluate = [], jaxgo.evaluate

    def noted(*arguments, devices=None, **options):
        given.append(devices)
        return evaluate(*arguments, devices=devices, **options)

    monkeypatch.setattr(jaxgo, "evaluate", noted, raising=False)
    everywhere = _json(capsys, "--size", "5", "--playouts", "200")["positions"]
    assert _json(capsys, "--size", "5", "--playouts", "200", "--devices", "cpu:0,cpu:0")["positions"] == everywhere
    assert given == [None, jax.local_devices(backend="cpu")[:1] * 2]


def _start_long_run(*arguments: str) -> subprocess.Popen:
    """A run of minutes in a process of its own, once its first line of progress is out."""
    # A shell may have started the tests with Ctrl-C ignored, which would be inherited.
    code = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from jaxgo.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "evaluate", GAME, "--every", "20", "--playouts", "50000000", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = []
    for line in process.stderr:  # others, such as XLA's logging, may write there too
        if re.fullmatch(r"jaxgo: [\d,]+ of 200,000,000 playouts, [\d,]+ playouts/s, ([\d,]+ s|\d+:\d\d:\d\d) left\n", line):
            return process
        seen.append(line)
    pytest.fail(f"no progress was shown, only {seen}")


@pytest.mark.wide
@pytest.mark.usefixtures("many_playouts")
def test_ctrl_c_prints_what_is_finished(tmp_path: pathlib.Path) -> None:
    plot = tmp_path / "game.png"
    process = _start_long_run("--plot", str(plot))
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said
    assert "PARTIAL, interrupted" in out and "of 200,000,000 are finished" in out and "Black wins" in out
    assert plot.read_bytes().startswith(_PNG)
    assert time.monotonic() - start < 30


@pytest.mark.wide
@pytest.mark.usefixtures("many_playouts")
def test_sigterm_prints_what_is_finished_too() -> None:
    process = _start_long_run("--json")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    document = json.loads(out)
    assert process.returncode == 130 and document["complete"] is False and document["positions_asked"] == 4
    assert sum(position["playouts"] for position in document["positions"]) > 0
    for position in document["positions"]:
        assert 0 < position["playouts"] <= 50_000_000
        assert sum(position["margin_histogram"].values()) == position["playouts"]


def test_interrupted_before_anything_is_finished(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jaxgo, "evaluate", interrupted, raising=False)
    assert cli.main(["evaluate", GAME]) == 130
    assert capsys.readouterr().err == "jaxgo evaluate: interrupted\n"


def test_summary_is_one_line() -> None:
    assert "\n" not in evaluate.SUMMARY and len(evaluate.SUMMARY) < 100


def test_errors_and_spreads_are_the_librarys(capsys: pytest.CaptureFixture) -> None:
    (position,) = _json(capsys, GAME, "--move", "30", "--playouts", "200", "--policy", "mercy:20")["positions"]
    expected = jaxgo.evaluate(jaxgo.Position.from_sgf(GAME, move=30), 200, komi=7.0, streams=[30], policy=jaxgo.Mercy(20))
    assert position["margin_std"] == float(expected.margin_std[0]) > 0
    assert position["margin_error"] == pytest.approx(position["margin_std"] / np.sqrt(200))
    assert position["truncated"] == float(expected.truncated[0]) > 0


def test_the_board_is_of_the_last_position_in_play(capsys: pytest.CaptureFixture, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[3];B[bb];W[];B[])")
    assert cli.main(["evaluate", str(path), "--all", "--playouts", "20"]) == 0
    said = capsys.readouterr().out
    assert "over at move 3" in said and "after move 2 (W pass)" in said and "after move 3" not in said


def test_names_of_files_move_no_cursor(capsys: pytest.CaptureFixture, tmp_path: pathlib.Path) -> None:
    names = [str(tmp_path / f"{letter}\x1b[2J.sgf") for letter in "ab"]
    for name in names:
        pathlib.Path(name).write_text("(;SZ[5];B[cc])")
    for asked in (names[:1], names):
        assert cli.main(["evaluate", *asked, "--playouts", "20"]) == 0
        printed = capsys.readouterr().out
        assert "a[2J.sgf" in printed and "\x1b[2J" not in printed
