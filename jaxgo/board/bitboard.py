"""Bitboards: sets of points as tuples of `W` arrays of words, one board for every element of the arrays.

All functions are elementwise over the arrays' shape, so that one call works on a single board, a batch or a block of lanes, and
compiles to a few fused loops. `W` and the layout come from `jaxgo.board.geometry`.
"""

import contextlib
import functools
import operator
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.board.geometry import Geometry

Board: TypeAlias = tuple[jax.Array, ...]
"""A set of points: W arrays of `Geometry.dtype`, uint32 or int64, all of one shape."""


def words_known(g: Geometry) -> contextlib.AbstractContextManager:
    """A context in which jax knows the words' type; elsewhere it takes int64 for int32."""
    return jax.enable_x64(True) if g.word_bits > 32 else contextlib.nullcontext()


def bits_of(x: jax.Array) -> jax.Array:
    """uint32: how many bits of a word are set."""
    return lax.population_count(x).astype(jnp.uint32)


def down(x: jax.Array, places: int) -> jax.Array:
    """A word's bits moved so many places towards bit 0, zeros coming in."""
    return lax.shift_right_logical(x, jnp.full_like(x, places))


def both(a: Board, b: Board) -> Board:
    """The intersection of two sets."""
    return tuple(x & y for x, y in zip(a, b))


def either(a: Board, b: Board) -> Board:
    """The union of two sets."""
    return tuple(x | y for x, y in zip(a, b))


def without(a: Board, b: Board) -> Board:
    """The points of a that are not in b."""
    return tuple(x & ~y for x, y in zip(a, b))


def choose(condition: jax.Array, a: Board, b: Board) -> Board:
    """`a` where the condition (bool, the words' shape) holds, `b` elsewhere."""
    return tuple(jnp.where(condition, x, y) for x, y in zip(a, b))


def on_board(g: Geometry, a: Board) -> Board:
    """`a` without what a shift has left outside the board."""
    return tuple(x & g.word(m) for x, m in zip(a, g.board))


def complement(g: Geometry, a: Board) -> Board:
    """The board's points that are not in `a`."""
    return tuple(~x & g.word(m) for x, m in zip(a, g.board))


def any_point(a: Board) -> jax.Array:
    """bool: the set is not empty."""
    return functools.reduce(operator.or_, a) != 0


def count(a: Board) -> jax.Array:
    """int32: how many points the set has."""
    return functools.reduce(operator.add, (bits_of(x) for x in a)).astype(jnp.int32)


def from_north(g: Geometry, a: Board) -> Board:
    """Every point moved one row south, that is, for every point, its northern neighbour; bits may leave the board."""
    return ((a[-1] << g.word(g.stride)) if g.num_slots > 1 else jnp.zeros_like(a[0]),) + a[:-1]


def from_south(g: Geometry, a: Board) -> Board:
    """Every point moved one row north, that is, for every point, its southern neighbour; bits may leave the board."""
    return a[1:] + (down(a[0], g.stride) if g.num_slots > 1 else jnp.zeros_like(a[0]),)


def neighbours(g: Geometry, a: Board) -> Board:
    """The union of the four orthogonal shifts of `a`; bits may leave the board, so intersect it with a set on the board."""
    return tuple(
        (x << g.word(1)) | down(x, 1) | n | s for x, n, s in zip(a, from_north(g, a), from_south(g, a))
    )


def sides(g: Geometry, a: Board) -> tuple[Board, Board, Board, Board]:
    """The points whose northern, southern, western, eastern neighbour is in a set; bits may leave the board."""
    return from_north(g, a), from_south(g, a), tuple(x << g.word(1) for x in a), tuple(down(x, 1) for x in a)


def beside_several(g: Geometry, a: Board) -> tuple[Board, Board]:
    """The points with two or more neighbours in a set, and those with three or more; bits may leave the board."""
    around = list(zip(*sides(g, a)))
    two = tuple((n | s) & (w | e) | n & s | w & e for n, s, w, e in around)
    return two, tuple(n & s & (w | e) | w & e & (n | s) for n, s, w, e in around)


def spread(g: Geometry, a: Board, through: Board) -> Board:
    """`a` (a subset of `through`) grown inside `through`: one sweep south and one north, rows filled on the way.

    A sweep works in place, word by word, so that it carries a point through all the rows below it; along a row, `x + through`
    carries a point to the eastern end of its run in one addition, and one step west is taken. The result lies between `a`'s
    one-step growth and the whole connected set; the whole set is reached when nothing changes.
    """

    def row(x, m, beside):
        x = x | (m & beside)
        x = m & (~(m + x) | x)
        return x | (m & down(x, 1))

    words, last = list(a), g.num_words - 1
    for w in range(g.num_words):
        words[w] = row(words[w], through[w], words[w - 1] if w else from_north(g, tuple(words))[0])
    for w in reversed(range(g.num_words)):
        words[w] = row(words[w], through[w], words[w + 1] if w < last else from_south(g, tuple(words))[last])
    return tuple(words)


def grows(g: Geometry, a: Board, through: Board) -> jax.Array:
    """bool: some point of `through` outside `a` touches `a`; false means that `a` is a union of whole connected sets."""
    return any_point(without(both(neighbours(g, a), through), a))


