"""Every command, with good arguments and bad ones."""

import importlib.metadata
import json
import math
import re
import types

import numpy as np
import pytest

import jaxgo
from search import bots
from search.choice import Choice, passing
from search.gtp.commands import COMMANDS, analysis
from search.gtp.commands.analysis import analyze, genmove_analyze
from search.gtp.options import DEFAULT_RESIGN
from tests.search.gtp.client import Client
from tests.wide import wide

#: Commands that clients look for.
EXPECTED = (
    "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove undo final_score "
    "final_status_list fixed_handicap place_free_handicap set_free_handicap time_settings time_left kgs-time_settings "
    "kata-time_settings kata-list_time_settings showboard loadsgf reg_genmove cputime lz-analyze lz-genmove_analyze kata-analyze "
    "kata-genmove_analyze kata-get-rules kata-set-rules gogui-analyze_commands cgos-genmove_analyze kgs-genmove_cleanup "
    "ref-nodes ref-score kata-get-param kata-set-param kata-list-params kata-get-params kata-get-models set_position kata-search "
    "kata-search_analyze printsgf gogui-play_sequence gogui-interrupt"
).split()

#: Lines that must fail, and how; on an empty 5x5 board.
BAD = {
    "unknown command": ["foo", "7 foo bar", "12", "genmov b", "PLAYS b A1"],
    "syntax error": [
        "boardsize", "boardsize five", "boardsize 5.0", "boardsize 5 5 5", "komi", "komi x", "komi nan", "komi inf", "komi 1e400",
        "komi 5 5", "play", "play b", "play b A1 A2", "genmove", "genmove b b", "known_command", "known_command a b", "name x",
        "undo 2", "time_settings", "time_settings 1 2", "time_settings a 0 0", "time_settings -1 0 0", "time_settings 1 2 x",
        "time_settings 1 2 -3", "time_settings 1 2 2.5", "time_left b", "time_left b x 0", "time_left b 1 x", "kgs-time_settings",
        "kgs-time_settings sundial", "kgs-time_settings byoyomi 10", "kgs-time_settings none 5", "kgs-time_settings fischer 10 1",
        "kata-time_settings fischer 10", "kata-time_settings fischer-capped 10 1 1", "kata-time_settings absolute -5",
        "final_status_list", "final_status_list sleeping", "fixed_handicap", "fixed_handicap two", "loadsgf", "loadsgf x.sgf 0",
        "kata-set-rules", "lz-analyze purple", "lz-analyze b x", "lz-analyze b 10 maxmoves", "lz-analyze b 10 maxmoves x",
        "lz-analyze b 10 frob 3", "lz-analyze b 10 avoid b A1", "kata-analyze b 10 ownership maybe",
        "kata-analyze b 10 avoid b A1 0", "kata-genmove_analyze b interval", "quit now",
    ],
    "invalid color or coordinate": [
        "play purple A1", "play b Z9", "play b I5", "play b A6", "play b F1", "play b A0", "play b 5A", "play b resign",
        "genmove purple", "reg_genmove 5", "kgs-genmove_cleanup x", "time_left purple 5 0", "set_free_handicap A1 Z9",
        "lz-analyze b 10 avoid b Z9 1", "lz-analyze b 10 avoid purple A1 1",
    ],
    "unacceptable size": ["boardsize 1", "boardsize 26", "boardsize 0", "boardsize -5", "boardsize 99999", "boardsize 5 6"],
    "cannot undo": ["undo"],
    "invalid number of stones": ["fixed_handicap 2", "fixed_handicap 10", "place_free_handicap 1", "place_free_handicap 0"],
    "bad vertex list": ["set_free_handicap", "set_free_handicap A1", "set_free_handicap A1 A1", "set_free_handicap A1 pass"],
    "Could not parse rules: nope": ["kata-set-rules nope"],
    "no move has been chosen in this game": ["ref-nodes", "ref-score", "jaxgo-visits", "jaxgo-variation"],
}  # fmt: skip


