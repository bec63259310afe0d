"""What `Position`'s methods compute, as pure functions of positions, and how they are run.

The functions are traced like any other; `run` is how the methods call them: in the form of whatever platform the program is
lowered for, each device on its own positions where they are sharded explicitly, and, outside of a trace, in programs for batches
of a few sizes only, so that a batch that has not been seen before need not be compiled for.
"""

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import forms
from jaxgo.base.constants import BLACK, NO_KO
from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import Board, points_of
from jaxgo.board.geometry import PLAYED_IN_64_BITS, Geometry

if TYPE_CHECKING:
    from jaxgo.board.position import Position


def own_and_opp(position: "Position") -> tuple[Board, Board]:
    """The stones of the player to move, and the other's."""
    black = position.to_play == np.int8(BLACK)
    return bb.choose(black, position.black, position.white), bb.choose(black, position.white, position.black)


def ko_board(g: Geometry, ko: jax.Array) -> Board:
    """The set of the ko point, empty for NO_KO."""
    index = jnp.asarray(g.index_of_point)[ko.astype(jnp.int32)]
    return bb.one_point(g, jnp.where(ko < 0, np.int32(g.pass_index), index))


def to_array(position: "Position") -> jax.Array:
    """`Position.to_array`."""
    return bb.stones_array(position.geometry, position.black, position.white)


def legal(position: "Position") -> jax.Array:
    """`Position.legal`."""
    g = position.geometry
    own, opp = own_and_opp(position)
    points = points_of(g, rules.legal_points(g, own, opp, ko_board(g, position.ko), rules.out_of_atari(g, own, opp)))
    with_pass = jnp.concatenate([points, jnp.ones_like(points[..., :1])], axis=-1)
    return with_pass & ~is_over(position)[..., None]


def no_eyes(position: "Position") -> jax.Array:
    """bool [B, P]: the empty points that are no eye of the player to move."""
    g = position.geometry
    return points_of(g, rules.no_eyes(g, *own_and_opp(position)))


def useful(position: "Position", legal: jax.Array) -> jax.Array:
    """`Position.useful`, from `Position.legal`, whose program is there more often than not, and takes long to compile."""
    return legal[..., :-1] & no_eyes(position)


def legal_for_both(g: Geometry, own: Board, opp: Board, ko: jax.Array) -> jax.Array:
    """bool [..., 2, P]: where the player to move may play (0), and where the other could, were it his turn (1).

    `ko` is the ko point or NO_KO. The boards' shape is [...].
    """
    return jnp.stack([points_of(g, points) for points in boards_legal_for_both(g, own, opp, ko)], axis=-2)


def boards_legal_for_both(g: Geometry, own: Board, opp: Board, ko: jax.Array) -> tuple[Board, Board]:
    """The same as sets."""
    forbidden, free = ko_board(g, ko), rules.out_of_atari(g, own, opp)
    none = tuple(jnp.zeros_like(x) for x in forbidden)
    return rules.legal_points(g, own, opp, forbidden, free), rules.legal_points(g, opp, own, none, free)


def is_over(position: "Position") -> jax.Array:
    """`Position.is_over`."""
    return position.passes >= np.int8(2)


def played(position: "Position", points: jax.Array, where: jax.Array) -> "Position":
    """The positions after legal moves, int32 [B], where (bool [B]) a move is wanted and the game is not over."""
    return _if_going_on(position, _after(position, points), where)


def _after(position: "Position", points: jax.Array) -> "Position":
    g = position.geometry
    own, opp = own_and_opp(position)
    index = jnp.asarray(g.index_of_point)[points]
    own, opp, ko = rules.play(g, own, opp, bb.one_point(g, index))
    black = position.to_play == np.int8(BLACK)
    is_pass = points == np.int32(g.num_points)
    return dataclasses.replace(
        position,
        black=bb.choose(black, own, opp),
        white=bb.choose(black, opp, own),
        to_play=-position.to_play,
        ko=in_one_loop(lambda ko: bb.point_of(g, ko, NO_KO), ko).astype(jnp.int16),
        passes=jnp.where(is_pass, position.passes + np.int8(1), np.int8(0)),
    )


def _if_going_on(position: "Position", after: "Position", where: jax.Array) -> "Position":
    moves = where & ~is_over(position)
    return jax.tree.map(lambda new, old: jnp.where(moves, new, old), after, position)


