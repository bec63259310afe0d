"""Checks at the door: what they let pass, in which form, and what they say of the rest."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo.base import checks


@pytest.mark.parametrize("value", [0, 3, 0.5, np.float16(0.5), np.float64(2), np.int8(3), np.uint64(2)])
def test_numbers_become_floats(value):
    found = checks.number("k", value, 0)
    assert type(found) is float and found == value


@pytest.mark.parametrize(
    "value", [-1, 10**400, -(10**400), float("inf"), float("nan"), None, "1", True, np.True_, 1j, [1], np.ones(2), jnp.ones(())]
)
def test_what_is_no_number_from_0(value):
    with pytest.raises(ValueError, match=r"k must be a finite number of at least 0, not .{1,60}$"):
        checks.number("k", value, 0)
    with pytest.raises(ValueError, match=r"k must be a number from 0 to 1, not .{1,60}$"):
        checks.number("k", value, 0, 1)


@pytest.mark.parametrize("value", [0, 2, True, np.True_, None, "1", np.ones(2), np.ones(1)])
def test_what_is_none_of_those_allowed(value):
    """True is 1 only for Python."""
    with pytest.raises(ValueError, match="colour must be one of 1, -1, not"):
        checks.one_of("colour", value, (1, -1))
    checks.one_of("colour", -1, (1, -1))


def test_komi_of_all_or_of_each():
    for one in (6.5, np.float32(6.5), np.array(6.5)):
        found = checks.komis(one, 3)
        assert type(found) is float and found == 6.5
    np.testing.assert_array_equal(checks.komis([7, 6.5], 2), np.array([7.0, 6.5]), strict=True)
    with pytest.raises(TypeError, match="komi must be a number or numbers, not bool"):
        checks.komis([True, False], 2)
    with pytest.raises(ValueError, match="komi must be finite, not inf"):
        checks.komis([7.5, np.inf], 2)
