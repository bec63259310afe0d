"""The host's side: playouts of any number of positions, in chunks, on all cores or devices.

A job is cut into chunks of a few compiled shapes. Chunks run on the workers, one thread for each core of the CPU or for each
other device; a worker takes the next chunk when it is free. Results are placed or added by chunk, so that neither the cut nor
the order shows in them.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo import checks, draws
from jaxgo.devices import Programs, default_lanes, lanes_for, workers_of
from jaxgo.evaluation import Evaluation, Interrupted, summarise
from jaxgo.geometry import Geometry, geometry
from jaxgo.one_loop import compiler_options
from jaxgo.playout import Job, Table
from jaxgo.position import Position
from jaxgo.reductions import Sums, reduce_records, zero_sums
from jaxgo.rules import areas
from jaxgo.simulation import Playouts, as_playouts, check_max_plies, check_seed, default_max_plies, table

#: Playouts of a chunk for each lane: enough that the last games of a chunk, when lanes run empty, cost little.
CHUNK_PER_LANE = 128

#: The same where a chunk's moves are kept: they take much memory, and pass through the cache.
CHUNK_PER_LANE_WITH_MOVES = 32

#: Playouts of a small chunk for each lane: with fewer, most lanes would wait for the longest game.
LEAST_PER_LANE = 4
#: The most lanes that can be asked for.
MOST_LANES = 1 << 18

Reduction = Callable
"""A function that sums up a chunk's records with moves: (geometry, `Records` [B * n], `Table` [B], bool [B, n] which of them are
playouts, the least margin with which Black wins, the margin of a draw) -> arrays whose first axis is B."""

Progress = Callable[[int, int], None]
"""Called with the number of playouts finished and the number in all, after every chunk, in the calling thread."""


@dataclasses.dataclass(frozen=True)
class _Chunk:
    """Playouts first to first + count - 1 of positions start to start + size - 1."""

    start: int
    size: int
    first: int
    count: int


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
    per_lane: int = CHUNK_PER_LANE

    @property
    def geometry(self) -> Geometry:
        return self.position.geometry

    @functools.cached_property
    def room(self) -> tuple[int, int]:
        """(positions, playouts of each) that a chunk has room for.

        Room that is not needed costs little, another shape costs a compilation: so there are two sizes of chunks, and powers of
        four of playouts of each position.
        """
        share = -(-self.position.batch * self.num_playouts // len(self.workers))
        size = self.lanes * (1 if share <= self.lanes else self.per_lane)
        size = min(size, checks.INT32_MAX // default_max_plies(self.position.size))  # sums and places of plies are 32-bit
        each = size if self.position.batch == 1 else min(4 ** ((self.num_playouts - 1).bit_length() + 1 >> 1), size)
        return size // each, each

    @property
    def chunks(self) -> list[_Chunk]:
        positions, each = self.room
        parts, workers = -(-self.num_playouts // each), len(self.workers)
        # As many chunks for one worker as for another, where there are playouts enough.
        multiple = workers // math.gcd(workers, -(-self.position.batch // positions))
        parts = min(self.num_playouts, -(-parts // multiple) * multiple)
        return [
            _Chunk(start, size, first, count)
            for start, size in _even(self.position.batch, -(-self.position.batch // positions))
            for first, count in _even(self.num_playouts, parts)
        ]

    def tables(self) -> dict[int, Table]:
        """The table of each chunk's positions by `_Chunk.start`, filled up to the room."""
        whole = table(jax.tree.map(np.asarray, self.position), self.streams)  # on the host, where no shape needs compiling
        out = {}
        for start in {chunk.start for chunk in self.chunks}:
            take = np.minimum(np.arange(start, start + self.room[0]), self.position.batch - 1)
            out[start] = jax.tree.map(lambda x, take=take: x[take], whole)
        return out


