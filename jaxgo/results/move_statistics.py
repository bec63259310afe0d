"""Statistics of moves from playouts: how good each move of the player at the root looks by a rule of credit (`jaxgo.credits`).

There are two ways to them, which agree to rounding: `statistics_of` takes playouts with their moves, and `move_statistics` plays
and sums on the device, so that a million playouts need no histories on the host. Sums are made in fixed point, whole numbers of
2**-16, so that they do not depend on how playouts are split up.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import checks
from jaxgo.base.constants import BLACK
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import legal_for_both, own_and_opp
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.wire import captured_of, moves_of, table_of
from jaxgo.results import credits, outcome
from jaxgo.results.playouts import Playouts

#: Playouts whose sums share an int32, and the unit of the fixed point.
BLOCK, UNIT = 256, 1 << 16


@dataclasses.dataclass(frozen=True, eq=False)
class MoveStatistics:
    """What playouts say of every point as a move of the player at the root; float64 arrays [B, P]."""

    weight: np.ndarray
    """Sum of the credits f that the point has earned."""
    value: np.ndarray
    """Mean result in [0, 1] for the mover, weighted with f, draws half; NaN where nothing was earned."""
    effective: np.ndarray
    """Effective sample size, (sum f)**2 / sum f**2; 0 where nothing was earned."""
    error: np.ndarray
    """Standard error of `value` at most, 0.5 sqrt(sum f**2) / sum f (Jason House, 2007); infinite where nothing was earned."""
    num_playouts: int
    """Playouts of each position."""

    def plus(self, other: "MoveStatistics") -> "MoveStatistics":
        """The statistics of these playouts and others."""
        with np.errstate(invalid="ignore"):  # points without weight: their values are no numbers, and are left out
            sums = [
                np.where(x.weight[..., None] > 0, np.stack([x.weight, x.value * x.weight, (2 * x.error * x.weight) ** 2], -1), 0.0)
                for x in (self, other)
            ]  # fmt: skip
        return MoveStatistics.from_sums(sums[0] + sums[1], self.num_playouts + other.num_playouts)

    @classmethod
    def from_units(cls, sums: np.ndarray, num_playouts: int) -> "MoveStatistics":
        """From sums of f and f**2 in units and of f z in units and halves, integers [B, P, 3]."""
        return cls.from_sums(sums / UNIT / np.array([1, outcome.WIN, 1]), num_playouts)

    @classmethod
    def from_sums(cls, sums: np.ndarray, num_playouts: int) -> "MoveStatistics":
        """From sums of f, f z and f**2, float64 [B, P, 3]."""
        weight, wins, squares = sums[..., 0], sums[..., 1], sums[..., 2]
        with np.errstate(invalid="ignore", divide="ignore"):
            effective = np.where(squares > 0, weight**2 / squares, 0.0)
            error = np.where(weight > 0, 0.5 * np.sqrt(squares) / weight, np.inf)
            return cls(weight, wins / weight, effective, error, num_playouts)


def statistics_of(position: Position, playouts: Playouts, *, rule: str = "amaf", komi: float = 7.5) -> MoveStatistics:
    """The same from playouts with moves (`jaxgo.playouts(..., moves=True)`), in float64 on the host.

    Raises:
      ValueError: the playouts have no moves, or are not those of so many positions of this size.
    """
    checks.one_of("rule", rule, credits.RULES)
    komi = checks.komi(komi)
    if playouts.events is None:
        raise ValueError("playouts must have their moves: jaxgo.playouts(..., moves=True)")
    batch, count, _ = playouts.events.shape
    if (batch, playouts.size) != (position.batch, position.size):
        raise ValueError(
            f"playouts must be of the position's batch of {position.batch} and size {position.size}, "
            f"not of {batch} and {playouts.size}"
        )
    num_points, black = position.size**2, np.asarray(position.to_play) == BLACK
    own, opp = own_and_opp(position)
    legal = np.asarray(_legal_for_both(position.geometry, own, opp, position.ko))
    sums = np.zeros((batch, num_points, 3))
    for b in range(batch):
        moves, captured = np.asarray(playouts.moves[b]), np.asarray(playouts.captured[b])
        of_both = np.broadcast_to(legal[b], (count, *legal[b].shape))
        breaks = captured
        if rule == "mctr_capture":
            boards = [tuple(jnp.broadcast_to(x[b : b + 1], (count,)) for x in board) for board in (own, opp)]
            breaks = np.asarray(_self_captures(position.geometry, *boards, jnp.asarray(moves), jnp.asarray(of_both)))
        credit = credits.credit(rule, credits.Histories(moves, breaks, of_both))
        margin, bounds = np.asarray(playouts.margin[b]), outcome.bounds(komi, num_points)
        result = np.broadcast_to(outcome.of_mover(margin, bounds, black[b])[:, None] / outcome.WIN, credit.shape)
        row, ply = np.nonzero(credit)
        point, f = moves[row, ply], credit[row, ply]
        for i, x in enumerate((f, f * result[row, ply], f**2)):
            sums[b, :, i] = np.bincount(point, x, num_points)
    return MoveStatistics.from_sums(sums, count)


@functools.cache
def output_of(rule: str):
    """The reduction of a rule, always the same function, so that it is compiled once."""
    return functools.partial(_credit_sums, rule)


def _credit_sums(rule: str, g, records, columns, bounds, valid) -> jax.Array:
    """int32 [B, blocks, P, 3]: sums of f, f z, f**2 in units, z in halves, of a chunk's playouts [B * n]."""
    (batch, count), tab = valid.shape, table_of(columns)
    room = -(-count // BLOCK)
    n, plies = records.events.shape
    moves = moves_of(records.events)
    which = jnp.broadcast_to(jnp.arange(batch, dtype=jnp.int32)[:, None], valid.shape).reshape(n)
    legal = legal_for_both(g, tab.own, tab.opp, tab.ko)[which]
    if rule == "mctr_capture":
        own, opp = (tuple(x[which] for x in board) for board in (tab.own, tab.opp))
        breaks = self_captures(g, own, opp, moves, legal)
    else:
        breaks = captured_of(records.events)
    credit = credits.credit(rule, credits.Histories(moves, breaks, legal))
    result = outcome.of_mover(records.margin, bounds[which], tab.black[which] == jnp.int32(1))
    f = jnp.where(valid.reshape(n)[:, None], jnp.round(credit * UNIT), jnp.float32(0)).astype(jnp.int32)
    f2 = jnp.where(valid.reshape(n)[:, None], jnp.round(credit * credit * UNIT), jnp.float32(0)).astype(jnp.int32)
    rows = jnp.stack([f, f * jnp.broadcast_to(result[:, None], f.shape), f2], axis=-1)
    point = jnp.where(f == jnp.int32(0), jnp.int16(g.num_points), moves).astype(jnp.int32)
    block = which * jnp.int32(room) + jnp.broadcast_to(
        jnp.arange(count, dtype=jnp.int32)[None, :] // jnp.int32(BLOCK), valid.shape
    ).reshape(n)
    place = (jnp.broadcast_to(block[:, None], (n, plies)), point)
    sums = jnp.zeros((batch * room, g.num_points + 1, 3), jnp.int32).at[place].add(rows)
    return sums.reshape(batch, room, g.num_points + 1, 3)[:, :, :-1]


def self_captures(g: Geometry, own: Board, opp: Board, moves: jax.Array, legal: jax.Array) -> jax.Array:
    """bool [n, T]: plies that capture a stone which the same playout had put down, up to the end of MCTR's prefix (capture mode).

    Args:
      g: the board's geometry.
      own, opp: [n], the positions where the playouts began, from their mover's view.
      moves: int16 [n, T].
      legal: bool [n, 2, P], as in `jaxgo.credits.Histories`.
    """
    num_points, plies = g.num_points, moves.shape[1]
    none = jnp.zeros(moves.shape, jnp.bool_)
    open_prefix = credits.in_prefix(jnp, credits.Histories(moves, none, legal), _is_first(moves, num_points))
    index = jnp.asarray(g.index_of_point)[jnp.where(moves < jnp.int16(0), jnp.int16(num_points), moves).astype(jnp.int32)]
    played = tuple(jnp.zeros_like(x) for x in own)

    def going(state):
        ply, *_, open_, _ = state
        return (ply < jnp.int32(plies)) & jnp.any(open_)

    def step(state):
        ply, own, opp, played, open_, breaks = state
        here = lax.dynamic_index_in_dim(open_prefix, ply, axis=1, keepdims=False) & open_
        at = lax.dynamic_index_in_dim(index, ply, axis=1, keepdims=False)
        stone = bb.one_point(g, jnp.where(here, at, jnp.int32(g.pass_index)))
        mine, theirs, _ = rules.play(g, own, opp, stone)
        captured = bb.any_point(bb.both(bb.without(opp, theirs), played)) & here
        breaks = lax.dynamic_update_index_in_dim(breaks, captured, ply, axis=1)
        return ply + jnp.int32(1), theirs, mine, bb.either(played, stone), here & ~captured, breaks

    open_ = jnp.ones(moves.shape[0], jnp.bool_)
    state = (jnp.int32(0), own, opp, played, open_, none)
    return lax.while_loop(going, step, state)[-1]


def _is_first(moves: jax.Array, num_points: int) -> jax.Array:
    ply = jnp.broadcast_to(jnp.arange(moves.shape[1], dtype=jnp.int32)[None, :], moves.shape)
    return (moves >= jnp.int16(0)) & (moves < jnp.int16(num_points)) & (credits.first_plies(jnp, moves, num_points) == ply)


_self_captures = jax.jit(self_captures, static_argnums=0)
_legal_for_both = jax.jit(legal_for_both, static_argnums=0)
