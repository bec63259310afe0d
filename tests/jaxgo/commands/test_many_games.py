"""`jaxgo evaluate` with several records and folders: each game as if it were alone, what is left out, where files lie."""

import os
import pathlib
import threading

import numpy as np
import pytest

import jaxgo
from jaxgo import cli
from jaxgo.commands import playing
from jaxgo.commands.extras import Extras
from tests.jaxgo.commands.documents import documents, error

RECORDS = {
    "a.sgf": "(;SZ[5]KM[3.5]PB[Ann]RE[W+R];B[cc];W[bb];B[cb])",
    "b.sgf": "(;SZ[5];B[cc];W[cc];B[aa])",
    "deep/c.sgf": "(;SZ[4];B[bb];W[cc])(;SZ[9])",
    "deep/d.sgf": "(;SZ[5];W[dd])",
}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name, text in RECORDS.items():
        (tmp_path / "in" / name).write_text(text)
    return tmp_path / "in"


def test_each_game_is_as_if_it_were_alone(capsys, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches, evaluate = [], jaxgo.evaluate

    def counted(position, *args, **kwargs):
        batches.append((position.size, position.batch))
        return evaluate(position, *args, **kwargs)

    monkeypatch.setattr(jaxgo, "evaluate", counted, raising=False)
    together = documents(capsys, str(folder), "--all", "--playouts", "50")
    assert sorted(batches) == [(4, 3), (5, 8)]  # a batch for each size
    assert [document["file"] for document in together] == [str(folder / name) for name in RECORDS]
    assert [len(document["positions"]) for document in together] == [4, 2, 3, 2]
    assert [document["komi"] for document in together] == [3.5, 7.5, 7.5, 7.5]
    assert together[1]["remarks"] == ["move 2, White C3, is illegal: the point is occupied; the game is read up to move 1"]
    assert together[2]["remarks"] == ["the file holds 2 games; the first is read"]
    for document in together[::3]:
        (alone,) = documents(capsys, document["file"], "--all", "--playouts", "50")
        assert alone["positions"] == document["positions"]


def test_a_line_for_each_game(capsys, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MOST_POSITIONS", 1)  # each game by itself: the figures are printed as they come
    assert cli.main(["evaluate", str(folder / "a.sgf"), str(folder / "b.sgf"), "--playouts", "50"]) == 0
    said = capsys.readouterr()
    for name, moves, komi, result in (("a.sgf", 3, "3.5", "W+R"), ("b.sgf", 1, "7.5", "")):
        (line,) = [line.split() for line in said.out.splitlines() if line.split()[:1] == [name]]
        expected = [komi, result] if result else [komi]
        assert line[1] == str(moves) and line[-len(expected):] == expected
    assert said.out.count("50 playouts in") == 2 and said.out.count(f"games in {folder}\n") == 2
    fault = "move 2, White C3, is illegal: the point is occupied; the game is read up to move 1"
    assert said.err == f"jaxgo evaluate: {folder / 'b.sgf'}: {fault}\n"


def test_what_cannot_be_read_is_left_out_and_told(capsys, folder: pathlib.Path) -> None:
    (folder / "mail.sgf").write_text("Dear all,")
    files = [str(folder / "a.sgf"), str(folder / "none.sgf"), str(folder / "mail.sgf"), str(folder / "b.sgf")]
    (first,) = documents(capsys, *files, "--playouts", "50", "--move", "2", status=1)
    assert first["file"] == files[0]
    assert cli.main(["evaluate", *files, "--playouts", "50", "--move", "2"]) == 1
    said = capsys.readouterr().err
    assert f"left out: the game record '{files[1]}' cannot be read: No such file or directory\n" in said
    assert f"left out: '{files[2]}' is not an SGF game record: no SGF data found\n" in said
    assert f"left out: --move 2: {files[3]} has 1 moves\n" in said
    assert cli.main(["evaluate", files[1], files[2]]) == 2
    assert capsys.readouterr().err.endswith("error: none of 2 game records can be evaluated\n")
    (folder / "empty").mkdir()
    assert error(capsys, str(folder / "empty")) == f"the folder '{folder / 'empty'}' holds no .sgf file"


def test_files_of_several_games_go_into_a_folder(capsys, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    assert cli.main(["evaluate", str(folder), "--playouts", "50", "--sgf", str(out), "--plot", str(out)]) == 0
    written = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert written == sorted(f"{name[:-4]}{suffix}" for name in RECORDS for suffix in (".png", ".sgf"))
    assert jaxgo.read_game(out / "a.sgf").moves == jaxgo.read_game(folder / "a.sgf").moves
    two = [str(folder / "a.sgf"), str(folder / "b.sgf")]
    assert cli.main(["evaluate", *two, "--sgf", str(tmp_path / "one.sgf")]) == 2
    assert capsys.readouterr().err.endswith("one.sgf: for 2 games it must be a folder\n")


def test_what_is_annotated_is_the_record_that_was_read(folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch) -> None:
    """A pipe can be read once, and a file may change, or go, while its positions are played."""
    pipe, out = folder / "pipe.sgf", tmp_path / "out"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=((folder / "a.sgf").read_bytes(),))
    writer.start()
    kept, checked = jaxgo.read_game(folder / "b.sgf").moves, Extras.of

    def then_gone(*arguments):
        (folder / "b.sgf").unlink()
        return checked(*arguments)

    monkeypatch.setattr(Extras, "of", then_gone)
    assert cli.main(["evaluate", str(pipe), str(folder / "b.sgf"), "--playouts", "50", "--sgf", str(out)]) == 0
    writer.join()
    assert jaxgo.read_game(out / "pipe.sgf").moves == jaxgo.read_game(folder / "a.sgf").moves
    assert jaxgo.read_game(out / "b.sgf").moves == kept


def test_each_game_keeps_its_own_komi(capsys, folder: pathlib.Path) -> None:
    first, second = documents(capsys, str(folder / "a.sgf"), str(folder / "deep/d.sgf"), "--playouts", "50")
    for document in (first, second):
        histogram = {int(margin): count for margin, count in document["positions"][0]["margin_histogram"].items()}
        wins = sum(count * (np.sign(margin - document["komi"]) + 1) / 2 for margin, count in histogram.items())
        assert document["positions"][0]["win_rate"] == pytest.approx(wins / 50)
