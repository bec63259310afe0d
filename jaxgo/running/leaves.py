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

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.board import bitboard as bb
from jaxgo.base import checks
from jaxgo.playing import draws
from jaxgo.board import rules
from jaxgo.backends.devices import Programs, default_lanes, lanes_for, workers_of
from jaxgo.running.engine import thresholds
from jaxgo.board.geometry import geometry
from jaxgo.base.one_loop import compiler_options
from jaxgo.playing.playout import Job, captured_of, moves_of
from jaxgo.board.position import BLACK, Position, legal_for_both, own_and_opp, play_moves, points_of, position_hash
from jaxgo.results.sums import count_points
from jaxgo.running.simulate import check_seed, default_max_plies, table
from jaxgo.playing.tick import useful

#: In place of a move: the position is taken as it is.
STAY = -1
#: Squares of margins are summed in two parts, so that 32 bits hold them: above and below this.
_SQUARES_LOW = 256
#: Playouts of a call for each lane: measured; with more, too few lanes wait for too many games.
PER_LANE = 1


@dataclasses.dataclass(frozen=True, eq=False)
class LeafResults:
    """Positions reached and their playouts; numpy arrays, `B` leaves, `K` playouts of each."""

    words: np.ndarray
    """uint32 [B, 2 W]: the stones of the player to move, then the other's (see `jaxgo.board.geometry`)."""
    ko: np.ndarray
    """int16 [B]: the point that simple ko forbids, or -1."""
    passes: np.ndarray
    """int8 [B]: passes in a row just before; 2 where the game is over."""
    hash: np.ndarray
    """uint64 [B]: Zobrist hash of the stones, for superko."""
    legal: np.ndarray
    """bool [B, 2, P]: the points where the player to move (0) and the other (1; as if it were his turn) may play."""
    useful: np.ndarray
    """bool [B, P]: those of the mover's legal points that fill no eye of his own."""
    margin: np.ndarray
    """int16 [B]: the mover's area minus the other's, of the position as it stands."""
    wins: np.ndarray
    """int32 [B]: results of the playouts for the mover, in halves: win 2, draw 1, loss 0."""
    lead: np.ndarray
    """int32 [B]: sum over the playouts of the mover's area minus the other's."""
    squares: np.ndarray
    """int64 [B]: sum of the squares of these areas' differences."""
    firsts: np.ndarray
    """int16 [B, 2, 2, P + 1]: for the mover (0) and the other (1), the playouts in which he was the first of both to play at each
    point (0), and his own results in these, in halves (1). 0 for the pass."""
    moves: np.ndarray | None
    """int16 [B, K, max_plies]: every playout's moves (pass P, -1 after the end). None unless asked for."""
    captured: np.ndarray | None
    """bool [B, K, max_plies]: whether the ply captured. None unless asked for."""
    results: np.ndarray | None
    """int8 [B, K]: each playout's result for the mover, in halves. None unless asked for."""

    def some(self, index) -> "LeafResults":
        """The results of some leaves."""
        return LeafResults(**{name: None if x is None else x[index] for name, x in vars(self).items()})


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

    def __init__(self, size: int, leaves: int, playouts: int, *, komi=7.5, seed=0, moves=False, calls=2, devices=None):
        self.size = checks.size(size)
        self.leaves = checks.integer("leaves", leaves, 1, 1 << 16)
        self.playouts = checks.integer("playouts", playouts, 1, 16_000)  # sums of halves are int16
        self.komi = checks.komi(komi)
        self.moves = bool(moves)
        self._bounds = _bounds(self.komi, self.size, 1)
        self._seed = _words(check_seed(seed))
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

    def submit(
        self, words, ko, passes, black, moves, streams, *, komi=None, seed=None
    ) -> Sequence[concurrent.futures.Future]:
        """Begins a call; `gather` waits for its results.

        Args:
          words: uint32 [n, 2 W], the stones of the player to move and the other's, as in `LeafResults.words`; n at most `leaves`.
          ko: int [n], point or -1.
          passes: int [n], passes in a row before the position.
          black: bool [n], whether Black is to move.
          moves: int [n], the point to play (legal), P for a pass, or STAY.
          streams: int [n], the random stream of each leaf.
          komi: of all leaves, or float [n]; by default the one given to `Leaves`. The playouts do not depend on it.
          seed: of this call, an int in [0, 2**64); by default the one given to `Leaves`.
        """
        count = checks.integer("the number of leaves", len(moves), 1, self.leaves)
        parts = -(-count // self._share)
        bounds = [count * i // parts for i in range(parts + 1)]
        of_results = np.repeat(self._bounds, count, axis=0) if komi is None else _bounds(komi, self.size, count)
        seed = self._seed if seed is None else _words_of_int(checks.integer("seed", seed, 0, 2**64 - 1))
        arrays = (words, ko, passes, black, moves, streams, of_results)
        types = (np.uint32, np.int16, np.int8, np.bool_, np.int32, np.int32, np.int32)
        arrays = [np.asarray(x, t) for x, t in zip(arrays, types)]
        return [
            self._pool.submit(self._run, [x[a:b] for x in arrays], seed, next(self._turns))
            for a, b in zip(bounds, bounds[1:])
        ]

    def _run(self, arrays: list[np.ndarray], seed: tuple[np.ndarray, np.ndarray], device: jax.Device) -> dict[str, np.ndarray]:
        start, count = time.perf_counter(), len(arrays[0])
        fill = np.minimum(np.arange(self._share), count - 1)
        function = _compiled(self.size, self._share, self.playouts, self.moves, (device,))
        # Numpy arrays: to put them on the device first would take longer than the call.
        out = function(*(x[fill] for x in arrays), seed, np.int32(count))
        found = {name: np.asarray(x)[:count] for name, x in out.items()}
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
        out = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        out["hash"] = out["hash"][:, 0].astype(np.uint64) << np.uint64(32) | out["hash"][:, 1]
        out["squares"] = out["squares"][:, 0].astype(np.int64) * _SQUARES_LOW + out["squares"][:, 1]
        events = out.pop("events", None)
        out["moves"], out["captured"] = (None, None) if events is None else (moves_of(events), captured_of(events))
        out.setdefault("results", None)
        return LeafResults(**out)


def _bounds(komi, size: int, count: int) -> np.ndarray:
    """int32 [count, 2]: `jaxgo.running.engine.thresholds` of a komi, or of float [count]."""
    values, index = np.unique(np.asarray(komi, np.float64), return_inverse=True)
    rows = np.array([thresholds(checks.komi(value), size**2) for value in values], np.int32)
    return rows[np.broadcast_to(index.reshape(-1), count)]


def _words(seed) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.asarray(w) for w in draws.seed_words(seed))


_words_of_int = functools.lru_cache(_words)


def _build(size: int, leaves: int, playouts: int, moves: bool, devices: tuple[jax.Device], play_all):
    g, (device,) = geometry(size), devices
    longest = default_max_plies(size)
    lanes = lanes_for(default_lanes(size, device.platform), leaves * playouts // PER_LANE, device.platform)

    def step(words, ko, passes, black, move, streams, bounds, seed, count):
        boards = tuple(words[:, w] for w in range(2 * g.num_words))
        own, opp = boards[: g.num_words], boards[g.num_words :]
        to_play = jnp.where(black, jnp.int8(BLACK), jnp.int8(-BLACK))
        before = Position(bb.choose(black, own, opp), bb.choose(black, opp, own), to_play, ko, passes, size)
        after = play_moves(before, jnp.maximum(move, jnp.int32(0)))
        stay = move == jnp.int32(STAY)
        position = jax.tree.map(lambda a, b: jnp.where(stay, b, a), after, before)
        records = play_all(
            g, table(position, streams), Job(playouts, seed, count, jnp.int32(playouts), jnp.int32(0), jnp.int32(longest)),
            lanes=lanes, longest=longest, first_plays=True, moves=moves,
        )  # fmt: skip
        sums = _reduce(g, lax.optimization_barrier(records), position, playouts, bounds)
        return _describe(g, position) | sums

    rows = functools.partial(jax.ShapeDtypeStruct, (leaves,))
    number = jax.ShapeDtypeStruct((), jnp.int32)
    shapes = (
        jax.ShapeDtypeStruct((leaves, 2 * g.num_words), jnp.uint32), rows(jnp.int16), rows(jnp.int8), rows(jnp.bool_),
        rows(jnp.int32), rows(jnp.int32), jax.ShapeDtypeStruct((leaves, 2), jnp.int32),
        (jax.ShapeDtypeStruct((), jnp.uint32),) * 2, number,
    )  # fmt: skip
    sharding = jax.sharding.SingleDeviceSharding(device)
    options = compiler_options(device.platform)
    jitted = jax.jit(step, in_shardings=sharding, out_shardings=sharding, compiler_options=options)
    return jitted.lower(*shapes).compile()


_compiled = Programs(_build)


def _describe(g, position: Position) -> dict[str, jax.Array]:
    """What the host must know of the positions themselves."""
    own, opp = own_and_opp(position)
    legal = legal_for_both(g, own, opp, position.ko) & ~position.is_over()[:, None, None]
    no_eye = points_of(g, useful(g, own, opp))
    return {
        "words": jnp.stack([*own, *opp], axis=1),
        "ko": position.ko,
        "passes": position.passes,
        "hash": position_hash(position),
        "legal": legal,
        "useful": legal[:, 0] & no_eye,
        "margin": rules.area_margin(g, own, opp).astype(jnp.int16),
    }


def _reduce(g, records, position: Position, playouts: int, bounds) -> dict[str, jax.Array]:
    """The playouts' sums for the player to move; `bounds`, int32 [B, 2], as `jaxgo.running.engine.thresholds` gives them."""
    win_from, draw_at = bounds[:, :1], bounds[:, 1:]
    shape = (position.batch, playouts)
    black = jnp.broadcast_to((position.to_play == jnp.int8(BLACK))[:, None], shape)
    margin = records.margin.reshape(shape)
    of_black = jnp.where(margin >= win_from, jnp.int32(2), jnp.where(margin == draw_at, jnp.int32(1), jnp.int32(0)))
    result = jnp.where(black, of_black, jnp.int32(2) - of_black)
    mine = [b.reshape(shape) for b in records.first_black]
    theirs = [b.reshape(shape) for b in records.first_white]
    firsts = bb.choose(black, mine, theirs), bb.choose(black, theirs, mine)
    kinds = [tuple(jnp.where(here, w, jnp.uint32(0)) for w in f)
             for f, won in zip(firsts, (jnp.int32(2), jnp.int32(0))) for here in (result >= 0, result == won, result == 1)]  # fmt: skip
    points = count_points(g, jnp.stack([jnp.stack(kind) for kind in kinds])).reshape(len(result), 2, 3, -1)
    firsts = jnp.stack([points[:, :, 0], jnp.int32(2) * points[:, :, 1] + points[:, :, 2]], axis=2)
    squares = jnp.square(margin.astype(jnp.int32))
    parts = jnp.stack([squares // jnp.int32(_SQUARES_LOW), squares % jnp.int32(_SQUARES_LOW)], axis=1)
    out = {
        "wins": jnp.sum(result, axis=1, dtype=jnp.int32),
        "lead": jnp.sum(jnp.where(black, margin, -margin), axis=1, dtype=jnp.int32),
        "squares": jnp.sum(parts, axis=2, dtype=jnp.int32),
        "firsts": jnp.pad(firsts.astype(jnp.int16), ((0, 0), (0, 0), (0, 0), (0, 1))),
    }
    if records.events is not None:
        out |= {"events": records.events.reshape(*shape, -1), "results": result.astype(jnp.int8)}
    return out
