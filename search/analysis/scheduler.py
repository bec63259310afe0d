"""Which work next: one thread drives all searches, hands out playouts, and writes replies.

Searches of one board size share a device (`search.shared`). Clients take turns, at the thread as at the device and at the threads
that play: in each pass of the loop every client who has something to do gets a few milliseconds, whatever the number of his
searches and however much he has asked for. Within a client what is of higher priority goes first.

Everything here happens in the scheduler's thread, but for what is marked otherwise. No fault in one task, and nothing that is
posted, ends it; if it ends all the same, all who wait are told so.
"""

import collections
import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from search.analysis import complaints, replies
from search.analysis.batches import Batches
from search.analysis.devices import Devices
from search.analysis.games import Games
from search.analysis.jobs import Jobs
from search.analysis.options import ServiceOptions
from search.analysis.playout_programs import PlayoutPrograms
from search.analysis.processes import Processes
from search.analysis.searches import Searches
from search.analysis.watchdog import Watchdog
from search.analysis.work import Task
from search.findings import Wanted
from search.turns import Turns

#: Seconds of a client's turn, after which nothing new is begun.
TURN = 0.004
#: Slices of playouts under way at a time: two, so that the last games of one and the first of the next run side by side.
SLICES = 2
#: Seconds after which a process that is not the first says again that it goes on.
BEAT = 10.0
#: Passes of the loop that may fail one after the other before the thread gives up.
MOST_FAULTS = 20


