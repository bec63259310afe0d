"""Rules of selection: published weights of the RAVE value, and values against a naive calculation."""

import dataclasses
import math

import numpy as np
import pytest

from search import UCB1, Rave
from search.selection import CREDITS, Counts, hand_selected_beta, minimum_mse_beta

# (visits, RAVE visits) -> beta at a bias of .015, to nine places.
GOLDEN = {
    (1, 1): 0.499775101,
    (10, 10): 0.497760080,
    (1, 100): 0.989217529,
    (100, 1000): 0.840336134,
    (1000, 1000): 0.344827586,
    (0, 1): 1.0,
    (0, 1000): 1.0,
    (1, 0): 0.0,
    (1000, 0): 0.0,
}


@pytest.mark.parametrize("counts", GOLDEN)
def test_golden_minimum_mse_beta(counts):
    assert minimum_mse_beta(*counts, bias=0.015) == pytest.approx(GOLDEN[counts], abs=5e-10)


def test_minimum_mse_beta_of_arrays():
    """Element by element; without a bias the weights are the shares of the visits."""
    c, rc = (np.array(x) for x in zip(*GOLDEN))
    np.testing.assert_allclose(minimum_mse_beta(c, rc, 0.015), list(GOLDEN.values()), atol=5e-10)
    np.testing.assert_allclose(minimum_mse_beta(c, rc, 0.0), rc / (c + rc))


def test_hand_selected_beta():
    """One half at k visits, one at none, and falling."""
    assert hand_selected_beta(1000, 1000) == pytest.approx(0.5)
    assert hand_selected_beta(0, 7.0) == 1
    np.testing.assert_allclose(hand_selected_beta(np.array([1, 8]), 3.0), [math.sqrt(3 / 6), math.sqrt(3 / 27)])


def random_counts(seed: int, rows: int = 40, moves: int = 26) -> Counts:
    """Statistics as a tree could hold, many of them zero."""
    rng = np.random.default_rng(seed)
    visits, rave_visits = rng.integers(0, 50, (rows, moves)), rng.integers(0, 300, (rows, moves))
    visits[rng.random(visits.shape) < 0.3] = 0
    rave_visits[rng.random(visits.shape) < 0.3] = 0
    wins, rave_wins = rng.integers(0, 2 * visits + 1), rng.integers(0, 2 * rave_visits + 1)
    return Counts(visits.sum(axis=1, keepdims=True) + 1, visits, wins, rave_visits, rave_wins)


def naive_rave(rule: Rave, n: int, c: int, w: int, rc: int, rw: int) -> float:
    """`(1 - beta) Q + beta Q_rave` with its limits, and the term of UCB1 (an unvisited move counts as half a visit)."""
    if c == 0 and rc == 0:
        value = rule.first_play
    elif c == 0:
        value = rw / (2 * rc)
    elif rc == 0:
        value = w / (2 * c)
    else:
        b = rule.bias**2 / 0.25
        beta = rc / (rc + c + rc * c * b) if rule.schedule == "mse" else math.sqrt(rule.k / (3 * n + rule.k))
        value = (1 - beta) * w / (2 * c) + beta * rw / (2 * rc)
    return value + rule.exploration * math.sqrt(math.log(n) / max(c, 0.5))


RULES = [
    Rave(),
    Rave(bias=0.015, first_play=0.7),
    Rave(bias=0.0),
    Rave(bias=1, exploration=0.2),
    Rave(schedule="hand"),
    Rave(schedule="hand", k=10, exploration=0.1),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rave_values(rule):
    counts = random_counts(seed=1)
    expected = np.array([
        [naive_rave(rule, int(n[0]), *map(int, cell)) for cell in zip(*row)]
        for n, *row in zip(counts.node_visits, counts.visits, counts.wins, counts.rave_visits, counts.rave_wins)
    ])  # fmt: skip
    np.testing.assert_allclose(rule.values(counts), expected, rtol=1e-12, atol=1e-12)
    zero_c, zero_rc = counts.visits == 0, counts.rave_visits == 0
    for case in (zero_c & zero_rc, zero_c & ~zero_rc, ~zero_c & zero_rc, ~zero_c & ~zero_rc):
        assert case.sum() > 20


def test_rave_values_of_fractions():
    """Weighted credits are fractions, some of them small."""
    rule = Rave(credit="weighted_v1")
    counts = Counts(np.array([[9]]), np.array([[0, 3, 2]]), np.array([[0, 4, 3]]), np.array([[0.25, 1e-3, 1.5]]),
                    np.array([[0.5, 1e-3, 0.75]]))  # fmt: skip
    expected = [[naive_rave(rule, 9, *cell) for cell in ((0, 0, 0.25, 0.5), (3, 4, 1e-3, 1e-3), (2, 3, 1.5, 0.75))]]
    np.testing.assert_allclose(rule.values(counts), expected, rtol=1e-12)


@pytest.mark.parametrize("rule", [UCB1(), UCB1(exploration=0.0), UCB1(exploration=1.4, first_play=10)], ids=str)
def test_ucb1_values(rule):
    """`Q + C sqrt(ln(parent visits) / visits)`, and a first-play urgency instead of infinity."""
    counts = random_counts(seed=2)
    for i, n in enumerate(counts.node_visits[:, 0]):
        for value, c, w in zip(rule.values(counts)[i], counts.visits[i], counts.wins[i]):
            expected = w / (2 * c) + rule.exploration * math.sqrt(math.log(n) / c) if c else rule.first_play
            assert value == pytest.approx(expected, rel=1e-12)
    assert (counts.visits == 0).any() and (counts.visits > 0).any()


def test_a_sure_win_is_better_than_a_sure_loss():
    """The perspective: wins are the mover's, at every rule."""
    counts = Counts(np.array([[21]]), np.array([[10, 10]]), np.array([[20, 0]]), np.array([[10, 10]]), np.array([[20, 0]]))
    for rule in (*RULES, UCB1()):
        win, loss = rule.values(counts)[0]
        assert win - loss == pytest.approx(1)


@pytest.mark.parametrize("options", [
    {"schedule": "other"}, {"credit": "none"}, {"bias": -0.1}, {"bias": 1.1}, {"bias": "0.1"}, {"bias": True}, {"k": -1},
    {"exploration": -1}, {"exploration": float("nan")}, {"first_play": -1}, {"reference_visits": -1},
    {"reference_visits": 1.5}, {"credit": "weighted_v1", "strict": False}, {"credit": "mctr_simple", "reference_visits": 5},
], ids=str)  # fmt: skip
def test_bad_arguments_of_rave(options):
    """The error names an argument."""
    with pytest.raises((ValueError, TypeError), match="|".join(options)):
        Rave(**options)


@pytest.mark.parametrize("options", [{"exploration": -1}, {"exploration": None}, {"first_play": -0.5}], ids=str)
def test_bad_arguments_of_ucb1(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        UCB1(**options)


def test_rules_are_values():
    """Equal rules compare equal and cannot be changed."""
    assert Rave(bias=0.2) == Rave(bias=0.2) != Rave()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rave().bias = 0.5
    assert all(Rave(credit=credit).credit == credit for credit in CREDITS)
