"""Rings of several workers: how calls are divided among them, and which begin."""

import threading
import time

import numpy as np
import pytest

from jaxgo import Leaves
from jaxgo.backends.cpu import Cpu
from jaxgo.base import threads
from jaxgo.running import at_work, ring, ring_program
from tests.jaxgo.running.test_ring import LEAVES, PLAYOUTS, SIZE, start


@pytest.fixture(autouse=True)
def rings_for_many(monkeypatch) -> None:
    """All calls are in one line, however few playouts are under way."""
    monkeypatch.setattr("jaxgo.running.leaves.WORTH", 0)


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


def test_a_call_is_divided_among_all_devices_that_play_whole_calls(monkeypatch):
    """In parts of some leaves, at least, whatever they have to do already."""
    monkeypatch.setattr(Cpu, "flies_on", lambda *_: False)
    rings = Leaves(SIZE, 64, 8, devices=4)._rings
    for under_way in ([], [ring._Load([], 0)]):
        rings.rings[0].under_way.extend(under_way)
        assert [rings.parts_for(count) for count in (1, 7, 8, 15, 16, 64)] == [1, 1, 2, 3, 4, 4]


def test_a_place_has_room_for_a_part_and_for_several_small_ones():
    """A part is each worker's share of a call, or more, as far as those are few playouts."""
    for leaves, playouts, devices, part, place in ((16, 4, 1, 16, 64), (16, 4, 4, 16, 64), (512, 8, 1, 512, 512), (512, 8, 4, 128, 128),
                                                   (3, 2000, 2, 2, 2)):  # fmt: skip
        rings = Leaves(SIZE, leaves, playouts, devices=devices)._rings
        assert (rings._share, rings._shape.leaves) == (part, place)
        assert {each._shape.leaves for each in rings.rings} == {place}


def test_what_is_compiled_beforehand_is_what_calls_ask_for(monkeypatch):
    """Of each worker's device."""
    asked, real = [], ring_program.compiled
    monkeypatch.setattr(ring_program, "compiled", lambda *key: (asked.append(key), real(*key))[1])
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2)
    leaves.compile()
    assert [device for _, (device,) in asked] == [each._device for each in leaves._rings.rings]
    beforehand = set(asked)
    leaves.gather(start(leaves, 1, 0))
    assert len(asked) > 2 and set(asked) == beforehand
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


def test_what_a_program_is_asked(monkeypatch):
    """New leaves for the next place, its share of those that wait, until no place is free; and the oldest, which it is to finish
    unless others could be taken first. Beside the leaves there is nothing: a program would make boards of what memory held before,
    and could loop for ever."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2)
    for each in leaves._rings.rings:
        monkeypatch.setattr(each, "begin", lambda: None)
    first = leaves._rings.rings[0]
    first.flying = True  # and the other is not, so that nothing waits for it
    columns, numbers = first._room_to_ask()
    for begun, asked in (
        ([3], [1, 0, 3, 0, 3, 3, 0, 0]), ([16] * 5, [1, 1, 48, 0, 0, 3, 48, 0]),
        ([], [1, 2, 16, 0, 3, 3, 48, 16]), ([], [1, 0, 0, 0, 3, 3, 48, 16]),
    ):  # fmt: skip
        for count in begun:
            start(leaves, count, 7)
        taken = np.concatenate([call.columns for call in first._waiting], axis=1)[:, : asked[2]]
        columns[...] = 2**32 - 1
        assert first._ask(columns, numbers)
        assert numbers.tolist() == asked
        np.testing.assert_array_equal(columns[:, : asked[2]], taken)
        assert not columns[:, asked[2] :].any()
    leaves.close()


def test_which_workers_see_to_calls_that_wait(monkeypatch):
    """One at work takes a call where nothing is under way, and otherwise has two; for more calls than that others begin. Of those
    that wait for calls, as many are woken, the last to have become idle first."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=4)
    rings, line, begun, woken = leaves._rings.rings, leaves._rings._line, [], []
    for number, each in enumerate(rings):
        monkeypatch.setattr(each, "begin", lambda number=number: begun.append(number))
        monkeypatch.setattr(each, "wake", lambda number=number: woken.append(number))
    for under_way, wanted, expected in (
        ([], 1, [0]), ([0], 1, []), ([0], 4, [1, 2, 3]), ([0, 0], 1, []), ([0, 0], 4, [2, 3]), ([1], 1, []), ([2], 1, [1]),
        ([3], 1, [1]), ([1, 0], 4, [2]),
    ):  # fmt: skip
        for number, each in enumerate(rings):
            each.flying = number < len(under_way)
            each.under_way.clear()
            each.under_way.extend([ring._Load([], 0)] * (under_way[number] if each.flying else 0))
        begun.clear()
        leaves._rings._see_to(wanted)
        assert begun == expected, (under_way, wanted)
    line.idle.extend([rings[2], rings[0], rings[1]])
    leaves._rings._see_to(2)
    assert woken == [1, 0]
    line.idle.clear()


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


def test_a_ring_that_has_begun_when_ctrl_c_comes_is_at_work(monkeypatch):
    """Its thread says when it ends; another beside it would write into the same places."""
    leaves, real, under_way = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1), threads.begin, threading.Event()
    (first,) = leaves._rings.rings

    def interrupted(work, *given, **how):
        def working(*given):
            under_way.set()
            return work(*given)

        real(working, *given, **how)
        assert under_way.wait(60)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threads, "begin", interrupted)
        with first._lock:  # so that it has not ended
            with pytest.raises(KeyboardInterrupt):
                start(leaves, 1, 0)
            assert first.flying
    assert leaves.gather(start(leaves, 1, 0)).wins.shape == (1,)
    leaves.close()
