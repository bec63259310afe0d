"""Game records: what they mean, against sgfmill's own board, and what is refused."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from sgfmill import boards, sgf

from jaxgo import Position
from jaxgo.records.record import GameRecord, Setup
from jaxgo.records.sgf import read_as_far_as_possible, read_game

GAMES = pathlib.Path(__file__).parents[3] / "games"
BLACK, WHITE = 1, -1
_STONES = {"b": BLACK, "w": WHITE, None: 0}


def _array(board: boards.Board) -> np.ndarray:
    """sgfmill's board as ours: row 0 at the top."""
    size = board.side
    return np.array([[_STONES[board.get(size - 1 - y, x)] for x in range(size)] for y in range(size)], np.int8)


def _diagram(position: Position, i: int = 0) -> list[str]:
    """The stones of one position as rows of text."""
    return ["".join(".XO"[int(stone)] for stone in row) for row in np.asarray(position.to_array())[i]]


def _sgfmill_boards(path: pathlib.Path) -> tuple[list[np.ndarray], list[int]]:
    """Every position of a record on sgfmill's board, and the colour of every move."""
    game = sgf.Sgf_game.from_bytes(path.read_bytes())
    board = boards.Board(game.get_size())
    board.apply_setup(*game.get_root().get_setup_stones())
    arrays, colours = [_array(board)], []
    for node in game.get_main_sequence()[1:]:
        colour, move = node.get_move()
        if move is not None:
            board.play(*move, colour)
        arrays.append(_array(board))
        colours.append(_STONES[colour])
    return arrays, colours


@pytest.mark.parametrize("name", ["gnugo-9x9", "gnugo-13x13", "gnugo-19x19-handicap3"])
def test_every_position_equals_sgfmills(name: str) -> None:
    path = GAMES / f"{name}.sgf"
    expected, colours = _sgfmill_boards(path)
    record = read_game(path)
    positions = record.positions()
    assert [colour for colour, _ in record.moves] == colours
    np.testing.assert_array_equal(positions.to_array(), np.stack(expected))
    np.testing.assert_array_equal(positions.to_play, [*colours, -colours[-1]])


def test_header_of_a_real_record() -> None:
    record = read_game(GAMES / "gnugo-19x19-handicap3.sgf")
    assert (record.size, record.handicap, record.komi, len(record.moves)) == (19, 3, 0.5, 170)
    assert (record.black, record.white, record.result) == ("GNU Go 3.8 level 10", "GNU Go 3.8 level 8", "B+R")
    assert record.to_play(0) == WHITE
    start = record.position(0)
    assert int(np.asarray(start.to_array()).sum()) == 3 and int(start.to_play[0]) == WHITE


def test_position_from_sgf() -> None:
    path = GAMES / "gnugo-9x9.sgf"
    everything = Position.from_sgf(path, move="all")
    assert len(everything) == 53
    for move in (0, 1, 30, 52):
        one = Position.from_sgf(str(path), move=move)
        np.testing.assert_array_equal(one.to_array(), np.asarray(everything.to_array())[move : move + 1])
        for field in ("to_play", "ko", "passes"):
            assert getattr(one, field)[0] == getattr(everything, field)[move]
    last = Position.from_sgf(path.read_text())
    assert int(last.passes[0]) == 2 and bool(last.is_over()[0])


@pytest.mark.parametrize("move", [53, -1])
def test_move_out_of_range(move: int) -> None:
    with pytest.raises(ValueError, match=f"move must be from 0 to 52, the number of moves of the game record, not {move}"):
        Position.from_sgf(GAMES / "gnugo-9x9.sgf", move=move)


def test_move_of_a_wrong_word() -> None:
    with pytest.raises(ValueError, match="move must be a number from 0 to 52, None or \"all\", not 'last'"):
        Position.from_sgf(GAMES / "gnugo-9x9.sgf", move="last")


def test_text_bytes_and_paths_are_told_apart(tmp_path: pathlib.Path) -> None:
    text = "(;GM[1]SZ[5];B[cc])"
    path = tmp_path / "game"
    path.write_text(text)
    expected = GameRecord(size=5, moves=((BLACK, 12),))
    for given in (text, f"\ufeff \n{text}", text.encode(), path, str(path), f"a mail header\n\n{text}"):
        assert read_game(given) == expected


