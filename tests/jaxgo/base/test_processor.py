"""Which processors have few vector registers."""

import pytest

from jaxgo.base import processor


@pytest.mark.parametrize(
    ("machine", "abilities", "few"),
    [
        ("x86_64", "flags\t\t: fpu sse2 avx avx2 fma\nmodel name\t: AMD EPYC 7763", True),
        ("AMD64", "flags\t\t: fpu sse2", True),
        ("x86_64", "flags\t\t: fpu avx2 avx512f avx512bw\nmodel name\t: AMD EPYC 9654", False),
        ("aarch64", "Features\t: fp asimd\nCPU part\t: 0xd0c", False),
        ("x86_64", "", False),
    ],
)
def test_who_has_few_registers(monkeypatch, machine, abilities, few):
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    monkeypatch.setattr(processor, "abilities", lambda: abilities)
    assert processor.has_few_registers() is few


def test_cores_are_those_that_the_process_may_run_on(monkeypatch):
    """As `taskset` says, not those of the machine; where the system does not tell, all of them."""
    monkeypatch.setattr(processor.os, "sched_getaffinity", lambda _: {5, 2}, raising=False)
    monkeypatch.setattr(processor.os, "cpu_count", lambda: 3)
    assert processor.usable_cores() == [2, 5]
    monkeypatch.delattr(processor.os, "sched_getaffinity")
    assert processor.usable_cores() == [0, 1, 2]
