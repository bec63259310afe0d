"""Tasks that wait: by priority for each client, and in turn between clients."""

import heapq
from collections.abc import Callable

from search.analysis.work import Task


class Waiting:
    """Tasks that wait for their turn.

    A client's tasks come by priority, then by arrival. Between clients they come in turn, whatever their priorities, so that
    nobody can push the others aside.
    """

    def __init__(self):
        self._heaps: dict[object, list[tuple[int, int, Task]]] = {}
        """By client; the one whose turn it is comes first."""

    def __bool__(self) -> bool:
        return bool(self._heaps)

    def push(self, task: Task) -> None:
        """Adds a task."""
        heapq.heappush(self._heaps.setdefault(task.client, []), (-task.priority, task.number, task))

    def pop(self, passed_over=frozenset()) -> Task | None:
        """Takes the next task out of a client who is not passed over; he goes to the end of the line. None without any."""
        client = next((client for client in self._heaps if client not in passed_over), None)
        if client is None:
            return None
        heap = self._heaps.pop(client)
        task = heapq.heappop(heap)[-1]
        if heap:
            self._heaps[client] = heap
        return task

    def take(self, chosen: Callable[[Task], bool], most: int | None = None) -> list[Task]:
        """Takes all tasks out that are chosen, in order of priority for each client, at most so many."""
        out = []
        for client, heap in list(self._heaps.items()):
            kept = []
            for entry in sorted(heap):
                if (most is None or len(out) < most) and chosen(entry[-1]):
                    out.append(entry[-1])
                else:
                    kept.append(entry)
            if kept:
                self._heaps[client] = kept
            else:
                del self._heaps[client]
        return out
