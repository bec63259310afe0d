"""The host's side: playouts of any number of positions, in chunks, on all cores or devices.

A job is cut into chunks of a few compiled shapes, as many for one worker as for another. Cores of a CPU take the next chunk when
they are free. Several devices run one program, by `shard_map`, on a chunk each; they never wait for each other in it. Results are
placed or added by chunk, so that neither the cut nor the order shows in them.
"""

import concurrent.futures
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgo.base import checks
from jaxgo.running import chunks
from jaxgo.playing import draws
from jaxgo.running.chunks import NO_PLAYOUTS, Chunk
from jaxgo.backends.devices import Programs, default_lanes, lanes_of_room, teams_of, workers_of
from jaxgo.results.evaluation import Evaluation, Interrupted, summarise
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.base.one_loop import compiler_options
from jaxgo.playing.playout import Job, Records, Table, columns_of_table, table_of_columns
from jaxgo.board.position import Position
from jaxgo.results.sums import Sums, reduce_records, zero_sums
from jaxgo.board.rules import areas
from jaxgo.running.simulate import Playouts, as_playouts, check_max_plies, check_seed, default_max_plies, table

#: The most lanes that can be asked for.
MOST_LANES = 1 << 18


class Reduction(Protocol):
    """What sums up a chunk's records; equal ones share a program."""

    @property
    def moves(self) -> bool:
        """Whether it needs the records' moves; otherwise they have first plays."""

    def __call__(self, g: Geometry, records: Records, tab: Table, valid: jax.Array, win_from: jax.Array, draw_at: jax.Array):
        """Arrays whose first axis is B, from records [B * n] and a table [B]; see `jaxgo.results.credit_sums`."""



Progress = Callable[[int, int], None]
"""Called with the number of playouts finished and the number in all, after every chunk, in the calling thread."""


@dataclasses.dataclass(frozen=True)
class _Job:
    """What `playouts` and `evaluate` share, checked."""

    position: Position
    num_playouts: int
    seed: tuple[np.ndarray, np.ndarray]
    first_playout: int
    max_plies: int
    streams: np.ndarray
    workers: tuple[jax.Device, ...]
    lanes: int
    progress: Progress | None
    per_lane: tuple[int, ...] = chunks.PER_LANE

    @property
    def geometry(self) -> Geometry:
        return self.position.geometry

    @property
    def room(self) -> tuple[int, int]:
        """(positions, playouts of each) of a chunk."""
        of_job = self.position.batch, self.num_playouts, len(self.workers)
        return chunks.room(*of_job, self.lanes, self.per_lane, default_max_plies(self.position.size))


def _job(position, num_playouts, seed, first_playout, max_plies, streams, devices, lanes, progress) -> _Job:
    if not isinstance(position, Position):
        raise TypeError(f"position must be a jaxgo.Position, not {type(position).__name__}")
    num_playouts = checks.integer("num_playouts", num_playouts, 1)
    first_playout = checks.integer("first_playout", first_playout, 0)
    checks.integer("first_playout + num_playouts", first_playout + num_playouts, 1)
    size, batch = position.size, position.batch
    if streams is None:
        streams = np.arange(batch, dtype=np.int32)
    streams = checks.integers("streams", streams, (batch,), 0, checks.INT32_MAX)
    workers = workers_of(devices)
    lanes = checks.integer("lanes", lanes if lanes is not None else default_lanes(size, workers[0].platform), 1, MOST_LANES)
    words = tuple(np.asarray(w) for w in draws.seed_words(check_seed(seed)))
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of (done, total), not {progress!r}")
    max_plies = check_max_plies(max_plies, size)
    return _Job(position, num_playouts, words, first_playout, max_plies, streams, workers, lanes, progress)


