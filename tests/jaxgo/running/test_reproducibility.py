"""A playout depends on its position and its own name (seed, stream, number), and on nothing else.

Not on lanes, devices, the batch around it, or how a job is cut into calls: all give bit-identical results.
"""

import hashlib
import json
import pathlib

import jax
import numpy as np
import pytest

import jaxgo
from tests.positions import SIZES, assert_same, fields, three_positions, without_moves
from tests.processes import run_with_devices
from tests.wide import mostly_wide, wide

ROOT = pathlib.Path(__file__).parents[3]
SMALL = (5, 9)
"""Sizes whose programs compile fast: they are tested in more ways."""


class _Reference(dict[int, jaxgo.Playouts]):
    """By board size, played when it is first asked for."""

    def __missing__(self, size: int) -> jaxgo.Playouts:
        self[size] = jaxgo.playouts(three_positions(size), SIZES[size], seed=1, moves=True)
        return self[size]


@pytest.fixture(scope="module")
def reference() -> dict[int, jaxgo.Playouts]:
    """What every way of playing them must give."""
    return _Reference()


#: What `digest_of` says of the reference, and of playouts by policies: the same since they were first written down, with jax 0.10 and
#: 0.12. Whoever changes a playout on purpose writes them anew, and says so in the changelog.
PINNED = {5: "b383cee109fd4cc3", 9: "19d85cf0f616b136", 13: "351632fec4f7a33c", 19: "ef5a80f4be35c9ca"}
PINNED_BY_POLICIES = "fa31685156d8c16d"


def digest_of(played: jaxgo.Playouts) -> str:
    """A hash of margins, lengths and moves."""
    whole = hashlib.sha256()
    for array in (played.margin, played.length, played.moves):
        whole.update(np.ascontiguousarray(array, "<i2").tobytes())
    return whole.hexdigest()[:16]


@pytest.mark.parametrize("size", mostly_wide(SIZES, SMALL))
def test_playouts_are_those_of_other_versions(reference, size):
    assert digest_of(reference[size]) == PINNED[size]


@pytest.mark.wide
def test_playouts_by_policies_are_those_of_other_versions():
    policy = [jaxgo.NoSelfAtari(0.5), jaxgo.Nakade(0.5), jaxgo.Patterns(0.9), jaxgo.Mercy(25)]
    assert digest_of(jaxgo.playouts(three_positions(9), SIZES[9], seed=1, moves=True, policy=policy)) == PINNED_BY_POLICIES


@pytest.mark.parametrize("size", mostly_wide(SIZES, SMALL))
def test_playouts_of_a_batch_differ(reference, size):
    """Identical positions, and successive playouts of one, draw their own numbers."""
    twins = jaxgo.playouts(jaxgo.Position.empty(size, 2), SIZES[size], seed=1, moves=True)
    records = {tuple(record) for record in twins.moves.reshape(-1, twins.moves.shape[-1]).tolist()}
    assert len(records) == 2 * SIZES[size]
    np.testing.assert_array_equal(reference[size].moves[0], twins.moves[0])
    same = jaxgo.playouts(jaxgo.Position.empty(size, 2), SIZES[size], seed=1, streams=np.array([4, 4]), moves=True)
    np.testing.assert_array_equal(same.moves[0], same.moves[1])
    assert (same.moves[0] != twins.moves[0]).any()
    one_for_all = jaxgo.playouts(jaxgo.Position.empty(size, 2), SIZES[size], seed=1, streams=4, moves=True)
    assert_same(one_for_all, same)
    other = jaxgo.playouts(jaxgo.Position.empty(size, 2), SIZES[size], seed=2, moves=True)
    assert (other.moves != twins.moves).any(axis=-1).mean() > 0.99


# Programs for large boards take long to compile: few of them.
LANES = [(5, 1), (5, 1000), (9, 7), *wide((5, 7), (19, 5))]


@pytest.mark.parametrize("size, lanes", LANES)
def test_playouts_do_not_depend_on_lanes(reference, size, lanes):
    """Nor on the chunks that a job is cut into: fewer lanes make smaller chunks."""
    played = jaxgo.playouts(three_positions(size), SIZES[size], seed=1, moves=True, lanes=lanes)
    assert_same(played, reference[size])


@pytest.mark.parametrize("size", SMALL)
def test_playouts_do_not_depend_on_moves_being_recorded(reference, size):
    """Those of evaluations are not, and `test_evaluate.py` has their sums on larger boards too."""
    played = jaxgo.playouts(three_positions(size), SIZES[size], seed=1)
    assert_same(played, without_moves(reference[size]))


@pytest.mark.parametrize("size", mostly_wide(SIZES, SMALL))
def test_playouts_do_not_depend_on_the_order_of_the_batch(reference, size):
    order = np.array([2, 0, 1])
    played = jaxgo.playouts(three_positions(size)[order], SIZES[size], seed=1, streams=order, moves=True)
    assert_same(played, reference[size], lambda array: array[order])


@pytest.mark.parametrize("size", SMALL)
def test_playouts_do_not_depend_on_the_rest_of_the_batch(reference, size):
    alone = jaxgo.playouts(three_positions(size)[2], SIZES[size], seed=1, streams=np.array([2]), moves=True)
    assert_same(alone, reference[size], lambda array: array[2:])
    crowd = np.arange(30) % 3
    played = jaxgo.playouts(three_positions(size)[crowd], 50, seed=1, streams=crowd, moves=True)
    assert_same(played, reference[size], lambda array: array[crowd, :50])