#: What may be wrong with a move, in the order of `tried`'s answers from 1 on.
FAULTS = ("the game is over", "the point is occupied", "the ko forbids it", "it is suicide")


def tried(position: "Position", points: jax.Array, where: jax.Array) -> tuple["Position", jax.Array]:
    """(`played`, int32 [B]: 0 for a legal move or none, else 1 + the number of what is wrong with it in `FAULTS`).

    To look at one move takes a tenth of the program that `legal` is.
    """
    g = position.geometry
    own, opp = own_and_opp(position)
    after = _after(position, points)
    mine = own_and_opp(after)[1]
    is_pass = points == np.int32(g.num_points)
    occupied = bb.any_point(bb.both(bb.one_point(g, jnp.asarray(g.index_of_point)[points]), bb.either(own, opp)))
    suicide = bb.any_point(rules.without_liberties(g, mine, own_and_opp(after)[0]))
    faults = (is_over(position), occupied, ~is_pass & (points == position.ko.astype(jnp.int32)), suicide)
    fault = jnp.zeros_like(points)
    for i, wrong in reversed(list(enumerate(faults))):
        fault = jnp.where(wrong, np.int32(i + 1), fault)
    return _if_going_on(position, after, where), jnp.where(where, fault, np.int32(0))


def score(position: "Position") -> jax.Array:
    """`Position.score`."""
    return rules.area_margin(position.geometry, position.black, position.white)


def stones_hash(position: "Position") -> jax.Array:
    """`Position.hash`."""
    of_words = enumerate(zip(position.black, position.white))
    parts = [in_one_loop(functools.partial(_hash_of_word, position.geometry, word), *stones) for word, stones in of_words]
    return jnp.stack([functools.reduce(operator.xor, x) for x in zip(*parts)], axis=-1)


