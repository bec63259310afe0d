"""Tasks that wait: by priority for each client, and in turn between clients."""

import heapq
import itertools
from collections.abc import Callable, Hashable

from search.analysis.work import Task
from search.turns import Turns

#: A queue is cleared of what no longer waits when it is longer than twice what waited then, and this.
_SLACK = 64


class _Queue:
    """One client's tasks. What has been taken out by one way, or is finished, is forgotten when it comes up by the other."""

    def __init__(self):
        self.all: list[tuple[int, int, Task]] = []
        self.alike: dict[Hashable, list[tuple[int, int, Task]]] = {}
        self._room = _SLACK

    def push(self, key: Hashable, task: Task) -> None:
        if len(self.all) >= self._room:
            self._clear()
        entry = (-task.priority, task.number, task)
        heapq.heappush(self.all, entry)
        heapq.heappush(self.alike.setdefault(key, []), entry)

    def first(self) -> Task | None:
        return _first(self.all)

    def first_alike(self, key: Hashable) -> Task | None:
        heap = self.alike.get(key, [])
        task = _first(heap)
        if not heap:
            self.alike.pop(key, None)
        return task

    def _clear(self) -> None:
        self.all = [entry for entry in self.all if entry[-1].waits]
        heapq.heapify(self.all)
        kept = {key: [entry for entry in heap if entry[-1].waits] for key, heap in self.alike.items()}
        self.alike = {key: heap for key, heap in kept.items() if heap}
        for heap in self.alike.values():
            heapq.heapify(heap)
        self._room = _SLACK + 2 * len(self.all)


def _first(heap: list) -> Task | None:
    while heap and not heap[0][-1].waits:
        heapq.heappop(heap)
    return heap[0][-1] if heap else None


class Waiting:
    """Tasks that wait for their turn.

    A client's tasks come by priority, then by arrival. Between clients they come in turn, whatever their priorities, so that
    nobody can push the others aside. What is given up while it waits, which may happen at any moment, is passed over.

    Args:
      key: of tasks that can go together, see `take`.
    """

    def __init__(self, key: Callable[[Task], Hashable] = lambda task: None):
        self._key, self._turns, self._queues = key, Turns(), {}

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
        self._queues.setdefault(task.client, _Queue()).push(self._key(task), task)

    def first(self, client) -> Task | None:
        """The next task of a client, which stays where it is; None if he has none any more."""
        return self._queues[client].first()

    def number(self, key: Hashable, most: int) -> int:
        """How many tasks of one key there are for `take`, as far as that is no more than `most`."""
        alike = (entry[-1] for queue in self._queues.values() for entry in queue.alike.get(key, ()))
        return sum(1 for _ in itertools.islice((task for task in alike if task.waits), most))

    def take_first(self, task: Task) -> None:
        """Takes a client's next task out; he has had his turn."""
        self._turns.took(task.client)
        task.waiting = False

    def take(self, key: Hashable, most: int) -> list[Task]:
        """Takes tasks of one key out, of each client in turn one after the other, at most so many."""
        out: list[Task] = []
        queues = [self._queues[client] for client in self.clients()]
        while queues and len(out) < most:
            found = [(queue, queue.first_alike(key)) for queue in queues]
            queues = [queue for queue, task in found if task is not None]
            some = [task for _, task in found if task is not None][: most - len(out)]
            for task in some:
                task.waiting = False
            out += some
        return out
