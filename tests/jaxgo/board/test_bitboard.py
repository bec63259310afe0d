"""Bitboards against sets of points, for every layout: where points lie, shifts, and growing inside a mask."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import PLAYED_IN_64_BITS, Geometry, geometry, playing_geometry
from tests import referee
from tests.positions import USUAL_SIZES

LAYOUTS = [(size, 32) for size in range(MIN_SIZE, MAX_SIZE + 1)] + [(size, 64) for size in (9, 15, *PLAYED_IN_64_BITS)]
USUAL = [*((size, 32) for size in (4, 15, *USUAL_SIZES)), (9, 64), (16, 64), (19, 64), (25, 64)]


@pytest.fixture(
    params=[pytest.param(x, marks=[] if x in USUAL else pytest.mark.slow, id=f"{x[0]}x{x[0]} in {x[1]} bits") for x in LAYOUTS]
)
def g(request) -> Iterator[Geometry]:
    layout = geometry(*request.param)
    with bb.words_known(layout):
        yield layout


def to_words(g: Geometry, points: np.ndarray) -> bb.Board:
    """W arrays [batch] of bool [batch, P], by Python's own integers."""
    words = np.zeros((g.num_words, len(points)), g.dtype)
    for point, (word, bit) in enumerate(zip(g.word_of_point.tolist(), g.bit_of_point.tolist())):
        words[word] |= points[:, point].astype(g.dtype) << g.word(bit)
    return tuple(jnp.asarray(word) for word in words)


def to_points(g: Geometry, board: bb.Board) -> np.ndarray:
    """bool [batch, P] of W arrays [batch]; asserts that no bit lies outside the board."""
    words = np.stack([np.asarray(word) for word in board])
    for word, mask in zip(words, g.board):
        assert not (word & ~g.word(mask)).any(), "bits outside the board"
    return (words[g.word_of_point].T >> g.bit_of_point.astype(g.dtype) & 1).astype(bool)


def random_sets(size: int, density: float = 0.5, seed: int = 0) -> np.ndarray:
    """bool [20, P]."""
    return np.random.default_rng((size, seed)).random((20, size * size)) < density


def grown(size: int, points: np.ndarray) -> np.ndarray:
    """bool [batch, P]: the points next to those of a set, by the referee's tables."""
    out = np.zeros_like(points)
    for point, around in enumerate(referee.orthogonals(size)):
        for neighbour in around:
            out[:, neighbour] |= points[:, point]
    return out


def test_the_layout_is_one_to_one(g):
    size = g.size
    places = {*zip(g.word_of_point.tolist(), g.bit_of_point.tolist())}
    assert len(places) == g.num_points == size * size
    assert all(0 <= word < g.num_words and 0 <= bit < g.word_bits for word, bit in places)
    assert [bin(word).count("1") for word in g.board] == np.bincount(g.word_of_point, minlength=g.num_words).tolist()
    edge = [point for point, corners in enumerate(referee.diagonals(size)) if len(corners) < 4]
    assert np.flatnonzero(to_points(g, tuple(jnp.full(1, word, g.dtype) for word in g.edge))[0]).tolist() == edge


