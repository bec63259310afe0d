"""The backup: what leaves have brought, added to them and to all nodes above, one leaf after the other; compiled.

First plays (RAVE) of a node are those of its leaves, but for the points on which the tree itself played below the node: seen from
there, such a move is the first play at its point in all playouts of the leaf, whatever these played there later.
"""

import numpy as np

from jaxgo.results.sums import LOW
from jaxgo.running.leaf_results import Places, Rows
from search.compiled import compiled, once, part
from search.histories import AMAF, NO_CREDIT
from search.nodes import (
    FIRST,
    NARROW,
    NEW,
    NONE,
    READY,
    STRUCK,
    Memory,
    child_of,
    clear_bit,
    has_bit,
    num_bits,
    parent_of,
    release,
    set_bit,
    unlink,
)
from search.rows import MOST_IN_A_BYTE, add_rave, copy, count_move
from search.terms import Terms, is_black, result_of


@compiled
def take_results(memory, terms, history, leaves, rows, results, earned, first):
    """Adds the results of a round's leaves to the tree; named tuples come as plain ones (`search.compiled.plain`).

    Args:
      memory: the tree, a `search.nodes.Memory`.
      terms: what to go by, a `Terms`.
      history: uint64 [n], hashes of the game's positions before the root.
      leaves: int32 [n], the nodes, as `search.descent.choose_and_ask` fills them; each is NONE once its results are there, and
        what is NONE is passed over.
      rows: int32 [n], the row of each leaf in the results; NONE for ends of the game.
      results: the results, a `jaxgo.running.leaf_results.Rows`.
      earned: float64 [n, ., 1, 2, M], what the leaves earn by weighted credits (`search.earnings`); by other credits nothing is
        read of it.
      first: int16 [2, 2, M], scratch.
    """
    memory, terms, results = Memory(*memory), Terms(*terms[:-1], Places(*terms[-1])), Rows(*results)
    playouts, at = terms.playouts, terms.places
    for i in range(len(leaves)):
        leaf, row = np.int64(leaves[i]), np.int64(rows[i])
        leaves[i] = NONE
        if leaf == NONE:
            continue
        x = memory.nodes[leaf]
        if x.state == NEW and repeats(memory, history, leaf, hash_of(results.positions[row], at)):
            strike(memory, parent_of(memory.nodes, leaf), np.int64(x.move))
        if x.state == STRUCK:
            take_back(memory, leaf, playouts, terms.losses)
            continue
        if x.state == NEW:
            describe(memory, terms, leaf, results.positions[row])
        if row == NONE:
            first[:] = 0
            margin = np.int64(x.margin)
            won = result_of(terms, margin, is_black(terms, x.depth))
            wins, lead, squares = playouts * won, playouts * margin, playouts * margin * margin
        else:
            sums = results.playouts[row]
            wins, lead = signed(sums[at.wins]), signed(sums[at.lead])
            squares = signed(sums[at.squares]) * LOW + signed(sums[at.squares + 1])
            if terms.credit == AMAF:
                for player in range(2):
                    for what in range(2):
                        copy(first[player, what], results.first_plays[row, player, what])
        back_up(memory, terms, leaf, wins, lead, squares, first, earned[min(i, len(earned) - 1)])


@once
def back_up(memory, terms, leaf, wins, lead, squares, first, earned):
    """Adds one leaf's results, sums for its mover, to it and to all nodes above, with its first plays or what points earned."""
    playouts, distance, node = terms.playouts, 0, leaf
    pool = NARROW if terms.credit == AMAF and playouts > MOST_IN_A_BYTE else FIRST
    while True:
        x = memory.nodes[node]
        x.wins += wins
        x.leads += lead
        x.squares += squares
        if terms.credit == AMAF:
            add_rave(memory, node, first, distance & 1, pool)
        elif terms.credit != NO_CREDIT:
            add_rave(memory, node, earned[distance], 0, pool)
        x.pending -= playouts  # from here on it may be taken for a cold leaf
        above = parent_of(memory.nodes, node)
        if above == NONE:
            return
        wins, lead, distance = 2 * playouts - wins, -lead, distance + 1
        count_move(memory, above, x.move, playouts - terms.losses, wins)
        if terms.credit == AMAF and x.move < first.shape[2] - 1:
            player = distance & 1
            first[player, 0, x.move], first[player, 1, x.move] = playouts, wins
            if terms.strict:
                first[1 - player, 0, x.move] = first[1 - player, 1, x.move] = 0
        node = above


