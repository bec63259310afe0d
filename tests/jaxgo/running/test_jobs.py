import itertools
import threading
import time

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.gpu import PINNED
from jaxgo.backends.programs import Programs
from jaxgo.base import threads
from jaxgo.running import at_work, evaluate, jobs
from jaxgo.running.jobs import Plan

#: Playouts of a job of several chunks on so many lanes.
LANES, PLAYOUTS = 16, 5 * 16 * 32


@pytest.fixture
def logs(monkeypatch) -> list:
    """The memories for moves that are made."""
    made, log = [], Plan.log

    def make(plan, devices):
        made.append(log(plan, devices))
        return made[-1]

    monkeypatch.setattr(Plan, "log", make)
    return made


@pytest.mark.parametrize("workers", [1, 2])
def test_a_workers_chunks_lay_their_moves_into_the_same_memory(monkeypatch, logs, workers):
    """And what other playouts have left there is in no result."""
    monkeypatch.setattr(jobs, "_compiled", Programs(jobs._lowered))  # and not what other tests have compiled
    position = jaxgo.Position.empty(3)
    several = jaxgo.playouts(position, PLAYOUTS, moves=True, seed=1, lanes=LANES, devices=workers)
    assert 1 <= len(logs) <= workers
    most = max(program.memory_analysis().alias_size_in_bytes for program in jobs._compiled.programs())
    assert most >= logs[0].nbytes  # the programs give back what they were given
    alone = jaxgo.playouts(position, PLAYOUTS, moves=True, seed=1, devices=1)
    np.testing.assert_array_equal(several.moves, alone.moves)
    np.testing.assert_array_equal((several.moves >= 0).sum(axis=2), several.length)


def test_sums_of_moves_use_it_too(logs):
    position, how = jaxgo.Position.empty(3), {"rule": "weighted_v1", "seed": 1, "devices": 1}
    several = jaxgo.move_statistics(position, PLAYOUTS, lanes=LANES, **how)
    assert len(logs) == 1
    np.testing.assert_array_equal(several.weight, jaxgo.move_statistics(position, PLAYOUTS, **how).weight)


def test_without_moves_there_is_none(logs):
    jaxgo.playouts(jaxgo.Position.empty(3), PLAYOUTS, lanes=LANES, devices=1)
    jaxgo.evaluate(jaxgo.Position.empty(3), PLAYOUTS, lanes=LANES, devices=1)
    assert not logs


def test_where_none_is_used_again_moves_are_the_same(monkeypatch):
    """As on GPUs."""
    how = {"moves": True, "seed": 1, "lanes": LANES, "devices": 1}
    position = jaxgo.Position.empty(3, 2)
    used_again = jaxgo.playouts(position, 700, max_plies=20, **how)
    monkeypatch.setattr(Cpu, "reuses_log", False)
    monkeypatch.setattr(jobs, "_compiled", Programs(jobs._lowered))
    by_itself = jaxgo.playouts(position, 700, max_plies=20, **how)
    assert by_itself.events.shape == (2, 700, 20)
    np.testing.assert_array_equal(by_itself.events, used_again.events)


@pytest.mark.parametrize("moves", [False, True])
def test_results_written_into_the_hosts_memory_are_the_same(monkeypatch, moves):
    """As on GPUs."""
    position, how = jaxgo.Position.empty(3, 2), {"seed": 1, "lanes": LANES, "devices": 1}
    own = jaxgo.playouts(position, 700, moves=moves, **how), jaxgo.evaluate(position, 700, **how).sums
    monkeypatch.setattr(Cpu, "reuses_log", False)
    monkeypatch.setattr(Cpu, "memory_of_results", lambda self, device: PINNED)
    programs = Programs(jobs._lowered)
    monkeypatch.setattr(jobs, "_compiled", programs)
    hosts = jaxgo.playouts(position, 700, moves=moves, **how), jaxgo.evaluate(position, 700, **how).sums
    kinds = {x.memory_kind for program in programs.programs() for x in jax.tree.leaves(program.output_shardings)}
    assert kinds == {PINNED}
    jax.tree.map(np.testing.assert_array_equal, hosts, own)


