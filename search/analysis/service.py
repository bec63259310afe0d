"""A client's lines and the replies to them."""

import collections
import threading
from collections.abc import Callable

from jaxgo.playing.policies.in_order import policy_of
from search.analysis import complaints, replies
from search.analysis import query as queries
from search.analysis.fields import Fields, QueryError, QueueFull, is_integer, short
from search.analysis.games import Games
from search.analysis.memory import Queues
from search.analysis.options import ServiceOptions
from search.analysis.scheduler import Scheduler
from search.analysis.work import Task, tasks_of

#: Bytes that wait to be sent to a client, and that are few enough again, before more is read from him or worked for him.
MOST_UNSENT, FEW_UNSENT = 4 << 20, 1 << 20
#: Bytes that a line takes besides its own.
_OF_LINE = 64
#: What clients may have waiting, as a part of the memory for trees: one in so many.
QUEUES = 8


class Service:
    """What all clients share.

    Args:
      options: how positions are analysed, and how much of a client is put up with.
      log: told every line that comes in and goes out.
      on_failure: called, in any thread, when nothing can be analysed any more.
    """

    def __init__(
        self, options: ServiceOptions | None = None, log: Callable[[str], None] | None = None,
        on_failure: Callable[[], None] = lambda: None,
    ):  # fmt: skip
        self.options, self.log, self.games = options or ServiceOptions(), log, Games()
        self.scheduler = Scheduler(self.options, self.games, on_failure)
        self._queues, self._lock = Queues(self.options.memory // QUEUES), threading.Lock()

    def end(self) -> None:
        """Answers whatever is pending with `noResults`, and ends."""
        self.scheduler.end()

    def queue(self, cost: int, mine: int) -> bool:
        """Whether a client who has so many bytes waiting may have so many more; then they are counted. For any thread."""
        with self._lock:
            return self._queues.take(cost, mine)

    def unqueue(self, cost: int) -> None:
        """Counts bytes that wait no more. For any thread."""
        with self._lock:
            self._queues.give_back(cost)


class Client:
    """One client: reads his lines one after the other, and keeps the replies until they are sent.

    `read` is for the thread that reads from him, `next_lines` for the one that writes to him; the rest is for any thread.

    Args:
      service: what the clients share.
    """

    def __init__(self, service: Service):
        self._service, self._scheduler = service, service.scheduler
        self._lines: collections.deque[bytes] = collections.deque()
        self._tasks: dict[str, dict[Task, None]] = {}
        """All that he waits for, by the query's id."""
        self._unsent = self._pending = self._queued = self._leaving = 0
        """Bytes that wait to be sent, tasks that wait for their last replies, and bytes that are counted for these until they are
        sent; of those the bytes of tasks whose last replies wait to be sent."""
        self._ended, self._gone = False, False
        self._change = threading.Condition()

    # What the scheduler needs.

    @property
    def has_room(self) -> bool:
        """Whether he reads fast enough to be sent more than he must be."""
        return self._unsent < FEW_UNSENT

    def send(self, reply: dict) -> None:
        """Has a reply sent."""
        line = replies.encoded(reply)
        with self._change:
            self._put(line)

    def report(self, task: Task, reply: dict | bytes) -> None:
        """Has a report sent, unless the task has had its last reply."""
        line = _line(reply)
        with self._change:
            if not task.finished:
                self._put(line)

    def finish(self, task: Task, reply: dict | bytes) -> None:
        """Has a task's last reply sent, once: whoever comes first. Other processes give the line itself."""
        line = _line(reply)
        with self._change:
            if task.finished:
                return
            task.finished = True
            self._put(line)
            self._pending -= 1
            self._leaving += task.cost
            same = self._tasks[task.query.id]
            del same[task]
            if not same:
                del self._tasks[task.query.id]
            self._change.notify_all()
            left = self._left() if self._gone else 0
        if left:
            self._service.unqueue(left)
        if task.with_tree:
            self._scheduler.devices.release(task.query.size)

    def _left(self) -> int:
        """The bytes of tasks whose last replies wait no more, which are his no longer."""
        left, self._leaving = self._leaving, 0
        self._queued -= left
        return left

    def _put(self, line: bytes) -> None:
        if self._gone:
            return
        if self._service.log is not None:
            self._service.log(f"> {line.decode().rstrip()}")
        self._lines.append(line)
        self._unsent += len(line) + _OF_LINE
        self._change.notify_all()

    # What the threads of his connection need.

    def next_lines(self) -> bytes | None:
        """Waits for replies: some lines to send, or None when there will be no more."""
        with self._change:
            self._change.wait_for(lambda: self._lines or self._gone or (self._ended and not self._pending))
            if not self._lines:
                return None
            out = b"".join(self._lines)
            self._lines.clear()
            self._unsent, left = 0, self._left()
            self._change.notify_all()
        self._service.unqueue(left)
        self._scheduler.wake()
        return out

    def wait_for_room(self) -> None:
        """Waits until he has read enough of his replies; one who does not read is not listened to either."""
        if self._unsent >= MOST_UNSENT:
            with self._change:
                self._change.wait_for(lambda: self._unsent < FEW_UNSENT or self._gone)

    def end(self) -> None:
        """He will send no more; what he has asked is still answered."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def drop(self) -> None:
        """He is gone: nothing is answered any more."""
        with self._change:
            self._gone = True
            self._lines.clear()
            self._unsent, left = 0, self._left()
            self._change.notify_all()
        self._service.unqueue(left)
        self.give_up()

    def stop(self, name: str | None = None, turns: frozenset[int] | None = None) -> None:
        """He has had enough of what he waits for: all of it, one query, or some turns of these.

        What is under way is answered with what has been found, as KataGo does, what has not begun without results.
        """
        for task in self._chosen(name, turns):
            if task.waits:
                self.finish(task, replies.no_results(task))
            task.stopped = True
        self._scheduler.wake()

    def give_up(self) -> None:
        """Answers all that he waits for without results."""
        for task in self._chosen():
            self.finish(task, replies.no_results(task))
        self._scheduler.wake()

    def _chosen(self, name: str | None = None, turns: frozenset[int] | None = None) -> list[Task]:
        with self._change:
            chosen = list(self._tasks.values()) if name is None else [self._tasks.get(name, {})]
            return [task for tasks in chosen for task in tasks if turns is None or task.turn in turns]

    def read(self, line: bytes) -> None:
        """Does what a line asks for."""
        line = line.strip()
        if not line:
            return
        if self._service.log is not None:
            self._service.log(f"< {line.decode(errors='replace')}")
        name = None
        try:
            asked = queries.read_object(line)
            name = asked["id"]
            if "action" in asked:
                self.act(asked)
            else:
                self.ask(asked)
        except QueryError as error:
            self.send(replies.error(str(error), error.field, error.name or name))
        except RecursionError:
            self.send(replies.error("The request is nested too deeply", name=name))
        except Exception as error:  # a fault of the program, which must not end it
            complaints.tell(error)
            self.send(replies.error(f"Internal error: {type(error).__name__}: {error}", name=name))

    def too_long(self) -> None:
        """Answers a line that is longer than allowed and has been skipped."""
        self.send(replies.error(f"Input line is longer than the {self._service.options.line} bytes allowed; it was skipped"))

    def ask(self, asked: dict) -> None:
        """Takes a query on.

        Args:
          asked: what `read_object` has read, without an action.

        Raises:
          QueryError: it cannot be answered; or QueueFull: not now.
        """
        query, warnings = queries.read_query(asked)
        try:
            policy_of(self._service.options.policy, query.size)
        except ValueError as error:
            raise QueryError(f"Cannot be played by the engine's policy: {error}", "boardXSize") from None
        tasks = tasks_of(query, self, self._service.options)
        # Only now what may cost more: there is room for as many, and the game is one.
        self._check_room(len(tasks))
        self._service.games.check(query.size, query.stones, query.first, query.moves)
        with self._scheduler.prepared(query.size, query.wanted, with_tree=tasks[0].with_tree):
            self._take_on(tasks)
            for field, text in warnings:
                self.send(replies.warning(text, field, query.id))
            self._scheduler.submit(tasks)

    def _check_room(self, number: int) -> None:
        most = self._service.options.queue
        if self._pending + number > most:
            raise QueueFull(f"The queue is full: a client may have {most} positions waiting; ask again later")

    def _take_on(self, tasks: list[Task]) -> None:
        """Counts tasks as pending."""
        cost = sum(task.cost for task in tasks)
        if not self._service.queue(cost, self._queued):
            text = "The queue is full: what waits for a client may take no more memory than is left for others; ask again later"
            raise QueueFull(text)
        if tasks[0].with_tree:
            self._scheduler.devices.need(tasks[0].query.size, len(tasks))
        with self._change:
            self._pending += len(tasks)
            self._queued += cost
            self._tasks.setdefault(tasks[0].query.id, {}).update(dict.fromkeys(tasks))
            gone = self._gone
        if gone:
            self.give_up()

    def act(self, asked: dict) -> None:
        """Does an action.

        Args:
          asked: what `read_object` has read, with an action.

        Raises:
          QueryError: there is no such action, or a field of it is not what it must be.
        """
        action, options = asked["action"], self._service.options
        if action == "query_version":
            self.send(replies.query_version(asked))
        elif action == "query_models":
            self.send(replies.query_models(asked, options))
        elif action == "clear_cache":
            self._service.games.clear()
            self.send(replies.answer_to(asked))
        elif action == "terminate":
            name = Fields(asked).value("terminateId")
            if not isinstance(name, str):
                raise QueryError(f"Must be a string, not {short(repr(name), 60)}", "terminateId")
            self.stop(name, _turns(asked))
            self.send(replies.answer_to(asked))
        elif action == "terminate_all":
            self.stop(None, _turns(asked))
            self.send(replies.answer_to(asked))
        else:
            text = f"'action' field must be one of {', '.join(queries.ACTIONS)}"
            raise QueryError(f"{text}, not {short(repr(action), 60)}", "action")


def _line(reply: dict | bytes) -> bytes:
    return reply if isinstance(reply, bytes) else replies.encoded(reply)


def _turns(asked: dict) -> frozenset[int] | None:
    """The turns that are to be stopped, None for all."""
    turns = Fields(asked).array("turnNumbers", None)
    if turns is not None and not all(map(is_integer, turns)):
        raise QueryError(f"Must be an array of integers, not {short(repr(turns), 60)}", "turnNumbers")
    return None if turns is None else frozenset(turns)
