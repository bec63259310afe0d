"""Requests for arrays that wait for a replica: those that are alike go together."""

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable

from search.analysis import complaints
from search.serving.boards import Boards
from search.serving.limits import Refusal

Answer = concurrent.futures.Future[bytes | Refusal]
"""Of one request; who cancels it does not wait for it any more, also while it is worked on."""


class Together:
    """A list of requests that wait, and a few threads that have them evaluated: what comes while these are busy gathers.

    Args:
      evaluate: answers requests of one key in one batch, unless its second argument says that nobody waits for any of them. It is
        called in several threads at a time.
      room: how many playouts may go together with a request, all counted.
      threads: how many.
    """

    def __init__(
        self, evaluate: Callable[[list[Boards], Callable[[], bool]], list[bytes | Refusal]], room: Callable[[Boards], int],
        threads: int,
    ):  # fmt: skip
        self._evaluate, self._room = evaluate, room
        self._waiting: dict[Answer, Boards] = {}
        """In the order of arrival."""
        self._change = threading.Condition()
        for number in range(threads):
            threading.Thread(target=self._work, name=f"evaluates-{number}", daemon=True).start()

    def add(self, asked: Boards) -> Answer:
        """Has a request evaluated. For any thread."""
        answer: Answer = concurrent.futures.Future()
        with self._change:
            self._waiting[answer] = asked
            self._change.notify()
        answer.add_done_callback(self._forget)
        return answer

    def _forget(self, answer: Answer) -> None:
        """An answer is there, or nobody waits for it: its request does not wait either."""
        with self._change:
            self._waiting.pop(answer, None)

    def _work(self) -> None:
        while True:
            self._settle(self._next())

    def _next(self) -> dict[Answer, Boards]:
        """Waits for a request, and takes it out; with it all that are alike and have room, so that one is not passed for ever."""
        with self._change:
            self._change.wait_for(lambda: self._waiting)
            (answer, first), *others = self._waiting.items()
            alike, left = {answer: first}, None
            for answer, asked in others:
                if asked.key == first.key:
                    left = self._room_beside(first) if left is None else left
                    if asked.work <= left:
                        alike[answer] = asked
                        left -= asked.work
            for answer in alike:
                del self._waiting[answer]
            return alike

    def _room_beside(self, first: Boards) -> int:
        try:
            return self._room(first) - first.work
        except Exception as error:  # a fault of the program; requests go one by one
            complaints.tell(error)
            return 0

    def _settle(self, group: dict[Answer, Boards]) -> None:
        """Answers requests, or tells each what went wrong: nothing ends the thread, and nobody waits in vain."""
        try:
            found = self._evaluate([*group.values()], lambda: all(answer.cancelled() for answer in group))
            settled = [*zip(group, found, strict=True)]
        except BaseException as error:
            for answer in group:
                with contextlib.suppress(concurrent.futures.InvalidStateError):  # he is gone
                    answer.set_exception(error)
            return
        for answer, told in settled:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                answer.set_result(told)
