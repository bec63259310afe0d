"""How near playouts come to a stronger program's judgement."""

import json
import math
import types

import numpy as np
import pytest

import jaxgo
from bench import judgement
from bench.judgement import Judged
from jaxgo.base.constants import STAY

#: Of the first game all positions but one have been judged, of the second one.
GAMES = """
(;SZ[5]KM[0.5]SBKV[60.0];B[cc]SBKV[70.0];W[aa]SBKV[75.5];B[bb];W[ea]SBKV[90.0])
(;SZ[5]KM[0.5];B[cc];W[cd];B[bd]SBKV[40];W[dc];B[])
"""


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "judged.sgf"
    path.write_text(GAMES)
    return path


def test_what_was_judged_is_read(games):
    judged = judgement.read(games)
    assert judged.win_rate.tolist() == [0.6, 0.7, 0.755, 0.9, 0.4]
    assert judged.game.tolist() == [1, 1, 1, 1, 2]
    assert judged.move.tolist() == [0, 1, 2, 4, 3]
    assert judged.komi == 0.5
    assert np.asarray(judged.positions.to_play).tolist() == [1, -1, 1, 1, -1]
    stones = (np.asarray(judged.positions.to_array()) != 0).sum(axis=(1, 2)).tolist()
    assert stones == [0, 1, 2, 4, 3]


def test_last_moves_are_the_other_players(tmp_path):
    """Where a player moves twice, and where nodes hold no move; playouts begin from the positions that were judged."""
    path = tmp_path / "twice.sgf"
    path.write_text("(;SZ[5]KM[0.5]SBKV[50];B[cc]SBKV[60];C[a remark]SBKV[61];B[bb]SBKV[70];B[dd]SBKV[80];W[aa]SBKV[90])")
    judged = judgement.read(path)
    assert judged.move.tolist() == [0, 1, 1, 2, 3, 4]
    assert np.asarray(judged.positions.to_play).tolist() == [1, 1, 1, 1, -1, 1]
    assert judged.last.tolist() == [STAY, STAY, STAY, STAY, 18, 0]
    stones = [(np.asarray(x.to_array()) != 0).sum(axis=(1, 2)).tolist() for x in (judged.before, judged.positions)]
    assert stones == [[0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 3, 4]]


@pytest.mark.parametrize(("text", "what"), [
    ("(;SZ[5]KM[0.5];B[cc])", "has no position with a win rate"),
    ("(;SZ[5]KM[0.5]SBKV[50])\n(;SZ[9]KM[0.5]SBKV[50])", "of one board size and komi"),
    ("(;SZ[5]KM[0.5]SBKV[50])\n(;SZ[5]KM[7.5]SBKV[50])", "of one board size and komi"),
    ("(;SZ[5]SBKV[50])", "of one board size and komi"),
    ("(;SZ[5]KM[0.5])\n(;SZ[5]KM[0.5]SBKV[nan])", "game 2: SBKV must be a win rate from 0 to 100, not 'nan'"),
    ("(;SZ[5]KM[0.5]SBKV[101])", "game 1: SBKV must be a win rate from 0 to 100, not '101'"),
    ("(;SZ[5]KM[0.5];B[cc];W[cc]SBKV[50])", "game 1: "),
    ("/etc/hostname", "game 1: the given text is not an SGF game record"),
    ("", "has no position with a win rate"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path, capsys, text, what):
    path = tmp_path / "other.sgf"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        judgement.main([str(path)])
    assert ended.value.code == 2
    assert what in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "what"), [
    (["missing.sgf"], "missing.sgf cannot be read"), (["--policy", "best"], "--policy best: policy must be of"), (["--playouts", "0"], "--playouts"),
])  # fmt: skip
def test_bad_input_is_refused_at_the_door(capsys, arguments, what):
    with pytest.raises(SystemExit) as ended:
        judgement.main(arguments)
    assert ended.value.code == 2
    assert what in capsys.readouterr().err


def test_win_rates_that_are_the_judges_but_for_a_curve_fall_short_of_nothing():
    judged = np.linspace(0.05, 0.95, 50)
    odds = 0.3 * judgement.log_odds(judged) - 0.4
    told = judgement.calibrated(1 / (1 + np.exp(-odds)), judged)
    assert np.abs(told - judged).max() < 1e-6
    assert judgement.shortfall(told, judged).max() < 1e-9


