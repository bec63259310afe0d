"""Sums on the device, in the forms of all platforms, against numpy: however many words are counted at once, and however
histograms are made."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import geometry
from jaxgo.results import outcome, sums
from jaxgo.results.sums import Sums

FORMS = {"cpu": forms.CPU, "gpu": forms.GPU, "plain": forms.PLAIN}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [3, 51])
def test_histograms(form, width):
    """Of several rows, with places that count for nothing, once, or more often."""
    random = np.random.default_rng(width)
    places, times = random.integers(0, width, (2, 500)).astype(np.int32), random.integers(0, 4, (2, 500)).astype(np.int32)
    with forms.within(FORMS[form]):
        found = jax.jit(lambda *x: sums.histogram(*x, width))(places, times)
    expected = [np.bincount(row, weights=of_row, minlength=width) for row, of_row in zip(places, times)]
    np.testing.assert_array_equal(found, np.array(expected).astype(np.int32), strict=True)


@pytest.mark.parametrize("counters", [1, 1 << 5, 1 << 13, 1 << 18])
@pytest.mark.parametrize("n", [1, 65, 512])
def test_points_are_counted(counters, n):
    """Of boards side by side and one after the other, in numbers that fill the steps and others."""
    g = geometry(5)
    points = np.random.default_rng(n).random((2, 3, n, 25)) < 0.4
    words = np.stack([np.stack(bb.of_points(g, kind)) for kind in points])  # [K, W, B, n]
    with forms.within(forms.GPU._replace(counters=counters)):
        found = jax.jit(lambda x: sums.count_points(g, x))(jnp.asarray(words))
    np.testing.assert_array_equal(found, points.sum(axis=2).transpose(1, 0, 2))


def test_all_sums_are_the_same_on_all_platforms():
    g, n = geometry(3), 60
    random = np.random.default_rng(1)
    own = random.random((2, n, 9)) < 0.5
    black, white = own[0] & ~own[1], own[1] & ~own[0]
    first = random.random((2, n, 9)) < 0.5
    boards = [tuple(jnp.asarray(w) for w in bb.of_points(g, x)) for x in (black, white, first[0], first[1] & ~first[0])]
    margin = jnp.asarray(random.integers(-9, 10, n), jnp.int32)
    records = sums.Records(*boards, margin, jnp.asarray(random.integers(0, 27, n), jnp.int32), jnp.asarray(random.random(n) < 0.2), None)
    valid = jnp.asarray(random.random((2, n // 2)) < 0.9)
    bounds = jnp.asarray(np.broadcast_to(outcome.bounds(0.0, 9), (2, 2)), jnp.int32)

    def made(form: str) -> Sums:
        with forms.within(FORMS[form]):
            return jax.jit(lambda *x: sums.reduce_records(g, *x))(records, bounds, valid)

    expected = made("cpu")
    assert int(expected.num_playouts.sum()) == int(valid.sum()) and int(expected.margins.sum()) == int(valid.sum())
    for form in ("gpu", "plain"):
        for name, a, b in zip(Sums._fields, made(form), expected):
            np.testing.assert_array_equal(a, b, err_msg=f"{form}: {name}", strict=True)
