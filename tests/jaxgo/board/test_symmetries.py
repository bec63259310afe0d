"""The eight symmetries, against numpy's turning and mirroring; what is computed from positions turns with them."""

import re

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo import Position
from jaxgo.board.symmetries import (
    NUM_SYMMETRIES,
    all_symmetries,
    compose_symmetries,
    inverse_symmetry,
    symmetry,
    transform_moves,
    transform_points,
)
from tests.positions import from_games, middle_game
from tests.referee import Game, parse

EVERY = np.arange(NUM_SYMMETRIES, dtype=np.int32)
BEFORE_A_KO = ". X O . .\nX O . . .\n. . . . .\n. . . . .\n. . . . ."
"""White takes in the corner, and point 1 becomes a ko."""


def turned(board: np.ndarray, k: int) -> np.ndarray:
    """[..., N, N] of numpy, as the module's text says."""
    return np.rot90(np.flip(board, axis=-1) if k >= 4 else board, k % 4, axes=(-2, -1))


def assert_same(actual: Position, expected: Position) -> None:
    """All fields are equal."""
    chex.assert_trees_all_equal(actual, expected)


@pytest.mark.parametrize("size", [2, 9, 19])
def test_boards_turn_as_in_numpy(size):
    stones = np.zeros((1, size, size), np.int8)
    stones[0, 0, 0], stones[0, 0, 1] = 1, -1
    images = np.asarray(all_symmetries(Position.from_array(stones)).to_array())
    np.testing.assert_array_equal(images, np.concatenate([turned(stones, k) for k in EVERY]))
    assert len(np.unique(images, axis=0)) == NUM_SYMMETRIES


@pytest.fixture(scope="module")
def positions() -> Position:
    """On 5x5: the empty board, a middle game, the same after a pass, and a ko in a corner."""
    middle = middle_game(5, 12, seed=2)
    passed = Game(5, middle.stones, to_play=-middle.to_play, passes=1)
    ko, _ = parse(BEFORE_A_KO, to_play=-1)
    ko.play(0)
    assert ko.ko == 1
    return from_games(Game(5), middle, passed, ko)


@pytest.fixture(scope="module")
def images(positions) -> Position:
    """All eight images of each."""
    return all_symmetries(positions)


def of_all(array, k=None) -> np.ndarray:
    """The images' values of an array [B, ...] of `positions`, as the batch of `images` lies."""
    k = np.tile(EVERY, len(array)) if k is None else k
    return transform_points(np.repeat(np.asarray(array), NUM_SYMMETRIES, axis=0), 5, k)


def test_positions_turn_as_in_numpy(positions, images):
    boards = np.asarray(positions.to_array())
    np.testing.assert_array_equal(images.to_array(), np.concatenate([[turned(b, k) for k in EVERY] for b in boards]))
    for field in ("to_play", "passes"):
        np.testing.assert_array_equal(getattr(images, field), np.repeat(getattr(positions, field), NUM_SYMMETRIES))
    point = np.zeros((5, 5), bool)
    point[0, 1] = True
    assert np.asarray(images.ko)[:-NUM_SYMMETRIES].tolist() == [-1] * 24
    assert np.asarray(images.ko)[-NUM_SYMMETRIES:].tolist() == [np.flatnonzero(turned(point, k))[0] for k in EVERY]
    leaves = zip(jax.tree.leaves(images), jax.tree.leaves(positions))
    assert all(image.dtype == leaf.dtype for image, leaf in leaves)


def test_one_symmetry_for_all_or_one_for_each(positions, images):
    for k in (0, 3, 6):
        assert_same(symmetry(positions, k), images[np.arange(4) * NUM_SYMMETRIES + k])
    assert_same(symmetry(positions, 0), positions)
    assert_same(symmetry(positions, np.array([7, 0, 5, 1])), images[np.arange(4) * NUM_SYMMETRIES + [7, 0, 5, 1]])


