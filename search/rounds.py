"""The rounds of a search: choose leaves, have the device play from them, add the results to the tree."""

import collections
import dataclasses
import functools
import itertools
import time
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from jaxgo import Leaves, Position
from jaxgo.results import outcome
from jaxgo.running import leaf_columns
from jaxgo.running.leaf_results import Places, Room, Rows
from search import descent, histories, priors
from search.backup import strike, take_results, take_round_back
from search.compiled import plain
from search.descent import Constants, Ties, choose_and_ask
from search.earnings import NOTHING, Ahead, earned_by
from search.histories import Played, count_first_plays
from search.knowledge import numbers_of
from search.nodes import NONE
from search.restrictions import Restrictions
from search.round_size import Young
from search.selection import Rule
from search.terms import Terms
from search.tree import Tree
from search.tree_needs import needs_histories

#: Descents of the first round, all of which end at the root: what they tell of its moves is worth more than a few of these alone.
#: A search of few playouts leaves the fewest of another round for these, as without any it would not know what to play.
FIRST_LEAVES = 16
#: The rounds under way are together at most this share of the playouts that the root has had, so that early choices see results,
#: where nobody says another; those of a small tree may be more (`search.round_size.of_young_trees`).
UNDER_WAY_SHARE = 0.1
#: A leaf's playouts over its virtual losses, where nobody says another number: with as many losses as playouts the leaves of a
#: round are kept too far apart.
PLAYOUTS_A_LOSS = 4
#: The fewest leaves that the first round leaves for another, where the search has so few playouts.
FEWEST_LEAVES = 4
#: Moves of the tree below its root for which there is room at first.
LINE = 32
#: Rounds of which helpers work out at a time what they earn: the oldest, and the one that comes to be.
AHEAD = 2
#: How long a wait for the device lasts before it looks whether it should stop, seconds.
WAIT = 0.005


@dataclasses.dataclass
class _Round:
    """Leaves that the device is working on."""

    leaves: np.ndarray
    """int32 [n]: their nodes; NONE once a leaf has been seen to, so that an interruption at any moment is made good."""
    rows: np.ndarray
    """int32 [n]: the row of each in the device's results; NONE for ends of the game."""
    stream: int
    """Of the first of them that the device plays."""
    deepest: int = 0
    """How many moves below the root the deepest of them lies."""
    call: Any = None
    """The device's, None where nothing is left for it."""
    ahead: Ahead | None = None
    """What its leaves earn by weighted credits, where helpers work that out."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a search's rounds go by; see `search.Search`."""

    rule: Rule
    komi: float
    cleanup: bool
    depth: int
    share: float
    """Playouts under way at a time, at most, as a share of the root's."""
    losses: int
    """Virtual ones of a leaf under way."""
    young: Young
    """The rounds of a small tree."""
    restrictions: Restrictions | None = None
    """Moves that are not to be played, or alone to be played."""


class Device(Protocol):
    """What plays from leaves: a `jaxgo.Leaves`, or a `search.shared.Share` of one. Calls are its own."""

    leaves: int
    playouts: int
    moves: bool

    @property
    def busy_seconds(self) -> float: ...

    @property
    def num_workers(self) -> int: ...

    def compile(self) -> None: ...

    def close(self) -> None: ...

    def begin(self, columns: np.ndarray) -> Any: ...

    def done(self, call: Any) -> bool: ...

    def wait(self, call: Any, seconds: float) -> bool: ...

    def rows(self, call: Any) -> Rows: ...

    def drop(self, call: Any) -> None: ...


