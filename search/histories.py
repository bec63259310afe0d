"""What points earn by the moves of a leaf's playouts, seen from a node above it; compiled.

Every ancestor sees a playout as the tree's moves below it followed by the playout's. Its credits are those of `jaxgo.credits`,
but for the rounding to units.
"""

from typing import NamedTuple

import numpy as np

from jaxgo.playing.lanes import CAPTURE
from search.compiled import compiled, part
from search.nodes import has_bit

#: Credit rules by number.
NO_CREDIT, AMAF, WEIGHTED_V1, WEIGHTED_V2, MCTR = range(5)
#: In `Played.when`: at no ply.
NEVER = (1 << 31) - 1
NUMBERS = {None: NO_CREDIT, "amaf": AMAF, "weighted_v1": WEIGHTED_V1, "weighted_v2": WEIGHTED_V2, "mctr_simple": MCTR}


class Played(NamedTuple):
    """The K playouts of one leaf, T plies at most, the d moves of the tree from a node to the leaf, and what comes of both."""

    events: np.ndarray
    """int16 [leaves, K, T]: all leaves' moves, P for a pass, with `CAPTURE` where they captured; this one's in row `row[0]`."""
    row: np.ndarray
    """int64 [1]."""
    won: np.ndarray
    """int64 [K]: results in halves, for the player to move at the leaf."""
    length: np.ndarray
    """int64 [K]: plies; of MCTR's prefixes whether there are any."""
    weights: np.ndarray
    """float32 [2, K, M]: what each point has earned the leaf's mover and the other in each playout, the tree's moves aside: 1 for
    a first play by AMAF, the numerator of its weight by Williams's rules, a whole number."""
    prefix: np.ndarray
    """int64 [K]: plies before the first that captures or repeats a point."""
    when: np.ndarray
    """int32 [2, K, M]: at which ply of the prefix the leaf's mover and the other play at each point, or NEVER."""
    plays: np.ndarray
    """int32 [2, K, T + 1]: how many of the first plies are plays, not passes, of the leaf's mover and of the other."""
    may_go_on: np.ndarray
    """int32 [2, M], scratch: 0 where a play of either ends prefixes, otherwise NEVER."""
    line: np.ndarray
    """int16 [depth]: ends with the tree's moves to the leaf, of which the last d are below the node."""
    line_captured: np.ndarray
    """bool [depth]: whether they captured."""
    used: np.ndarray
    """int64 [M], scratch."""

    @classmethod
    def room(cls, moves: int, playouts: int, plies: int, depth: int) -> "Played":
        """Room for leaves of K playouts on boards of M moves; T plies, and lines of the tree of so many moves, at most."""
        numbers = np.empty((3, playouts), np.int64)
        return cls(
            events=np.empty((0, playouts, plies), np.int16), row=np.empty(1, np.int64),
            won=numbers[0], length=numbers[1], weights=np.empty((2, playouts, moves), np.float32), prefix=numbers[2],
            when=np.empty((2, playouts, moves), np.int32), plays=np.empty((2, playouts, plies + 1), np.int32),
            may_go_on=np.empty((2, moves), np.int32), line=np.empty(depth, np.int16), line_captured=np.empty(depth, np.bool_),
            used=np.empty(moves, np.int64),
        )  # fmt: skip


@part
def read_nothing(played, won):
    """There are no plies: the leaf is an end of the game, with this result for its mover."""
    played.weights[:] = 0
    for k in range(len(played.won)):
        played.won[k] = won
        played.length[k] = played.prefix[k] = 0
        played.plays[:, k, 0] = 0


@part
def read_playouts(played, credit, row, results):
    """Fills `won` and `length` of a row's playouts, and what the rule of credit asks for: `prefix`, `when` and `plays`, or
    `weights`.

    Args:
      played: the leaf's playouts.
      credit: by which rule points earn.
      row: which row.
      results: int8 [leaves, K], the playouts' results for the leaves' movers, in halves.
    """
    played.row[0] = row
    if credit == MCTR:
        played.used[:] = -1
    for k in range(len(played.won)):
        played.won[k], events = results[row, k], played.events[row, k]
        if credit == MCTR:
            read_prefix(played, k, events)
            continue
        length = played.length[k] = number_of_plies(events)
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
def read_prefix(played, k, events):
    """Fills `prefix`, `when` and `plays` of a playout; `used` has no point with the number k yet."""
    used, end, when, plays = played.used, 0, played.when, played.plays
    pass_move = len(used) - 1
    when[:, k, :] = NEVER
    plays[:, k, 0] = 0
    while end < len(events) and events[end] >= 0:
        move, player = events[end] & (CAPTURE - 1), end & 1
        if move != pass_move:
            if events[end] >= CAPTURE or used[move] == k:
                break
            used[move] = k
            when[player, k, move] = end
        end += 1
        plays[1 - player, k, end] = plays[1 - player, k, end - 1]
        plays[player, k, end] = plays[player, k, end - 1] + (1 if move != pass_move else 0)
    played.prefix[k] = end
    played.length[k] = len(events) > 0 and events[0] >= 0


