"""Jobs of several processes: the results of one, the same in all of them, whatever happens in one."""

import json
import os
import socket
import subprocess
import sys
from typing import NamedTuple

import pytest

from jaxgo.running.chunks import PER_LANE, PER_LANE_WITH_MOVES
from jaxgo.running.jobs import Output
from tests.jaxgo.running import on_processes
from tests.processes import ROOT

DEVICES = (1, 2)
"""Of each process."""


def found_by_processes() -> list[dict]:
    """What each of the processes printed."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    started = []
    try:
        for number, devices in enumerate(DEVICES):
            arguments = map(str, (number, len(DEVICES), devices, port))
            command = [sys.executable, "-m", on_processes.__name__, *arguments]
            pipe = subprocess.PIPE
            started.append(subprocess.Popen(command, env=environment, cwd=ROOT, stdout=pipe, stderr=pipe, text=True))
        ended = [process.communicate(timeout=300) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (_, complaints) in zip(started, ended):
        assert process.returncode == 0, complaints[-4000:]
    return [json.loads(printed.splitlines()[-1]) for printed, _ in ended]


@pytest.mark.wide
def test_two_processes():
    """One has one device, the other two. One test, as each worker would start them for its share of several."""
    expected, found = on_processes.results(), found_by_processes()
    for number, here in enumerate(found):
        assert here["devices"] == sum(DEVICES)
        assert here["results"] == expected
        # After all that went wrong in between.
        assert here["at last"] == expected["evaluate"]
        other, value = 1 - number, on_processes.PLAYOUTS + number
        for name, argument, text in (
            ("number", "num_playouts", f" ({value})"), ("calls", "the call", f" (playouts(moves={number == 0}))"),
            ("position", "position", ""), ("order", "devices", ""), ("devices", "devices", ""),
        ):  # fmt: skip
            assert here[f"differing {name}"] == (
                f"ValueError: {argument} must be the same in all processes; process {other} has another one than process "
                f"{number}{text}"
            )
        for name, which in (("others' devices", "some"), ("leaves on others' devices", "all")):
            assert here[name].startswith(f"ValueError: devices must be, {which} of them, of this process, number {number}, not [")
        assert here["one in another"].startswith("RuntimeError: jobs of several processes are done one at a time")
        # An interruption of one process is one of all of them.
        assert here["interrupted"].startswith("Interrupted: interrupted after ")
        assert here["interrupted"].endswith(", partial True False")
    assert found[0]["alone"] == expected["evaluate"]
    assert found[0]["failed"] == "ZeroDivisionError: mine"
    assert found[1]["failed"].startswith("RuntimeError: process 0 has left the job")
    assert found[0]["stopped early"] == found[1]["stopped early"] > 0
    assert found[0]["told"] == found[1]["told"]
    assert found[0]["told"][-1] == [3 * on_processes.PLAYOUTS] * 2


class Device(NamedTuple):
    """Of some process."""

    process_index: int
    platform: str = "cpu"


def test_chunks_of_playouts_are_smaller_the_more_devices_there_are():
    """Each of several processes is given all of them, on its devices. And GPUs play on while they are on their way to the host."""
    sums, records, moves = (
        Output("", first_plays=False, moves=moves, reduce=print, of_playouts=of_playouts)
        for of_playouts, moves in ((False, False), (True, False), (True, True))
    )
    one, few, many = ([Device(i // 8) for i in range(count)] for count in (8, 16, 512))
    for output in (sums, records, moves):
        assert output.per_lane(one) == (PER_LANE_WITH_MOVES if output is moves else PER_LANE)
    assert [output.per_lane(few) for output in (sums, records, moves)] == [(1, 16, 128), (1, 16), (1, 8)]
    assert [output.per_lane(many) for output in (sums, records, moves)] == [(1, 16, 128), (1,), (1,)]
    gpus = [[Device(0, "gpu")], [Device(i, "gpu") for i in range(512)]]
    assert [output.per_lane(gpus[0]) for output in (sums, records, moves)] == [(1, 16, 128), (1, 16), (1, 8)]
    assert Output("", first_plays=False, moves=True, reduce=print).per_lane(gpus[0]) == (1, 8)
    assert [output.per_lane(gpus[1]) for output in (sums, records, moves)] == [(1, 16, 128), (1,), (1,)]
