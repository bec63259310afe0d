"""What is said of the machine."""

import json
import os
import re

import pytest

from bench import hardware


def test_describe_is_ready_for_json_and_names_the_processor() -> None:
    machine = hardware.describe()
    assert json.loads(json.dumps(machine)) == machine
    assert re.fullmatch(r".*\S \([\w-]+\)", machine["cpu"])
    assert 1 <= machine["cores_usable"] <= machine["cores"] == os.cpu_count()
    assert machine["memory_bytes"] is None or machine["memory_bytes"] > 2**20


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="the system has no load average")
def test_other_load_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert hardware.describe()["load_at_start"].startswith("quiet")
    monkeypatch.setattr(os, "getloadavg", lambda: (float(os.cpu_count() or 1), 0.0, 0.0))
    assert hardware.describe()["load_at_start"].startswith("other work")


def test_peak_memory_sees_an_array_and_can_begin_anew() -> None:
    size = 64 << 20
    hardware.reset_peak_memory()  # or the peak may be an older one
    before = hardware.peak_memory_bytes()
    if before is None:
        pytest.skip("the system does not say")
    block = bytearray(b"x") * size
    with_block = hardware.peak_memory_bytes()
    assert with_block >= size
    del block
    if hardware.reset_peak_memory():
        assert hardware.peak_memory_bytes() < with_block - size // 2