def test_a_name_that_looks_like_a_game_is_a_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = GameRecord(size=5, moves=((BLACK, 12),))
    for name in ("(1) game.sgf", "game (;-).sgf", "(;GM[1]SZ[9])"):
        with pytest.raises(ValueError, match="cannot be read: No such file"):
            read_game(pathlib.Path(name))
        pathlib.Path(name).write_text("(;GM[1]SZ[5];B[cc])")
        assert read_game(name) == read_game(pathlib.Path(name)) == expected
    for name in ("(2) game.sgf", "game (;o).sgf", "(no game at all)"):
        with pytest.raises(ValueError, match="cannot be read: No such file"):
            read_game(name)
    assert read_game("  ( ;SZ[5]\n;B[cc])") == expected


def test_main_line_is_the_first_branch() -> None:
    record = read_game("(;SZ[5](;B[aa];W[bb](;B[cc])(;B[dd]))(;B[ee]))")
    assert record.moves == ((BLACK, 0), (WHITE, 6), (BLACK, 12))


def test_setup_stones_and_player_to_move() -> None:
    record = read_game("(;SZ[5]AB[aa:cb][ee]AW[dd];AE[ba]PL[W])")
    position = record.position()
    assert _diagram(position) == ["X.X..", "XXX..", ".....", "...O.", "....X"]
    assert int(position.to_play[0]) == WHITE
    assert len(record.positions()) == 1


def test_setup_between_moves() -> None:
    record = read_game("(;SZ[5];B[aa];W[bb];AB[cc]AE[aa];B[ee])")
    positions = record.positions()
    assert record.setups == (Setup(2, ((12, BLACK), (0, 0)), None),)
    assert _diagram(positions, 1) == ["X....", ".....", ".....", ".....", "....."]
    assert _diagram(positions, 2) == [".....", ".O...", "..X..", ".....", "....."]
    assert _diagram(positions, 3) == [".....", ".O...", "..X..", ".....", "....X"]


def test_handicap_without_setup_stones() -> None:
    with pytest.raises(ValueError, match=r"states a handicap, HA\[3\], but does not place its stones"):
        read_game("(;SZ[9]HA[3];W[cc])")
    passing = read_game("(;SZ[9]HA[2];W[];B[cc];W[tt];B[gg];W[gc])")
    assert len(passing.moves) == 5
    free = read_game("(;SZ[9]HA[2];B[cc];B[gg];W[gc])")
    assert [free.to_play(move) for move in range(4)] == [BLACK, BLACK, WHITE, BLACK]
    assert _diagram(free.position())[2] == "..X...O.."


def test_passes_written_both_ways() -> None:
    assert read_game("(;SZ[9];B[tt];W[])").moves == ((BLACK, 81), (WHITE, 81))
    assert bool(read_game("(;SZ[9];B[tt];W[])").position().is_over()[0])
    assert read_game("(;SZ[20];B[tt];W[])").moves == ((BLACK, 399), (WHITE, 400))  # on 20x20, tt is the last point


@pytest.mark.parametrize(
    ("moves", "last"),
    [("", 0), (";B[cc]", 1), (";B[cc];W[]", 2), (";B[cc];W[];B[]", 1), (";B[];W[];B[]", 0), (";B[];W[];B[cc]", 3)],
)
def test_last_position_in_play(moves: str, last: int) -> None:
    assert read_game(f"(;SZ[5]{moves})").last_in_play == last


def test_two_moves_of_one_colour_lift_the_ko() -> None:
    # Black takes the ko at c4 (point b4 becomes empty); White "plays elsewhere" unrecorded; Black moves again.
    setup = "AB[bb][ac][bd]AW[cb][dc][cd][bc]"
    taken = read_game(f"(;SZ[5]{setup};B[cc])").position()
    assert int(taken.ko[0]) == 2 * 5 + 1
    again = read_game(f"(;SZ[5]{setup};B[cc];B[ee];W[bc])").positions()
    np.testing.assert_array_equal(again.to_play, [BLACK, BLACK, WHITE, BLACK])
    assert int(again.ko[1]) == -1
    assert _diagram(again, 3)[2] == "XO.O."  # two plies later White may take back


