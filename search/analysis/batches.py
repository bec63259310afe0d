"""Playouts without a tree: positions are played out together, a slice of their playouts at a time.

A slice is one call of the device: of as many positions as fit, whoever asks for them, with whatever komi and number of playouts
(`jaxgo.running.pieces`). So few programs serve all queries, and all of the machine plays for one query or for many.
"""

import collections
import threading
import time
from collections.abc import Callable

import numpy as np

import jaxgo
from jaxgo import Evaluation
from jaxgo.running.pieces import PIECE
from search.analysis import replies
from search.analysis.games import Games
from search.analysis.jobs import Job
from search.analysis.options import ServiceOptions
from search.analysis.playout_programs import PlayoutPrograms
from search.analysis.waiting import Waiting
from search.analysis.work import Task
from search.findings import Findings
from search.replay import together

#: Playouts of a slice on 9x9, at most: a fraction of a second, and where clients wait for each other. On larger boards fewer.
SLICE, SHORT_SLICE = 400_000, 60_000
#: A task of so many playouts is worth slices of the largest programs. In others' replies are sooner there, and those of one are
#: written while another is played.
LONG = 100_000
#: Playouts on 9x9 that take about as long as a call of the device takes at least.
CALL = 4_000
#: Pieces of a task in a slice, at least, where others want some of it too: so queries of usual numbers are answered one after the
#: other, and those without end keep none of them waiting.
SHARE = 16
#: Tasks have begun that fill so many short slices, if there are as many; their time runs.
BEGUN = 6
#: New tasks wait until nothing has come in for so long, but not longer than that, seconds: a client's queries come one by one.
QUIET, PATIENCE = 0.002, 0.02


class Slice:
    """Playouts of several tasks, all of one board size and seed.

    All positions have stream 0, so that what one gets does not depend on which others are in the slice.

    Args:
      games: finds their positions.
      options: how they are played out.
      preparing: held while positions are found.
    """

    def __init__(self, games: Games, options: ServiceOptions, preparing: threading.Lock):
        self._games, self._options, self._preparing = games, options, preparing
        self.tasks: list[Task] = []
        self._first: list[int] = []
        self._count: list[int] = []

    @property
    def playouts(self) -> int:
        """In all."""
        return sum(self._count)

    def take(self, task: Task, most: int) -> int:
        """Takes the task's next playouts, at most so many; how many that are."""
        count = min(most, task.left)
        self.tasks.append(task)
        self._first.append(task.issued)
        self._count.append(count)
        task.issued += count
        return count

    def play(self) -> Evaluation:
        """Plays them; for any thread."""
        positions = []
        with self._preparing:
            for task in self.tasks:
                if task.position is None:
                    task.prepare(self._games)
                assert task.position is not None
                positions.append(task.position)
        return jaxgo.evaluate(
            together(positions), np.array(self._count), komi=[task.komi for task in self.tasks],
            seed=self.tasks[0].seed, first_playout=np.array(self._first), streams=0, policy=self._options.policy,
            devices=self._options.threads,
        )  # fmt: skip


