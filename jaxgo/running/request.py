"""What is asked of a job: the options that all jobs share, and the request that comes of them, checked at the door."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.backends.choice import backend_of, own_of, workers_of
from jaxgo.base import checks
from jaxgo.base.constants import INT32_MAX, MOST_LANES, max_plies
from jaxgo.board.dynamics import is_traced
from jaxgo.board.position import Position, check_position
from jaxgo.playing.policies.in_order import Policies, policy_of
from jaxgo.playing.policies.policy import Policy
from jaxgo.playing.wire import columns_of
from jaxgo.results import outcome
from jaxgo.running.chunks import Chunk

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of playouts finished and the number in all, after every chunk, in the calling thread."""

Seed: TypeAlias = Any
"""An int in [0, 2**64), or a jax key."""

Devices: TypeAlias = Sequence[jax.Device] | jax.Device | int | None
"""Jax devices, a number of workers on the first, or None for all; see `OPTIONS_HELP`."""


Numbers: TypeAlias = int | Sequence[int] | np.ndarray
"""One for all positions, or an array of one each."""


class Options(TypedDict, total=False):
    """The options of all jobs; `OPTIONS_HELP` says what they mean."""

    policy: Policies
    seed: Seed
    first_playout: Numbers
    max_plies: int | None
    streams: ArrayLike | None
    devices: Devices
    lanes: int | None
    progress: Progress | None


_DEFAULTS: dict[str, Any] = {
    "policy": None, "seed": 0, "first_playout": 0, "max_plies": None, "streams": None, "devices": None, "lanes": None,
    "progress": None,
}  # fmt: skip

OPTIONS_HELP = """\
      policy: whom playouts ask for their moves: a playout policy such as `jaxgo.Capture(0.9)`, or several, the first of which
        that has a move decides. None is `jaxgo.Uniform()`: all moves are uniform over the legal points that fill no own eye.
      seed: an int in [0, 2**64), or a jax key. These are different seeds: 5 is not `jax.random.key(5)`.
      first_playout: number of the first playout, from 0; playouts 0 to 999 and then 1000 to 1999 are those of one call of 2000.
      max_plies: cap on a playout's plies, 1 to the default of 3 N**2.
      streams: int, or int [B]: the positions' random streams, from 0; by default 0 to B - 1, so that equal positions in a batch
        get different playouts. Positions with one stream share their random numbers.
      devices: jax devices to use, by default all; a CPU that is the only device plays on all its cores. A number means so many
        workers on the first local device: 1 is one core of a CPU. Under `jax.distributed` all processes that have some of the
        devices make the same call, and each gets all results; on `jax.local_devices()` a process plays by itself.
      lanes: playouts that run at a time on a device or core; the result does not depend on it.
      progress: called with (done, total) after each chunk, in the calling thread."""

Function = TypeVar("Function", bound=Callable)


def takes_options(function: Function) -> Function:
    """Shows the options in a function's signature and documentation, in the place of `**options`."""

    def called(*args, **kwargs):
        return function(*args, **kwargs)

    shown: Any = functools.update_wrapper(called, function)
    signature = inspect.signature(function)
    mine = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in _DEFAULTS.items()]
    shown.__signature__ = signature.replace(parameters=[*mine, *options])
    if function.__doc__:
        shown.__doc__ = function.__doc__.replace("      **options: those of all jobs.", OPTIONS_HELP)
    return shown


