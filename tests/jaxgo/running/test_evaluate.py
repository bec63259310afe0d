"""`jaxgo.evaluate`: its sums are exactly those of the playouts it stands for; progress, interruption."""

import dataclasses

import numpy as np
import pytest

import jaxgo
from jaxgo.results.sums import zero_sums
from jaxgo.running import pieces
from jaxgo.running.evaluate import _NOTHING, _adding, _joined, _side_by_side
from tests import referee
from tests.positions import FEW, OTHER_SIZES, SIZES, from_games, middle_game, three_positions
from tests.referee import Game
from tests.wide import mostly_wide, wide

DIAGRAM = """
    . X O X .
    O O O X .
    X X X O O
    X . X . O
    . X O O .
"""


def expected_evaluation(
    position: jaxgo.Position, num_playouts: int, *, komi: float, max_plies: int | None = None, **options
) -> dict[str, np.ndarray]:
    """What `evaluate` should say, computed with numpy from the recorded moves and final boards of the same playouts."""
    played = jaxgo.playouts(position, num_playouts, moves=True, max_plies=max_plies, **options)
    num_points, size = position.size**2, position.size
    margin = played.margin.astype(np.int64)
    wins = np.where(margin > komi, 1.0, np.where(margin == komi, 0.5, 0.0))
    visits = np.zeros((position.batch, 2, num_points), np.int64)
    amaf_wins = np.zeros((position.batch, 2, num_points))
    for index, to_play in enumerate(np.asarray(position.to_play)):
        first = first_plays(played.moves[index], num_points)
        for colour in (1, -1):
            plane = 0 if colour == 1 else 1
            credited = (first >= 0) & (np.where(first % 2 == 0, to_play, -to_play) == colour)
            won = wins[index] if colour == 1 else 1.0 - wins[index]
            visits[index, plane] = credited.sum(axis=0)
            amaf_wins[index, plane] = (credited * won[:, None]).sum(axis=0)
    histogram = np.stack([np.bincount(row, minlength=2 * num_points + 1) for row in margin + num_points])
    return {
        "num_playouts": np.full(position.batch, num_playouts),
        "win_rate": wins.mean(axis=1),
        # Of the mean of independent results: draws are results of their own, not coin tosses.
        "win_rate_error": wins.std(axis=1) / np.sqrt(num_playouts),
        "margin_mean": margin.mean(axis=1),
        "margin_std": margin.std(axis=1),
        "margin_histogram": histogram,
        "ownership": np.stack([owners(boards, size) for boards in played.board]),
        "length_mean": played.length.mean(axis=1),
        "truncated": played.truncated.mean(axis=1),
        "amaf_visits": visits.reshape(-1, 2, size, size),
        "amaf_wins": amaf_wins.reshape(-1, 2, size, size),
    }


def first_plays(moves: np.ndarray, num_points: int) -> np.ndarray:
    """int64 [playouts, P]: the ply at which each point was first played by either colour, -1 for never."""
    first = np.full((len(moves), num_points + 1), -1)
    rows = np.arange(len(moves))
    for ply in reversed(range(moves.shape[1])):
        # The column of passes also takes the padding, and is dropped.
        first[rows, np.where(moves[:, ply] < 0, num_points, moves[:, ply])] = ply
    return first[:, :num_points]


def owners(boards: np.ndarray, size: int) -> np.ndarray:
    """float [N, N]: the mean owner of each point over the final boards, by the referee's area scoring."""
    distinct, counts = np.unique(boards.reshape(len(boards), -1), axis=0, return_counts=True)
    areas = np.array([Game(size, board).area() for board in distinct])
    return ((areas * counts[:, None]).sum(axis=0) / len(boards)).reshape(size, size)


EXACT = ("num_playouts", "margin_histogram", "amaf_visits", "amaf_wins")
"""Integers, or halves of integers."""


def assert_equal(evaluation: jaxgo.Evaluation, expected: dict[str, np.ndarray]) -> None:
    """Asserts that an evaluation is the expected one: counts exactly, ratios to the last digits of a float64."""
    for name, array in expected.items():
        actual = getattr(evaluation, name)
        assert actual.shape == array.shape, name
        if name in EXACT:
            np.testing.assert_array_equal(actual, array, err_msg=name)
        else:
            np.testing.assert_allclose(actual, array, rtol=1e-9, atol=1e-12, err_msg=name)


