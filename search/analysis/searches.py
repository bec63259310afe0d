"""The searches under way: they share a device, and the scheduler's thread goes on with one at a time."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from search.analysis import replies
from search.analysis.devices import LEAVES, Devices
from search.analysis.games import Games
from search.analysis.jobs import Job, Jobs, in_parts
from search.analysis.memory import Trees
from search.analysis.options import LARGE_SEARCH, ServiceOptions
from search.analysis.waiting import Waiting
from search.analysis.work import Task
from search.findings import Findings
from search.players import search_options
from search.search import Search
from search.tree_needs import memory_for

#: The share of a small search's playouts that may be under way: as many searches go on at a time, what counts is the host's time.
SHARE = 0.2


class Searches:
    """Tasks that are searched.

    Args:
      options: how.
      games: finds positions.
      devices: what they share; whoever submits tasks has seen to it that theirs are there.
      jobs: does what takes long, elsewhere.
      fail: told of a task that something went wrong with.
    """

    def __init__(
        self, options: ServiceOptions, games: Games, devices: Devices, jobs: Jobs, fail: Callable[[Task, BaseException], None]
    ):  # fmt: skip
        self._options, self._games, self._devices, self._jobs, self._fail = options, games, devices, jobs, fail
        self._bot = search_options(options.bot, options.knowledge)
        self.memory = Trees(options.memory, options.processes)
        self.waiting = Waiting()
        self.active: list[Task] = []
        self._told: list[Task] = []
        """Those of whose progress there are reports."""
        self._steps = itertools.count(1)

    @property
    def clients(self) -> list:
        """Who has searches under way."""
        return list(dict.fromkeys(task.client for task in self.active))

    def begin(self, most: int, elsewhere: Iterable = ()) -> None:
        """Begins as many searches as may be, of clients in turn.

        Args:
          most: under way at a time.
          elsewhere: clients who have some under way in other processes.
        """
        busy = {*self.clients, *elsewhere}
        while (task := self._next(busy, most)) is not None:
            self.waiting.take_first(task)
            client = task.client
            task.memory = self._share(task)
            self.memory.take(task.memory)
            self.active.append(task)
            busy.add(client)
            prepare, start = functools.partial(task.prepare, self._games), functools.partial(self._start, task)
            self._jobs.put(client, Job(prepare, start, functools.partial(self._fail, task), priority=task.priority))

    def _next(self, busy: set, most: int) -> Task | None:
        """The task that may begin, None if none may.

        Beyond the limit only of those who have nothing under way: nobody waits for all that another has asked for. What one does
        not read is not worked for.
        """
        full = len(self.active) >= most
        for client in self.waiting.clients():
            first, task = client not in busy, self.waiting.first(client)
            if task is None or not client.has_room:
                continue
            if (first or not full) and self.memory.has_room(self._share(task), first):
                return task
        return None

    def _share(self, task: Task) -> int:
        """Bytes that a task's tree gets."""
        nodes = 2 * LEAVES + task.playouts // self._options.playouts_per_leaf
        return self.memory.share(memory_for(task.query.size, self._bot["rule"], nodes))

    def _start(self, task: Task, _: object) -> None:
        """Makes the search of a task whose position is known."""
        if task.finished:
            return
        assert task.position is not None
        options, size = self._options, task.query.size
        rounds: dict[str, Any] = {} if task.playouts > LARGE_SEARCH else {"in_flight": 1, "share": SHARE}
        task.search = Search(
            task.position, **self._bot, komi=task.komi, leaves=LEAVES, playouts_per_leaf=options.playouts_per_leaf,
            seed=task.seed, history=task.history, memory=task.memory, **rounds,
            device=self._devices[size].seat(task.client, task.priority), restrictions=task.query.restrictions,
            policy=options.policy,
        )  # fmt: skip
        task.begin()
        if task.next_report is not None:
            self._told.append(task)

    def steps(self, client) -> Iterator[bool]:
        """Goes one step further with each search of a client that can, the most urgent first; yields True after each."""
        mine = ((task, task.search) for task in self.active if task.client is client and not task.winding_up)
        ready = [task for task, search in mine if search is not None and (not search.waits or task.late() or task.finished)]
        for task in sorted(ready, key=lambda task: (-task.priority, task.last_step)):
            try:
                if task.finished or not self._step(task):
                    continue
            except Exception as error:
                self._fail(task, error)
            task.last_step = next(self._steps)
            yield True

    def _step(self, task: Task) -> bool:
        """Adds a round's results and launches what may be; ends the search where that is due. Whether there was work."""
        search = task.search
        assert search is not None
        worked = search.finish()
        late = task.late() and search.has_tried  # before there is no answer
        if late:
            search.abandon()
        if late or not search.under_way and search.visits >= task.playouts:
            task.winding_up = True
            self._tell(task, task.client.finish, during=False)
            return True
        while search.launch(task.playouts):
            worked = True
        return bool(worked)

    def report(self, client) -> bool:
        """Makes a report that a client wants now; whether there was one to make."""
        mine = ((task, task.next_report) for task in self._told if task.client is client and task.report_is_due())
        due = {task: when for task, when in mine if when is not None and self._may_report(task)}
        for task in sorted(due, key=due.__getitem__)[:1]:
            task.set_next_report()
            task.reporting = True
            try:
                self._tell(task, self._report, during=True)
            except Exception as error:
                self._fail(task, error)
            return True
        return False

    def _may_report(self, task: Task) -> bool:
        return not task.finished and not task.winding_up and task.client.has_room and self._has_tried(task)

    def _report(self, task: Task, reply: dict) -> None:
        task.reporting = False
        task.client.report(task, reply)

    def alarm(self) -> float | None:
        """When there will be something to do for a search though the device has finished nothing; None for never."""
        # Where a deadline has passed before there are results to tell, the first ones wake the thread.
        times = [task.deadline for task in self.active if not task.winding_up and (self._has_tried(task) or not task.late())]
        times += [task.next_report for task in self._told if not task.reporting and self._may_report(task)]
        return min((time for time in times if time is not None), default=None)

    def _has_tried(self, task: Task) -> bool:
        return task.search is not None and task.search.has_tried

    def sweep(self) -> None:
        """Clears away the searches of tasks that have had their last reply."""
        ended = {task for task in self.active if task.finished}  # looked at once: any thread may finish a task at any moment
        if ended:
            self.active, self._told = ([task for task in tasks if task not in ended] for tasks in (self.active, self._told))
        for task in ended:
            self.memory.give_back(task.memory)
            if task.search is not None:
                search, task.search = task.search, None
                search.close()
        self._devices.drop_idle({task.query.size for task in self.active})

    def _tell(self, task: Task, send: Callable[[Task, dict], None], during: bool) -> None:
        """Sends what has been found until now, once the ownership that is wanted has been played out; of a report only as long as
        the last reply is not to come at once."""
        assert task.search is not None
        found = Findings.of(task.search, task.query.wanted)

        def unwanted() -> bool:
            return task.finished or during and (task.stopped or task.winding_up)

        def tell(found: Findings | None) -> None:
            if found is not None and not task.finished:
                send(task, replies.of_findings(task, found, during))
            elif during:
                task.reporting = False

        if found.waits:
            play = in_parts(found.in_parts(self._options.threads), stop=unwanted)
            self._jobs.put(task.client, Job(play, tell, lambda error: self._fail(task, error), priority=task.priority))
        else:
            tell(found)
