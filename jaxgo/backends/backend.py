"""What a kind of device decides for playouts, and the plain way, which suits any."""

from typing import Any

import jax

from jaxgo.backends import xla
from jaxgo.backends.options import Options
from jaxgo.base import forms
from jaxgo.base.forms import Form
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import Policy, PolicyForm
from jaxgo.playing.wire import Records


class Backend:
    """Playouts by XLA as they come; other kinds of devices have a class of their own (`jaxgo.backends.choice`)."""

    platform: str = "tpu"
    """Of jax: "cpu", "gpu" or another."""
    form: Form = forms.PLAIN
    """How programs are written for it."""
    # Not measured on a TPU.
    lanes_by_bytes: dict[int, int] = {4: 1 << 17, 8: 1 << 17, 12: 1 << 17, 20: 1 << 16, 24: 1 << 16, 28: 1 << 16, 32: 1 << 16}
    """Playouts that run at a time on a device, or a core of a CPU, by bytes of a board."""
    lanes_else: int = 1 << 15
    """The same for boards that are not in `lanes_by_bytes`."""
    keeps: bool = False
    """Whether its programs are kept on disk (`jaxgo.backends.kept`): only where all that they depend on is in their names."""

    reuses_log: bool = False
    """Whether a job's chunks lay their moves into the same memory (`jaxgo.backends.xla.play_all`): where to have the system give
    memory for each takes long."""

    def most_lanes(self, size: int) -> int:
        """How many playouts run at a time on a device or core for a board size."""
        with forms.within(self.form):
            g = playing_geometry(size)
        return self.lanes_by_bytes.get(g.num_words * g.dtype.itemsize, self.lanes_else)

    def lanes_for(self, most: int, wanted: int) -> int:
        """The lanes of a call that has use for `wanted`, at most `most`; some may stay idle."""
        return max(1, min(most, wanted))

    def lanes_of_room(self, most: int, room: int) -> int:
        """The lanes on which a chunk is played that has room for so many playouts, at most `most`.

        All; or a quarter where there is room for no more than one on each, as most would wait for the longest game.
        """
        return self.lanes_for(most, most // 4) if room <= most else most

    def has_kernel(self, size: int, form: PolicyForm | None = None) -> bool:
        """Whether playouts on boards of a size, by a policy of a form, are played by a kernel in place of XLA."""
        return False

    def flies_on(self, size: int, form: PolicyForm | None = None) -> bool:
        """Whether playouts on a board size, by a policy of a form, may be left under way from call to call
        (`jaxgo.backends.xla.play_on`)."""
        return True

    def exchanges(self) -> bool:
        """Whether a program can exchange arrays with the host while it runs (`jaxgo.backends.exchange`)."""
        return False

    def compiler_options(self) -> Options:
        """Options for `jax.jit(..., compiler_options=...)` with which XLA makes good programs of playouts."""
        return {}

    def play_all(
        self, g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool,
        policy: Policy | None = None, last: jax.Array | None = None, log: jax.Array | None = None,
    ) -> Records:  # fmt: skip
        """Plays a job's playouts, as a part of a program for the device; see `jaxgo.backends.xla.play_all`."""
        how: dict[str, Any] = {"lanes": lanes, "longest": longest, "first_plays": first_plays, "moves": moves}
        with forms.within(self.form):
            return xla.play_all(g, columns, job, **how, policy=policy, last=last, log=log)

    def memory_of_results(self, device: jax.Device) -> str | None:
        """The kind of memory, as jax names them, into which its programs write what the host is to read; None for its own."""
        return None

    def report(self) -> dict[str, object]:
        """What was found out about the device's compiler, for reports."""
        return {}
