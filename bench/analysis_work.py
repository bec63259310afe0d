"""What `jaxgo analysis` does when it is timed: a client with many queries outstanding, and the same work in one piece."""

import itertools
import json
import time

import numpy as np

import jaxgo
from bench.measure import Work
from jaxgo.board.coordinates import coordinate
from search.analysis.options import ServiceOptions
from search.analysis.processes import suited
from search.analysis.service import Client, Service

#: Visits of small searches, which have further processes started, and seconds that these may take.
FEW, START = 2_000, 100


class Queries:
    """A client who always has so many queries outstanding, each for the position after another first move."""

    _started: Service | None = None

    def __init__(self, size: int, outstanding: int, field: str, number: int):
        """Starts the service.

        Args:
          size: of the board.
          outstanding: queries that wait for their replies at a time.
          field: "playouts" or "maxVisits".
          number: playouts of each query.
        """
        self._options = ServiceOptions(processes=suited(None))
        self._service = Queries._started = Queries._started or Service(self._options)
        self._size, self._outstanding, self._field, self._number = size, outstanding, field, number
        self._names = itertools.count()
        if field == "maxVisits":
            self._start_all()

    def _start_all(self) -> None:
        """Has all processes started, and compile what they need."""
        asked, self._number = self._number, FEW
        deadline = time.monotonic() + START
        while self._service.scheduler.num_processes < self._options.processes and time.monotonic() < deadline:
            self.run(self._outstanding * FEW)
        self._number = asked

    def run(self, count: int) -> Work:
        """Asks queries of `count` playouts in all; a multiple of those that may be outstanding, where it is not fewer."""
        client, total = Client(self._service), -(-count // self._number)
        if total > self._outstanding:
            total = -(-total // self._outstanding) * self._outstanding
        asked = answered = visits = 0
        while answered < total:
            while asked < total and asked - answered < self._outstanding:
                client.read(self._query(next(self._names)))
                asked += 1
            lines = client.next_lines()
            assert lines is not None
            for line in lines.splitlines():
                answered += 1
                visits += json.loads(line)["rootInfo"]["visits"]
        return Work(visits)

    def _query(self, name: int) -> bytes:
        size = self._size
        move = coordinate(name % size**2, size)
        asked = {"id": str(name), "moves": [["B", move]], "rules": "chinese", "boardXSize": size, "boardYSize": size}
        return json.dumps(asked | {self._field: self._number}).encode()


class OneBatch:
    """`jaxgo.evaluate` of as many positions at once."""

    def __init__(self, size: int, positions: int, number: int):
        """Makes the positions.

        Args:
          size: of the board.
          positions: how many.
          number: playouts of each.
        """
        self._positions = jaxgo.Position.empty(size, positions).play(np.arange(positions) % size**2)
        self._number = number

    def run(self, count: int) -> Work:
        """Evaluates the batch until there are `count` playouts, at least once."""
        calls = max(1, -(-count // (self._positions.batch * self._number)))
        for _ in range(calls):
            jaxgo.evaluate(self._positions, self._number, streams=0)
        return Work(calls * self._positions.batch * self._number)
