"""Playouts as a pure function: for use inside the caller's own `jit`, `vmap`, `scan` or `shard_map`."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.backends.choice import compiler_options, play_anywhere
from jaxgo.base import checks
from jaxgo.base.constants import INT32_MAX, MOST_LANES
from jaxgo.board.dynamics import is_traced, over_mesh, traced
from jaxgo.board.position import Position, check_position
from jaxgo.playing import draws
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.in_order import Policies, policy_of
from jaxgo.playing.wire import columns_of, of_playouts
from jaxgo.results.playouts import Playouts, playouts_of
from jaxgo.running.request import Seed, check_batch, check_max_plies, check_seed


def simulate(
    position: Position,
    num_playouts: int,
    seed: Seed = 0,
    *,
    first_playout: ArrayLike = 0,
    streams: ArrayLike | None = None,
    max_plies: int | None = None,
    moves: bool = False,
    lanes: int | None = None,
    policy: Policies = None,
) -> Playouts[jax.Array]:
    """Plays `num_playouts` playouts from each position: `jaxgo.playouts` as a pure function of arrays.

    It may be called in `jax.jit`, `vmap`, `scan` and `shard_map`, and on positions that are sharded explicitly, each device then
    playing its own; what it returns are the playouts that `jaxgo.playouts` returns for the same arguments, bit for bit. Give the
    surrounding `jax.jit` the `compiler_options` of `jaxgo.compiler_options()`: on CPUs it is then up to 13 times as fast.
    Under `vmap` over a batch, in which each call sees one position without a batch axis, results have none either, and the stream
    of each is 0 unless `streams` says otherwise.
    Where there is an NVIDIA GPU, a program for CUDA holds jaxgo's kernel, which `jax.export` takes with
    `disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.ptx")]`; with `JAXGO_KERNEL=off` XLA plays.

    Args:
      position: B positions.
      num_playouts: playouts of each position (static); B num_playouts max_plies is below 2**31.
      seed: an int in [0, 2**64), or a jax key, which may be traced.
      first_playout: number of the first playout; int32, may be traced.
      streams: int32 [B], the positions' random streams; by default 0 to B - 1. May be traced.
      max_plies: cap on a playout's plies (static); 3 N**2 by default.
      moves: whether to record the moves (static).
      lanes: how many playouts run at a time (static); the result does not depend on it.
      policy: whom playouts ask for their moves, as in `jaxgo.playouts`. Its arrays may be traced.

    Returns:
      `Playouts` of jax arrays.

    Raises:
      TypeError, ValueError: an argument is not what it must be, as far as that can be seen of one that is traced.
    """
    check_position(position)
    checks.boolean("moves", moves)
    if position.to_play.ndim == 0:  # one position, as `vmap` hands them over
        one = jax.tree.map(lambda x: x[None], position)
        made = simulate(
            one, num_playouts, seed, first_playout=first_playout, streams=streams, max_plies=max_plies, moves=moves, lanes=lanes,
            policy=policy,
        )  # fmt: skip
        return jax.tree.map(lambda x: x[0], made)
    size, batch = position.size, check_batch(position)
    num_playouts = checks.integer("num_playouts", num_playouts, 1)
    longest = check_max_plies(max_plies, size)
    # Of the last numbers each lane adds those of all that are free, which must not come out of 32 bits.
    checks.integer("the batch times num_playouts", batch * num_playouts, 1, INT32_MAX // max(longest, 2))
    if lanes is not None:
        lanes = checks.integer("lanes", lanes, 1, MOST_LANES)
    if streams is None:
        streams = np.arange(batch, dtype=np.int32)
    elif not is_traced(streams):
        streams = checks.integers("streams", streams, (batch,), 0, INT32_MAX)
    if not is_traced(first_playout):
        first_playout = checks.integer("first_playout", first_playout, 0)
        checks.integer("first_playout + num_playouts", first_playout + num_playouts, 1)
    with jax.transfer_guard("allow"):  # which a caller may forbid for arrays of his own
        words = draws.seed_words(check_seed(seed))
        streams, first_playout = traced("streams", streams, (batch,)), traced("first_playout", first_playout, ())
    arguments = position, streams, words, first_playout
    how, asked = (num_playouts, longest, moves, lanes), policy_of(policy, size)
    if is_traced(arguments, asked):
        return over_mesh(functools.partial(_play, *how), *arguments, shared=(asked,))
    with jax.transfer_guard("allow"):  # a policy's numbers and tables may be numpy's
        return _program(how, jax.default_backend())(arguments, asked)


@functools.lru_cache(maxsize=64)
def _program(how: tuple, platform: str):
    def play(arguments, policy):
        return over_mesh(functools.partial(_play, *how), *arguments, shared=(policy,))

    return jax.jit(play, compiler_options=compiler_options(platform))


def _play(num_playouts: int, longest: int, moves: bool, lanes: int | None, policy, position, streams, seed, first_playout):
    g, batch = position.geometry, position.batch
    job = Job(
        num_playouts, seed, num_positions=jnp.int32(batch), num_playouts=jnp.int32(num_playouts), max_plies=jnp.int32(longest)
    )  # fmt: skip
    columns = of_playouts(columns_of(position, streams), first_playout, num_playouts)
    records = play_anywhere(
        g, jnp.stack(columns), job, lanes=lanes, wanted=batch * num_playouts, longest=longest,
        first_plays=False, moves=moves, policy=policy,
    )  # fmt: skip
    return playouts_of(g, records, batch)
