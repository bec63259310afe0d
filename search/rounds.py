"""The rounds of a search: choose leaves, have the device play from them, add the results to the tree."""

import collections
import dataclasses
import time

import numpy as np

from jaxgo import BLACK, STAY, LeafResults, Leaves, Position
from jaxgo.base import checks
from jaxgo.results import outcome
from search import descent, histories
from search.backup import back_up
from search.tree import FORBIDDEN, ROOT, UNEXPLORED, Tree

#: Descents of the first round, all of which end at the root.
FIRST_LEAVES = 16
#: The rounds under way are together at most this share of the playouts that the root has had, so that early choices see results.
UNDER_WAY_SHARE = 0.2
#: The fewest leaves of a round.
FEWEST_LEAVES = 4
#: How long a wait for the device lasts before it looks whether it should stop, seconds.
WAIT = 0.005


@dataclasses.dataclass
class _Round:
    """Leaves that the device is working on."""

    leaves: descent.Reached
    nodes_before: int
    waiting: np.ndarray
    """Indices of the leaves that the device works on; the others are ends of the game."""
    call: object
    """The device's, None where nothing is left for it."""


@dataclasses.dataclass(frozen=True)
class Restrictions:
    """Moves that a search is told to avoid, or to keep to, near its root; arrays [2, M], Black's moves (0) and White's (1)."""

    avoid_until: np.ndarray
    """int: the move is avoided at nodes less than so many moves from the root; 0 never is."""
    allow_until: np.ndarray
    """int [2]: up to so many moves from the root, only the allowed moves are considered."""
    allowed: np.ndarray
    """bool: these. They need only be legal, not useful."""

    def apply(self, playable: np.ndarray, legal: np.ndarray, depth: np.ndarray, black: np.ndarray) -> np.ndarray:
        """bool [n, M]: what is left of the playable moves; the pass where nothing is."""
        colour = np.where(black, 0, 1)
        legal = np.concatenate([legal, np.ones_like(legal[:, :1])], axis=1)
        limited = (depth < self.allow_until[colour])[:, None]
        left = np.where(limited, legal & self.allowed[colour], playable) & (depth[:, None] >= self.avoid_until[colour])
        left[~left.any(axis=1), -1] = True
        return left


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a search's rounds go by; see `search.Search`."""

    rule: object
    komi: float
    cleanup: bool
    depth: int
    by_counts: bool
    """Whether RAVE statistics come from counts made on the device, or from the playouts' moves."""
    restrictions: Restrictions | None = None
    """Moves that are not to be played, or alone to be played."""