def program(kind, size: int, shape: tuple[int, int], lanes: int, longest: int, devices: tuple[jax.Device, ...], play_all):
    """The function of a chunk shape on devices, and the shapes of its arguments.

    It takes a chunk for each device, side by side on the first axis of both arguments (the columns of a table, and numbers, as
    `_results` makes them), and gives the results likewise. `kind` is "playouts", "moves", "sums" or a `Reduction`.
    """
    g, platform = geometry(size), devices[0].platform
    positions, each = shape
    lanes = lanes_of_room(lanes, positions * each, platform)

    def chunk(columns, numbers):
        tab, seed, rest = table_of_columns(columns[0]), tuple(numbers[0, :2]), tuple(numbers[0, 2:].astype(jnp.int32))
        job, of_komi = Job(each, seed, *rest[:4]), rest[4:]
        moves = kind == "moves" or (kind not in ("sums", "playouts") and kind.moves)
        recorded = dict(first_plays=not moves and kind != "playouts", moves=moves)
        records = play_all(g, tab, job, lanes=lanes, longest=longest, **recorded)
        if kind in ("playouts", "moves"):
            out = as_playouts(g, records, positions)
        else:
            # Without the barrier XLA fuses the unpacking of the records into every sum, and compiles for minutes on 19x19.
            records = lax.optimization_barrier(records)
            row, column = (lax.broadcasted_iota(jnp.int32, shape, i) for i in (0, 1))
            valid = (row < job.num_positions) & (column < job.num_playouts)
            if kind == "sums":
                out = reduce_records(g, records, areas(g, records.black, records.white), valid, *of_komi)
            else:
                out = kind(g, records, tab, valid, *of_komi)
        return jax.tree.map(lambda x: x[None], out)

    num_columns = 2 * g.num_words + 4
    shapes = [jax.ShapeDtypeStruct((len(devices), *x), jnp.uint32) for x in ((num_columns, positions), (8,))]
    mesh, each_its_own = Mesh(devices, ("devices",)), PartitionSpec("devices")
    sharding = NamedSharding(mesh, each_its_own)
    jitted = jax.jit(
        jax.shard_map(chunk, mesh=mesh, in_specs=each_its_own, out_specs=each_its_own, check_vma=False),
        in_shardings=sharding,
        out_shardings=sharding,
        compiler_options=compiler_options(platform),
    )
    return jitted, shapes


def _build(*key_and_play_all) -> jax.stages.Compiled:
    jitted, shapes = program(*key_and_play_all)
    return jitted.lower(*shapes).compile()


_compiled = Programs(_build)


