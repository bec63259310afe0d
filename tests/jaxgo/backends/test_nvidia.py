"""The GPU kernel: on simulated warps it plays XLA's playouts, bit for bit, and XLA for NVIDIA GPUs takes it.

Positions are of all kinds: with a ko, after a pass, over, finished, of either colour; lanes play several playouts each. So it does
where playouts ask a policy.
"""

import functools
import importlib.util
import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from bench import kernel_work
from jaxgo.backends import agreement, nvidia, xla
from jaxgo.base import forms
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE, max_plies
from jaxgo.board.geometry import geometry
from jaxgo.playing import draws
from jaxgo.playing.asking import Preference
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.in_order import InOrder
from jaxgo.playing.policies.policy import Policy, PolicyForm
from jaxgo.playing.wire import Records, columns_of, num_columns_of_job, of_playouts
from tests.positions import from_games, middle_game
from tests.referee import Game
from tests.wide import wide

#: Playouts of each position that records have room for, and that are asked for; of the second position fewer.
ROOM, NUMBER, FEWER = 25, 23, 11


@functools.cache
def some_positions(size: int) -> np.ndarray:
    """The columns of five positions; of the last one no playouts are asked."""
    after_a_pass = middle_game(size, size, seed=2)
    after_a_pass.play(after_a_pass.pass_move)
    over = Game(size)
    over.play(over.pass_move), over.play(over.pass_move)
    late = (middle_game(size, plies, seed) for seed in range(200) for plies in (size * size * 4 // 5, size * size))
    with_ko = next((game for game in late if game.ko >= 0), middle_game(size, size, seed=3))
    positions = from_games(Game(size), after_a_pass, over, with_ko, Game(size))
    return np.stack([np.asarray(x) for x in columns_of(positions, jnp.array([0, 7, 2, 2**31 - 1, 4], jnp.int32))])


class Asked(NamedTuple):
    """What is to be played."""

    columns: np.ndarray
    job: Job


def a_job(size: int, *, seed=5, positions=4, playouts=NUMBER, first=3, cap=None) -> Asked:
    """Of which each position has first playouts of its own."""
    firsts, counts = first + np.arange(5), np.array([playouts, min(playouts, FEWER), playouts, playouts, playouts])
    columns = np.stack(of_playouts(tuple(some_positions(size)), firsts, counts))
    return Asked(columns, Job(ROOM, draws.seed_words(seed), *(jnp.int32(x) for x in (positions, playouts, cap or max_plies(size)))))


@functools.cache
def _by_xla(size: int, policy: Policy | None = None):
    how = dict(lanes=16, longest=max_plies(size), first_plays=True, moves=True, policy=policy, last=some_last_moves(size))
    return jax.jit(lambda columns, *job: xla.play_all(geometry(size), columns, Job(ROOM, *job), **how))


def by_xla(size: int, asked: Asked, policy: Policy | None = None) -> Records:
    """All that can be recorded."""
    return jax.tree.map(np.asarray, _by_xla(size, policy)(asked.columns, *asked.job[1:]))


def by_kernel(size: int, asked: Asked, *, lanes=32, first_plays=True, moves=True, policy: Policy | None = None) -> Records:
    how = dict(lanes=lanes, longest=max_plies(size), first_plays=first_plays, moves=moves)
    found, _ = kernel_work.play_all(geometry(size), *asked, **how, policy=policy, last=some_last_moves(size))
    return jax.tree.map(np.asarray, found)


def some_last_moves(size: int) -> jax.Array:
    """The moves before `some_positions`, which a policy may want: none, a pass, and points."""
    return jnp.array([-1, size * size, 0, size + 1, size], jnp.int32)


def assert_same(found: Records, expected: Records) -> None:
    """What is recorded is the same."""
    for name in Records._fields:
        a, b = getattr(found, name), getattr(expected, name)
        if a is None or isinstance(a, tuple) and not a:
            continue
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y, name)


def assert_plays(size: int, **how) -> None:
    """Both ways return the same records, and there are playouts in them."""
    job = a_job(size)
    found = by_kernel(size, job, **how)
    assert_same(found, by_xla(size, job))
    lengths = found.length.reshape(5, ROOM)
    asked = lengths[[0, 3], :NUMBER]
    assert (asked >= 2).all() and not lengths[2].any() and not lengths[4].any() and not lengths[:, NUMBER:].any()
    assert (lengths[1, :FEWER] >= 2).all() and not lengths[1, FEWER:].any()
    assert len(np.unique(asked)) > 3


@pytest.mark.parametrize("first_plays", [False, True])
@pytest.mark.parametrize("moves", [False, True])
def test_playouts_are_xlas(first_plays, moves):
    assert_plays(5, first_plays=first_plays, moves=moves)
    found = by_kernel(5, a_job(5), first_plays=first_plays, moves=moves)
    assert (found.events is not None) == moves and bool(found.first_black) == first_plays


@pytest.mark.parametrize("size", [2, *wide(9)])
def test_playouts_of_other_sizes(size):
    assert_plays(size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [size for size in range(MIN_SIZE, MAX_SIZE + 1) if size not in (2, 5, 9)])
def test_playouts_of_all_sizes(size):
    assert_plays(size)


@pytest.mark.parametrize("lanes", [1, 64, 1000])
def test_lanes_leave_no_trace(lanes):
    """Fewer lanes than a warp has, two warps, and more lanes than playouts."""
    assert_same(by_kernel(5, a_job(5), lanes=lanes), by_xla(5, a_job(5)))


@pytest.mark.parametrize(
    "changes",
    [
        {"cap": 19},
        {"cap": 1},
        {"seed": 2**64 - 1, "first": 2**31 - 100},
        {"positions": 1, "playouts": 1},
        {"positions": 5, "playouts": ROOM},
        {"positions": 0},
        {"playouts": 0},
    ],
    ids=str,
)
def test_jobs_of_all_kinds(changes):
    job = a_job(5, **changes)
    found = by_kernel(5, job)
    assert_same(found, by_xla(5, job))
    assert found.truncated.any() == ("cap" in changes)
    assert found.length.any() == (changes.get("positions") != 0 and changes.get("playouts") != 0)


def test_each_position_may_have_its_own_seed():
    """Where the job has none: the kernel plays what XLA plays, which is what jobs of those seeds play of each position."""
    seeds = [draws.seed_words(seed) for seed in (5, 2**40 + 3, 0, 2**64 - 1, 6)]
    asked = a_job(5)
    columns, job = np.concatenate([asked.columns, np.array(seeds, np.uint32).T]), asked.job._replace(seed=None)
    how = dict(lanes=32, longest=max_plies(5), first_plays=True, moves=True)
    found, expected = kernel_work.play_all(geometry(5), columns, job, **how)[0], _by_xla(5)(columns, *job[1:])
    assert_same(jax.tree.map(np.asarray, found), jax.tree.map(np.asarray, expected))
    for i, seed in enumerate(seeds):
        alone = by_xla(5, asked._replace(job=job._replace(seed=seed)))
        of = slice(i * ROOM, (i + 1) * ROOM)
        np.testing.assert_array_equal(found.length[of], alone.length[of])
        np.testing.assert_array_equal(found.events[of], alone.events[of])


# By policies.


@functools.cache
def policies(size: int) -> dict[str, Policy]:
    """Each, with tables such as they may have."""
    found = {
        "capture": jaxgo.Capture(0.7), "mercy": jaxgo.Mercy(10), "patterns": jaxgo.Patterns(),
        "nakade": jaxgo.Nakade(0.7), "no self-atari": jaxgo.NoSelfAtari(0.8),
        "patterns that do not save": jaxgo.Patterns(0.9, save=False),
        "replies": jaxgo.LastGoodReply(jaxgo.Replies(size)).typical(),
        "advisor": jaxgo.Advisor(0.5, jaxgo.AdvisorTable(size), suggestions=3).typical(),
        "advisor by points": jaxgo.Advisor(0.5, jaxgo.AdvisorTable(size, "point"), suggestions=3).typical(),
    }  # fmt: skip
    found["all"] = InOrder([
        jaxgo.Mercy(20), found["replies"], jaxgo.NoSelfAtari(0.7), found["advisor"], jaxgo.Nakade(0.5), jaxgo.Patterns(0.8),
        jaxgo.Capture(0.5),
    ])  # fmt: skip
    return found


def assert_plays_by(size: int, name: str) -> None:
    policy, job = policies(size)[name], a_job(size)
    found = by_kernel(size, job, policy=policy)
    assert_same(found, by_xla(size, job, policy))
    uniform = by_kernel(size, job)
    assert not all(map(np.array_equal, jax.tree.leaves(found), jax.tree.leaves(uniform)))


@pytest.mark.wide
def test_playouts_by_policies_are_xlas():
    assert_plays_by(5, "all")


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 9])
@pytest.mark.parametrize("name", [name for name in policies(5) if name != "all"])
def test_playouts_by_each_policy(name, size):
    assert_plays_by(size, name)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 7, 13, 19, 25])
