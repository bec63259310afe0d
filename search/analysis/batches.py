"""Playouts without a tree: positions are played out in batches, a slice of the playouts at a time."""

import collections
import time
from collections.abc import Callable

from search.analysis import replies
from search.analysis.compiling import Compiling
from search.analysis.games import Games
from search.analysis.jobs import Job
from search.analysis.options import ServiceOptions
from search.analysis.waiting import Waiting
from search.analysis.work import Batch, Task
from search.findings import Findings

#: Positions of a batch, at least and at most if there are so many, and the playouts that make it large enough. Batches should
#: not be larger than needed: while one is played, the replies of another are written.
LEAST_TOGETHER, MOST_TOGETHER, ENOUGH = 64, 256, 100_000
#: So many positions make it worthwhile to compile a program for them; fewer are played one by one where there is none.
MANY = 16
#: Playouts of a slice on 9x9, a fraction of a second, and where clients wait for each other. On larger boards fewer.
SLICE, SHORT_SLICE = 400_000, 40_000
#: Playouts on 9x9 that take about as long as a call of the device takes at least.
CALL = 4_000
#: Batches under way.
BATCHES = 4
#: A new batch waits until nothing has come in for so long, but not longer than that, seconds: a client's queries come one by one.
QUIET, PATIENCE = 0.002, 0.02


