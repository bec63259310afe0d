"""PTX from elementwise functions: what simulated warps make of it is what jax computes."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from bench import warp
from jaxgo.backends import ptx
from jaxgo.backends.ptx import Kernel, constant

#: Numbers at which operations turn.
EDGES = np.array(
    [0, 1, 2, 31, 32, 33, 63, 64, 2**15, 2**16, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 33, 2**32 - 2, 2**32 - 1], np.uint32
)


def run(function, *columns: np.ndarray) -> np.ndarray:
    """What a kernel makes of a function's arguments, uint32 or int32 [64]; it returns one or several of these."""
    k = Kernel("test", ["taken"], ["given"])
    thread = k.op("mad.lo.s32", np.int32, k.special("%ctaid.x"), constant(ptx.WARP), k.special("%tid.x"))
    cell = k.at(k.address("taken"), thread, constant(4))
    args = [k.load(cell, 256 * i)._replace(dtype=column.dtype) for i, column in enumerate(columns)]
    results = jax.tree.leaves(k.inline(function, *args), is_leaf=ptx.is_value)
    cell = k.at(k.address("given"), thread, constant(4))
    for i, result in enumerate(results):
        k.store(cell, result, offset=256 * i)
    given = np.zeros((len(results), 64), np.uint32)
    arrays = [np.stack([x.view(np.uint32) for x in columns]), *k.tables, given]
    warp.run(k.text(), dict(zip(k.arrays, arrays, strict=True)), 2)
    return given


def assert_same(function, *columns: np.ndarray) -> None:
    expected = jax.tree.leaves(jax.vmap(function)(*columns))
    for found, x in zip(run(function, *columns), expected, strict=True):
        np.testing.assert_array_equal(found, np.asarray(x).view(np.uint32))


def pairs(dtype) -> tuple[np.ndarray, np.ndarray]:
    """64 pairs, of edges and others."""
    rng = np.random.default_rng(1)
    some, others, places = (rng.integers(0, most, 32, dtype=np.uint32) for most in (2**32, 2**32, 32))
    a = np.concatenate([EDGES, EDGES, some])
    b = np.concatenate([EDGES, EDGES[::-1], others >> places])
    return a.view(dtype), b.view(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize(
    "function",
    [
        operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor, lax.max, lax.min,
        lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic,
    ],
)  # fmt: skip
def test_operations(function, dtype):
    assert_same(function, *pairs(dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("function", [lax.div, lax.rem, operator.floordiv, operator.mod])
def test_division(function, dtype):
    """By anything but 0, for which jax promises nothing."""
    a, b = pairs(dtype)
    assert_same(function, a, np.where(b == 0, dtype(7), b))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_comparisons_and_choices(dtype):
    def function(a, b):
        found = [op(a, b) for op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)]
        odd = (a & dtype(1)) != dtype(0)
        found += [found[0] == odd, found[0] != odd, ~odd, jnp.where(odd, found[0], found[4]), odd.astype(jnp.int32).astype(bool)]
        return [jnp.where(x, a, b) for x in found] + [x.astype(jnp.uint32) for x in found]

    assert_same(function, *pairs(dtype))


def test_single_operands():
    def function(a):
        b = a.astype(jnp.int32)
        return ~a, -b, jnp.sign(b), lax.population_count(a), jnp.full_like(a, 5) + a

    assert_same(function, pairs(np.uint32)[0])


def test_wide_words():
    """64 bits: made of two words, computed with, and taken apart."""

    def function(a, b):
        x = (a.astype(jnp.int64) << jnp.int64(32)) | b.astype(jnp.int64)
        y = lax.shift_right_logical(~x, jnp.full_like(x, 3)) + x
        z = jnp.where(x > y, x & y, x << (b & jnp.uint32(63)).astype(jnp.int64))
        z = z ^ lax.shift_right_arithmetic(x, a.astype(jnp.int64))
        out = z, lax.shift_right_logical(z, jnp.int64(32)), lax.population_count(z), z != 0
        return [x.astype(jnp.uint32) for x in out]

    with jax.enable_x64(True):
        assert_same(function, *pairs(np.uint32))


def test_loops():
    """Loops in loops, which lanes leave after different numbers of rounds, some at once; with constants and what is carried."""

    def function(a, b):
        def halve(state):
            left, steps, seen = state
            inner = lax.while_loop(lambda x: x[0] >= jnp.uint32(3), lambda x: (x[0] - jnp.uint32(3), x[1] + b), (left & jnp.uint32(31), b))
            return left >> jnp.uint32(1), steps + jnp.uint32(1), ~seen ^ (inner[1] > a)

        left, steps, seen = lax.while_loop(lambda x: x[0] != jnp.uint32(0), halve, (a & jnp.uint32(0xFFFF), jnp.uint32(1), a > b))
        return left, steps, seen.astype(jnp.uint32), jnp.any(seen).astype(jnp.uint32)

    assert_same(function, *pairs(np.uint32))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint32])
