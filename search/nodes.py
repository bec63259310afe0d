"""The tree's memory: nodes, their links, and the room that they and their statistics take; compiled.

A node is a record, linked to its parent, its first child and its next sibling; of a node that is visited often a table says
which child each move leads to. What is known of its moves lies in a row of its own (`search.rows`). All share one limit in bytes.

Nothing is ever moved. A subtree that is given up is hung on a list of the dead, and buried node by node as new ones are needed,
so that giving up a million nodes takes no time. What lies beside a new root is not given up at once: the last few roots are held
until their room is needed, for moves may be taken back. A tree that is full without them takes back its coldest leaves: a hand
goes round the nodes, cools each leaf that it passes by one degree, and takes those that are cold; every visit warms a leaf to the
logarithm of its visits.
"""

from typing import NamedTuple

import numpy as np

from search.compiled import brief, compiled, part, rare

#: In links: no node.
NONE = -1
#: States of a node: free, or on its way to the device, described by it, found to repeat a position, given up with its subtree.
FREE, NEW, READY, STRUCK, DEAD = range(5)
#: Pools; the nodes themselves, where statistics of moves lie (bytes, counts of 16 bits, floats of 32 bits, of 64 bits; of a node:
#: NODES is none yet), and tables of children.
NODES, FIRST, NARROW, MIDDLE, WIDE, CHILDREN = POOLS = range(6)
#: Playouts from which on a node has a table of its children. Descents that follow each other go to its good moves in turn, and by
#: links alone each would come past many others, each in another place in memory: 20 to 35 in a descent at 9x9.
TABLE_FROM = 512
#: Nodes of a tree, at most: links are numbers of 32 bits.
MOST_NODES = (1 << 31) - 1
#: Earlier roots that are held, at most.
MOST_HELD = 8

NODE = np.dtype(
    [
        ("visits", np.int64), ("wins", np.int64), ("leads", np.float64), ("squares", np.float64), ("hash", np.uint64),
        ("parent", np.int32), ("sibling", np.int32), ("first", np.int32), ("row", np.int32), ("table", np.int32),
        ("pending", np.int32),
        ("depth", np.int32), ("move", np.int16), ("ko", np.int16), ("margin", np.int16), ("passes", np.int8),
        ("state", np.int8), ("pool", np.int8), ("heat", np.int8),
    ],
    align=True,
)  # fmt: skip
"""A node, from the view of its player to move.

`visits` are all playouts through it, those on their way (`pending`) included; `wins` their results in halves; `leads` the sum of
the mover's area minus the other's, `squares` that of the squares. `hash`, `ko`, `passes` and `margin` describe its position as
the device does (see `jaxgo.LeafResults`). `move` leads to it from its parent. `pool` and `row` say where its statistics of moves
lie, `table` where its table of children, NONE without one.
"""

POOL = np.dtype([("bytes", np.int64), ("count", np.int64), ("spare", np.int64)])
"""A pool: bytes of a row, rows ever used, and how many of these are free again."""

BOOK = np.dtype([(name, np.int64) for name in (
    "used", "limit", "root", "earlier", "held", "dead", "hand", "middle_from", "wide_from",
)])  # fmt: skip
"""Bytes in use and allowed, the root, the root before it and how many of these are held, the first node of the dead, the last
node that the hand came by, and the playouts from which on statistics are middle and wide. Earlier roots are linked as siblings,
the last one first."""


class Memory(NamedTuple):
    """All arrays of a tree; C colours (the mover's statistics, or the other's too), M moves, the last one the pass."""

    nodes: np.ndarray
    """NODE [n]."""
    words: np.ndarray
    """uint32 [n, 2 W]: the stones of the player to move, then the other's."""
    open: np.ndarray
    """uint32 [n, ceil(M / 32)]: a bit for each move that may be tried."""
    legal: np.ndarray
    """uint32 [n, 2, ceil(M / 32)]: where either may play; without rows where no rule asks."""
    priors: np.ndarray
    """uint8 [n, 2, M]: prior playouts of each move, won and lost (`search.knowledge`); without rows where nothing is known."""
    first: np.ndarray
    """uint8 [rows, C, 1, M]: n * n + w of n playouts with results w; or float32 [rows, C, 2, M] for fractions, as in `narrow`."""
    narrow: np.ndarray
    """uint16, or float32 for fractions, [rows, C + 1, 2, M]: what each point has earned, and that times the results of its
    earner; last the visits of each move, those on their way included, and their results for the mover, in halves."""
    middle: np.ndarray
    """float32, likewise; without rows for fractions."""
    wide: np.ndarray
    """float64, likewise."""
    children: np.ndarray
    """int32 [rows, M]: the node that each move leads to, or NONE."""
    spare: np.ndarray
    """int32 [pools, n]: of each pool the free rows, a stack."""
    pools: np.ndarray
    """POOL [6]."""
    book: np.ndarray
    """BOOK [1]."""


