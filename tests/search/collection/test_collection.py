"""`jaxgo collection` on this machine: the tables, what is kept, what goes on."""

import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time

import pyarrow
import pyarrow.parquet
import pytest

import jaxgo
from jaxgo.cli import main
from search.collection import cluster, running, worker
from search.collection.settings import Settings
from tests.search.collection.games import (
    COMMON,
    PLAYOUTS,
    as_sgf,
    check_against_evaluate,
    document,
    parts,
    position_of,
    random_games,
    run,
    table,
)

BAD = {"broken.sgf": "(;SZ[5", "chess.sgf": "(;GM[3])", "late.sgf": "(;SZ[5]KM[0.5];B[aa];W[bb];B[aa])"}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder of games: a file of many, one with variations, and three that cannot be read, or not to their ends."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "many.sgf").write_text("\n".join(random_games(4)))
    (folder / "tree.sgf").write_text("(;SZ[5]PB[Ann]PW[Bo]RE[W+R];B[cc];W[bb](;B[dd];W[aa])(;B[db];W[]))")
    for name, text in BAD.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def finished(games: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The collection of those games."""
    out = tmp_path_factory.mktemp("finished") / "out"
    assert main(["collection", str(games), "--out", str(out), *COMMON]) == 0
    return out


def test_every_position_is_there_once_and_is_what_evaluate_says(games: pathlib.Path, finished: pathlib.Path) -> None:
    rows = table(finished).to_pylist()
    places = [(row["game"], row["variation"], row["ply"]) for row in rows]
    assert len(set(places)) == len(places)
    many = (games / "many.sgf").read_text().split("\n")
    expected = {str(games / "many.sgf") + (f"#{i + 1}" if i else ""): game.count(";") for i, game in enumerate(many)}
    for name, count in expected.items():
        assert [ply for game, _, ply in places if game == name] == list(range(count))
    tree = [(variation, ply) for game, variation, ply in places if game.endswith("tree.sgf")]
    assert tree == [*((0, ply) for ply in range(5)), (1, 3), (1, 4)]
    assert [ply for game, _, ply in places if game.endswith("late.sgf")] == [0, 1, 2]
    assert len(places) == sum(expected.values()) + 7 + 3
    check_against_evaluate(rows[:: len(rows) // 25], PLAYOUTS, seed=3)


def test_tables_say_what_they_are_of(games: pathlib.Path, finished: pathlib.Path) -> None:
    rows = table(finished).to_pylist()
    by_place = {(pathlib.Path(row["game"]).name, row["variation"], row["ply"]): row for row in rows}
    row = by_place["tree.sgf", 1, 3]
    assert {name: row[name] for name in ("move", "black", "white", "result", "to_play", "komi", "passes", "over")} == {
        "move": "D4", "black": "Ann", "white": "Bo", "result": "W+R", "to_play": "white", "komi": 7.5, "passes": 0, "over": False,
    }  # fmt: skip
    assert row["board"] == "....." ".O.X." "..X.." "....." "....."
    assert by_place["tree.sgf", 1, 4]["move"] == "pass" and by_place["tree.sgf", 1, 4]["passes"] == 1
    assert by_place["late.sgf", 0, 0]["komi"] == 0.5
    facts = json.loads(pyarrow.parquet.read_schema(finished / "5x5" / "000000.parquet").metadata[b"jaxgo"])
    assert facts["settings"] == json.loads((finished / "collection.json").read_text())["settings"]
    assert facts["settings"]["seed"] == 3 and set(facts["versions"]) == {"jax", "numpy", "pyarrow", "commit"}
    rejects = pyarrow.parquet.read_table(finished / "rejects.parquet").to_pylist()
    assert [(pathlib.Path(x["game"]).name, x["variation"], x["ply"]) for x in rejects] == [
        ("broken.sgf", -1, 0), ("chess.sgf", -1, 0), ("late.sgf", 0, 3),
    ]  # fmt: skip
    assert rejects[2]["reason"] == "move 3, Black A5, is illegal: the point is occupied"


def test_best_moves_are_legal_and_the_players(finished: pathlib.Path) -> None:
    rows = table(finished).to_pylist()
    assert sum(len(row["moves"]) for row in rows) > 2 * len(rows)
    for row in rows:
        rates = [move["win_rate"] for move in row["moves"]]
        assert all(0 <= rate <= 1 for rate in rates) and len(rates) <= 5
        for move in row["moves"]:
            column, line = "ABCDE".index(move["move"][0]), 5 - int(move["move"][1:])
            assert row["board"][5 * line + column] == "."
            assert 1 <= move["playouts"] <= PLAYOUTS
    first = next(row for row in rows if row["ply"] == 0)
    best, last = first["moves"][0], first["moves"][-1]
    assert best["win_rate"] - best["win_rate_error"] >= last["win_rate"] - last["win_rate_error"], "Black is to move"


def test_the_same_command_again_does_nothing(games: pathlib.Path, finished: pathlib.Path, capsys, monkeypatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*.parquet") if path.parent != finished}
    monkeypatch.setattr(worker.Worker, "work", lambda *_: pytest.fail("something was evaluated again"))
    assert main(["collection", str(games), "--out", str(finished), *COMMON, "--json"]) == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    said = json.loads(capsys.readouterr().out)
    assert said["complete"] and said["here"] == 0 and said["parts_done"] == said["parts"] == len(before)
    assert said["done"] == len(table(finished))


def test_a_collection_that_has_more_to_do_is_not_complete(tmp_path, monkeypatch) -> None:
    """Whatever became of the run that was to do it."""
    folder, out = tmp_path / "games", tmp_path / "out"
    folder.mkdir()
    (folder / "a.sgf").write_text("(;SZ[5];B[aa])")
    command = ["collection", str(folder), "--out", str(out), "--playouts", "8", "--batch", "1"]

    def complete() -> dict | None:
        return json.loads((out / "collection.json").read_text())["complete"]

    def interrupted(*_) -> None:
        raise KeyboardInterrupt

    assert main(command) == 0 and complete()["parts"] == 2
    (folder / "b.sgf").write_text("(;SZ[5];B[bb])")
    with monkeypatch.context() as patch:
        patch.setattr(worker.Worker, "work", interrupted)
        patch.setattr(running.Store, "end", lambda *_: None)  # as where it is killed
        assert main(command) == 130
    assert complete() is None
    assert main(command) == 0 and complete()["parts"] == 4


def test_a_run_goes_on_where_it_was_and_ends_the_same(games: pathlib.Path, finished: pathlib.Path, tmp_path, monkeypatch) -> None:
    out, made = tmp_path / "out", []
    add = running.Store.add

    def interrupted(self, number: int, size: int, file: bytes) -> None:
        add(self, number, size, file)
        made.append(number)
        if len(made) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(running.Store, "add", interrupted)
    assert main(["collection", str(games), "--out", str(out), *COMMON]) == 130
    assert len(parts(out)) == 3
    broken = out / "5x5" / "000001.parquet"  # a disk that has lost the end of a file
    broken.write_bytes(broken.read_bytes()[:1000])
    (rotten,) = (out / "5x5").glob("000002.parquet")
    file = bytearray(rotten.read_bytes())
    footer = len(file) - 8 - int.from_bytes(file[-8:-4], "little")
    file[footer : footer + 40] = bytes(40)  # of which pyarrow complains by an OSError
    rotten.write_bytes(file)
    assert main(["collection", str(games), "--out", str(out), *COMMON]) == 0
    assert parts(out) == parts(finished)
    assert made == [0, 1, 2, 1, 2, *range(3, len(parts(out)))], "what was finished is not evaluated again"
    assert (out / "rejects.parquet").read_bytes() == (finished / "rejects.parquet").read_bytes()


@pytest.mark.wide
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda last: last.unlink(), "the last 3 of their parts are gone"),
        (lambda last: last.write_text(""), "the last 3 of their parts are gone"),
        (lambda last: last.write_text("".join(random_games(3, seed=7))), "part 3, which begins with "),
        (lambda last: last.write_text(last.read_text() * 2), "part 6, which begins with "),
    ],
)
def test_inputs_that_change_while_it_goes_on_are_told(tmp_path, monkeypatch, capsys, change, message: str) -> None:
    for i, name in enumerate(("a.sgf", "b.sgf")):
        (tmp_path / name).write_text("".join(random_games(3, seed=i)))
    inputs = [str(tmp_path / name) for name in ("a.sgf", "b.sgf")]
    count = running.Run._count

    def changed(self, name: str) -> set[int]:
        finished = count(self, name)
        change(tmp_path / "b.sgf")
        return finished

    monkeypatch.setattr(running.Run, "_count", changed)
    arguments = ["collection", *inputs, "--out", str(tmp_path / "out"), "--playouts", "20", "--moves", "0:0"]
    assert main([*arguments, "--batch", "1", "--json"]) == 1
    said = capsys.readouterr()
    assert f"the inputs have changed since the run began: {message}" in said.err
    document = json.loads(said.out)
    assert not document["complete"] and "the inputs have changed" in document["trouble"]
    assert document["done"] <= document["positions"] == document["parts"] == 6


@pytest.mark.wide
def test_a_terminal_shows_how_far_it_is(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "jaxgo", "collection", str(games), "--out", str(tmp_path / "out"), *COMMON]
    process = subprocess.Popen(command, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "200"})
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # so the end of a terminal shows on Linux
        while part := os.read(ours, 1 << 16):
            shown += part
    os.close(ours)
    assert process.wait(timeout=300) == 0, shown
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"[1-9][0-9]* of [1-9][0-9]* positions", text), text
    assert "3 could not be read" in text


@pytest.mark.parametrize("batch", ["5", "300"])
def test_how_positions_are_shared_out_changes_nothing(games: pathlib.Path, finished: pathlib.Path, tmp_path, batch: str) -> None:
    out = tmp_path / "out"
    assert main(["collection", str(games), "--out", str(out), *COMMON[:2], "--batch", batch, *COMMON[4:], "--workers", "1"]) == 0
    assert table(out).replace_schema_metadata(None).equals(table(finished).replace_schema_metadata(None))


@pytest.mark.wide
def test_playouts_may_ask_policies(games: pathlib.Path, tmp_path) -> None:
    out = tmp_path / "out"
    assert main(["collection", str(games / "tree.sgf"), "--out", str(out), *COMMON, "--policy", "capture:0.5"]) == 0
    for row in table(out).to_pylist():
        found = jaxgo.evaluate(position_of(row), PLAYOUTS, komi=row["komi"], seed=3, policy=jaxgo.Capture(0.5))
        assert (row["win_rate"], row["margin"]) == (found.win_rate[0], found.margin_mean[0])


def test_a_link_that_leads_nowhere_is_a_reject(games: pathlib.Path, tmp_path) -> None:
    """As editors leave them beside files; the others are evaluated."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.sgf").write_bytes((games / "tree.sgf").read_bytes())
    (tmp_path / "in" / ".#a.sgf").symlink_to("nobody@nowhere")
    assert main(["collection", str(tmp_path / "in"), "--out", str(tmp_path / "out"), *COMMON]) == 0
    assert table(tmp_path / "out").num_rows
    (reject,) = pyarrow.parquet.read_table(tmp_path / "out" / "rejects.parquet").to_pylist()
    assert reject["game"].endswith(".#a.sgf") and "the file cannot be read" in reject["reason"]


