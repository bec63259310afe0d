"""Small searches done in further processes, where there are many of them.

Python runs in one thread of a process at a time, and what it does for searches of a few thousand playouts, from the moves of the
game to the reply, takes nearly half as long as a core needs to play them. So where many of them are under way, those that still
wait go to other processes, each with a scheduler of its own:

    clients      this process                  another (`search.analysis.in_process`)
    lines   ->   Client, Searches.waiting   -> Take   -> Scheduler
    lines   <-   Client                     <- Said   <-

Clients, their limits and their turns stay here, and a search begins elsewhere as it would here: its reply does not depend on
where it is made. Each process plays on all cores, so that one alone has the whole machine. One that ends by a fault is not missed
but for its speed: its searches begin anew in this one.

Everything is for the scheduler's thread, but for what is marked otherwise.
"""

import contextlib
import dataclasses
import functools
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from jaxgo.backends.choice import workers_of
from search.analysis import complaints
from search.analysis.memory import MOST_PROCESSES
from search.analysis.messages import Drop, GoesOn, Key, Prepare, Prepared, Room, Said, Stop, Take, Told
from search.analysis.options import LARGE_SEARCH, MANY_SEARCHES, ServiceOptions
from search.analysis.waiting import Waiting
from search.analysis.work import Task

#: Seconds after which one that has searches is given up, where it does not even say that it goes on. Compiling the tree's loops
#: may keep it from that for a minute or two.
SILENT = 300.0
#: Cores for each process where nobody says how many there are.
CORES = 2


