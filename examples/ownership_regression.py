"""A value function learnt from ownership: linear regression from a position's planes to who ends up with each point.

Positions of random games are evaluated by playouts, which say of each point how often Black has it in the end; weights for the
planes around a point are fitted to that, and tried on positions that they have not seen.
"""

import argparse

import jax.numpy as jnp
import numpy as np

import jaxgo

REACH = 2
"""How far from a point stones count."""


def positions(size: int, games: int, seed: int) -> jaxgo.Position:
    """A position from each of some random games, after a random number of its moves."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), games, moves=True, seed=seed)
    moves, rng = np.asarray(played.moves)[0], np.random.default_rng(seed)
    lengths = rng.integers(size, size * size, games)
    position = jaxgo.Position.empty(size, games)
    for ply in range(int(lengths.max())):
        going_on = (ply < lengths) & (moves[:, ply] >= 0)
        position = position.play(moves[:, ply], where=going_on)
    return position


def surroundings(position: jaxgo.Position) -> jnp.ndarray:
    """float32 [B * P, F]: of each point, the stones near it (1 Black, -1 White), whether they are on the board, and who moves."""
    stones = jnp.asarray(position.to_array(), jnp.float32)
    batch, size, _ = stones.shape
    wide = ((0, 0), (REACH, REACH), (REACH, REACH))
    padded, inside = jnp.pad(stones, wide), jnp.pad(jnp.ones_like(stones), wide)
    shifts = [(dy, dx) for dy in range(2 * REACH + 1) for dx in range(2 * REACH + 1)]
    near = [plane[:, dy : dy + size, dx : dx + size] for plane in (padded, inside) for dy, dx in shifts]
    to_play = jnp.broadcast_to(jnp.asarray(position.to_play, jnp.float32)[:, None, None], stones.shape)
    return jnp.stack([*near, to_play], axis=-1).reshape(batch * size * size, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--playouts", type=int, default=500)
    asked = parser.parse_args()
    known, unknown = (positions(asked.size, asked.games, seed) for seed in (1, 2))
    told = [jnp.asarray(jaxgo.evaluate(x, asked.playouts, seed=3).ownership, jnp.float32).ravel() for x in (known, unknown)]
    weights, *_ = jnp.linalg.lstsq(surroundings(known), told[0])
    guessed = surroundings(unknown) @ weights
    left = float(jnp.mean((told[1] - guessed) ** 2) / jnp.var(told[1]))
    print(f"{asked.games} positions, {len(weights)} weights: {1 - left:.0%} of the variance of ownership in positions not seen")


if __name__ == "__main__":
    main()
