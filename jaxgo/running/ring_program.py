"""The program of a ring's device (`jaxgo.running.ring`): what it does in a step, and how steps follow each other."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.backends import exchange, xla
from jaxgo.backends.backend import Backend
from jaxgo.backends.choice import backend_of
from jaxgo.backends.programs import Programs
from jaxgo.base import forms
from jaxgo.base.constants import BLACK, STAY, max_plies
from jaxgo.board import bitboard as bb
from jaxgo.board import dynamics
from jaxgo.board.geometry import Geometry, geometry, playing_geometry
from jaxgo.board.position import Position
from jaxgo.playing import playout, wire
from jaxgo.playing.lanes import LOGGED, Wants
from jaxgo.playing.playout import NO_ITEM, Job, Ready
from jaxgo.playing.policies.policy import Policy, PolicyForm
from jaxgo.playing.wire import Records, columns_of, table_of
from jaxgo.running import leaf_columns, leaf_results

#: Playouts of a call for each lane, uniform ones and those by a policy, whose ticks are long; and of either where few playouts
#: are under way, as for a young tree, which waits for ticks on lanes that have nothing. On large boards, from 16x16 on, a tick
#: takes long on few lanes too, and a program of its own for few would take long to compile: there they are always few.
PER_LANE, PER_LANE_BY_POLICY, PER_LANE_OF_FEW = 4, 12, 16
LARGE, PER_LANE_OF_LARGE = 16, 24
#: Calls that a device has under way at a time: one whose results are on their way or looked at, one to be finished, and one that
#: free lanes play for.
PLACES = 3
#: What a program is told for a step (see `_step`).
NUMBERS = 5 + PLACES


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a program is compiled for."""

    size: int
    leaves: int
    """Of a call, at most."""
    playouts: int
    """From each leaf."""
    moves: bool
    """Whether they are told."""
    policy: PolicyForm | None = None
    """Whom the playouts ask; its arrays are arguments of the program."""
    few: bool = False
    """Whether it is for few playouts under way, and so has few lanes."""

    @property
    def num_columns(self) -> int:
        """Of a leaf (see `jaxgo.running.leaf_columns`)."""
        return leaf_columns.number(self.size)

    @property
    def room(self) -> int:
        """Playouts of a call, at most."""
        return self.leaves * self.playouts


class State(NamedTuple):
    """What stays on the device."""

    flight: xla.Flight
    table: jax.Array | np.ndarray
    """uint32 [places * leaves, columns], as `jaxgo.running.leaf_columns` says, but of the position after the move to the leaf."""


class Found(NamedTuple):
    """What a call gives."""

    positions: jax.Array
    """uint32 [leaves, .]: the new leaves (`jaxgo.running.leaf_results`)."""
    playouts: jax.Array
    """uint32 [leaves, .]: those of the oldest leaves."""
    first_plays: jax.Array
    """int16 [leaves, 2, 2, .]: likewise."""
    events: jax.Array | None = None
    """If moves are wanted, int16 [leaves, K, max_plies]."""
    results: jax.Array | None = None
    """Likewise, int8 [leaves, K]."""


def flies(shape: Shape, backend: Backend) -> bool:
    """Whether playouts are left under way from call to call."""
    return backend.flies_on(shape.size, shape.policy)


