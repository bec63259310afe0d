"""Where files go: one game's where it is said, those of several into a folder as the games lie."""

import pathlib

import pytest

from jaxgo.cli import UsageError
from jaxgo.commands.outputs import places


def _touch(folder: pathlib.Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return [str(folder / name) for name in names]


def test_several_games_lie_in_the_folder_as_they_lay(tmp_path: pathlib.Path) -> None:
    names = _touch(tmp_path / "in", "a.sgf", "deep/a.sgf", "deep/b.sgf", "a.SGF")
    found = places("--sgf", str(tmp_path / "out"), [*names, "stdin"], (".sgf",))
    assert [str(path.relative_to(tmp_path / "out")) for path in found] == [
        "a.sgf", "deep/a.sgf", "deep/b.sgf", "a-2.sgf", "stdin.sgf"
    ]  # fmt: skip
    assert (tmp_path / "out" / "deep").is_dir() and not list((tmp_path / "out").rglob("*.sgf"))


def test_one_game_goes_to_a_file_or_into_a_folder(tmp_path: pathlib.Path) -> None:
    (name,) = _touch(tmp_path, "game.sgf")
    assert places("--plot", str(tmp_path / "x.svg"), [name], (".png", ".svg")) == [tmp_path / "x.svg"]
    (tmp_path / "there").mkdir()
    assert places("--plot", str(tmp_path / "there"), [name], (".png", ".svg")) == [tmp_path / "there" / "game.png"]
    assert places("--sgf", str(tmp_path / "there"), [""], (".sgf",)) == [tmp_path / "there" / "empty.sgf"]


def test_a_game_is_not_written_over(tmp_path: pathlib.Path) -> None:
    names = _touch(tmp_path, "a.sgf", "b.sgf")
    for given, games in ((str(tmp_path / "a.sgf"), names[:1]), (str(tmp_path), names)):
        with pytest.raises(UsageError, match="a.sgf: the file is the game record itself; give another name"):
            places("--sgf", given, games, (".sgf",))