def suited(threads: int | None) -> int:
    """How many processes suit the devices: on CPUs one for every two cores and at least two, if there are two; on others one,
    whose calls are large.

    Args:
      threads: cores that play, None for all.
    """
    workers = workers_of(threads)
    cores = len(workers)
    return 1 if workers[0].platform != "cpu" or cores < 2 else min(MOST_PROCESSES, max(2, cores // CORES))


class Processes:
    """The other processes, started as they are needed.

    Args:
      options: how positions are analysed.
      number: how many there may be, this one not counted.
      post: has a function called in the scheduler's thread; for any thread.
      again: takes a task that was not done.
    """

    def __init__(
        self, options: ServiceOptions, number: int, post: Callable[[Callable[[], None]], None], again: Callable[[Task], None]
    ):  # fmt: skip
        self._options, self._post, self._again = options, post, again
        self._to_start, self._running = number, list[_Process]()

    @property
    def tasks(self) -> list[Task]:
        """All that they have."""
        return [task for process in self._running for task in process.tasks.values()]

    @property
    def clients(self) -> list:
        """Whose these are."""
        return list(dict.fromkeys(task.client for task in self.tasks))

    @property
    def share(self) -> int:
        """Of the searches that may be under way, those of one process."""
        return max(1, self._options.active // (1 + self.ready))

    @property
    def ready(self) -> int:
        """How many have started, and compiled what some searches need."""
        return sum(bool(process.prepared) for process in self._running)

    def start(self, active: list[Task]) -> None:
        """Starts the next process where many small searches are under way, of which these are here."""
        if self._to_start and self.ready == len(self._running):
            small = [task for task in active if task.playouts <= LARGE_SEARCH]
            if small and len(small) + len(self.tasks) >= MANY_SEARCHES:
                self._to_start -= 1
                self._running.append(_Process(self._options, self._post, self._lost, small[0]))

    def hand_out(self, waiting: Waiting) -> None:
        """Has them do what waits, as far as they may, clients in turn; and tells them what has changed since."""
        for process in self._running:
            process.tell_changes()
            process.see_that_it_goes_on()
        free = {process for process in self._running if len(process.tasks) < self.share}
        while free and (found := self._next(waiting, free)) is not None:
            process, task = found
            waiting.take_first(task)
            process.take(task)
            if len(process.tasks) >= self.share:
                free.discard(process)

    def _next(self, waiting: Waiting, free: set["_Process"]) -> tuple["_Process", Task] | None:
        """A task that may begin, and where; None if none may."""
        for client in waiting.clients():
            task = waiting.first(client)
            if task is None or task.playouts > LARGE_SEARCH or not client.has_room:
                continue
            able = [process for process in free if process.is_prepared(task)]
            if able:
                return min(able, key=lambda process: len(process.tasks)), task
        return None

    def _lost(self, process: "_Process") -> None:
        """A process has ended, though nobody has asked for that. Another will take its place, unless it could not even begin."""
        if process not in self._running:
            return
        self._running.remove(process)
        self._to_start += bool(process.prepared)
        left = [task for task in process.tasks.values() if not task.finished]
        complaints.say(f"a process that searched has ended, {process.end}; {len(left)} searches that it had begin anew")
        process.close()
        for task in left:
            task.waiting = True
            self._again(task)

    def alarm(self) -> float | None:
        """When to see whether one that is silent goes on; None for never."""
        return min((process.heard + SILENT for process in self._running if process.tasks), default=None)

    def close(self) -> None:
        """Ends them."""
        running, self._running, self._to_start = self._running, [], 0
        for process in running:
            process.close()


class _Process:
    """One of them.

    Args:
      options, post: as for `Processes`.
      lost: told that it has ended.
      first: a task, like those that it will do.
    """

    def __init__(
        self, options: ServiceOptions, post: Callable[[Callable[[], None]], None], lost: Callable[["_Process"], None], first: Task
    ):  # fmt: skip
        self._options, self._post, self._lost, self._first = options, post, lost, first
        self.tasks: dict[int, Task] = {}
        """What it has, by number."""
        self.prepared: set[Key] = set()
        """What it can do; nothing before it has started."""
        self._preparing, self._stopped, self._room = set[Key](), set[int](), dict[Any, bool]()
        """What it has been told."""
        self._process: subprocess.Popen | None = None
        self._messages_to_it: queue.SimpleQueue[Told | ServiceOptions | None] = queue.SimpleQueue()
        """None is the last."""
        self._closed, self._silent, self.heard = False, False, time.monotonic()
        """`heard` is when it last said something, or got a task when it had none."""
        threading.Thread(target=self._run, name="listens", daemon=True).start()

    def prepare(self, task: Task) -> None:
        """Has it compile what a task needs."""
        key = Key.of(task)
        if key not in self._preparing:
            self._preparing.add(key)
            self._tell(Prepare(key))

    def is_prepared(self, task: Task) -> bool:
        """Whether it can do a task; otherwise it sees to that, once it has started."""
        if self.prepared and Key.of(task) not in self.prepared:
            self.prepare(task)
        return Key.of(task) in self.prepared

    def take(self, task: Task) -> None:
        """Gives it a task."""
        if not self.tasks:
            self.heard = time.monotonic()
        self.tasks[task.number] = task
        room = self._room[task.client] = task.client.has_room
        self._tell(Take(id(task.client), room, dataclasses.replace(task, client=None, waiting=True)))

    def tell_changes(self) -> None:
        """Tells it which tasks have been stopped or given up, and whose clients read again, or no more."""
        if gone := [number for number, task in self.tasks.items() if task.finished]:
            self._tell(Drop(gone))
            self._forget(*gone)
        if stopped := [number for number, task in self.tasks.items() if task.stopped and number not in self._stopped]:
            self._stopped.update(stopped)
            self._tell(Stop(stopped))
        clients = {task.client for task in self.tasks.values()}
        self._room = {client: room for client, room in self._room.items() if client in clients}
        for client, room in self._room.items():
            if client.has_room != room:
                self._room[client] = client.has_room
                self._tell(Room(id(client), client.has_room))

    @property
    def end(self) -> str:
        """How it has ended."""
        if self._silent:
            return f"as it had said nothing for {SILENT:g} seconds"
        status = None if self._process is None else self._process.returncode
        return "before it began" if status is None else f"by signal {-status}" if status < 0 else f"with status {status}"

    def close(self) -> None:
        """Ends it, whatever it is at."""
        self._closed = True
        if self._process is not None:
            self._process.kill()

    def see_that_it_goes_on(self) -> None:
        """Ends it where it has not said anything for so long that something must be wrong."""
        if self.tasks and time.monotonic() > self.heard + SILENT:
            self._silent = True
            self.close()

    def _tell(self, message: Told | ServiceOptions | None) -> None:
        self._messages_to_it.put(message)  # the pipe may be full, and nobody here waits for who does not read

    def _forget(self, *numbers: int) -> None:
        for number in numbers:
            self.tasks.pop(number, None)
            self._stopped.discard(number)

    # In the thread that listens to it, and the one that writes to it.

    def _run(self) -> None:
        if hasattr(signal, "pthread_sigmask"):  # a terminal's Ctrl-C is for the first process, which ends the others
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread, and of what it starts
        self._tell(self._options)
        self._post(lambda: self.prepare(self._first))
        try:
            # It finds the modules that this process finds, and no others.
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
            command = [sys.executable, "-P", "-m", "search.analysis.in_process"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            if self._closed:
                self._process.kill()
            threading.Thread(target=self._write, name="writes", daemon=True).start()
            for message in self._messages():
                self.heard = time.monotonic()
                if isinstance(message, Prepared):
                    self._post(functools.partial(self.prepared.add, message.key))
                elif isinstance(message, Said):
                    self._hear(message)
        except Exception as error:  # it cannot be started, or a fault of the program
            complaints.tell(error)
            if self._process is not None:
                self._process.kill()
        finally:
            self._tell(None)
            if self._process is not None:
                self._process.wait()
        self._post(lambda: self._lost(self))

    def _write(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as its_input:  # when it has ended, its listener sees that
            while (message := self._messages_to_it.get()) is not None:
                pickle.dump(message, its_input)
                its_input.flush()

    def _messages(self) -> Iterator[Prepared | GoesOn | Said]:
        """What it says, until it ends."""
        assert self._process is not None and self._process.stdout is not None
        with self._process.stdout as said:
            while True:
                try:
                    yield pickle.load(said)
                except (EOFError, OSError, pickle.UnpicklingError):
                    return

    def _hear(self, said: Said) -> None:
        """Passes a line on to its client."""
        task = self.tasks.get(said.number)
        if task is None:
            return
        if said.last:
            task.client.finish(task, said.line)
            self._post(lambda: self._forget(said.number))
        else:
            task.client.report(task, said.line)
