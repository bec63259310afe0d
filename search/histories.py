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
    """int16 [K, T]: this leaf's moves, to the end of the prefix and one more."""
    won: np.ndarray
    """int64 [K]: results in halves, for the player to move at the leaf."""
    length: np.ndarray
    """int64 [K]: plies."""
    weights: np.ndarray
    """float32 [2, K, M]: what each point has earned the leaf's mover and the other in each playout, the tree's moves aside: 1 for
    a first play by AMAF, the numerator of its weight by Williams's rules, a whole number."""
    prefix: np.ndarray
    """int64 [K]: plies before the first that captures or repeats a point."""
    line: np.ndarray
    """int16 [depth]: ends with the tree's moves to the leaf, of which the last d are below the node."""
    line_captured: np.ndarray
    """bool [depth]: whether they captured."""

    @classmethod
    def room(cls, moves: int, playouts: int, plies: int, depth: int) -> "Played":
        """Room for leaves of K playouts on boards of M moves; T plies, and lines of the tree of so many moves, at most."""
        numbers = np.empty((3, playouts), np.int64)
        return cls(
            events=np.empty((0, playouts, plies), np.int16), row=np.empty(1, np.int64),
            moves=np.empty((playouts, plies), np.int16), won=numbers[0], length=numbers[1],
            weights=np.empty((2, playouts, moves), np.float32), prefix=numbers[2], line=np.empty(depth, np.int16),
            line_captured=np.empty(depth, np.bool_),
        )  # fmt: skip


@part
def read_nothing(played):
    """There are no plies: the leaf is an end of the game."""
    played.weights[:] = 0
    for k in range(len(played.won)):
        played.length[k] = played.prefix[k] = 0


@part
def read_playouts(played, credit, used):
    """Fills `length` of this row's playouts, and what the rule of credit asks for: `moves` and `prefix`, or `weights`.

    Args:
      played: the leaf's playouts.
      credit: by which rule points earn.
      used: scratch, int64 [M].
    """
    used[:] = -1
    for k in range(len(played.won)):
        events = played.events[played.row[0], k]
        length = played.length[k] = number_of_plies(events)
        if credit == MCTR:
            read_prefix(played, k, events[:length], used)
            continue
        played.weights[:, k, :] = 0
        if credit == WEIGHTED_V2:
            for ply in range(length):
                played.weights[ply & 1, k, events[ply] & (CAPTURE - 1)] += length + 1 - ply
        else:
            for ply in range(length - 1, -1, -1):  # so that the first play at a point is the last to be noted
                move = events[ply] & (CAPTURE - 1)
                played.weights[ply & 1, k, move] = length - ply if credit == WEIGHTED_V1 else 1
                played.weights[1 - (ply & 1), k, move] = 0
        played.weights[:, k, played.weights.shape[2] - 1] = 0


@part
def number_of_plies(events):
    """How many of a playout's events, int16 [T], there are before the first that is negative, as all after it are."""
    least, most = 0, len(events)
    while least < most:
        middle = (least + most) >> 1
        if events[middle] >= 0:
            least = middle + 1
        else:
            most = middle
    return least


@part
def read_prefix(played, k, events, used):
    """Fills `prefix` of a playout, and `moves` up to there; `used` has no point with the number k yet."""
    pass_move, end = len(used) - 1, 0
    while end < len(events):
        move = events[end] & (CAPTURE - 1)
        played.moves[k, end] = move
        if move != pass_move:
            if events[end] >= CAPTURE or used[move] == k:
                break
            used[move] = k
        end += 1
    played.prefix[k] = end


@part
def count_first_plays(played, earned):
    """Adds the first plays of the leaf's mover and of the other, and their results in them, to int16 [2, 2, M]."""
    for player in range(2):
        for k in range(len(played.won)):
            won = 2 - played.won[k] if player else played.won[k]
            for move in range(earned.shape[2]):
                number = np.int16(played.weights[player, k, move])
                earned[player, 0, move] += number
                earned[player, 1, move] += number * won


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
    earned[0, :, :] = 0.0
    all_won = shares = shares_won = 0.0
    for k in range(len(played.won)):
        # Of a line of L = d + length plies, ply d + j weighs (length - j) / L.
        whole = played.length[k] + 1 if credit == WEIGHTED_V2 else played.length[k]
        share, won = 1.0 / max(depth + whole, 1), float(2 - played.won[k] if depth & 1 else played.won[k])
        for move in range(pass_move):
            weight = played.weights[depth & 1, k, move] * share
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
      used: int64 [M], scratch: the points of the tree's moves.
    """
    top, pass_move = len(played.line) - depth, earned.shape[2] - 1
    earned[0, :, :] = 0.0
    used[:] = 0
    line, own, ended = 0, 0, False
    while not ended and line < depth:
        move = played.line[top + line]
        if move != pass_move:
            ended = played.line_captured[top + line] or used[move] != 0 or not has_bit(legal[line & 1], move)
            if ended and line > 0:
                break
            used[move] = 1
            own += 1 - (line & 1)
        line += 1
    shares = shares_won = 0.0
    for k in range(len(played.won)):
        end, number = 0, own
        # A capture by the very first ply is still in the prefix.
        last = max(played.prefix[k], min(1 - depth, played.length[k])) if not ended else 0
        while end < last:
            move, other = played.moves[k, end], (depth + end) & 1
            if move != pass_move:
                if used[move] != 0 or not has_bit(legal[other], move):
                    break
                number += 1 - other
            end += 1
        if number > 0:
            share, won = 1.0 / number, float(2 - played.won[k] if depth & 1 else played.won[k])
            shares, shares_won = shares + share, shares_won + share * won
            for ply in range(depth & 1, end, 2):
                move = played.moves[k, ply]
                if move != pass_move:
                    earned[0, 0, move] += share
                    earned[0, 1, move] += share * won
    for ply in range(0, line, 2):
        move = played.line[top + ply]
        if move != pass_move:
            earned[0, 0, move] = shares
            earned[0, 1, move] = shares_won
