"""Credit of a playout's moves: the family of one-ply statistics, each a rule that says how much each ply earns.

All of them score the moves of the player at the root by the results of the playouts in which they were played, and differ only in
which plies earn, and how much:

 - `first_move`: plain Monte Carlo, the first ply only, 1.
 - `amaf`: all moves as first (Dailey's reference bot, 2008): the root player was the first of both to play the point, 1.
 - `weighted_v1`, `weighted_v2`: Michael Williams's weighted AMAF (2008): early plies count more. V1 credits first plays with
   1 - i / L, V2 every own play with 1 - i / (L + 1), for ply i of L, passes counted.
 - `mctr_simple`, `mctr_capture`: Jason House's Monte Carlo with transposition of moves, "1plyShuffle" (2007): the longest prefix
   of plies that could be reordered within each colour earns, each of the root player's k plies in it 1 / k.

Passes earn nothing. `amaf_first_twice` and `mctr_whole` are the failures that the authors report (the first move counted double;
1 instead of 1 / k), kept so that their tables can be played again.

Credits are whole numbers of units, `UNIT` to a credit of 1: a fraction is rounded to the nearest unit, half a unit up. So sums of
them depend on neither their order nor a device's division, which on a GPU is not that of IEEE 754. A playout's credits by MCTR
therefore sum to 1 only within half a unit for each.

The functions take numpy or jax arrays, and give back what they were given.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgo.base import checks

#: Units of a credit of 1. A sixteen-bit fraction: a playout's credits, their squares and `share` fit 32 bits.
UNIT = 1 << 16

#: Names of the rules.
RULES = (
    "first_move", "amaf", "weighted_v1", "weighted_v2", "mctr_simple", "mctr_capture", "amaf_first_twice", "mctr_whole",
)  # fmt: skip
#: Those that credit first plays only.
FIRST_PLAYS = ("amaf", "amaf_first_twice", "weighted_v1")
#: Those that credit House's prefix.
PREFIXES = ("mctr_simple", "mctr_capture", "mctr_whole")

Array = Any
"""A numpy or a jax array."""


class Histories(NamedTuple):
    """Plies of n playouts from one position or several; arrays of one namespace."""

    moves: Array
    """int16 [n, T]: the point of each ply, P for a pass, -1 after the end."""
    breaks: Array
    """bool [n, T]: whether the ply captures: anything in simple mode, a stone that the playout's prefix itself put down in
    capture mode (`jaxgo.results.move_statistics.self_captures`). Only MCTR asks."""
    legal: Array
    """bool [n, 2, P]: where the root player (0) and the other (1) may play at the root. Only MCTR asks."""


def credit(rule: str, histories: Histories) -> Array:
    """What each ply earns its point.

    Args:
      rule: one of `RULES`.
      histories: the playouts; ply 0 is the root player's.

    Returns:
      int32 [n, T], 0 to UNIT (2 UNIT for `amaf_first_twice`): 0 for the other player's plies, passes and after the end.
    """
    checks.one_of("rule", rule, RULES)
    moves = histories.moves
    xp = moves.__array_namespace__()
    num_points = histories.legal.shape[-1]
    ply = xp.broadcast_to(xp.arange(moves.shape[1], dtype=np.int32)[None, :], moves.shape)
    on_board = (moves >= np.int16(0)) & (moves < np.int16(num_points))
    earning = on_board & (ply % np.int32(2) == np.int32(0))
    if rule == "first_move":
        earning = earning & (ply == np.int32(0))
    elif rule != "weighted_v2":
        first = on_board & (first_plies(xp, moves, num_points) == ply)
        earning = earning & (in_prefix(xp, histories, first) if rule in PREFIXES else first)
    length, number = (
        xp.broadcast_to(xp.sum(x, axis=1, dtype=np.int32)[:, None], moves.shape) for x in (moves >= np.int16(0), earning)
    )  # fmt: skip
    return xp.where(earning, weight(rule, ply, length, number), np.int32(0))


def weight(rule: str, ply: Array, length: Array, number: Array) -> Array:
    """int32: the units that a ply earns if it earns anything.

    Args:
      rule: one of `RULES`.
      ply: int32, counted from 0.
      length: int32, of the same shape: plies of its playout, passes counted.
      number: int32, of the same shape: plies of its playout that earn.
    """
    xp = ply.__array_namespace__()
    if rule == "weighted_v1":
        return share(length - ply, xp.maximum(length, np.int32(1)))
    if rule == "weighted_v2":
        return share(length + np.int32(1) - ply, length + np.int32(1))
    if rule in ("mctr_simple", "mctr_capture"):
        return share(xp.full_like(number, 1), xp.maximum(number, np.int32(1)))
    if rule == "amaf_first_twice":
        return xp.where(ply == np.int32(0), np.int32(2 * UNIT), np.int32(UNIT))
    return xp.full_like(ply, UNIT)


def share(part: Array, whole: Array) -> Array:
    """int32: part / whole in units, rounded to the nearest, half a unit up; of int32, 0 <= part <= whole, 0 < whole < 2**13."""
    xp = part.__array_namespace__()
    dividend, divisor = part * np.int32(2 * UNIT) + whole, whole * np.int32(2)
    if xp is np:
        return dividend // divisor
    # CPUs divide integers one at a time. Whatever a division of floats gives, within 1 of the quotient, the remainder mends.
    quotient = (dividend.astype(np.float32) / divisor.astype(np.float32)).astype(np.int32)
    rest = dividend - quotient * divisor
    return quotient + (rest >= divisor).astype(np.int32) - (rest < np.int32(0)).astype(np.int32)


def square(units: Array) -> Array:
    """int32: the square of a credit, in units, rounded to the nearest, half a unit up; of int32, 0 to 2 UNIT."""
    # units = 256 high + low; the square itself has up to 35 bits.
    high, low = units >> np.int32(8), units & np.int32(255)
    return high * high + ((high * low * np.int32(512) + low * low + np.int32(UNIT // 2)) >> np.int32(16))


def first_plies(xp, moves: Array, num_points: int) -> Array:
    """int32 [n, T]: the first ply of the playout at the point of each ply; meaningless for passes and after the end."""
    n, plies = moves.shape
    row = xp.broadcast_to(xp.arange(n, dtype=np.int32)[:, None], moves.shape)
    ply = xp.broadcast_to(xp.arange(plies, dtype=np.int32)[None, :], moves.shape)
    point = xp.where(moves < np.int16(0), np.int16(num_points), moves).astype(np.int32)
    if xp is np:
        earliest = np.full((n, num_points + 1), plies, np.int32)
        for i in range(plies - 1, -1, -1):
            earliest[row[:, i], point[:, i]] = i
    else:
        earliest = xp.full((n, num_points + 1), plies, np.int32).at[row, point].min(ply)
    return earliest[row, point]


def in_prefix(xp, histories: Histories, first: Array) -> Array:
    """bool [n, T]: House's prefix S of plies that could be reordered within each colour.

    It ends, for good, at the first ply that is illegal for its colour at the root, repeats a point used earlier, or captures.
    That ply is left out, unless it is the very first. A pass neither ends the prefix nor earns.
    """
    moves, num_points = histories.moves, histories.legal.shape[-1]
    plies = moves.shape[1]
    row = xp.broadcast_to(xp.arange(len(moves), dtype=np.int32)[:, None], moves.shape)
    ply = xp.broadcast_to(xp.arange(plies, dtype=np.int32)[None, :], moves.shape)
    on_board = (moves >= np.int16(0)) & (moves < np.int16(num_points))
    point = xp.where(on_board, moves, np.int16(0)).astype(np.int32)
    legal = histories.legal[row, ply % np.int32(2), point]
    ends = on_board & (~legal | ~first | histories.breaks)
    ended = xp.cumsum(ends.astype(np.int32), axis=1, dtype=np.int32)
    return (moves >= np.int16(0)) & ((ended == np.int32(0)) | (ply == np.int32(0)))
