"""Where files go: one game's where it is said, those of several into a folder as the games lie."""

import os
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


def test_a_folder_is_one_that_ends_like_one_or_is_there(tmp_path: pathlib.Path) -> None:
    names = _touch(tmp_path / "in", "a.sgf", "b.sgf")
    assert places("--sgf", f"{tmp_path / 'new'}{os.sep}", names[:1], (".sgf",)) == [tmp_path / "new" / "a.sgf"]
    (tmp_path / "all.sgf").mkdir()
    assert places("--sgf", str(tmp_path / "all.sgf"), names, (".sgf",)) == [tmp_path / "all.sgf" / name for name in ("a.sgf", "b.sgf")]


def test_suffixes_may_be_in_capitals(tmp_path: pathlib.Path) -> None:
    names = _touch(tmp_path / "in", "a.sgf", "b.sgf")
    assert places("--plot", str(tmp_path / "x.SVG"), names[:1], (".png", ".svg")) == [tmp_path / "x.SVG"]
    with pytest.raises(UsageError, match="x.SVG: for 2 games it must be a folder"):
        places("--plot", str(tmp_path / "x.SVG"), names, (".png", ".svg"))


def test_three_of_one_name_and_one_that_has_gone(tmp_path: pathlib.Path) -> None:
    names = _touch(tmp_path / "in", "a.sgf", "a.SGF", "a.Sgf")
    found = places("--sgf", str(tmp_path / "out"), [*names, str(tmp_path / "gone" / "b.sgf")], (".sgf",))
    assert [str(path.relative_to(tmp_path / "out")) for path in found] == ["a.sgf", "a-2.sgf", "a-3.sgf", "b.sgf"]


def test_what_is_there_stays_as_it_is_until_the_work_is_done(tmp_path: pathlib.Path) -> None:
    (name,) = _touch(tmp_path / "in", "a.sgf")
    (tmp_path / "out.sgf").write_text("earlier")
    places("--sgf", str(tmp_path / "out.sgf"), [name], (".sgf",))
    assert (tmp_path / "out.sgf").read_text() == "earlier"