@pytest.fixture(scope="module")
def shared() -> Client:
    """An engine for tests that leave the board empty."""
    return Client(5)


def test_all_commands_that_clients_look_for_are_there():
    client = Client(None)
    assert set(EXPECTED) <= set(COMMANDS)
    assert client.ok("list_commands").split("\n") == sorted(COMMANDS)
    for name in [*EXPECTED, *COMMANDS, "PLAY"]:
        assert client.ok(f"known_command {name}") == "true"
    assert client.ok("known_command foo") == "false"


@pytest.mark.parametrize(("text", "line"), [(text, line) for text, lines in BAD.items() for line in lines])
def test_what_cannot_be_done_fails_with_the_text_that_clients_know(shared, text, line):
    assert shared.fails(line) == text
    assert shared.board() == "\n".join(["....."] * 5)
    assert not shared.engine.over


def test_who_it_is():
    client = Client(None, bot="uct")
    assert client("protocol_version") == "= 2\n\n"
    assert client("31 NAME") == "=31 jaxgo\n\n"
    assert client("version") == f"= {importlib.metadata.version('jaxgo')} (uct)\n\n"
    assert client("") == client("   # nothing") == client("\x01") == ""
    assert float(client.ok("cputime")) > 0
    assert not client.engine.over
    assert client("5 quit") == "=5 \n\n"
    assert client.engine.over


@pytest.mark.wide
def test_either_colour_moves_at_any_time():
    client = Client(4)
    client.play("b B3", "b b2", "B c3", "black C2", "white A1", "W pass", "w PASS", "w pass", "b pass", "w D4", "b A2", "b B1")
    assert client.board() == "...O\n.XX.\nXXX.\n.X.."
    assert client.fails("play w B3") == "illegal move"
    assert client.fails("play w A1") == "illegal move", "suicide"
    for _ in range(12):
        client.ok("undo")
    assert client.board() == "....\n" * 3 + "...."
    assert client.fails("undo") == "cannot undo"


#: Black takes a stone at C3, and both pass: White's taking back would repeat the board.
BEFORE_SUPERKO = ("b B4", "b A3", "b B2", "w C4", "w D3", "w C2", "w B3", "b C3", "w pass", "b pass")


def test_a_move_against_superko_is_taken_from_others(capsys):
    client = Client(4)
    client.play(*BEFORE_SUPERKO[:-2])
    assert client.board() == ".XO.\nX.XO\n.XO.\n...."
    assert client.fails("play w B3") == "illegal move", "simple ko, which all programs know"
    client.play(*BEFORE_SUPERKO[-2:])
    assert capsys.readouterr().err == ""
    client.play("w B3")
    assert client.board() == ".XO.\nXO.O\n.XO.\n...."
    said = "jaxgo gtp: B3 repeats an earlier position, which positional superko forbids; it is taken as it was played\n"
    assert capsys.readouterr().err == said
    assert client.fails("play b C4") == client.fails("play b B3") == "illegal move"
    client.ok("undo")
    assert client.board() == ".XO.\nX.XO\n.XO.\n...."


@pytest.mark.parametrize("bot", ["rave", *wide("mc")])
def test_the_engine_itself_keeps_superko(bot):
    """Told to play B3 and nothing else, it passes; and so it does after the other program has played against superko."""
    client = Client(4, bot=bot)
    client.play(*BEFORE_SUPERKO)
    assert client.ok("kata-genmove_analyze w 1 allow w B3 1").split("\n")[-1] == "play pass"
    client.ok("undo")
    client.play("w B3", "b pass", "w pass")
    assert client.ok("kata-genmove_analyze b 1 allow b C3 1").split("\n")[-1] == "play pass"


