"""A process of the service, without Ray and with an engine that does as it is told: who waits for whom."""

import asyncio
import threading

import numpy as np
import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'jaxgo[cluster]'")

from jaxgo.base.source import version  # noqa: E402
from search.analysis.options import ServiceOptions  # noqa: E402
from search.serving import application  # noqa: E402
from search.serving.application import BESIDE, LARGE, Replica  # noqa: E402
from search.serving.boards import Boards  # noqa: E402
from search.serving.limits import BUSY, Refusal, busy  # noqa: E402

HANG = 20


class Engine:
    """Answers small requests at once, large ones when it is let; for boards of size 7 it compiles until then."""

    def __init__(self, *_, **__):
        self.begun, self.open, self.given_up, self.groups = threading.Semaphore(0), threading.Event(), threading.Event(), []

    def warm_up(self, sizes) -> None:
        pass

    def prepare(self, asked: Boards) -> Refusal | None:
        if asked.size == 7:
            self.begun.release()
            assert self.open.wait(HANG)
        return busy("too many") if asked.size == 8 else None

    def room(self, asked: Boards) -> int:
        return 1 << 20

    def evaluate(self, group: list[Boards], stop) -> list[bytes]:
        self.groups.append([asked.playouts for asked in group])
        if group[0].work >= LARGE:
            self.begun.release()
            while not self.open.wait(0.005):
                if stop():
                    self.given_up.set()
                    raise RuntimeError("nobody waits")
        if group[0].playouts == 13:
            raise MemoryError("13")
        return [str(asked.playouts).encode() for asked in group]


@pytest.fixture
def replica(monkeypatch) -> Replica:
    """One with that engine."""
    monkeypatch.setattr(application, "Engine", Engine)
    monkeypatch.setattr(application, "keep_compiled", lambda: None)
    return Replica(ServiceOptions(), (5,), version())


def asked(playouts: int, size: int = 5, seed: int = 0) -> Boards:
    """A request."""
    nothing = np.zeros(1, np.int32)
    return Boards(np.zeros((1, size, size), np.int8), nothing + 1, nothing - 1, nothing, 7.5, playouts, seed)


async def begun(engine: Engine, count: int) -> None:
    """Waits until so many more are under way."""
    for _ in range(count):
        assert await asyncio.to_thread(engine.begun.acquire, timeout=HANG)


def test_a_small_request_is_answered_while_large_ones_and_a_compiler_are_at_work(replica):
    engine = replica._engine

    async def all_of_them() -> list[bytes]:
        large = [asyncio.create_task(replica.evaluate(asked(LARGE + seed, seed=seed))) for seed in range(BESIDE + 3)]
        cold = [asyncio.create_task(replica.evaluate(asked(number, 7))) for number in range(100, 120)]
        await begun(engine, BESIDE + len(cold))
        small = [await asyncio.wait_for(replica.evaluate(asked(number)), HANG) for number in (1, 2, 3)]
        assert not any(task.done() for task in large + cold)
        engine.open.set()
        return small + await asyncio.gather(*large, *cold)

    found = asyncio.run(all_of_them())
    assert found == [str(x).encode() for x in (1, 2, 3, *(LARGE + seed for seed in range(BESIDE + 3)), *range(100, 120))]


def test_who_hangs_up_is_played_for_no_more(replica):
    engine = replica._engine

    async def both() -> bytes:
        tasks = [asyncio.create_task(replica.evaluate(asked(LARGE, seed=seed))) for seed in range(BESIDE + 2)]
        await begun(engine, BESIDE)
        await asyncio.sleep(0.05)
        for task in (tasks[0], tasks[-1]):
            task.cancel()
        await begun(engine, 1)  # one that waited has taken the place
        assert await asyncio.to_thread(engine.given_up.wait, HANG)
        engine.open.set()
        (answer,) = {await task for task in tasks[1:-1]}
        return answer

    assert asyncio.run(both()) == str(LARGE).encode() and len(engine.groups) == BESIDE + 1


def test_what_goes_wrong_reaches_who_asked(replica):
    async def both():
        with pytest.raises(MemoryError):
            await replica.evaluate(asked(13))
        return await replica.evaluate(asked(1, 8)), await replica.evaluate(asked(1))

    refused, answer = asyncio.run(both())
    assert refused.status == BUSY and answer == b"1"


def test_a_node_with_another_version_has_no_replica(monkeypatch):
    with pytest.raises(RuntimeError, match="the process that serves has another"):
        Replica(ServiceOptions(), (5,), "another")
