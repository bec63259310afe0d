"""Statistics of many playouts, summed on the device as exact integers, and turned into rates on the host.

A chunk's sums fit into 32 bits; the host adds chunks in 64. So no result depends on the order of addition.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.bitboard import Board
from jaxgo.executor import Records
from jaxgo.geometry import Geometry


class Sums(NamedTuple):
    """Sums over the playouts of each position, int32 `[B, ...]`; results count in halves: win 2, draw 1, loss 0."""

    margins: jax.Array
    """[B, 2 P + 1]: playouts of each margin; index margin + P."""
    black: jax.Array
    """[B, P]: playouts in which Black has a stone, or the area, at the end of each point."""
    white: jax.Array
    """[B, P]: the same of White."""
    length: jax.Array
    """[B]: plies."""
    truncated: jax.Array
    """[B]: playouts that the cap ended."""
    first: jax.Array
    """[B, 2, P]: playouts in which the colour (0 Black, 1 White) was the first to play at each point."""
    first_black_result: jax.Array
    """[B, 2, P]: Black's results, in halves, summed over those playouts."""


def point_sums(g: Geometry, boards: list[Board], weights: list[jax.Array]) -> jax.Array:
    """int32 [B, K, P]: for each of K boards ([B, n] words) and every point, the sum of its weights (int32 [B, n])."""
    words = jnp.stack([jnp.stack(board) for board in boards])[..., None]  # [K, W, B, n, 1]
    shifts = jnp.arange(g.num_slots * g.stride, dtype=jnp.uint32).reshape(1, 1, 1, 1, -1)
    bits = ((words >> shifts) & jnp.uint32(1)).astype(jnp.int32)
    sums = jnp.sum(bits * jnp.stack(weights)[:, None, :, :, None], axis=3, dtype=jnp.int32)  # [K, W, B, bits]
    return jnp.transpose(sums, (2, 0, 1, 3))[:, :, g.word_of_point, g.bit_of_point]


def reduce_records(
    g: Geometry, records: Records, area: tuple[Board, Board], valid: jax.Array, win_from: jax.Array, draw_at: jax.Array
) -> Sums:
    """The sums of a chunk.

    Args:
      g: the board's geometry.
      records: playouts [B * n], with first plays.
      area: the points of Black's and of White's area at the end of each, [B * n] words.
      valid: bool [B, n]: which records are playouts.
      win_from: int32, the least margin with which Black wins.
      draw_at: int32, the margin of a draw, or one that never occurs.
    """
    shape, count = valid.shape, valid.astype(jnp.int32)

    def rows(board: Board) -> Board:
        return tuple(w.reshape(shape) for w in board)

    margin = records.margin.reshape(shape)
    result = (jnp.where(margin >= win_from, jnp.int32(2), (margin == draw_at).astype(jnp.int32))) * count
    position = jnp.broadcast_to(jnp.arange(shape[0], dtype=jnp.int32)[:, None], shape)
    firsts = [rows(records.first_black), rows(records.first_white)]
    points = point_sums(g, [rows(area[0]), rows(area[1]), *firsts, *firsts], [count] * 4 + [result] * 2)
    return Sums(
        margins=jnp.zeros((shape[0], 2 * g.num_points + 1), jnp.int32).at[position, margin + jnp.int32(g.num_points)].add(count),
        black=points[:, 0],
        white=points[:, 1],
        length=jnp.sum(records.length.reshape(shape) * count, axis=1, dtype=jnp.int32),
        truncated=jnp.sum(records.truncated.reshape(shape).astype(jnp.int32) * count, axis=1, dtype=jnp.int32),
        first=points[:, 2:4],
        first_black_result=points[:, 4:6],
    )


def zero_sums(g: Geometry, batch: int) -> Sums:
    """int64 zeros to add chunks to."""
    p = g.num_points
    shapes = ((2 * p + 1,), (p,), (p,), (), (), (2, p), (2, p))
    return Sums(*(np.zeros((batch, *shape), np.int64) for shape in shapes))
