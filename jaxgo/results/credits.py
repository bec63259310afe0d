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

The functions take numpy or jax arrays, and give back what they were given.
"""

from typing import Any, NamedTuple

import numpy as np

#: Names of the rules.
RULES = (
    "first_move", "amaf", "weighted_v1", "weighted_v2", "mctr_simple", "mctr_capture", "amaf_first_twice", "mctr_whole",
)  # fmt: skip

Array = Any
"""A numpy or a jax array."""


class Histories(NamedTuple):
    """Plies of n playouts from one position or several; arrays of one namespace."""

    moves: Array
    """int16 [n, T]: the point of each ply, P for a pass, -1 after the end."""
    breaks: Array
    """bool [n, T]: whether the ply captures: anything in simple mode, a stone that the playout's prefix itself put down in
    capture mode (`jaxgo.captures`). Only MCTR asks."""
    legal: Array
    """bool [n, 2, P]: where the root player (0) and the other (1) may play at the root. Only MCTR asks."""


def credit(rule: str, histories: Histories) -> Array:
    """What each ply earns its point.

    Args:
      rule: one of `RULES`.
      histories: the playouts; ply 0 is the root player's.

    Returns:
      float [n, T] in [0, 1] (up to 2 for `amaf_first_twice`): 0 for the other player's plies, passes and after the end; float32
      of jax arrays, float64 of numpy ones.
    """
    moves = histories.moves
    xp = moves.__array_namespace__()
    float_ = np.float64 if xp is np else np.float32
    num_points = histories.legal.shape[-1]
    plies = moves.shape[1]
    ply = xp.broadcast_to(xp.arange(plies, dtype=np.int32)[None, :], moves.shape)
    on_board = (moves >= np.int16(0)) & (moves < np.int16(num_points))
    own = on_board & (ply % np.int32(2) == np.int32(0))
    length = xp.sum((moves >= np.int16(0)).astype(np.int32), axis=1, dtype=np.int32)[:, None].astype(float_)
    zero, one = float_(0), float_(1)

    if rule == "first_move":
        return (own & (ply == np.int32(0))).astype(float_)
    if rule == "weighted_v2":
        return xp.where(own, one - ply.astype(float_) / (length + one), zero)
    first = on_board & (first_plies(xp, moves, num_points) == ply)
    if rule in ("amaf", "amaf_first_twice"):
        twice = float_(2) if rule == "amaf_first_twice" else one
        return xp.where(own & first, xp.where(ply == np.int32(0), twice, one), zero)
    if rule == "weighted_v1":
        return xp.where(own & first, one - ply.astype(float_) / xp.maximum(length, one), zero)
    if rule in ("mctr_simple", "mctr_capture", "mctr_whole"):
        earning = own & in_prefix(xp, histories, first)
        number = xp.sum(earning.astype(np.int32), axis=1, dtype=np.int32)[:, None].astype(float_)
        share = one if rule == "mctr_whole" else one / xp.maximum(number, one)
        return xp.where(earning, share, zero)
    raise ValueError(f"rule must be one of {', '.join(RULES)}, not {rule!r}")


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

    It ends, for good, at the first ply that is illegal for its colour at the root, repeats a point used earlier, or captures. That
    ply is left out, unless it is the very first. A pass neither ends the prefix nor earns.
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