def test_play_resumes_after_two_passes() -> None:
    record = read_game("(;SZ[5];B[cc];W[];B[];W[];B[bb];W[])")
    positions = record.positions()
    np.testing.assert_array_equal(positions.passes, [0, 0, 1, 2, 2, 0, 1])
    np.testing.assert_array_equal(positions.to_play, [1, -1, 1, -1, 1, -1, 1])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("(;SZ[5];B[cc];W[cc])", "move 2, White C3, is illegal: the point is occupied"),
        ("(;SZ[5]AB[bb][ac][bd]AW[cb][dc][cd][bc];B[cc];W[bc])", "move 2, White B3, is illegal: it retakes the ko at once"),
        (
            "(;SZ[5]AW[ba][ab];B[aa])",
            r"move 1, Black A5, is illegal: it would leave its own chain without liberties \(suicide\)",
        ),
        ("(;SZ[5]AB[aa]AW[ba][ab])", "the stones set up before the first move are not a legal position: "),
        ("(;SZ[5];B[aa];B[bb]W[cc];B[dd])", r"the node after move 1 has a move of each player \(B, W\), and a node may have one"),
        ("(;SZ[5];B[cc];AB[aa]AW[ba][ab])", "the stones set up after move 1 are not a legal position: "),
    ],
)
def test_illegal_records(record: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Position.from_sgf(record)


def test_positions_before_an_illegal_move_can_be_had() -> None:
    assert _diagram(Position.from_sgf("(;SZ[5];B[cc];W[cc])", move=1))[2] == "..X.."


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"(no game at all)", "the given text is not an SGF game record"),
        ("(;SZ[9];B[aa]", "the given text is not an SGF game record"),
        (b"\x00\xff\x00", "the given text is not an SGF game record"),
        ("(;SZ[1])", "a 1x1 board; sizes 2 to 25 are played"),
        ("(;SZ[26])", "a 26x26 board; sizes 2 to 25 are played"),
        ("(;SZ[9:13])", "a 9x13 board; only square boards are played"),
        ("(;SZ[big])", r"states no board size but SZ\[big\]"),
        ("(;GM[2]SZ[8])", r"another game, GM\[2\]"),
        ("(;SZ[9];B[aa];W[ka])", r"move 2, White \[ka\], is no point of the 9x9 board"),
        ("(;SZ[9];B[a])", r"move 1, Black \[a\], is no point of the 9x9 board"),
        ("(;SZ[9]AB[zz])", r"the setup before the first move, AB\[zz\], names a point off the 9x9 board"),
        ("(;SZ[9]AW[aa][bb];B[cc];PL[Both]AE[aa])", r"the setup after move 1, AE\[aa\] PL\[Both\], names a point off .*, or no colour"),
    ],
)
def test_records_that_are_refused(record: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_game(record)


def test_files_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="the game record '.*none.sgf' cannot be read: No such file"):
        read_game(tmp_path / "none.sgf")
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        read_game(str(tmp_path))
    with pytest.raises(ValueError, match="cannot be read: "):
        read_game("zero\0byte")
    with pytest.raises(ValueError, match="'/dev/zero' cannot be read: it has more than 16,777,216 bytes"):
        read_game("/dev/zero")
    (tmp_path / "mail.sgf").write_text("Dear all,\n")
    with pytest.raises(ValueError, match=r"mail.sgf' is not an SGF game record"):
        read_game(tmp_path / "mail.sgf")
    with pytest.raises(TypeError, match="path_or_text must be a path or the text of an SGF game record, not int"):
        read_game(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("property_text", "komi"),
    [("", None), ("KM[]", None), ("KM[6.5]", 6.5), ("KM[6,5]", 6.5), ("KM[ -3 ]", -3.0), ("KM[0]", 0.0), ("KM[81]", 81.0), ("KM[-81]", -81.0)],
)
def test_komi(property_text: str, komi: float | None) -> None:
    record = read_game(f"(;SZ[9]{property_text})")
    assert (record.komi, record.remarks) == (komi, ())


