"""Mistakes and comparisons: what was better is better, chance is no mistake, and errors are those of playouts side by side."""

import importlib.metadata
import pathlib

import numpy as np
import pytest

import jaxgo
from jaxgo import cli
from jaxgo.commands import mistakes
from jaxgo.commands.mistakes import Loss, most_lost, threshold
from search.game import Game, legal_moves
from tests.jaxgo.commands.documents import documents, error

# . . . . .
# . X X X .
# X O O O .   Black could capture at E3; he plays at A1, and White goes there.
# . X X X .
# . . . . .
BLUNDER = "(;SZ[5]KM[15.5]AB[bb][cb][db][ac][bd][cd][dd]AW[bc][cc][dc]PL[B];B[ae];W[ec])"

SUPERKO = (
    "(;KM[0.5]SZ[4];B[ab];W[cc];B[tt];W[cb];B[bb];W[dc];B[ba];W[tt];B[da];W[bd];B[ad];W[db];B[cd];W[ca];B[bc];W[tt];B[dd];W[bd]"
    ";B[ac])"
)


@pytest.fixture
def blunder(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "blunder.sgf"
    path.write_text(BLUNDER)
    return str(path)


def test_a_blunder_is_found_and_what_was_better(capsys, blunder: str, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.sgf"
    (document,) = documents(capsys, blunder, "--mistakes", "3", "--playouts", "2000", "--sgf", str(out))
    found = document["mistakes"]
    assert (found["judge"], found["judged"]) == ("playouts", 2) and found["threshold"] == pytest.approx(1.96, abs=0.01)
    first = found["losses"][0]
    assert (first["move"], first["colour"], first["point"]) == (1, "B", "A1")
    assert first["better"] == "E3" and first["loss"] > 5 * first["loss_error"] > 0
    assert first["loss"] == pytest.approx(first["better_win_rate"] - first["win_rate"])
    # The library says the same of the two moves: within five standard errors.
    record = jaxgo.read_game(blunder)
    rates = [
        jaxgo.evaluate(record.position(0).play([jaxgo.point(name, 5)]), 2000, komi=15.5, seed=9)
        for name in (first["better"], first["point"])
    ]
    difference, error = rates[0].win_rate - rates[1].win_rate, np.hypot(*(rate.win_rate_error for rate in rates))
    assert abs(difference[0] - first["loss"]) < 5 * np.hypot(error[0], first["loss_error"])
    text = out.read_text()
    assert "BM[1]" in text and f"{first['better']} was better: this move loses" in text and text.count("TE[1]") >= 1


def test_what_superko_forbids_is_not_better(capsys, tmp_path: pathlib.Path) -> None:
    """At C1 Black would win all, but the position has been there, after move 10; `Game` says so too."""
    game = tmp_path / "superko.sgf"
    game.write_text(SUPERKO)
    record = jaxgo.read_game(game)
    played = Game.of_record(record, 18, 0.5)
    forbidden = np.flatnonzero(np.asarray(played.position.legal())[0] & ~legal_moves(played.position, played.history))
    assert [jaxgo.coordinate(point, 4) for point in forbidden] == ["C1"]
    (document,) = documents(capsys, str(game), "--mistakes", "9", "--playouts", "8000")
    assert "C1" not in [loss["better"] for loss in document["mistakes"]["losses"] if loss["move"] == 19]
    assert cli.main(["evaluate", str(game), "--move", "18", "--compare", "A2,C1"]) == 2
    assert "--compare A2,C1: C1 repeats an earlier position after 18 moves" in capsys.readouterr().err
    assert cli.main(["evaluate", str(game), "--move", "18", "--compare", "A2,D1", "--playouts", "50"]) == 0


def test_a_decided_game_takes_no_more_playouts_than_another(capsys, blunder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many moves win all of so few playouts: no more go on for that."""
    told = []

    class Counted(mistakes._Counted):
        def __call__(self, done: int, total: int) -> None:
            super().__call__(done, total)
            told.append((self.before + done, self.total))

    monkeypatch.setattr(mistakes, "_Counted", Counted)
    assert cli.main(["evaluate", blunder, "--mistakes", "3", "--playouts", "4000", "--komi", "-170"]) == 0
    assert len(told) >= 3 and all(done <= total for done, total in told)


def test_the_table_of_mistakes(capsys, blunder: str) -> None:
    assert cli.main(["evaluate", blunder, "--mistakes", "1", "--playouts", "2000"]) == 0
    said = capsys.readouterr().out
    assert "the moves that lost most of 2, judged by playouts, each more than 2.0 standard errors" in said
    (line,) = [line for line in said.splitlines() if "B A1" in line and "%" in line]
    assert line.split()[0] == "1"


def test_chance_is_no_mistake() -> None:
    def loss(move: int, lost: float, error: float) -> Loss:
        return Loss(move, 1, 0, 1, 0.5 - lost, 0.5, lost, error, 0.0, 1.0)

    losses = [loss(1, 0.02, 0.01), loss(2, 0.05, 0.01), loss(3, 0.0, 0.0), loss(4, 0.08, 0.01), loss(5, 0.5, 0.4)]
    assert [x.move for x in most_lost(losses, 3.0, 5)] == [4, 2]
    assert [x.move for x in most_lost(losses, 3.0, 1)] == [4]
    assert threshold(50) == pytest.approx(3.0902, abs=1e-3)  # one in a thousand


def test_a_game_without_mistakes(capsys, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty board's moves that are equal by symmetry: none is told of, however many there are."""
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[2];B[aa])")
    assert cli.main(["evaluate", str(path), "--mistakes", "5", "--playouts", "200"]) == 0
    assert "no mistakes: of 1 moves none lost more than" in capsys.readouterr().out
    path.write_text("(;SZ[2])")
    (document,) = documents(capsys, str(path), "--mistakes", "5", "--playouts", "200")
    assert document["mistakes"]["judged"] == 0 and document["mistakes"]["losses"] == []


def test_interrupted_among_the_mistakes(capsys, blunder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mistakes, "by_playouts", interrupted)
    (document,) = documents(capsys, blunder, "--mistakes", "5", "--playouts", "200", status=130)
    assert document["complete"] is False and "mistakes" not in document and document["positions"]


def test_moves_compared(capsys, blunder: str) -> None:
    arguments = [blunder, "--move", "0", "--playouts", "2000", "--compare"]
    (document,) = documents(capsys, *arguments, "A1,e3,pass")
    first, second, third = document["compared"]
    assert [x["point"] for x in document["compared"]] == ["A1", "E3", "pass"] and first["colour"] == "B"
    assert first["win_rate_difference"] == first["win_rate_difference_error"] == 0
    played = jaxgo.evaluate(jaxgo.read_game(blunder).position(0).play([14]), 2000, komi=15.5, streams=[0])
    assert second["win_rate"] == pytest.approx(played.win_rate[0])
    assert second["lead"] == pytest.approx(played.margin_mean[0] - 15.5)
    assert second["win_rate_difference"] == pytest.approx(second["win_rate"] - first["win_rate"])
    for move in (second, third):
        assert 0 < move["win_rate_difference_error"] < 1.5 * np.hypot(move["win_rate_error"], first["win_rate_error"])
    (turned,) = documents(capsys, *arguments, "e3,a1")
    assert turned["compared"][1]["win_rate_difference"] == pytest.approx(-second["win_rate_difference"])
    assert cli.main(["evaluate", *arguments, "A1,E3"]) == 0
    assert "wins more than A1" in capsys.readouterr().out


TURNED = "(;SZ[5]KM[-15.5]AW[bb][cb][db][ac][bd][cd][dd]AB[bc][cc][dc]PL[W];W[ae];B[ec];W[];B[];W[aa])"


@pytest.fixture
def turned(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "turned.sgf"
    path.write_text(TURNED)
    return str(path)


def test_whites_blunder_is_one_too(capsys, turned: str) -> None:
    """And the passes that end a game, and what comes after them, are none."""
    (document,) = documents(capsys, turned, "--mistakes", "3", "--playouts", "2000")
    found = document["mistakes"]
    assert found["judged"] == 3, "not the second pass, nor the move after it"
    (first,) = [loss for loss in found["losses"] if loss["move"] == 1]
    assert (first["colour"], first["point"], first["better"]) == ("W", "A1", "E3")
    assert first["loss"] == pytest.approx(first["better_win_rate"] - first["win_rate"])
    assert first["lead_loss"] > 5 * first["lead_loss_error"] > 0


def test_of_moves_that_lost_alike_the_earlier_comes_first() -> None:
    losses = [Loss(move, 1, 0, 1, 0.2, 0.5, 0.3, 0.01, 0.0, 1.0) for move in (7, 3, 5)]
    assert [x.move for x in most_lost(losses, 3.0, 2)] == [3, 5]


def test_what_is_compared_at_last_has_chosen_nothing(capsys, blunder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Playouts of other numbers, enough of them, and the same for both."""
    asked, compare = [], mistakes.compare

    def noted(after, count, **options):
        asked.append((count, options["first_playout"], options["streams"].tolist()))
        return compare(after, count, **options)

    monkeypatch.setattr(mistakes, "compare", noted)
    for playouts in (100, 4000):
        documents(capsys, blunder, "--mistakes", "3", "--playouts", str(playouts))
    (few, after_few, streams), (many, after_many, _) = asked
    assert (few, many) == (mistakes.LEAST_OF_PAIR, 1000) and streams == [0, 1][: len(streams)]
    assert after_few == 2 * mistakes.LEAST and after_many > 4000 // 4 // mistakes.GO_ON


def test_a_judge_that_cannot_be_loaded_is_told(capsys, blunder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [importlib.metadata.EntryPoint("broken", "no_such_module:judge", mistakes.GROUP)]
    found = importlib.metadata.entry_points

    def entry_points(**wanted):
        return importlib.metadata.EntryPoints(entries) if wanted == {"group": mistakes.GROUP} else found(**wanted)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    arguments = [blunder, "--mistakes", "1", "--playouts", "50", "--judge"]
    said = error(capsys, *arguments, "broken")
    assert said == "--judge broken: the judge (no_such_module:judge) cannot be loaded: No module named 'no_such_module'"


def test_whites_moves_compared(capsys, turned: str) -> None:
    """By White's results, with the random numbers of the position's own stream."""
    arguments = [turned, "--move", "2", "--playouts", "500", "--komi", "-4.5", "--compare"]
    (document,) = documents(capsys, *arguments, "E1,pass")
    assert [x["colour"] for x in document["compared"]] == ["W", "W"]
    after = jaxgo.read_game(turned).position(2).play([jaxgo.point("E1", 5)])
    played = jaxgo.evaluate(after, 500, komi=-4.5, streams=[2])
    assert document["compared"][0]["win_rate"] == pytest.approx(1 - played.win_rate[0])
    assert document["compared"][0]["lead"] == pytest.approx(-4.5 - played.margin_mean[0])
