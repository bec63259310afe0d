"""`jaxgo.simulate`, the pure function: the playouts of `jaxgo.playouts`, bit for bit, under every transformation of JAX."""

import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

import jaxgo
from jaxgo.backends import agreement
from tests.positions import assert_same, three_positions, without_moves
from tests.wide import wide

SIZE, COUNT = 5, 50


@pytest.fixture(scope="module")
def expected() -> jaxgo.Playouts:
    """What `jaxgo.playouts` gives for three positions."""
    return jaxgo.playouts(three_positions(SIZE), COUNT, seed=3, moves=True)


def as_numpy(played: jaxgo.Playouts) -> jaxgo.Playouts:
    """The result as host arrays."""
    return jax.tree.map(np.asarray, played)


def test_eager(expected):
    played = jaxgo.simulate(three_positions(SIZE), COUNT, 3, moves=True)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(played))
    np.testing.assert_array_equal(played.board, expected.board)
    assert_same(as_numpy(played), expected)
    assert_same(as_numpy(jaxgo.simulate(three_positions(SIZE), COUNT, 3)), without_moves(expected))


@pytest.mark.parametrize("lanes", [None, *wide(1, 16, 5000)])
def test_jit(expected, lanes):
    simulate = jax.jit(
        lambda position: jaxgo.simulate(position, COUNT, 3, moves=True, lanes=lanes),
        compiler_options=jaxgo.compiler_options(),
    )
    assert_same(as_numpy(simulate(three_positions(SIZE))), expected)


class OfNvidia:
    """What is asked of a GPU of NVIDIA's when a program is made for it among others."""

    platform, platform_version, device_kind, core_count = "gpu", "cuda 13", "Test 9000", 132

    @property
    def client(self) -> "OfNvidia":
        return self


@pytest.mark.parametrize("moves", [False, True])
def test_where_there_is_a_gpu_whose_kernel_plays(monkeypatch, expected, moves):
    """A program that is not yet of one platform has the kernel in it, which makes what XLA makes."""
    local = [*jax.local_devices(), OfNvidia()]
    monkeypatch.setattr(jax, "local_devices", lambda *args, **how: local)
    monkeypatch.setattr(agreement, "of_kernel", lambda *asked: agreement.Agreement(True, ""))
    simulate = jax.jit(lambda position: jaxgo.simulate(position, COUNT, 3, moves=moves, policy=None))
    assert "ptx" in str(simulate.trace(three_positions(SIZE)).jaxpr)
    assert_same(as_numpy(simulate(three_positions(SIZE))), expected if moves else without_moves(expected))


def test_jit_with_seed_streams_and_first_playout_traced(expected):
    """One compiled function serves all seeds, streams and parts."""

    @jax.jit
    @functools.partial(chex.assert_max_traces, n=1)
    def simulate(position, key, streams, first):
        return jaxgo.simulate(position, 10, key, streams=streams, first_playout=first, moves=True)

    position, raw = three_positions(SIZE), jnp.array([0, 3], jnp.uint32)
    for key in (raw, raw + jnp.uint32(1)):
        for first in (0, 10, 40):
            for order in ([0, 1, 2], [2, 2, 0]):
                streams = np.array(order, np.int32)
                actual = simulate(position, key, streams, jnp.int32(first))
                host = jaxgo.playouts(position, 10, seed=key, streams=streams, first_playout=first, moves=True)
                assert_same(as_numpy(actual), host)
    chex.clear_trace_counter()


@pytest.mark.parametrize(("argument", "value", "error"), [
    ("streams", [0.9, 1.0, 2.0], "streams must hold integers, not float32"),
    ("streams", [0, 1], r"streams must be one for all or have shape \(3,\), not \(2,\)"),
    ("first_playout", 5.0, "first_playout must hold integers, not float32"),
    ("first_playout", [5], r"first_playout must be one for all or have shape \(\), not \(1,\)"),
])  # fmt: skip
def test_what_is_traced_has_a_type_and_a_shape(argument, value, error):
    position = three_positions(SIZE)
    with pytest.raises((TypeError, ValueError), match=error):
        jax.jit(lambda x: jaxgo.simulate(position, 10, 3, **{argument: x}))(jnp.array(value))


def test_keys(expected):
    """A typed key, as jax's own functions take it, may be traced too."""
    key = jax.random.key(17)
    actual = jax.jit(lambda position, key: jaxgo.simulate(position, COUNT, key, moves=True))(three_positions(SIZE), key)
    assert_same(as_numpy(actual), jaxgo.playouts(three_positions(SIZE), COUNT, seed=key, moves=True))
    assert (np.asarray(actual.moves) != expected.moves).any()


