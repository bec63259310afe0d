"""The eight symmetries of the square board: turned and mirrored positions, and what belongs to them.

Symmetry `k` is a mirroring of left and right where `k >= 4`, and then `k % 4` quarter turns counterclockwise; on a board `a`,
`numpy.rot90(numpy.fliplr(a) if k >= 4 else a, k % 4)`. 0 changes nothing. The rules know no directions, so that whatever is
computed from a position turns with it:

    symmetry(position, k).legal()  ==  transform_points(position.legal(), position.size, k)

`k` may be one integer for a whole batch, or [B], a symmetry for each position, also as an array inside `jax.jit`; training on
random symmetries is `symmetry(positions, jax.random.randint(key, positions.to_play.shape, 0, NUM_SYMMETRIES))`. All functions are
pure, and work inside `jit`, `vmap` and `scan`.
"""

import functools
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.base import checks
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import points_of
from jaxgo.board.dynamics import over_mesh
from jaxgo.board.position import Position, check_position

NUM_SYMMETRIES = 8


def symmetry(position: Position, k) -> Position:
    """The positions, turned and mirrored.

    Stones and ko points move; who is to play and the passes stay.

    Args:
      position: B positions.
      k: the symmetry, 0 to 7, for all positions or integers [B].

    Raises:
      TypeError: k is no integer, or position no position.
      ValueError: k is out of range or has a wrong shape. Inside `jit` and its kin a symmetry that is an array cannot be checked;
        there the result of a wrong one is not specified.
    """
    check_position(position)
    return _symmetry(position, _checked(k, position.to_play.shape))


def all_symmetries(position: Position) -> Position:
    """The eight images of every position as a batch of 8 B: number `8 * b + k` is symmetry k of position b.

    Results of the images are turned back by the inverse symmetries, here to take their mean:

        images = all_symmetries(position)
        k = inverse_symmetry(np.arange(NUM_SYMMETRIES))
        ownership = jaxgo.evaluate(images, 1000).ownership  # [8 B, N, N]
        back = transform_points(ownership, position.size, np.tile(k, position.batch))
        mean = back.reshape(-1, NUM_SYMMETRIES, position.size, position.size).mean(axis=1)
    """
    check_position(position)
    if position.to_play.ndim == 0:  # one position, as `vmap` hands them over
        position = jax.tree.map(lambda x: x[None], position)
    k = np.tile(np.arange(NUM_SYMMETRIES, dtype=np.int32), position.batch)
    return symmetry(position[np.repeat(np.arange(position.batch), NUM_SYMMETRIES)], k)


def transform_moves(moves, size: int, k) -> jax.Array | np.ndarray:
    """Moves of positions as moves of their images.

    Args:
      moves: integers, of any shape; [B, ...] where k is [B]. Points turn; the pass, N * N, and negative numbers, which stand for
        no move, stay.
      size: N, 2 to 25.
      k: the symmetry, 0 to 7; or integers [B].

    Returns:
      Integers of the same shape and type: numpy's for what numpy holds, jax's else.

    Raises:
      TypeError: moves or k hold something else than integers.
      ValueError: moves or k are out of range, or k has a wrong shape.
    """
    size = checks.size(size)
    xp, moves, k = _arrays(moves, k)
    if not jnp.issubdtype(moves.dtype, jnp.integer):
        raise TypeError(f"moves must hold integers, not {moves.dtype}")
    if jnp.iinfo(moves.dtype).max < size * size:
        raise ValueError(f"moves must be of a type that holds {size * size}, the pass, not {moves.dtype}")
    if not isinstance(moves, jax.core.Tracer) and (np.asarray(moves) > size * size).any():
        raise ValueError(f"moves must be at most {size * size}, the pass, not {np.asarray(moves).max()}")
    if k.ndim and k.shape != moves.shape[:1]:
        raise ValueError(f"k must be one symmetry or have shape {list(moves.shape[:1])} like the moves, not {list(k.shape)}")
    images = xp.asarray(_images(size).astype(moves.dtype))
    k = k.reshape(k.shape + (1,) * (moves.ndim - 1)) if k.ndim else k
    return xp.where(moves < 0, moves, images[xp.broadcast_to(k, moves.shape), xp.maximum(moves, 0)])