@pytest.mark.parametrize("size", mostly_wide(SIZES, SMALL))
def test_playouts_may_be_split(reference, size):
    """Any part of a stream is what the whole has there."""
    count = SIZES[size]
    parts = [(0, count - count // 7), (count // 7, count)]
    if size in SMALL:
        parts += [(0, count // 3), (count // 3, count), (count - 1, count)]
    for start, stop in parts:
        part = jaxgo.playouts(three_positions(size), stop - start, seed=1, first_playout=start, moves=True)
        assert_same(part, reference[size], lambda array, numbers=slice(start, stop): array[:, numbers])


def test_repeated_calls_are_identical(reference):
    assert_same(jaxgo.playouts(three_positions(9), SIZES[9], seed=1, moves=True), reference[9])


def test_keys_are_seeds():
    """A jax key, typed or raw, is as good as an int, and differs from others."""
    def play(seed):
        return jaxgo.playouts(jaxgo.Position.empty(5), 200, seed=seed, moves=True)

    one = play(jax.random.key(1))
    assert_same(play(jax.random.key(1)), one)
    assert_same(play(jax.random.PRNGKey(1)), one)
    assert (play(jax.random.key(2)).moves != one.moves).any(axis=-1).mean() > 0.99
    assert (play(jax.random.split(jax.random.key(1))[0]).moves != one.moves).any(axis=-1).mean() > 0.99
    assert (play(2**64 - 1).moves != one.moves).any(axis=-1).mean() > 0.99


ON_EIGHT_DEVICES = """
import json, re, sys
import jax
import jaxgo
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.gpu import Nvidia
from jaxgo.running import evaluate, jobs
from tests import compiling, positions
from tests.jaxgo.running import test_reproducibility as here
from tests.wide import wide

assert len(jax.devices()) == 8
digests, as_users = {}, Cpu.compiler_options
for size in (5, 19):
    count = positions.SIZES[size]
    for devices in (None, jax.devices()[1:4], jax.devices()[5]) if size == 5 else (None,):
        Cpu.compiler_options = lambda self: as_users(self) | ({} if devices is None else {compiling.LEVEL: 0})
        played = jaxgo.playouts(positions.three_positions(size), count, seed=1, moves=True, devices=devices)
        evaluated = jaxgo.evaluate(positions.three_positions(size), count, seed=1, devices=devices) if size == 5 else None
        digests[f"{size} {devices}"] = [
            size, here.digest(positions.fields(played)), None if evaluated is None else here.digest(evaluated.sums._asdict())
        ]
few = jaxgo.playouts(positions.three_positions(5)[0], 3, seed=1, moves=True)  # fewer than devices
try:
    jaxgo.playouts(positions.three_positions(5), 1, devices=[jax.devices()[0], jax.devices()[1], jax.devices()[0]])
    refused = "nothing"
except ValueError as error:
    refused = str(error)


class Trusted(Nvidia):
    def has_kernel(self, size, form=None):
        return True


sums = evaluate._output(("margins", "ownership", "amaf"))
jitted, shapes = jobs.program(sums, 9, (1, 1024), 512, 243, tuple(jax.devices()), Trusted(None))
on_gpus = jitted.trace(*shapes).lower(lowering_platforms=("cuda",)).as_text()
programs = jobs._compiled.programs()
print(json.dumps({
    "played": digests, "few": here.digest(positions.fields(few)), "refused": refused, "programs": len(programs),
    "on_gpus": [on_gpus.count(text) for text in ("num_partitions = 8", "sdy.manual_computation", "__gpu$xla.gpu.ptx")],
    "collectives": sum(len(re.findall("all-gather|all-reduce|all-to-all|permute", program.as_text())) for program in programs),
}))
"""


def digest(arrays: dict) -> dict[str, str]:
    """A hash of every array, by name."""
    return {
        name: hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        for name, array in arrays.items()
        if isinstance(array, np.ndarray)
    }


@pytest.mark.wide
def test_eight_devices(reference):
    """All eight, some, one, and more of them than playouts: the same results, by one program for each set of devices that lets none
    wait for another; and on eight NVIDIA GPUs the kernel. One test, as workers would each do all of it for their share of four."""
    found = json.loads(run_with_devices(8, ON_EIGHT_DEVICES))
    assert {size for size, _, _ in found["played"].values()} == {5, 19}
    here = {5: digest(jaxgo.evaluate(three_positions(5), SIZES[5], seed=1).sums._asdict())}
    for name, (size, played, evaluated) in found["played"].items():
        assert played == digest(fields(reference[size])), name
        assert evaluated == here.get(size), name
    few = {name: array[:1, :3] for name, array in fields(reference[5]).items()}
    assert found["few"] == digest(few)
    # 5x5: two kinds of results on three sets of devices; 19x19: one.
    assert found["programs"] == 2 * 3 + 1
    assert found["collectives"] == 0
    assert "devices must be" in found["refused"] and "CpuDevice(id=1)" in found["refused"]
    assert found["on_gpus"] == [1, 1, 1]


LEARNT = """
import jaxgo
position = jaxgo.Position.empty(5).play(12)
replies = jaxgo.Replies(5).update(jaxgo.playouts(position, 50, moves=True), position)
policy = jaxgo.LastGoodReply(replies)
print(int(jaxgo.evaluate(position, 400, lanes=16, policy=policy).sums.wins[0]))  # in several chunks
leaves = jaxgo.Leaves(5, 256, 8, policy=policy)  # in two parts
words, ko, passes, black = (x.repeat(256, axis=0) for x in jaxgo.Leaves.arguments_of(position))
found = leaves.gather(leaves.submit(words, ko, passes, black, moves=[jaxgo.STAY] * 256, streams=range(256)))
print(found.wins.tolist())
"""


@pytest.mark.wide
def test_what_was_learnt_on_one_device_is_asked_on_all():
    """A table that lies on one of them goes to the others."""
    assert run_with_devices(2, LEARNT, lightly=True) == run_with_devices(1, LEARNT, lightly=True) != ""
