"""What the tables of playout policies learn from playouts, on the device."""


import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.board.dynamics import whole
from jaxgo.board.position import Position, check_position
from jaxgo.playing.policies.advisor_table import AdvisorTable
from jaxgo.playing.policies.last_good_reply import NO_REPLY, Replies
from jaxgo.results import outcome
from jaxgo.results.playouts import Playouts


def counted(table: AdvisorTable, playouts: Playouts, position: Position, komi: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """The visits and results of an advisor's table after `AdvisorTable.update`."""
    return _counted(*_put(table.visits, table.results, *_histories(table.size, playouts, position, komi)))


def replies(table: Replies, playouts: Playouts, position: Position, komi: ArrayLike) -> jax.Array:
    """The replies of a table after `Replies.update`."""
    moves, *results = _histories(table.size, playouts, position, komi)
    checks.integer("the plies of playouts, with room for the longest,", moves.size, 0)
    return _replies(table.forgetting, *_put(table.replies, moves, *results))


def _put(*arrays) -> tuple[jax.Array, ...]:
    """The arrays on the device, or whole on each, put there outright, which no `jax.transfer_guard` forbids."""
    return tuple(map(whole, jax.device_put(arrays)))


def _histories(size: int, playouts: Playouts, position: Position, komi: ArrayLike) -> tuple:
    """(moves int16 [B, n, T], margins int16 [B, n], who began int8 [B], komi as bounds int32 [B, 2]) of playouts, checked."""
    if not isinstance(playouts, Playouts):
        raise TypeError(f"playouts must be of jaxgo.playouts or jaxgo.simulate, not {type(playouts).__name__}")
    check_position(position)
    if playouts.moves is None:
        raise ValueError("playouts must have moves: ask for them with moves=True")
    for name, given in (("playouts", playouts.size), ("position", position.size)):
        if given != size:
            raise ValueError(f"{name} must be of size {size}, as what learns from it, not {given}")
    if position.batch != playouts.margin.shape[0]:
        raise ValueError(f"position must have as many positions as playouts, {playouts.margin.shape[0]}, not {position.batch}")
    bounds = outcome.bounds(checks.komis(komi, position.batch), size * size)
    return playouts.moves, playouts.margin, position.to_play, np.broadcast_to(bounds, (position.batch, 2))


def _halves(margin: jax.Array, to_play: jax.Array, bounds: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(int32 [B, n]: results in halves of the player who began; int32 [B, 1]: 0 where Black did, 1 where White)."""
    began = (to_play < 0).astype(jnp.int32)[:, None]
    return outcome.of_mover(margin.astype(jnp.int32), bounds[:, None], began == np.int32(0)), began


@jax.jit
def _counted(visits, results, moves, margin, to_play, bounds):
    _, contexts, points = visits.shape
    result, began = _halves(margin, to_play, bounds)
    moves = moves.astype(jnp.int32)

    def add(ply, sums):
        visits, results = sums
        move = lax.dynamic_index_in_dim(moves, ply, axis=2, keepdims=False)
        before = lax.dynamic_index_in_dim(moves, jnp.maximum(ply - np.int32(1), np.int32(0)), axis=2, keepdims=False)
        before = jnp.where(ply == np.int32(0), np.int32(points), before) if contexts > 1 else jnp.zeros_like(move)
        colour = began ^ (ply & np.int32(1))
        own = jnp.where((ply & np.int32(1)) == np.int32(0), result, np.int32(outcome.WIN) - result)
        on_board = (move >= np.int32(0)) & (move < np.int32(points))
        place = jnp.where(on_board, (colour * np.int32(contexts) + before) * np.int32(points) + move, np.int32(visits.size))
        return visits.at[place].add(np.int32(1), mode="drop"), results.at[place].add(own, mode="drop")

    # Plies after the longest playout's end have no moves.
    longest = jnp.max(jnp.sum(moves >= np.int32(0), axis=2, dtype=jnp.int32))
    # In a `shard_map` the counts must vary over the mesh as what is added to them does.
    nothing = jnp.sum(result, dtype=jnp.int32) & longest & np.int32(0)
    flat = lax.fori_loop(np.int32(0), longest, add, (visits.reshape(-1) + nothing, results.reshape(-1) + nothing))
    return tuple(x.reshape(visits.shape) for x in flat)


@functools.partial(jax.jit, static_argnums=0)
def _replies(forgetting: bool, old, moves, margin, to_play, bounds):
    # Of the playouts one after the other, each ply by ply, an entry's last reply that won is what counts, and whether a later one
    # that lost was the same.
    points = old.shape[1] - 1
    if moves.shape[2] < 2:
        return old  # nothing was replied to
    result, began = _halves(margin, to_play, bounds)
    move, before = moves[..., 1:].astype(jnp.int32), moves[..., :-1].astype(jnp.int32)
    ply = lax.broadcasted_iota(jnp.int32, move.shape, 2) + np.int32(1)
    odd = ply & np.int32(1)
    own = jnp.where(odd == np.int32(0), result[..., None], np.int32(outcome.WIN) - result[..., None])
    on_board = (move >= np.int32(0)) & (move < np.int32(points)) & (before < np.int32(points))
    entry = (began[..., None] ^ odd) * np.int32(points + 1) + before
    time = jnp.arange(1, move.size + 1, dtype=jnp.int32).reshape(move.shape)

    def where(result):
        return jnp.where(on_board & (own == np.int32(result)), entry, np.int32(old.size))

    won = jnp.zeros(old.size, jnp.int32).at[where(outcome.WIN)].max(time, mode="drop")
    reply = jnp.where(won > np.int32(0), move.reshape(-1)[won - np.int32(1)], old.reshape(-1))
    if forgetting:
        last, lost = won.at[entry].get(mode="clip"), where(outcome.LOSS)
        again = (reply.at[entry].get(mode="clip") == move) & (time > last)
        forgotten = jnp.where(again, lost, np.int32(old.size))
        reply = reply.at[forgotten].set(np.int32(NO_REPLY), mode="drop")
    return reply.reshape(old.shape)