def transform_points(array, size: int, k) -> jax.Array | np.ndarray:
    """Values of the points of positions, such as ownership or legality, as values of the points of their images.

    Args:
      array: any type, [..., N, N] or [..., P] or, with a value of the pass that stays the last, [..., P + 1]; the first axis is B
        where k is [B].
      size: N, 2 to 25.
      k: the symmetry, 0 to 7; or integers [B].

    Returns:
      The same shape and type: numpy's for what numpy holds, so that int64 and float64 stay exact, jax's else.

    Raises:
      TypeError: k is no integer.
      ValueError: the array has no axis of points, or k is out of range or has a wrong shape.
    """
    size = checks.size(size)
    points = size * size
    xp, array, k = _arrays(array, k)
    shape = array.shape
    if shape[-2:] == (size, size):
        array = array.reshape(*shape[:-2], points)
    elif shape[-1:] not in ((points,), (points + 1,)):
        allowed = f"[..., {size}, {size}], [..., {points}] or [..., {points + 1}]"
        raise ValueError(f"an array of points of a board of size {size} must have shape {allowed}, not {list(shape)}")
    if k.ndim and (array.ndim == 1 or k.shape != shape[:1]):
        raise ValueError(f"k must be one symmetry or have shape {list(shape[:1])} like the array, not {list(k.shape)}")
    sources = xp.asarray(_sources(size)[:, : array.shape[-1]])[k]
    sources = sources.reshape(*k.shape, *[1] * (array.ndim - 1 - k.ndim), sources.shape[-1])
    return xp.take_along_axis(array, xp.broadcast_to(sources, array.shape), axis=-1).reshape(shape)


def inverse_symmetry(k) -> int | jax.Array | np.ndarray:
    """The symmetry that undoes `k`; an integer, or integers of any shape."""
    return _looked_up(_INVERSES, _checked(k, None))


def compose_symmetries(first, then) -> int | jax.Array | np.ndarray:
    """The symmetry that does what `first` and after it `then` do; integers, or integers of one shape."""
    first, then = _checked(first, None), _checked(then, None)
    if first.ndim and then.ndim and first.shape != then.shape:
        raise ValueError(f"first and then must be of one shape, not {list(first.shape)} and {list(then.shape)}")
    return _looked_up(_COMPOSED, first, then)


@functools.cache
def _sources(size: int) -> np.ndarray:
    """int32 [8, P + 1]: the point whose value comes to a point, the pass for the pass."""
    board = np.arange(size * size, dtype=np.int32).reshape(size, size)
    images = (np.rot90(flipped, turns) for flipped in (board, np.fliplr(board)) for turns in range(4))
    sources = np.stack([np.append(image.reshape(-1), size * size) for image in images])
    sources.flags.writeable = False
    return sources


@functools.cache
def _images(size: int) -> np.ndarray:
    """int32 [8, P + 1]: the point that a point comes to, the pass for the pass."""
    images = np.argsort(_sources(size), axis=1).astype(np.int32)
    images.flags.writeable = False
    return images


def _products() -> np.ndarray:
    """int32 [8, 8]: first row, then column; told apart by where they take the four corners."""
    images = _images(2)
    both = images[np.arange(NUM_SYMMETRIES)[None, :, None], images[:, None, :]]
    return np.argmax((both[:, :, None] == images).all(axis=-1), axis=-1).astype(np.int32)


_COMPOSED = _products()
_INVERSES = np.argmin(_COMPOSED, axis=1).astype(np.int32)


@jax.jit
def _symmetry(position: Position, k: jax.Array) -> Position:
    return over_mesh(_turned, position, k)


def _turned(position: Position, k: jax.Array) -> Position:
    def moved(board: bb.Board) -> bb.Board:
        points = transform_points(points_of(position.geometry, board), position.size, k)
        return bb.of_points(position.geometry, jnp.asarray(points))

    return Position(
        black=moved(position.black),
        white=moved(position.white),
        to_play=position.to_play,
        ko=jnp.asarray(transform_moves(position.ko, position.size, k)),
        passes=position.passes,
        size=position.size,
    )


def _checked(k, batch: tuple[int, ...] | None) -> jax.Array | np.ndarray:
    """k as an array of int32, checked as far as it is known; `batch` is the shape that it may have besides ()."""
    array = k if isinstance(k, jax.core.Tracer) else np.asarray(k)
    if isinstance(array, np.ndarray):
        wrong = array[(array < 0) | (array >= NUM_SYMMETRIES)] if array.dtype.kind in "iu" else np.empty(0)
        if wrong.size:
            raise ValueError(f"a symmetry must be between 0 and {NUM_SYMMETRIES - 1}, not {wrong[0]}")
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"a symmetry must be an integer, not {k!r}")
    if batch is not None and array.shape not in ((), batch):
        raise ValueError(f"k must be one symmetry or have shape {list(batch)}, not {list(array.shape)}")
    return array.astype(np.int32)


def _arrays(values, k) -> tuple[ModuleType, Any, Any]:
    """(numpy or jax.numpy, the values, k): numpy's where neither is jax's."""
    k = _checked(k, None)
    if k.ndim > 1:
        raise ValueError(f"k must be one symmetry or have shape [B], not {list(k.shape)}")
    xp = jnp if isinstance(values, jax.Array) or isinstance(k, jax.Array) else np
    return xp, xp.asarray(values), k


def _looked_up(table: np.ndarray, *symmetries) -> int | jax.Array | np.ndarray:
    """An entry of a table of numpy, as an int for ints."""
    if any(isinstance(k, jax.Array) for k in symmetries):
        return jnp.asarray(table)[symmetries]
    found = table[symmetries]
    return found if found.ndim else int(found)
