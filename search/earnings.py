"""What a round's leaves earn by weighted credits, each for itself and for every node above it.

The host goes through every move of every playout for it, which is most of what such a search costs. It follows from the playouts
and from moves and stones that stay in the tree as they are, so it is worked out before a round is added to the tree, in order, by
the search's own thread; and where the host has cores for it, by other threads before that, for some leaves each.
"""

import math
from collections.abc import Iterator

import numpy as np

from jaxgo.base import threads
from jaxgo.base.promise import Promise
from jaxgo.running.leaf_results import Places, Rows
from search.compiled import compiled, once, part
from search.histories import MCTR, Played, read_nothing, read_playouts, share_prefixes, weigh
from search.nodes import NONE, Memory, parent_of
from search.rows import copy
from search.terms import Terms, is_black, result_of

#: The fewest playouts for which a thread is worth while, and the most bytes of what a round's leaves earn and of threads' room.
FEWEST, MOST_BYTES = 512, 1 << 28
#: For so many leaves it is worked out at a time: with 32 it took as long or longer, with 256 as long and twice the room.
PIECE = 128
#: By other credits nothing is earned.
NOTHING = np.empty((1, 1, 1, 2, 1))


@once
def earn(memory, terms, leaf, row, results, played, earned):
    """Works out what a leaf's playouts earn.

    Args:
      memory: the tree; read alone, and nothing that taking other leaves' results changes.
      terms: what to go by.
      leaf: the node.
      row: its row in the results; NONE for an end of the game.
      results: a `jaxgo.running.leaf_results.Rows`.
      played: a `search.histories.Played` with the results' moves, and room for the rest.
      earned: float64 [more than the nodes above, 1, 2, M], gets what the leaf's mover earns, and the mover at each node above it:
        credits, and their sums times results in halves.
    """
    node, distance, at, x = leaf, 0, terms.places, memory.nodes[leaf]
    if row == NONE:
        read_nothing(played, result_of(terms, np.int64(x.margin), is_black(terms, x.depth)))
    else:
        read_playouts(played, terms.credit, row, results.results)
    while True:
        if terms.credit != MCTR:
            weigh(terms.credit, played, distance, earned[distance])
        else:
            for player in range(2):
                if distance or row == NONE:
                    copy(played.open[player], memory.legal[node, player])
                else:  # of a new leaf the tree may not have it yet
                    copy(played.open[player], results.positions[row, at.legal_bits + player * memory.legal.shape[2] :])
            share_prefixes(played, distance, earned[distance])
        above = parent_of(memory.nodes, node)
        distance += 1
        if above == NONE or distance == len(earned):
            return
        place = len(played.line) - distance
        played.line[place] = memory.nodes[node].move
        if terms.credit == MCTR:  # stones lie far away in memory
            if distance > 1 or row == NONE:
                played.line_captured[place] = has_captured(memory.words[above], memory.words[node])
            else:
                played.line_captured[place] = has_captured(memory.words[above], results.positions[row, at.words :])
        node = above


@part
def has_captured(before, after):
    """Whether the move between two positions' stones captured: the player who comes to move has lost some."""
    words = len(before) // 2
    for i in range(words):
        if before[words + i] != after[i]:
            return True
    return False


@compiled
def earn_all(memory, terms, leaves, rows, results, played, earned):
    """The same for many leaves; named tuples come as plain ones.

    Args:
      memory, terms, results, played: as of `earn`.
      leaves, rows: int32 [n], see `search.backup.take_results`.
      earned: float64 [n, ., 1, 2, M], gets what they earn.
    """
    memory, terms = Memory(*memory), Terms(*terms[:-1], Places(*terms[-1]))
    results, played = Rows(*results), Played(*played)
    for i in range(len(leaves)):
        leaf = np.int64(leaves[i])
        if leaf != NONE:
            earn(memory, terms, leaf, np.int64(rows[i]), results, played, earned[i])


def earned_by(
    arrays: tuple, terms: tuple, leaves: np.ndarray, rows: np.ndarray, depth: int, results: Rows, played: tuple
) -> Iterator[tuple[slice, np.ndarray]]:
    """Some of a round's leaves after others, none of none, and what they earn, as `search.backup.take_results` wants it.

    Args:
      arrays, terms, leaves, rows, played: as of `earn_all`.
      depth: moves from the root to the deepest of the leaves.
      results: the playouts, with their moves.
    """
    room = np.empty((min(PIECE, len(leaves)), depth + 1, 1, 2, Memory(*arrays).narrow.shape[3]))
    for start in range(0, max(len(leaves), 1), PIECE):
        here = slice(start, min(start + PIECE, len(leaves)))
        earned = room[: here.stop - start]
        earn_all(arrays, terms, leaves[here], rows[here], tuple(results), played, earned)
        yield here, earned


class Ahead:
    """What a round's leaves earn, which threads begin to work out for some leaves each; small rounds are left to who asks.

    Nothing of the tree is written, and what is read can do no harm where the round has been taken back meanwhile.

    Args:
      helpers: threads, at most.
      arrays, terms, leaves, rows, depth, results: as of `earned_by`.
    """

    def __init__(
        self, helpers: int, arrays: tuple, terms: tuple, leaves: np.ndarray, rows: np.ndarray, depth: int, results: Rows
    ):
        count, (playouts, plies), moves = len(leaves), results.events.shape[1:], Memory(*arrays).narrow.shape[3]
        shape = count, depth + 1, 1, 2, moves
        room = sum(array.nbytes for array in Played.room(moves, playouts, plies, depth))
        pieces = min(helpers, count, count * playouts // FEWEST, (MOST_BYTES - 8 * math.prod(shape)) // room)
        self._parts: list[tuple[slice, np.ndarray, Promise[None]]] = []
        if pieces < 2:
            return
        earned, ends = np.empty(shape), [count * i // pieces for i in range(pieces + 1)]
        for here in map(slice, ends, ends[1:]):
            played = results.events, *Played.room(moves, playouts, plies, depth)[1:]
            given = arrays, terms, leaves[here], rows[here], tuple(results), played, earned[here]
            self._parts.append((here, earned[here], threads.begin(earn_all, *given)))

    def __len__(self) -> int:
        """Threads that work on it; none where the round is small, or its earnings large."""
        return len(self._parts)

    def parts(self) -> Iterator[tuple[slice, np.ndarray]]:
        """As `earned_by`; waits for each."""
        for here, earned, promise in self._parts:
            promise.result()
            yield here, earned
