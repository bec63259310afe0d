"""Statistics of moves: on the device and from histories they are the same, and both equal a count by hand."""

from fractions import Fraction

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.results import credits
from tests import referee
from tests.positions import from_games, middle_game
from tests.rounding import UNITS, in_units
from tests.wide import mostly_wide

POINTS = 25


@pytest.fixture(scope="module")
def position():
    """White to move on 5x5, and Black to move with a stone less."""
    return jaxgo.Position.concatenate([jaxgo.Position.empty(5).play(12), jaxgo.Position.empty(5)])


@pytest.fixture(scope="module")
def playouts(position):
    return jaxgo.playouts(position, 3000, seed=3, moves=True)


def assert_same(found: jaxgo.MoveStatistics, expected: jaxgo.MoveStatistics) -> None:
    """Every number is the same, to the last bit."""
    for name in ("weight", "value", "effective", "error"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name, strict=True)
    assert found.num_playouts == expected.num_playouts


@pytest.mark.parametrize("rule", mostly_wide(credits.RULES, {"amaf", "weighted_v1", "mctr_capture"}))
def test_both_ways_agree_to_the_last_bit(position, playouts, rule):
    """At a komi with draws."""
    device = jaxgo.move_statistics(position, 3000, rule=rule, komi=1.0, seed=3)
    assert_same(device, jaxgo.statistics_of(position, playouts, rule=rule, komi=1.0))


KO = """
    . X O . .
    X O k O .
    . X O . .
    O O . X X
    . O . X .
"""
"""Black takes a ko at k; either has an eye where the other may not play."""


def test_both_ways_agree_where_points_are_forbidden():
    """By ko, and to one player alone."""
    game, named = referee.parse(KO)
    game.play(named["k"])
    assert game.ko >= 0
    position = from_games(game, middle_game(5, 12, seed=1))
    device = jaxgo.move_statistics(position, 3000, rule="mctr_capture", komi=1.0, seed=3)
    played = jaxgo.playouts(position, 3000, seed=3, moves=True)
    assert_same(device, jaxgo.statistics_of(position, played, rule="mctr_capture", komi=1.0))


@pytest.mark.wide
@pytest.mark.parametrize("rule", ["weighted_v2", "mctr_simple"])
def test_both_ways_agree_on_a_larger_board(rule):
    """From 3 positions, one of them over, of which each has a different length of moves."""
    position = jaxgo.Position.concatenate([
        jaxgo.Position.empty(9), jaxgo.Position.empty(9).play(81).play(81), jaxgo.Position.empty(9).play(40)
    ])  # fmt: skip
    device = jaxgo.move_statistics(position, 50, rule=rule, seed=1)
    assert_same(device, jaxgo.statistics_of(position, jaxgo.playouts(position, 50, seed=1, moves=True), rule=rule))
    assert not device.weight[1].any()


def replayed_credits(rule: str, start, moves: np.ndarray) -> list[tuple[int, int]]:
    """(point, units) of the plies of one playout that earn, by the definitions, ply by ply on the referee's board."""
    plies = [int(m) for m in moves if m >= 0]
    length, earned, used, board, prefix, ended = len(plies), [], set(), start.copy(), [], False
    other = referee.Game(start.size, start.stones, to_play=-start.to_play)
    legal = {start.to_play: set(start.legal_points()), -start.to_play: set(other.legal_points())}
    for i, point in enumerate(plies):
        colour = board.to_play
        legal_at_root = point < POINTS and point in legal[colour]
        taken = set(board.play(point))
        if point == POINTS:
            continue
        first = point not in used
        captures = bool(taken) if rule != "mctr_capture" else bool(taken & used)
        breaks = not legal_at_root or not first or captures
        if not ended and (not breaks or i == 0):
            prefix.append((i, point))
        ended = ended or breaks
        used.add(point)
        if i % 2:
            continue
        amount = {
            "first_move": i == 0,
            "amaf": first,
            "amaf_first_twice": first * (2 if i == 0 else 1),
            "weighted_v1": first * (1 - Fraction(i, length)),
            "weighted_v2": 1 - Fraction(i, length + 1),
        }.get(rule, 0)
        earned.append((point, in_units(amount)))
    if rule.startswith("mctr"):
        own = [point for i, point in prefix if i % 2 == 0]
        return [(p, in_units(1 if rule == "mctr_whole" else Fraction(1, len(own)))) for p in own]
    return earned


@pytest.mark.parametrize("rule", credits.RULES)
def test_equal_to_a_count_on_the_referees_board(position, playouts, rule):
    count, komi = 60, 0.5
    few = jaxgo.playouts(position, count, seed=3, moves=True)
    found = jaxgo.statistics_of(position, few, rule=rule, komi=komi)
    for b in range(2):
        stones = np.asarray(position.to_array())[b].reshape(-1)
        start = referee.Game(5, stones, to_play=int(position.to_play[b]))
        weight, wins, squares = (np.zeros(POINTS, np.int64) for _ in range(3))
        for j in range(count):
            won = bool(few.margin[b, j] > komi if b == 1 else few.margin[b, j] < komi)
            for point, f in replayed_credits(rule, start, few.moves[b, j]):
                weight[point] += f
                wins[point] += f * won
                squares[point] += in_units(Fraction(f, UNITS) ** 2)
        np.testing.assert_array_equal(found.weight[b] * UNITS, weight)
        seen = weight > 0
        np.testing.assert_array_equal(found.value[b][seen], wins[seen] / weight[seen])
        np.testing.assert_allclose(found.effective[b][seen], weight[seen] ** 2 / (squares[seen] * UNITS), rtol=1e-14)
        np.testing.assert_allclose(found.error[b][seen], 0.5 * np.sqrt(squares[seen] * UNITS) / weight[seen], rtol=1e-14)


