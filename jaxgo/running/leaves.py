"""What a tree search asks of the device: play a move in each of many positions, then playouts from what results.

`Leaves` is the backend of jaxgo's own tree search, and of any other program that keeps its tree on the host: the host holds
positions as the device returned them, and never needs rules of its own.
"""

import concurrent.futures
import dataclasses
import functools
import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxgo.backends.choice import backend_of, workers_of
from jaxgo.backends.programs import Programs
from jaxgo.base import checks, forms
from jaxgo.base.constants import BLACK, INT32_MAX, NO_KO, STAY, max_plies
from jaxgo.base.trials import as_by_default
from jaxgo.board import bitboard as bb
from jaxgo.board import dynamics, rules
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.board.position import Position
from jaxgo.playing.playout import Job
from jaxgo.playing.wire import Fields, captured_of, columns_of, moves_of, num_columns_of_position, table_of
from jaxgo.results import outcome, sums
from jaxgo.results.sums import count_points, square_sums
from jaxgo.running.request import Devices, Seed, seed_words

#: Playouts of a call for each lane: measured; with more, too few lanes wait for too many games.
PER_LANE = 1


@dataclasses.dataclass(frozen=True, eq=False)
class LeafResults:
    """Positions reached and their playouts; numpy arrays, `B` leaves, `K` playouts of each, `P` points.

    Attributes:
      words: uint32 [B, 2 W]: the stones of the player to move, then the other's (see `jaxgo.board.geometry`).
      ko: int16 [B]: the point that simple ko forbids, or -1.
      passes: int8 [B]: passes in a row just before; 2 where the game is over.
      hash: uint64 [B]: Zobrist hash of the stones, for superko.
      legal: bool [B, 2, P]: the points where the player to move (0) and the other (1; as if it were his turn) may play.
      useful: bool [B, P]: those of the mover's legal points that fill no eye of his own.
      margin: int16 [B]: the mover's area minus the other's, of the position as it stands.
      wins: int32 [B]: results of the playouts for the mover, in halves: win 2, draw 1, loss 0.
      lead: int32 [B]: sum over the playouts of the mover's area minus the other's.
      squares: int64 [B]: sum of the squares of these areas' differences.
      firsts: int16 [B, 2, 2, P + 1]: for the mover (0) and the other (1), the playouts in which he was the first of both to play
        at each point (0), and his own results in these, in halves (1). 0 for the pass.
      moves: int16 [B, K, max_plies]: every playout's moves (pass P, -1 after the end). None unless asked for.
      captured: bool [B, K, max_plies]: whether the ply captured. None unless asked for.
      results: int8 [B, K]: each playout's result for the mover, in halves. None unless asked for.
    """

    words: np.ndarray
    ko: np.ndarray
    passes: np.ndarray
    hash: np.ndarray
    legal: np.ndarray
    useful: np.ndarray
    margin: np.ndarray
    wins: np.ndarray
    lead: np.ndarray
    squares: np.ndarray
    firsts: np.ndarray
    moves: np.ndarray | None
    captured: np.ndarray | None
    results: np.ndarray | None

    def position(self, black: ArrayLike, size: int) -> Position:
        """The positions; `black`, bool [B], says where Black is to move, and `size` is N."""
        black = checks.bools("black", black, self.ko.shape)[:, None]
        own, opp = np.split(self.words, 2, axis=1)
        stones = (tuple(x.T.copy()) for x in (np.where(black, own, opp), np.where(black, opp, own)))
        to_play = np.where(black[:, 0], BLACK, -BLACK).astype(np.int8)
        blacks, whites, to_play, ko, passes = jax.device_put((*stones, to_play, self.ko, self.passes))
        return Position(blacks, whites, to_play, ko, passes, checks.size(size))

    def some(self, index) -> "LeafResults":
        """The results of some leaves."""
        chosen: dict[str, Any] = {name: None if x is None else x[index] for name, x in vars(self).items()}
        return LeafResults(**chosen)


