"""What points earn by the moves of a leaf's playouts, seen from a node above it; compiled.

Every ancestor sees a playout as the tree's moves below it followed by the playout's. Its credits are those of `jaxgo.credits`,
but for the rounding to units.
"""

from typing import NamedTuple

import numpy as np

from jaxgo.playing.tick import CAPTURE
from search.compiled import part
from search.nodes import has_bit

#: Credit rules by number.
NO_CREDIT, AMAF, WEIGHTED_V1, WEIGHTED_V2, MCTR = range(5)
NUMBERS = {None: NO_CREDIT, "amaf": AMAF, "weighted_v1": WEIGHTED_V1, "weighted_v2": WEIGHTED_V2, "mctr_simple": MCTR}


class Played(NamedTuple):
    """The K playouts of one leaf, T plies at most, and the d moves of the tree from a node to the leaf."""

    events: np.ndarray
    """int16 [leaves, K, T]: all leaves' moves, P for a pass, with `CAPTURE` where they captured; this one's in row `row[0]`."""
    row: np.ndarray
    """int64 [1]."""
    moves: np.ndarray
    """int16 [K, T]: this leaf's moves."""
    captured: np.ndarray
    """bool [K, T]: whether they captured."""
    won: np.ndarray
    """int64 [K]: results in halves, for the player to move at the leaf."""
    length: np.ndarray
    """int64 [K]: plies."""
    first: np.ndarray
    """bool [K, T]: whether the ply is the first of its playout at a point."""
    line: np.ndarray
    """int16 [depth]: the tree's moves to the leaf, of which the last d are below the node."""
    line_captured: np.ndarray
    """bool [depth]: whether they captured."""


@part
def note_first_plays(played, used):
    """Fills `moves`, `captured`, `first` and `length`; `used` is scratch, int64 [M]."""
    row, pass_move = played.row[0], len(used) - 1
    for move in range(len(used)):
        used[move] = -1
    for k in range(len(played.won)):
        length = 0
        while length < played.events.shape[2] and played.events[row, k, length] >= 0:
            event = played.events[row, k, length]
            move = event & (CAPTURE - 1)
            played.moves[k, length], played.captured[k, length] = move, event >= CAPTURE
            played.first[k, length] = move != pass_move and used[move] != k
            used[move] = k
            length += 1
        played.length[k] = length


@part
def count_first_plays(played, earned):
    """Adds the first plays of the leaf's mover and of the other, and their results in them, to float64 [2, 2, M]."""
    for k in range(len(played.won)):
        for ply in range(played.length[k]):
            if played.first[k, ply]:
                move, player, won = played.moves[k, ply], ply & 1, played.won[k]
                earned[player, 0, move] += 1
                earned[player, 1, move] += 2 - won if player else won


@part
def weigh(credit, played, depth, earned):
    """What Williams's weights earn a node's mover: V1, first plays 1 - i / L; V2, all own plays 1 - i / (L + 1).

    Args:
      credit: WEIGHTED_V1 or WEIGHTED_V2.
      played: the leaf's playouts.
      depth: d, of the leaf below the node.
      earned: float64 [C, 2, M], gets the credits, and their sums times results, as its first.
    """
    top, pass_move = len(played.line) - depth, earned.shape[2] - 1
    for move in range(pass_move + 1):
        earned[0, 0, move] = earned[0, 1, move] = 0.0
    all_won = shares = shares_won = 0.0
    for k in range(len(played.won)):
        # Of a line of L = d + length plies, ply d + j weighs (length - j) / L.
        length = played.length[k]
        whole = length + 1 if credit == WEIGHTED_V2 else length
        share, won = 1.0 / max(depth + whole, 1), float(2 - played.won[k] if depth & 1 else played.won[k])
        for ply in range(depth & 1, length, 2):
            move = played.moves[k, ply]
            if played.first[k, ply] or (credit == WEIGHTED_V2 and move != pass_move):
                weight = (whole - ply) * share
                earned[0, 0, move] += weight
                earned[0, 1, move] += weight * won
        all_won, shares, shares_won = all_won + won, shares + share, shares_won + share * won
    for ply in range(depth - 1, -1, -1):
        move = played.line[top + ply]
        if move == pass_move:
            continue
        if credit == WEIGHTED_V1:  # what comes later at this point is no first play
            earned[0, 0, move] = earned[0, 1, move] = 0.0
        if ply & 1 == 0:
            earned[0, 0, move] += len(played.won) - ply * shares
            earned[0, 1, move] += all_won - ply * shares_won


@part
def share_prefixes(played, depth, legal, earned, used):
    """What MCTR earns a node's mover: each of his k plies in a playout's prefix 1 / k.

    The prefix ends at the first ply that is illegal at the node for its colour, repeats a point or captures; that is left out
    unless it is the very first.

    Args:
      played, depth, earned: as of `weigh`.
      legal: uint32 [2, words], where the node's mover and the other may play.
      used: int64 [M], scratch.
    """
    top, pass_move = len(played.line) - depth, earned.shape[2] - 1
    for move in range(pass_move + 1):
        earned[0, 0, move] = earned[0, 1, move] = 0.0
        used[move] = -1
    for k in range(len(played.won)):
        end, number, ended = 0, 0, False
        while not ended and end < depth + played.length[k]:
            if end < depth:
                move, captured = played.line[top + end], played.line_captured[top + end]
            else:
                move, captured = played.moves[k, end - depth], played.captured[k, end - depth]
            if move != pass_move:
                ended = captured or used[move] == k or not has_bit(legal[end & 1], move)
                if ended and end > 0:
                    break
                used[move] = k
                number += 1 - (end & 1)
            end += 1
        won = float(2 - played.won[k] if depth & 1 else played.won[k])
        for ply in range(0, end, 2):
            move = played.line[top + ply] if ply < depth else played.moves[k, ply - depth]
            if move != pass_move:
                earned[0, 0, move] += 1.0 / number
                earned[0, 1, move] += won / number
