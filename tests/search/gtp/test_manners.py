"""When the engine passes although it could go on, and when it gives a game up."""

import itertools

import numpy as np
import pytest

from search.choice import Choice
from search.gtp import scoring
from search.gtp.manners import NEUTRAL, SETTLED, Resignation, may_be_settled, politely
from search.gtp.options import EngineOptions
from search.gtp.scoring import Judgement
from search.gtp.table import Table
from tests.search.gtp.client import Client

SETTLED_BOARD = """
    . X X O .
    X X X O O
    . X X O .
    O X X O O
    . X X O .
"""
"""White's stone at A2 is dead; Black has 5 points more without it, and one as it stands: too few for komi."""
KOMI = "komi 2.5"


def set_up(client: Client, rows: str = SETTLED_BOARD) -> None:
    """Puts stones on the client's board."""
    for y, row in enumerate(rows.split("\n")[1:-1]):
        for x, stone in enumerate(row.split()):
            if stone != ".":
                client.play(f"{'b' if stone == 'X' else 'w'} {'ABCDE'[x]}{5 - y}")


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(5, visits=400)


def test_a_settled_game_is_passed(client):
    """By the winner, who does not capture what is dead already, and by the loser, who has nothing to gain."""
    client.ok("clear_board")
    client.ok(KOMI)
    set_up(client)
    for colour in "wb":
        assert client.ok(f"reg_genmove {colour}") != "pass"
        assert client.ok(f"genmove {colour}") == "pass"
    assert client.ok("final_score") == "B+2.5"


def test_an_open_game_is_played_on(client):
    """After the other's pass too."""
    client.ok("clear_board")
    client.ok("komi 0.5")
    client.play("b C3", "w pass")
    assert client.ok("genmove b") == "pass"  # Black has won as it stands
    client.ok("clear_board")
    client.ok("komi 7.5")
    client.play("b C3", "w C2", "b B2", "w D2", "b C1", "w pass")
    assert client.ok("genmove b") != "pass"


def test_who_has_to_capture_does_not_pass(client):
    """With kgs-genmove_cleanup."""
    client.ok("clear_board")
    client.ok(KOMI)
    set_up(client)
    client.play("w pass")
    assert client.ok("kgs-genmove_cleanup b") != "pass"


def test_the_clock_counts_a_judgement_before_the_thinking(client, monkeypatch):
    """It is made in the move's own time, and not at all where that would be too much of it."""
    engine, made = client.engine, []
    judge, think = scoring.judge, engine.thinker.genmove
    monkeypatch.setattr(scoring, "judge", lambda *args, **more: (made.append("judged"), judge(*args, **more))[1])
    monkeypatch.setattr(engine.thinker, "genmove", lambda *args, **more: (made.append("thought"), think(*args, **more))[1])
    for seconds, judging, expected in ((10, 0.1, ["judged", "thought"]), (10, 5.0, ["thought"]), (None, 5.0, ["judged", "thought"])):
        client.ok("clear_board")
        client.ok(KOMI)
        set_up(client)
        client.ok("kata-time_settings none" if seconds is None else f"time_settings 0 {seconds} 1")
        made.clear()
        engine.judging = judging
        client.ok("genmove w")
        assert made == expected
    client.ok("kata-time_settings none")


def test_a_pass_is_in_time_where_there_is_none_to_judge_what_it_ends(client, monkeypatch):
    """With seconds left it would be seen that the pass loses."""
    monkeypatch.setattr(scoring, "judge", lambda *args, **more: pytest.fail("judged"))
    client.ok("clear_board")
    client.ok("komi -650")
    client.ok("time_settings 0 1 1")
    for command in ("genmove b", "kgs-genmove_cleanup b"):
        client.ok("clear_board")
        client.play("w pass")
        client.engine.judging = 1.0
        client.ok(command)
    client.ok("kata-time_settings none")


def choice(table: Table, win_rate: float, *, move: int = 3, playouts: int = 5_000) -> Choice:
    """A choice of that win rate."""
    none = np.zeros(table.size**2 + 1)
    return Choice(move, False, win_rate, none, none, playouts, [move], None)


@pytest.mark.parametrize(
    ("komi", "sureness", "win_rate", "passed", "expected"),
    [
        (-6.5, 0.9, 0.9, False, True),
        (-6.5, SETTLED, 0.9, False, False),
        (-6.5, 0.9, 0.7, False, False),
        (-6.5, 0.9, np.nan, False, False),
        (6.5, 0.9, 0.1, False, True),
        (6.5, 0.9, 0.3, False, False),
        (6.5, 0.9, 0.9, False, False),
        (-NEUTRAL + 0.5, 0.9, 0.9, False, False),
        (-NEUTRAL + 0.5, 0.9, 0.9, True, True),
        (-NEUTRAL, 0.9, 0.9, False, False),
        (-NEUTRAL - 0.5, 0.9, 0.9, False, True),
        (0.0, 0.9, 0.1, True, False),
    ],
)
def test_all_of_it_must_hold(komi, sureness, win_rate, passed, expected):
    """Each point is surely somebody's, the lead is more than a neutral point, and the search agrees; 0 points on an empty board."""
    table = Table(EngineOptions(size=5, komi=komi))
    if passed:
        table.game.play(25, -1)
    found = politely(table, 1, choice(table, win_rate), Judgement([], sureness))
    assert (found.move == 25) == expected
    assert found.variation == ([25] if expected else [3])


