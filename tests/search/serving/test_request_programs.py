"""What still has to be compiled keeps few places, and nobody else waits for it."""

import concurrent.futures
import json
import threading

import numpy as np
import pytest

import jaxgo
from search.analysis.options import ServiceOptions
from search.serving import request_programs
from search.serving.boards import Boards
from search.serving.limits import BUSY, Refusal
from search.serving.request_programs import RequestPrograms
from tests.search.analysis.talk import eventually
from tests.search.serving.asking import query

HANG = 20


class Plan:
    """Of a program, compiled once that is let."""

    def __init__(self, ready: bool):
        self.is_compiled, self.calls, self.begun, self.open = ready, 0, threading.Event(), threading.Event()

    def compile(self) -> None:
        self.calls += 1
        self.begun.set()
        assert self.open.wait(HANG)
        self.is_compiled = True


class Scheduler:
    """Of queries: what is prepared on 5x5, ownership or not."""

    def __init__(self, ownership: bool = True):
        self.ownership = ownership

    def is_prepared(self, size: int, wanted, *, with_tree: bool) -> bool:
        return size == 5 and (self.ownership or not (wanted.ownership or wanted.moves_ownership))


@pytest.fixture
def plans(monkeypatch) -> dict[tuple[int, bool], Plan]:
    """By board size, and whether they are for many pieces; those of size 5 are compiled."""
    made = {(size, many): Plan(size == 5) for size in (5, 6, 7) for many in (False, True)}
    monkeypatch.setattr(request_programs.evaluate, "plan_of_pieces", lambda size, pieces, *_, **__: made[size, pieces > 1_000])
    monkeypatch.setattr(request_programs, "MOST_WAITING", 2)
    return made


def asked(size: int, **more) -> Boards:
    """A request for arrays."""
    nothing = np.zeros(1, np.int32)
    return Boards(np.zeros((1, size, size), np.int8), nothing + 1, nothing - 1, nothing, 7.5, **more)


def a_query(size: int, **more) -> dict:
    """A query."""
    return json.loads(query(boardXSize=size, boardYSize=size, **more))


def test_few_wait_for_a_compiler_and_what_needs_none_is_taken_on_meanwhile(plans):
    having = RequestPrograms(ServiceOptions(), Scheduler())
    with having.prepared(a_query(6)), concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(having.prepare, asked(7))
        assert plans[7, False].begun.wait(HANG)
        for call in (lambda: having.prepare(asked(6)), lambda: having.prepared(a_query(7, playouts=9)).__enter__()):
            with pytest.raises(Refusal, match="busy: 2 requests are waiting for what is compiled") as refused:
                call()
            assert refused.value.status == BUSY
        having.prepare(asked(5))
        for more in ({}, {"playouts": 9}, {"includeOwnership": True}, {"maxVisits": 1}):
            with having.prepared(a_query(5, **more)):
                pass
        plans[7, False].open.set()
        waits.result(HANG)
    with having.prepared(a_query(6)), having.prepared(a_query(6)):
        having.prepare(asked(7))


def test_ownership_of_a_tree_needs_a_program_too(plans):
    having = RequestPrograms(ServiceOptions(), Scheduler(ownership=False))
    with having.prepared(a_query(6)), having.prepared(a_query(6)), having.prepared(a_query(5)):
        for wanted in ("includeOwnership", "includeMovesOwnership"):
            with pytest.raises(Refusal), having.prepared(a_query(5, **{wanted: True})):
                pass


def test_a_place_is_free_again_after_a_failure(plans):
    having = RequestPrograms(ServiceOptions(), Scheduler())
    for _ in range(5):
        with pytest.raises(OSError), having.prepared(a_query(6)):
            raise OSError


def test_as_long_as_the_program_for_many_is_missing_none_go_together_and_it_is_compiled_beside_them(plans):
    having, many = RequestPrograms(ServiceOptions(), Scheduler()), plans[6, True]
    assert having.room(asked(5)) == request_programs.MOST_TOGETHER
    assert [having.room(asked(6)) for _ in range(3)] == [0] * 3
    many.open.set()
    while not many.is_compiled:
        assert many.begun.wait(HANG)
    assert having.room(asked(6)) == request_programs.MOST_TOGETHER and many.calls == 1


def test_a_program_that_cannot_be_compiled_is_not_tried_for_ever(plans, monkeypatch, capfd):
    having, tried = RequestPrograms(ServiceOptions(), Scheduler()), threading.Event()

    def fails() -> None:
        tried.set()
        raise RuntimeError("no memory")

    monkeypatch.setattr(plans[6, True], "compile", fails)
    assert having.room(asked(6)) == 0 and tried.wait(HANG)
    tried.clear()
    assert having.room(asked(6)) == 0 and not tried.wait(0.1)
    assert eventually(lambda: "no memory" in capfd.readouterr().err)


def test_boards_that_the_policy_is_not_for_need_nothing(monkeypatch):
    def refused(*_, **__) -> bool:
        raise ValueError("policy has an advisor's table for boards of size 9")

    monkeypatch.setattr(Scheduler, "is_prepared", refused)
    having = RequestPrograms(ServiceOptions(policy=jaxgo.Advisor(0.5, jaxgo.AdvisorTable(9))), Scheduler())
    having.prepare(asked(5))
    with having.prepared(a_query(6, playouts=9)):
        pass
