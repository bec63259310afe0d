"""A collection's folder: whose it is, and that a file is there whole or not at all."""

import json
import pathlib
import resource
import signal

import pytest

from search.collection.settings import Settings
from search.collection.store import MANIFEST, Store, Unusable, Unwritable, manifest_of, part_files
from tests.search.collection.games import COMMON, in_a_sandbox, random_games

SETTINGS = Settings(playouts=10)


def test_a_folder_belongs_to_its_settings(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "deep" / "out"
    with Store(str(folder), SETTINGS) as store:
        store.add(3, 9, b"some bytes")
        store.add(4, 9, b"more")
        assert {number: path.name for number, path in store.finished().items()} == {3: "000003.parquet", 4: "000004.parquet"}
        with pytest.raises(Unusable, match="is in use by another run"):
            Store(str(folder), SETTINGS)
    assert manifest_of(str(folder))["settings"]["playouts"] == 10
    for other, text in ((Settings(playouts=11), "playouts 10, not 11"), (Settings(playouts=10, every=2), "every 1, not 2")):
        with pytest.raises(Unusable, match=f"holds a collection with {text}; choose another folder"):
            Store(str(folder), other)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["settings"]["jaxgo"] = "0.0.1"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(Unusable, match=r"with jaxgo '0\.0\.1', not"):
        Store(str(folder), SETTINGS)


def test_a_folder_of_something_else_is_left_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(Unusable, match=f"holds other files but no {MANIFEST}"):
        Store(str(tmp_path), SETTINGS)
    with pytest.raises(Unusable, match="cannot be used: Not a directory|cannot be used: File exists"):
        Store(str(tmp_path / "thesis.tex"), SETTINGS)
    for text in ("[]", '{"settings": {}}', '{"settings": {"bot": null, "seed": 0}}', '{"settings": ["bot", "playouts", "seed"]}'):
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(Unusable, match="is no collection's"):
            Store(str(tmp_path), SETTINGS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", MANIFEST, "thesis.tex"]


def test_what_a_killed_run_was_writing_is_removed(tmp_path: pathlib.Path) -> None:
    with Store(str(tmp_path), SETTINGS) as store:
        store.add(0, 9, b"x")
    (tmp_path / "9x9" / ".000001.parquet.part").write_bytes(b"half")
    with Store(str(tmp_path), SETTINGS) as store:
        assert list(store.finished()) == [0]
    assert not list(tmp_path.glob("*/.*"))


def test_a_file_that_does_not_fit_is_not_there(tmp_path: pathlib.Path) -> None:
    with Store(str(tmp_path), SETTINGS) as store:
        store.add(0, 9, b"x" * 4000)
        before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
        try:
            with pytest.raises(Unwritable, match="000001.parquet cannot be written: File too large"):
                store.add(1, 9, b"x" * 6000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
    assert [path.name for path in (tmp_path / "9x9").iterdir()] == ["000000.parquet"]


@pytest.mark.parametrize(
    ("prepare", "status", "message"),
    [
        ("mount -t tmpfs -o size=32k none $3", 1, "cannot be written"),
        ("mount -t tmpfs -o ro none $3", 2, "Read-only file system"),
    ],
    ids=["full disk", "read-only"],
)
def test_a_full_disk_and_a_read_only_folder_are_told(tmp_path: pathlib.Path, prepare: str, status: int, message: str) -> None:
    (tmp_path / "games.sgf").write_text("".join(random_games(8)))
    (tmp_path / "out").mkdir()
    script = f"{prepare}; $1 -m jaxgo collection $2 --out $3 {' '.join(COMMON)} || echo status $?; find $3 -type f"
    done = in_a_sandbox(script, tmp_path / "games.sgf", tmp_path / "out")
    if done is None:
        pytest.skip("this system does not let a test mount a small disk")
    assert f"status {status}" in done.stdout and message in done.stderr, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert ".part" not in done.stdout, "nothing half-written is left"


def test_parts_are_in_order_of_board_size(tmp_path: pathlib.Path) -> None:
    for size in (13, 9):
        (tmp_path / f"{size}x{size}").mkdir()
        (tmp_path / f"{size}x{size}" / "000001.parquet").touch()
    assert [path.parent.name for _, path in part_files(tmp_path)] == ["9x9", "13x13"]
