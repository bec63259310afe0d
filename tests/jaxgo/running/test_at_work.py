"""What is at work on devices, as those see it that are to make room."""

import dataclasses

import pytest

from jaxgo.running import at_work


class Client:
    """Of some devices."""

    def __init__(self, devices: int):
        self.local_device_count = lambda: devices


@dataclasses.dataclass(frozen=True, eq=False)
class Device:
    platform: str
    client: Client


def test_devices_of_a_cpu_are_counted_together_and_others_each_alone():
    cpus, gpus = ([Device(platform, client), Device(platform, client)] for platform, client in (("cpu", Client(2)), ("gpu", Client(2))))
    with at_work.on(cpus), at_work.on(gpus[:1]):
        assert [at_work.number(device) for device in (*cpus, *gpus)] == [2, 2, 1, 0]
        with pytest.raises(ZeroDivisionError), at_work.on(gpus):
            assert [at_work.number(device) for device in gpus] == [2, 1]
            raise ZeroDivisionError
        assert [at_work.number(device) for device in gpus] == [1, 0]
    assert [at_work.number(device) for device in (*cpus, *gpus)] == [0, 0, 0, 0]


def test_a_cpu_runs_a_program_for_each_core_or_simulated_device_at_a_time(monkeypatch):
    for cores, devices, expected in ((4, 1, 4), (2, 8, 8)):
        monkeypatch.setattr(at_work, "usable_cores", lambda cores=cores: range(cores))
        assert at_work.side_by_side(Device("cpu", Client(devices))) == expected
        assert at_work.side_by_side(Device("gpu", Client(devices))) == 1