def test_several_moves_are_played_or_none():
    client = Client(4)
    client.ok("gogui-play_sequence B A1 w B2 W pass b C3")
    assert client.board() == "....\n..X.\n.O..\nX..."
    for line, failure in (
        ("b D4 w D3 b D4", "illegal move"), ("b D4 w Z9", "invalid color or coordinate"), ("b D4 w", "syntax error"),
    ):  # fmt: skip
        assert client.fails(f"gogui-play_sequence {line}") == failure
        assert client.board() == "....\n..X.\n.O..\nX..."
    assert len(client.engine.table.game.moves) == 4
    client.ok("gogui-play_sequence")


def test_a_position_is_set_up():
    client = Client(4)
    client.play("w D4")
    client.ok("set_position b A1 W B2 b C3")
    assert client.board() == "....\n..X.\n.O..\nX..."
    assert client.fails("undo") == "cannot undo"
    assert "Next player: Black" in client.ok("showboard")
    for stones, failure in (
        ("b A1 w A1", "invalid color or coordinate"), ("b pass", "invalid color or coordinate"), ("b A1 w", "syntax error"),
        ("b E1", "invalid color or coordinate"), ("b A2 b B1 w A1", "the stones are not a legal position: "),
    ):  # fmt: skip
        assert client.fails(f"set_position {stones}").startswith(failure)
        assert client.board() == "....\n..X.\n.O..\nX..."
    client.ok("set_position")
    assert client.engine.table.empty


def test_parameters_are_told_and_changed():
    client = Client(4)
    names = client.ok("kata-list-params").split()
    assert json.loads(client.ok("kata-get-params")).keys() == set(names)
    before = {name: client.ok(f"kata-get-param {name}") for name in names}
    assert before["maxVisits"] == "64" and before["maxTime"] == "1e+20" and before["ponderingEnabled"] == "false"
    changes = {
        "maxVisits": "200", "maxTime": "0.5", "numSearchThreads": "1", "ponderingEnabled": "true", "resignThreshold": "-0.8",
    }  # fmt: skip
    for name, value in changes.items():
        client.ok(f"kata-set-param {name} {value}")
        assert client.ok(f"kata-get-param {name}") == value
    options = client.engine.options
    assert (options.visits, options.seconds, options.threads, options.ponder) == (200, 0.5, 1, True)
    assert options.resign == pytest.approx(0.1)
    assert client.ok("kata-get-param allowResignation") == "true"
    client.ok("kata-set-param allowResignation false")
    assert client.ok("kata-get-param resignThreshold") == "-1"
    client.ok("kata-set-param maxTime 1e20")
    client.ok("kata-genmove_analyze b 1 rootInfo true")
    assert client.engine.thinker.last.choice.playouts == 200
    client.ok(f"kata-set-param maxVisits {2**50}")
    assert client.ok("kata-get-param maxVisits") == "20000", "what there is without any limit"
    client.ok("kata-set-param maxTime 1")
    assert client.ok("kata-get-param maxVisits") == str(2**50)
    for line in (
        "maxVisits 0", "maxVisits x", "maxVisits 1.5", "maxTime 0", "maxTime nan", "numSearchThreads 0", "numSearchThreads 5000",
        "ponderingEnabled 1", "resignThreshold 2", "resignThreshold -1.1", "maxVisits", "maxVisits 1 2",
    ):  # fmt: skip
        assert client.fails(f"kata-set-param {line}") == "syntax error"
    for line in ("kata-get-param lagBuffer", "kata-set-param lagBuffer 2"):
        assert client.fails(line) == f"there is no parameter lagBuffer; there are: {', '.join(names)}"
    assert client.ok("kata-get-models") == "[]"


def test_for_another_number_of_threads_everything_is_made_ready_at_once():
    """Not on the clock of the next move."""
    client = Client(4)
    client.ok("genmove b")
    assert not client.engine.thinker.compile(4)
    client.ok("kata-set-param numSearchThreads 2")
    assert not client.engine.thinker.compile(4)
    client.ok("kata-set-param maxVisits 100")
    assert not client.engine.thinker.compile(4)


