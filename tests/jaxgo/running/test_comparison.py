"""Positions compared playout by playout, against the playouts themselves."""

import re

import numpy as np
import pytest

import jaxgo
from jaxgo.running import comparison
from jaxgo.running.comparison import compare

KOMI = 3.5


def _positions() -> jaxgo.Position:
    """Two groups of three: Black's first moves, and White's after one of them."""
    empty = jaxgo.Position.empty(5)
    first = empty[np.zeros(3, int)].play(np.array([12, 0, 25]))
    second = first[np.zeros(3, int)].play(np.array([6, 0, 25]))
    return jaxgo.Position.concatenate([first, second])


def test_differences_are_taken_playout_by_playout(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    found = compare(_positions(), 50, komi=KOMI, streams=[0, 1], colours=[1, -1], seed=2, progress=lambda *x: calls.append(x))
    played = jaxgo.playouts(_positions(), 50, seed=2, streams=[0, 0, 0, 1, 1, 1])
    leads = played.margin.reshape(2, 3, 50) * np.array([1.0, -1.0])[:, None, None] - np.array([KOMI, -KOMI])[:, None, None]
    wins = (leads > 0).astype(float)
    np.testing.assert_allclose(found.win_rate, wins.mean(axis=2))
    np.testing.assert_allclose(found.lead, leads.mean(axis=2))
    for values, difference, error in (
        (wins, found.win_rate_difference, found.win_rate_difference_error),
        (leads, found.lead_difference, found.lead_difference_error),
    ):
        between = values - values[:, :1]
        np.testing.assert_allclose(difference, between.mean(axis=2), atol=1e-12)
        np.testing.assert_allclose(error, between.std(axis=2, ddof=1) / np.sqrt(50))
    np.testing.assert_allclose(found.win_rate_error, wins.std(axis=2, ddof=1) / np.sqrt(50))
    assert found.num_playouts == 50 and calls[-1] == (300, 300)
    # In parts it is the same.
    monkeypatch.setattr(comparison, "AT_A_TIME", 120)
    calls.clear()
    parts = compare(_positions(), 50, komi=KOMI, streams=[0, 1], colours=[1, -1], seed=2, progress=lambda *x: calls.append(x))
    np.testing.assert_allclose(parts.lead_difference_error, found.lead_difference_error)
    assert calls[-1] == (300, 300) and len(calls) > 1


def test_common_random_numbers_make_the_difference_surer() -> None:
    found = compare(_positions()[:2], 2000, komi=KOMI, streams=[0], colours=[1])
    assert 0 < found.lead_difference_error[0, 1] < np.hypot(*found.lead_error[0])


def test_bad_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="6 positions cannot be compared in 4 groups of 4 colours"):
        compare(_positions(), 50, komi=KOMI, streams=[0, 1, 2, 3], colours=[1, 1, 1, 1])


@pytest.mark.parametrize(("wrong", "error", "message"), [
    (dict(num_playouts=1), ValueError, "num_playouts must be between 2 and 2147483647, not 1"),
    (dict(first_playout=2**31 - 50), ValueError, "first_playout + num_playouts must be between 2 and 2147483647, not 2147483648"),
    (dict(colours=[1, 2]), ValueError, "colours must be 1 for Black or -1 for White, not [1, 2]"),
    (dict(streams=[0, -1]), ValueError, "streams must be between 0 and 2147483647, not -1"),
    (dict(komi=float("nan")), ValueError, "komi must be finite"),
    (dict(position=None), TypeError, "position must be a jaxgo.Position, not NoneType"),
], ids=str)  # fmt: skip
def test_bad_arguments_are_refused_before_anything_is_played(monkeypatch, wrong, error, message) -> None:
    monkeypatch.setattr(comparison, "playouts", lambda *_, **__: pytest.fail("the work began"))
    arguments = dict(position=_positions(), num_playouts=50, komi=KOMI, streams=[0, 1], colours=[1, 1]) | wrong
    with pytest.raises(error, match=re.escape(message)):
        compare(arguments.pop("position"), arguments.pop("num_playouts"), **arguments)


def test_the_first_playout_may_be_any_and_draws_count_half() -> None:
    positions = jaxgo.Position.empty(5, 2).play([12, 0])
    leads = jaxgo.playouts(positions, 200, streams=[0, 0], first_playout=20).margin.astype(float) - 3
    assert (leads == 0).any()
    found = compare(positions, 200, komi=3.0, streams=[0], colours=[1], first_playout=20)
    np.testing.assert_allclose(found.lead, leads.mean(axis=1)[None])
    np.testing.assert_allclose(found.win_rate, ((np.sign(leads) + 1) / 2).mean(axis=1)[None])