def test_a_job_compiles_nothing_that_its_plan_has(monkeypatch):
    """Also of one piece of one position."""
    monkeypatch.setattr(jobs, "_compiled", Programs(jobs._lowered))
    how = {"statistics": ["margins"], "devices": 1}
    for plan, number in ((evaluate.plan(3, 1, 50, **how), 50), (evaluate.plan_of_pieces(3, 1, **how), [50])):
        made = len(jobs._compiled)
        assert not plan.is_compiled
        plan.compile()
        assert plan.is_compiled and len(jobs._compiled) == made + 1
        assert jaxgo.evaluate(jaxgo.Position.empty(3), number, **how).complete
        assert len(jobs._compiled) == made + 1


def test_what_the_whole_process_forbids_jax_is_allowed_to_jobs():
    """They give the device numpy arrays."""
    position = jaxgo.Position.empty(3)
    expected = jaxgo.playouts(position, 20, seed=1, lanes=LANES, devices=1)
    before = jax.config.jax_transfer_guard
    jax.config.update("jax_transfer_guard", "disallow")
    try:
        found = jaxgo.playouts(position, 20, seed=1, lanes=LANES, devices=1)
    finally:
        jax.config.update("jax_transfer_guard", before)
    np.testing.assert_array_equal(found.margin, expected.margin)


def test_results_for_which_there_is_no_room_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("jaxgo.running.playouts.results", lambda *_: pytest.fail("it has been begun"))
    with pytest.raises(MemoryError, match="Unable to allocate"):
        jaxgo.playouts(jaxgo.Position.empty(25, 64), 2**31 - 1, moves=True)


@pytest.fixture
def two_calls(monkeypatch):
    """Two calls of one device are under way, as on a GPU."""
    monkeypatch.setattr(jobs, "teams_of", lambda workers: [workers] * 2)


@pytest.mark.parametrize("moves", [False, True])
def test_two_calls_of_one_device_give_the_same(two_calls, monkeypatch, moves):
    position = jaxgo.Position.empty(3)
    told: list[int] = []
    played = jaxgo.playouts(
        position, PLAYOUTS, moves=moves, seed=1, lanes=LANES, devices=1, progress=lambda done, total: told.append(done)
    )
    assert len(told) >= 5 and told[-1] == PLAYOUTS
    monkeypatch.undo()
    alone = jaxgo.playouts(position, PLAYOUTS, moves=moves, seed=1, devices=1)
    for a, b in zip(jax.tree.leaves(played), jax.tree.leaves(alone), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_of_two_calls_fails(two_calls, monkeypatch):
    """That is raised, and the next job is as any."""
    position, program, calls = jaxgo.Position.empty(3), Plan.program, []

    def failing(plan, devices):
        calls.append(devices)
        if len(calls) == 3:
            raise RuntimeError("the device is gone")
        return program(plan, devices)

    monkeypatch.setattr(Plan, "program", failing)
    with pytest.raises(RuntimeError, match="the device is gone"):
        jaxgo.playouts(position, PLAYOUTS, seed=1, lanes=LANES, devices=1)
    monkeypatch.setattr(Plan, "program", program)
    assert jaxgo.playouts(position, PLAYOUTS, seed=1, lanes=LANES, devices=1).length.size == PLAYOUTS


def test_what_is_under_way_ends_before_an_error_is_raised(two_calls, monkeypatch):
    """So that nothing is added any more to what an interrupted call hands over."""
    device, program, calls, both, goes_on = jax.devices()[0], Plan.program, itertools.count(), threading.Barrier(2), threading.Event()
    while at_work.number(device):  # programs of other tests end on their own
        time.sleep(0.001)

    def late(plan, devices):
        number = next(calls)
        both.wait(60)
        assert number == 0 or goes_on.wait(60)
        return program(plan, devices)

    def stop(done, total):
        assert at_work.number(device) == 1  # the other one
        threading.Timer(0.1, goes_on.set).start()
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "program", late)
    with pytest.raises(KeyboardInterrupt):
        jaxgo.playouts(jaxgo.Position.empty(3), PLAYOUTS, seed=1, lanes=LANES, devices=1, progress=stop)
    assert goes_on.is_set() and at_work.number(device) == 0


def test_what_has_begun_when_ctrl_c_comes_is_waited_for(monkeypatch):
    begun, goes_on, ended, real = threading.Event(), threading.Event(), [], threads.begin

    def run(group, devices):
        begun.set()
        assert goes_on.wait(60)
        ended.append(group)

    def interrupted(*given, **how):
        real(*given, **how)
        assert begun.wait(60)
        threading.Timer(0.1, goes_on.set).start()
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "begin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(jobs._when_free([()], [["first"], ["second"]], run))
    assert ended == [["first"]]