class Leaves:
    """Plays leaves of a tree on the device, several calls at a time.

    The workers are all cores of the CPU, or the devices. Each call is spread over its share of them, so that as many calls as are
    under way at a time keep all busy; further ones wait in line. Results do not depend on how leaves are spread.

    Args:
      size: N, 2 to 25.
      leaves: the most leaves of a call.
      playouts: K, playouts from each leaf.
      komi: points that White gets, where a call does not say.
      seed: an int in [0, 2**64), or a jax key; likewise.
      moves: whether to return the moves of every playout.
      calls: how many calls will be under way at a time.
      devices: as in `jaxgo.playouts`.
    """

    def __init__(
        self, size: int, leaves: int, playouts: int, *, komi: float = 7.5, seed: Seed = 0, moves: bool = False, calls: int = 2,
        devices: Devices = None,
    ):  # fmt: skip
        self.size = checks.size(size)
        self.leaves = checks.integer("leaves", leaves, 1, 1 << 16)
        self.playouts = checks.integer("playouts", playouts, 1, 16_000)  # sums of halves are int16
        self.komi = checks.komi(komi)
        self.moves = bool(moves)
        self._seed = seed_words(seed)
        self._workers = workers_of(devices)
        workers_per_call = -(-len(self._workers) // checks.integer("calls", calls, 1))
        self._share = -(-self.leaves // workers_per_call)
        self._turns = itertools.cycle(self._workers)
        self._pool = concurrent.futures.ThreadPoolExecutor(len(self._workers))
        self._busy, self._count_busy = 0.0, threading.Lock()

    @property
    def num_workers(self) -> int:
        """Cores or devices that work."""
        return len(self._workers)

    @property
    def busy_seconds(self) -> float:
        """Seconds that they have worked, all together."""
        return self._busy

    def compile(self) -> None:
        """Compiles for this shape now, so that no later call has to."""
        for device in dict.fromkeys(self._workers):
            _compiled(self.size, self._share, self.playouts, self.moves, (device,))

    def close(self) -> None:
        """Ends the worker threads; calls that have not begun are dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def arguments_of(position: Position) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(words, ko, passes, black) of positions, as `submit` takes them."""
        held = jax.device_get(position)
        words = columns_of(held, np.zeros(held.batch, np.int32))[:-4]
        return np.stack(words, axis=1), held.ko, held.passes, held.to_play == BLACK

    def submit(
        self, words: np.ndarray, ko: ArrayLike, passes: ArrayLike, black: ArrayLike, moves: Sequence[int] | np.ndarray,
        streams: ArrayLike, *, komi: ArrayLike | None = None, seed: int | None = None,
    ) -> Sequence[concurrent.futures.Future]:  # fmt: skip
        """Begins a call; `gather` waits for its results.

        Args:
          words: uint32 [n, 2 W], the stones of the player to move and the other's, as in `LeafResults.words`; n at most `leaves`.
          ko: int [n], point or -1.
          passes: int [n], passes in a row before the position, 0 to 2.
          black: bool [n], whether Black is to move.
          moves: int [n], the point to play (legal: that is not checked), P for a pass, or STAY.
          streams: int [n], the random stream of each leaf, from 0.
          komi: of all leaves, or float [n]; by default the one given to `Leaves`. The playouts do not depend on it.
          seed: of this call, an int in [0, 2**64); by default the one given to `Leaves`.

        Raises:
          TypeError, ValueError: an argument is not what it must be; nothing is begun then.
        """
        count, points = checks.integer("the number of leaves", len(moves), 1, self.leaves), self.size**2
        words, num_words = np.asarray(words), 2 * geometry(self.size).num_words
        if words.dtype != np.uint32 or words.shape != (count, num_words):
            raise ValueError(f"words must be uint32 of shape {(count, num_words)}, not {words.dtype} of {words.shape}")
        numbers = [
            checks.integers(name, x, (count,), least, most)
            for name, x, least, most in (
                ("ko", ko, NO_KO, points - 1), ("passes", passes, 0, 2), ("streams", streams, 0, INT32_MAX),
                ("moves", moves, STAY, points),
            )
        ]  # fmt: skip
        numbers.insert(2, checks.bools("black", black, (count,)).astype(np.int32))
        komi = self.komi if komi is None else checks.komis(komi, count)
        bounds = np.broadcast_to(outcome.bounds(komi, points), (count, 2))
        columns = np.concatenate([words.T, np.stack([*numbers, *bounds.T]).view(np.uint32)])
        key = self._seed if seed is None else seed_words(checks.integer("seed", seed, 0, 2**64 - 1))
        parts = -(-count // self._share)
        ends = [count * i // parts for i in range(parts + 1)]
        return [
            self._pool.submit(self._run, columns[:, a:b], key, next(self._turns))
            for a, b in zip(ends, ends[1:])
        ]

    def _run(self, columns: np.ndarray, seed: tuple[int, int], device: jax.Device) -> dict[str, np.ndarray]:
        start, count = time.perf_counter(), columns.shape[1]
        fill = np.minimum(np.arange(self._share), count - 1)
        with as_by_default():
            function = _compiled(self.size, self._share, self.playouts, self.moves, (device,))
            # Numpy arrays: to put them on the device first would take longer than the call.
            rows, *histories = function(columns[:, fill], np.array([*seed, count], np.uint32))
            found = _fields(self.size).unpack(np.asarray(rows)[:count])
            found |= {name: np.asarray(x)[:count] for name, x in zip(("events", "results"), histories)}
        with self._count_busy:
            self._busy += time.perf_counter() - start
        return found

    def done(self, futures: Sequence[concurrent.futures.Future]) -> bool:
        """Whether a call is finished."""
        return all(future.done() for future in futures)

    def wait(self, futures: Sequence[concurrent.futures.Future], seconds: float) -> bool:
        """Waits a while for a call; whether it is finished."""
        return not concurrent.futures.wait(futures, timeout=seconds).not_done

    def drop(self, futures: Sequence[concurrent.futures.Future]) -> None:
        """Takes back a call whose results nobody wants any more, as far as it has not begun."""
        for future in futures:
            future.cancel()

    def gather(self, futures: Sequence[concurrent.futures.Future]) -> LeafResults:
        """The results of a call, in the order of its leaves; waits for them."""
        parts = [future.result() for future in futures]
        out: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        out["hash"] = out["hash"][:, 0].astype(np.uint64) << np.uint64(32) | out["hash"][:, 1]
        out["squares"] = out["squares"][:, 0].astype(np.int64) * sums.LOW + out["squares"][:, 1]
        events = out.pop("events", None)
        out["moves"], out["captured"] = (None, None) if events is None else (moves_of(events), captured_of(events))
        out.setdefault("results", None)
        return LeafResults(**out)


@functools.cache
def _fields(size: int) -> Fields:
    """What a leaf's row on the wire holds."""
    g, p = geometry(size), size * size
    return Fields(
        words=(np.uint32, (2 * g.num_words,)), hash=(np.uint32, (2,)), wins=(np.int32, ()), lead=(np.int32, ()),
        squares=(np.int32, (2,)), ko=(np.int16, ()), margin=(np.int16, ()), firsts=(np.int16, (2, 2, p + 1)),
        passes=(np.int8, ()), legal=(np.bool_, (2, p)), useful=(np.bool_, (p,)),
    )  # fmt: skip


def _build(size: int, leaves: int, playouts: int, moves: bool, devices: tuple[jax.Device]):
    g, (device,), longest = geometry(size), devices, max_plies(size)
    backend = backend_of(device)
    lanes = backend.lanes_for(backend.most_lanes(size), leaves * playouts // PER_LANE)
    num_columns = num_columns_of_position(g)

    def step(columns, numbers):
        seed, count = tuple(numbers[:2]), numbers[2].astype(jnp.int32)
        move, bounds = columns[num_columns].astype(jnp.int32), columns[num_columns + 1 :].astype(jnp.int32).T
        before, streams = _position(g, tuple(columns[:num_columns]))
        position = dynamics.played(before, jnp.maximum(move, jnp.int32(0)), move != jnp.int32(STAY))
        job = Job(playouts, seed, count, jnp.int32(playouts), jnp.int32(0), jnp.int32(longest))
        records = backend.play_all(
            g, jnp.stack(columns_of(position, streams)), job, lanes=lanes, longest=longest, first_plays=True, moves=moves
        )
        found, result = _reduce(g, lax.optimization_barrier(records), position, playouts, bounds)
        row = _fields(size).pack(**_describe(g, position), **found)
        return (row, records.events.reshape(leaves, playouts, -1), result.astype(jnp.int8)) if moves else (row,)

    shapes = [jax.ShapeDtypeStruct(shape, jnp.uint32) for shape in ((num_columns + 3, leaves), (3,))]
    sharding = jax.sharding.SingleDeviceSharding(device)
    options = backend.compiler_options()
    jitted = jax.jit(forms.written(backend.form, step), in_shardings=sharding, out_shardings=sharding, compiler_options=options)
    return jitted.lower(*shapes).compile()


_compiled = Programs(_build)


def _position(g: Geometry, columns: tuple[jax.Array, ...]) -> tuple[Position, jax.Array]:
    """(positions, streams) of columns."""
    own, opp, ko, passes, black, streams = table_of(columns)
    is_black = black != jnp.int32(0)
    to_play = jnp.where(is_black, jnp.int8(BLACK), jnp.int8(-BLACK))
    stones = bb.choose(is_black, own, opp), bb.choose(is_black, opp, own)
    return Position(*stones, to_play, ko.astype(jnp.int16), passes.astype(jnp.int8), g.size), streams


def _describe(g: Geometry, position: Position) -> dict[str, jax.Array]:
    """What the host must know of the positions themselves."""
    own, opp = dynamics.own_and_opp(position)
    legal = dynamics.legal_for_both(g, own, opp, position.ko) & ~position.is_over()[:, None, None]
    no_eye = bb.points_of(g, rules.no_eyes(g, own, opp))
    return {
        "words": jnp.stack([*own, *opp], axis=1),
        "ko": position.ko,
        "passes": position.passes,
        "hash": dynamics.stones_hash(position),
        "legal": legal,
        "useful": legal[:, 0] & no_eye,
        "margin": rules.area_margin(g, own, opp).astype(jnp.int16),
    }


def _reduce(g: Geometry, records, position: Position, playouts: int, bounds) -> tuple[dict[str, jax.Array], jax.Array]:
    """(the playouts' sums for the player to move, his results in halves, int32 [B, K])."""
    shape = (position.batch, playouts)
    black = jnp.broadcast_to((position.to_play == jnp.int8(BLACK))[:, None], shape)
    margin = records.margin.reshape(shape)
    result = outcome.of_mover(margin, bounds[:, None], black)
    mine, theirs = (tuple(b.reshape(shape) for b in board) for board in (records.first_black, records.first_white))
    firsts = bb.choose(black, mine, theirs), bb.choose(black, theirs, mine)
    kinds = []
    for board, won in zip(firsts, (outcome.WIN, outcome.LOSS)):
        for here in (jnp.ones(shape, jnp.bool_), result == jnp.int32(won), result == jnp.int32(outcome.DRAW)):
            kinds.append(jnp.stack([jnp.where(here, w, jnp.uint32(0)) for w in board]))
    points = count_points(g, jnp.stack(kinds)).reshape(len(result), 2, 3, -1)
    counts = jnp.stack([points[:, :, 0], jnp.int32(outcome.WIN) * points[:, :, 1] + points[:, :, 2]], axis=2)
    found = {
        "wins": jnp.sum(result, axis=1, dtype=jnp.int32),
        "lead": jnp.sum(jnp.where(black, margin, -margin), axis=1, dtype=jnp.int32),
        "squares": square_sums(margin, jnp.ones(shape, jnp.int32)),
        "firsts": jnp.pad(counts.astype(jnp.int16), ((0, 0), (0, 0), (0, 0), (0, 1))),
    }
    return found, result
