"""Game records in files and folders: which files names stand for, and what is read of each."""

import os
import pathlib

import pytest

from jaxgo.records.files import Game, Unread, read_games, sgf_files
from jaxgo.records.sgf import read_game


def _read(text: str) -> Game | Unread:
    (found,) = read_games([("a game", text.encode())])
    return found


def test_folders_stand_for_the_records_below_them(tmp_path: pathlib.Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.sgf", "a.SGF", "deep/c.sgf", "deep/er/d.sgf", "deep/notes.txt"):
        (tmp_path / name).write_text("(;SZ[5])")
    below = [str(tmp_path / name) for name in ("a.SGF", "b.sgf", "deep/c.sgf", "deep/er/d.sgf")]
    assert sgf_files([tmp_path]) == below
    assert sgf_files(["any.txt", str(tmp_path / "deep")]) == ["any.txt", *below[2:]]
    os.mkfifo(tmp_path / "deep" / "pipe.sgf")  # which would be waited for
    (tmp_path / "deep" / "z.sgf").symlink_to("nowhere")
    assert sgf_files([tmp_path / "deep"]) == [*below[2:], str(tmp_path / "deep" / "z.sgf")]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match=f"the folder '{empty}' holds no .sgf file"):
        sgf_files([empty])
    with pytest.raises(ValueError, match="the name of a game record must not be empty"):  # not the folder that one is in
        sgf_files([""])


def test_files_are_read_in_order_and_the_unreadable_told(tmp_path: pathlib.Path) -> None:
    texts = {"one.sgf": "(;SZ[5];B[cc])", "two.sgf": "Dear all,", "three.sgf": "(;SZ[5]AB[aa]AW[ba][ab])", "four.sgf": "(;SZ[4])"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in (*texts, "none.sgf")]
    one, two, three, four, none = read_games((path, path) for path in paths)
    assert isinstance(one, Game) and one.name == paths[0] and one.positions.batch == 2 and one.record.remarks == ()
    assert isinstance(four, Game) and four.positions.batch == 1
    assert two == Unread(paths[1], f"'{paths[1]}' is not an SGF game record: no SGF data found")
    assert isinstance(three, Unread)
    assert three.reason.startswith(f"{paths[2]}: the stones set up before the first move are not a legal position")
    assert none == Unread(paths[4], f"the game record '{paths[4]}' cannot be read: No such file or directory")


@pytest.mark.parametrize(
    ("text", "moves", "remarks"),
    [
        ("(;SZ[5];B[cc];W[cc];B[aa])", 1,
         ["move 2, White C3, is illegal: the point is occupied; the game is read up to move 1"]),
        ("(;SZ[5];B[cc];W[zz];B[aa])", 1,
         ["move 2, White [zz], is no point of the 5x5 board; the game is read up to move 1"]),
        ("(;SZ[5];B[zz])", 0, ["move 1, Black [zz], is no point of the 5x5 board; no move of the game is read"]),
        ("(;SZ[5];B[cc];W[cc];B[zz])", 1,
         ["move 2, White C3, is illegal: the point is occupied; the game is read up to move 1"]),
        ("(;SZ[5];B[cc])\n(;SZ[9];B[aa])(;SZ[3])", 1, ["the file holds 3 games; the first is read"]),
        ("(;SZ[5](;B[cc](;W[aa])(;W[bb]))(;B[dd]))", 2, ["the game has 3 branches; the first is read"]),
        ("(;SZ[5];B[aa];B[cc];W[dd])", 3, ["moves 1 and 2 are both Black's; they are played as they stand"]),
        ("(;SZ[5];B[aa];W[cc];W[dd];W[de];W[ee])", 5,
         ["moves 2 and 3 are both White's, and so 2 more times; they are played as they stand"]),
        ("(;SZ[5]HA[2];B[aa];B[cc];W[dd])", 3, []),
        ("(;SZ[5];B[aa];AE[cc]PL[B];B[cc])", 2, []),
    ],
)  # fmt: skip
def test_what_is_odd_is_said(text: str, moves: int, remarks: list[str]) -> None:
    found = _read(text)
    assert isinstance(found, Game)
    assert len(found.record.moves) == moves == found.positions.batch - 1
    assert list(found.record.remarks) == remarks


def test_the_library_refuses_what_is_off_the_board() -> None:
    with pytest.raises(ValueError, match=r"move 2, White \[zz\], is no point of the 5x5 board"):
        read_game("(;SZ[5];B[cc];W[zz])")


def test_the_player_to_move_where_an_illegal_move_ends_the_game() -> None:
    found = _read("(;SZ[5];B[cc];B[cc])")
    assert found.record.to_play(1) == 1 == int(found.positions.to_play[1])


def test_names_without_a_character_set_are_utf_8_where_they_can_be() -> None:
    assert read_game("(;SZ[5]PB[呉清源])".encode()).black == "呉清源"
    assert read_game(b"(;SZ[5]PB[M\xfcller])").black == "Müller"
