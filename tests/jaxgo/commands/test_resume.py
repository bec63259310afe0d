"""Runs that go on: `jaxgo evaluate --resume` keeps whole rounds, and what comes of several runs is what comes of one."""

import json
import pathlib
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import jaxgo
from jaxgo import cli
from jaxgo.base import files
from jaxgo.commands import playing
from jaxgo.commands.arguments import policy_for
from tests.jaxgo.commands.documents import documents, error


@pytest.fixture
def game(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A game, and rounds of 16 playouts."""
    monkeypatch.setattr(playing, "CHUNKS_OF_ROUND", 0)
    (tmp_path / "game.sgf").write_text("(;SZ[5]KM[3.5];B[cc];W[bb];B[cb])")
    return str(tmp_path / "game.sgf")


def _interrupt_in_call(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the evaluation of this number, after which a part of it is finished."""
    evaluate, calls = jaxgo.evaluate, []

    def interrupted(position, count, **kwargs):
        calls.append(count)
        found = evaluate(position, count, **kwargs)
        if len(calls) == number:
            raise jaxgo.Interrupted(found)
        return found

    monkeypatch.setattr(jaxgo, "evaluate", interrupted, raising=False)


def test_what_is_no_file_is_not_read(capsys, game: str, tmp_path: pathlib.Path) -> None:
    """A device that never ends would fill the memory."""
    kept = tmp_path / "kept.npz"
    kept.symlink_to("/dev/zero")
    assert cli.main(["evaluate", game, "--resume", str(kept)]) == 2
    assert f"--resume {kept}: this is no file" in capsys.readouterr().err


def test_an_interrupted_run_goes_on(capsys, game: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.npz"
    arguments = [game, "--all", "--playouts", "50", "--seed", "3"]
    (expected,) = documents(capsys, *arguments)
    with monkeypatch.context() as patch:
        _interrupt_in_call(3, patch)
        (part,) = documents(capsys, *arguments, "--resume", str(kept), status=130)
    # What was finished of the third round is told of, and not kept.
    assert part["complete"] is False and [row["playouts"] for row in part["positions"]] == [38] * 4
    held = jaxgo.Evaluation.load(kept)
    assert held.num_playouts.tolist() == [26] * 4 and {*tmp_path.iterdir()} == {kept, pathlib.Path(game)}
    (whole,) = documents(capsys, *arguments, "--resume", str(kept))
    assert whole["positions"] == expected["positions"] and whole["complete"]
    # With nothing left to play, and for more playouts.
    monkeypatch.setattr(jaxgo, "evaluate", lambda *_, **__: pytest.fail("the work began"), raising=False)
    (again,) = documents(capsys, *arguments, "--resume", str(kept))
    assert again["positions"] == expected["positions"]
    monkeypatch.undo()
    (more,) = documents(capsys, *arguments[:3], "60", *arguments[4:], "--resume", str(kept))
    (direct,) = documents(capsys, *arguments[:3], "60", *arguments[4:])
    assert more["positions"] == direct["positions"]


def test_other_jobs_are_refused(capsys, game: str, tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "kept.npz"
    arguments = [game, "--playouts", "50", "--resume", str(kept)]
    documents(capsys, *arguments)
    text = f"--resume {kept}: the file cannot be gone on with: "
    assert error(capsys, *arguments, "--seed", "7") == f"{text}it is of another seed, 0, not 7"
    assert error(capsys, *arguments, "--komi", "4") == f"{text}its komi is 3.5, not 4"
    assert error(capsys, *arguments, "--policy", "capture") == f"{text}its playouts asked no policy, not capture"
    assert error(capsys, *arguments, "--move", "1") == f"{text}it is of other positions, of {game}"
    whole = kept.read_bytes()
    for change in (slice(60, 90), slice(-8, None)):
        damaged = bytearray(whole)
        damaged[change] = b"\xff" * len(damaged[change])
        kept.write_bytes(damaged)
        assert error(capsys, *arguments) == f"--resume {kept}: this is no file that --resume has written"
    np.savez(kept, something=np.zeros(3))
    assert error(capsys, *arguments) == f"--resume {kept}: this is no file that --resume has written"
    kept.write_bytes(kept.read_bytes()[:50])
    assert error(capsys, *arguments) == f"--resume {kept}: this is no file that --resume has written"


def test_a_policy_that_has_learned_something_else_is_another(capsys, game: str, tmp_path: pathlib.Path) -> None:
    """Though its file has the same name."""
    table, kept = jaxgo.Replies(5), tmp_path / "kept.npz"
    table.save(tmp_path / "table.npz")
    arguments = [game, "--playouts", "50", "--policy", f"replies:1:{tmp_path / 'table.npz'}", "--resume", str(kept)]
    first = documents(capsys, *arguments)
    assert [document["positions"] for document in documents(capsys, *arguments)] == [d["positions"] for d in first]
    position = jaxgo.Position.empty(5)
    table.update(jaxgo.playouts(position, 20, moves=True), position).save(tmp_path / "table.npz")
    policy_for.cache_clear()  # another process reads the file again
    assert error(capsys, *arguments).endswith("when that had learned something else")


KILLED = """
import os, signal, sys
import jaxgo
from jaxgo import cli
from jaxgo.commands import kept, playing

playing.CHUNKS_OF_ROUND, kept._SECONDS = 0, 0.0
evaluate, calls = jaxgo.evaluate, []

def killed(*arguments, **options):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return evaluate(*arguments, **options)

jaxgo.evaluate = killed
cli.main(["evaluate", *sys.argv[1:]])
"""


def test_a_killed_run_goes_on(capsys, game: str, tmp_path: pathlib.Path) -> None:
    """With what was finished until then, where the file is written after each round."""
    kept = tmp_path / "kept.npz"
    arguments = [game, "--all", "--playouts", "50", "--seed", "3", "--resume", str(kept)]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], cwd=pathlib.Path(__file__).parents[3], timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    assert jaxgo.Evaluation.load(kept).num_playouts.tolist() == [26] * 4
    (whole,), (expected,) = documents(capsys, *arguments), documents(capsys, *arguments[:-2])
    assert whole["positions"] == expected["positions"] and whole["complete"]


def test_sizes_have_files_of_their_own(capsys, game: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "other.sgf").write_text("(;SZ[4];B[bb])")
    arguments = [game, str(tmp_path / "other.sgf"), "--playouts", "50", "--resume", str(tmp_path / "kept.npz")]
    first = documents(capsys, *arguments)
    assert sorted(path.name for path in tmp_path.glob("*.npz")) == ["kept-4x4.npz", "kept-5x5.npz"]
    assert [document["positions"] for document in documents(capsys, *arguments)] == [d["positions"] for d in first]
    with zipfile.ZipFile(tmp_path / "kept-4x4.npz") as archive:
        assert json.loads(archive.read("jaxgo_evaluate.json"))["names"] == [str(tmp_path / "other.sgf")]


def test_a_full_disk_ends_no_work(capsys, game: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write", full)
    kept = tmp_path / "kept.npz"
    assert cli.main(["evaluate", game, "--playouts", "50", "--resume", str(kept)]) == 1
    assert not list(tmp_path.glob("kept*"))
    said = capsys.readouterr()
    assert "50 playouts in" in said.out
    assert f"jaxgo evaluate: --resume {kept}: the file cannot be written: No space left on device\n" in said.err


def test_what_a_file_is_of_is_told_in_full(capsys, game: str, tmp_path: pathlib.Path) -> None:
    """Large seeds, an empty board, and the komi of several games."""
    kept = tmp_path / "kept.npz"
    text = f"--resume {kept}: the file cannot be gone on with: "
    documents(capsys, "--size", "5", "--playouts", "20", "--seed", str(5 * 2**32 + 7), "--resume", str(kept))
    assert error(capsys, game, "--playouts", "20", "--resume", str(kept)) == f"{text}it is of other positions, of an empty board"
    arguments = ["--size", "5", "--playouts", "20", "--resume", str(kept), "--seed"]
    assert error(capsys, *arguments, "7") == f"{text}it is of another seed, {5 * 2**32 + 7}, not 7"
    assert error(capsys, *arguments, str(2**32 + 7)) == f"{text}it is of another seed, {5 * 2**32 + 7}, not {2**32 + 7}"
    other = tmp_path / "other.sgf"
    other.write_text("(;SZ[5]KM[6.5];B[cc])")
    kept.unlink()
    documents(capsys, game, str(other), "--playouts", "20", "--resume", str(kept))
    said = error(capsys, game, str(other), "--playouts", "20", "--komi", "3.5", "--resume", str(kept))
    assert said == f"{text}its komi is 3.5, 6.5, not 3.5"


def test_a_file_that_cannot_be_read_is_told(capsys, game: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    kept = tmp_path / "kept.npz"
    kept.write_bytes(b"")
    monkeypatch.setattr(zipfile, "ZipFile", denied)
    assert error(capsys, game, "--resume", str(kept)) == f"--resume {kept}: the file cannot be read: Permission denied"
