"""A uniform choice among the true entries of a mask: the random mover of the comparisons with pgx, the same for both sides."""

import jax
import jax.numpy as jnp


def choose_uniformly(key: jax.Array, mask: jax.Array) -> jax.Array:
    """Draws one true entry per row, each with the same probability.

    Counting and a running sum: half the cost of a Gumbel draw per entry (`jax.random.categorical`).

    Args:
      key: a jax key; it is consumed.
      mask: bool `[B, M]`.

    Returns:
      int32 `[B]`: the index of the entry; 0 in a row without a true one.
    """
    num_true = mask.sum(axis=1, dtype=jnp.int32)
    rank = jax.random.randint(key, num_true.shape, 0, jnp.maximum(num_true, 1))
    running = jnp.cumsum(mask, axis=1, dtype=jnp.int32)
    return jnp.argmax(running > rank[:, None], axis=1).astype(jnp.int32)