def test_it_is_looked_at_late_or_after_a_pass():
    table = Table(EngineOptions(size=5))
    assert not may_be_settled(table, 1)
    table.game.play(25, -1)
    assert may_be_settled(table, 1)
    for point in range(8):
        table.game.play(point)
    assert may_be_settled(table, 1) and int(np.asarray(table.game.turn(1).passes)[0]) == 0


def test_a_game_is_given_up_after_three_hopeless_moves():
    """One that is not, or of few playouts, or none, begins the count anew, and so does a move that was not chosen here."""
    table, resigns, plies = Table(EngineOptions(size=5)), Resignation(0.05), itertools.count(0, 2)
    low, high = choice(table, 0.04), choice(table, 0.06)

    def at(ply: int, chosen: Choice, colour: int = 1) -> bool:
        table.game.moves[:] = [(1, 25)] * ply
        return resigns(table, colour, chosen)

    for between in (high, choice(table, 0.04, playouts=900), choice(table, np.nan)):
        assert [at(next(plies), chosen) for chosen in (low, low, between, low, low, low)] == [False] * 5 + [True]
        next(plies)
    assert [at(next(plies), low) for _ in range(3)] == [False, False, True]
    assert not at(next(plies), low, -1)
    never = Resignation(0.0)
    assert not any(never(table, 1, choice(table, 0.0)) for _ in range(5))


def test_what_was_taken_back_is_no_reason_to_give_up():
    """As where a person tries moves."""
    client = Client(5, resign=0.9)
    table, resigns = client.engine.table, client.engine.resignation
    client.play("b A5", "w B5")
    assert not resigns(table, 1, choice(table, 0.01))
    client.play("b C5", "w D5")
    assert not resigns(table, 1, choice(table, 0.01))
    for _ in range(2):
        client.ok("undo")
    client.play("b C4", "w D4", "b C3", "w D3")
    assert not resigns(table, 1, choice(table, 0.01)), "the third in a row of a game that is no more"


def test_white_gives_no_game_up_in_a_handicaps_opening():
    table, resigns = Table(EngineOptions(size=9)), Resignation(0.05)
    table.place_handicap([20, 24, 56, 60])
    found = []
    for ply in range(0, 40, 2):
        table.game.moves[:] = [(1, 81)] * ply
        found.append(resigns(table, -1, choice(table, 0.01)))
    assert found.index(True) == 27 // 2 + 1 + 2


def test_handicap_stones_may_be_played():
    """As OGS's bots are told of them; White's opening lasts as long as after stones that were set up."""
    table, resigns = Table(EngineOptions(size=9)), Resignation(0.05)
    stones, found = [(1, point) for point in (20, 24, 56, 60)], []
    for ply in range(0, 40, 2):
        table.game.moves[:] = [*stones, *[(-1, 0), (1, 81)] * (ply // 2)]
        assert (table.handicap, table.played) == (4, ply)
        found.append(resigns(table, -1, choice(table, 0.01)))
    assert found.index(True) == 27 // 2 + 1 + 2
    table.game.moves[:] = [(1, 20), (-1, 0)]
    assert (table.handicap, table.played) == (0, 2)


def test_resigns_by_the_protocol():
    client = Client(5, resign=0.9, visits=1_000)
    client.ok("komi 50")
    for _ in range(2):
        assert client.ok("genmove b") not in ("resign", "pass")
        client.play("w pass")
    assert client.ok("kata-search b") != "resign"
    stones = client.board()
    assert client.ok("kata-genmove_analyze b 1").endswith("play resign")
    assert client.board() == stones
    client.ok("kata-set-param resignThreshold -1")
    assert client.ok("genmove b") != "resign"


def test_late_is_when_more_than_a_third_of_the_board_is_played():
    table = Table(EngineOptions(size=5))
    for moves, late in ((8, False), (9, True)):
        table.game.moves[:] = [(1, 3)] * moves
        assert may_be_settled(table, 1) == late


def test_two_stones_have_an_opening_too_and_it_is_whites():
    """Of two stones, too; Black may at once."""
    table = Table(EngineOptions(size=9))
    table.place_handicap([20, 60])
    for colour, expected in ((-1, 27 // 2 + 1 + 2), (1, 2)):
        resigns, found = Resignation(0.05), []
        for ply in range(0, 40, 2):
            table.game.moves[:] = [(1, 81)] * ply
            found.append(resigns(table, colour, choice(table, 0.01)))
        assert found.index(True) == expected


def test_the_game_before_the_move_that_was_taken_back_does_not_count():
    """Nor does the rate where it was noted."""
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok("boardsize 5")
    table, resigns = client.engine.table, client.engine.resignation
    resigns._rate = 0.9
    for black, white in (("A5", "B5"), ("C5", "D5")):
        client.play(f"b {black}", f"w {white}")
        assert not resigns(table, 1, choice(table, 0.01))
    client.play("b C4", "w D4")
    client.ok("undo")
    client.ok("undo")
    client.play("b C3", "w D3")
    assert not resigns(table, 1, choice(table, 0.01))
