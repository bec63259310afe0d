"""Which work next: one thread drives all searches, and hands out playouts.

Searches of one board size share a device (`search.shared`): each round of the loop lets every search launch what it may, sends
what they ask for together, and adds the results that have come back. Playouts without a tree are made in batches by other
threads, and so is the ownership that replies of searches carry.

Everything here happens in the scheduler's thread, but for what is marked otherwise.
"""

import collections
import concurrent.futures
import dataclasses
import sys
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np

from jaxgo.board.coordinates import coordinate
from search.analysis import replies
from search.analysis.waiting import Waiting
from search.analysis.work import Batch, Task
from search.ownership import Samples
from search.players import rule_of
from search.search import Search, bytes_per_node, needs_histories
from search.shared import SharedLeaves
from search.tree import ROOT

#: Leaves of a call of the device, and of a round of a search, at most.
LEAVES = 256
#: Searches of more visits have three rounds under way, so that one alone keeps the device busy; others one, which costs less.
LARGE_SEARCH = 20_000
#: Bytes of a tree, at most.
MOST_MEMORY = 1 << 28
#: Positions of a batch, at least and at most if there are so many, and the playouts that make it large enough. Batches should
#: not be larger than needed: while one is played, the replies of another are written.
LEAST_TOGETHER, MOST_TOGETHER, ENOUGH = 64, 256, 100_000
#: Playouts of a slice on 9x9: a fraction of a second. On larger boards fewer.
SLICE = 400_000
#: Batches under way, and slices handed out: two, so that the last games of one and the first of the next run side by side.
BATCHES, SLICES = 4, 2
#: A new batch waits until nothing has come in for so long, but not longer than that, seconds: a client's queries come one by one.
QUIET, PATIENCE = 0.002, 0.02


@dataclasses.dataclass(frozen=True)
class Engine:
    """How positions are analysed."""

    bot: str = "rave"
    """A bot with a tree."""
    playouts_per_leaf: int = 8
    active: int = 64
    """Searches under way at a time."""


