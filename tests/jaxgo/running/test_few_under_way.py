"""Where few playouts are under way they are on few lanes, and nobody who asks sees a difference."""

import time
import types

import numpy as np
import pytest

import jaxgo
from jaxgo import Leaves
from jaxgo.backends.cpu import Cpu
from jaxgo.running import leaves as module
from jaxgo.running import ring
from jaxgo.running.rings import Rings

SIZE, LEAVES, PLAYOUTS = 5, 256, 8


def start(leaves: Leaves, count: int, first: int = 0):
    """Begins a call: a stone on some point of the empty board."""
    streams = first + np.arange(count)
    arguments = leaves.arguments_of(jaxgo.Position.empty(SIZE, count))
    return leaves.submit(*arguments, moves=streams % SIZE**2, streams=streams)


def test_rings_are_chosen_by_what_is_under_way(monkeypatch):
    """Those for many stay for a while, and as long as they have something."""
    clock, asked, under_way = [1.0], [], {True: 0, False: 0}
    monkeypatch.setattr(module, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(Rings, "under_way", property(lambda self: under_way[self._shape.few]))
    monkeypatch.setattr(Rings, "submit", lambda self, parts: asked.append(self._shape.few) or [])
    monkeypatch.setattr(Rings, "rest", lambda self: asked.append(f"{'few' if self._shape.few else 'many'} rest"))
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2)
    few = leaves._few
    assert few is not None and 2 * few.lanes <= leaves._rings.lanes
    enough = module.FEW * 2 * few.lanes

    def begun(count: int, few_under_way: int = 0, many_under_way: int = 0) -> list:
        asked.clear()
        under_way.update({True: few_under_way, False: many_under_way})
        start(leaves, count)
        return asked

    assert begun(10) == ["many rest", True]
    assert begun(10, few_under_way=enough - 80) == ["many rest", True]
    assert begun(10, few_under_way=enough - 79) == ["few rest", False]
    assert begun(10) == ["few rest", False]  # just now there were many
    clock[0] += 1.1 * module.STAY_WITH_MANY
    assert begun(10, many_under_way=8) == ["few rest", False]
    clock[0] += 1.1 * module.STAY_WITH_MANY
    assert begun(10) == ["many rest", True]


def test_playouts_are_the_same_on_few_lanes_and_on_many(monkeypatch):
    leaves, calls = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2), {}
    for enough in (0, 10**6, 0):
        monkeypatch.setattr(module, "FEW", enough)
        monkeypatch.setattr(module, "STAY_WITH_MANY", 0.0)
        call = start(leaves, LEAVES, 7)
        assert bool(leaves._few.under_way) == bool(enough) or leaves.done(call)
        calls[enough] = leaves.gather(call)
    for name, x in vars(calls[0]).items():
        np.testing.assert_array_equal(x, getattr(calls[10**6], name), err_msg=name)
    assert leaves.busy_seconds > sum(ring.busy for ring in leaves._few.rings) > 0
    leaves.close()
    with pytest.raises(RuntimeError, match="closed"):
        leaves._few.check_open()


def test_both_are_compiled_beforehand(monkeypatch):
    compiled = []
    monkeypatch.setattr(Rings, "compile", lambda self: compiled.append(self._shape.few))
    Leaves(SIZE, LEAVES, PLAYOUTS, devices=2).compile()
    assert sorted(compiled) == [False, True]


def test_programs_that_rest_do_not_wait_for_calls(monkeypatch):
    """Others are to have the device."""
    monkeypatch.setattr(ring, "PATIENCE", 1000.0)
    monkeypatch.setattr(ring, "LONGEST", 1e9)
    monkeypatch.setattr(ring, "LONGEST_OF_MANY", 1e9)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    few, (only,) = leaves._few, leaves._few.rings
    for number in range(2):  # and are there again when there is something
        leaves.gather(start(leaves, 1, number))
        few.rest()
        deadline = time.monotonic() + 60
        while only.flying:
            assert time.monotonic() < deadline, "it waits"
            time.sleep(0.001)
    leaves.close()


def test_lanes_that_are_few_anyway_have_no_others_beside_them(monkeypatch):
    assert Leaves(SIZE, 4, 4, devices=1)._few is None
    assert Leaves(16, LEAVES, PLAYOUTS, devices=1)._few is None
    monkeypatch.setattr(Cpu, "flies_on", lambda *_: False)
    assert Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)._few is None
