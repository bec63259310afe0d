"""Statistics of many playouts, summed on the device as exact integers, and turned into rates on the host.

A chunk's sums fit into 32 bits; the host adds chunks in 64. So no result depends on the order of addition.
"""

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.base.one_loop import in_one_loop
from jaxgo.playing.playout import Records

#: Words that are counted side by side.
COUNTERS = 8192
#: Boards that are added to the counters at once.
AT_ONCE = 16


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


def count_points(g: Geometry, words: jax.Array) -> jax.Array:
    """int32 [B, K, P]: how often each point is in K kinds of boards, uint32 words [K, W, B, n].

    The bits are counted in place: counter bit i of all 32 points of a word is one word, and adding boards to the counters is done
    by full adders over whole words, as in Harley and Seal's population count (Warren, "Hacker's Delight", 2nd ed., 5-1).
    """
    kinds, num_words, batch, n = words.shape
    side_by_side = min(n, max(1, COUNTERS // (kinds * num_words * batch)))
    side_by_side = 1 << (side_by_side.bit_length() - 1)
    at_once = min(AT_ONCE, 1 << (-(-n // side_by_side) - 1).bit_length())
    steps = -(-n // (side_by_side * at_once))
    words = jnp.pad(words, ((0, 0), (0, 0), (0, 0), (0, steps * at_once * side_by_side - n)))

    def add(counters, boards):
        out = []
        for counter in counters:
            carries = []
            for a, b in zip(boards[::2], boards[1::2]):
                carries.append((a & b) | (counter & (a | b)))
                counter = counter ^ a ^ b
            if len(boards) % 2:
                carries.append(counter & boards[-1])
                counter = counter ^ boards[-1]
            out.append(counter)
            boards = carries
        return tuple(out)

    def step(i, counters):
        starts = (jnp.int32(side_by_side) * (i * jnp.int32(at_once) + jnp.int32(k)) for k in range(at_once))
        return in_one_loop(add, counters, [lax.dynamic_slice_in_dim(words, s, side_by_side, axis=3) for s in starts])

    # Not zeros outright: in a `shard_map` they must vary over the mesh as the words do.
    zero = words[..., :side_by_side] & jnp.uint32(0)
    counters = lax.fori_loop(0, steps, step, (zero,) * (steps * at_once).bit_length())
    shifts = lax.broadcasted_iota(jnp.uint32, (*zero.shape, g.num_slots * g.stride), 4)
    values = [((c[..., None] >> shifts) & jnp.uint32(1)) << jnp.uint32(i) for i, c in enumerate(counters)]
    sums = jnp.sum(functools.reduce(operator.add, values).astype(jnp.int32), axis=3, dtype=jnp.int32)
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
    margin = records.margin.reshape(shape)
    wins, draws = valid & (margin >= win_from), valid & (margin == draw_at)
    kinds = [
        (area[0], valid), (area[1], valid), (records.first_black, valid), (records.first_white, valid),
        (records.first_black, wins), (records.first_white, wins), (records.first_black, draws), (records.first_white, draws),
    ]  # fmt: skip
    points = count_points(
        g, jnp.stack([jnp.stack([jnp.where(here, w.reshape(shape), jnp.uint32(0)) for w in board]) for board, here in kinds])
    )
    position = lax.broadcasted_iota(jnp.int32, shape, 0)
    return Sums(
        margins=jnp.zeros((shape[0], 2 * g.num_points + 1), jnp.int32).at[position, margin + jnp.int32(g.num_points)].add(count),
        black=points[:, 0],
        white=points[:, 1],
        length=jnp.sum(records.length.reshape(shape) * count, axis=1, dtype=jnp.int32),
        truncated=jnp.sum(records.truncated.reshape(shape).astype(jnp.int32) * count, axis=1, dtype=jnp.int32),
        first=points[:, 2:4],
        first_black_result=points[:, 4:6] * jnp.int32(2) + points[:, 6:8],
    )


def zero_sums(g: Geometry, batch: int) -> Sums:
    """int64 zeros to add chunks to."""
    p = g.num_points
    shapes = ((2 * p + 1,), (p,), (p,), (), (), (2, p), (2, p))
    return Sums(*(np.zeros((batch, *shape), np.int64) for shape in shapes))