def test_win_rates_that_tell_nothing_leave_the_mean():
    """And so what is short is the mean's entropy less the judge's."""
    judged = np.array([0.2, 0.9, 0.7, 0.6])
    told = judgement.calibrated(np.full(4, 0.3), judged)
    assert np.abs(told - judged.mean()).max() < 1e-6

    def entropy(rate: float) -> float:
        return -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)

    assert judgement.shortfall(told, judged).mean() == pytest.approx(entropy(judged.mean()) - np.mean([entropy(x) for x in judged]))


def test_a_curve_is_found_from_far_away():
    """Where Newton's own steps lead away: few win rates, nearly all of them the judge's surest."""
    judged = np.array([0.995, 0.995, 0.995, 0.005, 0.5])
    rates = np.array([0.9999, 0.9998, 0.9999, 0.0001, 0.9997])
    told = judgement.calibrated(rates, judged)
    assert judgement.shortfall(told, judged).mean() < judgement.shortfall(np.full(5, judged.mean()), judged).mean()


def test_what_does_not_vary_has_no_correlation(tmp_path, capsys):
    path = tmp_path / "one.sgf"
    path.write_text("(;SZ[5]KM[0.5]SBKV[100])")
    assert judgement.main([str(path), "--policy", "uniform", "--playouts", "64", "--json"]) == 0
    (uniform,) = json.loads(capsys.readouterr().out)["results"]
    assert uniform["correlation"] is uniform["difference_error"] is None and uniform["short"] < 1e-6
    assert judgement.main([str(path), "--policy", "uniform", "--playouts", "64"]) == 0
    assert "-" in capsys.readouterr().out


@pytest.mark.wide
def test_policies_are_measured_side_by_side(games, capsys):
    assert judgement.main([str(games), "--policy", "uniform", "--policy", "patterns:0.5:match", "--playouts", "64", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["settings"]["positions"] == 5 and document["settings"]["playouts"] == 64
    uniform, patterns = document["results"]
    assert (uniform["policy"], patterns["policy"]) == ("uniform", "patterns:0.5:match")
    assert uniform["difference"] == uniform["difference_error"] == 0
    assert patterns["difference"] == pytest.approx(patterns["short"] - uniform["short"]) != 0
    for each in document["results"]:
        assert 0 < each["short"] < 1 and -1 <= each["correlation"] <= 1
        assert each["phases"][0] == pytest.approx(each["short"]) and each["phases"][1:] == [None] * 3
    assert judgement.main([str(games), "--policy", "uniform", "--playouts", "64"]) == 0
    assert "5 positions" in capsys.readouterr().out


def test_win_rates_are_blacks_whoever_is_to_move(tmp_path):
    """As `jaxgo.evaluate` has them, within six standard errors."""
    path = tmp_path / "ahead.sgf"
    path.write_text("(;SZ[5]KM[-10.5]SBKV[50];B[cc]SBKV[50];W[aa]SBKV[50];B[bc]SBKV[50])")
    judged = judgement.read(path)
    expected = jaxgo.evaluate(judged.positions, 4000, komi=-10.5).win_rate
    assert expected.min() > 0.57 and np.abs(judgement.win_rates(judged, None, 1000) - expected).max() < 0.1


def test_errors_are_over_games_and_phases_begin_with_the_moves_that_they_name(monkeypatch):
    """Worked out by hand: 0.1, 0, 0.2 and 0.3 more than the first, 0.15 in the mean; the games add -0.15 and 0.15 beyond it."""
    short = iter([np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.2, 0.5, 0.7])])
    monkeypatch.setattr(judgement, "win_rates", lambda judged, policy, playouts: next(short))
    monkeypatch.setattr(judgement, "calibrated", lambda rates, judged: rates)
    monkeypatch.setattr(judgement, "shortfall", lambda told, judged: told)
    rates, games, moves = np.array([0.2, 0.4, 0.6, 0.9]), np.array([1, 1, 1, 2]), np.array([0, 13, 14, 42])
    judged = Judged(types.SimpleNamespace(size=9), None, np.zeros(4), rates, games, moves, 7.5)
    first, second = judgement.measure(judged, ["uniform", "capture"], 8)
    assert first["phases"] == [pytest.approx(0.15), 0.3, None, 0.4] and first["difference_error"] == 0
    assert second["difference"] == pytest.approx(0.15)
    assert second["difference_error"] == pytest.approx(np.sqrt(2 * 0.15**2) * np.sqrt(2) / 4)
