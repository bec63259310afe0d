"""The search: a tree on the host, fed by playouts from the device.

A round chooses many leaves, asks the device for playouts from each, and adds the results to the tree. Several rounds are under
way at a time (`search.rounds`): the device has some of them while the host deals with the oldest. A round is always chosen
without the results of those under way, whether or not they are already there, so that the tree depends on nothing but the seed
and the numbers of visits that were asked for.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from jaxgo import Leaves, Position
from jaxgo.backends.choice import workers_of
from jaxgo.base import checks, threads
from jaxgo.base.constants import INT32_MAX
from jaxgo.base.processor import usable_cores
from jaxgo.playing.policies.in_order import InOrder, Policies, asks, each_of
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.running.request import seed_words
from search import root, round_size
from search.choice import MOST_VISITS
from search.descent import Ties
from search.game import check_one_position, hash_numbers
from search.nodes import NONE, READY
from search.restrictions import Restrictions, check_restrictions
from search.root import RootStatistics
from search.rooted_tree import RootedTree
from search.round_size import rounds_in_flight
from search.rounds import PLAYOUTS_A_LOSS, UNDER_WAY_SHARE, Device, Rounds, Settings
from search.search_options import checked
from search.selection import Rave, Rule
from search.shared import Seat, Share, SharedLeaves
from search.tree import Tree
from search.tree_needs import memory_for, needs_histories, parts_for

#: The kinds of searches of which one has been compiled in this process; None is of those on a device whose owner sees to that.
_compiled: set[tuple | None] = {None}


class Search:
    """A tree search from one position. One thread at a time may use it, but for the `stop` of `run`, which any may answer.

    Args:
      position: one position that is not over.
      rule: a rule of selection, `search.Rave()` or `search.UCB1()`, with any of their options.
      komi: points that White gets.
      leaves: leaves of a round, at most, 1 to 65,536. By default what suits the devices (`search.round_size`): 256 on CPUs, for
        GPUs enough that a round keeps all lanes busy.
      playouts_per_leaf: playouts from each leaf at each visit, 1 to 16,000; a round has at most 2**24 playouts, on CPUs 2**18.
        By default likewise: on CPUs 8, or 4 that ask a policy (even one that is never asked), for GPUs as many as the host needs
        to keep up, 1024 on 9x9.
      visits: about how many playouts the search is meant for, if that is known: up to 131,072 are in rounds as on CPUs, on
        every device. It is no limit, `run` has that.
      seed: an int in [0, 2**64), or a jax key.
      history: the hashes of the game's earlier positions, uint32 [n, 2] (`Position.hash`) or uint64 [n] (`LeafResults.hash`),
        which positional superko forbids to repeat.
      memory: bytes that the tree's nodes may take; a full tree forgets the leaves that it has not visited for longest. In a long
        game it may come to take a fifth more, see `search.tree.Tree`.
      cleanup: whether to capture all dead stones before passing, for scoring by rules that count what stands on the board.
      depth: the most moves that the tree looks ahead; 1 is a bandit over the root's moves. By default any number.
      updates: "reductions" (counts made on the device) or "histories" (the playouts' moves, ply by ply); the tree is the same.
        Rules with weighted credits need "histories", and take it by themselves.
      devices: as in `jaxgo.playouts`.
      in_flight: rounds under way at a time, at most; a small tree has three, on GPUs two. By default as `search.round_size` says.
      share: playouts under way at a time, at most, as a share of those that the root has had, 0 to 1: more keep devices busy
        while the tree is small, fewer let each choice see more results. The rounds of a small tree may be more, on GPUs much more
        (`search.round_size.of_young_trees`).
      virtual_losses: what a leaf under way counts for its moves until its playouts are there, 1 to `playouts_per_leaf`; by
        default a quarter of those. More keep the leaves of a round apart, fewer let them crowd where the search would play.
      device: a `search.shared.SharedLeaves` to play on together with other searches, instead of workers of its own. The tree
        is that of rounds as large, by default 256 x 8.
      restrictions: a `search.restrictions.Restrictions`, moves to avoid or to keep to; None without.
      policy: whom playouts ask for their moves, as in `jaxgo.playouts`; where a `device` is given, None is the device's own, and
        there is no other.
      stream: the random stream of its first leaf; each further leaf has the next. So searches of one seed can differ.

    Raises:
      TypeError, ValueError: an argument is not what it must be, or the game is over.
    """

    def __init__(
        self,
        position: Position,
        *,
        rule: Rule | None = None,
        komi: float = 7.5,
        leaves: int | None = None,
        playouts_per_leaf: int | None = None,
        visits: int | None = None,
        seed: int = 0,
        history=None,
        memory: int = 1 << 30,
        cleanup: bool = False,
        depth: int | None = None,
        updates: str | None = None,
        devices=None,
        in_flight: int | None = None,
        share: float = UNDER_WAY_SHARE,
        virtual_losses: int | None = None,
        device: SharedLeaves | Seat | None = None,
        restrictions: Restrictions | None = None,
        policy: Policies = None,
        stream: int = 0,
    ):
        check_one_position(position)
        self.rule: Rule = checked("rule", rule) or Rave()
        checked("device", device)
        check_restrictions(restrictions, position.size)
        self.komi = checked("komi", komi)
        weighted = needs_histories(self.rule)
        checked("updates", updates)
        if weighted and updates == "reductions":
            raise ValueError(f"updates must be 'histories' for the credit {self.rule.credit!r}, not 'reductions'")
        self.updates = updates or ("histories" if weighted else "reductions")
        moves = self.updates == "histories" and self.rule.credit is not None
        workers = workers_of(devices) if device is None else None
        size = position.size
        visits = checked("visits", visits)
        sized_for = round_size.for_visits(visits, workers)
        by_policy = asks(policy) and device is None
        rounds = round_size.suited(size, sized_for, leaves, playouts_per_leaf, histories=moves, policy=by_policy)
        self.num_leaves, self.playouts_per_leaf = rounds
        in_flight = checked("in_flight", in_flight)
        self.in_flight = rounds_in_flight(size, rounds, sized_for) if in_flight is None else in_flight
        share = checked("share", share)
        losses = max(1, self.playouts_per_leaf // PLAYOUTS_A_LOSS) if virtual_losses is None else virtual_losses
        self.virtual_losses = checks.integer("virtual_losses", losses, 1, self.playouts_per_leaf)
        self.seed = checked("seed", seed)
        self.cleanup = checked("cleanup", cleanup)
        depth = checked("depth", depth)
        self.depth = INT32_MAX if depth is None else depth
        history = hash_numbers(history)
        parts, least = parts_for(self.rule), memory_for(size, self.rule, 0)
        memory = checked("memory", memory)
        if memory < least:
            raise ValueError(f"memory must be at least {least} bytes, not {memory}")
        self._new_tree = lambda: Tree(size, memory, **parts)
        self._running = threading.RLock()
        if device is not None:
            self._device: Device = device.share(size, self.num_leaves, self.playouts_per_leaf, moves=moves, policy=policy)
        else:
            self._device = Leaves(size, self.num_leaves, self.playouts_per_leaf, devices=devices, moves=moves, policy=policy)
        self._kind = None
        """What programs are compiled for."""
        if device is None:
            form = PolicyForm.of(InOrder(each_of(policy)))
            self._kind = size, type(self.rule), self.rule.credit, self.rule.knowledge is None, rounds, moves, form, workers
        self.restrictions = restrictions
        """Moves to avoid or to keep to, None without."""
        young = round_size.of_young_trees(size, rounds, sized_for)
        settings = Settings(self.rule, self.komi, self.cleanup, self.depth, share, self.virtual_losses, young, restrictions)
        low, high = seed_words(self.seed)
        ties = Ties(high << 32 | low, size * size + 1)
        stream = checked("stream", stream)
        helpers = len(usable_cores()) // 2 if device is None else 1
        self._rounds = Rounds(self._device, settings, ties, (low, high), self.in_flight, stream, helpers)
        self._plant(position, history)

    # What a program asks.

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds spent so far choosing ("select"), waiting for the device ("wait"), and adding results ("back up")."""
        return self._rounds.seconds

    @property
    def tree(self) -> Tree:
        """The tree; `Tree.root` is the root."""
        return self._rooted.tree

    @property
    def position(self) -> Position:
        """The root's position."""
        return self._rooted.position

    @property
    def history(self) -> np.ndarray:
        """uint64 [n]: hashes of the game's positions before the root."""
        return self._rooted.history

    @property
    def visits(self) -> int:
        """Playouts that the root has had, those kept from earlier moves and those of rounds under way included; these have no
        results yet (`statistics` counts without them)."""
        return self.tree.root_visits

    @property
    def device_seconds(self) -> float:
        """Seconds that the workers (cores or devices) have worked, all together."""
        return self._device.busy_seconds

    @property
    def num_workers(self) -> int:
        """Cores or devices that play."""
        return self._device.num_workers

    def plays_on(self, device: SharedLeaves) -> bool:
        """Whether it has its playouts from this device."""
        return isinstance(self._device, Share) and self._device.is_of(device)

    def compile(self) -> None:
        """Compiles what the search needs on the device and on the host, both at a time, so that no clock runs meanwhile."""
        size = self.position.size
        tree = Tree(size, memory_for(size, self.rule, 0), **parts_for(self.rule))
        device = threads.begin(self._device.compile)
        self._rooted.compile()
        self._rounds.compile(tree)
        device.result()
        _compiled.add(self._kind)

    def run(
        self,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> int:
        """Searches until the root has had so many playouts, or so much time has passed, or `stop` says so.

        Args:
          visits: playouts of the root, those kept from earlier moves included, up to 2**50.
          seconds: on the clock on the wall. The first search of its kind in a process compiles before that clock runs, where
            `compile` has not: half a minute, or two seconds where it is kept from an earlier process.
          progress: called with the root's playouts after every round, in this thread.
          stop: asked between rounds, and every 5 ms while waiting for the device; once it returns True the search drops what the
            device has not finished and returns. Only the first playouts, of the root and of some moves, are always awaited, so
            that there is a move to tell of: some ten milliseconds on 9x9. It belongs to the caller,
            `threading.Event().is_set` for example, so that a request made before `run` begins counts too.

        Returns:
          The root's visits. With a limit on visits alone, the tree that results is always the same. (It is another one where
          the same visits are asked for in several runs, as each waits for all that is under way.)

        Raises:
          TypeError, ValueError: an argument is not what it must be.
          RuntimeError: another thread is in the middle of a run.
        """
        if visits is None and seconds is None:
            raise ValueError("visits or seconds must be given")
        visits = checks.integer("visits", visits, 0, MOST_VISITS) if visits is not None else MOST_VISITS
        checks.callable_or_none("progress", progress)
        checks.callable_or_none("stop", stop)
        if seconds is not None:
            seconds = checks.number("seconds", seconds, 0)
            if self._kind not in _compiled:
                self.compile()
        if not self._running.acquire(blocking=False):
            raise RuntimeError("this search is running in another thread; a search is for one thread at a time")
        try:
            self._run(visits, None if seconds is None else time.monotonic() + seconds, progress, stop)
        finally:
            self._running.release()
        return self.visits

    def _run(
        self, visits: int, deadline: float | None, progress: Callable[[int], None] | None, stop: Callable[[], bool] | None
    ) -> None:
        while True:
            if self._stopping(deadline, stop):
                self._rounds.abandon()
                return
            if self.launch(visits):
                continue
            if not self.under_way:
                return
            if self._rounds.wait(deadline):
                self._rounds.finish()
                if progress is not None:
                    progress(self.visits)

    # A run step by step, for a program that runs many searches at once: launch as many rounds as may be, finish one, again.

    @property
    def under_way(self) -> int:
        """Rounds under way."""
        return len(self._rounds)

    @property
    def waits(self) -> bool:
        """Whether there is nothing to do until the device has finished the oldest round: as many as may be are under way."""
        return self._rounds.full and not self._rounds.done

    @property
    def has_tried(self) -> bool:
        """Whether there are results of a move, so that there is something to tell; or the game is over, where there is none."""
        return self._rounds.have_tried

    def launch(self, visits: int) -> bool:
        """Launches a round towards so many visits of the root; whether there was one to launch. `run` tells the arguments."""
        visits = checks.integer("visits", visits, 0, MOST_VISITS)
        if self._rounds.full:
            return False
        left = visits - self.visits
        if left > 0:
            self._rounds.launch(-(-left // self.playouts_per_leaf))
        return left > 0

    def finish(self) -> bool:
        """Adds the oldest round's results to the tree if the device has finished it; whether it had."""
        done = bool(len(self._rounds)) and self._rounds.done
        if done:
            self._rounds.finish()
        return done

    def abandon(self) -> None:
        """Drops the rounds under way, as if they had never been launched; what a full tree forgot for them is gone."""
        self._rounds.abandon()

    def play_by(self, policy: Policies) -> None:
        """Has further playouts ask another policy; what the tree knows stays.

        Args:
          policy: as for `jaxgo.Leaves.play_by`.

        Raises:
          TypeError, ValueError: it is of another form, or the search plays on a device together with others.
        """
        if not isinstance(self._device, Leaves):
            raise ValueError("the policy of a search that plays on a device together with others cannot change")
        self._rounds.abandon()
        self._device.play_by(policy)

    def best(self) -> int:
        """The move to play: the most visited; P passes. `search.root.best_move` says when it passes.

        Raises:
          ValueError: there are no visits yet, or the game is over.
        """
        tree = self.tree
        if not tree.ready:
            raise ValueError("the search has no visits yet: run it first")
        if tree[tree.root]["passes"] >= 2:
            raise ValueError("the game is over: there is no move to play")
        as_it_stands = root.result_as_it_stands(tree, self._rooted.black_to_move, self.komi)
        while True:
            move = root.best_move(tree, as_it_stands=as_it_stands, cleanup=self.cleanup)
            if self.knows(move) or not self._rooted.repeats(move):
                return move
            self._rounds.strike(move)

    def advance(self, move: int) -> None:
        """Plays a move at the root; what the tree knows of the position that results is kept, and `retreat` goes back.

        A move that the tree has not tried begins an empty one, from which nothing leads back; so does any where there are
        restrictions, which are of moves from the root, and in a search one move deep, which knows nothing of what follows.

        Raises:
          TypeError, ValueError: the move is no integer, illegal, or repeats an earlier position of the game.
        """
        self._rounds.abandon()
        move = checks.integer("move", move, 0, self.tree.moves - 1)
        after, history, known = self._rooted.after(move)
        if known and self.restrictions is None and self.depth > 1:
            threads.whole(self._follow, move, after, history)
        else:
            threads.whole(self._plant, after, history, move)

    def _follow(self, move: int, after: Position, history: np.ndarray) -> None:
        """Goes on below a move that the tree knows."""
        self._rooted.follow(move, after, history)
        self._begin()

    def knows(self, move: int) -> bool:
        """Whether the tree has the position that a move at the root leads to: the move has been tried, and where the tree is full
        it has not been forgotten."""
        return self._rooted.knows(checks.integer("move", move, 0, self.tree.moves - 1))

    def positions_of(self, nodes: np.ndarray) -> Position:
        """The positions of some nodes of the tree, int [n], that have had playouts; of numpy arrays.

        Raises:
          TypeError, ValueError: they are no such nodes.
        """
        nodes = checks.integers("nodes", nodes, np.shape(nodes), 0, len(self.tree.memory.nodes) - 1)
        if (self.tree[nodes]["state"] != READY).any():
            raise ValueError("nodes must be of the tree and have had playouts")
        return self._rooted.positions_of(nodes)

    def retreat(self) -> bool:
        """Goes back to the root before the last `advance`, with what the tree knows there; whether it was still held.

        The last few roots are held, with all that lies below them, until the tree needs their room. What has been played since
        counts for them too, but for their RAVE statistics.
        """
        self._rounds.abandon()
        return threads.whole(self._go_back)

    def _go_back(self) -> bool:
        back = self._rooted.go_back()
        if back:
            self._begin()
        return back

    def line_to(self, position: Position, history=None, most: int = 2) -> tuple[int, ...] | None:
        """The shortest line of at most so many moves that the tree holds from its root to a position; None without one.

        Args:
          position: the position.
          history: hashes of its game's earlier positions, those before the root included, as in the constructor.
          most: the most moves.

        Raises:
          TypeError, ValueError: it is not one position of the board's size.
        """
        check_one_position(position, may_be_over=True)
        most = checks.integer("most", most, 0)
        if position.size != self.position.size:
            raise ValueError(f"position must be of size {self.position.size}, not {position.size}")
        return self._rooted.line_to(position, hash_numbers(history), most)

    def variation(self, move: int | None = None, most: int = 20) -> list[int]:
        """The principal variation: the most visited moves from the root, or from `move` on, `most` of them at most.

        Raises:
          ValueError: `move` is no point of the board and no pass, or `most` is negative.
        """
        if move is not None:
            return self.variations([move], most)[0]
        return self.tree.variation(None, checks.integer("most", most, 0))

    def variations(self, moves: Sequence[int] | np.ndarray, most: int = 20) -> list[list[int]]:
        """`variation` from each of some moves on."""
        most = checks.integer("most", most, 0)
        if not len(moves):  # of no type
            return []
        return self.tree.variations(checks.integers("move", moves, (len(moves),), 0, self.tree.moves - 1), most)

    def statistics(self) -> RootStatistics:
        """The root's statistics, without the visits that rounds under way have not brought results for."""
        losses, playouts = self.virtual_losses, self.playouts_per_leaf
        return RootStatistics.of(self.tree, self._rooted.black_to_move, self.komi, losses, playouts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Ends the search's threads; so does the end of a `with`."""
        self._rounds.abandon()
        self._device.close()

    def _plant(self, position: Position, history: np.ndarray, move: int = NONE) -> None:
        """Makes a position the root of an empty tree; `move` led to it, where that is known. Nothing changes where there is no
        memory for it."""
        self._rooted = RootedTree(self._new_tree(), position, history, move)
        self._begin()

    def _begin(self) -> None:
        """Has rounds begin at the root."""
        self._rounds.begin(self.tree, self.position, self.history)

    def _stopping(self, deadline: float | None, stop: Callable[[], bool] | None) -> bool:
        # What the first moves bring is always awaited: without that one move is as good as another.
        asked = stop is not None and stop()
        late = deadline is not None and time.monotonic() >= deadline
        return (late or asked) and self.has_tried
