"""A run of a collection: what is left to do is done, here or on a cluster, and written part by part."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from search.collection import inputs
from search.collection.inputs import Reject
from search.collection.parts import Part, cut
from search.collection.settings import Settings
from search.collection.store import Store, Unusable
from search.collection.tables import facts_in
from search.collection.worker import Done, Worker


@dataclasses.dataclass
class Standing:
    """How far a collection is."""

    positions: int = 0
    """In all: of parts that are finished those that were evaluated, of others those that the inputs seem to hold."""
    done: int = 0
    """Evaluated, in this run and before."""
    here: int = 0
    """Evaluated in this run."""
    parts: int = 0
    parts_done: int = 0
    rejects: list[Reject] = dataclasses.field(default_factory=list)
    """What could not be evaluated, as far as it is known."""
    first: float | None = None
    """When its first part was finished: before lies what was compiled."""
    last: float = 0.0
    """When the last part so far was finished."""
    workers: dict[str, tuple[int, float]] = dataclasses.field(default_factory=dict)
    """Of each that has finished something, positions and seconds of its calls after the first, for which it compiled."""

    @property
    def complete(self) -> bool:
        """Whether all is done."""
        return self.parts_done == self.parts

    def rate(self) -> float | None:
        """Positions a second since the workers' first calls; None before there are others."""
        positions = sum(positions for positions, _ in self.workers.values())
        return positions / max(self.last - self.first, 1e-9) if self.first is not None and positions else None

    def seconds_left(self) -> float | None:
        """Seconds that the rest will take at this rate."""
        rate = self.rate()
        return (self.positions - self.done) / rate if rate else None

    def rate_of_worker(self) -> float | None:
        """Positions a second that a worker evaluates, while it does."""
        positions, seconds = (sum(x) for x in zip(*self.workers.values())) if self.workers else (0, 0.0)
        return positions / seconds if seconds else None

    def count(self, expected: int, found: int) -> None:
        """Counts a part that is finished, of which so many positions were expected, and so many were found."""
        self.parts_done += 1
        self.positions += found - expected
        self.done += found

    def add(self, done: Done) -> None:
        """Counts a part that has been written."""
        self.count(done.expected, done.positions)
        self.here += done.positions
        self.rejects += done.rejects
        positions, seconds = self.workers.get(done.worker, (0, 0.0))
        if done.call:
            positions, seconds = positions + done.positions, seconds + done.seconds
        self.workers[done.worker] = positions, seconds
        self.last = time.monotonic()
        if self.first is None:
            self.first = self.last


class Run:
    """A collection in its folder, to be brought to its end.

    Args:
      files: of games and tables, as `inputs.files_of` finds them.
      settings: what they are evaluated by.
      store: the folder.
      name: of the folder.

    Raises:
      inputs.NoInput: they hold no positions.
      Unusable: the folder holds parts of other inputs.

    While it goes on, `inputs.Changed` is raised where the inputs are no longer what they were.
    """

    def __init__(self, files: Sequence[str], settings: Settings, store: Store, name: str):
        self._settings, self._store = settings, store
        self._files = files
        self.standing = Standing()
        self._fingerprints: list[str] = []
        """Of all parts, in their order."""
        self._finished = self._count(name)
        if not self.standing.complete:
            store.begin_again(settings)

    def embedded(self, devices=None, show: Callable[[Standing, int], None] = lambda standing, playouts: None) -> None:
        """Does what is left in this process, on its devices, of which `devices` tells as in `jaxgo.evaluate`.

        `show` is called with how far it is and the playouts that are finished of the parts under way, in any thread.
        """
        playouts = 0

        def progress(done: int, _: int) -> None:
            nonlocal playouts
            playouts = done
            show(self.standing, done)

        def deliver(done: Done) -> None:
            self._deliver(done)
            show(self.standing, 0)

        Worker(self._settings, devices).work(self._left(), deliver, progress)

    def on_cluster(self, cluster, workers: int, show: Callable[[Standing, int], None] = lambda standing, playouts: None) -> None:
        """Does what is left on so many workers of a `cluster.Cluster`; `show` as in `embedded`."""

        def deliver(done: Done) -> None:
            self._deliver(done)
            show(self.standing, 0)

        cluster.work(self._left(), self._settings, workers, deliver)

    def end(self) -> None:
        """Writes what is known at the end of the run, complete or not."""
        standing = self.standing
        facts = {"positions": standing.done, "parts": standing.parts, "rejects": len(standing.rejects)}
        complete = facts if standing.complete else None
        self._store.end(standing.rejects, self._settings, complete)

    def _deliver(self, done: Done) -> None:
        self._store.add(done.number, done.size, done.file)
        self.standing.add(done)

    def _parts(self) -> Iterator[Part | Reject]:
        return cut(inputs.read(self._files), self._settings)

    def _left(self) -> Iterator[Part]:
        """The parts that are not finished.

        Raises:
          Changed: they are no longer those that were counted.
        """
        expected = iter(self._fingerprints)
        for x in self._parts():
            if not isinstance(x, Part):
                continue
            if next(expected, None) != x.fingerprint:
                what = f"part {x.number}, which begins with {x.pieces[0].name}, was of others, or of none"
                raise inputs.Changed(f"the inputs have changed since the run began: {what}")
            if x.number not in self._finished:
                yield x
        if gone := len(list(expected)):
            raise inputs.Changed(f"the inputs have changed since the run began: the last {gone:,} of their parts are gone")

    def _count(self, name: str) -> set[int]:
        """Counts what there is to do, and looks at what is done: the numbers of those parts."""
        held, standing, finished = self._store.finished(), self.standing, set()
        changed = f"the inputs have changed since the folder {name!r} was begun"
        for x in self._parts():
            if isinstance(x, Reject):
                standing.rejects.append(x)
                continue
            standing.parts += 1
            standing.positions += x.positions
            self._fingerprints.append(x.fingerprint)
            path = held.pop(x.number, None)
            if path is None:
                continue
            try:
                facts = facts_in(path)
            except ValueError:  # what is no whole file, whatever happened to it, is made again
                continue
            if facts.fingerprint != x.fingerprint or path != self._store.path(x.number, x.size):
                what = f"part {x.number}, which begins with {x.pieces[0].name}, was of others"
                raise Unusable(f"{changed}: {what}; choose another folder")
            finished.add(x.number)
            standing.count(x.positions, facts.positions)
            standing.rejects += facts.rejects
        if held:
            raise Unusable(f"{changed}: it holds parts of more; choose another folder")
        if not standing.parts and not standing.rejects:
            raise inputs.NoInput("the inputs hold no positions")
        return finished
