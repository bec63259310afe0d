"""The single-loop form of elementwise functions: the same results, and in use where it should be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo.base import one_loop


def step(state: dict, other: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """An elementwise function of two kinds of integers with more results than arguments."""
    total = state["a"].astype(jnp.int32) * jnp.int32(3) + state["b"]
    return total, jnp.where(total < jnp.int32(0), other, other >> jnp.uint32(1)), state["a"] ^ other


def arguments(count: int) -> tuple[dict, jax.Array]:
    """Random words of both signs."""
    a, b, c = np.random.default_rng(0).integers(0, 2**32, (3, count), dtype=np.uint32)
    return {"a": jnp.asarray(a), "b": jnp.asarray(b.view(np.int32))}, jnp.asarray(c)


@pytest.mark.parametrize("count", [1, 7, 1000])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_the_form_does_not_change_the_results(count, wrap):
    expected = step(*arguments(count))
    actual = wrap(lambda *args: one_loop.in_one_loop(step, *args))(*arguments(count))
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_the_form_is_used():
    """On this version of XLA the fast form is valid; if not, playouts are right but slow, and this test tells."""
    assert one_loop.trusted()


def test_types_may_differ_between_arguments_and_results():
    def mean_sign(x, y):
        return (x + y.astype(jnp.float32)) / jnp.float32(2), y > jnp.int32(0)

    x, y = jnp.arange(5, dtype=jnp.float32), jnp.arange(-2, 3, dtype=jnp.int32)
    actual = jax.jit(lambda *args: one_loop.in_one_loop(mean_sign, *args))(x, y)
    for one, other in zip(actual, mean_sign(x, y), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
