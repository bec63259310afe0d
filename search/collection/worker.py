"""A worker: makes the Parquet files of parts, on the devices that it has. The same on this machine and on a cluster."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from jaxgo.base import threads
from jaxgo.base.promise import Promise
from search.collection.findings import Findings
from search.collection.inputs import Reject
from search.collection.parts import Part
from search.collection.playing import Playouts
from search.collection.reading import Read, read
from search.collection.searching import Searches
from search.collection.settings import Settings
from search.collection.tables import file_of, table_of


@dataclasses.dataclass(frozen=True)
class Done:
    """A part that is finished, and not written yet."""

    number: int
    size: int
    expected: int
    """Positions, as the part said."""
    positions: int
    """Positions that there are."""
    rejects: tuple[Reject, ...]
    file: bytes
    """Of its Parquet file."""
    seconds: float
    """Its share of what the evaluation of its call took."""
    worker: str
    """Who has done it."""
    call: int
    """Of the worker's calls of its devices that which evaluated it, from 0: the first compiles."""


class Worker:
    """Evaluates parts.

    Args:
      settings: of the collection.
      devices: as in `jaxgo.evaluate`.
      name: of the worker, for people to read.
    """

    def __init__(self, settings: Settings, devices=None, name: str = "this process"):
        self._settings, self._name, self._calls_made = settings, name, 0
        self._engine = (Playouts if settings.bot is None else Searches)(settings, devices)

    def work(
        self, parts: Iterable[Part], deliver: Callable[[Done], None], progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Finishes parts, in order: several in one call of the devices where one does not fill them.

        While the devices play, the parts that follow are read, and those before are made into files and delivered.

        Args:
          parts: as many as there are; few are held at a time.
          deliver: called with each part, in another thread; what it raises is raised here.
          progress: called with (done, total) playouts while a call goes on.
        """
        calls = self._calls(iter(parts))

        def next_call() -> list[Read]:
            return [read(part, self._settings) for part in next(calls, [])]

        def finish(reads: list[Read], found: Findings | None, seconds: float, call: int) -> None:
            for done in self._finished(reads, found, seconds, call):
                deliver(done)

        ahead: Promise[list[Read]] = Promise()
        behind: tuple[Promise[None], tuple[Any, ...]] = Promise(), ()
        behind[0].keep(None)  # nothing has been evaluated yet
        try:
            threads.begin(next_call, promise=ahead)
            while together := ahead.result():
                ahead = Promise()
                threads.begin(next_call, promise=ahead)
                start = time.perf_counter()
                found = self._evaluate(together, progress)
                seconds = time.perf_counter() - start
                behind[0].result()
                behind = Promise(), (together, found, seconds, self._calls_made)
                threads.begin(finish, *behind[1], promise=behind[0])
                self._calls_made += 1
            behind[0].result()
        finally:
            ahead.take_back()
            ahead.wait()
            delivered, evaluated = behind
            if delivered.take_back():  # nobody has begun with it, as when Ctrl-C came just then
                finish(*evaluated)
            delivered.wait()

    def _calls(self, parts: Iterator[Part]) -> Iterator[list[Part]]:
        """Parts of one size, one after the other, that fill the devices together."""
        for size, of_size in itertools.groupby(parts, key=lambda part: part.size):
            most = max(1, self._engine.positions_of_call(size) // self._settings.positions_of_part(size))
            while together := list(itertools.islice(of_size, most)):
                yield together

    def _evaluate(self, reads: list[Read], progress) -> Findings | None:
        held = [x for x in reads if x.position is not None]
        if not held:
            return None
        position = jax.tree.map(lambda *x: np.concatenate(x), *(x.position for x in held))
        histories = [history for x in held for history in x.histories]
        return self._engine.evaluate(position, np.concatenate([x.komi for x in held]), histories, progress)

    def _finished(self, reads: list[Read], found: Findings | None, seconds: float, call: int) -> Iterator[Done]:
        start, total = 0, max(1, sum(x.batch for x in reads))
        for x in reads:
            of_part = None
            if x.batch:
                assert found is not None
                of_part = found.some(slice(start, start + x.batch))
            start += x.batch
            file = file_of(x.part, table_of(x, of_part), x.rejects, self._settings)
            share = seconds * x.batch / total
            yield Done(x.part.number, x.part.size, x.part.positions, x.batch, tuple(x.rejects), file, share, self._name, call)
