"""What `jaxgo evaluate` writes for people, beside its tables."""

import pathlib

import pytest

from jaxgo import cli
from jaxgo.commands import terminal


def test_the_folder_that_games_have_in_common():
    assert terminal._common_folder(["/a/b/x.sgf", "/a/c/y.sgf"]) == "/a"
    assert terminal._common_folder(["/a/x.sgf", "y.sgf"]) == "", "some names begin at the root"


@pytest.mark.parametrize(
    ("tags", "header"),
    [
        ("PB[Ada]", ": Ada (B) - ? (W); 5x5, komi"),
        ("PW[Bo]HA[2]AB[bb][dd]", ": ? (B) - Bo (W); 5x5, handicap 2, komi"),
        ("", ".sgf; 5x5, komi"),
    ],
)
def test_the_header_names_who_is_known(capsys, tmp_path: pathlib.Path, tags: str, header: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_text(f"(;SZ[5]KM[6.5]{tags};W[cc])")
    assert cli.main(["evaluate", str(path), "--playouts", "20", "--policy", "capture"]) == 0
    said = capsys.readouterr().out
    assert header in said and ", policy capture" in said.split("playouts in")[1]


def test_an_empty_boards_header(capsys) -> None:
    assert cli.main(["evaluate", "--size", "5", "--komi", "6.5", "--playouts", "20"]) == 0
    assert "empty 5x5 board, komi 6.5\n" in capsys.readouterr().out
