"""Commands that set up a game: handicap, rules, records, clocks."""

import json

import numpy as np
import pytest

from tests.search.gtp.client import Client


def test_handicap_goes_where_custom_has_it():
    client = Client(None)
    client.engine.prepare = lambda: None
    table = {
        (9, 2): "C3 G7", (9, 4): "C3 G7 C7 G3", (9, 5): "C3 G7 C7 G3 E5", (9, 6): "C3 G7 C7 G3 C5 G5",
        (9, 7): "C3 G7 C7 G3 C5 G5 E5", (9, 8): "C3 G7 C7 G3 C5 G5 E3 E7", (9, 9): "C3 G7 C7 G3 C5 G5 E3 E7 E5",
        (19, 9): "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10", (13, 3): "D4 K10 D10", (7, 4): "C3 E5 C5 E3", (8, 4): "C3 F6 C6 F3",
    }  # fmt: skip
    for (size, stones), points in table.items():
        client.ok(f"boardsize {size}")
        assert client.ok(f"fixed_handicap {stones}") == points
        assert client.engine.table.game.to_play == -1
        assert client.fails("undo") == "cannot undo"
        for line in ("fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B2"):
            assert client.fails(line) == "board not empty"
    for size, stones in ((8, 5), (7, 5), (6, 2), (18, 5), (9, 10), (9, 1), (9, -2)):
        client.ok(f"boardsize {size}")
        assert client.fails(f"fixed_handicap {stones}") == "invalid number of stones"


def test_handicap_stones_that_are_played_cost_the_same():
    played, placed = Client(5), Client(5)
    played.play("b A1", "b C3", "b E5")
    placed.ok("set_free_handicap A1 C3 E5")
    for client in (played, placed):
        client.ok("kata-set-rules chinese")
        client.ok("komi 0.5")
    assert played.engine.table.komi == placed.engine.table.komi == 3.5
    assert "HA[3]" in played.ok("printsgf")
    played.play("w B2", "w B3")
    assert played.engine.table.komi == 0.5, "somebody sets a position up"


def test_a_client_places_handicap_and_the_rules_say_what_it_costs():
    client = Client(5, visits=64)
    assert client.ok("set_free_handicap A1 c3 E5") == ""
    assert client.board() == "....X\n.....\n..X..\n.....\nX...."
    client.ok("komi 0.5")
    assert client.ok("final_score") == "B+24.5"
    client.ok("kata-set-rules chinese")
    assert client.ok("final_score") == "B+21.5"
    client.ok('kata-set-rules {"whiteHandicapBonus": "N-1"}')
    assert client.ok("final_score") == "B+22.5"
    assert client.ok("get_komi") == "0.5"
    assert client.ok("genmove w") not in ("A1", "C3", "E5")
    client.ok("clear_board")
    assert client.ok("final_score") == "W+0.5"


def test_rules_are_told_and_taken(capsys):
    client = Client(5)
    assert json.loads(client.ok("kata-get-rules")) == {
        "friendlyPassOk": False, "hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE",
        "whiteHandicapBonus": "0",
    }  # fmt: skip
    client.ok("kata-set-rules chinese")
    assert json.loads(client.ok("kata-get-rules"))["whiteHandicapBonus"] == "N"
    assert capsys.readouterr().err == ""
    client.ok("kata-set-rules japanese")
    assert "area scoring" in capsys.readouterr().err
    client.ok("kgs-rules chinese")
    client.ok('kata-set-rules {"ko": "SIMPLE", "scoring": "AREA"}')
    assert client.fails('kata-set-rules {"ko": "SIMPLE",') .startswith("Could not parse rules: ")
    client.ok("kata-set-rule whiteHandicapBonus N-1")
    client.ok("kata-set-rule friendlyPassOk false")
    assert json.loads(client.ok("kata-get-rules"))["whiteHandicapBonus"] == "N-1"
    assert client.fails("kata-set-rule ko NONE") == "Could not parse rule: ko NONE"


def test_a_record_is_loaded_and_can_be_taken_back(tmp_path):
    path = tmp_path / "a game.sgf"
    path.write_text("(;SZ[5]KM[3.5]HA[2]AB[aa][ee];W[cc];B[cd];W[])")
    client = Client(4)
    client.ok(f"loadsgf {path}")
    assert client.board() == "X....\n.....\n..O..\n..X..\n....X"
    assert client.ok("get_komi") == "3.5"
    assert "MoveNum: 3" in client.ok("showboard")
    for _ in range(3):
        client.ok("undo")
    assert client.fails("undo") == "cannot undo"
    for before, stones in ((1, 2), (2, 3), (3, 4), (4, 4), (99, 4)):
        client.ok(f"loadsgf {path} {before}")
        assert sum(client.board().count(c) for c in "XO") == stones
    client.ok("genmove b")