def _even(total: int, parts: int) -> list[tuple[int, int]]:
    """(start, size) of so many parts of nearly one size."""
    bounds = [total * i // parts for i in range(parts + 1)]
    return [(a, b - a) for a, b in zip(bounds, bounds[1:])]


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


def _build(kind: "str | Reduction", size: int, shape: tuple[int, int], lanes: int, longest: int, device: jax.Device, play_all):
    """The compiled function of a chunk shape on a device."""
    g = geometry(size)
    positions, each = shape
    lanes = lanes_for(lanes, positions * each // LEAST_PER_LANE, device.platform)

    def play(first_plays, moves, tab, seed, num_positions, num_playouts, first_playout, max_plies):
        return play_all(
            g, tab, Job(each, seed, num_positions, num_playouts, first_playout, max_plies),
            lanes=lanes, longest=longest, first_plays=first_plays, moves=moves,
        )  # fmt: skip

    def playouts(*args) -> Playouts:
        return as_playouts(g, play(False, kind == "moves", *args), positions)

    def sums(win_from, draw_at, *args) -> Sums:
        # Without the barrier XLA fuses the unpacking of the records into every sum, and compiles for minutes on 19x19.
        records = lax.optimization_barrier(play(True, False, *args))
        return reduce_records(g, records, areas(g, records.black, records.white), valid(*args), win_from, draw_at)

    def reduced(win_from, draw_at, *args):
        return kind(g, lax.optimization_barrier(play(False, True, *args)), args[0], valid(*args), win_from, draw_at)

    def valid(tab, seed, num_positions, num_playouts, *_):
        rows, columns = (lax.broadcasted_iota(jnp.int32, shape, i) for i in (0, 1))
        return (rows < num_positions) & (columns < num_playouts)

    numbers = [jax.ShapeDtypeStruct((), jnp.int32)] * 4
    seed = (jax.ShapeDtypeStruct((), jnp.uint32),) * 2
    tab = jax.eval_shape(lambda: table(Position.empty(size, positions), jnp.zeros(positions, jnp.int32)))
    thresholds_too = kind == "sums" or callable(kind)
    shapes = (*numbers[:2], tab, seed, *numbers) if thresholds_too else (tab, seed, *numbers)
    sharding = jax.sharding.SingleDeviceSharding(device)
    jitted = jax.jit(
        reduced if callable(kind) else sums if kind == "sums" else playouts,
        in_shardings=sharding,
        out_shardings=sharding,
        compiler_options=compiler_options(device.platform),
    )
    return jitted.lower(*shapes).compile()


_compiled = Programs(_build)


def _results(job: _Job, kind: str | Reduction, extra: tuple = ()) -> Iterator[tuple[_Chunk, Playouts | Sums]]:
    """Runs the job's chunks on its workers and yields each with its result (numpy) as it is finished."""
    tables, chunks = job.tables(), iter(job.chunks)
    idle = list(job.workers)

    def run(chunk: _Chunk, device: jax.Device):
        function = _compiled(kind, job.position.size, job.room, job.lanes, job.max_plies, device)
        numbers = (chunk.size, chunk.count, job.first_playout + chunk.first, job.max_plies)
        args = (*(np.int32(x) for x in extra), tables[chunk.start], job.seed, *(np.int32(x) for x in numbers))
        # Numpy arrays: to put them on the device first would take longer than the call.
        return jax.tree.map(np.asarray, function(*args))

    pool = concurrent.futures.ThreadPoolExecutor(len(job.workers))
    running: dict[concurrent.futures.Future, tuple[_Chunk, jax.Device]] = {}
    try:
        while True:
            while idle and (chunk := next(chunks, None)) is not None:
                device = idle.pop()
                running[pool.submit(run, chunk, device)] = (chunk, device)
            if not running:
                return
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                chunk, device = running.pop(future)
                idle.append(device)
                yield chunk, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_chunks(
    reduction: Reduction, komi: float, position, num_playouts, *, seed, first_playout, streams, devices, progress
) -> Iterator[tuple[_Chunk, jax.Array]]:
    """Plays like `playouts` with moves, and yields each chunk and what the reduction makes of it on the device."""
    job = _job(position, num_playouts, seed, first_playout, None, streams, devices, None, progress)
    job = dataclasses.replace(job, per_lane=CHUNK_PER_LANE_WITH_MOVES)
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
    player passes when there is none; two passes end it. See `jaxgo.rules` for the rules of Go, `jaxgo.tick` for the eyes.

    Each playout is a function of (seed, stream, number) alone, the stream being the position's: what else is in the batch, how
    it is split, and which devices play it does not matter. Playouts 0 to 999 and then 1000 to 1999 (`first_playout=1000`) are
    those of one call of 2000. See `jaxgo.draws` for how the random numbers are made.

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
        job = dataclasses.replace(job, per_lane=CHUNK_PER_LANE_WITH_MOVES)
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