class Batches:
    """Tasks that are played out.

    Args:
      games: finds positions.
      programs: what plays them.
      fail: told of a task that something went wrong with.
      options: how positions are played out.
    """

    def __init__(
        self, games: Games, programs: PlayoutPrograms, fail: Callable[[Task, BaseException], None], options: ServiceOptions
    ):
        self._games, self._programs, self._fail, self._options = games, programs, fail, options
        self.waiting = Waiting()
        self._active: list[Task] = []
        """Those that have begun, and have no result yet; the one whose turn it is comes first."""
        self._results: dict[object, collections.deque[Task]] = {}
        """Those whose replies are still to be written, by client."""
        self._preparing = threading.Lock()
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
        return list(dict.fromkeys([*self._results, *(task.client for task in self._active if task.query.reports)]))

    @property
    def owners(self) -> list:
        """Who has playouts left to be handed out."""
        return list(dict.fromkeys(task.client for task in self._going_on()))

    @property
    def tasks(self) -> list[Task]:
        """All that are under way."""
        return self._active + [task for some in self._results.values() for task in some]

    def begin(self) -> float | None:
        """Begins as many tasks as may be; how long those that wait may still wait for others to come, seconds."""
        self._end([task for task in self._active if task.made == task.issued > 0 and task.late()])
        self._active = [task for task in self._active if not task.finished]
        filled = sum(_short_slices(task) for task in self._active if task.client.has_room)  # others' are not played
        while (task := self._next(full=filled >= BEGUN)) is not None:
            pause = min(self._last_came + QUIET, self._patience_ends) - time.monotonic()
            if pause > 0:
                return pause
            self._patience_ends = 0.0
            self.waiting.take_first(task)
            task.begin()
            self._active.append(task)
            filled += _short_slices(task)
        return None

    def _next(self, full: bool) -> Task | None:
        """The task that may begin, None if none may; where there are as many as may be, only of those who have none."""
        busy = {task.client for task in self._active} if full else ()
        clients = (client for client in self.waiting.clients() if client.has_room and client not in busy)
        return next(filter(None, map(self.waiting.first, clients)), None)

    def _going_on(self) -> list[Task]:
        """Tasks with playouts left that are still wanted: what is late gets no more than its first ones, and nothing is played
        for who does not read what he has been told."""
        left = (task for task in self._active if task.left and not task.finished and task.client.has_room)
        return [task for task in left if not (task.issued and task.late())]

    def slice_of(self, client) -> Job | None:
        """The next playouts of a client's tasks, and of others' as far as there is room; None where all are handed out."""
        left = self._going_on()
        # Who is not to wait any longer has nothing else to be told.
        mine = sorted((task for task in left if task.client is client), key=lambda task: (not task.late(), -task.priority))
        if not mine:
            return None
        first = mine[0]
        alike = [task for task in mine + [task for task in left if task.client is not client] if task.key == first.key]
        alone, size = len(self.owners) == 1, first.query.size
        room = self._programs.pieces(size, client if alone and first.left >= LONG else None)
        room = min(room, max(1, _budget(SLICE if alone else SHORT_SLICE, size) // PIECE))
        part, share = Slice(self._games, self._options, self._preparing), max(SHARE, room // len(alike))
        for task in alike:
            if room > 0:
                room -= -(-part.take(task, min(share, room) * PIECE) // PIECE)
        taken = set(part.tasks)
        self._active = [task for task in self._active if task not in taken] + part.tasks
        cost = 1 + part.playouts / _budget(CALL, size)
        return Job(part.play, lambda found: self._add(part, found), lambda error: self._drop(part, error), cost)

    def _add(self, part: Slice, found: Evaluation) -> None:
        for index, task in enumerate(part.tasks):
            mine = found[index]
            task.found = mine if task.found is None else task.found.plus(mine)
        self._end([task for task in part.tasks if not task.finished and (task.made == task.playouts or task.late())])

    def _end(self, tasks: list[Task]) -> None:
        """These have been played out as far as they will be."""
        if not tasks:
            return
        ended = set(tasks).intersection(self._active)
        self._active = [task for task in self._active if task not in ended]
        for task in tasks:
            if task in ended:
                self._results.setdefault(task.client, collections.deque()).append(task)

    def _drop(self, part: Slice, error: BaseException) -> None:
        for task in part.tasks:
            if task in self._active:
                self._active.remove(task)
            self._fail(task, error)

    def reply(self, client) -> bool:
        """Writes a reply to a client who reads what he is sent; whether there was one to write."""
        waiting = self._results.get(client)
        if not waiting or not client.has_room:
            return False
        task = waiting.popleft()
        if not waiting:
            del self._results[client]
        if not task.finished:
            try:
                client.finish(task, self._told(task, during=False))
            except Exception as error:
                self._fail(task, error)
        return True

    def report(self, client) -> bool:
        """Makes a report that a client wants now; whether there was one to make."""
        due = {task: when for task, when in self._reporting().items() if task.client is client and task.report_is_due()}
        for task in sorted(due, key=due.__getitem__)[:1]:
            task.set_next_report()
            try:
                client.report(task, self._told(task, during=True))
            except Exception as error:
                self._fail(task, error)
            return True
        return False

    def _told(self, task: Task, during: bool) -> dict:
        """The reply of a task with what has been found until now."""
        assert task.found is not None
        found = Findings.of_playouts(task.found, task.to_play, task.komi, task.query.wanted, task.legal)
        return replies.of_findings(task, found, during)

    def alarm(self) -> float | None:
        """When a report will be due, None for never."""
        return min(self._reporting().values(), default=None)

    def _reporting(self) -> dict[Task, float]:
        """Tasks that get reports, and when the next ones are due."""
        return {
            task: task.next_report for task in self._active
            if task.next_report is not None and task.found is not None and not task.finished and task.client.has_room
        }  # fmt: skip


def _short_slices(task: Task) -> float:
    """How much of a short slice a task fills, of which it takes whole pieces."""
    return min(1.0, max(task.left, PIECE) / _budget(SHORT_SLICE, task.query.size))


def _budget(playouts: int, size: int) -> int:
    """Playouts on a board size that take about as long as so many on 9x9."""
    return max(1, int(playouts * min(1.0, 81 / size**2) ** 1.75))
