"""A client's lines and the replies to them."""

import collections
import dataclasses
import json
import sys
import threading
import traceback
from collections.abc import Callable

from search.analysis import query as queries
from search.analysis import replies
from search.analysis.fields import Fields, QueryError, is_integer
from search.analysis.games import Games
from search.analysis.scheduler import Engine, Scheduler
from search.analysis.work import Task, tasks_of

#: Lines that wait to be sent to a client, and that are few enough again, before more is read from him; reports leave out what
#: would make them more.
MANY, FEW = 2_000, 500


@dataclasses.dataclass(frozen=True)
class Limits:
    """What is done where a query does not say, and how much of a client is put up with."""

    visits: int = 2_000
    playouts: int = 1_000
    seed: int = 0
    queue: int = 20_000
    """Positions that a client may have waiting."""
    line: int = 1 << 20
    """Bytes of a line."""


class Service:
    """What all clients share.

    Args:
      engine: how positions are analysed.
      limits: see there.
      log: told every line that comes in and goes out.
    """

    def __init__(self, engine: Engine | None = None, limits: Limits | None = None, log: Callable[[str], None] | None = None):
        self.limits, self.log = limits or Limits(), log
        self.scheduler, self.games = Scheduler(engine or Engine()), Games()

    def end(self) -> None:
        """Answers whatever is pending with `noResults`, and ends."""
        self.scheduler.end()


class Client:
    """One client: reads his lines one after the other, and keeps the replies until they are sent.

    `read` is for the thread that reads from him, `next_lines` for the one that writes to him; the rest is for any thread.

    Args:
      service: what the clients share.
    """

    def __init__(self, service: Service):
        self._service, self._scheduler = service, service.scheduler
        self._lines: collections.deque[bytes] = collections.deque()
        self._pending, self._ended, self._gone = 0, False, False
        self._change = threading.Condition()

    # What the scheduler needs.

    @property
    def has_room(self) -> bool:
        """Whether he reads fast enough to be sent more than he must be."""
        return len(self._lines) < FEW

    def send(self, reply: dict) -> None:
        """Has a reply sent."""
        line = json.dumps(reply, allow_nan=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"
        if self._service.log is not None:
            self._service.log(f"> {line.decode().rstrip()}")
        with self._change:
            if not self._gone:
                self._lines.append(line)
                self._change.notify_all()

    def finish(self, task: Task, reply: dict) -> None:
        """Has a task's last reply sent."""
        self.send(reply)
        with self._change:
            self._pending -= 1
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
            self._change.notify_all()
            return out

    def wait_for_room(self) -> None:
        """Waits until he has read enough of his replies; one who does not read is not listened to either."""
        if len(self._lines) >= MANY:
            with self._change:
                self._change.wait_for(lambda: len(self._lines) < FEW or self._gone)

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
            self._change.notify_all()
        self._scheduler.terminate(self)

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
                self._act(asked)
            else:
                self._ask(asked)
        except QueryError as error:
            self.send(replies.error(str(error), error.field, name))
        except Exception as error:  # a fault of the program, which must not end it
            traceback.print_exception(error, file=sys.stderr)
            self.send(replies.error(f"Internal error: {type(error).__name__}: {error}", name=name))

    def too_long(self) -> None:
        """Answers a line that is longer than allowed and has been skipped."""
        self.send(replies.error(f"Input line is longer than the {self._service.limits.line} bytes allowed; it was skipped"))

    def _ask(self, asked: dict) -> None:
        query, warnings = queries.read_query(asked)
        limits = self._service.limits
        line = self._service.games.line(query.size, query.stones, query.first, query.moves)
        tasks = tasks_of(query, line, self, visits=limits.visits, playouts=limits.playouts, seed=limits.seed)
        if any(task.with_tree for task in tasks):
            self._scheduler.prepare(query.size)
        with self._change:
            full = self._pending + len(tasks) > limits.queue
            if not full:
                self._pending += len(tasks)
        if full:
            raise QueryError(f"The queue is full: a client may have {limits.queue} positions waiting; ask again later")
        for field, text in warnings:
            self.send(replies.warning(text, field, query.id))
        self._scheduler.submit(tasks)

    def _act(self, asked: dict) -> None:
        action, engine = asked["action"], self._scheduler.engine
        if action == "query_version":
            self.send(replies.query_version(asked))
        elif action == "query_models":
            self.send(replies.query_models(asked, engine.bot, engine.playouts_per_leaf))
        elif action == "clear_cache":
            self._service.games.clear()
            self.send(replies.answer_to(asked))
        elif action == "terminate":
            name = Fields(asked).value("terminateId")
            if not isinstance(name, str):
                raise QueryError("Must be a string", "terminateId")
            self._scheduler.terminate(self, name, _turns(asked), lambda: self.send(replies.answer_to(asked)))
        elif action == "terminate_all":
            self._scheduler.terminate(self, None, _turns(asked), lambda: self.send(replies.answer_to(asked)))
        else:
            raise QueryError("'action' field must be one of " + ", ".join(queries.ACTIONS), "action")


def _turns(asked: dict) -> list[int] | None:
    """The turns that are to be given up, None for all."""
    turns = Fields(asked).array("turnNumbers", None)
    if turns is not None and not all(map(is_integer, turns)):
        raise QueryError("Must be an array of integers", "turnNumbers")
    return turns
