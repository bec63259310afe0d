"""Workers on a Ray cluster: Ray Data's `map_batches` over actors, each with compiled programs and a device of its own.

The process that was started stays the only one that reads inputs and writes results: a part travels to an actor as a row of a
dataset, and its Parquet file comes back in one. So nodes need no common disk, and a node that is lost has nothing to leave
behind: Ray starts its actors anew where there is room, and hands them its parts again. It would do so for ever with a part that
itself ends them, by the memory that it takes; so they are counted (`_Attempts`).
"""

import collections
import contextlib
import itertools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator

import pyarrow

import search.cluster
from jaxgo.base.cache import keep_compiled
from jaxgo.base.source import version
from search.cluster import ClusterError, cause
from search.collection.parts import Part
from search.collection.settings import Settings
from search.collection.worker import Done

#: Of one dataset, at most: parts, and bytes of them. Actors begin anew with each, which takes seconds.
MOST_PARTS, MOST_BYTES = 1 << 14, 1 << 28
#: Parts that a call of an actor gets on a GPU, which wants many positions; a worker takes as many of them at once as fill it.
PARTS_OF_GPU_CALL = 16
#: Workers that may end while they have a part, and one more is tried.
MOST_ENDED = 10


@contextlib.contextmanager
def connected(address: str) -> Iterator["Cluster"]:
    """A cluster for collections; see `search.cluster.connected`.

    Raises:
      ClusterError: Ray is not installed, or there is no cluster at the address.
    """
    with search.cluster.connected(address, "data") as ray:
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield Cluster(ray)


class Cluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray):
        self._ray = ray
        resources = ray.cluster_resources()
        self.gpus, self.cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 0))
        if not self.gpus and not self.cpus:
            raise ClusterError("the cluster has neither GPUs nor CPUs for workers")

    @property
    def devices(self) -> int:
        """GPUs, or cores where there are none: the most workers."""
        return self.gpus or self.cpus

    def work(self, parts: Iterable[Part], settings: Settings, workers: int, deliver: Callable[[Done], None]) -> None:
        """Finishes parts, in any order.

        Args:
          parts: as many as there are; those of one dataset are held at a time, by Ray, as they were read.
          settings: of the collection.
          workers: actors, at most as many as `devices`.
          deliver: called with each part that is done, in this thread.

        Raises:
          ClusterError: the cluster is lost, or whatever works on one of the parts ends.
        """
        parts = iter(parts)
        try:
            while rows := list(_rows(parts)):
                for table in self._results(rows, settings, workers):
                    for data in table["done"].to_pylist():
                        deliver(pickle.loads(data))
        except self._ray.exceptions.RayError as error:
            raise ClusterError(cause(error)) from error

    def _results(self, rows: list[pyarrow.Table], settings: Settings, workers: int) -> Iterator[pyarrow.Table]:
        most = min(workers, len(rows))
        # A pool that can do with one actor goes on when nodes are lost for good.
        pool = {"min_size": 1, "max_size": most, "initial_size": most, "max_tasks_in_flight_per_actor": 2}
        dataset = self._ray.data.from_arrow(rows).map_batches(
            _Actor,
            fn_constructor_args=(settings, version(), bool(self.gpus), _attempts(self._ray), MOST_ENDED),
            batch_size=PARTS_OF_GPU_CALL if self.gpus else 1,
            batch_format="pyarrow",
            compute=self._ray.data.ActorPoolStrategy(**pool),
            num_cpus=1,
            num_gpus=1 if self.gpus else 0,
        )
        return dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0)


def _rows(parts: Iterator[Part]) -> Iterator[pyarrow.Table]:
    """A dataset's parts, a table of one row each."""
    size = 0
    for part in itertools.islice(parts, MOST_PARTS):
        data = pickle.dumps(part)
        size += len(data)
        yield pyarrow.table({"part": [data]})
        if size >= MOST_BYTES:
            return


class _Attempts:
    """Knows in a process of its own how often each part has been begun."""

    def __init__(self) -> None:
        self._begun: collections.Counter[int] = collections.Counter()

    def begin(self, number: int) -> int:
        """How often the part of this number was begun before."""
        self._begun[number] += 1
        return self._begun[number] - 1


def _attempts(ray):
    """It takes no core, and where it is lost, one that knows of nothing takes its place."""
    return ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Attempts).remote()


class _Actor:
    """What runs in a process of the cluster."""

    def __init__(self, settings: Settings, wanted: str, on_gpu: bool, attempts, most_ended: int):
        if version() != wanted:
            raise RuntimeError(f"this node has jaxgo {version()}, the process that uses the cluster has {wanted}")
        keep_compiled()
        if not on_gpu:
            # XLA's threads, one for each core of the machine otherwise, which hand the parts of a program to each other: a worker
            # would take 1.4 times the time of a core, of which others have less. Where XLA does not know it, nothing changes.
            os.environ.setdefault("PJRT_NPROC", "1")
        import ray

        from search.collection.worker import Worker

        self._ray, self._attempts, self._most_ended = ray, attempts, most_ended
        name = f"{ray.util.get_node_ip_address()}:{os.getpid()}"
        # One core for each actor, as Ray counts them; a GPU is the only one that the process sees.
        self._worker = Worker(settings, None if on_gpu else 1, name)

    def __call__(self, rows: pyarrow.Table) -> pyarrow.Table:
        finished: list[bytes] = []
        parts = [pickle.loads(data) for data in rows["part"].to_pylist()]
        for part in parts:
            if self._ray.get(self._attempts.begin.remote(part.number)) > self._most_ended:
                where = f"part {part.number}, which begins with {part.pieces[0].name}"
                raise RuntimeError(f"{self._most_ended + 1} workers have ended that had {where}: is there memory enough for it?")
        self._worker.work(iter(parts), lambda done: finished.append(pickle.dumps(done)))
        return pyarrow.table({"done": finished})
