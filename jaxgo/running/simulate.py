"""Playouts as a pure function: for use inside the caller's own `jit`, `vmap`, `scan` or `shard_map`."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.base import checks
from jaxgo.playing import draws
from jaxgo.backends.devices import default_lanes, lanes_for
from jaxgo.backends.xla import play_all
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing.playout import Job, Records, Table, captured_of, moves_of
from jaxgo.board.position import BLACK, Position, stones_array


def default_max_plies(size: int) -> int:
    """The cap on a playout's plies: three times the points (Dailey's "3X")."""
    return 3 * size * size


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["margin", "length", "truncated", "black", "white", "events"],
    meta_fields=["size"],
)
@dataclasses.dataclass(frozen=True, eq=False)
class Playouts:
    """Finished playouts; `B` positions, `n` playouts of each. numpy arrays, or jax arrays from `simulate`."""

    margin: jax.Array
    """int16 [B, n]: Black's area minus White's, before komi."""
    length: jax.Array
    """int16 [B, n]: plies played, the final passes included; 0 from a position that is over."""
    truncated: jax.Array
    """bool [B, n]: ended by the cap `max_plies` and scored as it stood."""
    black: tuple[jax.Array, ...]
    """W words of uint32 [B, n]: Black's stones at the end (see `jaxgo.board.geometry`)."""
    white: tuple[jax.Array, ...]
    """W words of uint32 [B, n]: White's stones at the end."""
    events: jax.Array | None
    """int16 [B, n, max_plies]: `moves`, with 2**14 added where the ply captured. None unless the moves were asked for."""
    size: int
    """N."""

    @property
    def moves(self) -> jax.Array | None:
        """int16 [B, n, max_plies]: the points played, N * N for a pass, -1 after the end. None unless asked for."""
        return None if self.events is None else moves_of(self.events)

    @property
    def captured(self) -> jax.Array | None:
        """bool [B, n, max_plies]: whether the ply captured something. None unless the moves were asked for."""
        return None if self.events is None else captured_of(self.events)

    @property
    def board(self) -> jax.Array:
        """int8 [B, n, N, N]: the final boards, 1 Black, -1 White, 0 empty; row 0 is the top."""
        g = geometry(self.size)
        if isinstance(self.margin, np.ndarray):
            return _unpack_boards(g, self.black) - _unpack_boards(g, self.white)
        return stones_array(g, self.black, self.white)


def _unpack_boards(g: Geometry, board: tuple[np.ndarray, ...]) -> np.ndarray:
    words = np.stack(board, axis=-1)[..., g.word_of_point]
    flat = ((words >> g.bit_of_point.astype(np.uint32)) & np.uint32(1)).astype(np.int8)
    return flat.reshape(*flat.shape[:-1], g.size, g.size)


def table(position: Position, streams: jax.Array) -> Table:
    """A batch of positions as the executor takes them; `streams` is int32 [B]. Of numpy arrays it makes numpy arrays."""
    xp = position.to_play.__array_namespace__()
    black = position.to_play == np.int8(BLACK)
    own, opp = (tuple(xp.where(black, b, w) for b, w in zip(*pair)) for pair in (
        (position.black, position.white), (position.white, position.black)))  # fmt: skip
    return Table(own, opp, position.ko.astype(np.int32), position.passes.astype(np.int32), black.astype(np.int32), streams)


def as_playouts(g: Geometry, records: Records, batch: int) -> Playouts:
    """The records of [B * n] playouts as `Playouts`."""
    def rows(x):
        return x.reshape(batch, -1, *x.shape[1:])

    return jax.tree.map(
        rows,
        Playouts(
            records.margin.astype(jnp.int16), records.length.astype(jnp.int16), records.truncated,
            records.black, records.white, records.events, size=g.size,
        ),
    )  # fmt: skip


def simulate(
    position: Position,
    num_playouts: int,
    seed=0,
    *,
    first_playout=0,
    streams=None,
    max_plies: int | None = None,
    moves: bool = False,
    lanes: int | None = None,
) -> Playouts:
    """Plays `num_playouts` playouts from each position: `jaxgo.playouts` as a pure function of arrays.

    It may be called in `jax.jit`, `vmap`, `scan` and `shard_map`; what it returns are the playouts that `jaxgo.playouts` returns
    for the same arguments, bit for bit. Give the surrounding `jax.jit` the `compiler_options` of `jaxgo.compiler_options()`: on
    CPUs it is then up to 1.7 times as fast.

    Args:
      position: B positions.
      num_playouts: playouts of each position (static).
      seed: an int in [0, 2**64), or a jax key, which may be traced.
      first_playout: number of the first playout; int32, may be traced.
      streams: int32 [B], the positions' random streams; by default 0 to B - 1. May be traced.
      max_plies: cap on a playout's plies (static); 3 N**2 by default.
      moves: whether to record the moves (static).
      lanes: how many playouts run at a time (static); the result does not depend on it.

    Returns:
      `Playouts` of jax arrays.
    """
    g = position.geometry
    num_playouts = checks.integer("num_playouts", num_playouts, 1)
    longest = check_max_plies(max_plies, g.size)
    checks.integer("the batch times num_playouts", position.batch * num_playouts, 1, checks.INT32_MAX // longest)
    if streams is None:
        streams = jnp.arange(position.batch, dtype=jnp.int32)
    lanes = checks.integer("lanes", lanes if lanes is not None else default_lanes(g.size), 1)
    records = play_all(
        g,
        table(position, jnp.broadcast_to(jnp.asarray(streams, jnp.int32), (position.batch,))),
        Job(
            num_playouts, draws.seed_words(check_seed(seed)), num_positions=jnp.int32(position.batch),
            num_playouts=jnp.int32(num_playouts), first_playout=jnp.asarray(first_playout, jnp.int32), max_plies=jnp.int32(longest),
        ),
        lanes=lanes_for(lanes, position.batch * num_playouts, "cpu"),
        longest=longest,
        first_plays=False,
        moves=moves,
    )
    return as_playouts(g, records, position.batch)


def check_max_plies(max_plies: int | None, size: int) -> int:
    """The cap on plies: at least 1, at most the default of three times the points."""
    most = default_max_plies(size)
    return most if max_plies is None else checks.integer("max_plies", max_plies, 1, most)


def check_seed(seed):
    """An int in [0, 2**64) or a jax key of one element; TypeError or ValueError otherwise."""
    if hasattr(seed, "dtype") and jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        if seed.shape:
            raise ValueError(f"seed must be one key, not an array of keys of shape {seed.shape}")
        return seed
    if hasattr(seed, "dtype") and seed.dtype == jnp.uint32 and seed.shape == (2,):
        return seed
    try:
        return checks.integer("seed", seed, 0, 2**64 - 1)
    except TypeError:
        raise TypeError(f"seed must be an integer or a jax key, not {seed!r}") from None
