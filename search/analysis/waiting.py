"""Tasks that wait: by priority for each client, and in turn between clients."""

import heapq

from search.analysis.work import Task
from search.turns import Turns

#: A queue is cleared of what no longer waits when it is longer than twice what waited then, and this.
_SLACK = 64


class _Queue:
    """One client's tasks. What is finished is forgotten when it comes up, or when there is much of it."""

    def __init__(self) -> None:
        self.all: list[tuple[int, int, Task]] = []
        self._room = _SLACK

    def push(self, task: Task) -> None:
        if len(self.all) >= self._room:
            self.all = [entry for entry in self.all if entry[-1].waits]
            heapq.heapify(self.all)
            self._room = _SLACK + 2 * len(self.all)
        heapq.heappush(self.all, (-task.priority, task.number, task))

    def first(self) -> Task | None:
        while self.all and not self.all[0][-1].waits:
            heapq.heappop(self.all)
        return self.all[0][-1] if self.all else None


class Waiting:
    """Tasks that wait for their turn.

    A client's tasks come by priority, then by arrival. Between clients they come in turn, whatever their priorities, so that
    nobody can push the others aside. What is given up while it waits, which may happen at any moment, is passed over.
    """

    def __init__(self) -> None:
        self._turns, self._queues = Turns(), dict[object, _Queue]()

    def __bool__(self) -> bool:
        return bool(self.clients())

    def clients(self) -> list:
        """Who has tasks waiting, in the order of their turns."""
        self._queues = {client: queue for client, queue in self._queues.items() if queue.first() is not None}
        return self._turns.order(self._queues)

    def tasks(self) -> list[Task]:
        """All that wait."""
        return [entry[-1] for queue in self._queues.values() for entry in queue.all if entry[-1].waits]

    def push(self, task: Task) -> None:
        """Adds a task."""
        self._queues.setdefault(task.client, _Queue()).push(task)

    def first(self, client) -> Task | None:
        """The next task of a client, which stays where it is; None if he has none any more."""
        return self._queues[client].first()

    def take_first(self, task: Task) -> None:
        """Takes a client's next task out; he has had his turn."""
        self._turns.took(task.client)
        task.waiting = False
