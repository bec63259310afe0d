"""The end of the game: passes, dead stones, seki, the score."""

import numpy as np
import pytest

import jaxgo
from jaxgo.board.stones import chains
from jaxgo.results.statuses import ALIVE, DEAD
from search import Game
from search.gtp import scoring
from search.gtp.options import EngineOptions
from search.gtp.table import Table
from tests.search.gtp.client import Client
from tests.search.tactics import SEKI


def test_genmove_takes_a_won_pass_and_cleanup_does_not():
    """Black has won as it stands when White passes; White's stone at E1 is dead."""
    client = Client(5, visits=400)
    client.ok("komi 0.5")
    client.play(*(f"b {x}{y}" for x in "ABCDE" for y in (3, 4)), "w E1", "w pass")
    assert client.ok("reg_genmove b") == "pass"
    client.ok("genmove b")
    assert client.engine.table.game.over
    client.ok("undo")
    assert client.ok("kgs-genmove_cleanup b") != "pass"


def test_does_not_pass_into_a_loss():
    """White has passed, and Black's two stones win as long as they stand; but they are dead."""
    client = Client(5, visits=400)
    for y, row in enumerate((".OO.O", ".OOOO", "XO.OO", ".OOOO", "XOOOO")):
        client.play(*(f"{'b' if stone == 'X' else 'w'} {'ABCDE'[x]}{5 - y}" for x, stone in enumerate(row) if stone != "."))
    client.play("w pass")
    client.ok("komi -20")
    assert client.ok("final_status_list dead").split() == ["A3", "A1"]
    assert client.ok("final_score") == "W+5"
    assert client.ok("genmove b") != "pass"
    client.ok("undo")
    client.ok("komi -26")
    assert client.ok("genmove b") == "pass"


def test_dead_stones_are_found_and_taken_off():
    """White's stone inside Black's ground is dead; the rest lives."""
    client = Client(5)
    rows = [".XXO.", "XXXOO", ".XXO.", "OXXOO", ".XXO."]
    position = jaxgo.Position.from_ascii("\n".join(rows))
    for y, row in enumerate(rows):
        for x, stone in enumerate(row):
            if stone != ".":
                client.play(f"{'b' if stone == 'X' else 'w'} {'ABCDE'[x]}{5 - y}")
    assert client.board() == "\n".join(rows)
    assert client.ok("final_status_list dead") == "A2"
    assert client.ok("final_status_list seki") == ""
    alive = client.ok("final_status_list alive").split("\n")
    assert sorted(" ".join(alive).split()) == sorted(_names(position, exclude="A2"))
    dead_off = jaxgo.Position.from_ascii("\n".join(rows).replace("OXXOO", ".XXOO"))
    margin = int(np.asarray(dead_off.score())[0]) - 7.5
    assert client.ok("final_score") == f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"
    strict = Client(5, cleanup=True)
    strict.engine.table.game = client.engine.table.game
    assert strict.ok("final_status_list dead") == ""
    margin = int(np.asarray(position.score())[0]) - 7.5
    assert strict.ok("final_score") == f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"


@pytest.mark.parametrize("mover", [1, -1])
def test_a_seki_is_found_whoever_is_to_move(mover):
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok("boardsize 7")
    client.engine.table.game = Game(jaxgo.Position.from_ascii(SEKI, to_play=mover))
    assert client.ok("final_status_list dead") == ""
    seki = client.ok("final_status_list seki").split("\n")
    assert [chain.split()[0] for chain in seki] == ["A5", "E4"]
    margin = int(np.asarray(client.engine.table.game.position.score())[0]) - 7.5
    assert client.ok("final_score") == f"W+{-margin:g}"


def _names(position: jaxgo.Position, exclude: str) -> list[str]:
    stones = np.asarray(position.to_array())[0]
    size = position.size
    names = [f"{'ABCDEFGHJ'[x]}{size - y}" for y, x in np.argwhere(stones != 0)]
    return [name for name in names if name != exclude]


def test_a_score_is_told_to_the_half_point_whatever_the_komi():
    client = Client(size=5, visits=8, seed=1)
    client.ok("komi 123456.5")
    assert client.ok("get_komi") == "123456.5"
    assert client.ok("final_score") == "W+123456.5"
    assert client.fails("komi 1000001") == "syntax error"


def test_a_draw_is_0():
    client = Client(5)
    client.ok("komi 0")
    assert client.ok("final_score") == "0"
    client.ok("komi -2.5")
    assert client.ok("final_score") == "B+2.5"


def test_a_point_that_whoever_moves_gets_is_nobodys(monkeypatch):
    owners = np.full((2, 1, 3, 3), 0.9)
    monkeypatch.setattr(scoring, "settled", lambda boards, owners_of: ([[]], owners))
    owners[1, 0, 1, 1] = 0.6
    assert scoring.judge(jaxgo.Position.empty(3)).sureness == 0.6
    owners[:, 0, 1, 1] = 0.8, -0.7
    assert scoring.judge(jaxgo.Position.empty(3)).sureness == 0


def test_what_lies_between_the_living_and_the_dead_is_whose_it_will_be():
    """White's stone at G6 is dead, and those in the corner may live: Black's area is not nobody's for that."""
    table = Table(EngineOptions(size=7, komi=0))
    board = jaxgo.Position.from_ascii("""
        . O X . . . .
        O O X . . . O
        O O X . . . .
        O O X X X X .
        O O O O O X .
        . O X X X X .
        . O X . O O .
    """).to_array()
    table.game = Game(jaxgo.Position.from_array(board), 0)
    stones = np.asarray(board)[0]
    owners = np.where(stones == 0, 0.9, stones)
    owners[:3, :3] = np.where(stones[:3, :3] == 0, -1.0, stones[:3, :3])
    owners[5, 0] = owners[6, 0] = -1.0
    owners[1, 6] = 0.9
    owners[6, 3:] = owners[5, 6] = 0.1
    all_chains = chains(stones)
    dead = [(chain, DEAD if chain == [13] else ALIVE) for chain in all_chains]
    plain = scoring.score(table, scoring.Judgement(dead, 0.0))
    assert scoring.score(table, scoring.Judgement(dead, 0.0, owners)) == plain + 14
    assert scoring.score(table, scoring.Judgement([(chain, ALIVE) for chain in all_chains], 0.0, owners)) == scoring.score(table)


def test_owners_are_the_mean_of_who_moves_first(monkeypatch):
    owners = np.zeros((2, 1, 3, 3))
    owners[:, 0, 1, 1], owners[:, 0, 0, 2] = (0.75, -0.25), (-1.0, -0.5)
    monkeypatch.setattr(scoring, "settled", lambda boards, owners_of: ([[]], owners))
    found = scoring.judge(jaxgo.Position.empty(3)).owners
    assert (found[1, 1], found[0, 2], found[0, 0]) == (0.25, -0.75, 0.0)
    assert scoring.judge(jaxgo.Position.empty(3), all_live=True).owners is None
