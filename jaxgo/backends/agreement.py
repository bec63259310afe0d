"""Whether the kernel on a device plays the same playouts as XLA: tried before it is used, and remembered.

A wrong kernel, or a driver that makes a wrong one of it, would give wrong results without a word. So on first use of a board size
on a device, and of each form of playout policy on it, a few dozen playouts are played both ways and compared, bit for bit: all
outputs, with a seed for all and one for each position, from the empty board, a game in its middle, one that is over, and under a
cap. XLA plays them on the CPU, for which it compiles them in seconds, where it takes minutes for a GPU. What was found is kept
beside jax's compile cache, where there is one.
"""

import hashlib
import itertools
import json
import pathlib
import threading
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.backends import choice, remembered, xla
from jaxgo.base import forms, threads
from jaxgo.base.constants import STAY, max_plies
from jaxgo.base.trials import as_by_default, tried
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.playing.wire import columns_of, of_playouts

#: Playouts from each position, and lanes: fewer, so that lanes take a second one.
PLAYOUTS, LANES = 24, 64
#: The kernels of a size and form: whether each position has a seed of its own, and whether moves are recorded.
KINDS = tuple(itertools.product((False, True), repeat=2))


class Agreement(NamedTuple):
    """What was found."""

    agrees: bool
    """The kernel's playouts are XLA's."""
    reason: str
    """Why not; empty where they are."""


#: What was found, by what `of_kernel` takes; and what is held while it is looked at: threads that begin together wait for what
#: the first finds, and for nothing that is known.
_found: dict[tuple, Agreement] = {}
_looking = threading.Lock()


def of_kernel(device: jax.Device, size: int, form: PolicyForm | None = None) -> Agreement:
    """Whether the kernel for a board size and a form of policy agrees with XLA on a device (looked at once, see the module's
    text)."""
    asked = device, size, form
    if asked not in _found:
        with _looking:
            if asked not in _found:
                _found[asked] = _look(*asked)
    return _found[asked]


def refused(device: jax.Device) -> dict[str, str]:
    """For which boards and policies XLA plays in the kernel's place on a device, as far as that was looked at, and why."""
    known = [(size, form, found) for (of, size, form), found in tuple(_found.items()) if of == device]
    return {named(size, form): found.reason for size, form, found in known if not found.agrees}


def named(size: int, form: PolicyForm | None) -> str:
    """A board size and a form of policy, for people."""
    return f"{size}x{size}" + ("" if form is None else f" by {form.name}")


def _look(device: jax.Device, size: int, form: PolicyForm | None) -> Agreement:
    from jaxgo.backends import nvidia

    try:
        with forms.within(forms.GPU):
            text = "".join(nvidia.written(size, True, moves, form, own_seeds).text for own_seeds, moves in KINDS)
    except Exception as error:  # whatever a policy of a user's own may raise for a single lane
        return Agreement(False, f"it cannot ask such a policy: {error}")
    made = hashlib.sha256(text.encode()).hexdigest()
    name = json.dumps([size, device.device_kind, device.client.platform_version, _driver(), jax.__version__, made])
    reason = remembered.recall(name)
    if reason is None:
        try:
            reason = tried(lambda: compare(device, size, nvidia.play_all, form))
        except Exception as error:  # whatever a compiler or a driver may raise
            return Agreement(False, f"it failed: {error}")
        remembered.keep(name, reason)
    return Agreement(not reason, reason)


def compare(device: jax.Device, size: int, play_all, form: PolicyForm | None = None) -> str:
    """What differs between the playouts of a kernel's `play_all` on a device and XLA's, by a typical policy of a form; empty if
    nothing does."""
    judge = _judge_of(device)
    g, longest = geometry(size), max_plies(size)
    with jax.default_device(judge):
        columns = _columns(size)
    policy = None if form is None else form.with_arrays(form.shapes).typical()
    last = np.array([STAY, size * size // 2, size + 1, size * size], np.int32)
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (columns, np.zeros(5, np.uint32))]

    def program(device: jax.Device, play_all, lanes: int, own_seeds: bool, moves: bool):
        def play(columns, numbers):
            seed = None if own_seeds else tuple(numbers[:2])
            if own_seeds:
                columns = jnp.concatenate([columns, jnp.stack([columns[-3] + numbers[0], columns[-3] * numbers[0]])])
            job = Job(PLAYOUTS, seed, *numbers[2:].astype(jnp.int32))
            how = dict(lanes=lanes, longest=longest, first_plays=True, moves=moves, policy=policy, last=last)
            return play_all(g, columns, job, **how)

        sharding = jax.sharding.SingleDeviceSharding(device)
        options = choice.backend_of(device).compiler_options()
        with as_by_default(), forms.within(forms.of_platform(device.platform)):
            return jax.jit(play, in_shardings=sharding, out_shardings=sharding, compiler_options=options).lower(*shapes).compile()

    # What is recorded but for the moves is the same with them and without.
    asked = [(judge, xla.play_all, PLAYOUTS * columns.shape[1], own_seeds, True) for own_seeds in (False, True)]
    asked += [(device, play_all, LANES, *kind) for kind in KINDS]
    compiling = [threads.begin(program, *each) for each in asked]
    made = [each.result() for each in compiling]
    for (own_seeds, moves), kernel in zip(KINDS, made[2:], strict=True):
        for cap in (longest, size + 1):
            numbers = np.array([size, 0, columns.shape[1], PLAYOUTS, cap], np.uint32)
            played = (jax.device_get(play(columns, numbers)) for play in (kernel, made[own_seeds]))
            ours, theirs = (records._replace(log=None) for records in played)
            theirs = theirs if moves else theirs._replace(events=None)
            for field, a, b in zip(ours._fields, ours, theirs):
                if not all(itertools.starmap(np.array_equal, itertools.zip_longest(*map(jax.tree.leaves, (a, b))))):
                    return f"its playouts differ from XLA's in {field!r}"
    return ""


def _driver() -> str:
    """Which driver compiles the kernel, as Linux tells it, "" elsewhere: what jax tells of versions is of its own build."""
    try:
        return pathlib.Path("/proc/driver/nvidia/version").read_text().partition("\n")[0]
    except OSError:
        return ""


def _judge_of(device: jax.Device) -> jax.Device:
    """Where XLA plays: on the CPU, or where jax may not use that (`JAX_PLATFORMS`), on the device itself."""
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return device


def _columns(size: int) -> np.ndarray:
    """The columns of a job on four positions: the empty board, a game in its middle, it with colours changed, of which there are
    fewer playouts, and one that is over."""
    random, point = np.random.default_rng(size), size * size
    position = Position.empty(size)
    for _ in range(size * size // 2):
        free = np.flatnonzero(np.asarray(position.legal())[0, :point])
        position = position.play(random.choice(free) if len(free) else point)
        if bool(position.is_over()[0]):
            break
    board = np.asarray(position.to_array())
    stones = np.concatenate([np.zeros_like(board), board, -board, board])
    to_play = np.array([1, int(position.to_play[0]), -int(position.to_play[0]), 1], np.int8)
    ko = np.array([-1, int(position.ko[0]), int(position.ko[0]), -1], np.int16)
    batch = Position.from_array(stones, to_play=to_play, ko=ko, passes=np.array([0, 0, 1, 2]))
    columns = columns_of(jax.device_get(batch), np.arange(4, dtype=np.int32))
    return np.stack(of_playouts(columns, 5, np.array([PLAYOUTS, PLAYOUTS, PLAYOUTS // 2, PLAYOUTS])))
