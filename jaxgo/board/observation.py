"""Positions as planes for a network."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.base.constants import BLACK
from jaxgo.board.bitboard import points_of
from jaxgo.board.dynamics import ko_board, over_mesh, own_and_opp
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position, check_position

NUM_PLANES = 6
"""Planes of an observation without last moves."""


def observation(position: Position, last_moves: ArrayLike | None = None) -> jax.Array:
    """What the player to move sees of positions, as planes of bools; a pure function, also for inside of `jit`, `vmap`, `scan`.

    ======  =============================================================================
    plane   holds where
    ======  =============================================================================
    0       a stone of the player to move stands
    1       a stone of the opponent stands
    2       everywhere, if Black is to move
    3       the player to move may not play because of simple ko
    4       everywhere, if the last ply was a pass
    5       everywhere, if two passes have ended the game
    6 + i   the move i plies before the last was played; nowhere for a pass, or an unknown move
    ======  =============================================================================

    The planes 0 and 1 are also the first two of pgx's Go, which has the same of the seven boards before as planes 2 to 15, and
    the opposite of plane 2 as plane 16: ones where White is to move. A position knows no boards before it; the ko and the
    passes, which pgx leaves out, are what the rules need of them.

    Args:
      position: B positions on boards of size N.
      last_moves: integers [B, K], the last move first: a point, N * N for a pass, -1 for an unknown one; None for no such planes.

    Returns:
      bool [B, N, N, 6 + K]; row 0 is the top.

    Raises:
      TypeError: last_moves hold no integers, or position is none.
      ValueError: last_moves have a wrong shape, or a value that is no move; inside `jit` values are not checked.
    """
    check_position(position)
    if last_moves is None:
        last_moves = np.empty((*position.to_play.shape, 0), np.int32)
    return _observation(position, _checked(last_moves, position))


def _checked(last_moves, position: Position) -> jax.Array | np.ndarray:
    """The moves, [B, K]; checked as far as they are known."""
    moves = last_moves if isinstance(last_moves, jax.core.Tracer) else np.asarray(last_moves)
    batch = position.to_play.shape
    if not jnp.issubdtype(moves.dtype, jnp.integer):
        raise TypeError(f"last_moves must hold integers, not {moves.dtype}")
    if moves.shape[:-1] != batch or moves.ndim != len(batch) + 1:
        raise ValueError(f"last_moves must have shape [{', '.join(map(str, batch))}, K], not {list(moves.shape)}")
    if isinstance(moves, np.ndarray):
        return checks.integers("last_moves", moves, moves.shape, -1, position.size**2)
    return moves.astype(jnp.int32)


@jax.jit
def _observation(position: Position, last_moves: jax.Array | np.ndarray) -> jax.Array:
    return over_mesh(_planes, position, last_moves)


def _planes(position: Position, last_moves: jax.Array) -> jax.Array:
    g = geometry(position.size)
    of_points = [points_of(g, board) for board in (*own_and_opp(position), ko_board(g, position.ko))]
    facts = [position.to_play == np.int8(BLACK), position.passes >= np.int8(1), position.is_over()]
    own, opponent, ko, black, passed, over = of_points + [jnp.broadcast_to(x[..., None], of_points[0].shape) for x in facts]
    moved = jax.nn.one_hot(last_moves, g.num_points, axis=-2, dtype=jnp.bool_)
    planes = jnp.concatenate([jnp.stack([own, opponent, black, ko, passed, over], axis=-1), moved], axis=-1)
    return planes.reshape(*planes.shape[:-2], g.size, g.size, planes.shape[-1])