def test_playouts_by_policies_of_other_sizes(size):
    assert_plays_by(size, "all")


@pytest.mark.parametrize("looking", [1, *wide(nvidia.LOOKING, 32)])
def test_waiting_leaves_no_trace(monkeypatch, looking):
    """However many lanes of a warp must wait before they look."""
    expected = by_xla(5, a_job(5), policies(5)["all"])
    monkeypatch.setattr(nvidia, "LOOKING", looking)
    nvidia.written.cache_clear()
    assert_same(by_kernel(5, a_job(5), policy=policies(5)["all"]), expected)
    nvidia.written.cache_clear()


# The look at whether it agrees with XLA, before it is used on a device.


def simulated(g, columns, job, *, lanes, longest, first_plays, moves, policy=None, last=None) -> Records:
    """`nvidia.play_all` as a part of a program for the CPU."""
    shapes = nvidia.outputs(g, columns.shape[1], job, longest, first_plays, moves)
    kernel = nvidia.kernel_of(g, job, first_plays, moves, policy)

    def run(*read):
        return kernel_work.run(kernel, read, shapes, lanes)[0]

    read = nvidia.inputs(g, columns, job, longest, policy, last)
    return nvidia.records(g, columns, job, jax.pure_callback(run, [jax.ShapeDtypeStruct(*x) for x in shapes], *read), first_plays)


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "all"])
def test_it_agrees_with_xla(name):
    form = PolicyForm.of(policies(5)[name]) if name else None
    assert agreement.compare(jax.devices()[0], 5, simulated, form) == ""


