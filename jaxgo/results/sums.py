"""Statistics of many playouts, summed on the device as exact integers.

A chunk's sums fit into 32 bits; the host adds chunks in 64. So no result depends on the order of addition.
"""

import functools
import operator
from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import forms
from jaxgo.base.arrays import Array
from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import Geometry
from jaxgo.board.rules import areas
from jaxgo.playing.wire import Records
from jaxgo.results import outcome

#: What may be summed besides results, margins and lengths, and takes memory: a histogram of margins, the owners of points, and
#: statistics of all moves as first.
STATISTICS = ("margins", "ownership", "amaf")
#: Boards that are added to the counters at once.
AT_ONCE = 16
#: Squares of margins are summed in two parts, so that 32 bits hold those of a chunk: multiples of this, and what is left.
LOW = 256


class Sums(NamedTuple, Generic[Array]):
    """Sums over the playouts of each position, int32 (of a chunk, on the device) or int64 `[B, ...]`.

    Attributes:
      num_playouts: [B]: playouts.
      wins: [B]: playouts that Black won.
      draws: [B]: playouts that were drawn.
      lead: [B]: margins, Black's area minus White's.
      squares: [B, 2]: squares of the margins, in multiples of LOW and what is left.
      length: [B]: plies.
      truncated: [B]: playouts that the cap, or `jaxgo.Mercy`, ended.
      margins: [B, 2 P + 1]: playouts of each margin; index margin + P.
      owned: [B, P]: playouts in which Black has the area of each point at the end, minus those in which White has it.
      first: [B, 2, P]: playouts in which the colour (0 Black, 1 White) was the first to play at each point.
      first_results: [B, 2, P]: that colour's results, in halves, summed over those playouts.
    """

    num_playouts: Array
    wins: Array
    draws: Array
    lead: Array
    squares: Array
    length: Array
    truncated: Array
    margins: Array | None
    owned: Array | None
    first: Array | None
    first_results: Array | None


def count_in_place(counters: Sequence[jax.Array], boards: Sequence[jax.Array]) -> tuple[jax.Array, ...]:
    """The counters after the boards have been added: counter bit i of all points of a word is one word.

    By full adders over whole words, as in Harley and Seal's population count (Warren, "Hacker's Delight", 2nd ed., 5-1).
    """
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


def counted(counters: Sequence[jax.Array], bits: int) -> jax.Array:
    """int32 [..., bits]: the counts of the words' first bits, of words [...] that `count_in_place` gave."""
    shifts = lax.broadcasted_iota(jnp.uint32, (*counters[0].shape, bits), counters[0].ndim)
    values = [((counter[..., None] >> shifts) & np.uint32(1)) << np.uint32(i) for i, counter in enumerate(counters)]
    return functools.reduce(operator.add, values).astype(jnp.int32)


