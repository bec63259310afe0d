"""Who has won, by any komi: halves, whole numbers, quarters, below 0 and beyond the board."""

import numpy as np
import pytest

from jaxgo.results import outcome

POINTS = 9


@pytest.mark.parametrize("komi", [0, 7, 7.5, 6.5, 7.25, 7.75, 0.1, -0.5, -0.25, -3, -7.5, 9, -9, 9.5, -9.5, 10, -10, 11, -11, 1e9, -1e9, 1e300, -1e300])
def test_results_are_those_of_the_points(komi):
    """Black wins by more points than White is given, and draws by as many."""
    margin = np.arange(-POINTS, POINTS + 1, dtype=np.int16)
    expected = np.where(margin > komi, outcome.WIN, np.where(margin == komi, outcome.DRAW, outcome.LOSS))
    bounds = outcome.bounds(komi, POINTS)
    np.testing.assert_array_equal(outcome.of_black(margin, bounds), expected)
    np.testing.assert_array_equal(outcome.of_mover(margin, bounds, np.True_), expected)
    np.testing.assert_array_equal(outcome.of_mover(margin, bounds, np.False_), outcome.WIN - expected)


def test_each_position_has_bounds_of_its_own_komi():
    bounds = outcome.bounds(np.array([7.5, -0.5, 3.0]), POINTS)
    assert bounds.dtype == np.int32 and bounds[:, 0].tolist() == [8, 0, 4] and bounds[2, 1] == 3
    assert (abs(bounds[:2, 1]) > POINTS).all(), "no margin is a draw"
