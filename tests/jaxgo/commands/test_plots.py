"""Pictures: axes fit the data, with the line of an even game in view."""

import numpy as np
import pytest

from jaxgo.commands.plots import _limits


@pytest.mark.parametrize(
    ("low", "high", "line"),
    [([43.0, 44.0], [43.5, 54.0], 50.0), ([90.0, 98.0], [91.0, 99.0], 50.0), ([50.0, 50.0], [50.0, 50.0], 50.0)],
)
def test_axes_fit_the_data_with_the_line_in_view(low: list[float], high: list[float], line: float) -> None:
    bottom, top = _limits(np.array(low), np.array(high), line, least=4.0)
    assert bottom < min(*low, line) and top > max(*high, line)
    assert 4.0 <= top - bottom <= 1.2 * max(4.0, max(*high, line) - min(*low, line))