@compiled
def count_first_plays(played, results, first_plays):
    """Fills `jaxgo.LeafResults.first_plays` by the moves of playouts, as the device does without them.

    Args:
      played: room, and the moves of all leaves.
      results: int8 [leaves, K], as of `read_playouts`.
      first_plays: int16 [leaves, 2, 2, .], is filled in.
    """
    played = Played(*played)
    first_plays[:] = 0
    for row in range(len(first_plays)):
        read_playouts(played, AMAF, row, results)
        for player in range(2):
            for k in range(len(played.won)):
                won = 2 - played.won[k] if player else played.won[k]
                for move in range(played.weights.shape[2]):
                    number = np.int16(played.weights[player, k, move])
                    first_plays[row, player, 0, move] += number
                    first_plays[row, player, 1, move] += number * won


@part
def weigh(credit, played, depth, earned):
    """What Williams's weights earn a node's mover: V1, first plays 1 - i / L; V2, all own plays 1 - i / (L + 1).

    Args:
      credit: WEIGHTED_V1 or WEIGHTED_V2.
      played: the leaf's playouts.
      depth: d, of the leaf below the node.
      earned: float64 [1, 2, M], gets the credits, and their sums times results.
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
def share_prefixes(played, depth, mine, theirs, earned):
    """What MCTR earns a node's mover: each of his k plies in a playout's prefix 1 / k.

    The prefix ends at the first ply that is illegal at the node for its colour, repeats a point or captures; that is left out
    unless it is the very first.

    Args:
      played, depth, earned: as of `weigh`.
      mine, theirs: uint32 [words], where the node's mover and the other may play.
    """
    used, top, pass_move = played.used, len(played.line) - depth, earned.shape[2] - 1  # `used`: the points of the tree's moves
    earned[0, :, :] = 0.0
    used[:] = 0
    line, own, ended = 0, 0, False
    while not ended and line < depth:
        move = played.line[top + line]
        if move != pass_move:
            ended = played.line_captured[top + line] or used[move] != 0 or not has_bit(theirs if line & 1 else mine, move)
            if ended and line > 0:
                break
            used[move] = 1
            own += 1 - (line & 1)
        line += 1
    leaf_player = depth & 1
    for player in range(2):
        for move in range(pass_move):
            ends = used[move] != 0 or not has_bit(theirs if player ^ leaf_player else mine, move)
            played.may_go_on[player, move] = 0 if ends else NEVER
    shares = shares_won = 0.0
    for k in range(len(played.won)):
        end, first = np.int64(0 if ended else played.prefix[k]), -1
        if end > 0:
            for move in range(pass_move):
                mine = played.when[0, k, move] | played.may_go_on[0, move]
                end = min(end, mine, played.when[1, k, move] | played.may_go_on[1, move])
        number = own + played.plays[leaf_player, k, end]
        if depth == 0 and played.prefix[k] == 0 and played.length[k] > 0:
            number, first = 1, np.int64(played.events[played.row[0], k, 0] & (CAPTURE - 1))  # captures, as the very first ply
        if number > 0:
            share, won = 1.0 / number, float(2 - played.won[k] if leaf_player else played.won[k])
            shares, shares_won = shares + share, shares_won + share * won
            for move in range(pass_move):
                has = 1.0 if played.when[leaf_player, k, move] < end or move == first else 0.0
                earned[0, 0, move] += has * share
                earned[0, 1, move] += has * (share * won)
    for ply in range(0, line, 2):
        move = played.line[top + ply]
        if move != pass_move:
            earned[0, 0, move] = shares
            earned[0, 1, move] = shares_won
