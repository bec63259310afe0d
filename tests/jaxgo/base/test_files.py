"""Files that are there whole or not at all."""

import errno
import fcntl
import os
import pathlib
import stat
import subprocess
import sys

import pytest

from jaxgo.base import files
from jaxgo.base.files import write_output
from tests.processes import ROOT


def test_what_was_there_stays_where_a_file_cannot_be_written(tmp_path: pathlib.Path, monkeypatch) -> None:
    path = tmp_path / "a"
    files.write(path, b"first")
    files.write(path, b"second")
    assert path.read_bytes() == b"second" and list(tmp_path.iterdir()) == [path]

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write(path, b"third")
    assert path.read_bytes() == b"second" and list(tmp_path.iterdir()) == [path]


def test_a_name_is_taken_by_one_at_a_time(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    with files.taken(path) as first, files.taken(path) as second:
        assert first and not second
    with files.taken(path) as again:
        assert again
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), files.taken(path):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_was_given_up_just_then_is_taken_again(tmp_path: pathlib.Path, monkeypatch) -> None:
    """Between the opening and the taking: that file is nobody's any more."""
    path, take, calls = tmp_path / "a", files.take, []

    def late(descriptor: int) -> bool:
        if not calls:
            (tmp_path / ".a.lock").unlink()
        calls.append(descriptor)
        return take(descriptor)

    monkeypatch.setattr(files, "take", late)
    with files.taken(path) as ours:
        assert ours and len(calls) == 2 and (tmp_path / ".a.lock").exists()


def test_without_locks_everybody_goes_on(tmp_path: pathlib.Path, monkeypatch) -> None:
    def none(*_) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with (tmp_path / "a").open("wb") as file:
        assert files.take(file.fileno())


def test_what_a_user_names_is_exchanged_as_a_whole_and_stays_as_private(tmp_path: pathlib.Path) -> None:
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_bytes(b"first")
    path.chmod(0o600)
    link.symlink_to(path)
    files.write_output(link, b"second")
    assert link.is_symlink() and path.read_bytes() == b"second" and stat.S_IMODE(path.stat().st_mode) == 0o600
    files.write_output(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) & 0o400
    (tmp_path / "to").symlink_to("nowhere")
    files.write_output(tmp_path / "to", b"y")
    assert (tmp_path / "nowhere").read_bytes() == b"y"
    os.link(path, tmp_path / "other")
    files.write_output(path, b"third")
    assert (tmp_path / "other").read_bytes() == b"third", "by both of its names"


def test_a_loop_of_links_is_no_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"):
        files.write_output(tmp_path / "a", b"")


def test_what_is_written_to_stdout_comes_after_what_is_printed(tmp_path: pathlib.Path) -> None:
    """Where it leads to a file, too."""
    code = "import pathlib; from jaxgo.base import files; print('before')\nfor x in b'one ', b'two ':\n files.write_output(pathlib.Path('/dev/stdout'), x)"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=ROOT)
        out.seek(0, os.SEEK_END)
        out.write(b"after")
    assert (tmp_path / "out").read_bytes() == b"before\none two after" and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_where_nothing_may_be_added_a_file_is_written_in_its_place(tmp_path: pathlib.Path, monkeypatch) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"earlier, and longer")
    before = path.stat().st_ino
    monkeypatch.setattr(os, "access", lambda *_: False)
    write_output(path, b"new")
    assert path.read_bytes() == b"new" and path.stat().st_ino == before and [*tmp_path.iterdir()] == [path]


def test_what_is_written_to_stderr_comes_after_what_is_printed(tmp_path: pathlib.Path) -> None:
    code = (
        "import pathlib, sys; from jaxgo.base.files import write_output; print('one', end='', file=sys.stderr); "
        "write_output(pathlib.Path('/dev/stderr'), b'two'); print('three', end='', file=sys.stderr)"
    )
    with (tmp_path / "log").open("wb") as log:
        subprocess.run([sys.executable, "-c", code], stderr=log, check=True, cwd=ROOT)
    assert (tmp_path / "log").read_text() == "onetwothree"
