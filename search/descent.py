"""Selection: descents from the root to a leaf, one after the other, each leaving some losses behind, virtual ones, until its
playouts are there; compiled."""

import functools
from typing import NamedTuple

import numpy as np

from jaxgo.base.constants import INT32_MAX, STAY
from jaxgo.running.leaf_columns import BLACK, DRAW, KO, MORE_SEED, MOVE, PASSES, SEED, STREAM, WIN
from search import priors
from search.compiled import compiled, once, part
from search.nodes import NONE, READY, TABLE_FROM, Memory, add_node, child_in_front, lay_table, parent_of, warm
from search.rows import can_have_children, count_move, read_moves, read_rave
from search.selection import UCT, RuleNumbers
from search.values import work_out

#: Values that differ by less count as equal; ties are broken at random.
TIE = 1e-9
#: Rows of the scratch that descents work in: values, visits and wins of the moves, the same with prior playouts, and what points
#: have earned, with its results.
VALUES, VISITS, WINS, COUNTED, _, EARNED = range(6)
SCRATCH = 7
#: Random numbers that break ties, but for those of the last place's moves.
TABLE = 8192


class Ties:
    """Random numbers that break ties: a fixed table, read from a place that depends on the node's position and its visits."""

    def __init__(self, seed: int, moves: int):
        self.table, self._moves = _table(seed, moves), moves

    def __call__(self, hash: int, visits: int) -> np.ndarray:
        """float64 [M], at most TIE, for a node's Zobrist hash and its visits."""
        start = place(np.uint64(hash), visits)
        return self.table[start : start + self._moves]


@functools.lru_cache(16)
def _table(seed: int, moves: int) -> np.ndarray:
    table = np.zeros(TABLE + width_of(moves))
    table[: TABLE + moves] = np.random.default_rng([0x71E5, seed]).random(TABLE + moves) * TIE
    return table