def test_a_client_that_begins_with_a_move_gets_all_of_its_time(monkeypatch):
    """Without a word of the board's size everything is compiled when the first move is asked for, before its time begins."""
    client, order = Client(4, seconds=0.1), []
    compile, think = client.engine.thinker.compile, client.engine.thinker.genmove
    monkeypatch.setattr(client.engine.thinker, "compile", lambda size: (order.append("compile"), compile(size))[1])
    monkeypatch.setattr(client.engine.thinker, "genmove", lambda *args, **more: (order.append("think"), think(*args, **more))[1])
    client.ok("genmove b")
    assert order == ["compile", "think"]


def test_other_rounds_are_made_ready_at_once(monkeypatch):
    """A GPU's are others where searches are of few visits."""
    client = Client(4, visits=50)
    client.ok("genmove b")
    monkeypatch.setattr("search.gtp.thinker.for_visits", lambda visits, workers: None if visits < 1000 else workers)
    compiled = []
    monkeypatch.setattr(client.engine.thinker, "compile", lambda size: bool(compiled.append(size)))
    client.ok("kata-set-param maxVisits 100")
    client.ok("kata-set-param maxVisits 100000")
    assert compiled == [4, 4]
    small, large = (client.engine.thinker._kind(4) for client.engine.options.__dict__["visits"] in (100, 100_000))
    assert small != large


@pytest.mark.parametrize("bot", ["rave", *wide("mc")])
def test_a_move_is_looked_for_and_not_played(bot):
    client = Client(4, bot=bot)
    client.ok("time_settings 60 0 0")
    left = client.engine.clock.left(1).main
    assert client.ok("kata-search")[0] in "ABCDp"
    assert client.ok("kata-search b")[0] in "ABCDp"
    lines = client.ok("kata-search_analyze 0 maxmoves 1").split("\n")
    assert lines[0].startswith("info move ") and lines[-1].startswith("play ")
    assert client.engine.table.empty
    assert client.engine.clock.left(1).main == left


def test_captures_are_counted_and_shown():
    client = Client(4)
    client.play("w A1", "b A2", "b B1", "w D4", "b C3")
    text = client.ok("showboard")
    rows = [" 4 . . . O2", " 3 . . X3.", " 2 X . . .", " 1 . X1. ."]
    assert text.split("\n")[:6] == ["MoveNum: 5", "   A B C D", *rows]
    assert "Next player: White" in text
    assert "B stones captured: 0\nW stones captured: 1" in text


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=[] if size in (2, 9) else pytest.mark.wide if size in (3, 19, 25) else pytest.mark.slow) for size in range(2, 26)]
)
def test_every_size(size):
    """The board's commands; moves need a compilation of each size, and are tried in `test_moves_on_every_size`."""
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok(f"boardsize {size}")
    corner = f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[size - 1]}{size}"
    client.play("b A1", f"w {corner}")
    rows = client.board().split("\n")
    assert (rows[0], rows[-1]) == ("." * (size - 1) + "O", "X" + "." * (size - 1))
    assert len(client.ok("showboard").split("\n")) == size + 6
    client.ok("undo")
    client.ok("clear_board")
    placed = client.ok("place_free_handicap 9").split()
    assert 2 <= len(placed) <= 9 and len(set(placed)) == len(placed)
    assert client.board().count("X") == len(placed)
    assert client.fails("boardsize 26") == "unacceptable size"
    assert client.engine.table.size == size


@pytest.mark.slow
@pytest.mark.parametrize("size", range(2, 26))
def test_moves_on_every_size(size):
    client = Client(size)
    for colour in "bwbw":
        assert client.ok(f"genmove {colour}")
    assert client.ok("kata-analyze 1 ownership true").count("info move") > 1 - (size == 2)
    assert client.ok("final_score")
    for _ in client.engine.table.game.moves[:]:
        client.ok("undo")