@pytest.mark.parametrize("name", ["(1) game.sgf", "(;x) a  b.sgf", "game 2", "7"])
def test_names_of_files_may_hold_what_they_want(tmp_path, monkeypatch, name):
    """Blanks, parentheses, numbers; a move number may follow."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("(;SZ[5];B[cc];W[cd])")
    client = Client(None)
    client.engine.prepare = lambda: None
    for line, stones in ((name, 2), (f"{name} 2", 1), (f"{tmp_path}/{name}  1", 0)):
        client.ok(f"loadsgf {line}")
        assert sum(client.board().count(c) for c in "XO") == stones


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[5]KM[3.5]HA[2]AB[aa][ee];W[cc];B[cd];W[])",
        "(;SZ[5]AW[aa][ee];B[ab];W[dd];B[ba];AB[cc][cd]AE[ab][dd]AW[aa];W[];B[ab])",
        "(;SZ[4]AB[bb]AW[cb]PL[W];W[cc];W[bc];B[])",
        "(;SZ[4])",
        "(;SZ[4];B[aa];PL[B])",
        "(;SZ[4];W[aa];B[bb];AE[aa]PL[B])",
    ],
)
def test_a_game_is_printed_as_a_record_that_says_the_same(tmp_path, text):
    """What is written and read again is the same game, with its captures, and stones that were set up between moves."""
    path, client, again = tmp_path / "game.sgf", Client(None), Client(None)
    for one in (client, again):
        one.engine.prepare = lambda: None
    path.write_text(text)
    client.ok(f"loadsgf {path}")
    printed = client.ok("printsgf")
    assert printed == client.ok("printsgf -") and printed.startswith("(;FF[4]")
    written = tmp_path / "a copy (2).sgf"
    assert client.ok(f"printsgf {written}") == ""
    assert written.read_text().strip() == printed
    again.ok(f"loadsgf {written}")
    games = client.engine.table.game, again.engine.table.game
    assert games[0].moves == games[1].moves
    for one, other in zip(*(game.positions for game in games), strict=True):
        np.testing.assert_array_equal(one.to_array(), other.to_array())
    for line in ("showboard", "get_komi"):
        assert client.ok(line) == again.ok(line)
    assert client.engine.table.handicap == again.engine.table.handicap


def test_what_is_wrong_with_a_record_matters_from_there_on(tmp_path):
    path, client = tmp_path / "game.sgf", Client(4)
    for wrong in ("zz", "aa"):  # off the board; occupied
        path.write_text(f"(;SZ[5];B[aa];W[bb];B[{wrong}])")
        for number, moves in ((1, 0), (3, 2)):
            client.ok(f"loadsgf {path} {number}")
            assert len(client.engine.table.game.moves) == moves
        for number in (" 4", ""):
            assert client.fails(f"loadsgf {path}{number}").startswith("cannot load file: ")


def test_a_record_that_cannot_be_written_is_a_failure(tmp_path):
    client = Client(None)
    assert client.fails(f"printsgf {tmp_path}/no/such/folder.sgf").startswith("cannot write file: ")
    assert client.fails(f"printsgf {tmp_path}").startswith("cannot write file: ")


def test_a_komi_that_cannot_be_is_left_out_and_said(tmp_path, capsys):
    path, client = tmp_path / "game.sgf", Client(4)
    for written, komi, said in (("lots", "6", "is left out"), ("375", "7.5", "is taken for 7.5 points"), ("9999", "6", "is left out")):
        client.ok("komi 6")
        path.write_text(f"(;SZ[5]KM[{written}];B[aa])")
        capsys.readouterr()
        client.ok(f"loadsgf {path}")
        assert client.ok("get_komi") == komi
        assert said in capsys.readouterr().err


def test_a_records_rules_are_those_of_the_game(tmp_path, capsys):
    """As with KataGo. What is not played is said; rules that nobody knows, or none, change nothing."""
    path, client = tmp_path / "game.sgf", Client(4)
    for written, bonus, komi, said in (
        ("RU[Chinese]", "N", 9.5, ""), ("", "N", 9.5, ""), ("RU[area]", "N", 9.5, ""), ("RU[AGA]", "N-1", 8.5, ""),
        ("RU[My own]", "N-1", 8.5, "the game record's rules, RU[My own], are not known"), ("RU[Japanese]", "0", 7.5, "played with area scoring"),
    ):  # fmt: skip
        path.write_text(f"(;SZ[5]KM[7.5]HA[2]AB[bb][dd]{written};W[cc])")
        capsys.readouterr()
        client.ok(f"loadsgf {path}")
        assert json.loads(client.ok("kata-get-rules"))["whiteHandicapBonus"] == bonus
        assert client.engine.table.komi == komi
        error = capsys.readouterr().err
        assert said in error and bool(said) == bool(error), (written, error)


def test_only_what_moves_take_is_captured(tmp_path):
    """A record that sets up two black stones, takes a white one and a black one off, and sets a captured one up again."""
    path, client = tmp_path / "game.sgf", Client(4)
    path.write_text("(;SZ[5]AW[aa][ee];B[ab];W[dd];B[ba];AB[cc][cd]AE[ab][dd]AW[aa];W[];B[ab])")
    client.ok(f"loadsgf {path}")
    assert client.board() == ".X...\nX....\n..X..\n..X..\n....O"
    assert "B stones captured: 0\nW stones captured: 2" in client.ok("showboard")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("", "is not an SGF game record"),
        ("hello", "is not an SGF game record"),
        ("(;GM[2]SZ[9])", "is an SGF record of another game, GM[2]"),
        ("(;SZ[26])", "sizes 2 to 25 are played"),
        ("(;SZ[9:7])", "only square boards are played"),
        ("(;SZ[x])", "states no board size but SZ[x]"),
        ("(;SZ[5];B[zz])", "is no point of the 5x5 board"),
        ("(;SZ[5];B[aa];W[aa])", "move 2, White A5, is illegal: the point is occupied"),
        ("(;SZ[5]HA[3];W[aa])", "does not place its stones (AB)"),
    ],
)
def test_a_record_that_is_no_good_is_refused_and_nothing_changes(tmp_path, text, message):
    path = tmp_path / "game.sgf"
    if text is not None:
        path.write_text(text)
    client = Client(5)
    client.play("b C3")
    failure = client.fails(f"loadsgf {path}")
    assert failure.startswith("cannot load file: ") and message in failure
    assert client.board().count("X") == 1


def test_clocks_are_set_and_used():
    client = Client(5, visits=10**9)
    for line in (
        "time_settings 0 1 1", "kgs-time_settings byoyomi 0 1 1", "kata-time_settings fischer-capped 2 0.5 -1 1",
        "kgs-time_settings canadian 0 10 10", "kata-time_settings byo-yomi 0.5 1 2", "kgs-time_settings absolute 10",
    ):  # fmt: skip
        client.ok(line)
        assert client.ok("genmove b") != ""
    assert client.ok("kata-list_time_settings").split() == "none absolute byoyomi canadian fischer fischer-capped".split()
    client.ok("time_left w 4 0")
    client.ok("time_left b 0 0")
    client.ok("genmove b")
    client.ok("genmove w")
    client.ok("time_left b -3 0")


def test_a_clock_of_an_eternity_stays_finite():
    client = Client(5, visits=10)
    client.ok("kata-time_settings fischer 1e308 1e308")
    for _ in range(3):
        assert client.ok("genmove b") != ""
    client.ok("time_left b 1e308 0")
    assert client.ok("genmove b") != ""


def test_no_clock_is_no_limit():
    for line in ("time_settings 0 1 0", "kgs-time_settings none", "kata-time_settings none"):
        client = Client(5)
        client.ok("time_settings 1 0 0")
        client.ok(line)
        assert client.engine.clock.budget(1, 25, 0) is None


def test_its_own_records_keep_every_komi(tmp_path):
    """Also one beyond the board's points, which of other programs is taken for a slip."""
    client = Client(5, visits=100)
    client.ok("komi 30")
    client.play("b C3")
    record = str(tmp_path / "own.sgf")
    score = client.ok("final_score")
    client.ok(f"printsgf {record}")
    client.ok("komi 0")
    client.ok(f"loadsgf {record}")
    assert client.ok("get_komi") == "30" and client.ok("final_score") == score