@pytest.mark.parametrize(
    ("text", "komi"),
    [("375", 7.5), ("325", 6.5), ("275", 5.5), ("350", 7.0), ("650", 6.5), ("750", 7.5), ("625", 6.25), ("-375", -7.5)],
)
@pytest.mark.parametrize("properties", ["SZ[9]", "SZ[19]", "SZ[19]AP[GNU Go:3.8]RN[3]AP[foxwq]"])
def test_komi_in_hundredths(properties: str, text: str, komi: float) -> None:
    record = read_game(f"(;{properties}KM[{text}])")
    assert record.komi == komi
    remark = f"the game record's komi, KM[{text}], is taken for {komi:g} points: it is written in hundredths"
    assert record.remarks == (remark,)


@pytest.mark.parametrize(("text", "komi"), [("50", 0.5), ("25", 0.5), ("0", 0.0), ("6.5", 6.5), ("7", 7.0)])
def test_small_komi_in_hundredths_is_foxs_alone(text: str, komi: float) -> None:
    assert read_game(f"(;SZ[19]KM[{text}]AP[GNU Go:3.8]AP[foxwq])").komi == komi
    assert read_game(f"(;SZ[19]KM[{text}]AP[GNU Go:3.8])").komi == float(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [(text, "it is no finite number") for text in ("six", "nan", "inf", "1e400")]
    + [(text, "it is beyond the 81 points of the board") for text in ("82", "-100", "376", "30000", "1e9")],
)
def test_komi_that_cannot_be_is_left_out(text: str, why: str) -> None:
    record = read_game(f"(;SZ[9]KM[{text}];B[ee])")
    assert _diagram(record.position())[4] == "....X...."
    assert record.komi is None
    assert record.remarks == (f"the game record's komi, KM[{text}], is left out: {why}",)


def test_a_komi_of_our_own_is_one_that_commands_take() -> None:
    """They may be beyond the board's points."""
    assert read_game("(;AP[jaxgo:1]SZ[5]KM[1000000])").komi == 1e6
    record = read_game("(;AP[jaxgo:1]SZ[5]KM[1e308])")
    assert record.komi is None and record.remarks == ("the game record's komi, KM[1e308], is left out: it is beyond 1,000,000 points",)


def test_what_is_said_of_a_record_moves_no_cursor() -> None:
    record, fault = read_as_far_as_possible(b"(;SZ[5]KM[\x1b[31mRED\x07];B[\x1b[2Jqq])")
    assert record.remarks == ("the game record's komi, KM[[31mRED], is left out: it is no finite number",)
    assert fault == "move 1, Black [[2Jqq], is no point of the 5x5 board"
    with pytest.raises(ValueError, match=re.escape("of another game, GM[[2J7]; Go is GM[1]")):
        read_game(b"(;GM[\x1b[2J7])")


@pytest.mark.parametrize(
    ("charset", "codec", "black"),
    [
        ("Shift_JIS", "shift_jis", "本因坊秀予"), ("shift-jis", "cp932", "十段"), ("Big5", "big5", "許家元"),
        ("big5", "big5", "周俊勳許"), ("Big5", "cp950", "碁許"), ("GB2312", "gbk", "榎乗"), ("GB18030", "gb18030", "榎乗𠀀"), ("EUC-JP", "euc_jp", "秀予"),
        ("ISO-2022-JP", "iso2022_jp", "本因坊"), ("EUC-KR", "euc_kr", "이창호"), ("UTF-8", "utf-8", "許"),
    ],
)  # fmt: skip
def test_letters_whose_bytes_look_like_sgf(charset: str, codec: str, black: str) -> None:
    """In most of these sets a letter's second byte may be that of a backslash or a bracket, which must not end the property."""
    text = f"(;CA[{charset}]SZ[9]PB[{black}]KM[6.5];B[ee]C[{black}];W[cc](;B[gg])(;B[gc]))"
    record = read_game(text.encode(codec))
    assert (record.black, record.komi, len(record.moves)) == (black, 6.5, 3)
    assert record.notes == ("the game has 2 branches; the first is read",)
    assert read_game(text) == record  # whatever it says of its characters, a text in memory is one


