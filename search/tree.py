"""A search's tree: its memory, and what programs read of it."""

import functools
import weakref
from collections.abc import Sequence

import numpy as np

from jaxgo.base.memory import KEPT, came_free
from jaxgo.board.geometry import geometry
from search import nodes, rows
from search.compiled import brief, compiled, keep_loops, part, plain
from search.nodes import (
    MOST_HELD,
    MOST_NODES,
    NODES,
    NONE,
    READY,
    Memory,
    add_node,
    child_of,
    first_child,
    give_up_earliest,
    has_bit,
    next_child,
    note_child,
    unlink,
)
from search.rows import count_move, holds, read_moves, read_rave


class Tree:
    """Nodes and their statistics; M = P + 1 moves, the last one the pass.

    Results are in halves (win 2, draw 1, loss 0), for the player to move at the node that is asked. Nodes are known by numbers,
    in no order, that are given to others once a node is gone.

    Args:
      size: N.
      limit: bytes that the nodes that are held may take; more than they need costs nothing. Room that is free again is for nodes
        visited as often: with it a tree that has been full for long may take a fifth more.
      colours: 1 for the RAVE statistics of a node's mover, 2 for those of the other player too, 0 for none.
      legal: whether to keep where the players may play.
      fractions: whether points earn fractions of playouts, as by weighted credits.
      priors: whether moves have prior playouts.
    """

    def __init__(
        self, size: int, limit: int, *, colours: int = 1, legal: bool = False, fractions: bool = False, priors: bool = False
    ):  # fmt: skip
        keep_loops()
        self.size, self.moves = size, size * size + 1
        try:
            self.memory = _memory(size, limit, colours, legal, fractions, priors)
        except MemoryError:
            raise MemoryError(f"memory must be what the system can give, not {limit} bytes") from None
        weakref.finalize(self, came_free, sum(x.nbytes for x in self.memory if x.nbytes <= KEPT)).atexit = False
        #: The same as compiled functions take it that are called often.
        self.arrays = plain(self.memory)
        self._visits, self._states = self.memory.nodes["visits"], self.memory.nodes["state"]
        # As in the book, where it takes long to read: searches ask all the time.
        self._root = _add_root(self.arrays)
        self.memory.book["root"] = self._root

    @property
    def root(self) -> int:
        """The root's number."""
        return self._root

    @property
    def count(self) -> int:
        """Nodes that take room, those included that are held beside the root, or have been given up and not been freed yet."""
        pool = self.memory.pools[NODES]
        return int(pool["count"] - pool["spare"])

    @property
    def bytes_used(self) -> int:
        """Bytes that the nodes and their statistics take."""
        return int(self.memory.book["used"][0])

    @property
    def ready(self) -> bool:
        """Whether the device has described the root, so that there are moves to choose from."""
        return int(self._states[self._root]) == READY

    @property
    def root_visits(self) -> int:
        """Playouts that the root has had, those on their way included."""
        return int(self._visits[self._root])

    def __getitem__(self, node):
        """The record of a node, or those of some, see `search.nodes.NODE`."""
        return self.memory.nodes[node]

    def children(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """(moves, nodes): int64 [n] both, what has been tried at a node, in order of the moves."""
        found = np.empty((2, self.moves), np.int64)
        found = found[:, : _children(self.memory.nodes, node, found)]
        moves, children = found[:, found[0].argsort()]
        return moves, children

    def child(self, node: int, move: int) -> int:
        """The node that a move leads to; NONE without one."""
        return int(child_of(self.memory.nodes, node, move))

    def visits(self, node: int) -> np.ndarray:
        """int64 [M]: playouts through each move of a node, those on their way included."""
        return self.visits_and_wins(node)[0]

    def wins(self, node: int) -> np.ndarray:
        """int64 [M]: the mover's results in them."""
        return self.visits_and_wins(node)[1]

    def visits_and_wins(self, node: int) -> np.ndarray:
        """int64 [2, M]: both."""
        out = np.empty((2, self.moves))
        _moves(self.arrays, node, out)
        return out.astype(np.int64)

    def found(self, node: int, losses: int, playouts: int) -> np.ndarray:
        """float64 [4, M]: what the playouts through each move of a node have brought, without those on their way: their number,
        the mover's results, the sum of his leads on the board, and of these leads' squares.

        Args:
          node: its number.
          losses: of so many playouts on their way so many count as lost at the node meanwhile.
          playouts: see there.

        Of a move whose node a full tree has forgotten the playouts' number and results are known all the same; what their leads
        were is taken from those that its node has had since, and is NaN where there are none.
        """
        out, held = np.zeros((4, self.moves)), np.empty((2, self.moves))
        _moves(self.arrays, node, held)
        _found(self.memory.nodes, self.memory.open[node], node, losses, playouts, held, out)
        return out

    def open(self, node: int) -> np.ndarray:
        """bool [M]: the moves that may be tried at a node."""
        bits = np.unpackbits(self.memory.open[node].view(np.uint8), count=self.moves, bitorder="little")
        return bits.view(np.bool_)

    def rave(self, node: int) -> np.ndarray:
        """float64 [C, 2, M]: what each point has earned (see `jaxgo.credits`) in the playouts through a node, for its mover and,
        if there are two colours, for the other; and that times the results of the player who earned it."""
        out = np.zeros((self.rave_colours, 2, self.moves))
        _rave(self.arrays, node, out)
        return out

    @property
    def rave_colours(self) -> int:
        """For how many colours there are RAVE statistics."""
        return self.memory.first.shape[1]

    def path(self, node: int) -> list[int]:
        """The moves from the root to a node."""
        moves = []
        while node != self.root:
            moves.append(int(self[node]["move"]))
            node = int(self[node]["parent"])
        return moves[::-1]

    def variation(self, move: int | None, most: int) -> list[int]:
        """The principal variation: the most visited moves from the root, or from `move` on; `most` of them at most."""
        (line,) = self.variations([NONE if move is None else move], most)
        return line

    def variations(self, moves: Sequence[int] | np.ndarray, most: int) -> list[list[int]]:
        """The principal variations from each of some of the root's moves on; `most` moves each at most."""
        most = min(most, self.count)  # no line is longer, whatever is asked
        lines, counts = np.empty((len(moves), most), np.int64), np.empty(len(moves), np.int64)
        _variations(self.arrays, np.asarray(moves, np.int64), np.empty((2, self.moves)), lines, counts)
        return [line[:count] for line, count in zip(lines.tolist(), counts.tolist())]

    def compile(self) -> None:
        """Compiles what is asked of a tree; on one that has nothing but its root."""
        add_node(self.memory, self.root, 0)
        self.variation(None, 1)
        self.children(self.root)
        self.visits(self.root)
        self.found(self.root, 1, 1)
        if self.rave_colours:
            self.rave(self.root)
        self.keep(0)
        self.go_back()

    def keep(self, move: int) -> None:
        """Makes the node of one of the root's moves the root. All that is not below it is held until its room is needed."""
        child = self.child(self.root, move)
        keep(self.memory, child)
        self._root = child

    def go_back(self) -> bool:
        """Makes the root before the last `keep` the root again; whether it was still held."""
        back = bool(self.memory.book["held"][0]) and bool(go_back(self.memory))
        self._root = int(self.memory.book["root"][0])
        return back


@functools.cache
def bytes_per_node(
    size: int, *, colours: int = 1, legal: bool = False, fractions: bool = False, priors: bool = False
) -> tuple[int, int]:
    """Bytes of a node visited once, and of one visited again, in a tree of the same arguments."""
    pools = _memory(size, 1 << 16, colours, legal, fractions, priors).pools["bytes"]
    return int(pools[nodes.NODES] + pools[nodes.FIRST]), int(pools[nodes.NODES] + pools[nodes.NARROW])


def _memory(size: int, limit: int, colours: int, legal: bool, fractions: bool, priors: bool) -> Memory:
    """Arrays of all the length that the limit allows, if nodes' numbers reach so far; the system gives memory to the parts that
    are used."""
    moves, words = size * size + 1, 2 * geometry(size).num_words
    bits, number = -(-moves // 32), 4
    pools, book = np.zeros(len(nodes.POOLS), nodes.POOL), np.zeros(1, nodes.BOOK)
    node = nodes.NODE.itemsize + 4 * (words + bits + 2 * bits * legal) + 2 * moves * priors
    # Of each, the number of a free one, too.
    kind, values = np.dtype(np.float32 if fractions else np.uint16), 2 * (colours + 1) * moves
    first = np.dtype(np.float32 if fractions else np.uint8), 2 if fractions else 1
    of_first = first[0].itemsize * colours * first[1] * moves
    pools["bytes"] = np.array([node, of_first, kind.itemsize * values, 4 * values, 8 * values, 4 * moves]) + number
    limit = min(limit, MOST_NODES * int(pools["bytes"][NODES]))
    most = limit // pools["bytes"]
    most = np.minimum(most, most[NODES])
    book["limit"], book["root"], book["earlier"], book["dead"] = limit, NONE, NONE, NONE
    book["middle_from"], book["wide_from"] = rows.WIDE_FROM if fractions else rows.MIDDLE_FROM, rows.WIDE_FROM
    # Nodes and rows are filled when they are taken.
    return Memory(
        nodes=np.empty(most[0], nodes.NODE), words=np.empty((most[0], words), np.uint32),
        open=np.empty((most[0], bits), np.uint32),
        legal=np.empty((most[0] * legal, 2, bits), np.uint32), priors=np.empty((most[0] * priors, 2, moves), np.uint8),
        first=np.empty((most[1], colours, first[1], moves), first[0]),
        narrow=np.empty((most[2], colours + 1, 2, moves), kind),
        middle=np.empty((most[3] * (not fractions), colours + 1, 2, moves), np.float32),
        wide=np.empty((most[4], colours + 1, 2, moves)), children=np.empty((most[5], moves), np.int32),
        spare=np.empty((len(pools), most[0]), np.int32), pools=pools, book=book,
    )  # fmt: skip


# What Python asks: the memory comes as a plain tuple (`search.compiled.plain`).


@brief
def _add_root(arrays):
    """A node without a parent."""
    return add_node(Memory(*arrays), np.int64(NONE), np.int64(NONE))


@compiled
def _variations(arrays, firsts, moves, lines, counts):
    """Fills lines with the most visited moves from the root, from the given ones on.

    Args:
      arrays: the tree.
      firsts: int64 [n], the first move of each, or NONE.
      moves: float64 [2, M], scratch.
      lines: int64 [n, most].
      counts: int64 [n], is filled with how many moves each line has.
    """
    memory = Memory(*arrays)
    for i in range(len(firsts)):
        node, move, count = memory.book[0].root, firsts[i], 0
        while count < lines.shape[1] and node != NONE:
            read_moves(memory, node, moves)
            if move == NONE:
                move = np.argmax(moves[0])
            if moves[0, move] <= 0:
                break
            lines[i, count] = move
            node, move, count = child_of(memory.nodes, node, move), np.int64(NONE), count + 1
        counts[i] = count


@brief
def _moves(arrays, node, out):
    """Copies the visits of a node's moves and their results into float64 [2, M]."""
    read_moves(Memory(*arrays), node, out)


@brief
def _rave(arrays, node, out):
    """Copies what a node's points have earned into float64 [C, 2, M]."""
    for colour in range(len(out)):
        read_rave(Memory(*arrays), node, colour, out[colour])


@brief
def _found(nodes, open_moves, node, losses, playouts, held, out):
    """Adds up in float64 [4, M] what `Tree.found` returns; `held` is what the node knows of its moves, float64 [2, M]."""
    child = first_child(nodes, node)
    while child != NONE:
        x = nodes[child]
        visits = x.visits - x.pending
        out[0, x.move], out[1, x.move] = visits, 2 * visits - x.wins
        out[2, x.move], out[3, x.move] = -x.leads, x.squares
        # Of playouts on their way the node counts some as lost; what else it knows of and the child does not, was of a node that
        # was there before this child.
        all_of_it, held[0, x.move] = held[0, x.move] - x.pending * losses / playouts, 0.0
        if all_of_it > visits:
            share = all_of_it / visits if visits > 0 else np.nan
            out[0, x.move], out[1, x.move] = all_of_it, held[1, x.move]
            out[2, x.move], out[3, x.move] = share * out[2, x.move], share * out[3, x.move]
        child = next_child(nodes, child)
    for move in range(held.shape[1]):
        # Of one that is struck there may be playouts on their way, and has never been a result.
        if held[0, move] > 0 and has_bit(open_moves, move):
            out[0, move], out[1, move], out[2, move], out[3, move] = held[0, move], held[1, move], np.nan, np.nan


@brief
def _children(nodes, node, found):
    """Fills (moves, nodes) with a node's children; how many there are."""
    count, child = 0, first_child(nodes, node)
    while child != NONE:
        found[0, count], found[1, count] = nodes[child].move, child
        count, child = count + 1, next_child(nodes, child)
    return count


# Other roots.


@compiled
def keep(memory, node):
    """Makes a child of the root the root, and holds the old one, with all else that is below it, to be gone back to."""
    book, x = memory.book[0], memory.nodes[node]
    if book.held == MOST_HELD:
        give_up_earliest(memory)
    count_child(memory, book.root, node, np.int64(-1))
    unlink(memory, node)
    memory.nodes[book.root].sibling = book.earlier
    x.parent, x.sibling = NONE, NONE
    book.earlier, book.root, book.held = book.root, node, book.held + 1


@compiled
def go_back(memory):
    """Makes the last of the earlier roots, of which there must be one, the root again; whether there was room for its sums.

    The present root hangs below it again. What has been played below that since then counts for both, but for the RAVE
    statistics: those of the earlier root are still the old ones.
    """
    book = memory.book[0]
    node, above = np.int64(book.root), np.int64(book.earlier)
    x, y = memory.nodes[node], memory.nodes[above]
    book.earlier, book.held = next_child(memory.nodes, above), book.held - 1  # so that it is not given up for the room
    if not holds(memory, above, x.visits + y.visits):
        y.sibling = book.earlier  # those before it may have been given up for the room
        book.earlier, book.held = above, book.held + 1
        return False
    book.root, x.parent, x.sibling, y.first, y.sibling = above, above, y.first, node, NONE
    note_child(memory, above, np.int64(x.move), node)
    count_child(memory, above, node, np.int64(1))
    return True


@part
def count_child(memory, node, child, sign):
    """Counts (1) all that a child has had in its node's sums, or no longer (-1); no playouts may be on their way."""
    x, y = memory.nodes[node], memory.nodes[child]
    wins = 2 * y.visits - y.wins
    x.visits += sign * y.visits
    x.wins += sign * wins
    x.leads -= sign * y.leads
    x.squares += sign * y.squares
    count_move(memory, node, y.move, sign * y.visits, sign * wins)