def test_legality_score_and_play_turn_with_the_position(positions, images):
    np.testing.assert_array_equal(images.legal(), of_all(positions.legal()))
    np.testing.assert_array_equal(images.useful(), of_all(positions.useful()))
    np.testing.assert_array_equal(images.score(), np.repeat(positions.score(), NUM_SYMMETRIES))
    legal = np.asarray(positions.legal())
    moves = np.array([np.flatnonzero(row)[7] for row in legal[:3]] + [25], np.int32)  # a pass where there is a ko
    turned_moves = transform_moves(np.repeat(moves, NUM_SYMMETRIES), 5, np.tile(EVERY, 4))
    assert_same(images.play(turned_moves), all_symmetries(positions.play(moves)))


def test_results_of_images_turn_back(positions, images):
    k = np.tile(inverse_symmetry(EVERY), positions.batch)
    back = transform_points(images.legal(), 5, k).reshape(-1, NUM_SYMMETRIES, 26)
    np.testing.assert_array_equal(back, np.repeat(np.asarray(positions.legal())[:, None], NUM_SYMMETRIES, axis=1))


def test_of_no_position_there_are_no_images(positions):
    assert all_symmetries(positions[[]]).batch == 0


def test_the_ko_is_kept_by_the_move_that_makes_it():
    before, _ = parse(BEFORE_A_KO, to_play=-1)
    position = from_games(before)
    after = all_symmetries(position).play(transform_moves(np.zeros(NUM_SYMMETRIES, np.int32), 5, EVERY))
    assert_same(after, all_symmetries(position.play(0)))
    assert np.unique(after.ko).size == NUM_SYMMETRIES


def test_values_of_points_turn_as_in_numpy():
    rng = np.random.default_rng(0)
    boards = rng.random((2, 3, 4, 4))
    flat = boards.reshape(2, 3, 16)
    with_pass = np.append(flat, rng.random((2, 3, 1)), axis=-1)
    for k in range(NUM_SYMMETRIES):
        expected = np.ascontiguousarray(turned(boards, k))
        np.testing.assert_array_equal(transform_points(boards, 4, k), expected, strict=True)
        np.testing.assert_array_equal(transform_points(boards[0, 0], 4, k), expected[0, 0], strict=True)
        np.testing.assert_array_equal(transform_points(flat, 4, k), expected.reshape(2, 3, 16), strict=True)
        found = transform_points(with_pass, 4, k)
        np.testing.assert_array_equal(found[..., :-1], expected.reshape(2, 3, 16))
        np.testing.assert_array_equal(found[..., -1], with_pass[..., -1])
        big = np.full((4, 4), 2**62 + 1)
        assert (transform_points(big, 4, k) == big).all(), "int64 is exact"
    each = transform_points(boards, 4, [5, 2])
    np.testing.assert_array_equal(each, [turned(boards[0], 5), turned(boards[1], 2)])


def test_moves_turn_with_their_points():
    board = np.arange(25).reshape(5, 5)
    for k in range(NUM_SYMMETRIES):
        moves = transform_moves(board.astype(np.int16), 5, k)
        assert moves.dtype == np.int16 and moves.shape == (5, 5)
        np.testing.assert_array_equal(turned(board, k).reshape(-1)[moves.reshape(-1)], np.arange(25))
        assert transform_moves([25, -1, -2], 5, k).tolist() == [25, -1, -2]
        for moves in (np.array([26]), jnp.array([26])):
            with pytest.raises(ValueError, match="moves must be at most 25, the pass, not 26"):
                transform_moves(moves, 5, k)
    each = transform_moves([[0, 25], [0, -1]], 5, [1, 2])
    assert each.tolist() == [[20, 25], [24, -1]]
    assert int(transform_moves(0, 5, 1)) == 20, "a quarter turn counterclockwise"


def test_inverses_and_compositions(positions):
    board = np.arange(9).reshape(3, 3)
    for first in range(NUM_SYMMETRIES):
        assert type(inverse_symmetry(first)) is int
        np.testing.assert_array_equal(turned(turned(board, first), inverse_symmetry(first)), board)
        for then in range(NUM_SYMMETRIES):
            assert type(compose_symmetries(first, then)) is int
            np.testing.assert_array_equal(turned(board, compose_symmetries(first, then)), turned(turned(board, first), then))
    np.testing.assert_array_equal(compose_symmetries(EVERY, inverse_symmetry(EVERY)), np.zeros(NUM_SYMMETRIES))
    assert_same(symmetry(symmetry(positions, np.array([1, 3, 5, 7])), inverse_symmetry(np.array([1, 3, 5, 7]))), positions)


