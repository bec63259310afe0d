"""What points earn by the moves of a leaf's playouts, seen from a node above it; compiled.

Every ancestor sees a playout as the tree's moves below it followed by the playout's. Its credits are those of `jaxgo.credits`,
but for the rounding to units.
"""

from typing import NamedTuple

import numpy as np

from jaxgo.playing.lanes import CAPTURE
from search.compiled import compiled, part
from search.nodes import clear_bit, has_bit

#: Credit rules by number.
NO_CREDIT, AMAF, WEIGHTED_V1, WEIGHTED_V2, MCTR = range(5)
#: In `Played.when`: at no ply.
NEVER = (1 << 15) - 1
#: So many playouts are added up at a time, in registers.
AT_ONCE = 4
NUMBERS = {None: NO_CREDIT, "amaf": AMAF, "weighted_v1": WEIGHTED_V1, "weighted_v2": WEIGHTED_V2, "mctr_simple": MCTR}


class Played(NamedTuple):
    """The K playouts of one leaf, T plies at most, the d moves of the tree from a node to the leaf, and what comes of both.

    N is K, and W the moves M, rounded up to whole groups of `AT_ONCE`, and of the 32 bits of a word.
    """

    events: np.ndarray
    """int16 [leaves, K, T]: all leaves' moves, P for a pass, with `CAPTURE` where they captured."""
    won: np.ndarray
    """int64 [K]: results in halves, for the player to move at the leaf."""
    length: np.ndarray
    """int64 [K]: plies; of MCTR's prefixes whether there are any."""
    weights: np.ndarray
    """float32 [2, N, M]: what each point has earned the leaf's mover and the other in each playout, the tree's moves aside: 1 for
    a first play by AMAF, the numerator of its weight by Williams's rules, a whole number."""
    prefix: np.ndarray
    """int64 [K]: plies before the first that captures or repeats a point."""
    when: np.ndarray
    """int16 [2, N, W]: at which ply of the prefix the leaf's mover and the other play at each point, or NEVER."""
    plays: np.ndarray
    """int16 [2, K, T + 1]: how many of the first plies are plays, not passes, of the leaf's mover and of the other."""
    open: np.ndarray
    """uint32 [2, W / 32], scratch: where the node's mover and the other may play, but for the points of the tree's moves."""
    goes_on: np.ndarray
    """int16 [2, W], scratch: NEVER where a play of the leaf's mover, or of the other, does not end prefixes, otherwise 0."""
    ends: np.ndarray
    """int16 [N], scratch: before which plies the playouts' prefixes end."""
    shares: np.ndarray
    """float64 [2, N], scratch: what a ply earns, and the results for the node's mover, in halves; of playouts beyond K 0."""
    line: np.ndarray
    """int16 [depth]: ends with the tree's moves to the leaf, of which the last d are below the node."""
    line_captured: np.ndarray
    """bool [depth]: whether they captured."""
    used: np.ndarray
    """int64 [M], scratch."""

    @classmethod
    def room(cls, moves: int, playouts: int, plies: int, depth: int) -> "Played":
        """Room for leaves of K playouts on boards of M moves; T plies, and lines of the tree of so many moves, at most."""
        numbers, count, words = np.empty((3, playouts), np.int64), -(-playouts // AT_ONCE) * AT_ONCE, -(-moves // 32)
        return cls(
            events=np.empty((0, playouts, plies), np.int16), won=numbers[0], length=numbers[1],
            weights=np.zeros((2, count, moves), np.float32), prefix=numbers[2],
            when=np.zeros((2, count, 32 * words), np.int16), plays=np.empty((2, playouts, plies + 1), np.int16),
            open=np.empty((2, words), np.uint32), goes_on=np.empty((2, 32 * words), np.int16), ends=np.zeros(count, np.int16),
            shares=np.zeros((2, count)), line=np.empty(depth, np.int16), line_captured=np.empty(depth, np.bool_),
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
    pass_move = len(played.used) - 1
    if credit == MCTR:
        for move in range(len(played.used)):
            played.used[move] = -1
    for k in range(len(played.won)):
        played.won[k], events = results[row, k], played.events[row, k]
        if credit == MCTR:
            read_prefix(played, k, events)
            continue
        length = played.length[k] = number_of_plies(events)
        fill(played.weights, k, np.float32(0))
        if credit == WEIGHTED_V2:
            for ply in range(length):
                played.weights[ply & 1, k, events[ply] & (CAPTURE - 1)] += length + 1 - ply
        else:
            for ply in range(length - 1, -1, -1):  # so that the first play at a point is the last to be noted
                move = events[ply] & (CAPTURE - 1)
                played.weights[ply & 1, k, move] = length - ply if credit == WEIGHTED_V1 else 1
                played.weights[1 - (ply & 1), k, move] = 0
        played.weights[0, k, pass_move] = played.weights[1, k, pass_move] = 0


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
    used, end, when, mine, theirs = played.used, 0, played.when, played.plays[0, k], played.plays[1, k]
    pass_move, own, other = len(used) - 1, 0, 0
    fill(when, k, np.int16(NEVER))
    mine[0] = theirs[0] = 0
    while end < len(events) and events[end] >= 0:
        move, player = events[end] & (CAPTURE - 1), end & 1
        if move != pass_move:
            if events[end] >= CAPTURE or used[move] == k:
                if end == 0:
                    when[0, k, move], mine[1] = 0, 1  # the very first ply, which counts from the leaf
                break
            used[move] = k
            when[player, k, move] = end
            own, other = own + 1 - player, other + player
        end += 1
        mine[end], theirs[end] = own, other
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
    top, pass_move, leaf_player = len(played.line) - depth, earned.shape[2] - 1, depth & 1
    (share, won), weights = played.shares, played.weights[leaf_player]
    for what in range(2):
        fill(earned, what, 0.0)
    all_won = shares = shares_won = 0.0
    for k in range(len(played.won)):
        # Of a line of L = d + length plies, ply d + j weighs (length - j) / L.
        whole = played.length[k] + 1 if credit == WEIGHTED_V2 else played.length[k]
        share[k], won[k] = 1.0 / max(depth + whole, 1), float(2 - played.won[k] if leaf_player else played.won[k])
        all_won, shares, shares_won = all_won + won[k], shares + share[k], shares_won + share[k] * won[k]
    for k in range(0, len(share), AT_ONCE):
        (a, b, c, d), won_here = four(share, k), four(won, k)
        for move in range(pass_move):
            here = weights[k, move] * a, weights[k + 1, move] * b, weights[k + 2, move] * c, weights[k + 3, move] * d
            add_four(earned[0], move, here, won_here)
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
def fill(values, k, value):
    """values[:, k] = value, which is a page of machine code wherever it is written so."""
    for i in range(values.shape[0]):
        for j in range(values.shape[2]):
            values[i, k, j] = value


@part
def four(values, k):
    """Four values from the kth on, read before a loop, which would read them again for each move."""
    return values[k], values[k + 1], values[k + 2], values[k + 3]


@part
def add_four(earned, move, credits, won):
    """Adds what four playouts earn a move, and that times their results, one after the other."""
    a, b, c, d = credits
    earned[0, move] = earned[0, move] + a + b + c + d
    earned[1, move] = earned[1, move] + a * won[0] + b * won[1] + c * won[2] + d * won[3]


@part
def share_prefixes(played, depth, earned):
    """What MCTR earns a node's mover: each of his k plies in a playout's prefix 1 / k.

    The prefix ends at the first ply that is illegal at the node for its colour, repeats a point or captures; that is left out
    unless it is the very first.

    Args:
      played, depth, earned: as of `weigh`; `open` has where the node's mover and the other may play.
    """
    top, pass_move, leaf_player = len(played.line) - depth, earned.shape[2] - 1, depth & 1
    line, own, ended, open_points = 0, 0, False, played.open
    while not ended and line < depth:
        move = played.line[top + line]
        if move != pass_move:
            ended = played.line_captured[top + line] or not has_bit(open_points[line & 1], move)
            if ended and line > 0:
                break
            clear_bit(open_points[0], move)
            clear_bit(open_points[1], move)
            own += 1 - (line & 1)
        line += 1
    for player in range(2):
        for word in range(open_points.shape[1]):
            bits = open_points[player ^ leaf_player, word]
            for bit in range(32):
                played.goes_on[player, 32 * word + bit] = NEVER * (bits >> np.uint32(bit) & np.uint32(1))
    (share, won), when, ends = played.shares, played.when[leaf_player], played.ends
    shares = shares_won = 0.0
    for k in range(len(played.won)):
        end = np.int16(0) if ended else first_to_end(played, k)
        if depth == 0 and played.prefix[k] == 0 and played.length[k] > 0:
            end = np.int16(1)  # it captures, as the very first ply
        number = own + played.plays[leaf_player, k, end]
        share[k], won[k] = 1.0 / number if number else 0.0, float(2 - played.won[k] if leaf_player else played.won[k])
        ends[k], shares, shares_won = end, shares + share[k], shares_won + share[k] * won[k]
    for what in range(2):
        fill(earned, what, 0.0)
    for k in range(0, len(share), AT_ONCE):
        (a, b, c, d), end, won_here = four(share, k), four(ends, k), four(won, k)
        for move in range(pass_move):
            a_here, b_here = a if when[k, move] < end[0] else 0.0, b if when[k + 1, move] < end[1] else 0.0
            c_here, d_here = c if when[k + 2, move] < end[2] else 0.0, d if when[k + 3, move] < end[3] else 0.0
            add_four(earned[0], move, (a_here, b_here, c_here, d_here), won_here)
    for ply in range(0, line, 2):
        move = played.line[top + ply]
        if move != pass_move:
            earned[0, 0, move] = shares
            earned[0, 1, move] = shares_won


@part
def first_to_end(played, k):
    """Before which ply a playout's prefix ends, as far as `goes_on` lets it go on; 16 bits, so that a vector holds most."""
    end, goes_on = np.int16(played.prefix[k]), played.goes_on
    mine, theirs = played.when[0, k], played.when[1, k]
    for move in range(len(mine)):
        end = min(end, np.int16(mine[move] | goes_on[0, move]), np.int16(theirs[move] | goes_on[1, move]))
    return end