@dataclasses.dataclass(frozen=True)
class Request:
    """A job, checked: playouts of positions, and on what."""

    size: int
    """N."""
    columns: np.ndarray
    """uint32 [C, B]: the positions on the wire, with their streams (see `jaxgo.playing.wire`)."""
    num_playouts: int
    """Of each position; the most that one has."""
    counts: np.ndarray
    """int32 [B]: how many each has."""
    komi: float | np.ndarray
    """A float, or float64 [B]."""
    seed: tuple[int, int]
    """Two words of 32 bits."""
    streams: np.ndarray
    """int32 [B]."""
    first_playout: np.ndarray
    """int32 [B]: the number of each position's first playout."""
    max_plies: int
    """The cap."""
    policy: Policy | None
    """Whom the playouts ask; None for uniform playouts."""
    workers: tuple[jax.Device, ...]
    """The devices, a CPU as often as it has cores."""
    lanes: int
    """Playouts that run at a time on a worker, at most."""
    progress: Progress | None
    """To be told how far it is."""

    @classmethod
    def of(
        cls, position: Position, num_playouts: Numbers, options: Options, *, komi: ArrayLike = 0.0, each_its_own: bool = False
    ) -> "Request":
        """The request for playouts from `position`.

        `each_its_own` says whether `num_playouts` and `first_playout` may be arrays.

        Raises:
          TypeError, ValueError: an argument is not what it must be, or traced.
        """
        unknown = options.keys() - _DEFAULTS.keys()
        if unknown:
            raise TypeError(f"options must be of {', '.join(_DEFAULTS)}, not {', '.join(sorted(unknown))}")
        asked: dict[str, Any] = {**_DEFAULTS, **options}
        check_position(position)
        policy = policy_of(asked["policy"], position.size)
        if is_traced(position, num_playouts, komi, *asked.values()):
            raise TypeError("this function needs values, not traced arrays: inside jit, vmap and their kin use jaxgo.simulate")
        size, batch = position.size, check_batch(position)
        number = _numbers if each_its_own else _one_number
        counts = number("num_playouts", num_playouts, batch, 1)
        first = number("first_playout", asked["first_playout"], batch, 0)
        checks.integers("first_playout + num_playouts", first.astype(np.int64) + counts, (batch,), 1, INT32_MAX)
        streams = np.arange(batch, dtype=np.int32) if asked["streams"] is None else asked["streams"]
        streams = checks.integers("streams", streams, (batch,), 0, INT32_MAX)
        workers = workers_of(asked["devices"], of_all_processes=True)
        lanes = asked["lanes"] if asked["lanes"] is not None else backend_of(own_of(workers)[0]).most_lanes(size)
        checks.callable_or_none("progress", asked["progress"])
        # On the host, where no shape needs compiling.
        columns = np.stack(columns_of(jax.device_get(position), streams))
        return cls(
            size=size, columns=columns, num_playouts=int(counts.max()), counts=counts, komi=checks.komis(komi, batch),
            seed=seed_words(asked["seed"]), streams=streams, first_playout=first, workers=workers, progress=asked["progress"],
            policy=policy, max_plies=check_max_plies(asked["max_plies"], size),
            lanes=checks.integer("lanes", lanes, 1, MOST_LANES),
        )  # fmt: skip

    @property
    def batch(self) -> int:
        """B, the number of positions."""
        return self.columns.shape[1]

    @property
    def total(self) -> int:
        """Playouts in all."""
        return int(self.counts.sum(dtype=np.int64))

    def counts_of(self, chunk: Chunk, positions: np.ndarray) -> np.ndarray:
        """int32: how many of a chunk's playouts each of some positions has, int [.]."""
        return np.clip(self.counts[positions] - np.int32(chunk.first), np.int32(0), np.int32(chunk.count))

    def arguments(self) -> dict[str, Any]:
        """What decides about its results, by the names of the functions' arguments."""
        return {
            "size": self.size, "position": self.columns[:-1], "num_playouts": _one_or_all(self.counts), "komi": self.komi,
            "policy": self.policy, "seed": self.seed, "first_playout": _one_or_all(self.first_playout), "streams": self.streams,
            "max_plies": self.max_plies, "devices": [device.id for device in self.workers], "lanes": self.lanes,
        }  # fmt: skip

    def bounds(self) -> np.ndarray:
        """int32 [B, 2]: komi as bounds of margins (see `jaxgo.results.outcome`)."""
        return np.broadcast_to(outcome.bounds(self.komi, self.size**2), (self.batch, 2))


def _one_or_all(numbers: np.ndarray) -> int | np.ndarray:
    """The number that all positions have, or those of each."""
    return int(numbers[0]) if (numbers == numbers[0]).all() else numbers


def is_array(value) -> bool:
    """Whether an argument that may be an integer or an array is an array."""
    return bool(getattr(value, "ndim", isinstance(value, Sequence) and not isinstance(value, str)))


def _one_number(name: str, value, batch: int, least: int) -> np.ndarray:
    """int32 [B] of one number."""
    return np.full(batch, checks.integer(name, value, least), np.int32)


def _numbers(name: str, value, batch: int, least: int) -> np.ndarray:
    """int32 [B] of one number, or of an array."""
    return checks.integers(name, value, (batch,), least, INT32_MAX) if is_array(value) else _one_number(name, value, batch, least)


def check_max_plies(value: int | None, size: int) -> int:
    """The cap on plies: at least 1, at most the default of three times the points."""
    return max_plies(size) if value is None else checks.integer("max_plies", value, 1, max_plies(size))


def check_batch(position: Position) -> int:
    """How many positions there are; ValueError for none, or for more axes than one."""
    if position.to_play.ndim != 1:
        raise ValueError(f"position must be a batch of one axis, not of shape {position.to_play.shape}")
    return checks.integer("the batch of position", position.batch, 1)


def check_seed(seed: Seed) -> Seed:
    """An int in [0, 2**64) or a jax key of one element; TypeError or ValueError otherwise."""
    if hasattr(seed, "dtype") and jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        if seed.shape:
            raise ValueError(f"seed must be one key, not an array of keys of shape {seed.shape}")
        return seed
    if hasattr(seed, "dtype") and seed.dtype == jnp.uint32 and seed.shape in ((2,), (4,)):
        return seed
    try:
        return checks.integer("seed", seed, 0, 2**64 - 1)
    except TypeError:
        raise TypeError(f"seed must be an integer or a jax key, not {seed!r}") from None


def seed_words(seed: Seed) -> tuple[int, int]:
    """The two words of a seed that is not traced."""
    seed = check_seed(seed)
    if isinstance(seed, int):
        return seed & 0xFFFFFFFF, seed >> 32
    words = jax.random.key_data(seed) if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key) else seed
    first, second = jax.device_get(words)[-2:].tolist()
    return first, second
