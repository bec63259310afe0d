"""Heatmaps: scaled between the least and the most liked, never divided by zero."""

import numpy as np
import pytest

import jaxgo
from search import heatmap


def test_values_run_from_least_to_most():
    position = jaxgo.Position.from_ascii("X . . \n . O . \n . . .")
    values = np.array([np.nan, 1.0, 2.0, 3.0, np.nan, 4.0, 10.0, np.nan, 1.0])
    assert heatmap.as_text(position, values) == " 3 X 0 1\n 2 2 O 3\n 1 9 . 0\n   A B C"


@pytest.mark.parametrize("values", [[np.nan, 0.3, np.nan, np.nan], [0.5, 0.5, 0.5, 0.5]])
def test_equal_values_and_a_single_move_are_the_most_liked(values):
    scaled = heatmap.shades(np.array(values))
    np.testing.assert_array_equal(scaled, np.where(np.isnan(values), np.nan, 1.0))


def test_without_moves_there_is_nothing_to_show():
    position = jaxgo.Position.empty(2)
    assert heatmap.as_text(position, np.full(4, np.nan)) == " 2 . .\n 1 . .\n   A B"