class Batches:
    """Tasks that are played out.

    Args:
      games: finds positions.
      compiling: has the programs.
      fail: told of a task that something went wrong with.
      options: how positions are played out.
    """

    def __init__(self, games: Games, compiling: Compiling, fail: Callable[[Task, BaseException], None], options: ServiceOptions):
        self._games, self._compiling, self._fail, self._options = games, compiling, fail, options
        self.waiting = Waiting(Batch.key)
        self._active: list[Batch] = []
        """The one whose turn it is comes first."""
        self._results: dict[object, collections.deque[tuple[Task, Batch, int]]] = {}
        """Replies that are still to be written, by client."""
        self._last_came = self._patience_ends = 0.0

    def push(self, task: Task) -> None:
        """Takes a task on."""
        self._last_came = time.monotonic()
        if not self.waiting:
            self._patience_ends = self._last_came + PATIENCE
        self.waiting.push(task)

    @property
    def clients(self) -> list:
        """Who has replies waiting to be written, or may want reports."""
        reports = (task.client for batch in self._active if batch.reports for task in batch.tasks)
        return list(dict.fromkeys([*self._results, *reports]))

    @property
    def owners(self) -> list:
        """Whose batches have playouts left to be handed out."""
        clients = [batch.client for batch in self._active if not batch.all_issued]
        return [client for client in clients if client is not None]

    @property
    def tasks(self) -> list[Task]:
        """All that are under way."""
        return [task for batch in self._active for task in batch.tasks] + [
            task for some in self._results.values() for task, _, _ in some
        ]

    def begin(self) -> float | None:
        """Makes as many batches as may be; how long those that wait may still wait for others to come, seconds."""
        self._active = [batch for batch in self._active if batch.wanted]
        while (first := self._next()) is not None:
            pause = min(self._last_came + QUIET, self._patience_ends) - time.monotonic()
            if pause > 0:
                return pause
            self._patience_ends = 0.0
            number, parts = self._together(first)
            self.waiting.take_first(first)
            batch = Batch([first, *self.waiting.take(Batch.key(first), number - 1)], self._games, self._options, parts)
            for task in batch.tasks:
                task.begin()
            self._active.insert(0, batch)
        return None

    def _next(self) -> Task | None:
        """The task whose batch may begin, None if none may; when there are many, only of those who are in none."""
        full = len(self._active) >= BATCHES
        busy = {task.client for batch in self._active for task in batch.tasks} if full else ()
        clients = (client for client in self.waiting.clients() if client.has_room and client not in busy)
        return next(filter(None, map(self.waiting.first, clients)), None)

    def _together(self, first: Task) -> tuple[int, int | None]:
        """(how many tasks go together, the first of them counted; the slices that a batch of several is played in).

        As many as there are, where there is a program for so many; else the one alone.
        """
        most = max(LEAST_TOGETHER, min(MOST_TOGETHER, -(-ENOUGH // first.playouts)))
        number = self.waiting.number(Batch.key(first), most)
        if number > 1:
            parts = -(-first.playouts * number // _budget(SHORT_SLICE, first.query.size))
            counts = {first.playouts // parts, -(-first.playouts // parts)}
            client = first.client if number >= MANY else None
            if self._compiling.ready(first.query.size, number, counts, client):
                return number, parts
        return 1, None

    def slice_of(self, client) -> Job | None:
        """The next playouts of a client's batches in turn; None where all are handed out."""
        batch = next((batch for batch in self._active if batch.client is client and not batch.all_issued), None)
        if batch is None:
            return None
        self._active.remove(batch)
        self._active.append(batch)
        count = self._count(batch, client)
        cost = 1 + count * len(batch.tasks) / _budget(CALL, batch.tasks[0].query.size)
        play, add = batch.slice(count), lambda found: self._add(batch, found)
        return Job(play, add, lambda error: self._drop(batch, error), cost)

    def _count(self, batch: Batch, client) -> int:
        """Playouts of each position in the batch's next slice."""
        if batch.parts is not None:
            return batch.part
        size, left = batch.tasks[0].query.size, batch.left
        count = min(left, _budget(SLICE if len(set(self.owners)) == 1 else SHORT_SLICE, size))
        if self._compiling.ready(size, 1, [count], client if left >= ENOUGH else None):
            return count
        return min(count, self._compiling.quick(size))

    def _add(self, batch: Batch, found) -> None:
        batch.add(found)
        if batch.complete and batch in self._active:
            self._active.remove(batch)
        for index, task in enumerate(batch.tasks):
            if not task.finished and (batch.complete or task.late()):
                self._results.setdefault(task.client, collections.deque()).append((task, batch, index))

    def _drop(self, batch: Batch, error: BaseException) -> None:
        if batch in self._active:
            self._active.remove(batch)
        for task in batch.tasks:
            self._fail(task, error)

    def reply(self, client) -> bool:
        """Writes a reply to a client; whether there was one to write."""
        waiting = self._results.get(client)
        if not waiting:
            return False
        task, batch, index = waiting.popleft()
        if not waiting:
            del self._results[client]
        if not task.finished:
            try:
                client.finish(task, self._told(task, batch, index, during=False))
            except Exception as error:
                self._fail(task, error)
        return True

    def report(self, client) -> bool:
        """Makes a report that a client wants now; whether there was one to make."""
        due = [entry for entry in self._reporting() if entry[0].client is client and entry[0].report_is_due()]
        for task, batch, index in sorted(due, key=lambda entry: entry[0].next_report)[:1]:
            task.set_next_report()
            try:
                client.report(task, self._told(task, batch, index, during=True))
            except Exception as error:
                self._fail(task, error)
            return True
        return False

    def _told(self, task: Task, batch: Batch, index: int, during: bool) -> dict:
        """The reply of a task with what its batch has found until now."""
        found = Findings.of_playouts(batch.result(index), task.to_play, task.komi, task.query.wanted, task.legal)
        return replies.of_findings(task, found, during)

    def alarm(self) -> float | None:
        """When a report will be due, None for never."""
        return min((task.next_report for task, _, _ in self._reporting()), default=None)

    def _reporting(self) -> list[tuple[Task, Batch, int]]:
        """Tasks that get reports, and where they are."""
        batches = [batch for batch in self._active if batch.reports and batch.begun]
        return [
            (task, batch, index) for batch in batches for index, task in enumerate(batch.tasks)
            if task.next_report is not None and not task.finished and task.client.has_room
        ]  # fmt: skip


def _budget(playouts: int, size: int) -> int:
    """Playouts on a board size that take about as long as so many on 9x9."""
    return max(1, int(playouts * min(1.0, 81 / size**2) ** 2))