def _results(job: _Job, kind: str | Reduction, of_komi: tuple[int, int] = (0, 0)) -> Iterator[tuple[Chunk, Playouts | Sums]]:
    """Runs the job's chunks on its workers and yields each with its result (numpy) as it is finished."""
    room = job.room
    # On the host, where no shape needs compiling.
    columns = np.stack(columns_of_table(table(jax.tree.map(np.asarray, job.position), job.streams)))
    idle = teams_of(job.workers)
    together = len(idle[0])
    todo = chunks.cut(job.position.batch, job.num_playouts, room, len(job.workers), job.lanes)
    groups = iter([todo[i : i + together] for i in range(0, len(todo), together)])

    def arguments(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        take = np.minimum(np.arange(chunk.start, chunk.start + room[0]), job.position.batch - 1)
        numbers = (chunk.size, chunk.count, job.first_playout + chunk.first, job.max_plies, *of_komi)
        return columns[:, take], np.array([*job.seed, *(np.int32(x).view(np.uint32) for x in numbers)])

    def run(group: list[Chunk], devices: tuple[jax.Device, ...]):
        function = _compiled(kind, job.position.size, room, job.lanes, job.max_plies, devices)
        of_each = [arguments(chunk) for chunk in group + [NO_PLAYOUTS] * (together - len(group))]
        # Numpy arrays: to put them on the device first would take longer than the call.
        out = jax.tree.map(np.asarray, function(*(np.stack(x) for x in zip(*of_each))))
        return [jax.tree.map(lambda x, i=i: x[i], out) for i in range(len(group))]

    pool = concurrent.futures.ThreadPoolExecutor(len(idle))
    running: dict[concurrent.futures.Future, tuple[list[Chunk], tuple[jax.Device, ...]]] = {}
    try:
        while True:
            while idle and (group := next(groups, None)) is not None:
                devices = idle.pop()
                running[pool.submit(run, group, devices)] = (group, devices)
            if not running:
                return
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                group, devices = running.pop(future)
                idle.append(devices)
                yield from zip(group, future.result())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_chunks(
    reduction: Reduction, komi: float, position, num_playouts, *, seed, first_playout, streams, devices, progress
) -> Iterator[tuple[Chunk, jax.Array]]:
    """Plays like `playouts`, and yields each chunk and what the reduction makes of it on the device."""
    job = _job(position, num_playouts, seed, first_playout, None, streams, devices, None, progress)
    if reduction.moves:
        job = dataclasses.replace(job, per_lane=chunks.PER_LANE_WITH_MOVES)
    done = 0
    for chunk, part in _results(job, reduction, thresholds(komi, job.geometry.num_points)):
        yield chunk, part
        done += chunk.size * chunk.count
        if progress is not None:
            progress(done, position.batch * num_playouts)


def playouts(
    position: Position,
    num_playouts: int,
    *,
    seed=0,
    first_playout: int = 0,
    max_plies: int | None = None,
    moves: bool = False,
    streams=None,
    devices: Sequence[jax.Device] | None = None,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> Playouts:
    """Plays `num_playouts` random playouts from each position and returns every result.

    The playout is Don Dailey's reference bot's (2008): a move is drawn uniformly from the legal moves that fill no own eye; a
    player passes when there is none; two passes end it. See `jaxgo.board.rules` for the rules of Go, `jaxgo.playing.tick` for the eyes.

    Each playout is a function of (seed, stream, number) alone, the stream being the position's: what else is in the batch, how
    it is split, and which devices play it does not matter. Playouts 0 to 999 and then 1000 to 1999 (`first_playout=1000`) are
    those of one call of 2000. See `jaxgo.playing.draws` for how the random numbers are made.

    Args:
      position: B positions; one that is over gives playouts of length 0.
      num_playouts: playouts of each position, 1 to 2**31 - 1.
      seed: an int in [0, 2**64), or a jax key.
      first_playout: number of the first playout.
      max_plies: cap on a playout's plies, 1 to the default of 3 N**2.
      moves: whether to record the moves too.
      streams: int, or int [B]: the positions' random streams, from 0; by default 0 to B - 1, so that equal positions in a batch
        get different playouts. Positions with one stream share their random numbers.
      devices: jax devices to use; by default all local ones, and all cores of the CPU.
      lanes: playouts that run at a time on a device or core; the result does not depend on it.
      progress: called with (done, total) after each chunk.

    Returns:
      `Playouts` of numpy arrays.

    Raises:
      TypeError, ValueError: an argument is not what it must be; before any work is done.
    """
    if not isinstance(moves, bool):
        raise TypeError(f"moves must be True or False, not {moves!r}")
    job = _job(position, num_playouts, seed, first_playout, max_plies, streams, devices, lanes, progress)
    if moves:
        job = dataclasses.replace(job, per_lane=chunks.PER_LANE_WITH_MOVES)
    out, done = None, 0
    for chunk, part in _results(job, "moves" if moves else "playouts"):
        if out is None:
            out = jax.tree.map(lambda x: np.empty((position.batch, num_playouts, *x.shape[2:]), x.dtype), part)
        here = np.s_[chunk.start : chunk.start + chunk.size, chunk.first : chunk.first + chunk.count]
        for target, source in zip(jax.tree.leaves(out), jax.tree.leaves(part)):
            target[here] = source[: chunk.size, : chunk.count]
        done += chunk.size * chunk.count
        if progress is not None:
            progress(done, position.batch * num_playouts)
    return out


def evaluate(
    position: Position,
    num_playouts: int,
    *,
    komi: float = 7.5,
    seed=0,
    first_playout: int = 0,
    max_plies: int | None = None,
    streams=None,
    devices: Sequence[jax.Device] | None = None,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Plays `num_playouts` random playouts from each position and returns their statistics, reduced on the device.

    The playouts are those of `jaxgo.playouts` with the same arguments. Memory does not grow with their number.

    Args:
      position, num_playouts, seed, first_playout, max_plies, streams, devices, lanes, progress: as in `jaxgo.playouts`.
      komi: points that White gets; a finite number. Draws count half a win.

    Returns:
      `Evaluation` of numpy arrays.

    Raises:
      TypeError, ValueError: an argument is not what it must be; before any work is done.
      Interrupted: on Ctrl-C, a KeyboardInterrupt whose `partial` holds the statistics of the playouts finished until then.
    """
    komi = checks.komi(komi)
    job = _job(position, num_playouts, seed, first_playout, max_plies, streams, devices, lanes, progress)
    g = job.geometry
    total, finished = zero_sums(g, position.batch), np.zeros(position.batch, np.int64)
    try:
        with contextlib.closing(_results(job, "sums", thresholds(komi, g.num_points))) as results:
            for chunk, part in results:
                here = slice(chunk.start, chunk.start + chunk.size)
                for target, source in zip(total, part):
                    target[here] += source[: chunk.size]
                finished[here] += chunk.count
                if progress is not None:
                    progress(int(finished.sum()), position.batch * num_playouts)
    except KeyboardInterrupt:
        raise Interrupted(summarise(position.size, total, finished, num_playouts, komi)) from None
    return summarise(position.size, total, finished, num_playouts, komi)


def thresholds(komi: float, num_points: int) -> tuple[int, int]:
    """(the least margin with which Black wins, the margin of a draw or one that never occurs)."""
    beyond = num_points + 1
    whole = int(np.clip(np.floor(komi), -beyond - 1, beyond))
    return whole + 1, whole if komi == whole else beyond + 1
