"""Files that are there whole or not at all."""

import pathlib

import pytest

from jaxgo.base import files


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