class Scheduler:
    """Does tasks and sends their replies to their clients.

    Args:
      options: how.
      games: finds positions.
      on_failure: called, in any thread, when the scheduler's thread has ended though nobody has asked for that.
      goes_on: called every `BEAT` seconds as long as the thread goes on, in a process that is not the first; None in the first,
        beside which there may be others.
    """

    def __init__(
        self, options: ServiceOptions, games: Games | None = None, on_failure: Callable[[], None] = lambda: None, *,
        goes_on: Callable[[], None] | None = None,
    ):  # fmt: skip
        self.options, self._on_failure, self._goes_on, self._next_beat = options, on_failure, goes_on, 0.0
        games = games or Games()
        self._posted: collections.deque[Callable[[], None]] = collections.deque()
        self._wake = threading.Event()
        # What searches need done elsewhere is short, and does not wait for slices.
        self._turns, self._jobs, self._slices = Turns(), Jobs(1, self._post), Jobs(SLICES, self._post)
        self.devices, self._programs = Devices(options, self.wake), PlayoutPrograms(self._post, options)
        self._searches = Searches(options, games, self.devices, self._jobs, self._fail)
        self._batches = Batches(games, self._programs, self._fail, options)
        self._others = Processes(options, 0 if goes_on else options.processes - 1, self._post, self._searches.waiting.push)
        self._ending = False
        self._since: float | None = None
        """When the pass under way began, None where the thread rests."""
        self.failed = False
        """Whether the thread has ended by itself; then nothing is answered any more."""
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()
        threading.Thread(target=Watchdog(lambda: self._since, self._over).watch, name="watchdog", daemon=True).start()

    # For any thread.

    @contextlib.contextmanager
    def prepared(self, size: int, wanted: Wanted, *, with_tree: bool) -> Iterator[None]:
        """Compiles what tasks on a board size need, where that is not done, and keeps it as long as this lasts.

        Args:
          size: of the board.
          wanted: what they are asked for.
          with_tree: whether they are searched.
        """
        with self.devices.ready(size) if with_tree else contextlib.nullcontext():
            self._programs.prepare(size, wanted, with_tree=with_tree)
            yield

    def is_prepared(self, size: int, wanted: Wanted, *, with_tree: bool) -> bool:
        """Whether `prepared` compiles nothing."""
        return (not with_tree or self.devices.is_ready(size)) and self._programs.is_prepared(size, wanted, with_tree=with_tree)

    def submit(self, tasks: list[Task]) -> None:
        """Takes tasks on."""

        def add() -> None:
            for task in tasks:
                if self._ending:
                    task.client.finish(task, replies.no_results(task))
                    continue
                try:
                    (self._searches.waiting if task.with_tree else self._batches).push(task)
                except Exception as error:
                    self._fail(task, error)

        self._post(add)
        if self.failed:
            self._refuse(tasks)
        elif self._ending:  # what comes too late is given up, too
            for task in tasks:
                task.client.finish(task, replies.no_results(task))

    @property
    def num_processes(self) -> int:
        """How many share small searches now; more are started once there are many."""
        return 1 + self._others.ready

    def wake(self) -> None:
        """Has the thread look what there is to do: tasks have been given up, or a client has read what was sent to him."""
        self._wake.set()

    def end(self, seconds: float = 5.0) -> None:
        """Gives up everything and ends the thread."""

        def end() -> None:
            self._ending = True
            for task in self._tasks():
                task.client.finish(task, replies.no_results(task))
            self._searches.sweep()
            self._others.close()

        self._post(end)
        self._thread.join(seconds)
        self._jobs.close()
        self._slices.close()
        self._programs.close()
        self.devices.close()

    def _post(self, action: Callable[[], None]) -> None:
        self._posted.append(action)
        self._wake.set()

    # The thread.

    def _run(self) -> None:
        faults = 0
        try:
            while not self._ending:
                self._wake.clear()
                self._since = time.monotonic()
                try:
                    pause = self._pass()
                    faults = 0
                except Exception as error:  # a fault of the program; what can go on goes on
                    complaints.tell(error)
                    faults, pause = faults + 1, 0.01 * faults
                    if faults > MOST_FAULTS:
                        raise
                self._since = None
                if not (self._posted or self._ending) and (pause is None or pause > 0):
                    self._wake.wait(pause)
        except BaseException as error:
            complaints.tell(error)
        finally:
            if self._ending:
                self._do_posted()  # what came in behind the end
            else:
                self._give_in()

    def _pass(self) -> float | None:
        """Does what there is to do, a little for every client; how long the thread may sleep then, seconds, None for long."""
        self._beat()
        self._do_posted()
        self._searches.sweep()
        self._others.start(self._searches.active)
        self._searches.begin(self._others.share, self._others.clients)
        self._others.hand_out(self._searches.waiting)
        pause = self._batches.begin()
        self._programs.hand_out()
        self._jobs.hand_out()
        self._slices.hand_out(self._batches.owners, self._batches.slice_of)
        worked = False
        for client in self._turns.order([*self._searches.clients, *self._batches.clients]):
            self._turns.took(client)
            worked |= self._serve(client)
        if worked:
            return 0.0
        for device in self.devices:
            device.flush()
        times = [self._searches.alarm(), self._batches.alarm(), self._others.alarm(), self._next_beat if self._goes_on else None]
        pauses = [max(0.0, alarm - time.monotonic()) for alarm in times if alarm is not None]
        return min(pauses if pause is None else [*pauses, pause], default=None)

    def _beat(self) -> None:
        if self._goes_on is not None and time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + BEAT
            self._goes_on()

    def _do_posted(self) -> None:
        for _ in range(len(self._posted)):
            try:
                self._posted.popleft()()
            except Exception as error:
                complaints.tell(error)

    def _serve(self, client) -> bool:
        """A client's turn; whether there was anything to do. It ends with the time, after one thing of each kind at least."""
        until, worked, steps = time.monotonic() + TURN, False, self._searches.steps(client)
        while True:
            some = self._batches.reply(client)
            some |= self._searches.report(client) or self._batches.report(client)
            some |= next(steps, False)
            worked |= some
            # Small calls cost nearly as much as large ones, and while he has work the next leaves are soon there.
            for device in self.devices:
                device.flush(patient=some)
            if not some or time.monotonic() >= until:
                break
        return worked

    def _tasks(self) -> list[Task]:
        """All that have had no last reply, as far as is known."""
        waiting = self._searches.waiting.tasks() + self._batches.waiting.tasks()
        return [task for task in waiting + self._searches.active + self._others.tasks + self._batches.tasks if not task.finished]

    def _fail(self, task: Task, error: BaseException) -> None:
        """Sends what went wrong: a fault of the program, which must not end it."""
        if not task.finished:
            complaints.tell(error)
            text = f"Internal error: {type(error).__name__}: {error}"
            task.client.finish(task, replies.error(text, name=task.query.id) | {"turnNumber": task.turn})

    # When it fails.

    def _give_in(self) -> None:
        """The thread ends by a fault: says so, and tells all who wait."""
        complaints.say("the scheduler has failed, nothing can be analysed any more; this is a fault of the program")
        self.failed = True
        self._do_posted()
        self._refuse(self._tasks())
        self._on_failure()

    def _refuse(self, tasks: list[Task]) -> None:
        for task in tasks:
            task.client.finish(task, replies.error("The engine has failed", name=task.query.id) | {"turnNumber": task.turn})

    def _over(self) -> bool:
        return self._ending or self.failed
