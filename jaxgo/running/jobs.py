"""How a job is done: cut into chunks, which workers play.

Chunks are of a few compiled shapes, as many for one worker as for another. Cores of a CPU take the next chunk when they are free.
Several devices run one program, by `shard_map`, on a chunk each; they never wait for each other in it, except for each other's
results where they are of several processes (`jaxgo.running.processes`). Results are placed or added by chunk, so that neither the
cut nor the order shows in them.
"""

import collections
import contextlib
import dataclasses
import functools
import queue
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgo.backends.backend import Backend
from jaxgo.backends.choice import backend_of, own_of, teams_of
from jaxgo.backends.programs import Programs
from jaxgo.backends.xla import log_width
from jaxgo.base import forms, source, threads
from jaxgo.base.constants import max_plies
from jaxgo.base.promise import Promise
from jaxgo.base.trials import as_by_default
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.playing.wire import Records, num_columns_of_job, of_playouts
from jaxgo.running import at_work, chunks, processes
from jaxgo.running.chunks import NO_PLAYOUTS, Chunk
from jaxgo.running.request import Request

#: Words of a chunk that are not columns: the seed's, positions, the most playouts of one, the cap.
NUMBERS = 5
#: Where each of several processes is given every playout: room that chunks of all devices have together, in large chunks.
GATHERED = 8


@dataclasses.dataclass(frozen=True)
class Output:
    """What is made of a chunk's playouts on the device."""

    call: str = dataclasses.field(compare=False)
    """Of what it is the output."""
    first_plays: bool
    """Whether it needs first plays."""
    moves: bool
    """Whether it needs moves."""
    reduce: Callable[[Geometry, Records, tuple[jax.Array, ...], jax.Array, jax.Array], Any]
    """Called with the geometry, records [B * n], columns of the positions (uint32 [B] each), bounds (int32 [B, 2]; see
    `jaxgo.results.outcome`) and which records are playouts (bool [B, n]); gives arrays whose first axis is B. Outputs with the
    same function share programs."""
    of_playouts: bool = False
    """Whether that is as much as there are playouts; their moves are then given beside it, and not in the records."""
    of_pieces: bool = False
    """Whether positions are played in pieces (`jaxgo.running.pieces`)."""

    def per_lane(self, workers: Sequence[jax.Device]) -> tuple[int, ...]:
        """Playouts that the workers' chunks have room for, for each lane."""
        rooms = chunks.PER_LANE_WITH_MOVES if self.moves else chunks.PER_LANE
        if self.of_pieces:  # of which there are seldom few: small programs are not worth compiling
            return rooms[1:]
        # What is no CPU has less memory for moves, and plays faster than playouts get to the host: one chunk is on its way while
        # the next is played.
        few = rooms[:-1] if (self.moves or self.of_playouts) and workers[0].platform != "cpu" else rooms
        if not self.of_playouts or not processes.are_several(workers):
            return few
        # What all devices have made lies in the memory of each.
        return tuple(x for x in few if x * len(workers) <= GATHERED * rooms[-1]) or rooms[:1]


def _backend_of_all(devices: Sequence[jax.Device], size: int, form: PolicyForm | None) -> Backend:
    """The first one's, or where one of several GPUs has no kernel that agrees with XLA, that one's."""
    backends = [backend_of(device) for device in devices]
    return next((backend for backend in backends if not backend.has_kernel(size, form)), backends[0])