def test_looking_up(dtype):
    """In constants, each of which is one table; beyond its ends are the last ones there, as XLA has it."""
    table = np.random.default_rng(3).integers(0, 256, 50).astype(dtype)

    def function(a, b):
        first, second = (jnp.asarray(table).at[x % jnp.uint32(50)].get(mode="promise_in_bounds") for x in (a, b))
        beyond = [lax.dynamic_index_in_dim(jnp.asarray(table), x, keepdims=False).astype(jnp.int32) for x in (a, a.astype(jnp.int32))]
        return first.astype(jnp.int32) + jnp.int32(1), second.astype(jnp.uint32), jnp.asarray(table)[3].astype(jnp.int32), *beyond

    assert_same(function, *pairs(np.uint32))


def test_what_has_no_instruction_is_told():
    k = Kernel("test", [])
    x = k.special("%tid.x")
    table = jnp.zeros(4, jnp.uint8)
    for function, told in (
        (lambda x: jnp.stack([x, x]).sum(), "of arrays"), (lambda x: table.max(), "of an array in memory"),
        (lambda x: table[x] + jnp.uint8(1), "no instruction for add of uint8"), (lambda x: jnp.asarray(np.eye(4))[x, x], "axes"),
        (lambda x: lax.clz(x), "no instruction for clz of int32"), (lambda x: x.astype(jnp.float32), "of int32 to float32"),
        (lambda x: jnp.asarray(np.ones(4, np.float32))[x] > 0, "looking up in an array of float32"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=told):
            k.inline(function, x)


def test_a_value_is_computed_once():
    k = Kernel("test", [])
    x = k.special("%tid.x")
    a, b = k.inline(lambda x: (x + jnp.int32(3), x + jnp.int32(3)), x)
    assert a == b and k.inline(lambda x: x + jnp.int32(3), x) == a
    k.label("elsewhere")
    assert k.inline(lambda x: x + jnp.int32(3), x) != a


def test_moves_are_made_all_at_once():
    k = Kernel("test", ["given"])
    lane = k.special("%tid.x")
    a, b, c = k.registers((lane, lane, lane))
    k.move((a, b, c), (lane, constant(7), k.inline(lambda x: x * jnp.int32(2), lane)))
    k.move((a, b, c), (b, c, a))
    cell = k.at(k.address("given"), lane, constant(4))
    for i, x in enumerate((a, b, c)):
        k.store(cell, x, offset=4 * ptx.WARP * i)
    given, lanes = np.zeros((3, ptx.WARP), np.uint32), np.arange(ptx.WARP)
    warp.run(k.text(), {"given": given}, 1)
    np.testing.assert_array_equal(given, [np.full(ptx.WARP, 7), 2 * lanes, lanes])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: jnp.sin(x.astype(jnp.float32)).astype(jnp.uint32), "to float32"),
        (lambda x: jnp.stack([x, x])[0], "of arrays"),
        (lambda x: lax.fori_loop(0, 3, lambda i, x: x + jnp.uint32(1), x), "scan|while"),
    ],
)
def test_what_is_not_elementwise_is_refused(function, message):
    with pytest.raises(NotImplementedError, match=message):
        run(function, pairs(np.uint32)[0])