def test_a_kernel_that_does_not_is_found_out(monkeypatch):
    """Here one whose compiler takes `not` for nothing."""
    right = nvidia.written(5, True, False)
    wrong = right._replace(text=re.sub(r"not\.b32 (%r\d+)", r"mov.b32 \1", right.text, count=1))
    monkeypatch.setattr(nvidia, "written", lambda *_: wrong)
    assert "its playouts differ from XLA's in" in agreement.compare(jax.devices()[0], 5, simulated)


class Sorting(Policy):
    """A policy of a user's own that does what kernels cannot: it sorts."""

    ARRAYS = ()

    def known(self, g, lanes, looks):
        return jnp.sort(jnp.stack([lanes.plies, lanes.move], axis=-1), axis=-1)[..., 0]

    def preferences(self, g, lanes, points, known, coin=0):
        return [Preference(points, known & np.int32(0), coin)]


class Fractions(Sorting):
    """One that multiplies fractions, which would be 0 in a trial as well."""

    ARRAYS = ("weight",)
    weight = np.float32(0.5)

    def known(self, g, lanes, looks):
        return (lanes.plies.astype(jnp.float32) * self.weight).astype(jnp.int32)


@pytest.mark.parametrize("policy", [Sorting(), Fractions()])
def test_a_policy_that_kernels_cannot_ask_is_left_to_xla(policy):
    found = agreement.of_kernel(jax.devices()[0], 5, PolicyForm.of(policy))
    assert not found.agrees and found.reason.startswith("it cannot ask such a policy: ")


# What XLA is given.


def for_cuda(function, *args):
    """The program, as text, of a function for NVIDIA GPUs."""
    unchecked = [jax.export.DisabledSafetyCheck.custom_call(nvidia.TARGET)]
    return jax.export.export(jax.jit(function), platforms=["cuda"], disabled_checks=unchecked)(*args).mlir_module()