def test_sets_of_points(g):
    points = random_sets(g.size)
    for ours, theirs in zip(jax.jit(bb.of_points, static_argnums=0)(g, points), to_words(g, points), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def test_set_operations(g):
    size = g.size
    one, other = random_sets(size, seed=1), random_sets(size, seed=2)
    a, b = to_words(g, one), to_words(g, other)
    np.testing.assert_array_equal(to_points(g, a), one)
    np.testing.assert_array_equal(to_points(g, bb.both(a, b)), one & other)
    np.testing.assert_array_equal(to_points(g, bb.either(a, b)), one | other)
    np.testing.assert_array_equal(to_points(g, bb.without(a, b)), one & ~other)
    np.testing.assert_array_equal(to_points(g, bb.complement(g, a)), ~one)
    np.testing.assert_array_equal(bb.count(a), one.sum(axis=1))
    np.testing.assert_array_equal(bb.any_point(a), one.any(axis=1))
    assert not bb.any_point(bb.without(a, a)).any()


def test_neighbours(g):
    size = g.size
    for density in (0.03, 0.5, 0.97):
        points = random_sets(size, density)
        around = bb.on_board(g, bb.neighbours(g, to_words(g, points)))
        np.testing.assert_array_equal(to_points(g, around), grown(size, points))


def test_points_beside_several(g):
    """The neighbours of each point counted one by one; and side by side they are those beside any."""
    for density in (0.1, 0.5, 0.9):
        points = random_sets(g.size, density)
        around = np.stack([points[:, list(beside)].sum(axis=1) for beside in referee.orthogonals(g.size)], axis=1)
        for least, found in zip((2, 3), bb.beside_several(g, to_words(g, points))):
            np.testing.assert_array_equal(to_points(g, bb.on_board(g, found)), around >= least)
        of_sides = [to_points(g, bb.on_board(g, side)) for side in bb.sides(g, to_words(g, points))]
        np.testing.assert_array_equal(sum(side.astype(int) for side in of_sides), around)


@pytest.mark.parametrize("density", [0.5, 0.7, 1.0])
def test_spreading_reaches_the_whole_chain_and_nothing_else(g, density):
    """Each sweep lies between the growth by one step and the whole set; where nothing grows any more it is the whole set."""
    size = g.size
    through = random_sets(size, density, seed=3)
    a = random_sets(size, 0.05, seed=4) & through
    whole = a
    while (more := whole | (grown(size, whole) & through)).sum() > whole.sum():
        whole = more
    mask, board = to_words(g, through), to_words(g, a)
    for _ in range(size * size):
        after = bb.spread(g, board, mask)
        points, points_after = to_points(g, board), to_points(g, after)
        one_step = points | (grown(size, points) & through)
        assert (one_step <= points_after).all() and (points_after <= whole).all()
        np.testing.assert_array_equal(bb.grows(g, board, mask), (one_step != points).any(axis=1))
        board = after
        if not bb.grows(g, board, mask).any():
            break
    np.testing.assert_array_equal(to_points(g, board), whole)


def test_one_point_of_a_set(g):
    """The lowest bit of the first word that has one; none of the empty set."""
    points = np.concatenate([random_sets(g.size), np.zeros((1, g.num_points), bool), np.eye(g.num_points, dtype=bool)])
    found = to_points(g, jax.jit(bb.first_point)(to_words(g, points)))
    order = np.lexsort((g.bit_of_point, g.word_of_point))
    for of, first in zip(points, found, strict=True):
        assert np.flatnonzero(first).tolist() == [p for p in order if of[p]][:1]


def test_single_points(g):
    size = g.size
    index = np.append(g.word_bits * g.word_of_point + g.bit_of_point, g.word_bits * g.num_words).astype(np.int32)  # and none
    board = jax.jit(bb.one_point, static_argnums=0)(g, index)
    *points, nothing = to_points(g, board)
    np.testing.assert_array_equal(points, np.eye(size * size, dtype=bool))
    assert not nothing.any()
    beside = to_points(g, jax.jit(bb.one_neighbour, static_argnums=0)(g, board))[:-1]
    assert (beside.sum(axis=1) == 1).all()
    assert all(int(neighbour) in referee.orthogonals(size)[point] for point, neighbour in enumerate(beside.argmax(axis=1)))


@pytest.mark.parametrize("size", [16, 19, 25])
def test_boards_in_another_layout(size):
    """There and back, and the points are the same."""
    known, playing, points = geometry(size), playing_geometry(size), random_sets(size)
    assert (known.word_bits, playing.word_bits) == (32, 64)
    with bb.words_known(playing):
        board = bb.relaid(to_words(known, points), known, playing)
        np.testing.assert_array_equal(to_points(playing, board), points)
        np.testing.assert_array_equal(to_points(known, bb.relaid(board, playing, known)), points)