class Scheduler:
    """Does tasks and sends their replies to their clients.

    Args:
      engine: how.
    """

    def __init__(self, engine: Engine):
        self.engine, self._rule = engine, rule_of(engine.bot)
        self._devices: dict[int, SharedLeaves] = {}
        self._making = threading.Lock()
        self._posted: collections.deque[Callable[[], None]] = collections.deque()
        self._wake, self._last_post, self._patience_ends = threading.Event(), 0.0, 0.0
        self._trees, self._playouts = Waiting(), Waiting()
        self._active: list[Task] = []
        self._winding_up: list[Task] = []
        self._batches: collections.deque[Batch] = collections.deque()
        self._slices_out = 0
        self._others = concurrent.futures.ThreadPoolExecutor(SLICES, "playouts")
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    # For any thread.

    def prepare(self, size: int) -> None:
        """Makes the device for a board size, and compiles what it needs; returns at once where that is done."""
        if size in self._devices:
            return
        with self._making:
            if size not in self._devices:
                device = SharedLeaves(
                    size, LEAVES, self.engine.playouts_per_leaf, moves=needs_histories(self._rule), on_done=self._wake.set
                )  # fmt: skip
                device.compile()
                self._devices = {**self._devices, size: device}

    def submit(self, tasks: list[Task]) -> None:
        """Takes tasks on."""

        def add():
            if not self._playouts:
                self._patience_ends = time.monotonic() + PATIENCE
            for task in tasks:
                (self._trees if task.with_tree else self._playouts).push(task)

        self._post(add)

    def terminate(self, client, name: str | None = None, turns=None, then: Callable[[], None] = lambda: None) -> None:
        """Gives up a client's tasks: all of them, those of one query, or some turns of it. Then calls a function."""

        def chosen(task: Task) -> bool:
            return task.client is client and name in (None, task.query.id) and (turns is None or task.turn in turns)

        def end():
            self._give_up(chosen)
            then()

        self._post(end)

    def end(self, seconds: float = 5.0) -> None:
        """Gives up everything and ends the thread."""

        def end():
            self._give_up(lambda task: True)
            self._ending = True

        self._post(end)
        self._thread.join(seconds)
        self._others.shutdown(wait=False, cancel_futures=True)
        for device in self._devices.values():
            device.close()

    def _post(self, action: Callable[[], None]) -> None:
        self._posted.append(action)
        self._last_post = time.monotonic()
        self._wake.set()

    # The thread.

    def _run(self) -> None:
        while not self._ending:
            self._wake.clear()
            while self._posted:
                self._posted.popleft()()
            worked = self._go_on_with_trees()
            pause = self._go_on_with_playouts()
            if not (worked or self._posted or self._ending):
                self._wake.wait(pause)

    def _give_up(self, chosen: Callable[[Task], bool]) -> None:
        """Ends all tasks that are chosen without results."""
        ended = self._trees.take(chosen) + self._playouts.take(chosen)
        for task in filter(chosen, self._active):
            task.search.abandon()
            ended.append(task)
        self._active = [task for task in self._active if not chosen(task)]
        ended += filter(chosen, self._winding_up)
        ended += [task for batch in self._batches for task in batch.tasks if chosen(task) and not task.finished]
        for task in ended:
            self._finish(task, replies.no_results(task))

    def _finish(self, task: Task, reply: dict) -> None:
        """Sends a task's last reply, once."""
        if task.finished:
            return
        task.finished = True
        if task.winding_up:
            self._winding_up.remove(task)
        if task.search is not None:
            task.search.close()
            task.search = None
        task.client.finish(task, reply)

    def _fail(self, task: Task, error: Exception) -> None:
        """Sends what went wrong: a fault of the program, which must not end it."""
        traceback.print_exception(error, file=sys.stderr)
        text = f"Internal error: {type(error).__name__}: {error}"
        self._finish(task, replies.error(text, name=task.query.id) | {"turnNumber": task.turn})

    # Searches.

    def _go_on_with_trees(self) -> bool:
        """Lets every search go one step further; whether any did."""
        worked = False
        while self._trees:
            # Beyond the limit only for those who have nothing under way: nobody waits for all that another has asked for.
            full = len(self._active) >= self.engine.active
            task = self._trees.pop({task.client for task in self._active} if full else ())
            if task is None:
                break
            try:
                task.search = self._search(task)
            except Exception as error:
                self._fail(task, error)
                continue
            task.begin()
            self._active.append(task)
        for task in self._active:
            if not (task.late() and task.search.tree.ready[ROOT]):  # without the root's first playouts there is no answer
                self._attempt(task, self._launch)
        for device in self._devices.values():
            device.flush()
        for task in self._active:
            if not task.finished:
                worked |= bool(self._attempt(task, self._collect))
        self._active = [task for task in self._active if not (task.finished or task.winding_up)]
        return worked

    def _attempt(self, task: Task, step: Callable[[Task], bool]) -> bool:
        try:
            return step(task)
        except Exception as error:
            task.search.abandon()
            self._fail(task, error)
            return True

    def _search(self, task: Task) -> Search:
        playouts, size = self.engine.playouts_per_leaf, task.query.size
        memory = bytes_per_node(size, self._rule) * (2 * LEAVES + task.visits // playouts)
        return Search(
            task.position, rule=self._rule, komi=task.komi, leaves=LEAVES, playouts_per_leaf=playouts, seed=task.seed,
            history=task.history, memory=min(memory, MOST_MEMORY), depth=1 if self.engine.bot == "ucb" else None,
            in_flight=3 if task.visits > LARGE_SEARCH else 1, device=self._devices[size], restrictions=task.query.restrictions,
        )  # fmt: skip

    def _launch(self, task: Task) -> None:
        while task.search.launch(task.visits):
            pass

    def _collect(self, task: Task) -> bool:
        """Adds a round's results to a search's tree; sends a report, or ends it, where that is due."""
        search = task.search
        worked = search.finish()
        done = not search.under_way and search.visits >= task.visits
        if task.late() and search.tree.ready[ROOT]:
            search.abandon()
            done = True
        if done:
            self._wind_up(task)
        elif worked and task.report_is_due() and task.client.has_room:
            self._with_ownership(task, replies.of_search(task, during=True), task.client.send)
        return worked or done

    def _wind_up(self, task: Task) -> None:
        """The search has ended: sends the last reply, as soon as the ownership is there."""
        self._winding_up.append(task)
        task.winding_up = True
        self._with_ownership(task, replies.of_search(task, during=False), lambda reply: self._finish(task, reply))

    def _with_ownership(self, task: Task, reply: dict, send: Callable[[dict], None]) -> None:
        """Sends a reply with the ownership that the query wants."""
        query, size = task.query, task.query.size
        numbers = {coordinate(point, size): point for point in range(size * size + 1)}
        samples = {}
        if query.ownership:
            samples["root"] = Samples.of(task.search)
        if query.moves_ownership and reply["moveInfos"]:
            samples["of_moves"] = Samples.of(task.search, [numbers[info["move"]] for info in reply["moveInfos"]])
        if not samples:
            send(reply)
            return

        def play() -> dict[str, np.ndarray | None]:
            return {name: None if task.finished else part.ownership() for name, part in samples.items()}

        def add(found: dict) -> None:
            if not task.finished:
                root, of_moves = found.get("root"), found.get("of_moves")
                send(replies.with_ownership(reply, task, None if root is None else root[0], of_moves))

        self._elsewhere(play, add, [task])

    # Playouts without a tree.

    def _go_on_with_playouts(self) -> float | None:
        """Hands out playouts, as many as may be; how long the thread may sleep, seconds."""
        pause = None
        self._batches = collections.deque(batch for batch in self._batches if batch.wanted)
        while self._playouts:
            pause = min(self._last_post + QUIET, self._patience_ends) - time.monotonic()
            if pause > 0:
                break
            pause, self._patience_ends = None, 0.0
            full = len(self._batches) >= BATCHES
            first = self._playouts.pop({task.client for batch in self._batches for task in batch.tasks} if full else ())
            if first is None:
                break
            self._batches.appendleft(self._batch(first))
        for _ in range(len(self._batches)):
            batch = self._batches[0]
            self._batches.rotate(-1)
            if self._slices_out < SLICES and not batch.all_issued:
                self._hand_out(batch)
        return pause

    def _batch(self, first: Task) -> Batch:
        """A batch of a task and all that can go with it."""
        most = max(LEAST_TOGETHER, min(MOST_TOGETHER, -(-ENOUGH // first.visits)))
        others = self._playouts.take(lambda task: Batch.key(task) == Batch.key(first), most - 1)
        batch = Batch([first, *others])
        for task in batch.tasks:
            task.begin()
        return batch

    def _hand_out(self, batch: Batch) -> None:
        size = batch.tasks[0].query.size
        play = batch.slice(int(SLICE * min(1.0, 81 / size**2) ** 2))
        self._slices_out += 1

        def add(found) -> None:
            self._slices_out -= 1
            batch.add(found)
            if batch.complete:
                self._batches.remove(batch)
                self._go_on_with_playouts()  # first of all, so that the device works while replies are written
            for index, task in enumerate(batch.tasks):
                if task.finished:
                    continue
                if batch.complete or task.late():
                    self._finish(task, replies.of_playouts(task, batch.result(index), during=False))
                elif task.report_is_due() and task.client.has_room:
                    task.client.send(replies.of_playouts(task, batch.result(index), during=True))

        def drop() -> None:
            self._slices_out -= 1
            if batch in self._batches:
                self._batches.remove(batch)

        self._elsewhere(play, add, batch.tasks, drop)

    def _elsewhere(self, play: Callable, add: Callable, tasks: list[Task], drop: Callable[[], None] = lambda: None) -> None:
        """Runs a function in another thread, and what is to be done with its result in this one."""

        def done(future: concurrent.futures.Future) -> None:
            if not future.cancelled():
                self._post(lambda: take(future))

        def take(future: concurrent.futures.Future) -> None:
            error = future.exception()
            if error is None:
                try:
                    add(future.result())
                    return
                except Exception as problem:
                    error = problem
            else:
                drop()
            for task in tasks:
                self._fail(task, error)

        self._others.submit(play).add_done_callback(done)