def assert_identical(actual: jaxgo.Evaluation, expected: jaxgo.Evaluation, select=lambda array: array) -> None:
    """Asserts that two evaluations are equal bit by bit; `select` picks the part of the expected arrays that is meant."""
    for name in EXACT + ("win_rate", "win_rate_error", "margin_mean", "margin_std", "ownership", "length_mean", "truncated"):
        np.testing.assert_array_equal(getattr(actual, name), select(getattr(expected, name)), err_msg=name, strict=True)


# The sums.


@pytest.mark.parametrize("size", mostly_wide(SIZES, {5, 9}))
@pytest.mark.parametrize("komi", [7.5, 0.0, *wide(-3.0, 6.25)])
def test_evaluations_sum_up_the_playouts(size, komi):
    position = three_positions(size)
    evaluation = jaxgo.evaluate(position, SIZES[size], komi=komi, seed=1)
    assert evaluation.komi == komi and evaluation.complete
    assert_equal(evaluation, expected_evaluation(position, SIZES[size], komi=komi, seed=1))


@pytest.mark.parametrize("size", [
    *wide(2, 16), 7, *(pytest.param(size, marks=pytest.mark.slow) for size in OTHER_SIZES if size not in (2, 7, 16)),
])
def test_evaluations_of_all_layouts_of_the_board(size):
    """Sizes whose rows lie differently in the words; White to move, so that the colours of the maps are not those of parity."""
    games = (Game(size, to_play=-1), middle_game(size, size * size // 2 + 1, seed=2), middle_game(size, size * size // 3, seed=3))
    position = from_games(*games)
    evaluation = jaxgo.evaluate(position, FEW, komi=1.0, seed=1)
    assert_equal(evaluation, expected_evaluation(position, FEW, komi=1.0, seed=1))


def test_types():
    evaluation = jaxgo.evaluate(jaxgo.Position.empty(5, 2), 100)
    types = {
        "num_playouts": np.int64,
        "margin_histogram": np.int64,
        "amaf_visits": np.int64,
        "ownership": np.float64,
        "amaf_wins": np.float64,
        "win_rate": np.float64,
        "win_rate_error": np.float64,
        "length_mean": np.float64,
    }
    for name, dtype in types.items():
        assert isinstance(getattr(evaluation, name), np.ndarray) and getattr(evaluation, name).dtype == dtype, name
    assert isinstance(evaluation.komi, float) and evaluation.komi == 7.5


def test_points_are_credited_when_occupied_at_first_and_vacated_later():
    """AMAF's credit also goes to points that are captured and then played; passes earn nothing."""
    game = referee.parse(DIAGRAM, to_play=-1)[0]
    position = from_games(game)
    evaluation = jaxgo.evaluate(position, 2000, komi=0.0, seed=3)
    assert_equal(evaluation, expected_evaluation(position, 2000, komi=0.0, seed=3))
    occupied = np.array(game.stones).reshape(5, 5) != 0
    assert evaluation.amaf_visits[0, :, occupied].sum() > 0


def test_draws_are_half_a_win():
    """At komi m, the playouts of margin m are draws: half for Black in the win rate and for both colours in the AMAF wins."""
    position = jaxgo.Position.empty(5)
    draw, above, below = (jaxgo.evaluate(position, 2000, komi=komi, seed=1) for komi in (3.0, 3.5, 2.5))
    drawn = draw.margin_histogram[0, 25 + 3]
    assert drawn > 0
    assert draw.win_rate[0] == pytest.approx((above.win_rate[0] + below.win_rate[0]) / 2, abs=1e-12)
    assert below.win_rate[0] - above.win_rate[0] == pytest.approx(drawn / 2000, abs=1e-12)
    np.testing.assert_array_equal(draw.amaf_wins, (above.amaf_wins + below.amaf_wins) / 2)
    assert draw.win_rate_error[0] < np.sqrt(0.25 / 2000)


def test_draw_structure():
    """Finished 9x9 boards are full, so margins are odd: komi 5.5, 6 and 6.5 are one, and 7 is the mean of 6.5 and 7.5."""
    rates, histograms, count = {}, [], 1000
    for komi in (5.5, 6.0, 6.5, 7.0, 7.5):
        evaluation = jaxgo.evaluate(jaxgo.Position.empty(9), count, komi=komi, seed=99)
        rates[komi] = evaluation.win_rate[0]
        histograms.append(evaluation.margin_histogram[0])
    for histogram in histograms:
        np.testing.assert_array_equal(histogram, histograms[0])
    # Index margin + 81 is even for odd margins. Capped playouts alone may have even ones, and this seed has none at 6.
    even = histograms[0][1::2].sum()
    assert even <= round(evaluation.truncated[0] * count) and histograms[0][81 + 6] == 0
    assert rates[5.5] == rates[6.0] == rates[6.5]
    assert rates[7.0] == pytest.approx((rates[6.5] + rates[7.5]) / 2, abs=1e-12)
    assert rates[6.5] - rates[7.5] == pytest.approx(histograms[0][81 + 7] / count, abs=1e-12)


def test_an_ended_position_is_evaluated_as_it_stands():
    stones = middle_game(5, 12, seed=0).stones
    position = from_games(Game(5, stones, passes=2))
    evaluation = jaxgo.evaluate(position, 1000, komi=0.5)
    margin = Game(5, stones).margin()
    assert evaluation.margin_mean.tolist() == [margin] and evaluation.margin_std.tolist() == [0.0]
    assert evaluation.win_rate.tolist() == [float(margin > 0.5)] and evaluation.win_rate_error.tolist() == [0.0]
    assert evaluation.length_mean.tolist() == [0.0] and evaluation.truncated.tolist() == [0.0]
    assert not evaluation.amaf_visits.any()
    np.testing.assert_array_equal(evaluation.ownership[0].reshape(-1), Game(5, stones).area())


@pytest.mark.parametrize("max_plies", [1, 30])
def test_capped_evaluations(max_plies):
    position = jaxgo.Position.empty(5, 2)
    evaluation = jaxgo.evaluate(position, 500, seed=1, max_plies=max_plies)
    assert_equal(evaluation, expected_evaluation(position, 500, komi=7.5, seed=1, max_plies=max_plies))
    assert evaluation.truncated.min() > 0


def test_equal_seeds_symmetric_roles():
    """From the empty board with colours exchanged, the same random numbers give the same playouts with colours exchanged."""
    black = jaxgo.evaluate(jaxgo.Position.empty(9), 1000, komi=2.5, seed=1)
    white = jaxgo.evaluate(jaxgo.Position.empty(9, to_play=-1), 1000, komi=-2.5, seed=1)
    np.testing.assert_array_equal(white.margin_histogram, black.margin_histogram[:, ::-1])
    np.testing.assert_array_equal(white.ownership, -black.ownership)
    np.testing.assert_array_equal(white.amaf_wins, black.amaf_wins[:, ::-1])
    assert white.win_rate[0] == pytest.approx(1 - black.win_rate[0], abs=1e-12)


# Nothing depends on how the work is cut.


@pytest.mark.parametrize("size, lanes", [(5, 1), (9, 7)])
def test_evaluations_do_not_depend_on_lanes(size, lanes):
    expected = jaxgo.evaluate(three_positions(size), SIZES[size], seed=1)
    assert_identical(jaxgo.evaluate(three_positions(size), SIZES[size], seed=1, lanes=lanes), expected)


def test_evaluations_do_not_depend_on_the_order_of_the_batch():
    expected, order = jaxgo.evaluate(three_positions(9), 200, seed=1), np.array([2, 0, 1])
    actual = jaxgo.evaluate(three_positions(9)[order], 200, seed=1, streams=order)
    assert_identical(actual, expected, lambda array: array[order])
    alone = jaxgo.evaluate(three_positions(9)[1], 200, seed=1, streams=np.array([1]))
    assert_identical(alone, expected, lambda array: array[1:2])


def test_evaluations_may_be_split():
    """The sums over playouts 0..299 and 300..999 are those over 0..999."""
    position = three_positions(5)
    whole = jaxgo.evaluate(position, 1000, seed=1)
    one, two = jaxgo.evaluate(position, 300, seed=1), jaxgo.evaluate(position, 700, seed=1, first_playout=300)
    for name in EXACT:
        np.testing.assert_array_equal(getattr(one, name) + getattr(two, name), getattr(whole, name), err_msg=name)
    np.testing.assert_allclose((300 * one.ownership + 700 * two.ownership) / 1000, whole.ownership, atol=1e-12)
    assert (one.margin_histogram != two.margin_histogram).any()


@pytest.mark.parametrize("counts", [[1, 64, 65], [300, 7, 129], [5, 5, 5], *wide([1, 1, 10_000], [20_000, 3, 40_000])])
def test_positions_may_have_playouts_of_their_own(counts):
    """Each those that it has alone, with numbers of its own as well."""
    position, first, komi = three_positions(5), [7, 0, 1000], np.array([0.5, 7.5, -3.0])
    found = jaxgo.evaluate(position, counts, first_playout=first, seed=1, komi=komi)
    assert found.complete and found.num_playouts.tolist() == counts
    for i in range(3):
        alone = jaxgo.evaluate(
            position[i : i + 1], counts[i], first_playout=first[i], seed=1, komi=float(komi[i]), streams=[i]
        )  # fmt: skip
        for name in EXACT:
            np.testing.assert_array_equal(getattr(found[i : i + 1], name), getattr(alone, name), err_msg=name)


def test_one_position_may_have_a_number_of_its_own():
    """Arrays of one number, and numbers that all positions share where only the other argument is an array."""
    position = three_positions(5)
    for found, expected in (
        (jaxgo.evaluate(position[:1], [9], seed=1), jaxgo.evaluate(position[:1], 9, seed=1)),
        (jaxgo.evaluate(position, 30, seed=1, first_playout=[4, 4, 4]), jaxgo.evaluate(position, 30, seed=1, first_playout=4)),
        (jaxgo.evaluate(position, np.full(3, 30), seed=1, statistics=[]), jaxgo.evaluate(position, 30, seed=1, statistics=[])),
    ):
        for a, b in zip(found.sums, expected.sums):
            np.testing.assert_array_equal(a, b)


def test_pieces_are_added_up_whatever_their_size(monkeypatch):
    """Also the larger ones of large jobs."""
    position, counts = three_positions(5), [700, 1, 3000]
    expected = jaxgo.evaluate(position, counts, seed=1)
    monkeypatch.setattr(pieces, "MOST_PIECES", 3)
    assert pieces.size_of_pieces(sum(counts)) == 4096 and pieces.size_of_pieces(2**60) == pieces.LARGEST
    assert_identical(jaxgo.evaluate(position, counts, seed=1), expected)


def test_progress_counts_playouts_of_each_positions_own():
    calls = []
    jaxgo.evaluate(jaxgo.Position.empty(9, 3), [100, 3000, 40], progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (3140, 3140) and [done for done, _ in calls] == sorted(done for done, _ in calls)
    jaxgo.evaluate(jaxgo.Position.empty(9), [10], progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (10, 10)


def test_the_last_playouts_that_int32_can_number():
    position = jaxgo.Position.empty(3)
    last = jaxgo.evaluate(position, 100, seed=1, first_playout=2**31 - 1 - 100)
    assert_equal(last, expected_evaluation(position, 100, komi=7.5, seed=1, first_playout=2**31 - 1 - 100))


def test_many_positions():
    """A batch larger than the lanes."""
    games = [middle_game(5, plies, seed=plies) for plies in range(20)] * 30
    position = from_games(*games)
    evaluation = jaxgo.evaluate(position, 5, komi=0.5, seed=1)
    assert_equal(evaluation, expected_evaluation(position, 5, komi=0.5, seed=1))


# Progress and interruption.


def test_progress_of_playouts():
    calls = []
    jaxgo.playouts(jaxgo.Position.empty(5), 2000, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2000, 2000)


def test_other_errors_in_the_callback_come_through():
    def fail(done: int, total: int) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        jaxgo.evaluate(jaxgo.Position.empty(5), 1000, progress=fail)


def test_evaluations_are_indexed_like_positions():
    evaluation = jaxgo.evaluate(three_positions(5), SIZES[5], seed=1)
    one = evaluation[1]
    assert one.win_rate[0] == evaluation.win_rate[1] if np.ndim(one.win_rate) else one.win_rate == evaluation.win_rate[1]
    np.testing.assert_array_equal(evaluation[1:].ownership, evaluation.ownership[1:])
    for index in (None, True):
        with pytest.raises(TypeError, match=f"index must be an integer, a slice or an array of integers or bools, not {index}"):
            evaluation[index]


def test_results_cannot_be_changed_by_accident():
    evaluation = jaxgo.evaluate(jaxgo.Position.empty(5), 100)
    with pytest.raises(dataclasses.FrozenInstanceError):
        evaluation.komi = 6.5


# Progress and interruption of many playouts; last, as programs are compiled for many from here on.


@pytest.mark.usefixtures("many_playouts")
def test_progress_counts_up_to_the_total():
    calls = []
    jaxgo.evaluate(jaxgo.Position.empty(9, 2), 100_000, seed=1, progress=lambda done, total: calls.append((done, total)))
    done = [call[0] for call in calls]
    assert {call[1] for call in calls} == {200_000}
    assert done == sorted(done) and done[-1] == 200_000 and len(set(done)) == len(done) >= 2


@pytest.mark.usefixtures("many_playouts")
@pytest.mark.parametrize("batch", [1, *wide(3)])
def test_an_interrupted_evaluation_hands_over_what_is_finished(batch):
    position = jaxgo.Position.empty(9, batch)

    def stop(done: int, total: int) -> None:
        if done < total:
            raise KeyboardInterrupt

    with pytest.raises(jaxgo.Interrupted) as caught:
        jaxgo.evaluate(position, 600_000, seed=1, progress=stop)
    assert isinstance(caught.value, KeyboardInterrupt)
    partial = caught.value.partial
    finished = partial.num_playouts
    assert not partial.complete and 0 < finished.sum() < batch * 600_000
    assert (partial.margin_histogram.sum(axis=1) == finished).all()
    assert sum(np.broadcast_to(played.count, batch) for played in partial.played).tolist() == finished.tolist()
    # It can be gone on with, and what it has not is no part of it.
    more = jaxgo.evaluate(position, 100, seed=1, first_playout=partial.next_playout)
    assert partial.plus(more).num_playouts.tolist() == (finished + 100).tolist()
    with pytest.raises(ValueError, match="the evaluations share playouts"):
        partial.plus(jaxgo.evaluate(position, 100, seed=1, first_playout=np.maximum(partial.next_playout - 1, 0)))
    # What is there is part of what the whole would have been.
    whole = jaxgo.evaluate(position, 600_000, seed=1)
    for name in ("margin_histogram", "amaf_visits", "amaf_wins"):
        assert (getattr(partial, name) <= getattr(whole, name)).all(), name
    for index in range(batch):
        if finished[index]:
            above = partial.margin_histogram[index, 81 + 8 :].sum()
            assert partial.win_rate[index] == pytest.approx(above / finished[index], abs=1e-12)
            assert abs(partial.win_rate[index] - whole.win_rate[index]) < 5 * partial.win_rate_error[index]
        else:
            assert np.isnan(partial.win_rate[index])


def test_which_playouts_were_added():
    """At places of a batch of 4: two that follow on each other, one apart; nothing; an empty one; one."""
    places, first, end = (np.array(x) for x in ([0, 0, 0, 2, 3], [8, 0, 4, 5, 7], [9, 4, 6, 5, 9]))
    found = _side_by_side(4, *_joined([(places[:2], first[:2], end[:2]), (places[2:], first[2:], end[2:])]))
    assert [[x.tolist() for x in part] for part in found] == [[[0, 0, 0, 7], [6, 0, 0, 2]], [[8, 0, 0, 0], [1, 0, 0, 0]]]
    assert [[x.tolist() for x in part] for part in _side_by_side(2, *_joined([_NOTHING]))] == [[[0, 0], [0, 0]]]


@pytest.mark.parametrize("counts", [3_000, [3_000, 1, 2_500]])
def test_all_evaluations_tell_the_playouts_that_they_hold(counts):
    """Also those on the way, of chunks added in any order; each can be gone on with."""
    position = jaxgo.Position.empty(5, 3)
    request = _adding(position, counts, 7.5, ["ownership"], {"seed": 1, "lanes": 16})()
    chunks = list(request.chunks())
    assert request.evaluation().complete and len(request.evaluation().played) == 1
    again = _adding(position, counts, 7.5, ["ownership"], {"seed": 1, "lanes": 16})()
    for chunk in chunks[::-2]:
        part = zero_sums(25, chunk.size, ("ownership",))
        again._add(chunk, part._replace(num_playouts=again._numbers(chunk)[2] - again._numbers(chunk)[1]), None)
        held = again.evaluation(copy=True)
        told = sum(np.broadcast_to(played.count, 3) for played in held.played)
        assert told.tolist() == held.num_playouts.tolist()