@pytest.mark.parametrize(
    "bot", [pytest.param(bot, marks=[] if bot == "rave" else pytest.mark.wide if bot == "mc" else pytest.mark.slow) for bot in bots.SUMMARIES]
)
def test_every_bot_answers(bot):
    client = Client(4, bot=bot, visits=40)
    client.ok("komi 3.5")
    moves = [client.ok(f"genmove {colour}") for colour in "bw"] + [client.ok("reg_genmove b")]
    assert all(move[0] in "ABCDp" for move in moves)
    assert len(client.engine.table.game.moves) == 2
    assert 0 <= float(client.ok("ref-score")) <= 1
    assert int(client.ok("ref-nodes")) > 40 * 4
    for line in ("lz-analyze b 1", "kata-analyze 1 rootInfo true ownership true"):
        lines = client.ok(line).split("\n")
        assert lines[0].startswith("info move ")
    for line in ("lz-genmove_analyze b 1", "kata-genmove_analyze w 1 ownership true", "cgos-genmove_analyze b"):
        assert client.ok(line).split("\n")[-1].startswith("play ")


def test_moves_are_reproducible_and_games_differ():
    def games() -> list[list[str]]:
        client, out = Client(5, visits=200), []
        for _ in range(3):
            client.ok("clear_board")
            out.append([client.ok(f"genmove {'bw'[i % 2]}") for i in range(6)])
        return out

    first, again = games(), games()
    assert first == again
    assert first[0] != first[1] or first[1] != first[2]


def test_reg_genmove_and_analysis_leave_the_board():
    client = Client(5)
    for line in ("reg_genmove w", "lz-analyze w 1", "kata-analyze b 1", "ref-score"):
        client.ok(line)
    assert client.engine.table.empty
    client.ok("kgs-genmove_cleanup w")
    assert client.board().count("O") == 1


def test_taking_back_keeps_what_was_thought():
    client = Client(5, visits=1000)
    client.ok("komi 0.5")
    client.ok("genmove b")
    client.ok("genmove w")
    for _ in range(2):
        client.ok("undo")
    line = client.ok("kata-analyze b 1 rootInfo true").split("\n")[0]
    assert int(re.search(r"rootInfo visits (\d+)", line)[1]) >= 1000


@pytest.mark.parametrize("policy", [None, *wide(jaxgo.Capture(0.9))])
def test_playouts_of_the_reference_bot_are_counted_exactly(policy):
    """Of every search, each of which has a random stream of its own, and by the bot's policy."""
    client = Client(5, bot="amaf", visits=500, komi=0.5, policy=policy)
    for number, colour in enumerate("bwb"):
        position, seed = client.engine.table.game.position, client.engine.options.seed
        client.ok(f"genmove {colour}")
        again = jaxgo.playouts(position, 500, seed=seed, streams=[number], policy=policy)
        assert int(client.ok("ref-nodes")) == again.length.sum()
        assert float(client.ok("ref-score")) == pytest.approx((again.margin > 0.5).mean(), abs=1e-6)


@pytest.mark.wide
def test_moves_of_a_tree_are_estimated_by_its_policy():
    client = Client(5, bot="uct", visits=500, komi=0.5, policy=jaxgo.Capture(1.0))
    client.ok("genmove b")
    told, each = int(client.ok("ref-nodes")), client.engine.thinker.last.choice.playouts
    expected, other = (
        each * jaxgo.evaluate(jaxgo.Position.empty(5), 20_000, seed=1, policy=policy).length_mean[0]
        for policy in (jaxgo.Capture(1.0), None)
    )
    assert abs(told - expected) < abs(told - other) / 3


