"""Playouts on GPUs: on NVIDIA's by a kernel that plays whole playouts, if it agrees with XLA; on others by XLA."""

import os
import warnings
from typing import Any

import jax

from jaxgo.backends import agreement
from jaxgo.backends.backend import Backend
from jaxgo.base import checks, forms
from jaxgo.board.geometry import Geometry
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import Policy
from jaxgo.playing.wire import Records

#: Environment variable that turns the kernel off ("off") or on ("on", the default).
SWITCH = "JAXGO_KERNEL"


class Gpu(Backend):
    """One GPU, by XLA."""

    platform = "gpu"
    form = forms.GPU


class Nvidia(Gpu):
    """One of NVIDIA's GPUs, by the kernel."""

    def __init__(self, device: jax.Device):
        self._device = device

    def play_all(
        self, g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool,
        policy: Policy | None = None,
    ) -> Records:  # fmt: skip
        """By the kernel where it is on and agrees with XLA on this device, which is looked at on first use of a board size.

        The kernel asks no policy: with one, XLA plays.
        """
        how: dict[str, Any] = {"lanes": lanes, "longest": longest, "first_plays": first_plays, "moves": moves}
        if policy is not None or not self.has_kernel(g.size):
            return super().play_all(g, columns, job, **how, policy=policy)
        from jaxgo.backends import nvidia

        with forms.within(self.form):
            return nvidia.play_all(g, columns, job, **how)

    def flies_on(self, size: int) -> bool:
        """Not by the kernel, which plays whole jobs: those that fill a GPU are so large that their last games cost little."""
        return not self.has_kernel(size)

    def has_kernel(self, size: int) -> bool:
        """Whether boards of a size are played by the kernel here."""
        if not self._is_on():
            return False
        found = agreement.of_kernel(self._device, size)
        if not found.agrees:
            warnings.warn(
                f"jaxgo's kernel is not used on {self._device.device_kind} for {size}x{size}, XLA plays instead, more slowly: "
                f"{found.reason} ({SWITCH}=off leaves it out without this warning)",
                stacklevel=2,
            )
        return found.agrees

    @staticmethod
    def _is_on() -> bool:
        switch = os.environ.get(SWITCH, "on")
        checks.one_of(SWITCH, switch, ("on", "off"))
        return switch == "on"

    def report(self) -> dict[str, object]:
        """Whether the kernel may play."""
        return {"kernel": self._is_on()}