def lanes(shape: Shape, backend: Backend) -> int:
    """How many lanes play where playouts are left under way."""
    if shape.size >= LARGE:
        per_lane = PER_LANE_OF_LARGE
    elif shape.few:
        per_lane = PER_LANE_OF_FEW
    else:
        per_lane = PER_LANE if shape.policy is None else PER_LANE_BY_POLICY
    return backend.lanes_for(backend.most_lanes(shape.size), shape.room // per_lane)


def first_state(shape: Shape, backend: Backend) -> State | tuple[()]:
    """The state before the first call, of numpy arrays; empty where nothing is left under way."""
    if not flies(shape, backend):
        return ()
    # Each array of its own, so that the program may write into it.
    arrays = jax.tree.map(np.array, _empty(shape, backend))
    flight = jax.tree.map(lambda x: x.view(np.uint32).reshape(-1, 2) if x.itemsize == 8 else x, arrays)
    return State(flight, np.zeros((PLACES * shape.leaves, shape.num_columns), np.uint32))


def _empty(shape: Shape, backend: Backend) -> xla.Flight:
    """A flight without playouts, of numpy arrays."""
    with forms.within(backend.form):
        g = playing_geometry(shape.size)
    longest = max_plies(shape.size) if shape.moves else None
    return xla.empty(g, lanes(shape, backend), PLACES * shape.room, longest, True, np.zeros((), np.uint32), _wants(shape))


def _wants(shape: Shape) -> Wants | None:
    """What the playouts' policy wants lanes to remember."""
    return None if shape.policy is None else shape.policy.wants


def _narrow(flight: xla.Flight) -> xla.Flight:
    """A flight with words of 64 bits, which jax takes and gives only where its user wishes, as pairs of 32."""
    return jax.tree.map(lambda x: lax.bitcast_convert_type(x, jnp.uint32) if x.dtype.itemsize == 8 else x, flight)


def _wide(flight: xla.Flight, shape: Shape, backend: Backend) -> xla.Flight:
    """The flight that `_narrow` was given."""
    like = _empty(shape, backend)
    return jax.tree.map(lambda x, y: lax.bitcast_convert_type(x, y.dtype) if y.dtype.itemsize == 8 else x, flight, like)


def _lowered(shape: Shape, devices: tuple[jax.Device]) -> jax.stages.Lowered:
    (device,) = devices
    backend = backend_of(device)
    asked = [jax.ShapeDtypeStruct((shape.num_columns, shape.leaves), np.uint32), jax.ShapeDtypeStruct((NUMBERS,), np.int32)]
    policy = () if shape.policy is None else shape.policy.shapes
    one_step = _step if flies(shape, backend) else _whole_step

    def program(state, columns, numbers, policy, *number):
        step = functools.partial(one_step, shape, backend, shape.policy and shape.policy.with_arrays(policy))
        return _steps(step, state, columns, numbers, *number) if number else step(state, columns, numbers)

    number = [jax.ShapeDtypeStruct((), np.int32)] if one_step is _step and backend.exchanges() else []
    state = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), first_state(shape, backend))
    there = jax.sharding.SingleDeviceSharding(device)
    results = jax.sharding.SingleDeviceSharding(device, memory_kind=backend.memory_of_results(device))
    jitted = jax.jit(
        forms.written(backend.form, program),
        in_shardings=there, out_shardings=(there, results), donate_argnums=0, compiler_options=backend.compiler_options(),
    )  # fmt: skip
    return jitted.lower(state, *asked, policy, *number)


#: The programs, by shape and device.
compiled = Programs(_lowered, "ring")


def _steps(step, state: State, columns: jax.Array, numbers: jax.Array, number: jax.Array) -> tuple[State, jax.Array]:
    """Steps, with the host asked between them for the next one's columns and numbers (`_step`), until the first number is 0.

    `number` is that of the host's function (`jaxgo.backends.exchange`). Gives the state and what says that the program has ended.
    """
    asked = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (columns, numbers)]

    def go_on(carried):
        state, found = step(*carried)
        return state, *exchange.exchange(number, jax.tree.leaves(found), asked)

    state, _, numbers = lax.while_loop(lambda x: x[2][0] != np.int32(0), go_on, (state, columns, numbers))
    return state, numbers


def _step(
    shape: Shape, backend: Backend, policy: Policy | None, state: State, columns: jax.Array, numbers: jax.Array
) -> tuple[State, Found]:
    """A call: the state after it, and what it gives.

    `columns` are the new leaves', uint32 [C, leaves]. `numbers`, int32: one that is not 0; the place and the number of the new
    leaves; the place and number of the oldest, or of none of them, if they are not to be finished yet; the number of leaves of
    each call under way, the oldest first.
    """
    g, size, wants = geometry(shape.size), shape.size, _wants(shape)
    place, count, oldest, awaited = numbers[1:5]
    table, words = state.table, 2 * g.num_words
    move = words + leaf_columns.MOVE
    positions, rows = _arrive(g, columns)
    kept = lax.dynamic_update_slice(table, rows, (place * np.int32(shape.leaves), np.int32(0)))
    table = jnp.where(count > np.int32(0), kept, table)
    ends = jnp.cumsum(numbers[5:], dtype=jnp.int32) * np.int32(shape.playouts)

    def ready(number: jax.Array) -> Ready:
        start, at = jnp.zeros_like(number), jnp.zeros_like(number)
        for age in range(1, PLACES):
            later = number >= ends[age - 1]
            start, at = jnp.where(later, ends[age - 1], start), jnp.where(later, np.int32(age), at)
        at = lax.rem(at + oldest, np.int32(PLACES))
        number = number - start
        leaf = jnp.minimum(at * np.int32(shape.leaves) + lax.div(number, np.int32(shape.playouts)), np.int32(len(table) - 1))
        row = tuple(table[leaf].T)
        seed, more_seed = row[words + leaf_columns.SEED :]
        playout_number = lax.rem(number, np.int32(shape.playouts))
        item = at * np.int32(shape.room) + playout_number * np.int32(shape.leaves) + lax.div(number, np.int32(shape.playouts))
        item = jnp.where(number + start < ends[-1], item, np.int32(NO_ITEM))
        last = row[move].astype(jnp.int32) if wants is not None and wants.last else None
        return playout.ready_from(g_playing, (seed, more_seed), playout_number, item, row[:move], last)

    g_playing = playing_geometry(size)
    first = oldest * np.int32(shape.room)
    end = first + jnp.minimum(awaited, np.int32(1)) * np.int32(shape.room)
    wanted = xla.Awaited(awaited * np.int32(shape.playouts), first, end)
    with bb.words_known(g_playing):
        flight = _wide(state.flight, shape, backend)
        if policy is not None:
            policy = policy.laid_out(g_playing)
        flight = xla.play_on(g_playing, flight, xla.Supply(ends[-1], ready, jnp.int32(max_plies(size))), wanted, policy)
        flight = flight._replace(taken=flight.taken - awaited * np.int32(shape.playouts))
        narrow = _narrow(flight)
        done = lax.dynamic_slice_in_dim(flight.rows, first, shape.room)
        records = wire.unpack(g_playing, tuple(done.T), None, True)
        if flight.events is not None:
            events = lax.dynamic_slice_in_dim(flight.events, first, shape.room)[:, LOGGED:]
            ply = lax.broadcasted_iota(jnp.int32, events.shape, 1)
            records = records._replace(events=jnp.where(ply < records.length[:, None], events, np.int16(-1)))
    of_oldest = lax.dynamic_slice_in_dim(table, oldest * np.int32(shape.leaves), shape.leaves)
    return State(narrow, table), _found(shape, g, positions, records, of_oldest)