class Rounds:
    """The rounds under way on a tree.

    Args:
      device: plays from the leaves.
      settings: what to go by.
      ties: breaks ties.
      seed: of the playouts, two words.
      in_flight: the most rounds under way at a time.
      stream: of the first leaf that the device plays.
      helpers: threads that work out what a round's leaves earn by weighted credits; 1 for none beside that of the tree.
    """

    def __init__(
        self, device: Device, settings: Settings, ties: Ties, seed: tuple[int, int], in_flight: int, stream: int, helpers: int
    ):
        self._device, self._settings, self._ties, self._in_flight = device, settings, ties, in_flight
        self._has_fractions = needs_histories(settings.rule)
        self._helpers = helpers if self._has_fractions else 1
        self._under_way: collections.deque[_Round] = collections.deque()
        self._full: bool | None = None
        """Whether as many rounds are under way as may be; None where that is to be looked at anew."""
        self._tried = False
        """Whether it is known that the root has moves with results."""
        self._seed, self._streams = seed, stream
        #: Seconds spent choosing, waiting for the device, and adding results.
        self.seconds = {"select": 0.0, "wait": 0.0, "back up": 0.0}

    def begin(self, tree: Tree, position: Position, history: np.ndarray) -> None:
        """Goes on with another tree or root; no round may be under way.

        Args:
          tree: the tree.
          position: of its root.
          history: uint64 [n], hashes of the game's positions before it.
        """
        moves = tree.moves
        self._values = np.zeros((descent.SCRATCH, descent.width_of(moves)))
        self._first = np.empty((2, 2, moves), np.int16)
        self._played = Played.room(moves, self._device.playouts, 0, LINE)
        self._full, self._tried = None, False
        self._tree, self._history = tree, np.ascontiguousarray(history, np.uint64)
        (words,), (ko,), (passes,), (black,) = Leaves.arguments_of(position)
        root = tree[tree.root]
        tree.memory.words[tree.root], root["ko"], root["passes"] = words, ko, passes
        self._black = bool(black) == (root["depth"] % 2 == 0)
        settings, (win, draw) = self._settings, outcome.bounds(self._settings.komi, tree.size**2)
        limits = settings.restrictions or _unrestricted(tree.moves)
        credit = histories.NUMBERS[settings.rule.credit]
        self._known: tuple | None = None
        if settings.rule.knowledge:
            self._known, self._room = plain(numbers_of(settings.rule.knowledge, tree.size)), plain(priors.Room.of(tree.size))
        device = self._device
        avoid, allow = (x.astype(np.int64) for x in (limits.avoid_until, limits.allow_until))
        self._terms = plain(Terms(
            device.playouts, settings.losses, self._black, int(win), int(draw), settings.cleanup, credit, settings.rule.strict,
            avoid, allow, limits.allowed.astype(np.bool_), int(max(avoid.max(), allow.max())), _places(tree.size),
        ))  # fmt: skip
        self._constants = plain(Constants(int(win), int(draw), *self._seed))
        self._rule = plain(settings.rule.numbers)
        self._num_columns = leaf_columns.number(tree.size)
        self._nothing = _nothing(tree.size, device.playouts if device.moves else 0)

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def full(self) -> bool:
        """Whether as many rounds are under way as may be. Programs with many searches ask often."""
        if self._full is None:
            self._full = self._is_full()
        return self._full

    def _is_full(self) -> bool:
        if not self._under_way:
            return False
        if len(self._under_way) >= self._in_flight or not self._tree.ready:
            return True
        round_of_all = self._device.leaves * self._device.playouts
        return len(self) >= self._settings.young.rounds and (len(self) + 1) * round_of_all > self._may_be_under_way

    @property
    def _may_be_under_way(self) -> float:
        """Playouts that may be under way together."""
        return self._tree.root_visits * self._settings.share

    @property
    def done(self) -> bool:
        """Whether the device has finished the oldest round."""
        call = self._under_way[0].call
        return call is None or self._device.done(call)

    @property
    def have_tried(self) -> bool:
        """Whether there are results of one of the root's moves, or it has none. Programs with many searches ask often."""
        tree = self._tree
        if not self._tried and tree.ready:
            found = tree.found(tree.root, self._settings.losses, self._device.playouts)
            self._tried = bool(tree[tree.root]["passes"] >= 2 or found[0].any())
        return self._tried

    def launch(self, most: int) -> None:
        """Chooses leaves, at most so many, and submits them."""
        start, tree, playouts, settings = time.perf_counter(), self._tree, self._device.playouts, self._settings
        young = settings.young
        if tree.ready:
            share = max(young.leaves, int(self._may_be_under_way / (playouts * min(self._in_flight, young.rounds))))
        else:
            share = min(FIRST_LEAVES, max(1, most - FEWEST_LEAVES))
        number = min(self._device.leaves, share, most)
        columns = np.empty((self._num_columns, number), np.uint32)
        chosen = _Round(np.full(number, NONE, np.int32), np.full(number, NONE, np.int32), self._streams)
        try:
            self._full = None
            self._under_way.append(chosen)
            count, chosen.deepest = choose_and_ask(
                tree.arrays, self._rule, self._ties.table, playouts, settings.losses, settings.depth, self._values, self._black,
                self._constants, self._streams, chosen.leaves, chosen.rows, columns,
            )  # fmt: skip
            if count:
                self._streams += count
                chosen.call = self._device.begin(columns[:, :count])
        except BaseException:  # Ctrl-C, or a device that takes nothing any more
            if self._under_way and self._under_way[-1] is chosen:
                self._drop_last()
            raise
        self.seconds["select"] += time.perf_counter() - start

    def wait(self, deadline: float | None) -> bool:
        """Waits a little for the oldest round, not beyond the deadline; whether the device has finished it."""
        start = time.perf_counter()
        left = WAIT if deadline is None else deadline - time.monotonic()
        wait = min(WAIT, left) if left > 0 else WAIT  # where it is too late there is nothing to tell yet
        call = self._under_way[0].call
        done = call is None or self._device.wait(call, wait)
        self.seconds["wait"] += time.perf_counter() - start
        return done

    def finish(self) -> None:
        """Adds the oldest round's results to the tree."""
        start, oldest, self._full = time.perf_counter(), self._under_way[0], None
        try:
            results = self._nothing if oldest.call is None else self._device.rows(oldest.call)
        except Exception:  # the device has failed at it; the others are whole
            self._take_back(oldest)
            self._under_way.popleft()
            raise
        if self._helpers > 1:
            self._look_ahead()
        self._take(self._tree, oldest, results)
        self._under_way.popleft()
        self.seconds["back up"] += time.perf_counter() - start

    def _look_ahead(self) -> None:
        """Has helpers begin with the oldest rounds."""
        for round in itertools.islice(self._under_way, AHEAD):
            if round.ahead is not None or round.call is None or not self._device.done(round.call):
                continue
            try:
                results = self._device.rows(round.call)
            except Exception:  # it is told when the round's turn comes
                return
            round.ahead = Ahead(
                self._helpers, self._tree.arrays, self._terms, round.leaves, round.rows, round.deepest, results
            )  # fmt: skip

    def _take(self, tree: Tree, done: _Round, results: Rows) -> None:
        """Adds what playouts of a round have brought to a tree."""
        plies, held = results.events.shape[2], self._played
        if done.deepest > len(held.line) or plies >= held.plays.shape[2]:
            held = self._played = Played.room(tree.moves, self._device.playouts, plies, 2 * done.deepest)
        played, leaves, rows = (results.events, *held[1:]), done.leaves, done.rows
        if self._known is not None:
            priors.note_new(tree.arrays, self._known, self._terms[-1], leaves, rows, results.positions, self._room)
        if not self._has_fractions and plies:
            results = results._replace(first_plays=np.empty_like(results.first_plays))
            count_first_plays(played, results.results, results.first_plays)
        parts: Iterable[tuple[slice, np.ndarray]] = [(slice(None), NOTHING)]
        if self._has_fractions:
            ahead = done.ahead
            parts = ahead.parts() if ahead else earned_by(tree.arrays, self._terms, leaves, rows, done.deepest, results, played)
        for here, earned in parts:
            take_results(
                tree.arrays, self._terms, self._history, leaves[here], rows[here], tuple(results), earned, self._first
            )  # fmt: skip

    def compile(self, tree: Tree) -> None:
        """Compiles the loops, so that no clock runs meanwhile; `tree`, an empty one, is what they are tried on."""
        none, columns = np.empty(0, np.int32), np.empty((self._num_columns, 0), np.uint32)
        choose_and_ask(
            tree.arrays, self._rule, self._ties.table, self._device.playouts, 1, self._settings.depth, self._values, self._black,
            self._constants, 0, none, none, columns,
        )  # fmt: skip
        self._take(tree, _Round(none, none, 0), self._nothing)
        tree.compile()
        strike(tree.memory, tree.root, 0)
        take_round_back(tree.memory, none, 0, 0)

    def abandon(self) -> None:
        """Drops the rounds under way, as if they had never been chosen."""
        while self._under_way:
            self._drop_last()

    def _drop_last(self) -> None:
        dropped, self._full = self._under_way[-1], None
        if dropped.call is not None:
            self._device.drop(dropped.call)
        taken = (dropped.leaves == NONE) & (dropped.rows != NONE)  # where Ctrl-C came just after that
        self._take_back(dropped)
        if not taken.any():
            self._streams = dropped.stream
        self._under_way.pop()

    def _take_back(self, round: _Round) -> None:
        take_round_back(self._tree.memory, round.leaves, self._device.playouts, self._settings.losses)

    def strike(self, move: int) -> None:
        """Strikes a move from the root, for good; where none is left, the player passes."""
        strike(self._tree.memory, self._tree.root, move)


# Searches of one kind have these in common, and a program may begin hundreds a second.

_unrestricted = functools.cache(Restrictions.none)
_places = functools.cache(Places.of)


@functools.cache
def _nothing(size: int, playouts: int) -> Rows:
    """What a device tells of no leaves."""
    return Room.of(size, 0, playouts).rows