def test_maps_for_gogui():
    client = Client(5, visits=200)
    menu = [line.split("/") for line in client.ok("gogui-analyze_commands").split("\n")]
    client.play("b C3")
    client.ok("genmove w")
    for kind, label, command in menu:
        assert kind in ("dboard", "gfx", "string", "plist") and label
        assert command.split()[0] in COMMANDS
        text = client.ok(command)
        if kind == "dboard":
            values = np.array([[float(word) for word in row.split()] for row in text.split("\n")])
            assert values.shape == (5, 5) and np.abs(values).max() <= 1
            assert np.abs(values).max() > 0.1
        if kind == "gfx":
            assert text.split()[0] in ("INFLUENCE", "VAR", "LABEL")
    assert client.ok("jaxgo-variation").split()[:2] == ["VAR", "w"]
    # Black's stone in the centre is his, and so is most of the board.
    rows = client.ok("jaxgo-ownership").split("\n")
    assert float(rows[2].split()[2]) > 0.15


def test_ownership_after_two_passes_is_that_of_playouts():
    """As the board stands a dead stone would surely be alive, and empty points nobody's."""
    client = Client(5, seed=1)
    for move in ("b c3", "w a1", "b b2", "w pass", "b d4", "w pass", "b pass"):
        client.ok(f"play {move}")
    corner, *_, last = (float(word) for word in client.ok("jaxgo-ownership").split("\n")[-1].split())
    assert 0 < corner < 1 and 0 < last < 1
    assert client.ok("final_status_list dead") == "A1"


def test_whatever_goes_wrong_is_one_reply_and_the_engine_goes_on(monkeypatch, capsys):
    client = Client(5)

    def breaks(*_, **__):
        raise RuntimeError("two\n\nlines")

    monkeypatch.setattr(client.engine.thinker, "genmove", breaks)
    assert client("4 genmove b") == "?4 internal error: RuntimeError: two lines\n\n"
    assert "Traceback" in capsys.readouterr().err
    assert client("5 lz-genmove_analyze b 10").startswith("?5 internal error: "), "no success that was none"
    assert "RuntimeError" in capsys.readouterr().err
    monkeypatch.setattr(client.engine.thinker, "player", breaks)
    assert client("6 kata-analyze b 10").startswith("?6 internal error: ")
    assert client.ok("name") == "jaxgo"
    assert math.isfinite(float(client.ok("cputime")))


def test_what_breaks_after_the_reply_has_begun_still_ends_in_a_move(monkeypatch, capsys):
    """The client has read `=` and waits for `play`: it gets the best move it has been told of, and that is what is played."""
    # As many visits as make dozens of reports, of which the second one breaks.
    client, reports = Client(4, visits=20_000), []

    def breaks(found, _):
        if reports:
            raise RuntimeError("no more")
        reports.append(found.infos[0]["move"])
        return "info move"

    monkeypatch.setitem(COMMANDS, "kata-genmove_analyze", genmove_analyze(breaks))
    monkeypatch.setitem(COMMANDS, "kata-search_analyze", genmove_analyze(breaks, play=False))
    for command, moves in (("kata-search_analyze", 0), ("kata-genmove_analyze", 1)):
        del reports[:]
        assert client(f"8 {command} b 0") == f"=8\ninfo move\nplay {reports[0]}\n\n"
        assert "RuntimeError: no more" in capsys.readouterr().err
        assert len(client.engine.table.game.moves) == moves
    assert client.ok("genmove w")


def test_an_analysis_that_breaks_ends_and_says_so(monkeypatch, capsys):
    client = Client(4, lines=100)

    def breaks(infos, *_):
        raise RuntimeError("no more")

    monkeypatch.setitem(COMMANDS, "kata-analyze", analyze(breaks))
    assert client("9 kata-analyze b 1") == "=9\n\n"
    said = capsys.readouterr().err
    assert "Traceback" in said and "the reply to kata-analyze ends early: internal error: RuntimeError: no more" in said
    assert client.ok("lz-analyze b 1").startswith("info move ")


def test_pondering_that_breaks_ends_without_a_word_to_the_client(monkeypatch, capsys):
    client = Client(4, ponder=True)
    client.ok("genmove b")
    assert client.engine.may_ponder
    monkeypatch.setattr(client.engine.thinker, "ponder", lambda *_: 1 / 0)
    client.engine.ponder()
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not client.engine.may_ponder
    assert client.ok("genmove w")