def count_points(g: Geometry, words: jax.Array) -> jax.Array:
    """int32 [B, K, P]: how often each point is in K kinds of boards, uint32 words [K, W, B, n]."""
    kinds, num_words, batch, n = words.shape
    side_by_side = min(n, max(1, forms.current().counters // (kinds * num_words * batch)))
    side_by_side = 1 << (side_by_side.bit_length() - 1)
    at_once = min(AT_ONCE, 1 << (-(-n // side_by_side) - 1).bit_length())
    steps = -(-n // (side_by_side * at_once))
    words = jnp.pad(words, ((0, 0), (0, 0), (0, 0), (0, steps * at_once * side_by_side - n)))

    def step(i, counters):
        starts = (np.int32(side_by_side) * (i * np.int32(at_once) + np.int32(k)) for k in range(at_once))
        return in_one_loop(count_in_place, counters, [lax.dynamic_slice_in_dim(words, s, side_by_side, axis=3) for s in starts])

    # Not zeros outright: in a `shard_map` they must vary over the mesh as the words do.
    zero = words[..., :side_by_side] & np.uint32(0)
    counters = lax.fori_loop(0, steps, step, (zero,) * (steps * at_once).bit_length())
    counts = jnp.sum(counted(counters, g.num_slots * g.stride), axis=3, dtype=jnp.int32)
    return bb.point_order(g, jnp.transpose(counts, (2, 0, 1, 3)))


def histogram(places: jax.Array, times: jax.Array, width: int) -> jax.Array:
    """int32 [B, width]: how often each place occurs in a row of `places`, int32 [B, n], each counted so many times."""
    if forms.current().adds_in_place:
        row = lax.broadcasted_iota(jnp.int32, places.shape, 0)
        return jnp.zeros((len(places), width), jnp.int32).at[row, places].add(times)
    here = places[..., None] == lax.broadcasted_iota(jnp.int32, (1, 1, width), 2)
    return jnp.sum(jnp.where(here, times[..., None], np.int32(0)), axis=1, dtype=jnp.int32)


def square_sums(margin: jax.Array, times: jax.Array) -> jax.Array:
    """int32 [B, 2]: sums of the squares of margins, int32 [B, n], in the two parts of `Sums.squares`, each so many times."""
    squares = jnp.square(margin).astype(jnp.uint32)
    parts = squares // np.uint32(LOW), squares % np.uint32(LOW)
    return jnp.stack([_total(part.astype(jnp.int32) * times) for part in parts], axis=1)


def _total(x: jax.Array) -> jax.Array:
    """int32 [B]: sums of [B, n]."""
    return jnp.sum(x, axis=1, dtype=jnp.int32)


def reduce_records(
    g: Geometry, records: Records, bounds: jax.Array, valid: jax.Array, statistics: Collection[str] = STATISTICS
) -> Sums[jax.Array]:
    """The sums of a chunk.

    Args:
      g: the board's geometry.
      records: playouts [B * n], with first plays where "amaf" is wanted.
      bounds: int32 [B, 2], as `jaxgo.results.outcome.bounds` gives them.
      valid: bool [B, n]: which records are playouts.
      statistics: which of `STATISTICS` are wanted.
    """
    shape = valid.shape
    margin = records.margin.reshape(shape)
    result = jnp.where(valid, outcome.of_black(margin, bounds[:, None]), np.int32(-1))
    won, drawn = result == np.int32(outcome.WIN), result == np.int32(outcome.DRAW)

    margins = owned = first = first_results = None
    # Each margin, how often it occurs, and its result: those of the playouts, or, which is less work, those of the histogram.
    each, times, results = margin, valid.astype(jnp.int32), result
    if "margins" in statistics:
        margins = histogram(margin + np.int32(g.num_points), times, 2 * g.num_points + 1)
        each, times = lax.broadcasted_iota(jnp.int32, margins.shape, 1) - np.int32(g.num_points), margins
        results = outcome.of_black(each, bounds[:, None])
    kinds = []
    if "ownership" in statistics:
        kinds += [(board, valid) for board in areas(g, records.black, records.white)]
    if "amaf" in statistics:
        firsts = records.first_black, records.first_white
        kinds += [(board, here) for here in (valid, won, drawn) for board in firsts]
    if kinds:
        boards = [jnp.stack([jnp.where(here, w.reshape(shape), np.uint32(0)) for w in board]) for board, here in kinds]
        points = count_points(g, jnp.stack(boards))
        if "ownership" in statistics:
            owned = points[:, 0] - points[:, 1]
        if "amaf" in statistics:
            first, wins, draws = (points[:, i : i + 2] for i in range(len(kinds) - 6, len(kinds), 2))
            of_black = np.int32(outcome.WIN) * wins + draws
            first_results = jnp.stack([of_black[:, 0], np.int32(outcome.WIN) * first[:, 1] - of_black[:, 1]], axis=1)
    length, truncated = (
        jnp.where(valid, x.reshape(shape).astype(jnp.int32), np.int32(0)) for x in (records.length, records.truncated)
    )
    won, drawn = (jnp.where(results == np.int32(x), times, np.int32(0)) for x in (outcome.WIN, outcome.DRAW))
    return Sums(
        num_playouts=_total(times), wins=_total(won), draws=_total(drawn), lead=_total(each * times),
        squares=square_sums(each, times), length=_total(length), truncated=_total(truncated), margins=margins, owned=owned,
        first=first, first_results=first_results,
    )  # fmt: skip


def zero_sums(num_points: int, batch: int, statistics: Collection[str] = STATISTICS) -> Sums[np.ndarray]:
    """int64 zeros to add chunks to."""
    p = num_points
    zeros = [np.zeros((batch, *shape), np.int64) for shape in ((),) * 4 + ((2,), (), ())]
    wanted = [("margins", (2 * p + 1,)), ("ownership", (p,)), ("amaf", (2, p)), ("amaf", (2, p))]
    return Sums(*zeros, *(np.zeros((batch, *shape), np.int64) if name in statistics else None for name, shape in wanted))
