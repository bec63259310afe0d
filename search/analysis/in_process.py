"""What another process does for `search.analysis.processes`: a scheduler that gets tasks and sends replies by a pipe."""

import concurrent.futures
import os
import pickle
import threading
import weakref
from typing import BinaryIO

from jaxgo.backends import programs
from search.analysis import complaints, replies
from search.analysis.messages import Drop, GoesOn, Key, Prepare, Prepared, Room, Said, Stop, Take, Told
from search.analysis.options import PROGRAMS, ServiceOptions
from search.analysis.scheduler import Scheduler
from search.analysis.streams import own_stdout
from search.analysis.work import Task
from search.findings import Wanted


class _Asker:
    """A client, as the scheduler here knows him."""

    def __init__(self, work: "_Work"):
        self._work, self.has_room = work, True

    def report(self, task: Task, reply: dict) -> None:
        """Has a report sent, unless the task has had its last reply."""
        if not task.finished:
            self._work.say(Said(task.number, replies.encoded(reply), last=False))

    def finish(self, task: Task, reply: dict) -> None:
        """Has a task's last reply sent, once."""
        self._work.finish(task, reply)


class _Work:
    """What there is to do, and who asks for it.

    Args:
      output: to the first process.
      options: how positions are analysed.
    """

    def __init__(self, output: BinaryIO, options: ServiceOptions):
        self._output, self._lock = output, threading.Lock()
        self._scheduler = Scheduler(options, on_failure=_leave, goes_on=lambda: self.say(GoesOn()))
        self._tasks: dict[int, Task] = {}
        self._askers: weakref.WeakValueDictionary[int, _Asker] = weakref.WeakValueDictionary()
        self._preparing, self._beginning = (concurrent.futures.ThreadPoolExecutor(1, name) for name in ("prepares", "begins"))
        """What is prepared already is begun while something else is compiled."""

    def do(self, message: Told) -> None:
        """Does what a message says."""
        match message:
            case Prepare(key):
                self._preparing.submit(self._prepare, key)
            case Take():
                self._take(message)
            case Stop(numbers):
                for task in self._known(numbers):
                    if task.waits:
                        self.finish(task, replies.no_results(task))
                    task.stopped = True
            case Drop(numbers):
                for task in self._known(numbers):
                    self._forget(task)
            case Room(number, has_room):
                if (asker := self._askers.get(number)) is not None:
                    asker.has_room = has_room
        self._scheduler.wake()

    def say(self, message: Prepared | GoesOn | Said) -> None:
        """Tells the first process something."""
        with self._lock:
            try:
                pickle.dump(message, self._output)
                self._output.flush()
            except OSError:  # it has ended
                _leave()

    def finish(self, task: Task, reply: dict) -> None:
        """Sends a task's last reply, once; the first process does again what a scheduler that has failed could not."""
        line = replies.encoded(reply)
        if not self._scheduler.failed and self._forget(task):
            self.say(Said(task.number, line, last=True))

    def _known(self, numbers: list[int]) -> list[Task]:
        found = map(self._tasks.get, numbers)
        return [task for task in found if task is not None]

    def _take(self, told: Take) -> None:
        asker = self._askers.get(told.client)
        if asker is None:
            asker = self._askers[told.client] = _Asker(self)
        asker.has_room = told.has_room
        task = told.task
        task.client = asker
        self._tasks[task.number] = task
        self._scheduler.devices.need(task.query.size)
        self._beginning.submit(self._begin, task)

    def _forget(self, task: Task) -> bool:
        """Nothing more is done for a task; whether that is new."""
        known = self._tasks.pop(task.number, None) is not None
        task.finished = True
        if known:
            self._scheduler.devices.release(task.query.size)
        return known

    # In the threads that compile.

    def _prepare(self, key: Key) -> None:
        try:
            with self._scheduler.prepared(key.size, Wanted(ownership=key.ownership), with_tree=True):
                self.say(Prepared(key))
        except Exception as error:  # then the first process does all of them
            complaints.tell(error)

    def _begin(self, task: Task) -> None:
        try:
            with self._scheduler.prepared(task.query.size, task.query.wanted, with_tree=True):
                self._scheduler.submit([task])
        except BaseException as error:
            complaints.tell(error)
            _leave()


def main() -> None:
    """Does what the first process asks for, at stdin and stdout, until that has ended."""
    programs.keep(PROGRAMS)
    with open(0, "rb") as asked, open(own_stdout(), "wb") as output:
        try:
            here = _Work(output, pickle.load(asked))
            while True:
                here.do(pickle.load(asked))
        except (EOFError, OSError, pickle.UnpicklingError):  # its end may come within a message
            _leave()


def _leave() -> None:
    """Ends at once, whatever is being compiled."""
    os._exit(0)


if __name__ == "__main__":
    main()