def test_inside_jit_and_vmap(positions, images):
    @jax.jit
    def there_and_back(position, k):
        image = symmetry(position, k)
        legal = transform_points(image.legal(), image.size, inverse_symmetry(k))
        back = compose_symmetries(inverse_symmetry(k), jnp.zeros_like(k))
        moves = transform_moves(transform_moves(jnp.arange(4), 5, k), 5, back)
        return image, legal, moves

    k = jnp.array([6, 1, 4, 3], jnp.int32)
    image, legal, moves = there_and_back(positions, k)
    assert_same(image, images[np.arange(4) * NUM_SYMMETRIES + np.asarray(k)])
    np.testing.assert_array_equal(legal, positions.legal())
    np.testing.assert_array_equal(moves, np.arange(4))
    assert_same(jax.vmap(symmetry)(positions, k), image)
    of_each = jax.vmap(all_symmetries)(positions)
    assert_same(jax.tree.map(lambda x: x.reshape(-1), of_each), images)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: symmetry("x", 1), TypeError, "position must be a jaxgo.Position, not str"),
        (lambda p: all_symmetries(None), TypeError, "position must be a jaxgo.Position, not NoneType"),
        (lambda p: symmetry(p, 8), ValueError, "a symmetry must be between 0 and 7, not 8"),
        (lambda p: symmetry(p, -1), ValueError, "a symmetry must be between 0 and 7, not -1"),
        (lambda p: symmetry(p, 1.0), TypeError, "a symmetry must be an integer, not 1.0"),
        (lambda p: symmetry(p, "1"), TypeError, "a symmetry must be an integer, not '1'"),
        (lambda p: symmetry(p, [1, 2]), ValueError, "k must be one symmetry or have shape [4], not [2]"),
        (lambda p: inverse_symmetry(True), TypeError, "a symmetry must be an integer, not True"),
        (lambda p: compose_symmetries(0, 9), ValueError, "a symmetry must be between 0 and 7, not 9"),
        (lambda p: compose_symmetries([1, 2, 3], [3, 4]), ValueError, "first and then must be of one shape, not [3] and [2]"),
        (lambda p: transform_moves([1.5], 5, 1), TypeError, "moves must hold integers, not float64"),
        (lambda p: transform_moves([26], 5, 1), ValueError, "moves must be at most 25, the pass, not 26"),
        (lambda p: transform_moves(np.int8([1]), 13, 1), ValueError, "of a type that holds 169, the pass, not int8"),
        (lambda p: transform_moves([1], 26, 1), ValueError, "size must be between 2 and 25, not 26"),
        (lambda p: transform_moves([1], 5, [1, 2]), ValueError, "have shape [1] like the moves, not [2]"),
        (lambda p: transform_moves(1, 5, [1]), ValueError, "have shape [] like the moves, not [1]"),
        (lambda p: transform_points(np.zeros(24), 5, 1), ValueError, "[..., 5, 5], [..., 25] or [..., 26], not [24]"),
        (lambda p: transform_points(0.5, 5, 1), ValueError, "[..., 5, 5], [..., 25] or [..., 26], not []"),
        (lambda p: transform_points(np.zeros((5, 5)), 5, [1] * 5), ValueError, "k must be one symmetry"),
        (lambda p: transform_points(np.zeros((2, 25)), 5, [1]), ValueError, "have shape [2] like the array, not [1]"),
        (lambda p: transform_points(np.zeros(25), 5, [[1]]), ValueError, "k must be one symmetry or have shape [B], not [1, 1]"),
    ],
)
def test_bad_input(positions, call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call(positions)


def test_what_numpy_holds_turns_by_a_symmetry_that_is_traced():
    board = np.arange(25.0, dtype=np.float32).reshape(5, 5)
    points, moves = jax.jit(lambda k: (transform_points(board, 5, k), transform_moves(np.arange(26), 5, k)))(3)
    np.testing.assert_array_equal(points, np.rot90(board, 3))
    np.testing.assert_array_equal(moves, transform_moves(np.arange(26), 5, 3))
