"""What a running program and the host tell each other, and what becomes of it where that fails."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxgo.backends import exchange
from jaxgo.backends.cpu import Cpu


def mirror(number, *arrays):
    """A program that gives the arrays to the host, and returns its answer of the same types."""
    return exchange.exchange(number, arrays, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays])


def test_arrays_of_every_type_come_and_go():
    arrays = [(np.arange(6) % 2).astype(dtype).reshape(2, 3) for dtype in exchange.DTYPES.values()]
    arrays += [np.zeros((0, 2), np.int32), np.int16(-7)]
    seen = []

    def answer(given, wanted):
        seen.extend(x.copy() for x in given)
        for x, y in zip(given, wanted):
            y[...] = ~x if x.dtype == np.bool_ else x + x.dtype.type(1)

    with exchange.answering(answer) as number:
        found = jax.jit(mirror)(np.int32(number), *arrays)
    for x, given, y in zip(arrays, seen, found):
        np.testing.assert_array_equal(given, x, strict=True)
        np.testing.assert_array_equal(y, ~x if x.dtype == np.bool_ else x + x.dtype.type(1), strict=True)


def test_other_types_are_refused_at_the_door():
    with pytest.raises(TypeError, match="must be of bool, int8, .*, not float32"):
        jax.jit(mirror)(np.int32(0), np.zeros(2, np.float32))


def counting(number):
    """A program that asks until it is told 0; how often it has asked."""

    def ask(state):
        asked = state[0] + jnp.int32(1)
        return asked, exchange.exchange(number, [asked], [jax.ShapeDtypeStruct((), np.int32)])[0]

    return lax.while_loop(lambda x: x[1] != jnp.int32(0), ask, (jnp.int32(0), jnp.int32(1)))[0]


def test_a_program_is_answered_until_the_host_has_had_enough():
    seen = []

    def answer(given, wanted):
        seen.append(int(given[0]))
        wanted[0][...] = len(seen) < 20

    with exchange.answering(answer) as number:
        assert int(jax.jit(counting)(np.int32(number))) == 20
    assert seen == list(range(1, 21))


def test_programs_side_by_side_have_answers_of_their_own():
    program = jax.jit(counting)

    def answer_of(most):
        return lambda given, wanted: np.copyto(wanted[0], given[0] < most)

    with exchange.answering(answer_of(3)) as few, exchange.answering(answer_of(300)) as many:
        found = [program(np.int32(number)) for number in (many, few, many)]
        assert [int(x) for x in found] == [300, 3, 300]


def test_what_the_host_raises_ends_the_program_and_is_raised_then():
    def answer(given, wanted):
        if given[0] == 5:
            raise KeyError("no such leaf")
        wanted[0][...] = 1

    with pytest.raises(KeyError, match="no such leaf"), exchange.answering(answer) as number:
        assert int(jax.jit(counting)(np.int32(number))) == 5


def test_a_program_whose_function_has_gone_ends():
    with exchange.answering(lambda given, wanted: None) as number:
        pass
    assert int(jax.jit(counting)(np.int32(number))) == 1


@pytest.mark.parametrize("what", ["another interface", "no header", "wrong answers"])
def test_where_it_fails_that_is_said_once_and_there_is_a_way_out(monkeypatch, what):
    def no_header():
        raise OSError("no c_api.h")

    if what == "wrong answers":
        monkeypatch.setattr(exchange, "DTYPES", exchange.DTYPES | {3: np.dtype(">i2")})
    else:
        monkeypatch.setattr(exchange, "_version", no_header if what == "no header" else lambda: (exchange.MAJOR + 1, 0))
    exchange.trusted.cache_clear()
    try:
        with pytest.warns(UserWarning, match="do not exchange arrays with the host"):
            assert not Cpu().exchanges()
        assert not Cpu().exchanges()
    finally:
        monkeypatch.undo()
        exchange.trusted.cache_clear()
    assert Cpu().exchanges()
