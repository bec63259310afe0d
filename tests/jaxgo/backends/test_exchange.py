"""What a running program and the host tell each other, and what becomes of it where that fails."""

import ctypes

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


def buffers_of(array: np.ndarray) -> exchange._Buffers:
    """One, as XLA has them, in the array's memory; in none where it has no elements."""
    (number,) = (number for number, dtype in exchange.DTYPES.items() if dtype == array.dtype)
    data, dims = array.ctypes.data if array.size else None, (ctypes.c_int64 * array.ndim)(*array.shape)
    buffer = exchange._Buffer(dtype=number, data=data, rank=array.ndim, dims=dims)
    return exchange._Buffers(count=1, buffers=(ctypes.POINTER(exchange._Buffer) * 1)(ctypes.pointer(buffer)))


def test_arrays_in_one_place_are_told_apart():
    """They are known again; XLA may lay others, of another type or shape, where they were."""
    memory, known = np.arange(12, dtype=np.uint8), {}
    arrays = [memory, memory.reshape(3, 4), memory.reshape(4, 3), memory[:6], memory.view(np.int8), memory.view(np.int16)]
    arrays += [np.zeros((0, 2), np.int32), np.zeros((2, 0), np.int32)]
    first, again = ([exchange._arrays(buffers_of(array), known)[0] for array in arrays] for _ in range(2))
    for array, one, other in zip(arrays, first, again):
        np.testing.assert_array_equal(one, array, strict=True)
        assert other is one
    first[0][...] = 7
    assert (memory == 7).all()


@pytest.mark.parametrize(("given", "wanted"), [("float32", "float32"), ("float32", "int32"), ("int32", "float32")])
def test_other_types_are_refused_at_the_door(given, wanted):
    with pytest.raises(TypeError, match="must be of bool, int8, .*, not float32"):
        exchange.exchange(np.int32(0), [np.zeros(2, given)], [jax.ShapeDtypeStruct((2,), wanted)])


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


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_what_the_host_raises_ends_the_program_and_is_raised_then(error):
    def answer(given, wanted):
        if given[0] == 5:
            raise error("no such leaf")
        wanted[0][...] = given[0] < 9

    with pytest.raises(error, match="no such leaf"), exchange.answering(answer) as number:
        assert int(jax.jit(counting)(np.int32(number))) == 5


def test_after_it_has_failed_the_host_is_asked_no_more():
    """Its first error is the one to be raised."""
    program, asked = jax.jit(counting), []

    def answer(given, wanted):
        asked.append(given[0])
        raise KeyError(f"failure {len(asked)}")

    with pytest.raises(KeyError, match="failure 1"), exchange.answering(answer) as number:
        assert [int(program(np.int32(number))) for _ in range(3)] == [1, 1, 1]
    assert len(asked) == 1


def test_the_host_is_told_also_where_its_answer_is_not_used():
    told = []

    def program(number):
        mirror(number, number + np.int32(1))
        return number

    with exchange.answering(lambda given, wanted: told.append(int(given[0]))) as number:
        assert int(jax.jit(program)(np.int32(number))) == number
    assert told == [number + 1]


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