class Rounds:
    """The rounds under way on a tree.

    Args:
      device: plays from the leaves: a `jaxgo.Leaves`, or a `search.shared.Share` of one.
      settings: what to go by.
      ties: breaks ties.
      in_flight: the most rounds under way at a time.
    """

    def __init__(self, device: Leaves, settings: Settings, ties: descent.Ties, in_flight: int):
        self._device, self._settings, self._ties, self._in_flight = device, settings, ties, in_flight
        self._under_way: collections.deque[_Round] = collections.deque()
        self._streams = 0
        #: Seconds spent choosing, waiting for the device, and adding results.
        self.seconds = {"select": 0.0, "wait": 0.0, "back up": 0.0}

    def begin(self, tree: Tree, position: Position, history: np.ndarray) -> None:
        """Goes on with another tree or root; no round may be under way.

        Args:
          tree: the tree.
          position: of its root.
          history: uint64 [n], hashes of the game's positions before it.
        """
        self._tree, self._history = tree, history
        self._black = bool(np.asarray(position.to_play)[0] == BLACK)
        self._root_input = Leaves.arguments_of(position)[:3]

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def done(self) -> bool:
        """Whether the device has finished the oldest round."""
        call = self._under_way[0].call
        return call is None or self._device.done(call)

    def visits_under_way(self) -> np.ndarray:
        """int32 [M + 1]: visits that have no results yet, through each move of the root, and last of the root in all."""
        tree, playouts = self._tree, self._device.playouts
        out = np.zeros(tree.moves + 1, np.int32)
        for under_way in self._under_way:
            leaves = under_way.leaves
            out[-1] += playouts * len(leaves.moves)
            below = leaves.children != ROOT
            parents, moves = leaves.parents[below], leaves.moves[below]
            while (inner := parents != ROOT).any():
                moves, parents = np.where(inner, tree.move[parents], moves), np.where(inner, tree.parent[parents], ROOT)
            np.add.at(out, moves, playouts)
        return out

    def launch(self, most: int) -> None:
        """Chooses leaves, at most so many, and submits them."""
        start, tree, playouts = time.perf_counter(), self._tree, self._device.playouts
        before = tree.count
        if tree.ready[ROOT]:
            share = max(FEWEST_LEAVES, int(tree.node_visits[ROOT] * UNDER_WAY_SHARE / (playouts * self._in_flight)))
            count = min(self._device.leaves, share, most)
            leaves = descent.descend(tree, self._settings.rule, self._ties, count, playouts, self._settings.depth)
        else:
            count = min(FIRST_LEAVES, self._device.leaves, most)
            tree.node_visits[ROOT] += count * playouts
            leaves = descent.Reached(np.zeros(count, np.int64), np.full(count, STAY), np.zeros(count, np.int32))
        held = np.where(leaves.children == FORBIDDEN, 0, leaves.children)
        ended = (leaves.children != FORBIDDEN) & tree.is_terminal(held)
        waiting = np.flatnonzero(~ended)
        call = self._submit(leaves.parents[waiting], leaves.moves[waiting]) if len(waiting) else None
        self._under_way.append(_Round(leaves, before, waiting, call))
        self.seconds["select"] += time.perf_counter() - start

    def _submit(self, parents: np.ndarray, moves: np.ndarray):
        tree = self._tree
        streams = (self._streams + np.arange(len(moves))) & checks.INT32_MAX
        self._streams += len(moves)
        if tree.ready[ROOT]:
            positions = (tree.words[parents], tree.ko[parents], tree.passes[parents])
        else:
            positions = tuple(np.repeat(x, len(moves), axis=0) for x in self._root_input)
        return self._device.submit(*positions, self.black_moves(parents), moves, streams)

    def wait(self, deadline: float | None) -> bool:
        """Waits a little for the oldest round, not beyond the deadline; whether the device has finished it."""
        start = time.perf_counter()
        wait = WAIT if deadline is None or not self._tree.ready[ROOT] else max(0.0, min(WAIT, deadline - time.monotonic()))
        call = self._under_way[0].call
        done = call is None or self._device.wait(call, wait)
        self.seconds["wait"] += time.perf_counter() - start
        return done

    def finish(self) -> None:
        """Adds the oldest round's results to the tree."""
        start, tree, playouts = time.perf_counter(), self._tree, self._device.playouts
        done = self._under_way.popleft()
        if done.call is not None:
            results = self._device.gather(done.call)
            parents, moves, children = (x[done.waiting] for x in dataclasses.astuple(done.leaves))
            kept = ~self._repeats(parents, moves, children, results)
            if not kept.all():
                tree.count_visits(parents[~kept], moves[~kept], children[~kept], -playouts)
                parents, moves, children, results = parents[kept], moves[kept], children[kept], results.some(kept)
            self._describe(children, results)
            self._back_up(parents, moves, children, results)
        self._back_up_ends(done)
        self.seconds["back up"] += time.perf_counter() - start

    def abandon(self) -> None:
        """Drops the rounds under way, as if they had never been chosen."""
        while self._under_way:
            dropped = self._under_way.pop()
            if dropped.call is not None:
                self._device.drop(dropped.call)
            leaves = dropped.leaves
            self._tree.count_visits(leaves.parents, leaves.moves, leaves.children, -self._device.playouts)
            self._tree.forget_last(dropped.nodes_before)

    def _back_up(self, parents, moves, children, results: LeafResults) -> None:
        rule, by_counts = self._settings.rule, self._settings.by_counts
        firsts = results.firsts if by_counts and rule.credit is not None else None
        playouts = self._device.playouts
        back_up(self._tree, parents, moves, children, playouts, results.wins, results.lead, results.squares, firsts, rule.strict)
        if rule.credit is not None and not by_counts:
            histories.add_histories(
                self._tree, children, parents, moves, results.words, results.moves, results.captured, results.results, rule
            )

    def _back_up_ends(self, done: _Round) -> None:
        """Adds the scores of games that end in the tree, as so many playouts without moves."""
        ends = np.setdiff1d(np.arange(len(done.leaves.moves)), done.waiting)
        if not len(ends):
            return
        tree, rule, playouts = self._tree, self._settings.rule, self._device.playouts
        parents, moves, children = (x[ends] for x in dataclasses.astuple(done.leaves))
        margin = tree.margin[children].astype(np.int64)
        result = self.result(margin, self.black_moves(children))
        by_counts = self._settings.by_counts and rule.credit is not None
        firsts = np.zeros((len(ends), 2, 2, tree.moves), np.int16) if by_counts else None
        wins, leads, squares = (playouts * x for x in (result, margin, margin**2))
        back_up(tree, parents, moves, children, playouts, wins, leads, squares, firsts, rule.strict)
        if rule.credit is not None and not by_counts:
            none = np.full((len(ends), playouts, 1), -1, np.int16)
            won = np.broadcast_to(result[:, None], (len(ends), playouts))
            no_captures, words = np.zeros(none.shape, np.bool_), tree.words[children]
            histories.add_histories(tree, children, parents, moves, words, none, no_captures, won, rule)

    def _describe(self, children: np.ndarray, results: LeafResults) -> None:
        """Notes what the device says of nodes that are new, and which moves they may try."""
        new = np.flatnonzero((children != FORBIDDEN) & ~self._tree.ready[np.maximum(children, 0)])
        new = new[np.unique(children[new], return_index=True)[1]]
        if len(new):
            nodes = children[new]
            black = self.black_moves(nodes)
            playable = self._playable(results, new, black)
            if self._settings.restrictions is not None:
                depth = self._tree.depth[nodes].astype(np.int64)
                playable = self._settings.restrictions.apply(playable, results.legal[new, 0], depth, black)
            self._tree.describe(nodes, results, new, playable)

    def _playable(self, results: LeafResults, new: np.ndarray, black: np.ndarray) -> np.ndarray:
        """bool [n, M]: the moves that the search considers in the positions number `new` of the results.

        A useful move is legal and fills no own eye. The pass is considered where there is no useful move; where the other player
        has just passed and the score as it stands wins, or draws; and late, when no more useful moves are left than the board has
        rows, so that nobody must destroy himself in a seki. With `cleanup` only the first of these.
        """
        useful, before = results.useful[new], results.passes[new]
        number = useful.sum(axis=1)
        passes = number == 0
        if not self._settings.cleanup:
            wins = self.result(results.margin[new].astype(np.int64), black) >= 1
            passes |= np.where(before == 1, wins, number <= self._tree.size)
        passes &= before < 2
        return np.concatenate([useful, passes[:, None]], axis=1)

    def _repeats(self, parents, moves, children, results: LeafResults) -> np.ndarray:
        """bool [n]: leaves that may not be: their position has been on the board before (positional superko).

        The moves that lead there are struck from the tree.
        """
        tree = self._tree
        play = (children != ROOT) & (moves != tree.moves - 1)
        bad = np.isin(results.hash, self._history)
        node = parents
        while True:
            bad |= tree.hash[node] == results.hash
            if (node == ROOT).all():
                break
            node = tree.parent[node]
        bad &= play
        bad |= (children != ROOT) & (tree.child[parents, moves] == FORBIDDEN)
        if bad.any():
            self.strike(parents[bad], moves[bad])
        return bad

    def strike(self, parents: np.ndarray, moves: np.ndarray) -> None:
        """Strikes moves from nodes, for good; where none is left, the player passes."""
        tree = self._tree
        tree.child[parents, moves] = FORBIDDEN
        stuck = np.unique(parents)
        stuck = stuck[(tree.child[stuck] == FORBIDDEN).all(axis=1)]
        tree.child[stuck, -1] = UNEXPLORED

    def black_moves(self, nodes: np.ndarray) -> np.ndarray:
        """bool [n]: whether Black is to move."""
        return (self._tree.depth[nodes] % 2 == 0) == self._black

    def result(self, margin: np.ndarray, black: np.ndarray) -> np.ndarray:
        """int32, in halves: the mover's result for his area minus the other's, and whether he is Black."""
        bounds = outcome.bounds(self._settings.komi, self._tree.size**2)
        return outcome.of_mover(np.where(black, margin, -margin), bounds, black)