def test_a_threshold_outlives_that_resigning_is_allowed_again():
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok("kata-set-param resignThreshold -0.8")
    client.ok("kata-set-param allowResignation true")
    assert client.ok("kata-get-param resignThreshold") == "-0.8"


def test_the_map_of_first_plays_is_the_movers():
    client = Client(None, seed=3)
    client.engine.prepare = lambda: None
    client.ok("boardsize 5")
    client.ok("komi 10")
    client.play("b C3")
    found = jaxgo.evaluate(client.engine.table.game.position, 2_000, komi=10, seed=3)
    visits, wins = found.amaf_visits[0, 1], found.amaf_wins[0, 1]
    better = np.where(visits > 0, wins / np.maximum(visits, 1) - (1 - found.win_rate[0]), 0)
    told = np.array([[float(x) for x in row.split()] for row in client.ok("jaxgo-amaf").split("\n")])
    np.testing.assert_allclose(told, better / np.abs(better).max(), atol=1e-3)


def test_the_score_for_referees_is_blacks_after_whites_move_too():
    client = Client(5, visits=64, komi=-60)
    client.ok("genmove w")
    assert client.ok("ref-score") == "1.000000"


@pytest.fixture
def unprepared() -> Client:
    """An engine on 5x5 that compiles nothing."""
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok("boardsize 5")
    return client


@pytest.mark.parametrize("line", ["boardsize 5", "clear_board", "set_position b C3", "fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B2", "loadsgf game.sgf"])
def test_of_another_game_nothing_has_been_thought(unprepared, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.sgf").write_text("(;SZ[7];B[cc])")
    if "fixed" in line or "place" in line:
        unprepared.ok("boardsize 7")
    unprepared.engine.thinker.last = types.SimpleNamespace(choice=passing(25))
    assert unprepared.ok("ref-nodes") == "0"
    assert unprepared.fails("ref-score") == "the last move was chosen without playouts"
    assert unprepared.ok("jaxgo-visits") == ""
    unprepared.ok(line)
    for command in ("ref-nodes", "ref-score", "jaxgo-visits"):
        assert unprepared.fails(command) == "no move has been chosen in this game"


def test_the_map_of_visits_is_by_the_most_tried_and_has_thirty_labels():
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok("boardsize 7")
    visits = np.array([0, 200, 50, *[40] * 46, 999])
    client.engine.thinker.last = types.SimpleNamespace(choice=Choice(1, False, 0.5, visits, visits, 2_345, [1], None))
    influence, labels, text = client.ok("jaxgo-visits").split("\n")
    words = influence.split()
    assert words[:7] == ["INFLUENCE", "B7", "1.000", "C7", "0.250", "D7", "0.200"] and len(words) == 1 + 2 * 48
    assert labels.split()[:5] == ["LABEL", "B7", "200", "C7", "50"] and len(labels.split()) == 1 + 2 * 30
    assert text == "TEXT 2345 playouts"


def test_komi_of_minus_nothing_is_none(unprepared):
    unprepared.ok("komi -0")
    assert unprepared.ok("get_komi") == "0"


def test_resigning_that_is_allowed_is_that_of_the_engine(unprepared):
    """Where there was a threshold, that."""
    for line in ("allowResignation false", "allowResignation true"):
        unprepared.ok(f"kata-set-param {line}")
    assert float(unprepared.ok("kata-get-param resignThreshold")) == 2 * DEFAULT_RESIGN - 1


def test_an_analysis_under_restrictions_leaves_no_search_behind(monkeypatch):
    client, closed = Client(4), []
    monkeypatch.setattr(analysis, "close", lambda player: (closed.append(player), player.search.close()))
    client.ok("kata-analyze b 1")
    assert not closed
    client.ok("kata-analyze b 1 avoid b A1 1")
    assert len(closed) == 1