def _hash_of_word(g: Geometry, word: int, black: jax.Array, white: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The hash of one word's points, the higher half and the lower."""
    keys, (high, low) = rules.zobrist_keys(g.size), [lax.bitwise_and(black, np.uint32(0))] * 2
    signs = [lax.bitcast_convert_type(stones, np.int32) for stones in (black, white)]
    # By the functions that jax's operators come down to, as these are many, and to trace an operator takes longer.
    for point in np.flatnonzero(g.word_of_point == word):
        up = np.int32(31 - g.bit_of_point[point])
        for stones, key in zip(signs, keys[:, point]):
            all_or_none = lax.shift_right_arithmetic(lax.shift_left(stones, up), np.int32(31))
            held = lax.bitcast_convert_type(all_or_none, np.uint32)
            high, low = (lax.bitwise_xor(x, lax.bitwise_and(held, k)) for x, k in zip((high, low), key))
    return high, low


def without_liberties(position: "Position") -> jax.Array:
    """bool [B, P]: stones of chains without liberties."""
    g = position.geometry
    return points_of(g, rules.without_liberties(g, position.black, position.white))


# How the methods run them.

#: Outside of a trace there are programs for batches of powers of four up to here, and of powers of two beyond.
POWERS_OF_FOUR_UP_TO = 1024


def is_traced(*trees) -> bool:
    """Whether any array in the pytrees has no values: the caller stands inside `jit` or its kin, or `jax.eval_shape` made it."""
    return any(isinstance(x, (jax.core.Tracer, jax.ShapeDtypeStruct)) for x in jax.tree.leaves(trees))


def traced(name: str, values, shape: tuple[int, ...], kind=np.int32) -> jax.Array:
    """An argument that may have no values, one for all or of a shape, as an array of that shape and of a kind: int32 or bool.

    Raises:
      TypeError, ValueError: it is of another kind or shape, which can be seen all the same.
    """
    array = jnp.asarray(values)
    if not jnp.issubdtype(array.dtype, jnp.integer if kind is np.int32 else kind):
        raise TypeError(f"{name} must hold {'integers' if kind is np.int32 else 'bools'}, not {array.dtype}")
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must be one for all or have shape {shape}, not {array.shape}")
    return jnp.broadcast_to(array.astype(kind), shape)


def run(fn: Callable, *args):
    """`fn(*args)`: one of this module's functions of a batch of positions and arrays [B, ...]; on a device for good only if they
    are."""
    leaves = jax.tree.leaves(args)
    if is_traced(leaves) or leaves[0].ndim != 1 or len(_devices_of(leaves)) > 1:
        return _program(fn, None)(*args)
    device, count, given = _bound_to(leaves), len(leaves[0]), args
    room = _room(count)
    # By way of the host, where no shape needs compiling, and by explicit transfers, which a transfer guard lets pass.
    if room != count:
        args = jax.tree.map(lambda x: np.pad(jax.device_get(x), [(0, room - count)] + [(0, 0)] * (x.ndim - 1)), args)
    with _no_mesh():
        args = jax.device_put(args, device)
        if is_traced(args):  # the caller stands inside `jit` all the same, with values that it has from outside
            return _program(fn, None)(*given)
        (here,) = _devices_of(jax.tree.leaves(args))
        out = _program(fn, here.platform)(*args)
        return out if room == count else jax.device_put(jax.tree.map(lambda x: jax.device_get(x)[:count], out), device)


def _devices_of(leaves: Sequence[Any]) -> set[jax.Device]:
    """Where arrays lie."""
    return {device for x in leaves if isinstance(x, jax.Array) for device in x.devices()}


def _bound_to(leaves: Sequence[Any]) -> jax.Device | None:
    """The device to which arrays are bound that lie on one: not that on which they happen to lie."""
    return next((device for x in leaves if isinstance(x, jax.Array) and x.committed for device in x.devices()), None)


@contextlib.contextmanager
def _no_mesh() -> Iterator[None]:
    """Where a program runs on one device, whatever mesh the process has set: in that, all would have to be on all its devices."""
    with contextlib.ExitStack() as stack:
        if not jax.sharding.get_abstract_mesh().empty:
            with contextlib.suppress(ValueError):  # inside `jit`, none can be set
                stack.enter_context(jax.set_mesh(jax.sharding.Mesh(np.empty((), object), ())))
        yield


def rearranged(fn: Callable, *positions: "Position") -> "Position":
    """`fn(numpy or jax.numpy, *arrays)` of each array of the positions: what changes nothing but which of them are there.

    Where they lie on one CPU it is done by numpy, which needs no program for each new shape; elsewhere on their devices, each of
    which has all of what was sharded explicitly.
    """
    leaves = jax.tree.leaves(positions)
    devices = set() if is_traced(leaves) else _devices_of(leaves)
    if [device.platform for device in devices] != ["cpu"]:
        return jax.tree.map(lambda *x: fn(jnp, *map(whole, x)), *positions)
    return jax.device_put(jax.tree.map(functools.partial(fn, np), *jax.device_get(positions)), _bound_to(leaves))


def whole(x: jax.Array) -> jax.Array:
    """The array, which each device has all of if it is sharded explicitly."""
    sharding = jax.typeof(x).sharding
    return x if sharding.mesh.empty else jax.reshard(x, jax.NamedSharding(sharding.mesh, jax.P()))


@functools.cache
def _program(fn: Callable, platform: str | None):
    """The function compiled for a platform, or traced for whichever it will be."""
    if platform:
        return jax.jit(forms.written(forms.of_platform(platform), fn))

    def anywhere(position, *args):
        by_platform = functools.partial(forms.by_platform, fn, wide=position.size in PLAYED_IN_64_BITS)
        return over_mesh(by_platform, position, *args)

    return jax.jit(anywhere)


def _room(count: int) -> int:
    power = max(count - 1, 0).bit_length()
    return 1 << (power + power % 2 if count <= POWERS_OF_FOUR_UP_TO else power)


def over_mesh(fn: Callable, *args, shared: tuple = ()):
    """`fn(*shared, *args)`, a function that treats each element of the batch by itself in arrays [B, ...], or takes one without
    an axis.

    Where an array is sharded explicitly, each device computes its part of the batch, of all arrays that have one. The pytrees
    `shared` each device has whole.
    """
    shardings = [jax.typeof(x).sharding for x in jax.tree.leaves(args)]
    sharded = [s for s in shardings if not s.mesh.empty and s.spec and s.spec[0] is not None]
    if not sharded:
        return fn(*shared, *args)
    mesh, spec = sharded[0].mesh, jax.P(sharded[0].spec[0])
    specs = jax.tree.map(lambda x: spec if jnp.ndim(x) else jax.P(), args)
    whole = jax.tree.map(lambda x: jax.P(), shared)
    args, shared = (
        jax.tree.map(lambda x, s: jax.reshard(x, jax.NamedSharding(mesh, s)), *both) for both in ((args, specs), (shared, whole))
    )
    return jax.shard_map(fn, mesh=mesh, in_specs=(*whole, *specs), out_specs=spec)(*shared, *args)
