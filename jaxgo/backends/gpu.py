"""Playouts on GPUs: on NVIDIA's by a kernel that plays whole playouts, if it agrees with XLA; on others by XLA."""

import functools
import os
import warnings
from typing import Any

import jax

from jaxgo.backends import agreement
from jaxgo.backends.backend import Backend
from jaxgo.backends.options import Options, known
from jaxgo.base import checks, forms
from jaxgo.base.constants import MOST_LANES
from jaxgo.board.geometry import Geometry
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import Policy, PolicyForm
from jaxgo.playing.wire import Records

#: Environment variable that turns the kernel off ("off") or on ("on", the default).
SWITCH = "JAXGO_KERNEL"
#: Of the GPU whose lanes are known.
MULTIPROCESSORS = 132
#: XLA would try out kernels for what might be a matrix product. Here is none, and that took 24 s of the 56 s in which it compiled
#: a search's program for 19x19.
OPTIONS: Options = {"xla_gpu_autotune_level": 0}
#: The host's memory that a GPU writes into by itself. An H100 writes 44 GB a second there; from its own memory the host copies 1.
PINNED = "pinned_host"


class Gpu(Backend):
    """One GPU, by XLA."""

    platform = "gpu"
    form = forms.GPU
    # Of 132 multiprocessors, an H100's, on which they were measured: as many blocks as registers hold, 32 at most, or twice that.
    lanes_by_bytes = dict.fromkeys((4, 8, 12), 1024 * MULTIPROCESSORS)
    lanes_else = 512 * MULTIPROCESSORS

    def memory_of_results(self, device: jax.Device) -> str | None:
        """The host's, where jax knows of some."""
        return PINNED if PINNED in (memory.kind for memory in device.addressable_memories()) else None


class Nvidia(Gpu):
    """One of NVIDIA's GPUs, by the kernel."""

    def __init__(self, device: jax.Device):
        self._device = device

    def compiler_options(self) -> Options:
        """Those of `OPTIONS` that this XLA knows."""
        return dict(_known_options(self._device))

    def play_all(
        self, g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool,
        policy: Policy | None = None, last: jax.Array | None = None, log: jax.Array | None = None,
    ) -> Records:  # fmt: skip
        """By the kernel where it is on and agrees with XLA on this device, which is looked at on first use of a board size and a
        policy's form."""
        how: dict[str, Any] = {"lanes": lanes, "longest": longest, "first_plays": first_plays, "moves": moves}
        how |= {"policy": policy, "last": last}
        if not self.has_kernel(g.size, None if policy is None else PolicyForm.of(policy)):
            return super().play_all(g, columns, job, **how, log=log)
        from jaxgo.backends import nvidia

        with forms.within(self.form):
            return nvidia.play_all(g, columns, job, **how)

    def most_lanes(self, size: int) -> int:
        """As many as suit its multiprocessors, where jax says how many it has."""
        wanted = super().most_lanes(size) // MULTIPROCESSORS * getattr(self._device, "core_count", MULTIPROCESSORS)
        return min(wanted, MOST_LANES)

    def flies_on(self, size: int, form: PolicyForm | None = None) -> bool:
        """Not by the kernel, which plays whole jobs: those that fill a GPU are so large that their last games cost little."""
        return not self.has_kernel(size, form)

    def has_kernel(self, size: int, form: PolicyForm | None = None) -> bool:
        """Whether playouts on boards of a size, by a policy of a form, are played by the kernel here."""
        if not _is_on():
            return False
        found = agreement.of_kernel(self._device, size, form)
        if not found.agrees:
            what = agreement.named(size, form)
            warnings.warn(
                f"jaxgo's kernel is not used on {self._device.device_kind} for {what}, XLA plays instead, more slowly: "
                f"{found.reason} ({SWITCH}=off leaves it out without this warning)",
                stacklevel=2,
            )
        return found.agrees

    def report(self) -> dict[str, object]:
        """Whether the kernel may play, for what it does not as it does not agree with XLA, and which options are set."""
        refused = agreement.refused(self._device)
        told = {"kernel_refused": refused} if refused else {}
        return {"kernel": _is_on(), **told, "compiler_options": self.compiler_options()}


@functools.cache
def _is_on() -> bool:
    """Whether the kernel may play: looked at once, as programs that are compiled already would not change."""
    switch = os.environ.get(SWITCH, "on")
    checks.one_of(SWITCH, switch, ("on", "off"))
    return switch == "on"


@functools.cache
def _known_options(device: jax.Device) -> Options:
    return known(OPTIONS, device)