def program(
    output: Output, size: int, shape: tuple[int, int], lanes: int, longest: int, devices: tuple[jax.Device, ...],
    backend: Backend | None = None, form: PolicyForm | None = None,
):  # fmt: skip
    """The function of a chunk shape on devices (played as the backend of all does), and the shapes of its arguments.

    It takes a chunk for each device, side by side on the first axis of all arguments, and gives the results likewise. Those of
    devices of several processes are given to each of them.

    Its arguments are memory for moves, int16 [devices, positions, playouts, `log_width`], where the devices use it again
    (`_reuses_log`), else None; the job's columns and the positions' bounds, uint32 [devices, C + 2, positions]; and `NUMBERS`
    numbers. The arrays of a policy of that form, which all chunks share, follow. It gives what the output makes of the playouts,
    and that memory: in its last columns lie the moves, which are given there in any case where the output is of playouts.
    """
    g, backend = geometry(size), backend or _backend_of_all(own_of(devices), size, form)
    positions, each = shape
    lanes, reuses_log = backend.lanes_of_room(lanes, positions * each), _reuses_log(output, backend, devices)

    def chunk(log, columns, numbers, *arrays):
        columns, bounds = columns[0, :-2], columns[0, -2:].astype(jnp.int32).T
        job = Job(each, tuple(numbers[0, :2]), *numbers[0, 2:].astype(jnp.int32))
        policy = form.with_arrays(arrays) if form else None
        records = backend.play_all(
            g, columns, job, lanes=lanes, longest=longest, first_plays=output.first_plays, moves=output.moves, policy=policy,
            log=log[0].reshape(positions * each, -1) if reuses_log else None,
        )  # fmt: skip
        moves = records.log if reuses_log else records.events if output.of_playouts else None
        records = records._replace(log=None, events=None if output.of_playouts else records.events)
        row, column = (lax.broadcasted_iota(jnp.int32, shape, i) for i in (0, 1))
        *position, _, count = columns
        valid = (row < job.num_positions) & (column < count.astype(jnp.int32)[:, None])
        # Without the barrier XLA fuses the unpacking of the records into every sum, and compiles for minutes on 19x19.
        out = output.reduce(g, lax.optimization_barrier(records), tuple(position), bounds, valid)
        moves = None if moves is None else moves.reshape(positions, each, -1)
        return jax.tree.map(lambda x: x[None], (out, moves))

    log = jax.ShapeDtypeStruct((len(devices), positions, each, log_width(longest)), jnp.int16) if reuses_log else None
    shapes = [log] + [
        jax.ShapeDtypeStruct((len(devices), *x), jnp.uint32)
        for x in ((num_columns_of_job(g) + 2, positions), (NUMBERS,))
    ]
    mesh, each_its_own = Mesh(devices, ("devices",)), PartitionSpec("devices")
    results = NamedSharding(mesh, each_its_own, memory_kind=backend.memory_of_results(devices[0]))
    given = NamedSharding(mesh, PartitionSpec()) if processes.are_several(devices) else results
    shared = form.shapes if form else ()
    specs = (each_its_own,) * len(shapes) + (PartitionSpec(),) * len(shared)
    shapes += shared
    in_form = forms.written(backend.form, chunk)
    jitted = jax.jit(
        jax.shard_map(in_form, mesh=mesh, in_specs=specs, out_specs=each_its_own, check_vma=False),
        in_shardings=tuple(NamedSharding(mesh, spec) for spec in specs),
        out_shardings=(given, NamedSharding(mesh, each_its_own) if reuses_log else given),
        donate_argnums=0, keep_unused=True,  # what is in that memory is of no use, but the memory is
        compiler_options=backend.compiler_options(),
    )  # fmt: skip
    return jitted, shapes


def _reuses_log(output: Output, backend: Backend, devices: Sequence[jax.Device]) -> bool:
    """Whether a worker's chunks lay their moves into the same memory."""
    return output.moves and backend.reuses_log and not processes.are_several(devices)


def _lowered(
    output: Output, size: int, shape: tuple[int, int], lanes: int, longest: int, form: PolicyForm | None,
    devices: tuple[jax.Device, ...],
) -> jax.stages.Lowered:  # fmt: skip
    jitted, shapes = program(output, size, shape, lanes, longest, devices, form=form)
    return jitted.lower(*shapes)


_compiled = Programs(_lowered, "job")


def longest_for(output: Output, cap: int, size: int) -> int:
    """Plies that a program has room for, at least the cap: of a few numbers where moves are kept, so that caps share programs."""
    return min(max_plies(size), 1 << (cap - 1).bit_length()) if output.moves else max_plies(size)


class Plan(NamedTuple):
    """The program of a job, and who runs it."""

    output: Output
    size: int
    room: tuple[int, int]
    """Positions of a chunk, and playouts of each."""
    lanes: int
    longest: int
    form: PolicyForm | None
    """Of the policy that is asked."""
    workers: tuple[jax.Device, ...]

    @classmethod
    def of(
        cls, output: Output, size: int, batch: int, num_playouts: int, workers: tuple[jax.Device, ...], lanes: int, cap: int,
        form: PolicyForm | None = None,
    ) -> "Plan":  # fmt: skip
        """For so many playouts, at most `cap` plies long, from each of `batch` positions."""
        room = chunks.room(batch, num_playouts, len(workers), lanes, output.per_lane(workers), max_plies(size))
        return cls(output, size, room, lanes, longest_for(output, cap, size), form, workers)

    def program(self, devices: tuple[jax.Device, ...]) -> jax.stages.Compiled:
        """The compiled program for a team of the workers."""
        return _compiled(*self[:-1], devices)

    def log(self, devices: tuple[jax.Device, ...]) -> np.ndarray:
        """Memory for the moves of such a team's first chunk, in whose place the device puts its own."""
        return np.empty((len(devices), *self.room, log_width(self.longest)), np.int16)

    @property
    def is_compiled(self) -> bool:
        """Whether the job would compile nothing."""
        return all((*self[:-1], devices) in _compiled for devices in set(teams_of(self.workers)))

    def compile(self) -> None:
        """Compiles what the job needs."""
        with as_by_default():
            for devices in set(teams_of(self.workers)):
                self.program(devices)


