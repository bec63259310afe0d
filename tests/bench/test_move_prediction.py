"""Weights of moves that are fitted to games, and how well they tell moves."""

import json

import numpy as np
import pytest

import jaxgo
from bench import move_prediction
from jaxgo.playing.policies import pattern_table
from search import MoveWeights
from search.features import FEATURES
from search.shapes import turned_sides
from tests.referee import Game
from tests.scalar_features import distance, features, number_of_pattern, number_of_shape, number_of_sides, turned_shapes

#: Captures that save, passes, and a game of one move.
GAMES = """
(;SZ[5]KM[0.5];B[cc];W[cb];B[bb];W[db];B[ca];W[dc];B[];W[cd];B[dd];W[bc];B[bd])
(;SZ[5]KM[0.5];B[cc];W[cb];B[bb];W[db];B[ca];W[dc];B[ed])
(;SZ[5]KM[0.5];B[bb];W[bc];B[cb];W[cc])
(;SZ[5]KM[0.5];B[aa])
(;SZ[5]KM[0.5];B[cc];W[bc];B[bb];W[cb];B[ac];W[bd];B[ab];W[dc])
"""


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.sgf"
    path.write_text(GAMES)
    return path


def test_moves_are_the_referees(games):
    """All that may be useful, in order, with what a scalar version says of each; the move played among them."""
    moves, row, position = move_prediction.read(games, 1), 0, 0
    alike = pattern_table.alike()
    of_patterns, of_last, of_before, of_sides, of_shapes = move_prediction.COLUMNS[2:].tolist()
    for number, line in enumerate(GAMES.split(), start=1):
        record, game, points = jaxgo.read_game(line.encode()), Game(5), [-1, -1]
        for k, (_, point) in enumerate(record.moves):
            if k >= 1 and point != 25:
                said, candidates = features(game), game.candidates()
                assert moves.first[position] == row and moves.game[position] == number
                assert moves.played[position] == row + candidates.index(point)
                for move in candidates:
                    edge = min(move // 5, move % 5, 4 - move // 5, 4 - move % 5)
                    of_move = [i for i, name in enumerate(FEATURES) if move in said.get(name, [])]
                    of_move += [len(FEATURES) + edge, of_patterns + alike[number_of_pattern(game, move)]]
                    for begin, other in zip((of_last, of_before), points[:-3:-1]):
                        of_move += [begin + distance(5, move, other)] if other >= 0 else []
                    sides = number_of_sides(game, move)
                    least = min(turned_sides(np.array([sides]), turn)[0] for turn in range(8))
                    shape = min(turned_shapes(number_of_shape(game, move)))
                    of_move += [of_sides + least, of_shapes + moves.shapes.tolist().index(shape)]
                    assert moves.said[row].indices.tolist() == of_move
                    row += 1
                position += 1
            game.play(point)
            points.append(point if point != 25 else -1)
    assert row == moves.said.shape[0] and position == len(moves.game)


def test_a_second_move_of_the_same_player_is_left_out(tmp_path):
    path = tmp_path / "twice.sgf"
    path.write_text("(;SZ[5]KM[0.5];B[cc];W[cb];B[bb];B[dd];W[aa])")
    moves = move_prediction.read(path, 0)
    assert np.diff(np.append(moves.first, moves.said.shape[0])).tolist() == [25, 24, 23, 21]


def test_chances_and_their_gradient_are_those_of_a_logit(games):
    """By hand, position by position; and what is fitted cannot be bettered by a step along any weight that matters."""
    moves = move_prediction.read(games, 1)
    weights = np.random.default_rng(2).normal(size=moves.said.shape[1])
    each, logarithms = move_prediction.chances(moves, weights)
    for i, first in enumerate(moves.first):
        last = np.append(moves.first, len(each))[i + 1]
        strengths = np.exp(moves.said[first:last] @ weights)
        assert np.allclose(each[first:last], strengths / strengths.sum())
        assert logarithms[i] == pytest.approx(np.log(each[moves.played[i]]))

    def loss(weights):
        return move_prediction.PENALTY / 2 * weights @ weights - move_prediction.chances(moves, weights)[1].sum()

    fitted = move_prediction.fit(moves)
    assert np.count_nonzero(fitted) > 5
    for column in np.flatnonzero(fitted):
        for step in (-0.05, 0.05):
            other = fitted.copy()
            other[column] += step
            assert loss(other) > loss(fitted)


def test_some_positions_are_as_among_all(games):
    moves = move_prediction.read(games, 0)
    wanted = moves.game != 2
    some, weights = moves.of(wanted), np.random.default_rng(3).normal(size=moves.said.shape[1])
    assert np.array_equal(move_prediction.chances(some, weights)[1], move_prediction.chances(moves, weights)[1][wanted])
    assert set(some.game.tolist()) == {1, 3, 4, 5}


def test_a_document_and_weights_are_written(games, tmp_path, capsys):
    out = tmp_path / "weights.npz"
    assert move_prediction.main([str(games), "--from", "1", "--output", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["settings"]["left_out"] == 7 and document["settings"]["positions"] == 25
    assert [each["weights"] for each in document["results"]][0] == "none"
    for each in document["results"]:
        assert 0 <= each["first_1"] <= each["first_3"] <= each["first_5"] <= 1
    assert document["results"][0]["surprise"] > document["results"][-1]["surprise"], "what was learnt elsewhere tells something"
    weights = MoveWeights.load(out)
    assert weights != MoveWeights.fitted() and (weights.patterns == weights.patterns[pattern_table.alike()]).all()
    assert move_prediction.main([str(games), "--from", "1"]) == 0
    assert "25 positions, of which 7 were left out" in capsys.readouterr().out


@pytest.mark.wide
def test_the_weights_that_come_with_jaxgo_are_fitted_to_its_games():
    """But for a step or two where the search for the best ended a little elsewhere."""
    moves = move_prediction.read(move_prediction.GAMES, move_prediction.RANDOM_MOVES)
    fitted, ours = move_prediction.in_units(move_prediction.fit(moves), moves.shapes), MoveWeights.fitted()
    for name in ("features", "lines", "patterns", "distances", "sides"):
        assert np.abs(getattr(fitted, name).astype(int) - getattr(ours, name)).max() <= 2
    mine, theirs = (dict(zip(x.shapes.tolist(), x.shape_weights.tolist())) for x in (fitted, ours))
    assert max(abs(mine.get(shape, 0) - theirs.get(shape, 0)) for shape in mine | theirs) <= 2


@pytest.mark.parametrize(("text", "what"), [
    ("(;SZ[5]KM[0.5];B[cc])", "has no moves from number 6 on"), ("nothing", "game 1: "),
    ("(;SZ[5];B[aa];W[ab])\n(;SZ[9];B[aa];W[ab])", "must have games of one board size"), ("(;SZ[5];B[aa];W[ab])", "must have moves of 5 games"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path, capsys, text, what):
    path = tmp_path / "other.sgf"
    path.write_text(text)
    with pytest.raises(SystemExit, match="2"):
        move_prediction.main([str(path), *(["--from", "0"] if "ab" in text else [])])
    assert what in capsys.readouterr().err


def test_what_cannot_be_written_is_told_before_anything_is_fitted(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        move_prediction.main(["--output", "missing/weights.npz"])
    assert "--output missing/weights.npz must be a file in a folder that is there" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        move_prediction.main(["--output", str(tmp_path)])
    assert f"--output {tmp_path} must be a file in a folder" in capsys.readouterr().err
