"""A job of several processes (`jax.distributed`), which all make the same call.

Together they run the programs that one process with all their devices would run, on one group of chunks after the other; each
plays on its own devices, and is given the results of all. So all have the same results, and know the same of how far the job is.

Programs in which processes exchange something must be begun in one order everywhere, and each of them by all. Therefore a thread
begins them, which Ctrl-C does not reach, and with each group the processes tell each other whether they go on.
"""

import collections
import contextlib
import functools
import hashlib
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from jaxgo.base import threads
from jaxgo.base.trials import as_by_default
from jaxgo.running.chunks import Chunk

#: Groups under way at a time: of two, the second is ready for the devices that have finished the first.
AT_A_TIME = 2
#: What processes tell each other with each group.
GOES_ON, INTERRUPTED, LEFT = range(3)
#: Words of an argument's digest.
WORDS = 2

#: Held while there is a job: programs of two would be begun in one order here, and in another elsewhere.
_under_way = threading.Lock()


def are_several(devices: Sequence[jax.Device]) -> bool:
    """Whether the devices are of more than one process."""
    return len({device.process_index for device in devices}) > 1


def placed(array: Any, sharding: Sharding) -> jax.Array:
    """An array that all processes have, as one of all of them, of which each puts its part on its devices."""
    array = np.asarray(array)
    return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])


class InStep:
    """Groups of chunks, which all processes have played, in order; within a `with`, whose end ends the job everywhere.

    Args:
      devices: those of all processes, of which some are this one's.
      arguments: what must be the same in all processes, by name: pytrees of arrays, numbers and texts.
      groups: the groups; the same everywhere.
      begin: begins the program of a group, and gives what comes of it, on the devices.
      end: takes that, as numpy arrays; called in a thread that Ctrl-C does not reach, when the group is asked for.

    Raises:
      ValueError: the arguments are not the same in all processes.
      KeyboardInterrupt: another process was interrupted.
      RuntimeError: another process has left the job for another reason; or this one is in the middle of another such job.
    """

    def __init__(
        self, devices: tuple[jax.Device, ...], arguments: Mapping[str, Any], groups: Sequence[list[Chunk]],
        begin: Callable[[list[Chunk]], Any], end: Callable[[list[Chunk], Any], None],
    ):  # fmt: skip
        self._devices, self._arguments, self._groups, self._begin, self._end = devices, arguments, groups, begin, end
        self._tells = GOES_ON
        self._found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()  # one group is found ahead
        self._room.put(None)
        # It would keep a process from ending whose peers never come.
        self._thread = threading.Thread(target=self._conduct, name="in step", daemon=True)

    def __enter__(self) -> Self:
        if not _under_way.acquire(blocking=False):
            raise RuntimeError("jobs of several processes are done one at a time, and one is under way in this process")
        try:
            self._thread.start()
        except BaseException:
            _under_way.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_) -> None:
        self._tells = INTERRUPTED if kind is not None and issubclass(kind, KeyboardInterrupt) else LEFT
        while self._thread.is_alive():  # in which a second Ctrl-C may end the wait, though not the job
            self._room.put(None)
            with contextlib.suppress(queue.Empty):
                self._found.get(timeout=0.05)

    def __iter__(self) -> Iterator[list[Chunk]]:
        while (found := self._found.get()) is not None:
            self._room.put(None)
            if isinstance(found, BaseException):
                raise found
            group, made = found
            threads.begin(self._end, group, made).result()
            yield group

    # In the thread.

    def _conduct(self) -> None:
        try:
            with as_by_default():
                _agree(self._devices, self._arguments)
                self._play()
            self._found.put(None)
        except BaseException as error:
            self._found.put(error)
        finally:
            _under_way.release()

    def _play(self) -> None:
        groups, under_way = iter(self._groups), collections.deque[tuple]()
        stop: BaseException | None = None
        while True:
            while stop is None and len(under_way) < AT_A_TIME and (group := next(groups, None)) is not None:
                under_way.append((group, _tell(self._devices, [self._tells]), self._begin(group)))
            if not under_way:
                break
            group, told, out = under_way.popleft()
            made = jax.device_get(out)
            for process, (what,) in _heard(self._devices, told).items():
                if what != GOES_ON and stop is None:
                    stop = _stop(process, what)
            if stop is None:
                self._room.get()
                self._found.put((group, made))
        if stop is not None:
            raise stop


def _stop(process: int, what: int) -> BaseException:
    if what == INTERRUPTED:
        return KeyboardInterrupt(f"process {process} was interrupted")
    return RuntimeError(f"process {process} has left the job, because of an error or because it wants no more of it")


def _agree(devices: tuple[jax.Device, ...], arguments: Mapping[str, Any]) -> None:
    mine = [word for value in arguments.values() for word in _digest(value)]
    devices = _one_of_each(devices)
    for process, theirs in _heard(devices, _tell(devices, mine)).items():
        for i, (name, value) in enumerate(arguments.items()):
            if theirs[i * WORDS : (i + 1) * WORDS] != mine[i * WORDS : (i + 1) * WORDS]:
                here = f" ({value})" if isinstance(value, (int, float, str)) else ""
                raise ValueError(
                    f"{name} must be the same in all processes; process {process} has another one than process "
                    f"{jax.process_index()}{here}"
                )


def _one_of_each(devices: tuple[jax.Device, ...]) -> tuple[jax.Device, ...]:
    """The first device of each process, in one order whatever the order and the number of those that were asked for."""
    wanted, first = {device.process_index for device in devices}, dict[int, jax.Device]()
    for device in sorted(jax.devices(devices[0].platform), key=lambda device: device.id):
        first.setdefault(device.process_index, device)
    return tuple(first[process] for process in sorted(wanted))


def _digest(value: Any) -> list[int]:
    leaves, structure = jax.tree.flatten(value)
    arrays = [np.asarray(leaf) for leaf in leaves]
    text = repr((str(structure), [(str(array.dtype), array.shape) for array in arrays]))
    made = hashlib.blake2b(b"".join([text.encode(), *(array.tobytes() for array in arrays)]), digest_size=4 * WORDS)
    return np.frombuffer(made.digest(), np.uint32).tolist()


def _tell(devices: tuple[jax.Device, ...], words: Sequence[int]) -> jax.Array:
    """Begins to tell all processes some words, as many as they tell; `_heard` waits for what they say."""
    sharding, to_all = _telling(devices)
    return to_all(placed(np.tile(np.array(words, np.uint32), (len(devices), 1)), sharding))


def _heard(devices: tuple[jax.Device, ...], told: jax.Array) -> dict[int, list[int]]:
    """The words of each process."""
    return {device.process_index: row for device, row in zip(devices, np.asarray(told).tolist())}


@functools.cache
def _telling(devices: tuple[jax.Device, ...]) -> tuple[Sharding, Callable[[jax.Array], jax.Array]]:
    """(how rows lie on the devices, a program that gives all rows to all)."""
    mesh = Mesh(devices, ("devices",))
    to_all = jax.jit(lambda rows: rows, out_shardings=NamedSharding(mesh, PartitionSpec()))
    return NamedSharding(mesh, PartitionSpec("devices")), to_all
