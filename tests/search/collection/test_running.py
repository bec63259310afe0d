"""How far a collection is, and how fast."""

import pytest

from search.collection import running
from search.collection.running import Standing
from search.collection.worker import Done


def done(number: int, positions: int, seconds: float, call: int, worker: str = "w") -> Done:
    return Done(number, 9, positions, positions, (), b"", seconds, worker, call)


def test_speeds_are_those_after_the_first_calls(monkeypatch):
    """Each worker's first compiles, and its parts are finished together: what they took says nothing of what follows."""
    now = [100.0]
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    standing = Standing(positions=200, parts=8)
    for number in range(3):
        standing.add(done(number, 16, 3.0, 0))
        now[0] += 0.001
    assert standing.rate() is standing.rate_of_worker() is standing.seconds_left() is None
    standing.add(done(3, 20, 9.0, 0, "other"))
    assert standing.rate() is None and standing.workers == {"w": (0, 0.0), "other": (0, 0.0)}
    now[0] = 110.0
    standing.add(done(4, 40, 4.0, 1))
    assert standing.rate() == pytest.approx(4.0) and standing.rate_of_worker() == 10.0
    assert (standing.done, standing.here, standing.parts_done) == (108, 108, 5)
    assert standing.seconds_left() == pytest.approx(92 / 4)
