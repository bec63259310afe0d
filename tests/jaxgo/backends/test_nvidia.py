"""The GPU kernel: bit for bit the XLA executor's playouts (run by Pallas's interpreter), and it lowers for NVIDIA GPUs.

Positions are of all kinds: with a ko, after a pass, over, finished, of either colour; lanes play several playouts each.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bench import kernel_work
from jaxgo import Position
from jaxgo.backends import devices, xla as executor, nvidia as kernel
from jaxgo.playing import draws
from jaxgo.board.geometry import geometry
from jaxgo.playing.playout import Job, Records
from jaxgo.running.simulate import table
from tests.positions import from_games, middle_game
from tests.referee import Game

SEED, FIRST, ROOM, NUMBER = 5, 3, 25, 23


def some_positions(size: int) -> Position:
    """Five positions; of the last one no playouts are asked."""
    after_a_pass = middle_game(size, size, seed=2)
    after_a_pass.play(after_a_pass.pass_move)
    over = Game(size)
    over.play(over.pass_move), over.play(over.pass_move)
    with_ko = next(g for g in (middle_game(size, plies, seed) for seed in range(200) for plies in (size * size * 4 // 5, size * size)) if g.ko >= 0)
    return from_games(Game(size), after_a_pass, over, with_ko, Game(size))


@functools.cache
def play(size: int, moves: bool, first_plays: bool, lanes: int, cap: int, by_kernel: bool) -> Records:
    """The records of all but the last position's playouts, 23 of a room of 25 each."""
    position = some_positions(size)
    streams = jnp.array([0, 7, 2, 2**31 - 1, 4], jnp.int32)
    how = functools.partial(kernel.play_all, interpret=True) if by_kernel else executor.play_all

    @jax.jit
    def run():
        numbers = (jnp.int32(x) for x in (4, NUMBER, FIRST, cap))
        job = Job(ROOM, draws.seed_words(SEED), *numbers)
        return how(
            geometry(size), table(position, streams), job, lanes=lanes, longest=3 * size * size,
            first_plays=first_plays, moves=moves,
        )  # fmt: skip

    return jax.tree.map(np.asarray, run())


def assert_same(size: int, moves: bool, first_plays: bool, lanes: int, cap: int) -> None:
    """Both executors return the same records, and there are playouts in them."""
    expected = play(size, moves, first_plays, 16, cap, by_kernel=False)
    found = play(size, moves, first_plays, lanes, cap, by_kernel=True)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for name in Records._fields:
        for a, b in zip(jax.tree.leaves(getattr(found, name)), jax.tree.leaves(getattr(expected, name))):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, name)
    lengths = found.length.reshape(5, ROOM)
    asked = lengths[[0, 1, 3], :NUMBER]
    assert (asked > 2).all() and not lengths[2].any() and not lengths[4].any() and not lengths[:, NUMBER:].any()
    assert len(np.unique(asked)) > 10 or cap < 3 * size * size
    assert found.truncated.any() == (cap < 3 * size * size)


@pytest.mark.parametrize("lanes", [16, 64])
def test_playouts_are_those_of_the_xla_executor(lanes):
    assert_same(5, moves=True, first_plays=True, lanes=lanes, cap=75)


def test_playouts_that_are_cut_short():
    assert_same(5, moves=True, first_plays=True, lanes=64, cap=19)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "moves", "first_plays"), [(7, False, False), (9, False, True), (9, True, False)])
def test_playouts_of_other_sizes(size, moves, first_plays):
    assert_same(size, moves, first_plays, 32, 3 * size * size)


@pytest.mark.parametrize(("size", "moves"), [(9, True), (19, False)])
def test_it_lowers_for_nvidia(size, moves):
    """One kernel, made for one warp a program; nothing of the playout is left outside of it."""
    text = kernel_work.lower(size, moves=moves)
    assert text.count("__gpu$xla.gpu.triton") == 1
    assert "num_warps = 1" in text
    assert "stablehlo.while" not in text


class FakeDevice:
    """A device that says of itself what it is told to."""

    def __init__(self, platform: str, version: str):
        self.platform, self.device_kind, self.client = platform, "a device", self
        self.platform_version = version


@pytest.mark.parametrize(
    ("platform", "version", "expected"),
    [("gpu", "PJRT C API\ncuda 12090", True), ("gpu", "PJRT C API\nrocm 60000", False), ("cpu", "cpu", False), ("tpu", "", False)],
)
def test_nvidia_gpus_play_by_the_kernel(platform, version, expected):
    chosen = devices.compiled_for(FakeDevice(platform, version), lambda play_all: play_all)
    assert chosen is (kernel.play_all if expected else executor.play_all)


def test_where_the_kernel_cannot_be_built_xla_plays_after_one_warning(monkeypatch):
    def build(play_all):
        if play_all is kernel.play_all:
            raise NotImplementedError("no such instruction")
        return play_all

    monkeypatch.setattr(devices, "_warned", False)
    device = FakeDevice("gpu", "cuda")
    with pytest.warns(UserWarning, match="no such instruction") as warned:
        assert [devices.compiled_for(device, build) for _ in range(3)] == [executor.play_all] * 3
    assert len(warned) == 1
