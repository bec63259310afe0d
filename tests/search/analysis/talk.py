"""A conversation with the analysis engine in this process."""

import json
import threading
import time
from collections.abc import Callable

from search.analysis.options import ServiceOptions
from search.analysis.service import Client, Service

#: Seconds after which something hangs. A new board size may have to be compiled first.
HANG = 40


class Talk:
    """One client. What he sends is read at once; his replies are kept in order of arrival.

    Args:
      service: what the clients share, by default one of their own.
      options: of a service of their own.
    """

    def __init__(self, service: Service | None = None, *, options: ServiceOptions | None = None):
        self._own = service is None
        self.service = service or Service(options)
        self.client = Client(self.service)
        self.replies: list[dict] = []
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while (some := self.client.next_lines()) is not None:
            with self._change:
                self.replies += [json.loads(line) for line in some.splitlines()]
                self._change.notify_all()

    def send(self, *queries) -> None:
        """Sends lines: dictionaries, or what is no JSON as it is."""
        for asked in queries:
            self.client.read(asked if isinstance(asked, bytes) else json.dumps(asked).encode())

    def wait(self, enough: Callable[[list[dict]], bool]) -> list[dict]:
        """Waits for replies until there are enough; all of them so far."""
        with self._change:
            assert self._change.wait_for(lambda: enough(self.replies), HANG), f"no more replies than {self.replies}"
            return list(self.replies)

    def finals(self, count: int) -> dict[tuple[str, int], dict]:
        """Waits for so many last replies: by id and turn. None may come twice."""
        self.wait(lambda replies: sum(map(is_final, replies)) >= count)
        found = list(filter(is_final, self.replies))
        by_name = {(reply["id"], reply["turnNumber"]): reply for reply in found}
        assert len(found) == len(by_name) == count
        return by_name

    def ask(self, asked: dict) -> dict:
        """The last reply to a query of one position."""
        self.send(asked)
        self.wait(lambda replies: any(is_final(r) and r.get("id") == asked["id"] for r in replies))
        return next(r for r in self.replies if is_final(r) and r["id"] == asked["id"])

    def error(self, asked) -> dict:
        """The error that a line is answered with, and nothing else."""
        before = len(self.replies)
        self.send(asked)
        self.wait(lambda replies: len(replies) > before)
        (reply,) = self.replies[before:]
        assert "error" in reply, reply
        return reply

    def end(self) -> None:
        """Says goodbye, and waits until all is answered."""
        self.client.end()
        self._thread.join(HANG)
        assert not self._thread.is_alive()
        if self._own:
            self.service.end()


def is_final(reply: dict) -> bool:
    """Whether a reply is the last one for its position."""
    return reply.get("isDuringSearch") is False


def query(name: str, *moves: str, size: int = 5, **more) -> dict:
    """A query; moves by colours in turn, "C3", or with the colour, "W C3"."""
    pairs = [move.split() if " " in move else ["BW"[i % 2], move] for i, move in enumerate(moves)]
    return {"id": name, "moves": pairs, "rules": "tromp-taylor", "komi": 0.5, "boardXSize": size, "boardYSize": size} | more


def eventually(holds: Callable[[], bool], seconds: float = HANG) -> bool:
    """Whether something holds in the end."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