@pytest.mark.parametrize("rule", ["mctr_simple", "mctr_capture"])
def test_a_playout_adds_one_in_all(position, playouts, rule):
    found = jaxgo.statistics_of(position, playouts, rule=rule)
    np.testing.assert_allclose(found.weight.sum(axis=1), 3000, atol=3000 * POINTS / 2 / UNITS)


def test_draws_count_half(position, playouts):
    """At a komi equal to a margin that occurs, the value lies midway between the values of the neighbouring half points."""
    low, at, high = (jaxgo.statistics_of(position, playouts, rule="amaf", komi=k).value for k in (2.5, 3.0, 3.5))
    np.testing.assert_allclose(at, (low + high) / 2)
    assert (low != high).any()


def test_each_position_may_have_its_own_komi(position, playouts):
    device = jaxgo.move_statistics(position, 3000, komi=[1.0, 5.5], seed=3)
    assert_same(device, jaxgo.statistics_of(position, playouts, komi=[1.0, 5.5]))


def test_by_default_they_are_amafs_at_a_komi_of_seven_and_a_half(position, playouts):
    """Whatever jax has been told."""
    expected = jaxgo.statistics_of(position, playouts, rule="amaf", komi=7.5)
    assert (expected.value != jaxgo.statistics_of(position, playouts, rule="amaf", komi=6.5).value).any()
    with jax.enable_x64(True), jax.transfer_guard("disallow"):
        assert_same(jaxgo.statistics_of(position, playouts), expected)


@pytest.mark.parametrize("rule", ["amaf", "weighted_v1", "mctr_simple"])
def test_parts_add_up(position, rule):
    whole = jaxgo.move_statistics(position, 3000, seed=5, rule=rule)
    parts = [jaxgo.move_statistics(position, n, seed=5, rule=rule, first_playout=first) for n, first in ((1300, 0), (1700, 1300))]
    assert_same(parts[0].plus(parts[1]), whole)


def test_parts_in_which_points_have_no_weight_add_up(position):
    parts = [jaxgo.move_statistics(position, 5, rule="first_move", first_playout=5 * i) for i in range(2)]
    nothing = parts[0].weight == 0
    assert nothing.any() and not nothing.all()
    assert np.isnan(parts[0].value[nothing]).all() and np.isfinite(parts[0].value[~nothing]).all()
    assert (parts[0].effective[nothing] == 0).all() and np.isposinf(parts[0].error[nothing]).all()
    whole = jaxgo.move_statistics(position, 10, rule="first_move")
    np.testing.assert_array_equal(parts[0].plus(parts[1]).value, whole.value)


def test_what_is_earned_by_credits_that_are_as_good_as_none_is_not_known():
    """As by the last plies of very long playouts: their squares are nothing in the units of credits."""
    found = jaxgo.MoveStatistics.from_units(np.array([[[44, 88, 0], [0, 0, 0]]]), 1)
    assert found.value[0, 0] == 1 and found.weight[0, 0] > 0
    assert found.effective.tolist() == [[0, 0]] and found.error.tolist() == [[np.inf, np.inf]]
    np.testing.assert_array_equal(found.plus(found).weight, 2 * found.weight)


def test_those_of_each_position_are_its_rows(position, playouts):
    both = jaxgo.statistics_of(position, playouts)
    for i, one in enumerate(both.each()):
        for name in ("weight", "value", "effective", "error"):
            np.testing.assert_array_equal(getattr(one, name), getattr(both, name)[i : i + 1], name, strict=True)
        assert one.num_playouts == both.num_playouts
    assert len(both.each()) == 2


def test_bad_input_says_what_is_wrong(position, playouts):
    with pytest.raises(ValueError, match="rule must be one of .* not 'amaff'"):
        jaxgo.move_statistics(position, 10, rule="amaff")
    with pytest.raises(ValueError, match="playouts must have their moves"):
        jaxgo.statistics_of(position, jaxgo.playouts(position, 10))
    with pytest.raises(TypeError, match="playouts must be a jaxgo.Playouts, not NoneType"):
        jaxgo.statistics_of(position, None)
    with pytest.raises(TypeError, match="position must be a jaxgo.Position, not NoneType"):
        jaxgo.statistics_of(None, playouts)
    with pytest.raises(ValueError, match="batch of 1 and size 5, not of 2 and 5"):
        jaxgo.statistics_of(position[0], playouts)
    with pytest.raises(ValueError, match="batch of 2 and size 9, not of 2 and 5"):
        jaxgo.statistics_of(jaxgo.Position.empty(9, batch=2), playouts)
    with pytest.raises(ValueError, match="komi"):
        jaxgo.move_statistics(position, 10, komi=float("nan"))
    for komi, error in ((float("nan"), ValueError), ("7.5", TypeError), ([7.5] * 3, ValueError)):
        with pytest.raises(error, match="komi must be"):
            jaxgo.statistics_of(position, playouts, komi=komi)
    two = jaxgo.statistics_of(position, playouts)
    with pytest.raises(ValueError, match=r"of one \(batch, points\) can be added, not of \(2, 25\) and \(1, 25\)"):
        two.plus(two.each()[0])
    with pytest.raises(ValueError, match=r"of one \(batch, points\) can be added, not of \(2, 25\) and \(2, 9\)"):
        two.plus(jaxgo.MoveStatistics.from_units(np.zeros((2, 9, 3), np.int64), 1))
    with pytest.raises(TypeError, match="other must be a jaxgo.MoveStatistics, not int"):
        two.plus(3)