def playing(size: int, *, lanes=4096, moves=True, policy: Policy | None = None):
    """(a function that plays 1,000 playouts of each of three positions, its arguments' shapes)"""

    def play(columns, seed, *numbers):
        how = dict(lanes=lanes, longest=max_plies(size), first_plays=True, moves=moves, policy=policy)
        return nvidia.play_all(geometry(size), columns, Job(1000, seed, *numbers), **how)

    columns = jax.ShapeDtypeStruct((num_columns_of_job(geometry(size)), 3), jnp.uint32)
    return play, (columns, (jax.ShapeDtypeStruct((), jnp.uint32),) * 2, *[jax.ShapeDtypeStruct((), jnp.int32)] * 3)


@pytest.mark.parametrize(("size", "moves"), [(9, True), (19, False)])
def test_it_lowers_for_nvidia(size, moves):
    """One kernel on whole warps; nothing of the playout is left outside of it."""
    function, args = playing(size, lanes=4000, moves=moves)
    text = for_cuda(function, *args)
    assert text.count(f"@{nvidia.TARGET}") == 1 and "stablehlo.while" not in text
    assert "block_x = 32 : i32" in text and "grid_x = 125 : i32" in text and f'name = "{nvidia.name(size)}"' in text
    words = 2 * geometry(size).num_words
    assert f"(tensor<8xui32>, tensor<{words + 6}x3xui32>) -> " in text
    columns = 2 * words + 1 if size < 16 else 4 * 14 + 1
    assert f"tensor<{columns}x3000xui32>" in text and ("tensor<3000x243xi16>" in text) == moves


@pytest.mark.parametrize("size", [9, 19])
def test_it_lowers_with_policies(size):
    """Whose arrays and tables it is given; those of 19x19 are of words of 64 bits."""
    function, args = playing(size, policy=policies(size)["all"])
    text = for_cuda(function, *args)
    assert text.count(f"@{nvidia.TARGET}") == 1 and "stablehlo.while" not in text
    (call,) = re.findall(rf"@{re.escape(nvidia.TARGET)}.* : \((.*?)\) -> ", text)
    words = 2 * geometry(size).num_words
    assert call.startswith(f"tensor<8xui32>, tensor<{words + 7}x3xui32>, ") and call.endswith(", tensor<65536xui8>")
    assert ("i64>" in call) == (size == 19)


def test_it_lowers_under_vmap():
    """One call after the other."""
    function, args = playing(5)
    seeds = (jax.ShapeDtypeStruct((7,), jnp.uint32),) * 2
    text = for_cuda(jax.vmap(function, in_axes=(None, 0, *[None] * 3)), args[0], seeds, *args[2:])
    assert text.count(f"@{nvidia.TARGET}") == 1 and "stablehlo.while" in text


def test_its_text_is_what_drivers_take():
    """ASCII, for compute capability 7.0 and later, the same wherever it is made."""
    text = nvidia.written(13, True, True).text
    assert text.isascii() and text.startswith(".version 7.0\n.target sm_70\n") and ".reqntid 32, 1, 1\n" in text
    nvidia.written.cache_clear()
    with jax.enable_x64(True), forms.within(forms.PLAIN):
        assert nvidia.written(13, True, True).text == text


H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 shared_memory_per_block_optin: 232448
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84978434048
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def plugin() -> bool:
    """Whether jax's plugin for NVIDIA GPUs is installed, which compiles for them without one."""
    if not importlib.util.find_spec("jax_plugins"):
        return False
    return any(importlib.util.find_spec(f"jax_plugins.xla_cuda{version}") for version in (12, 13))


@pytest.mark.skipif(not plugin(), reason="jax's plugin for NVIDIA GPUs is not installed: pip install 'jaxgo[gpu]'")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [None, "all"])
def test_xla_compiles_it_for_nvidia(name):
    from jax.experimental import topologies

    device = topologies.get_topology_desc("", platform="cuda", topology="1 x 1 x 1", target_config=H100).devices[0]
    function, args = playing(9, policy=policies(9)[name] if name else None)
    there = jax.sharding.SingleDeviceSharding(device)
    lowered = jax.jit(function, in_shardings=there, out_shardings=there).trace(*args).lower(lowering_platforms=("cuda",))
    assert re.search(r"custom-call\(.*" + re.escape(nvidia.TARGET), lowered.compile().as_text())
