"""Which backend plays on a device, on how many workers, and how programs for any platform play."""

import functools
import numbers
import warnings
from collections.abc import Iterable, Sequence

import jax
from jax import lax

from jaxgo.backends.backend import Backend
from jaxgo.backends.options import Options
from jaxgo.base import checks
from jaxgo.base.processor import usable_cores
from jaxgo.board.geometry import PLAYED_IN_64_BITS, Geometry
from jaxgo.playing.playout import Job
from jaxgo.playing.policies.policy import Policy
from jaxgo.playing.wire import Records

#: The newest jax that all tests have passed with.
NEWEST_TRIED = (0, 12)
#: The most workers that can be asked for.
MOST_WORKERS = 1024


@functools.cache
def backend_of(device: jax.Device) -> Backend:
    """How a device plays."""
    _check_jax()
    if device.platform == "cpu":
        return _cpu()
    if device.platform == "gpu":
        from jaxgo.backends.gpu import Gpu, Nvidia

        return Gpu() if "rocm" in device.client.platform_version.lower() else Nvidia(device)
    return Backend()


@functools.cache
def _cpu() -> Backend:
    from jaxgo.backends.cpu import Cpu

    return Cpu()


@functools.cache
def _check_jax() -> None:
    """Says once where jax is newer than any that was tried, and looks there whether playouts are as fast as they should be."""
    if jax.__version_info__[:2] > NEWEST_TRIED:
        newest = ".".join(map(str, NEWEST_TRIED))
        warnings.warn(f"jaxgo was tried with jax up to {newest}, this is jax {jax.__version__}", stacklevel=2)
        if jax.default_backend() == "cpu":
            from jaxgo.backends.cpu import vector_ratio

            vector_ratio()  # warns


def compiler_options(platform: str | None = None) -> Options:
    """Options for `jax.jit(..., compiler_options=...)` that suit jaxgo's functions on a platform ("cpu", "gpu", "tpu").

    Without them jaxgo's functions give the same results, more slowly on a CPU: up to 1.7 times with jax 0.10, 13 times with jax
    0.12. None means the default platform. Options that this jax does not know are left out; of a platform that is not here there
    are none, but for CPUs.
    """
    platform = platform or jax.default_backend()
    if platform == "cpu":
        return _cpu().compiler_options()
    here = [device for device in jax.local_devices() if device.platform == platform]
    return backend_of(here[0]).compiler_options() if here else {}


def workers_of(
    devices: Sequence[jax.Device] | jax.Device | int | None, of_all_processes: bool = False
) -> tuple[jax.Device, ...]:  # fmt: skip
    """One entry for each worker.

    Args:
      devices: jax devices, of one platform, all different or one several times: each is a worker, but a CPU that is given once
        and is the only one is as many workers as it has cores for this process. None means all devices, and a number so many
        workers on the first local one.
      of_all_processes: whether devices of other processes (`jax.distributed`) may be among them.
    """
    local = jax.local_devices()
    if isinstance(devices, numbers.Integral):
        return (local[0],) * checks.integer("devices", devices, 1, MOST_WORKERS)
    if devices is None:
        devices = jax.devices() if of_all_processes else local
    given, devices = devices, list(devices) if isinstance(devices, Iterable) else [devices]
    if not devices or not all(isinstance(d, jax.Device) for d in devices):
        raise TypeError(f"devices must be jax devices, such as jax.devices('cpu'), or a number of workers, not {given!r}")
    if len({d.platform for d in devices}) > 1 or len(set(devices)) not in (1, len(devices)):
        raise ValueError(f"devices must be of one platform, and all different or one several times, not {devices}")
    own = own_of(devices)
    if not own or len(own) < len(devices) and not of_all_processes:
        which = "some" if of_all_processes else "all"
        raise ValueError(f"devices must be, {which} of them, of this process, number {jax.process_index()}, not {devices}")
    if len(devices) == 1 and devices == local and local[0].platform == "cpu":
        return tuple(devices) * len(usable_cores())
    return tuple(devices)


def own_of(devices: Sequence[jax.Device]) -> tuple[jax.Device, ...]:
    """Those of this process."""
    return tuple(device for device in devices if device.process_index == jax.process_index())


def teams_of(workers: tuple[jax.Device, ...]) -> list[tuple[jax.Device, ...]]:
    """The devices of each call of a program that may be under way at a time, of the workers of `workers_of`.

    Different devices run one program together, each on a part of its own; of two such calls, the second is ready for the devices
    that have finished the first, and so it is on a single device that is no CPU. Cores of one CPU are called one by one.
    """
    if len(set(workers)) > 1 or len(workers) == 1 and workers[0].platform != "cpu":
        return [workers] * 2
    return [(device,) for device in workers]


def play_anywhere(
    g: Geometry, columns: jax.Array, job: Job, *, lanes: int | None, wanted: int, longest: int, first_plays: bool, moves: bool,
    policy: Policy | None = None,
) -> Records:  # fmt: skip
    """`play_all` of whatever backend the program is lowered for, on the lanes that suit it, of which `wanted` have use.

    A program for GPUs that is made where there is none, to be exported, plays by XLA.
    """
    from jaxgo.backends.gpu import Gpu

    backends: dict[str, Backend] = {"cpu": _cpu()}
    if g.size in PLAYED_IN_64_BITS:  # on smaller boards programs for TPUs are those for GPUs
        backends["tpu"] = Backend()
    gpus = [device for device in jax.local_devices() if device.platform == "gpu"]
    if gpus and "rocm" not in gpus[0].client.platform_version.lower():
        backends["cuda"] = backend_of(gpus[0])

    def by(backend: Backend):
        def play(columns, policy, *numbers):
            number = backend.lanes_for(lanes or backend.most_lanes(g.size), wanted)
            of_job = Job(job.per_position, *numbers)
            how = {"longest": longest, "first_plays": first_plays, "moves": moves, "policy": policy}
            # Which of them keep a log differs.
            return backend.play_all(g, columns, of_job, lanes=number, **how)._replace(log=None)

        return play

    ways = {name: by(backend) for name, backend in backends.items()}
    return lax.platform_dependent(columns, policy, *job[1:], default=by(Gpu()), **ways)