def one_point(g: Geometry, index: jax.Array) -> Board:
    """The set of the one point with the given bit index (int32; see `Geometry.index_of_point`); empty for the pass."""
    mask = jnp.left_shift(g.word(1), (index & np.int32(g.word_bits - 1)).astype(g.dtype))
    which = index >> np.int32(g.word_bits.bit_length() - 1)
    return tuple(jnp.where(which == np.int32(w), mask, g.word(0)) for w in range(g.num_words))


def first_point(a: Board) -> Board:
    """The set of one point of a set, the lowest bit of its first word that has any; empty of the empty set."""
    found: list[jax.Array] = []
    for x in a:
        lowest = x & -x
        found.append(jnp.where(any_point(tuple(found)), jnp.zeros_like(x), lowest) if found else lowest)
    return tuple(found)


def of_points(g: Geometry, points) -> Board:
    """The set, of shape [...], of the points p where `points`, bool [..., P], holds; of numpy arrays numpy arrays."""
    xp = points.__array_namespace__()
    bits = np.left_shift(g.word(1), g.bit_of_point.astype(g.dtype))
    held = xp.where(points, xp.broadcast_to(bits, points.shape), g.word(0))
    return tuple(xp.sum(held[..., g.word_of_point == w], axis=-1, dtype=g.dtype) for w in range(g.num_words))


def one_neighbour(g: Geometry, point: Board) -> Board:
    """One orthogonal neighbour of a set's one point: the western, or the eastern in the first column."""
    return tuple(
        down(x & ~g.word(west), 1) | ((x & g.word(west)) << g.word(1)) for x, west in zip(point, g.west)
    )


def relaid(a: Board, old: Geometry, new: Geometry) -> Board:
    """The set in another layout of the same board."""
    if old == new:
        return a
    row = (1 << old.size) - 1
    words: list[list[jax.Array]] = [[] for _ in range(new.num_words)]
    for y in range(old.size):
        bits = down(a[old.word_of_row[y]], old.shift_of_row[y]) & old.word(row)
        words[new.word_of_row[y]].append(bits.astype(new.dtype) << new.word(new.shift_of_row[y]))
    return tuple(functools.reduce(operator.or_, rows) for rows in words)


def num_point_words(size: int) -> int:
    """Words of `point_words`, with a bit for each move: the points and the pass."""
    return (size * size) // 32 + 1


def point_words(g: Geometry, board: Board) -> tuple[jax.Array, ...]:
    """A set of 32-bit words as words in the order of the points, uint32: point y * N + x is bit p % 32 of word p // 32."""
    words: list[list[jax.Array]] = [[jnp.zeros_like(board[0])] for _ in range(num_point_words(g.size))]
    for y in range(g.size):
        row = down(board[y % g.num_words], y // g.num_words * g.stride) & g.word((1 << g.size) - 1)
        word, start = divmod(y * g.size, 32)
        words[word].append(row << g.word(start))
        if start + g.size > 32:
            words[word + 1].append(down(row, 32 - start))
    return tuple(functools.reduce(operator.or_, rows) for rows in words)


def point_of(g: Geometry, board: Board, none: int) -> jax.Array:
    """int32: the point y * N + x of a set of one point, of 32-bit words; `none` of the empty set."""
    words = point_words(g, board)
    numbers = [jnp.where(x != 0, np.int32(32 * i) + bits_of(x - g.word(1)).astype(jnp.int32), 0) for i, x in enumerate(words)]
    return jnp.where(any_point(words), functools.reduce(operator.add, numbers), np.int32(none))


def points_of(g: Geometry, board: Board) -> jax.Array:
    """bool [..., P] of a bitboard of 32-bit words of shape [...]."""
    return bits_of_points(g, jnp.stack(board, axis=-1)) != np.uint32(0)


def bits_of_points(g: Geometry, words: jax.Array) -> jax.Array:
    """uint32 [..., P], 0 or 1, of a bitboard's 32-bit words [..., W]; without a gather, which is slow on CPUs."""
    # Row y lies in word y % W, in slot y // W.
    slots = [words >> np.uint32(slot * g.stride) for slot in range(g.num_slots)]
    rows = jnp.concatenate(slots, axis=-1)[..., : g.size, None]
    columns = lax.broadcasted_iota(jnp.uint32, (*rows.shape[:-1], g.size), rows.ndim - 1)
    return ((rows >> columns) & np.uint32(1)).reshape(*words.shape[:-1], g.num_points)


def point_order(g: Geometry, x: jax.Array) -> jax.Array:
    """[..., P] of something for each bit of a board's words, [..., W, bits]; without a gather, which is slow on CPUs."""
    rows = [(y % g.num_words, (y // g.num_words) * g.stride) for y in range(g.size)]
    # Where `x` is worked out anew for each row, that takes longer than to copy it.
    x = lax.optimization_barrier(x)
    return jnp.concatenate([x[..., word, start : start + g.size] for word, start in rows], axis=-1)


def stones_array(g: Geometry, black: Board, white: Board) -> jax.Array:
    """int8 [..., N, N] of two bitboards of 32-bit words of shape [...]: 1 Black, -1 White, 0 empty."""
    flat = points_of(g, black).astype(jnp.int8) - points_of(g, white).astype(jnp.int8)
    return flat.reshape(*flat.shape[:-1], g.size, g.size)
