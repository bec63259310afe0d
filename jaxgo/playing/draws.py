"""The random numbers of a playout: counter-based, so that a playout depends on its own name only.

A playout is named by (seed, stream, playout): the caller's seed, the position's stream (by default its index in the batch) and
the playout's number. `stream_key` hashes the name to 64 bits; draw number i of the playout is `bits(counter + i * STEP, key)`.
Nothing else enters: not the lane, the tile, the batch, the backend or the device.

The mixing function is the multiply-xorshift finaliser "lowbias32" (Chris Wellons, "Prospecting for hash functions", 2018), with
the second half of the key entering between its two multiplications, so that two playouts whose counters overlap still differ.
A number below n is the high half of the 64-bit product with n (Lemire, "Fast random integer generation in an interval", 2019):
its bias is below n / 2**32, 2e-8 for 81 candidates, far under what 10**9 draws could show.

A playout policy (`jaxgo.playing.policies`) tosses a coin in each ply. Coins are hashes of their own, of the counter at which the
ply began, and move no counter: a policy that is never asked changes no draw.
"""

import jax
import jax.numpy as jnp
import numpy as np

#: The counter's step, 2**32 / golden ratio, odd: all 2**32 counters are visited.
STEP = 0x9E3779B9
#: A coin is one of so many numbers.
CHANCES = 1 << 24


def bits(counter: jax.Array, key: jax.Array) -> jax.Array:
    """32 random bits, uint32: a hash of a counter and a key (uint32, of one shape)."""
    x = counter
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = x ^ key
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def below(random: jax.Array, n: jax.Array) -> jax.Array:
    """uint32 in [0, n): `random * n >> 32` of 32 random bits and `n` < 2**16, in 32-bit arithmetic. 0 where n is 0."""
    low = (random & np.uint32(0xFFFF)) * n
    high = (random >> np.uint32(16)) * n
    return (high + (low >> np.uint32(16))) >> np.uint32(16)


def coin(counter: jax.Array, key: jax.Array, number: int) -> jax.Array:
    """int32 in [0, CHANCES): coin number `number` of the ply that begins at a counter, apart from all draws and other coins."""
    salt = (0x51ED270B * (2 * number + 1)) & 0xFFFFFFFF
    return (bits(counter ^ np.uint32(salt), ~key) >> np.uint32(8)).astype(jnp.int32)


def stream_key(seed: tuple[jax.Array, jax.Array], stream: jax.Array, playout: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(counter, key), uint32: where the random numbers of a playout begin.

    Args:
      seed: two uint32 words.
      stream: int32, the position's stream.
      playout: int32, the playout's number.
    """
    stream, playout = stream.astype(jnp.uint32), playout.astype(jnp.uint32)
    a = bits(playout + np.uint32(STEP), seed[0])
    b = bits(stream + np.uint32(0x85EBCA6B), seed[1])
    counter = bits(a + np.uint32(1), b)
    key = bits(b ^ (playout * np.uint32(0xC2B2AE35)), a + seed[1])
    return bits(counter, key ^ np.uint32(0x27D4EB2F)), bits(key, counter)


def seed_words(seed) -> tuple[jax.Array, jax.Array]:
    """Two uint32 words from an int in [0, 2**64) or a jax key (typed, or raw uint32 [2])."""
    if isinstance(seed, (int, np.integer)):
        return jnp.uint32(int(seed) & 0xFFFFFFFF), jnp.uint32(int(seed) >> 32)
    if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        seed = jax.random.key_data(seed)
    return seed[..., -2].astype(jnp.uint32), seed[..., -1].astype(jnp.uint32)