def _whole_step(
    shape: Shape, backend: Backend, policy: Policy | None, state: tuple[()], columns: jax.Array, numbers: jax.Array
) -> tuple[tuple[()], Found]:
    """A call that plays all of the new leaves' playouts; the rest as in `_step`."""
    g, longest = geometry(shape.size), max_plies(shape.size)
    positions, rows = _arrive(g, columns)
    words = 2 * g.num_words
    move = words + leaf_columns.MOVE
    lanes = backend.lanes_for(backend.most_lanes(shape.size), shape.room)
    job = Job(shape.playouts, None, numbers[2], jnp.int32(shape.playouts), jnp.int32(longest))
    how: dict[str, Any] = {"lanes": lanes, "longest": longest, "first_plays": True, "moves": shape.moves, "policy": policy}
    seeds = rows[:, words + leaf_columns.SEED :]
    columns = jnp.stack([*wire.of_playouts(tuple(rows[:, :move].T), 0, shape.playouts), *seeds.T])
    records = backend.play_all(g, columns, job, **how, last=rows[:, move].astype(jnp.int32))
    each = shape.leaves, shape.playouts
    records = jax.tree.map(lambda x: jnp.swapaxes(x.reshape(*each, *x.shape[1:]), 0, 1).reshape(x.shape), records)
    return (), _found(shape, g, positions, records, rows)


def _arrive(g: Geometry, columns: jax.Array) -> tuple[Position, jax.Array]:
    """The leaves, after their moves, and what the table is to hold of them, uint32 [leaves, .]."""
    num = 2 * g.num_words + leaf_columns.MOVE
    own, opp, ko, passes, black, streams = table_of(tuple(columns[:num]))
    is_black = black != np.int32(0)
    to_play = jnp.where(is_black, np.int8(BLACK), np.int8(-BLACK))
    stones = bb.choose(is_black, own, opp), bb.choose(is_black, opp, own)
    before = Position(*stones, to_play, ko.astype(jnp.int16), passes.astype(jnp.int8), g.size)
    move = columns[num].astype(jnp.int32)
    after = dynamics.played(before, jnp.maximum(move, np.int32(0)), move != np.int32(STAY))
    return after, jnp.stack([*columns_of(after, streams), *columns[num:]], axis=1)


def _found(shape: Shape, g: Geometry, positions: Position, records: Records, rows: jax.Array) -> Found:
    """What a call gives: of its new positions, and of playouts from the positions whose rows of the table are given."""
    numbers = rows[:, 2 * g.num_words :]
    black, bounds = numbers[:, leaf_columns.BLACK] != np.uint32(0), numbers[:, leaf_columns.WIN : leaf_columns.SEED]
    sums, first_plays, results = leaf_results.reduce(g, lax.optimization_barrier(records), black, bounds.astype(jnp.int32))
    found = Found(leaf_results.describe(g, positions), sums, first_plays)
    if shape.moves:
        assert records.events is not None
        events = records.events.reshape(shape.playouts, shape.leaves, -1)
        found = found._replace(events=jnp.swapaxes(events, 0, 1), results=results.T.astype(jnp.int8))
    return found