def results(
    request: Request, output: Output, take: Callable[[Chunk, Any, np.ndarray | None], None]
) -> Generator[Chunk, None, None]:
    """Does the job and yields each chunk once what was made of it has been taken.

    `request.progress` is told of a chunk when the next one is asked for.

    Args:
      request: the job.
      output: what is made of it.
      take: called with each chunk, what was made of it (numpy arrays) and, where the output is of playouts, their moves if it has
        some (int16 [positions, playouts, at least max_plies]), else None. When it returns the arrays are no longer its own. It
        is called for several chunks at a time, in threads that Ctrl-C does not reach, so that none is taken in part.
    """
    policy = request.policy
    form, arrays = (PolicyForm.of(policy), jax.device_get(jax.tree.leaves(policy))) if policy is not None else (None, [])
    plan = Plan.of(
        output, request.size, request.batch, request.num_playouts, request.workers, request.lanes, request.max_plies, form
    )  # fmt: skip
    room, teams, several = plan.room, teams_of(request.workers), processes.are_several(request.workers)
    together = len(teams[0])
    todo = chunks.cut(request.batch, request.num_playouts, room, len(request.workers), request.lanes)
    groups = [todo[i : i + together] for i in range(0, len(todo), together)]
    bounds = request.bounds().T.astype(np.int32).view(np.uint32)
    reuses_log = _reuses_log(output, backend_of(own_of(request.workers)[0]), request.workers)
    # Several workers may be of one device.
    idle_logs = collections.defaultdict[tuple[jax.Device, ...], list[jax.Array]](list)

    def arguments(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        rows = np.minimum(np.arange(chunk.start, chunk.start + room[0]), request.batch - 1)
        first = request.first_playout[rows] + np.int32(chunk.first)
        job = of_playouts(tuple(request.columns[:, rows]), first, request.counts_of(chunk, rows))
        numbers = (*request.seed, chunk.size, chunk.count, request.max_plies)
        return np.stack([*job, *bounds[:, rows]]), np.array(numbers, np.uint32)

    def begin(group: list[Chunk], devices: tuple[jax.Device, ...]) -> Any:
        function = plan.program(devices)
        of_each = [arguments(chunk) for chunk in group + [NO_PLAYOUTS] * (together - len(group))]
        given = [*(np.stack(x) for x in zip(*of_each)), *arrays]
        if several:
            given = [processes.placed(x, sharding) for x, sharding in zip(given, function.input_shardings[0][1:])]
        # Otherwise numpy arrays: to put them on the device first would take longer than the call.
        log: Any = None
        if reuses_log:
            try:
                log = idle_logs[devices].pop()
            except IndexError:  # none is idle, or another thread was faster
                log = plan.log(devices)
        return function(log, *given)

    def end(group: list[Chunk], made: tuple[Any, jax.Array | None]) -> None:
        out = jax.device_get(made[0])
        moves = np.asarray(made[1])[..., -plan.longest :] if output.of_playouts and output.moves else None
        for i, chunk in enumerate(group):
            take(chunk, jax.tree.map(lambda x, i=i: x[i], out), None if moves is None else moves[i])

    def run(group: list[Chunk], devices: tuple[jax.Device, ...]) -> None:
        with as_by_default(), at_work.on(devices):
            made = begin(group, devices)
            end(group, made)
            if reuses_log:
                idle_logs[devices].append(made[1])

    def in_step() -> processes.InStep:
        same = {"the version of jaxgo": source.version(), "the call": output.call} | request.arguments()
        return processes.InStep(request.workers, same, groups, lambda group: begin(group, request.workers), end)

    done = 0
    with in_step() if several else contextlib.closing(_when_free(teams, groups, run)) as played:
        for group in played:
            for chunk in group:
                yield chunk
                done += int(request.counts_of(chunk, np.arange(chunk.start, chunk.start + chunk.size)).sum())
                if request.progress is not None:
                    request.progress(done, request.total)


def _when_free(
    teams: list[tuple[jax.Device, ...]], groups: list[list[Chunk]],
    run: Callable[[list[Chunk], tuple[jax.Device, ...]], None],
) -> Generator[list[Chunk], None, None]:  # fmt: skip
    """Has each team of workers run the next group when it is free; yields those that are finished."""
    idle, waiting = list(teams), iter(groups)
    running: dict[Promise, tuple[list[Chunk], tuple[jax.Device, ...]]] = {}
    finished: queue.SimpleQueue[Promise] = queue.SimpleQueue()
    try:
        while True:
            while idle and (group := next(waiting, None)) is not None:
                devices, promise = idle.pop(), Promise[None]()
                running[promise] = (group, devices)  # before it begins: what does is waited for
                promise.then(functools.partial(finished.put, promise))
                threads.begin(run, group, devices, promise=promise)
            if not running:
                return
            promise = finished.get()
            group, devices = running.pop(promise)
            idle.append(devices)
            promise.result()
            yield group
    finally:
        for promise in running:
            if not promise.take_back():
                promise.wait()