def test_inputs_that_have_changed_are_refused(games: pathlib.Path, tmp_path, capsys) -> None:
    (tmp_path / "a.sgf").write_text((games / "tree.sgf").read_text())
    (tmp_path / "b.sgf").write_text((games / "late.sgf").read_text())
    command = ["collection", str(tmp_path / "a.sgf"), str(tmp_path / "b.sgf"), "--out", str(tmp_path / "out"), *COMMON]
    command[command.index("--batch") + 1] = "8"
    assert main(command) == 0
    (tmp_path / "a.sgf").write_text((games / "tree.sgf").read_text().replace("[dd]", "[de]"))
    assert main(command) == 2
    assert "the inputs have changed since the folder" in capsys.readouterr().err
    assert main([*command, "--playouts", "65"]) == 2
    assert "holds a collection with playouts 64, not 65" in capsys.readouterr().err
    (tmp_path / "a.sgf").unlink()
    assert main([command[0], *command[2:]]) == 2


def test_tables_of_positions_are_inputs_and_results_are_such(finished: pathlib.Path, tmp_path, capsys) -> None:
    kept = table(finished).slice(0, 40)
    pyarrow.parquet.write_table(kept, tmp_path / "results.parquet")
    others = pyarrow.table({
        "board": ["." * 25, "." * 24, "X" * 25, "?" * 25, "....." ".XO.." "X.XO." ".XO.." "....."],
        "to_play": ["B", "B", "W", "B", "white"], "ko": ["", "", "", "", "B3"],
    })  # fmt: skip
    others = others.set_column(2, "ko", pyarrow.array([None, None, None, None, "B3"]))
    pyarrow.parquet.write_table(others, tmp_path / "others.parquet")
    out = tmp_path / "out"
    names = [str(tmp_path / name) for name in ("results.parquet", "others.parquet")]
    assert main(["collection", *names, "--out", str(out), *COMMON]) == 0
    found = table(out)
    assert found.slice(0, 40).replace_schema_metadata(None).equals(kept.replace_schema_metadata(None))
    rest = found.slice(40).to_pylist()
    assert [(row["game"], row["ply"], row["ko"]) for row in rest] == [
        (f"{tmp_path / 'others.parquet'}, row 0", 0, None), (f"{tmp_path / 'others.parquet'}, row 4", 0, "B3"),
    ]  # fmt: skip
    check_against_evaluate(rest, PLAYOUTS, seed=3)
    reasons = {x["game"].rpartition(" ")[2]: x["reason"] for x in pyarrow.parquet.read_table(out / "rejects.parquet").to_pylist()}
    assert list(reasons) == ["1", "2", "3"]
    assert "24 points" in reasons["1"] and "stones must have liberties" in reasons["2"] and "letters" in reasons["3"]


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("komi", [6.5, float("nan")], "komi must be"), ("komi", ["6.5", None], "komi must be a number, not '6.5'"),
        ("ply", [3, 2**40], f"ply must be an integer between 0 and {2**31 - 1}, not {2**40}"),
        ("variation", ["a", None], "variation must be an integer between 0"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_kept_is_a_reject(tmp_path, name: str, values: list, reason: str) -> None:
    """And the others are evaluated."""
    rows = pyarrow.table({"board": ["." * 25] * 2, "to_play": ["B"] * 2, name: values, "game": [7, 8]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    assert main(["collection", str(tmp_path / "rows.parquet"), "--out", str(tmp_path / "out"), *COMMON]) == 0
    assert table(tmp_path / "out")["game"].to_pylist() in (["7"], ["8"])
    (reject,) = pyarrow.parquet.read_table(tmp_path / "out" / "rejects.parquet").to_pylist()
    assert reason in reject["reason"]


def test_names_that_are_no_text_are_written_out(tmp_path) -> None:
    """Of a file, and of a player, whose record says that it is in an encoding of which a half of a pair comes."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"odd\xff.sgf")).write_text("(;SZ[5];B[aa])")
    (tmp_path / "in" / "player.sgf").write_text("(;SZ[5]CA[utf-7]PB[+2AA-];B[aa])")
    (tmp_path / "in" / os.fsdecode(b"bad\xff.sgf")).write_text("nothing")
    assert main(["collection", str(tmp_path / "in"), "--out", str(tmp_path / "out"), *COMMON]) == 0
    rows = table(tmp_path / "out").to_pylist()
    assert {(os.path.basename(row["game"]), row["black"]) for row in rows} == {("odd\\udcff.sgf", None), ("player.sgf", "\\ud800")}
    (reject,) = pyarrow.parquet.read_table(tmp_path / "out" / "rejects.parquet").to_pylist()
    assert os.path.basename(reject["game"]) == "bad\\udcff.sgf"


def test_where_nothing_can_be_read_that_is_said(tmp_path, capsys) -> None:
    (tmp_path / "bad.sgf").write_text("nothing")
    command = ["collection", str(tmp_path / "bad.sgf"), "--out", str(tmp_path / "out"), *COMMON]
    for _ in range(2):  # the second time all is finished
        assert main(command) == 1
        said = capsys.readouterr().err
        assert "the inputs hold no position that could be evaluated" in said and "1 could not be read" in said


def test_a_komi_that_cannot_be_is_told(tmp_path) -> None:
    """Once, and not where another is asked for; the game is evaluated all the same."""
    (tmp_path / "a.sgf").write_text("(;SZ[5]KM[x];B[aa];W[bb];B[cc])")
    for given, told in (([], 1), (["--komi", "0.5"], 0)):
        out = tmp_path / f"out{told}"
        assert main(["collection", str(tmp_path / "a.sgf"), "--out", str(out), "--batch", "2", *COMMON, *given]) == 0
        assert set(table(out)["komi"].to_pylist()) == {0.5 if given else 7.5}
        reasons = [x["reason"] for x in pyarrow.parquet.read_table(out / "rejects.parquet").to_pylist()]
        assert reasons == ["the game record's komi, KM[x], is left out: it is no finite number; 7.5 points are taken"][:told]


def test_other_programs_read_the_tables(finished: pathlib.Path) -> None:
    pattern, expected = str(finished / "5x5" / "*.parquet"), table(finished)
    rates = expected["win_rate"].to_pylist()
    duckdb, polars, pandas = (pytest.importorskip(name) for name in ("duckdb", "polars", "pandas"))
    found = duckdb.sql(f"SELECT win_rate, len(ownership), moves[1].move FROM '{pattern}'").fetchall()
    assert [row[0] for row in found] == rates and {row[1] for row in found} == {25}
    frame = polars.read_parquet(pattern)
    assert frame["win_rate"].to_list() == rates
    frame = pandas.read_parquet(finished / "5x5")
    assert frame["win_rate"].tolist() == rates and len(frame["ownership"][0]) == 25


KILLED = """
import os, signal, sys
from jaxgo import cli
from search.collection import running

add, made = running.Store.add, []

def killed(*arguments):
    add(*arguments)
    made.append(1)
    if len(made) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

running.Store.add = killed
cli.main(sys.argv[1:])
"""


@pytest.mark.wide
def test_a_run_that_is_killed_goes_on(games: pathlib.Path, finished: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    command = ["collection", str(games), "--out", str(out), *COMMON]
    done = subprocess.run([sys.executable, "-c", KILLED, *command], capture_output=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in out.glob("5x5/0*")}
    assert len(kept) == 2
    assert main(command) == 0
    assert parts(out) == parts(finished)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.wide
def test_the_end_by_a_signal_leaves_a_folder_that_goes_on(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "jaxgo", "collection", str(games), "--out", str(out), *COMMON, "--playouts", "20000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not list(out.glob("5x5/0*")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    error = process.communicate(timeout=300)[1]
    if process.returncode != 0:  # it may just have ended
        assert process.returncode == 130, error
        assert "interrupted" in error and "the same command goes on" in error
    assert not list(out.glob("*/.*")) and (out / "rejects.parquet").exists()
    assert all(pyarrow.parquet.read_metadata(path).num_rows for path in out.glob("5x5/0*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--moves", "9:3"], "must not end before it begins"),
        (["--moves", "3"], "must be two numbers of moves such as 10:60"),
        (["--playouts", "0"], "must be between 1 and"),
        (["--bot", "amaf"], "invalid choice: 'amaf'"),
        (["--policy", "captures"], "policy must be of capture"),
        (["--policy", "advisor:0.5:t.npz"], "what an advisor or replies have learned is a file of one machine"),
        (["nowhere"], "there is no file and no folder 'nowhere'"),
    ],
)
def test_bad_arguments_are_told_at_the_door(games, tmp_path, capsys, arguments: list[str], message: str) -> None:
    assert main(["collection", "--out", str(tmp_path / "out"), *arguments, str(games)]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()  # which would hold to these settings


def test_without_ray_or_a_cluster_that_is_said(games, tmp_path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "ray.py").write_text("raise ImportError('none here')")
    environment = os.environ | {"PYTHONPATH": f"{hidden}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = run("collection", games, "--out", tmp_path / "out", "--ray", "local", "--json", env=environment)
    assert done.returncode == 1 and "pip install 'jaxgo[cluster]'" in done.stderr and "Traceback" not in done.stderr
    assert document(done)["complete"] is False


def test_memory_does_not_grow_with_the_inputs(tmp_path) -> None:
    """A file of a hundred thousand positions is cut with a few parts in hand."""
    import tracemalloc

    (tmp_path / "many.sgf").write_text(as_sgf(list(range(20)), 5) * 5000)
    from search.collection import inputs
    from search.collection.parts import cut

    size = (tmp_path / "many.sgf").stat().st_size
    tracemalloc.start()
    count = sum(part.positions for part in cut(inputs.read([str(tmp_path / "many.sgf")]), Settings(playouts=1)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 21 * 5000
    assert peak < size, "one game is read at a time"
    assert cluster.MOST_BYTES <= 1 << 28, "and so much is given to a cluster at a time"
