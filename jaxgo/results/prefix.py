"""Jason House's prefix of plies (MCTR, see `jaxgo.results.credits`) of many playouts side by side, on the device.

A step takes a few plies of all playouts. Points are bits of dense words, 32 to a word, whatever the board: what is asked of them
is only whether one of them is in a set.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing.lanes import CAPTURE

#: Plies of a step, an even number.
GROUP = 8
#: Above all plies.
NEVER = 1 << 14

PointSet = tuple[jax.Array, ...]
"""Sets of points: ceil(P / 32) arrays of uint32, all of one shape; point p is bit p % 32 of word p // 32."""


def events_of_plies(events: jax.Array, ply: jax.Array) -> list[jax.Array]:
    """int32 [n] for each of the GROUP plies from `ply`: the events of playouts [n, T], -1 beyond T."""
    # A strided read of a few plies costs less than the transposed copy of all that would spare it.
    plies = [ply + np.int32(k) for k in range(GROUP)]
    rows = [lax.dynamic_index_in_dim(events, x, axis=1, keepdims=False).astype(jnp.int32) for x in plies]
    return [jnp.where(x < np.int32(events.shape[1]), row, np.int32(-1)) for x, row in zip(plies, rows)]


def no_points(num_points: int, like: jax.Array) -> PointSet:
    """Empty sets, an array's shape."""
    return (like.astype(jnp.uint32) & np.uint32(0),) * -(-num_points // 32)


def as_point_set(points: jax.Array) -> PointSet:
    """The sets of points where a bool [..., P] is true."""
    num_words = -(-points.shape[-1] // 32)
    points = jnp.pad(points, [(0, 0)] * (points.ndim - 1) + [(0, 32 * num_words - points.shape[-1])])
    bits = points.reshape(*points.shape[:-1], num_words, 32).astype(jnp.uint32)
    words = jnp.sum(bits << lax.broadcasted_iota(jnp.uint32, bits.shape, bits.ndim - 1), axis=-1, dtype=jnp.uint32)
    return tuple(words[..., w] for w in range(num_words))


def add_point(points: PointSet, point: jax.Array, wanted: jax.Array) -> tuple[jax.Array, PointSet]:
    """(bool: whether the set already had the point, the set with it), where wanted; elsewhere (false, the set)."""
    one = jnp.left_shift(np.uint32(1), (point & np.int32(31)).astype(jnp.uint32))
    bit, word = jnp.where(wanted, one, np.uint32(0)), point >> np.int32(5)
    out: PointSet = ()
    held = jnp.zeros_like(bit)
    for w, old in enumerate(points):
        here = jnp.where(word == np.int32(w), bit, np.uint32(0))
        held, out = held | (old & here), (*out, old | here)
    return held != np.uint32(0), out


def prefixes(
    num_points: int, events: jax.Array, illegal: tuple[PointSet, PointSet], stop: jax.Array, *, captures: bool
) -> tuple[jax.Array, jax.Array]:
    """The prefixes' ends, at most T, and how many plies of the root player earn in them: int32 [n] both.

    A ply is in the prefix if it lies before the end, or is the first; as `jaxgo.results.credits.in_prefix` has it.

    Args:
      num_points: P.
      events: int16 [n, T], as in `Records`.
      illegal: the points that the root player, and the other, may not play at the root; words [n].
      stop: int32 [n], a ply that ends the prefix if nothing did before.
      captures: whether captures end it (static).
    """

    def step(first_ply, stop, group, end, number, *taken):
        for k, event in enumerate(group):
            ply, point = first_ply + np.int32(k), event & np.int32(CAPTURE - 1)
            over, on_board = event < np.int32(0), (event >= np.int32(0)) & (point < np.int32(num_points))
            both = [add_point(points, point, on_board) for points in taken]
            barred, taken = both[k % 2][0], tuple(points for _, points in both)
            if captures:
                barred = barred | (on_board & (event >= np.int32(CAPTURE)))
            ends = over | barred | (ply >= stop)
            end = jnp.where(ends & (end == np.int32(NEVER)), ply, end)
            if k % 2 == 0:
                earns = on_board & ((ply < end) | (ply == np.int32(0)))
                number = number + earns.astype(jnp.int32)
        return end, number, *taken

    def going(state):
        ply, end, *_ = state
        return (ply < np.int32(events.shape[1])) & jnp.any(end == np.int32(NEVER))

    def trip(state):
        ply, *state = state
        return ply + np.int32(GROUP), *in_one_loop(step, jnp.full_like(stop, ply), stop, events_of_plies(events, ply), *state)

    zero = stop & np.int32(0)
    _, end, number, *_ = lax.while_loop(going, trip, (np.int32(0), zero + np.int32(NEVER), zero, *illegal))
    return jnp.minimum(end, np.int32(events.shape[1])), number


def first_self_capture(g: Geometry, own: Board, opp: Board, events: jax.Array, ends: jax.Array) -> jax.Array:
    """int32 [n]: the first ply before the end that captures a stone which the same playout had put down, or NEVER.

    The playouts are played again on boards: what costs most in MCTR's capture mode.

    Args:
      g: the board's geometry.
      own, opp: [n], the positions where the playouts began, from their mover's view.
      events: int16 [n, T], as in `Records`.
      ends: int32 [n], as `prefixes` gives them; the first ply counts whatever its end.
    """
    table = jnp.asarray(g.index_of_point)

    def going(state):
        ply, *_, end = state
        return jnp.any(ply < end) | (ply == np.int32(0))

    def step(state):
        ply, own, opp, played, found, end = state
        event = lax.dynamic_index_in_dim(events, ply, axis=1, keepdims=False).astype(jnp.int32)
        here = (event >= np.int32(0)) & ((ply < end) | (ply == np.int32(0)))
        at = jnp.where(here, table[jnp.where(here, event & np.int32(CAPTURE - 1), np.int32(0))], np.int32(g.pass_index))
        stone = bb.one_point(g, at)
        mine, theirs, _ = rules.play(g, own, opp, stone)
        captured = bb.any_point(bb.both(bb.without(opp, theirs), played)) & here
        found, end = (jnp.where(captured, ply, x) for x in (found, end))
        return ply + np.int32(1), theirs, mine, bb.either(played, stone), found, end

    played = tuple(jnp.zeros_like(x) for x in own)
    state = (np.int32(0), own, opp, played, jnp.full_like(ends, NEVER), ends)
    return lax.while_loop(going, step, state)[-2]
