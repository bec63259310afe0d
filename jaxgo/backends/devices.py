"""What the kind of a device decides: how many workers there are, which executor plays on them, and on how many lanes.

NVIDIA GPUs play whole playouts in one kernel (`jaxgo.backends.nvidia`), everything else plays by XLA (`jaxgo.backends.xla`). The playouts
are the same, bit for bit.
"""

import collections
import functools
import os
import threading
import warnings
from collections.abc import Callable, Sequence

import jax

from jaxgo.backends import xla as executor, nvidia as kernel
from jaxgo.board.geometry import playing_geometry

#: Playouts that run at a time on one core, by bytes of a board: what fits its cache, measured.
_LANES_OF_CPU = {4: 1008, 8: 1008, 12: 1072, 20: 688, 24: 688, 28: 528, 32: 368, 48: 208, 56: 208}
_LANES_OF_CPU_ELSE = 144
#: Lanes of a CPU come in odd multiples of so many, a cache line: arrays that lie a power of two apart would all fall on a few
#: sets of the cache and push each other out (a fifth of the speed).
_LINE = 16
#: Lanes of an H200 (132 multiprocessors), by bytes of a board: about as many as its registers hold, by the compiled kernels of
#: 9x9, 13x13 and 19x19. Not measured on a GPU.
_LANES_OF_GPU = {4: 1 << 18, 8: 1 << 17, 12: 1 << 17, 20: 1 << 16, 24: 1 << 16, 28: 1 << 16, 32: 1 << 16}
_LANES_OF_GPU_ELSE = 1 << 15

#: A chunk with room for more playouts a lane is a large one.
_FEW_PER_LANE = 16


def workers_of(devices: Sequence[jax.Device] | jax.Device | None) -> tuple[jax.Device, ...]:
    """One entry for each worker: the devices, a CPU that is the only one as often as it has cores for this process.

    They are of one platform, and all different or all the same.
    """
    if devices is None:
        devices = jax.local_devices()
        if devices[0].platform == "cpu" and len(devices) == 1:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            return tuple(devices) * cores
        return tuple(devices)
    devices = [devices] if isinstance(devices, jax.Device) else list(devices)
    if not devices or not all(isinstance(d, jax.Device) for d in devices):
        raise TypeError(f"devices must be a jax device or a sequence of them, not {devices!r}")
    if len({d.platform for d in devices}) > 1 or len(set(devices)) not in (1, len(devices)):
        raise ValueError(f"devices must be of one platform, and all different or one several times, not {devices}")
    return tuple(devices)


def teams_of(workers: tuple[jax.Device, ...]) -> list[tuple[jax.Device, ...]]:
    """The devices of each call of a program that may be under way at a time, of the workers of `workers_of`.

    Different devices run one program together, each on a part of its own; of two such calls, the second is ready for the devices
    that have finished the first. Cores of one CPU are called one by one.
    """
    return [workers] * 2 if len(set(workers)) > 1 else [(device,) for device in workers]


def default_lanes(size: int, platform: str = "cpu") -> int:
    """How many playouts run at a time on a core or device for a board size."""
    g = playing_geometry(size)
    key = g.num_words * g.dtype.itemsize
    return _LANES_OF_GPU.get(key, _LANES_OF_GPU_ELSE) if platform == "gpu" else _LANES_OF_CPU.get(key, _LANES_OF_CPU_ELSE)


def lanes_for(most: int, wanted: int, platform: str) -> int:
    """The lanes of a call that has use for `wanted`, at most `most`; on a CPU some may stay idle."""
    if platform == "cpu":
        lines = -(-wanted // _LINE)
        wanted = _LINE * (lines + 1 - lines % 2)
    return max(1, min(most, wanted))


def lanes_of_room(most: int, room: int, platform: str) -> int:
    """The lanes on which a chunk is played that has room for so many playouts.

    All; or a quarter where there is room for no more than one on each, as most would wait for the longest game; or, on a CPU, a
    half where the chunk is no large one, which is up to 1.2 times as fast.
    """
    if room <= most:
        return lanes_for(most, most // 4, platform)
    return lanes_for(most, most // 2, platform) if platform == "cpu" and room <= _FEW_PER_LANE * most else most


def has_kernel(device: jax.Device) -> bool:
    """Whether a device plays by the kernel."""
    return device.platform == "gpu" and "rocm" not in device.client.platform_version.lower()


class Programs:
    """Compiled programs by what they are for, of which the devices, a tuple, are the last; each is made once.

    Threads that ask for a program wait while one of them compiles it; those of other devices compile theirs meanwhile.

    Args:
      build: called as `build(*key, play_all)` with the executor; see `compiled_for`.

    `made` holds the programs by their keys.
    """

    def __init__(self, build: Callable[..., jax.stages.Compiled]):
        self._build, self.made = build, {}
        self._compiling = collections.defaultdict(threading.Lock)

    def __call__(self, *key) -> jax.stages.Compiled:
        if key not in self.made:
            with self._compiling[key[-1]]:
                if key not in self.made:
                    self.made[key] = compiled_for(key[-1][0], functools.partial(self._build, *key))
        return self.made[key]


_warned = False


def compiled_for(device: jax.Device, build: Callable[[Callable], jax.stages.Compiled]) -> jax.stages.Compiled:
    """What `build` makes of the executor that suits the device: `kernel.play_all` or `executor.play_all`.

    Where the kernel cannot be built, that is said once in a warning, and XLA plays.
    """
    global _warned
    if has_kernel(device):
        try:
            return build(kernel.play_all)
        except Exception as error:  # whatever a compiler may raise
            if not _warned:
                _warned = True
                text = f"jaxgo's kernel could not be built for {device.device_kind}; playouts by XLA will be slower: {error}"
                warnings.warn(text, stacklevel=2)
    return build(executor.play_all)
