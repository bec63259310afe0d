"""Rings of several workers: how calls are divided among them, and which begin."""

import time

import pytest

from jaxgo import Leaves
from jaxgo.base import threads
from jaxgo.running import at_work, ring
from tests.jaxgo.running.test_ring import LEAVES, PLAYOUTS, SIZE, start


def test_a_call_is_divided_among_workers_that_are_idle():
    """Where they have work, parts are as large as fit: each step costs Python's lock, which all need. None is of fewer playouts than
    lanes where nothing else is under way."""
    leaves = Leaves(SIZE, 512, 8, devices=4)
    first, least = leaves._rings.rings[0], leaves._rings._least
    assert least >= 256 and leaves._rings.parts_for(32) == 1
    assert [leaves._rings.parts_for(count) for count in (1, 511, 512)] == [1, min(4, 511 * 8 // least), 4]
    first.under_way.append(ring._Load([], 0))
    assert [leaves._rings.parts_for(count) for count in (1, 128, 129, 512)] == [1, 1, 2, 4]
    first.under_way.clear()
    leaves.close()


def test_few_workers_do_what_few_can(monkeypatch):
    """Another begins, which takes long, only where those at work have enough for a while."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=4)
    begun, rings = [], leaves._rings.rings
    for number, each in enumerate(rings):
        monkeypatch.setattr(each, "begin", lambda number=number: (begun.append(number), setattr(rings[number], "flying", True)))
    for expected in ([0], [0], [0, 1], [0, 1]):
        start(leaves, 1, 0)
        assert begun == expected
        if len(rings[0].under_way) < 2:
            rings[0].under_way.append(ring._Load([leaves._rings._line.waiting.popleft()], 0))
    leaves.close()


def test_a_ring_that_could_not_begin_is_not_counted(monkeypatch):
    """As after Ctrl-C."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    (first,) = leaves._rings.rings
    device = first._device
    while at_work.number(device):  # programs of other tests end on their own
        time.sleep(0.001)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threads._Pool, "begin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            start(leaves, 1, 0)
    assert not first.flying and at_work.number(device) == 0
    assert all(call.unwanted for call in leaves._rings._line.waiting)  # nobody has been told of them
    leaves.close()