def width_of(moves: int) -> int:
    """How long the scratch's rows are on a board of so many moves: a place for every bit of the words that hold those that may be
    tried, so that loops are whole vectors."""
    return -(-moves // 32) * 32


@compiled
def place(hash, visits):
    """Where in the table a node's numbers begin."""
    return np.int64((hash + np.uint64(visits) * np.uint64(40503)) & np.uint64(TABLE - 1))


class Constants(NamedTuple):
    """What all leaves of a search have in common, as the device is told of it."""

    win: int
    """The least margin, Black's area minus White's, with which Black wins."""
    draw: int
    """That of a draw, or one that never occurs."""
    seed: int
    """The seed's first word."""
    more_seed: int
    """The second one."""


@compiled
def choose_and_ask(
    memory, rule, ties, playouts, losses, deepest, scratch, black, constants, stream, leaves, rows, columns
):  # fmt: skip
    """Chooses as many leaves as `leaves` has room for, and adds their visits all the way up; `playouts` each, and so far `losses`
    to what nodes know of their moves. Writes what the device is asked of them (`ask`). Named tuples come as plain ones
    (`search.compiled.plain`).

    Args:
      memory: the tree, a `search.nodes.Memory`.
      rule: the `numbers` of a rule.
      ties: the table of `Ties`.
      playouts: of each leaf.
      losses: virtual ones, 1 to `playouts`.
      deepest: how many moves a descent may go.
      scratch: float64 [SCRATCH, `width_of` M], 0 beyond M, and in the last two rows where the rule has no RAVE statistics.
      black: whether Black moves at nodes of depth 0.
      constants: a `Constants`.
      stream: of the first leaf that is asked of.
      leaves: int32 [n], is filled with the nodes that were reached. Of one that is described already (an end of the game, the
        deepest that may be, or one whose move found no room in a full tree) the own position is the leaf.
      rows: int32 [n], is filled with the row of each leaf in what is asked; NONE for ends of the game.
      columns: uint32 [., n], is filled as `jaxgo.running.leaf_columns` says.

    Returns:
      (of how many leaves the device is asked, how many moves below the root the deepest of them lies)
    """
    memory, rule, constants = Memory(*memory), RuleNumbers(*rule), Constants(*constants)
    top, lowest = memory.nodes[memory.book[0].root].depth, np.int64(0)
    for i in range(len(leaves)):
        node = descend(memory, rule, ties, deepest, scratch)
        leaves[i], lowest = node, max(lowest, np.int64(memory.nodes[node].depth - top))
        while node != NONE:
            x = memory.nodes[node]
            x.visits += playouts
            x.pending += playouts
            if x.first == NONE:
                warm(memory.nodes, node)
            above = parent_of(memory.nodes, node)
            if above != NONE:
                count_move(memory, above, x.move, losses, np.int64(0))
            node = above
    return ask(memory, black, constants, stream, leaves, rows, columns), lowest


@once
def ask(memory, black, constants, stream, leaves, rows, columns):
    """Writes what the device is asked: to play from leaves that are ready and the root as they are, from others by the move to
    them, and nothing of ends of the game. Of how many it is asked.

    The arguments are those of `choose_and_ask`.
    """
    count, words = 0, memory.words.shape[1]
    for i in range(len(leaves)):
        leaf = np.int64(leaves[i])
        x = memory.nodes[leaf]
        rows[i] = NONE
        if x.state == READY and x.passes >= 2:
            continue
        stay = x.state == READY or x.parent == NONE
        node = leaf if stay else parent_of(memory.nodes, leaf)
        y = memory.nodes[node]
        for word in range(words):
            columns[word, count] = memory.words[node, word]
        columns[words + KO, count], columns[words + PASSES, count] = np.uint32(y.ko), np.uint32(y.passes)
        columns[words + BLACK, count] = np.uint32((y.depth & 1 == 0) == black)
        columns[words + STREAM, count] = np.uint32((stream + count) & INT32_MAX)
        columns[words + MOVE, count] = np.uint32(STAY if stay else x.move)
        columns[words + WIN, count], columns[words + DRAW, count] = np.uint32(constants.win), np.uint32(constants.draw)
        columns[words + SEED, count] = np.uint32(constants.seed)
        columns[words + MORE_SEED, count] = np.uint32(constants.more_seed)
        rows[i] = count
        count += 1
    return count


@once
def descend(memory, rule, ties, deepest, scratch):
    """The leaf that one descent reaches."""
    node = reference = memory.book[0].root
    lowest = memory.nodes[node].depth + deepest
    while True:
        x = memory.nodes[node]
        if x.state != READY or x.passes >= 2 or x.depth >= lowest:
            return node
        if not can_have_children(memory, node):
            return node
        if x.visits >= TABLE_FROM and x.table == NONE:
            lay_table(memory, node)
        if x.visits >= rule.reference_visits:
            reference = node
        move = best_move(memory, rule, ties, node, reference, scratch)
        child = child_in_front(memory, node, move) if scratch[VISITS, move] > 0 else np.int64(NONE)
        if child == NONE:
            child = add_node(memory, node, move)
        if child == NONE:
            return node
        node = child


@once
def best_move(memory, rule, ties, node, reference, scratch):
    """The move of the highest value at a node; `reference` is the node whose RAVE statistics it takes."""
    x = memory.nodes[node]
    if rule.kind != UCT:
        read_rave(memory, reference, (x.depth - memory.nodes[reference].depth) & 1, scratch[EARNED : EARNED + 2])
    read_moves(memory, node, scratch[VISITS : VISITS + 2])
    tried = VISITS
    if len(memory.priors):
        tried = COUNTED
        for move in range(memory.narrow.shape[3]):
            scratch[COUNTED, move], scratch[COUNTED + 1, move] = scratch[VISITS, move], scratch[WINS, move]
        priors.add(memory.priors[node], scratch[COUNTED], scratch[COUNTED + 1])
    work_out(rule, x.visits, scratch[VALUES], scratch[tried], scratch[tried + 1], scratch[EARNED], scratch[EARNED + 1])
    values, start = scratch[VALUES], place(x.hash, x.visits)  # values are not negative
    for word in range(memory.open.shape[1]):
        may_be_tried = memory.open[node, word]
        for bit in range(32):
            move = 32 * word + bit
            worth = values[move] + ties[start + move]
            values[move] = worth if may_be_tried >> np.uint32(bit) & np.uint32(1) else -1.0
    return first_of_most(values.view(np.int64))


@part
def first_of_most(numbers):
    """The first of the largest of some int64s; NONE where all are negative.

    Floats that are not negative are in the order of their bits as integers, of which the compiler makes vectors: of the largest
    of floats it makes none, since that depends on the order where some are no numbers.
    """
    most, first = np.int64(0), np.int64(len(numbers))
    for i in range(len(numbers)):
        most = max(most, numbers[i])
    for i in range(len(numbers)):
        first = min(first, i if numbers[i] == most else len(numbers))
    return first if first < len(numbers) else np.int64(NONE)