@part
def has_bit(words, bit):
    """Whether a set of bits has this one."""
    return (words[bit >> 5] >> np.uint32(bit & 31)) & np.uint32(1) != np.uint32(0)


@part
def set_bit(words, bit):
    """Puts a bit in."""
    words[bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)


@part
def clear_bit(words, bit):
    """Takes a bit out."""
    words[bit >> 5] &= ~(np.uint32(1) << np.uint32(bit & 31))


@part
def num_bits(word):
    """How many bits of 32 are set (Warren, "Hacker's Delight", 2nd ed., 5-1)."""
    word = word - ((word >> np.uint32(1)) & np.uint32(0x55555555))
    word = (word & np.uint32(0x33333333)) + ((word >> np.uint32(2)) & np.uint32(0x33333333))
    word = (word + (word >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return np.int64((word * np.uint32(0x01010101)) >> np.uint32(24)) & 63  # Numba reckons in 64 bits


@part
def parent_of(nodes, node):
    """The node above; NONE of the root."""
    return np.int64(nodes[node].parent)


@part
def first_child(nodes, node):
    """The first of a node's children, NONE without any; `next_child` gives the others."""
    return np.int64(nodes[node].first)


@part
def next_child(nodes, child):
    """The child of the same node after this one; NONE after the last."""
    return np.int64(nodes[child].sibling)


@brief
def child_of(nodes, node, move):
    """The node that a move leads to; NONE without one."""
    child = first_child(nodes, node)
    while child != NONE and nodes[child].move != move:
        child = next_child(nodes, child)
    return child


@part
def child_in_front(memory, node, move):
    """The same; without a table it becomes the first child, so that those that are asked for often are found fast."""
    nodes = memory.nodes
    if nodes[node].table != NONE:
        return np.int64(memory.children[nodes[node].table, move])
    child, before = first_child(nodes, node), np.int64(NONE)
    while child != NONE and nodes[child].move != move:
        child, before = next_child(nodes, child), child
    if child != NONE and before != NONE:
        nodes[before].sibling = nodes[child].sibling
        nodes[child].sibling = nodes[node].first
        nodes[node].first = child
    return child


@rare
def take(memory, pool):
    """A row of a pool; NONE where there is no room."""
    book, rows = memory.book[0], memory.pools[pool]
    if pool == NODES and book.dead != NONE:
        bury_one(memory)
    while book.used + rows.bytes > book.limit:
        if book.dead != NONE:
            bury_one(memory)
        elif book.held > 0:
            give_up_earliest(memory)
        elif not take_coldest_leaf(memory):
            return NONE
    book.used += rows.bytes
    if rows.spare > 0:
        rows.spare -= 1
        return np.int64(memory.spare[pool, rows.spare])
    rows.count += 1
    return rows.count - 1


@part
def give_back(memory, pool, row):
    """Makes a row free again."""
    rows = memory.pools[pool]
    memory.spare[pool, rows.spare] = row
    rows.spare += 1
    memory.book[0].used -= rows.bytes


@rare
def lay_table(memory, node):
    """Gives a node a table of its children, if there is room."""
    x = memory.nodes[node]
    x.pending += 1  # it must not be taken for a cold leaf
    table = take(memory, np.int64(CHILDREN))
    x.pending -= 1
    if table == NONE:
        return
    x.table, child = table, first_child(memory.nodes, node)
    for move in range(memory.children.shape[1]):
        memory.children[table, move] = NONE
    while child != NONE:
        memory.children[table, memory.nodes[child].move] = child
        child = next_child(memory.nodes, child)


@part
def note_child(memory, node, move, child):
    """Writes into a node's table, if it has one, which child a move leads to, or NONE."""
    if memory.nodes[node].table != NONE:
        memory.children[memory.nodes[node].table, move] = child


@compiled
def add_node(memory, parent, move):
    """A new node for a move of another; NONE where there is no room."""
    if parent != NONE:  # it must not be taken for a cold leaf
        memory.nodes[parent].pending += 1
    node = take(memory, np.int64(NODES))
    if parent != NONE:
        memory.nodes[parent].pending -= 1
    if node == NONE:
        return node
    x = memory.nodes[node]
    x.visits, x.wins, x.leads, x.squares, x.pending, x.hash = 0, 0, 0.0, 0.0, 0, 0
    x.parent, x.move, x.first, x.sibling, x.depth = parent, move, NONE, NONE, 0
    x.row, x.table, x.pool, x.heat, x.state, x.ko, x.margin, x.passes = NONE, NONE, NODES, 0, NEW, 0, 0, 0
    if parent != NONE:
        above = memory.nodes[parent]
        x.depth, x.sibling = above.depth + 1, above.first
        above.first = node
        note_child(memory, parent, move, node)
    return node


@part
def unlink(memory, node):
    """Takes a node from its parent's children."""
    parent, following = parent_of(memory.nodes, node), next_child(memory.nodes, node)
    note_child(memory, parent, np.int64(memory.nodes[node].move), np.int64(NONE))
    child = first_child(memory.nodes, parent)
    if child == node:
        memory.nodes[parent].first = following
        return
    while next_child(memory.nodes, child) != node:
        child = next_child(memory.nodes, child)
    memory.nodes[child].sibling = following


@part
def release(memory, node):
    """Makes a node's memory free."""
    x = memory.nodes[node]
    if x.pool != NODES:
        give_back(memory, np.int64(x.pool), np.int64(x.row))
    if x.table != NONE:
        give_back(memory, np.int64(CHILDREN), np.int64(x.table))
    x.state = FREE
    give_back(memory, np.int64(NODES), node)


@part
def give_up(memory, node):
    """Hangs a node and all below it, linked to nothing else any more, on the list of the dead."""
    book, x = memory.book[0], memory.nodes[node]
    x.state, x.parent = DEAD, book.dead
    book.dead = node


@compiled
def bury_one(memory):
    """Frees the first of the dead; its children are dead then."""
    book = memory.book[0]
    node = book.dead
    book.dead = parent_of(memory.nodes, node)
    child = first_child(memory.nodes, node)
    while child != NONE:
        following = next_child(memory.nodes, child)
        give_up(memory, child)
        child = following
    release(memory, node)


@compiled
def give_up_earliest(memory):
    """Gives up the first of the earlier roots, of which there must be one."""
    book = memory.book[0]
    node, later = np.int64(book.earlier), np.int64(NONE)
    while next_child(memory.nodes, node) != NONE:
        node, later = next_child(memory.nodes, node), node
    if later == NONE:
        book.earlier = NONE
    else:
        memory.nodes[later].sibling = NONE
    book.held -= 1
    give_up(memory, node)


@rare
def take_coldest_leaf(memory):
    """Frees a leaf that has not been visited for long; whether there was one. The root's moves, of which people read, stay."""
    book, count, passed = memory.book[0], memory.pools[NODES].count, 0
    while passed < count:  # without a leaf that could be taken once it is cold
        book.hand, passed = (book.hand + 1) % count, passed + 1
        x = memory.nodes[book.hand]
        if x.state == READY and x.first == NONE and x.pending == 0 and x.parent != book.root and x.parent != NONE:
            if x.heat == 0:
                above = parent_of(memory.nodes, book.hand)
                unlink(memory, book.hand)
                release(memory, book.hand)
                if memory.nodes[above].first == NONE:
                    warm(memory.nodes, above)
                return True
            x.heat, passed = x.heat - 1, 0
    return False


@part
def warm(nodes, node):
    """Warms a node that has no children, by the number of times that its visits can be halved."""
    x = nodes[node]
    x.heat, visits = 0, x.visits
    while visits > 0:
        x.heat, visits = x.heat + 1, visits >> 1
