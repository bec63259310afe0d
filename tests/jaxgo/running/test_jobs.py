import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.gpu import PINNED
from jaxgo.backends.programs import Programs
from jaxgo.running import jobs
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
