"""Statistics of moves from playouts: how good each move of the player at the root looks by a rule of credit (`jaxgo.credits`).

There are two ways to them, which agree to the last bit: `statistics_of` takes playouts with their moves, and `move_statistics`
plays and sums on the device, so that a million playouts need no histories on the host.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.base.constants import BLACK
from jaxgo.base.trials import as_by_default
from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import legal_for_both, own_and_opp
from jaxgo.board.geometry import Geometry
from jaxgo.board.position import Position
from jaxgo.playing.wire import captured_of, moves_of
from jaxgo.results import credits, outcome, prefix
from jaxgo.results.playouts import Playouts


@dataclasses.dataclass(frozen=True, eq=False)
class MoveStatistics:
    """What playouts say of every point as a move of the player at the root; float64 arrays [B, P].

    Attributes:
      weight: sum of the credits f that the point has earned.
      value: mean result in [0, 1] for the mover, weighted with f, draws half; NaN where nothing was earned.
      effective: effective sample size, (sum f)**2 / sum f**2; 0 where nothing was earned.
      error: standard error of `value` at most, 0.5 sqrt(sum f**2) / sum f (Jason House, 2007); infinite where nothing was earned,
        or so little that its squares are nothing in units of `jaxgo.credits`.
        Both take each credit for independent. So they are, but for those by "weighted_v2" of a point that was played twice in a
        playout: by that rule the sample is smaller, and the error larger, where points are often played again.
      num_playouts: playouts of each position.
    """

    weight: np.ndarray
    value: np.ndarray
    effective: np.ndarray
    error: np.ndarray
    num_playouts: int

    def plus(self, other: "MoveStatistics") -> "MoveStatistics":
        """The statistics of these playouts and others of the same positions, as if made in one call. That they are by one rule,
        and that none of the playouts is among both (of one seed and stream, give `first_playout`), is for the caller to see to.

        Raises:
          ValueError: the positions' number or size are others.
        """
        if not isinstance(other, MoveStatistics):
            raise TypeError(f"other must be a jaxgo.MoveStatistics, not {type(other).__name__}")
        if self.weight.shape != other.weight.shape:
            shapes = f"{self.weight.shape} and {other.weight.shape}"
            raise ValueError(f"move statistics of one (batch, points) can be added, not of {shapes}")
        return MoveStatistics.from_units(self._units() + other._units(), self.num_playouts + other.num_playouts)

    def each(self) -> "list[MoveStatistics]":
        """Those of each position by itself, B = 1."""
        rows = zip(*(x[:, None] for x in (self.weight, self.value, self.effective, self.error)))
        return [MoveStatistics(weight, value, effective, error, self.num_playouts) for weight, value, effective, error in rows]

    def _units(self) -> np.ndarray:
        """What `from_units` took: whole numbers, so that they can be had back exactly."""
        with np.errstate(invalid="ignore"):  # points without weight: their values are no numbers
            error = np.where(np.isfinite(self.error), self.error, 0.0)
            sums = np.stack([self.weight, 2 * self.value * self.weight, (2 * error * self.weight) ** 2], axis=-1)
        return np.rint(np.where(self.weight[..., None] > 0, sums, 0.0) * credits.UNIT).astype(np.int64)

    @classmethod
    def from_units(cls, units: np.ndarray, num_playouts: int) -> "MoveStatistics":
        """From sums of f, f z and f**2 in units of `jaxgo.credits`, z in halves: int64 [B, P, 3]."""
        return cls.from_sums(units / credits.UNIT / np.array([1, outcome.WIN, 1]), num_playouts)

    @classmethod
    def from_sums(cls, sums: np.ndarray, num_playouts: int) -> "MoveStatistics":
        """From sums of f, f z and f**2, float64 [B, P, 3]."""
        weight, wins, squares = sums[..., 0], sums[..., 1], sums[..., 2]
        with np.errstate(invalid="ignore", divide="ignore"):
            effective = np.where(squares > 0, weight**2 / squares, 0.0)
            error = np.where(squares > 0, 0.5 * np.sqrt(squares) / weight, np.inf)
            return cls(weight, wins / weight, effective, error, num_playouts)


@as_by_default()
def statistics_of(position: Position, playouts: Playouts, *, rule: str = "amaf", komi: ArrayLike = 7.5) -> MoveStatistics:
    """What each point earns by a rule of credit, from recorded playouts, on the host: to the last bit what
    `jaxgo.move_statistics` sums up of the same.

    Args:
      position: the B positions that the playouts are from.
      playouts: of `jaxgo.playouts(position, n, moves=True)` or `jaxgo.simulate`.
      rule: one of `jaxgo.credits.RULES`.
      komi: points that White gets; a finite number, or B of them.

    Returns:
      `MoveStatistics`.

    Raises:
      TypeError: an argument is not what it must be.
      ValueError: the playouts have no moves, or are not those of so many positions of this size.
    """
    checks.one_of("rule", rule, credits.RULES)
    for name, value, kind in (("position", position, Position), ("playouts", playouts, Playouts)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a jaxgo.{kind.__name__}, not {type(value).__name__}")
    komis = np.broadcast_to(checks.komis(komi, position.batch), position.batch)
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
    sums = np.zeros((batch, num_points, 3), np.int64)
    for b in range(batch):
        events = np.asarray(playouts.events[b])
        moves, captured = moves_of(events), captured_of(events)
        of_both = np.broadcast_to(legal[b], (count, *legal[b].shape))
        breaks = captured
        if rule == "mctr_capture":
            boards = [tuple(jnp.broadcast_to(x[b : b + 1], (count,)) for x in board) for board in (own, opp)]
            breaks = np.asarray(_self_captures(position.geometry, *boards, jnp.asarray(moves), jnp.asarray(of_both)))
        credit = credits.credit(rule, credits.Histories(moves, breaks, of_both))
        margin, bounds = np.asarray(playouts.margin[b]), outcome.bounds(komis[b], num_points)
        result = outcome.of_mover(margin, bounds, black[b])
        row, ply = np.nonzero(credit)
        point, f = moves[row, ply], credit[row, ply]
        for i, x in enumerate((f, f * result[row], credits.square(f))):
            sums[b, :, i] = np.bincount(point, x, num_points)  # floats, but exact: whole numbers below 2**53
    return MoveStatistics.from_units(sums, count)


def self_captures(g: Geometry, own: Board, opp: Board, moves: jax.Array, legal: jax.Array) -> jax.Array:
    """bool [n, T]: the plies of which each ends a prefix of MCTR's capture mode: the first that captures a stone which the same
    playout had put down, if it lies in what would be the prefix without.

    Args:
      g: the board's geometry.
      own, opp: [n], the positions where the playouts began, from their mover's view.
      moves: int16 [n, T].
      legal: bool [n, 2, P], as in `jaxgo.credits.Histories`.
    """
    barred = prefix.as_point_set(~legal[:, 0]), prefix.as_point_set(~legal[:, 1])
    never = jnp.full(moves.shape[:1], prefix.NEVER, jnp.int32)
    end, _ = prefix.prefixes(g.num_points, moves, barred, never, captures=False)
    at = prefix.first_self_capture(g, own, opp, moves, end)
    return lax.broadcasted_iota(jnp.int32, moves.shape, 1) == at[:, None]


_self_captures = jax.jit(self_captures, static_argnums=0)
_legal_for_both = jax.jit(legal_for_both, static_argnums=0)
