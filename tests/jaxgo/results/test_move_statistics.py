"""Statistics of moves: on the device and from histories they agree, and both equal a count by hand."""

import numpy as np
import pytest

import jaxgo
from jaxgo.results import credits
from tests import referee

POINTS = 25


@pytest.fixture(scope="module")
def position():
    """White to move on 5x5, and Black to move with a stone less."""
    return jaxgo.Position.concatenate([jaxgo.Position.empty(5).play(12), jaxgo.Position.empty(5)])


@pytest.fixture(scope="module")
def playouts(position):
    return jaxgo.playouts(position, 3000, seed=3, moves=True)


@pytest.mark.parametrize("rule", credits.RULES)
def test_both_ways_agree_to_rounding(position, playouts, rule):
    device = jaxgo.move_statistics(position, 3000, rule=rule, komi=0.5, seed=3)
    host = jaxgo.statistics_of(position, playouts, rule=rule, komi=0.5)
    np.testing.assert_allclose(device.weight, host.weight, atol=3000 * 2**-16)
    np.testing.assert_allclose(device.value, host.value, atol=1e-3)
    np.testing.assert_allclose(device.error, host.error, rtol=1e-2)
    np.testing.assert_allclose(device.effective, host.effective, rtol=1e-2)


def replayed_credits(rule: str, start, moves: np.ndarray) -> dict[int, float]:
    """What each point earns in one playout, by the definitions, ply by ply on the referee's board."""
    plies = [int(m) for m in moves if m >= 0]
    length, earned, used, board, prefix, ended = len(plies), {}, set(), start.copy(), [], False
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
            "first_move": float(i == 0),
            "amaf": float(first),
            "amaf_first_twice": float(first) * (2 if i == 0 else 1),
            "weighted_v1": float(first) * (1 - i / length),
            "weighted_v2": 1 - i / (length + 1),
        }.get(rule, 0.0)
        earned[point] = earned.get(point, 0.0) + amount
    if rule.startswith("mctr"):
        own = [point for i, point in prefix if i % 2 == 0]
        return {p: 1.0 if rule == "mctr_whole" else 1 / len(own) for p in own}
    return earned


@pytest.mark.parametrize("rule", credits.RULES)
def test_equal_to_a_count_on_the_referees_board(position, playouts, rule):
    count, komi = 60, 0.5
    few = jaxgo.playouts(position, count, seed=3, moves=True)
    found = jaxgo.statistics_of(position, few, rule=rule, komi=komi)
    for b in range(2):
        stones = np.asarray(position.to_array())[b].reshape(-1)
        start = referee.Game(5, stones, to_play=int(position.to_play[b]))
        weight, wins, squares = np.zeros(POINTS), np.zeros(POINTS), np.zeros(POINTS)
        for j in range(count):
            won = float(few.margin[b, j] > komi) if b == 1 else float(few.margin[b, j] < komi)
            # A ply's square counts by itself: only V2 credits a point more than once.
            for point, f in replayed_credits(rule, start, few.moves[b, j]).items():
                weight[point] += f
                wins[point] += f * won
                squares[point] += f * f
        np.testing.assert_allclose(found.weight[b], weight, atol=1e-9)
        seen = weight > 0
        np.testing.assert_allclose(found.value[b][seen], (wins / np.maximum(weight, 1e-12))[seen], atol=1e-9)
        if rule != "weighted_v2":
            np.testing.assert_allclose(found.effective[b][seen], (weight**2 / np.maximum(squares, 1e-12))[seen], atol=1e-6)


@pytest.mark.parametrize("rule", ["mctr_simple", "mctr_capture"])
def test_a_playout_adds_one_in_all(position, playouts, rule):
    found = jaxgo.statistics_of(position, playouts, rule=rule)
    np.testing.assert_allclose(found.weight.sum(axis=1), 3000)


def test_draws_count_half(position, playouts):
    """At a komi equal to a margin that occurs, the value lies midway between the values of the neighbouring half points."""
    low, at, high = (jaxgo.statistics_of(position, playouts, rule="amaf", komi=k).value for k in (2.5, 3.0, 3.5))
    np.testing.assert_allclose(at, (low + high) / 2)
    assert (low != high).any()


def test_parts_add_up(position):
    whole = jaxgo.move_statistics(position, 2000, seed=5)
    parts = jaxgo.move_statistics(position, 700, seed=5).plus(jaxgo.move_statistics(position, 1300, seed=5, first_playout=700))
    assert parts.num_playouts == 2000
    np.testing.assert_allclose(parts.weight, whole.weight)
    np.testing.assert_allclose(parts.value, whole.value)
    np.testing.assert_allclose(parts.effective, whole.effective)


def test_parts_in_which_points_have_no_weight_add_up(position):
    parts = [jaxgo.move_statistics(position, 3, rule="first_move", first_playout=3 * i) for i in range(2)]
    assert (parts[0].weight == 0).any()
    whole = jaxgo.move_statistics(position, 6, rule="first_move")
    np.testing.assert_array_equal(parts[0].plus(parts[1]).value, whole.value)


def test_bad_input_says_what_is_wrong(position, playouts):
    with pytest.raises(ValueError, match="rule must be one of .* not 'amaff'"):
        jaxgo.move_statistics(position, 10, rule="amaff")
    with pytest.raises(ValueError, match="playouts must have their moves"):
        jaxgo.statistics_of(position, jaxgo.playouts(position, 10))
    with pytest.raises(ValueError, match="batch of 1 and size 5, not of 2 and 5"):
        jaxgo.statistics_of(position[0], playouts)
    with pytest.raises(ValueError, match="komi"):
        jaxgo.move_statistics(position, 10, komi=float("nan"))
