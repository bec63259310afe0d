"""Programs that are compiled for one client keep nobody else waiting, and are not kept for ever."""

import threading
import types

import pytest

from jaxgo.backends.programs import Programs
from jaxgo.running import evaluate, jobs
from search.analysis import devices as module
from search.analysis import playout_programs
from search.analysis.devices import MOST_IDLE, Devices
from search.analysis.options import ServiceOptions
from search.analysis.playout_programs import PIECES_OF_LARGEST
from search.analysis.service import Service
from search.findings import Wanted
from tests.search.analysis.talk import HANG, Talk, eventually, query


@pytest.fixture
def gate(monkeypatch):
    """Programs of playouts that are not there yet, and of which the largest is not compiled before the gate opens."""
    opened, asked = threading.Event(), []
    lower, largest = jobs._compiled._lower, evaluate.plan_of_pieces(5, PIECES_OF_LARGEST)
    assert largest.room[0] > evaluate.plan_of_pieces(5, 1).room[0]

    def wait_and_lower(*key):
        if key[2] == largest.room:
            asked.append(key)
            assert opened.wait(HANG)
        return lower(*key)

    monkeypatch.setattr(jobs, "_compiled", Programs(wait_and_lower))
    opened.asked = asked
    yield opened
    opened.set()


def test_what_is_compiled_for_one_keeps_nobody_waiting(gate):
    """Neither him: endless playouts go on in smaller calls meanwhile, and then in larger ones."""
    service = Service(ServiceOptions())
    much, other, little = Talk(service), Talk(service), Talk(service)
    much.send(query("endless", playouts=10**9, reportDuringSearchEvery=0.001))
    other.send(*(query(f"o{i}", playouts=3000) for i in range(40)))
    assert eventually(lambda: gate.asked)
    assert little.ask(query("little", playouts=50))["rootInfo"]["visits"] == 50
    assert len(other.finals(40)) == 40
    much.wait(lambda replies: len(replies) >= 3)
    assert len(gate.asked) == 1, "one at a time"
    programs = service.scheduler._programs
    small = programs.pieces(5, much.client)
    gate.set()
    assert eventually(lambda: programs.pieces(5, much.client) > small)
    much.send({"id": "t", "action": "terminate_all"})
    for talk in (much, other, little):
        talk.end()
    service.end()


class FakeDevice:
    """What is kept for a board size."""

    def __init__(self, size: int, *_, **__):
        self.size, self.closed = size, False
        FakeDevice.made.append(self)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def devices(monkeypatch):
    """Of which nothing is compiled."""
    FakeDevice.made = []
    monkeypatch.setattr(module, "SharedLeaves", FakeDevice)
    monkeypatch.setattr(module.Search, "__init__", lambda *_, **__: None)
    monkeypatch.setattr(module.Search, "compile", lambda self: None)
    return Devices(ServiceOptions(), lambda: None)


def test_of_many_board_sizes_the_last_few_are_kept(devices):
    for size in range(2, 26):
        with devices.ready(size):
            assert devices[size].size == size
            devices.drop_idle(set())
            assert len(devices) <= MOST_IDLE + 1
    devices.drop_idle(set())
    assert [device.size for device in devices] == list(range(26 - MOST_IDLE, 26))
    assert [device.size for device in FakeDevice.made if device.closed] == list(range(2, 26 - MOST_IDLE))


def test_a_board_size_that_is_needed_stays(devices):
    """By those who wait, or by a search that has not been cleared away; what was needed last stays longest."""
    for size in range(2, 12):
        with devices.ready(size):
            if size < 6:
                devices.need(size)
    devices.drop_idle({9})
    sizes = {device.size for device in devices}
    assert {2, 3, 4, 5, 9} <= sizes and len(sizes) == 5 + MOST_IDLE
    for size in (3, 2, 5, 4):
        devices.release(size)
    devices.drop_idle(set())
    assert [device.size for device in devices] == [3, 2, 5, 4]
    with devices.ready(9):
        assert not devices[9].closed


def test_what_is_prepared_is_known_before(monkeypatch):
    """A tree alone needs no program of playouts, its ownership and queries without a tree one each."""
    pieces, samples = (types.SimpleNamespace(is_compiled=False, compile=lambda: None) for _ in range(2))
    monkeypatch.setattr(playout_programs.evaluate, "plan_of_pieces", lambda *_, **__: pieces)
    monkeypatch.setattr(playout_programs.evaluate, "plan", lambda *_, **__: samples)
    mine = playout_programs.PlayoutPrograms(lambda action: None, ServiceOptions())
    plain, ownership = Wanted(), Wanted(moves_ownership=True)

    def prepared() -> list[bool]:
        return [mine.is_prepared(5, wanted, with_tree=tree) for tree in (True, False) for wanted in (plain, ownership)]

    assert prepared() == [True, False, False, False]
    samples.is_compiled = True
    assert prepared() == [True, True, False, False]
    pieces.is_compiled = True
    assert prepared() == [True] * 4
    mine.close()
