"""The random numbers of playouts: exact arithmetic, and streams that do not repeat each other."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxgo.playing import draws
from jaxgo.running.request import seed_words
from tests import chi_square

COUNT = 200_000

bits = jax.jit(draws.bits)


def numbers(count: int, counter: int = 0, key: int = 0) -> np.ndarray:
    """uint32 [count]: successive draws of one stream."""
    steps = np.arange(count, dtype=np.uint32) * np.uint32(draws.STEP) + np.uint32(counter)
    return np.asarray(bits(steps, np.full(count, key, np.uint32)))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 81, 361, 625, 2**16 - 1])
def test_below_is_the_high_half_of_the_product(n):
    random = np.concatenate([numbers(10_000), np.array([0, 1, 2**16 - 1, 2**16, 2**32 - 1], np.uint32)])
    actual = np.asarray(draws.below(jnp.asarray(random), jnp.full(random.shape, n, jnp.uint32)))
    np.testing.assert_array_equal(actual, random.astype(object) * n >> 32)
    assert actual.max() < max(n, 1)


@pytest.mark.parametrize("n", [2, 3, 5, 17, 81, 361, 625])
@pytest.mark.parametrize("counter, key", [(0, 0), (1, 0), (0, 1), (12345, 2**32 - 1)])
def test_draws_of_a_stream_are_uniform_and_independent(n, counter, key):
    drawn = np.asarray(draws.below(jnp.asarray(numbers(COUNT, counter, key)), jnp.full(COUNT, n, jnp.uint32))).astype(int)
    assert chi_square.uniform_p_value(np.bincount(drawn, minlength=n)) > chi_square.ALPHA
    coarse = drawn * 16 // n
    for lag in (1, 2, 3, 168):
        table = np.bincount(16 * coarse[:-lag] + coarse[lag:], minlength=256).reshape(16, 16)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > chi_square.ALPHA, lag


def test_every_bit_of_the_counter_matters():
    """Avalanche: flipping one bit flips each bit of the result half of the time (standard error .0016 a bit)."""
    counter, key = np.random.default_rng(0).integers(0, 2**32, (2, 100_000), dtype=np.uint32)
    base = np.asarray(draws.bits(counter, key))
    for bit in range(32):
        changed = base ^ np.asarray(draws.bits(counter ^ np.uint32(1 << bit), key))
        assert np.abs(bit_rates(changed) - 0.5).max() < 0.008, bit


def bit_rates(words: np.ndarray) -> np.ndarray:
    """float [bits]: how often each bit is set in an array of unsigned integers."""
    return np.array([(words >> words.dtype.type(bit) & words.dtype.type(1)).mean() for bit in range(8 * words.itemsize)])


def keys(seed: int, streams: np.ndarray, playouts: np.ndarray) -> np.ndarray:
    """uint64 [n]: where the random numbers of playouts begin, as one number."""
    counter, key = draws.stream_key(draws.seed_words(seed), jnp.asarray(streams, jnp.int32), jnp.asarray(playouts, jnp.int32))
    return np.asarray(counter).astype(np.uint64) << np.uint64(32) | np.asarray(key).astype(np.uint64)


def test_every_bit_of_a_name_matters():
    """Avalanche from seed, stream and playout to the place where the playout's numbers begin, over small names (standard error .0035 a bit; of 64 by 64 bits the
    farthest from a half is expected 4 of them away, and is 6)."""
    names = np.arange(20_000)
    base = keys(1, names // 200, names % 200)
    for bit in range(64):
        assert np.abs(bit_rates(base ^ keys(1 ^ 1 << bit, names // 200, names % 200)) - 0.5).max() < 0.025, bit
    for bit in range(31):
        assert np.abs(bit_rates(base ^ keys(1, names // 200 ^ 1 << bit, names % 200)) - 0.5).max() < 0.025, bit
        assert np.abs(bit_rates(base ^ keys(1, names // 200, names % 200 ^ 1 << bit)) - 0.5).max() < 0.025, bit


def test_numbers_are_those_of_other_versions():
    """Written down with jax 0.10, and the same with 0.12."""
    counter, key = np.array([0, 1, 12345, 2**32 - 1], np.uint32), np.array([0, 7, 2**31, 2**32 - 1], np.uint32)
    assert np.asarray(draws.bits(counter, key)).tolist() == [0, 3975574050, 3082410592, 2185652068]
    assert np.asarray(draws.coin(counter, key, 0)).tolist() == [12500402, 8880067, 5305624, 15782124]
    assert np.asarray(draws.coin(counter, key, 1)).tolist() == [2250582, 6884939, 11452586, 13574751]
    found = keys(2**40 + 5, np.array([0, 1, 3]), np.array([0, 2, 2**30]))
    assert [divmod(int(x), 2**32) for x in found] == [(3213192723, 3988409557), (970601401, 2061820113), (3229060270, 1207656235)]


def test_coins_are_uniform_and_say_nothing_of_each_other_or_of_the_draw():
    """Those of three policies in the plies of a stream, and the numbers that are drawn there."""
    counter, key = np.arange(COUNT, dtype=np.uint32) * np.uint32(draws.STEP), np.full(COUNT, 12345, np.uint32)
    coins = [np.asarray(draws.coin(counter, key, number)).astype(np.int64) * 16 // draws.CHANCES for number in range(3)]
    drawn = np.asarray(draws.bits(counter, key)) >> np.uint32(28)
    for values in coins:
        assert chi_square.uniform_p_value(np.bincount(values, minlength=16)) > chi_square.ALPHA
    for one, other in itertools.combinations([*coins, drawn.astype(np.int64)], 2):
        table = np.bincount(16 * one + other, minlength=256).reshape(16, 16)
        assert stats.chi2_contingency(table).pvalue > chi_square.ALPHA


def test_playouts_begin_at_different_places():
    """In the orders in which callers number their playouts, over several seeds: of 64-bit places, none should repeat."""
    num_names = 250_000
    count, zero = np.arange(num_names), np.zeros(num_names)
    places = [
        keys(0, zero, count),
        keys(0, count, zero + 2**30),
        keys(1, count // 1000 + 2, count % 1000),
        keys(2**32, count % 1000, count // 1000),
        keys(2**64 - 1, count % 7, 2**31 - 1 - count // 7),
    ]
    assert len(np.unique(np.concatenate(places))) == len(places) * num_names
    for place in places:
        for part in (place >> np.uint64(32), place & np.uint64(2**32 - 1)):
            # 250,000 of 2^32 numbers: 7.3 repeats are expected, standard error 2.7.
            assert num_names - len(np.unique(part)) < 7.3 + 5 * 2.7


def test_seeds():
    """Integers of up to 64 bits, and jax keys, typed or raw, are two words."""

    def words(seed):
        return [int(word) for word in draws.seed_words(seed)]

    assert words(5) == [5, 0] and words(np.int64(5)) == [5, 0]
    assert words(2**64 - 1) == [2**32 - 1] * 2
    assert words(jax.random.key(3)) == words(jax.random.PRNGKey(3)) == np.asarray(jax.random.PRNGKey(3)).tolist()
    with jax.default_prng_impl("rbg"):  # whose keys have four words
        assert words(jax.random.key(3)) == words(jax.random.PRNGKey(3)) == list(seed_words(jax.random.PRNGKey(3)))
    assert words(jax.random.key(3)) != words(jax.random.key(4))
