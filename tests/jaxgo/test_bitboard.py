"""Bitboards against sets of points, for every size: the layout, shifts, and growing inside a mask."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo import bitboard as bb
from jaxgo.geometry import Geometry, geometry
from tests import referee

SIZES = range(2, 26)


def to_words(g: Geometry, points: np.ndarray) -> bb.Board:
    """W arrays uint32 [batch] of bool [batch, P], by Python's own integers."""
    words = np.zeros((g.num_words, len(points)), dtype=np.uint32)
    for point, (word, bit) in enumerate(zip(g.word_of_point.tolist(), g.bit_of_point.tolist())):
        words[word] |= points[:, point].astype(np.uint32) << np.uint32(bit)
    return tuple(jnp.asarray(word) for word in words)


def to_points(g: Geometry, board: bb.Board) -> np.ndarray:
    """bool [batch, P] of W arrays uint32 [batch]; asserts that no bit lies outside the board."""
    words = np.stack([np.asarray(word) for word in board])
    for word, mask in zip(words, g.board):
        assert not (word & ~np.uint32(mask)).any(), "bits outside the board"
    return (words[g.word_of_point].T >> g.bit_of_point.astype(np.uint32) & 1).astype(bool)


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


@pytest.mark.parametrize("size", SIZES)
def test_the_layout_is_one_to_one(size):
    g = geometry(size)
    places = {*zip(g.word_of_point.tolist(), g.bit_of_point.tolist())}
    assert len(places) == g.num_points == size * size
    assert all(0 <= word < g.num_words and 0 <= bit < 32 for word, bit in places)
    assert [bin(word).count("1") for word in g.board] == np.bincount(g.word_of_point, minlength=g.num_words).tolist()
    edge = [point for point, corners in enumerate(referee.diagonals(size)) if len(corners) < 4]
    assert np.flatnonzero(to_points(g, tuple(jnp.full(1, word, jnp.uint32) for word in g.edge))[0]).tolist() == edge


@pytest.mark.parametrize("size", SIZES)
def test_set_operations(size):
    g = geometry(size)
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


@pytest.mark.parametrize("size", SIZES)
def test_neighbours(size):
    g = geometry(size)
    for density in (0.03, 0.5, 0.97):
        points = random_sets(size, density)
        around = bb.on_board(g, bb.neighbours(g, to_words(g, points)))
        np.testing.assert_array_equal(to_points(g, around), grown(size, points))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("density", [0.5, 0.7, 1.0])
def test_spreading_reaches_the_whole_chain_and_nothing_else(size, density):
    """Each sweep lies between the growth by one step and the whole set; where nothing grows any more it is the whole set."""
    g = geometry(size)
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


@pytest.mark.parametrize("size", SIZES)
def test_single_points(size):
    g = geometry(size)
    index = jnp.asarray(32 * g.word_of_point + g.bit_of_point, jnp.int32)
    board = bb.one_point(g, index)
    np.testing.assert_array_equal(to_points(g, board), np.eye(size * size, dtype=bool))
    beside = to_points(g, bb.one_neighbour(g, board))
    assert (beside.sum(axis=1) == 1).all()
    assert all(int(neighbour) in referee.orthogonals(size)[point] for point, neighbour in enumerate(beside.argmax(axis=1)))
    nothing = bb.one_point(g, jnp.full(1, 32 * g.num_words, jnp.int32))
    assert not to_points(g, nothing).any()
