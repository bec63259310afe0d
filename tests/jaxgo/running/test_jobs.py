import numpy as np
import pytest

import jaxgo
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
def test_a_workers_chunks_lay_their_moves_into_the_same_memory(logs, workers):
    """And what other playouts have left there is in no result."""
    position = jaxgo.Position.empty(3)
    several = jaxgo.playouts(position, PLAYOUTS, moves=True, seed=1, lanes=LANES, devices=workers)
    assert 1 <= len(logs) <= workers and all(log.is_deleted() for log in logs)
    alone = jaxgo.playouts(position, PLAYOUTS, moves=True, seed=1, devices=1)
    np.testing.assert_array_equal(several.moves, alone.moves)
    np.testing.assert_array_equal((several.moves >= 0).sum(axis=2), several.length)


def test_sums_of_moves_use_it_too(logs):
    position, how = jaxgo.Position.empty(3), {"rule": "weighted_v1", "seed": 1, "devices": 1}
    several = jaxgo.move_statistics(position, PLAYOUTS, lanes=LANES, **how)
    assert len(logs) == 1 and logs[0].is_deleted()
    np.testing.assert_array_equal(several.weight, jaxgo.move_statistics(position, PLAYOUTS, **how).weight)


def test_without_moves_there_is_none(logs):
    jaxgo.playouts(jaxgo.Position.empty(3), PLAYOUTS, lanes=LANES, devices=1)
    jaxgo.evaluate(jaxgo.Position.empty(3), PLAYOUTS, lanes=LANES, devices=1)
    assert set(logs) == {None}


def test_results_for_which_there_is_no_room_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("jaxgo.running.playouts.results", lambda *_: pytest.fail("it has been begun"))
    with pytest.raises(MemoryError, match="Unable to allocate .* TiB"):
        jaxgo.playouts(jaxgo.Position.empty(25), 2**31 - 1, moves=True)