def test_a_record_that_is_not_in_its_character_set() -> None:
    """Broken bytes are no reason to refuse it."""
    record = read_game("(;CA[Big5]SZ[9]PB[許家元]PW[A".encode("big5") + b"\xff" + b"]KM[6.5];B[ee])")
    assert record.komi == 6.5 and len(record.moves) == 1


def test_control_characters_in_names_do_not_reach_terminals() -> None:
    assert read_game("(;SZ[9]PB[\x1b[31mA\x07n\x85n])").black == "[31mAnn"


@pytest.mark.parametrize("codec", ["hex", "base64", "rot13", "idna", "utf-16"])
def test_codecs_that_are_of_no_character_set(codec: str) -> None:
    assert read_game(f"(;SZ[9]CA[{codec}]PB[Ann]KM[6.5];B[ee])".encode()).komi == 6.5


def test_names_in_any_encoding() -> None:
    assert read_game("(;SZ[9]CA[UTF-8]PB[呉清源])".encode()).black == "呉清源"
    assert read_game(b"(;SZ[9]CA[no-such-codec]PB[M\xfcller])").black == "Müller"
    assert "ller" in read_game(b"(;SZ[9]CA[UTF-8]PB[M\xfcller])").black


def test_the_last_of_several_players_named_is_to_move() -> None:
    record = read_game("(;SZ[5];B[cc];AW[aa]PL[W];AB[bb]PL[B])")
    assert record.to_play(1) == BLACK == int(record.position().to_play[0])
    assert read_game("(;SZ[5];B[cc];AW[aa]PL[B];AB[bb]PL[W])").to_play(1) == WHITE


@pytest.mark.parametrize(("text", "stones", "remarks"), [("2.0", 2, 0), ("many", 0, 1), ("-1", 0, 1), ("1.5", 0, 1), ("nan", 0, 1), ("1e300", 0, 1)])
def test_an_odd_handicap_keeps_no_record_from_being_read(text, stones, remarks):
    record = read_game(f"(;SZ[9]HA[{text}]AB[cc][gg];W[gc])")
    assert record.handicap == stones
    assert record.notes == (f"the game record's handicap, HA[{text}], is left out: it is no number of stones",) * remarks


@pytest.mark.parametrize("text", ["(;SZ[9]HA[2];W[cc])", "(;SZ[9]HA[2];W[cc];AB[gg])"])
def test_a_handicap_must_be_placed_before_the_first_move(text: str) -> None:
    with pytest.raises(ValueError, match="does not place"):
        read_game(text)


def test_handicaps_of_one_stone_and_of_many() -> None:
    assert read_game("(;SZ[9]HA[10]AB[aa:ea][ab:eb];W[gg])").handicap == 10
    assert read_game("(;SZ[5]HA[1])").to_play(0) == BLACK and read_game("(;SZ[5]HA[2]AB[aa][bb])").to_play(0) == WHITE


def test_all_branches_of_a_node_are_counted() -> None:
    assert read_game("(;SZ[5];B[aa](;W[bb])(;W[cc])(;W[dd]))").notes == ("the game has 3 branches; the first is read",)


def test_blanks_around_a_move() -> None:
    assert read_game("(;SZ[5];B[ cc ];W[dd\n])").moves == ((BLACK, 12), (WHITE, 18))


@pytest.mark.parametrize(("text", "komi"), [("200", 4.0), ("400", 8.0), ("425", 4.25), ("2000", 20.0), ("2025", None)])
def test_komi_in_hundredths_of_points_or_of_stones(text: str, komi: float | None) -> None:
    """From 200 on; of at most 400 they are of stones, which count two points."""
    assert read_game(f"(;SZ[19]KM[{text}])").komi == komi


def test_records_are_read_without_a_warning_where_nothing_has_been_compiled(tmp_path: pathlib.Path) -> None:
    """Installers need not compile what they install, and sgfmill has a docstring of which Python warns then."""
    code = "import jaxgo.records.sgf, search.records; print('read')"
    alone = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    done = subprocess.run([sys.executable, "-W", "error:invalid escape", "-c", code], env=alone, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("read\n", "")
