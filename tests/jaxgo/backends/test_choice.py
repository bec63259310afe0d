"""Which backend plays where, on how many workers and lanes."""

import types
import warnings
from typing import NamedTuple

import jax
import numpy as np
import pytest

from jaxgo.backends import choice
from jaxgo.backends.backend import Backend
from jaxgo.backends.choice import backend_of, compiler_options, workers_of
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.gpu import Gpu, Nvidia
from jaxgo.base import forms
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.board.geometry import PLAYED_IN_64_BITS, playing_geometry


class Named(NamedTuple):
    """A device that others are told from."""

    platform: str
    number: int


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
def test_a_cpus_lanes_are_odd_numbers_of_cache_lines(size):
    """16 words of 32 bits are a line; an even number of lines would make arrays share sets of the cache."""
    assert Cpu().most_lanes(size) % 32 == 16


@pytest.mark.parametrize(
    ("most", "wanted", "expected"),
    [(1072, 1, 16), (1072, 16, 16), (1072, 17, 48), (1072, 512, 528), (1072, 1024, 1040), (1072, 5000, 1072), (7, 5000, 7), (7, 0, 7)],
)
def test_lanes_of_a_cpu_suffice_for_what_is_wanted(most, wanted, expected):
    assert Cpu().lanes_for(most, wanted) == expected


def test_lanes_of_a_gpu_are_those_wanted():
    assert [Gpu().lanes_for(1 << 18, wanted) for wanted in (0, 1000, 1 << 20)] == [1, 1000, 1 << 18]


def test_lanes_of_an_nvidia_gpu_are_those_of_its_multiprocessors():
    """An H100 has 132, an A100 108; a device that does not say is taken for the former."""
    h100, a100, other = (types.SimpleNamespace(**says) for says in ({"core_count": 132}, {"core_count": 108}, {}))
    assert [Nvidia(device).most_lanes(9) for device in (h100, a100, other)] == [132 * 1024, 108 * 1024, 132 * 1024]
    assert [Nvidia(a100).most_lanes(size) for size in (5, 13, 19, 25)] == [108 * 1024, *[108 * 512] * 3]


def test_calls_under_way():
    """One on each core of a CPU, and two on all other devices together."""
    cpu, *gpus = (Named(platform, number) for number, platform in enumerate(("cpu", "gpu", "gpu")))
    assert choice.teams_of((cpu,)) == [(cpu,)] and choice.teams_of((cpu,) * 3) == [(cpu,)] * 3
    assert choice.teams_of((gpus[0],)) == [(gpus[0],)] * 2
    assert choice.teams_of(tuple(gpus)) == [tuple(gpus)] * 2
    assert choice.teams_of((gpus[0],) * 2) == [(gpus[0],)] * 2


def test_words_are_the_platforms():
    """TPUs emulate 64-bit words, so boards of all sizes have 32-bit ones there."""
    for size in PLAYED_IN_64_BITS:
        bits = []
        for platform in ("cpu", "gpu", "tpu"):
            with forms.within(forms.of_platform(platform)):
                bits.append(playing_geometry(size).word_bits)
        assert bits == [64, 64, 32]


def test_this_machines_cpu_has_its_backend():
    device = jax.local_devices(backend="cpu")[0]
    assert isinstance(backend_of(device), Cpu)
    assert isinstance(Backend().most_lanes(9), int)


def test_the_only_cpu_is_all_its_cores_however_it_is_named():
    (device,) = jax.local_devices()
    assert workers_of(None) == workers_of([device]) == workers_of(device)
    assert workers_of(1) == (device,)
    assert workers_of(3) == workers_of([device] * 3) == (device,) * 3


@pytest.mark.parametrize(
    ("devices", "error", "text"),
    [
        (0, ValueError, "devices must be between 1 and"),
        (-2, ValueError, "devices must be between 1 and"),
        ([], TypeError, "devices must be jax devices, such as jax.devices"),
        (["cpu"], TypeError, r"devices must be jax devices, such as jax.devices\('cpu'\), or a number of workers, not"),
        ("cpu", TypeError, r"a number of workers, not 'cpu'"),
        (1.5, TypeError, r"devices must be jax devices, such as jax.devices\('cpu'\), or a number of workers, not 1.5"),
        (np.int64(0), ValueError, "devices must be between 1 and"),
    ],
)
def test_bad_devices_are_refused(devices, error, text):
    with pytest.raises(error, match=text):
        workers_of(devices)


def test_a_jax_that_was_not_tried_is_said_once(monkeypatch):
    monkeypatch.setattr(choice, "NEWEST_TRIED", (0, 1))
    choice._check_jax.cache_clear()
    with pytest.warns(UserWarning, match=f"tried with jax up to 0.1, this is jax {jax.__version__}"):
        choice._check_jax()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice._check_jax()
    choice._check_jax.cache_clear()


def test_more_workers_than_there_can_be_are_refused():
    assert len(workers_of(1024)) == 1024
    with pytest.raises(ValueError, match="devices must be between 1 and 1024, not 1025"):
        workers_of(1025)


def test_of_a_platform_that_is_not_here_there_are_no_options():
    assert compiler_options("cpu") == compiler_options() != {} and compiler_options("tpu") == {}
