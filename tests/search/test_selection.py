"""Rules of selection: published weights of the RAVE value, and values against a naive calculation."""

import dataclasses
import math

import numpy as np
import pytest

from search import UCB1, Rave
from search.selection import CREDITS
from search.values import hand_selected_beta, log, work_out

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
    """The weight shows where one value is 1 and the other 0."""
    c, rc = counts
    assert value_of(Rave(bias=0.015), 1, c, 0, rc, 2 * rc) == pytest.approx(GOLDEN[counts], abs=5e-10)


def test_hand_selected_beta():
    """One half at k visits, one at none, and falling."""
    assert hand_selected_beta(1000, 1000.0) == pytest.approx(0.5)
    assert hand_selected_beta(0, 7.0) == 1
    assert [hand_selected_beta(n, 3.0) for n in (1, 8)] == pytest.approx([math.sqrt(3 / 6), math.sqrt(3 / 27)])


def test_logarithm():
    """Exact at 1, and within rounding of the library's everywhere; it rises."""
    numbers = sorted({*range(1, 3000), *(10**k for k in range(13)), *(3 * 2**k for k in range(40)), 2**53 - 1})
    assert log(1) == 0
    for n in numbers[1:]:
        assert log(n) == pytest.approx(math.log(n), rel=4e-16, abs=0)
    assert all(log(a) < log(b) for a, b in zip(numbers[:-1], numbers[1:]))


def value_of(rule, n: int, c, w, rc, rw) -> float:
    """What the compiled rule says of a move, at a node of n visits."""
    values = np.empty(1)
    work_out(rule.numbers, n, values, *(np.array([x], float) for x in (c, w, rc, rw)))
    return float(values[0])


def random_counts(seed: int, number: int = 1000) -> list[tuple[int, ...]]:
    """Statistics (n, c, w, rc, rw) as a tree could hold, many of them zero."""
    rng = np.random.default_rng(seed)
    visits, rave_visits = rng.integers(0, 50, number), rng.integers(0, 300, number)
    visits[rng.random(number) < 0.3] = 0
    rave_visits[rng.random(number) < 0.3] = 0
    wins, rave_wins = rng.integers(0, 2 * visits + 1), rng.integers(0, 2 * rave_visits + 1)
    return list(zip(*(x.tolist() for x in (visits + rng.integers(1, 1000, number), visits, wins, rave_visits, rave_wins))))


def naive_rave(rule: Rave, n: int, c, w, rc, rw) -> float:
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
    cells = random_counts(seed=1)
    for cell in cells:
        assert value_of(rule, *cell) == pytest.approx(naive_rave(rule, *cell), rel=1e-12, abs=1e-12), cell
    for known in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert sum((c > 0, rc > 0) == known for _, c, _, rc, _ in cells) > 20


def test_rave_values_of_fractions():
    """Weighted credits are fractions, some of them small."""
    rule = Rave(credit="weighted_v1")
    for cell in ((0, 0, 0.25, 0.5), (3, 4, 1e-3, 1e-3), (2, 3, 1.5, 0.75)):
        assert value_of(rule, 9, *cell) == pytest.approx(naive_rave(rule, 9, *cell), rel=1e-12)


@pytest.mark.parametrize("rule", [UCB1(), UCB1(exploration=0.0), UCB1(exploration=1.4, first_play=10)], ids=str)
def test_ucb1_values(rule):
    """`Q + C sqrt(ln(parent visits) / visits)`, and a first-play urgency instead of infinity."""
    for n, c, w, rc, rw in random_counts(seed=2):
        expected = w / (2 * c) + rule.exploration * math.sqrt(math.log(n) / c) if c else rule.first_play
        assert value_of(rule, n, c, w, rc, rw) == pytest.approx(expected, rel=1e-12)


def test_a_sure_win_is_better_than_a_sure_loss():
    """The perspective: wins are the mover's, at every rule."""
    for rule in (*RULES, UCB1()):
        assert value_of(rule, 21, 10, 20, 10, 20) - value_of(rule, 21, 10, 0, 10, 0) == pytest.approx(1)


@pytest.mark.parametrize("options", [
    {"schedule": "other"}, {"credit": "none"}, {"bias": -0.1}, {"bias": 1.1}, {"bias": "0.1"}, {"bias": True}, {"k": -1},
    {"exploration": -1}, {"exploration": float("nan")}, {"first_play": -1}, {"reference_visits": -1},
    {"k": float("inf")}, {"k": 10**400}, {"exploration": float("inf")}, {"first_play": np.float32("inf")},
    {"reference_visits": 1.5}, {"credit": "weighted_v1", "strict": False}, {"credit": "mctr_simple", "reference_visits": 5},
], ids=str)  # fmt: skip
def test_bad_arguments_of_rave(options):
    """The error names an argument."""
    with pytest.raises((ValueError, TypeError), match="|".join(options)):
        Rave(**options)


@pytest.mark.parametrize("options", [{"exploration": -1}, {"exploration": None}, {"first_play": -0.5}, {"first_play": float("inf")}], ids=str)
def test_bad_arguments_of_ucb1(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        UCB1(**options)


def test_a_rules_numbers_are_exact_however_they_are_given():
    """Compiled loops take floats of 64 bits: of other types there would be another program, or none."""
    rule = Rave(bias=np.float16(0.25), k=np.int64(1000), exploration=np.float32(0.5), first_play=1)
    assert rule == Rave(bias=0.25, k=1000.0, exploration=0.5, first_play=1.0)
    assert {type(getattr(rule, name)) for name in ("bias", "k", "exploration", "first_play")} == {float}
    assert rule.numbers == Rave(bias=0.25, exploration=0.5, first_play=1.0).numbers
    assert type(UCB1(exploration=np.float16(1)).exploration) is float


def test_rules_are_values():
    """Equal rules compare equal and cannot be changed."""
    assert Rave(bias=0.2) == Rave(bias=0.2) != Rave()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rave().bias = 0.5
    assert all(Rave(credit=credit).credit == credit for credit in CREDITS)