@compiled
def take_back(memory, leaf, playouts, losses):
    """Takes a leaf's visits, for which there are no results, and its virtual losses back all the way up; a node that has no
    others goes."""
    node = leaf
    while node != NONE:
        x = memory.nodes[node]
        x.visits -= playouts
        x.pending -= playouts
        above = parent_of(memory.nodes, node)
        if above != NONE:
            count_move(memory, above, x.move, -losses, np.int64(0))
        node = above
    x = memory.nodes[leaf]
    if x.visits == 0 and x.parent != NONE:
        if x.state != STRUCK:
            unlink(memory, leaf)
        release(memory, leaf)


@compiled
def take_round_back(memory, leaves, playouts, losses):
    """Takes the visits of a round's leaves back, int32 [n], the last first; all are NONE then, and what was is passed over."""
    for i in range(len(leaves) - 1, -1, -1):
        leaf = np.int64(leaves[i])
        leaves[i] = NONE
        if leaf != NONE:
            take_back(memory, leaf, playouts, losses)


@part
def repeats(memory, history, node, hash):
    """Whether a new node's position has been on the board before (positional superko); after a pass it may have been."""
    x = memory.nodes[node]
    if x.parent == NONE or x.move == memory.narrow.shape[3] - 1:
        return False
    for earlier in history:
        if earlier == hash:
            return True
    above = parent_of(memory.nodes, node)
    while above != NONE:
        if memory.nodes[above].hash == hash:
            return True
        above = parent_of(memory.nodes, above)
    return False


@compiled
def strike(memory, node, move):
    """Strikes a move from a node, for good; where none is left, the player passes."""
    clear_bit(memory.open[node], move)
    child = child_of(memory.nodes, node, move)
    if child != NONE:
        unlink(memory, child)
        memory.nodes[child].state = STRUCK
    open_last_resort(memory.open[node], memory.narrow.shape[3] - 1)


@part
def open_last_resort(words, pass_move):
    """Opens the pass where no move is open."""
    for word in words:
        if word:
            return
    words[pass_move >> 5] = np.uint32(1) << np.uint32(pass_move & 31)


@part
def signed(word):
    """The number that a uint32 is in int32."""
    return np.int64(np.int32(word))


@part
def hash_of(found, at):
    """The hash in a row of `Rows.positions`."""
    return np.uint64(found[at.hash]) << np.uint64(32) | np.uint64(found[at.hash + 1])


@once
def describe(memory, terms, node, found):
    """Notes what the device says of a new node, a row of `Rows.positions`, and which moves it may try."""
    x, open_moves, pass_move, at = memory.nodes[node], memory.open[node], memory.narrow.shape[3] - 1, terms.places
    x.state, x.hash, x.margin = READY, hash_of(found, at), signed(found[at.margin])
    x.ko, x.passes = signed(found[at.ko]), signed(found[at.passes])
    for word in range(memory.words.shape[1]):
        memory.words[node, word] = found[at.words + word]
    bits, number, black = len(open_moves), np.int64(0), is_black(terms, x.depth)
    if len(memory.legal):
        for player in range(2):
            copy(memory.legal[node, player], found[at.legal_bits + player * bits :])
    copy(open_moves, found[at.useful_bits :])
    for word in open_moves:
        number += num_bits(word)
    if may_pass(terms, x, number, pass_move, black):
        set_bit(open_moves, pass_move)
    depth = x.depth - memory.nodes[memory.book[0].root].depth
    if depth < terms.restricted:
        restrict(terms, 0 if black else 1, depth, found[at.legal_bits :], open_moves)
    if x.passes < 2:
        open_last_resort(open_moves, pass_move)


@part
def restrict(terms, colour, depth, legal, open_moves):
    """Leaves of a node's moves, so far from the root, those that the restrictions leave to the colour (0 Black)."""
    pass_move = terms.allowed.shape[1] - 1
    if depth < terms.allow_until[colour]:
        for move in range(pass_move + 1):
            if terms.allowed[colour, move] and (move == pass_move or has_bit(legal, move)):
                set_bit(open_moves, move)
            else:
                clear_bit(open_moves, move)
    for move in range(pass_move + 1):
        if depth < terms.avoid_until[colour, move]:
            clear_bit(open_moves, move)


@part
def may_pass(terms, x, number, num_points, black):
    """Whether the pass is considered at a node with so many useful points.

    It is where there are none; where the other player has just passed and the score as it stands wins, or draws; and late, when
    no more points are left than the board has rows, so that nobody must destroy himself in a seki. With `cleanup` only the first.
    """
    if x.passes >= 2:
        return False
    if number == 0 or terms.cleanup:
        return number == 0
    if x.passes == 1:
        return result_of(terms, np.int64(x.margin), black) >= 1
    return number * number <= num_points