def test_vmap(expected):
    """Over batches of positions, over seeds, and over streams of one position."""
    position = three_positions(SIZE)
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf[::-1]]), position)
    seeds = jnp.array([[0, 3], [0, 4]], jnp.uint32)
    played = jax.jit(jax.vmap(lambda p, s: jaxgo.simulate(p, COUNT, s, moves=True)))(stacked, seeds)
    for index, part in enumerate((position, position[::-1])):
        host = jaxgo.playouts(part, COUNT, seed=seeds[index], moves=True)
        assert_same(as_numpy(jax.tree.map(lambda leaf, index=index: leaf[index], played)), host)
    streams = jnp.array([[0], [1], [2]], jnp.int32)
    one = jax.jit(jax.vmap(lambda p, s: jaxgo.simulate(jax.tree.map(lambda x: x[None], p), COUNT, 3, streams=s, moves=True)))
    assert_same(jax.tree.map(lambda leaf: np.asarray(leaf)[:, 0], one(position, streams)), expected_of(position, seed=3))


def expected_of(position: jaxgo.Position, seed: int) -> jaxgo.Playouts:
    """The playouts of an int seed."""
    return jaxgo.playouts(position, COUNT, seed=seed, moves=True)


def test_scan():
    """A game against itself: at each step every legal move is tried by playouts; nothing leaves the device."""

    def step(position, number):
        played = jaxgo.simulate(position, 8, 5, first_playout=number * 8)
        move = jnp.argmax(position.legal(), axis=-1)
        return position.play(move), (played.margin, played.length)

    final, (margins, lengths) = jax.jit(lambda p: jax.lax.scan(step, p, jnp.arange(4, dtype=jnp.int32)))(three_positions(SIZE))
    position = three_positions(SIZE)
    for number in range(4):
        host = jaxgo.playouts(position, 8, seed=5, first_playout=8 * number)
        np.testing.assert_array_equal(margins[number], host.margin)
        np.testing.assert_array_equal(lengths[number], host.length)
        position = position.play(np.asarray(jnp.argmax(position.legal(), axis=-1)))
    chex.assert_trees_all_equal(final, position)


def test_shard_map(expected):
    mesh = jax.make_mesh((1,), ("devices",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("devices")

    def simulate(position, streams):
        return jaxgo.simulate(position, COUNT, 3, streams=streams, moves=True)

    sharded = jax.jit(jax.shard_map(simulate, mesh=mesh, in_specs=(spec, spec), out_specs=spec))
    played = sharded(three_positions(SIZE), jnp.arange(3, dtype=jnp.int32))
    assert_same(as_numpy(played), expected)


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(num_playouts=0), r"num_playouts.*\b0\b"),
        (dict(num_playouts=2**31), rf"num_playouts.*{2**31}"),
        (dict(num_playouts=2**30), "batch"),
        (dict(max_plies=0), r"max_plies.*\b0\b"),
        (dict(max_plies=76), r"max_plies.*76"),
        (dict(lanes=0), r"lanes.*\b0\b"),
        (dict(seed=-1), "seed.*-1"),
        (dict(seed=1.5), r"seed.*1\.5"),
        (dict(moves="no"), "moves must be True or False, not 'no'"),
        (dict(streams=0.7), "streams must hold integers, not float64"),
        (dict(streams=[1, 2]), r"streams must be one integer or have shape \(3,\), not \(2,\)"),
        (dict(streams=np.array([0, 1, 2**31])), rf"streams must be between 0 and {2**31 - 1}, not {2**31}"),
        (dict(first_playout=-1), "first_playout must be between 0 and .*, not -1"),
        (dict(first_playout=0.9), r"first_playout must be an integer, not 0\.9"),
        (dict(first_playout=2**31 - 3), r"first_playout \+ num_playouts"),
        (dict(position=np.zeros((1, 5, 5))), "position must be a jaxgo.Position, not ndarray"),
        (dict(position=jax.tree.map(lambda x: x[None], three_positions(5))), r"a batch of one axis, not of shape \(1, 3\)"),
    ],
)
def test_bad_arguments_are_refused(options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        jaxgo.simulate(**(dict(position=three_positions(SIZE), num_playouts=5) | options))


@pytest.mark.wide
def test_vmap_over_positions(expected):
    """Each call sees one position; with the streams of the batch it gives the playouts of the batch."""

    def one(position, stream):
        return jaxgo.simulate(position, COUNT, 3, streams=stream, moves=True)

    played = jax.jit(jax.vmap(one))(three_positions(SIZE), jnp.arange(3, dtype=jnp.int32))
    assert_same(as_numpy(played), expected)


def test_no_more_playouts_than_can_be_counted():
    """B num_playouts max_plies is below 2**31."""

    def shapes(count: int, **options):
        return jax.eval_shape(lambda position: jaxgo.simulate(position, count, **options), three_positions(SIZE))

    assert shapes(9_500_000).margin.shape == (3, 9_500_000)
    with pytest.raises(ValueError, match="the batch times num_playouts must be between 1 and 28633115, not 30000000"):
        shapes(10_000_000)
    assert shapes(10_000_000, max_plies=70).margin.shape == (3, 10_000_000)


def test_vmap_hands_on_all_options():
    options = dict(first_playout=5, max_plies=20, policy=jaxgo.Capture(), moves=True)
    expected = jaxgo.playouts(three_positions(SIZE), 20, seed=3, **options)

    def one(position, stream):
        return jaxgo.simulate(position, 20, 3, streams=stream, **options)

    assert_same(as_numpy(jax.jit(jax.vmap(one))(three_positions(SIZE), jnp.arange(3, dtype=jnp.int32))), expected)
