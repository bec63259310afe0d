"""Processes that play games end when they should."""

import concurrent.futures
import multiprocessing
import signal
import subprocess
import time

import pytest

from bench.hardware import usable_cores
from bench.matches import pool


class Breaks(Exception):
    """What a game may raise."""


class ByHand(concurrent.futures.Executor):
    """Calls that end when the test says so."""

    def __init__(self) -> None:
        self.calls: list[concurrent.futures.Future] = []

    def submit(self, function, *arguments) -> concurrent.futures.Future:
        self.calls.append(concurrent.futures.Future())
        return self.calls[-1]

    def begin(self) -> None:
        """Ends the second call once there is one: so that something is told."""
        if self.calls and not self.calls[1].done():
            self.end(1)

    def end(self, *numbers: int) -> None:
        for number in numbers:
            self.calls[number].set_result(number)


def test_what_has_ended_when_it_is_to_stop_is_told():
    """However many that are, and no more than a few are handed in at a time."""
    workers, told = ByHand(), []
    for number in pool._as_they_end(workers, print, [()] * 1000, 4, lambda: workers.begin() or bool(told)):
        if not told:
            workers.end(0, 3)  # nobody listens meanwhile
        told.append(number)
        if len(told) == 1:
            assert len(workers.calls) == 4
    assert told == [1, 0, 3]


def test_what_has_ended_when_a_game_fails_is_told():
    workers, told = ByHand(), []
    with pytest.raises(Breaks):
        for number in pool._as_they_end(workers, print, [()] * 1000, 4, workers.begin):
            if not told:
                workers.calls[2].set_exception(Breaks())
                workers.end(0, 3)
            told.append(number)
    assert told == [1, 0, 3] and len(workers.calls) == 5


def test_a_pool_that_is_lost_loses_nothing_that_has_ended():
    class Lost(ByHand):
        def submit(self, function, *arguments) -> concurrent.futures.Future:
            if len(self.calls) == 4:
                raise pool.BrokenProcessPool("a process was killed")
            return super().submit(function, *arguments)

    workers, told = Lost(), []
    with pytest.raises(pool.BrokenProcessPool, match="a process was killed"):
        for number in pool._as_they_end(workers, print, [()] * 1000, 4, workers.begin):
            if not told:
                workers.end(0)
            told.append(number)
    assert told == [1, 0]


def test_engines_of_a_process_that_plays_may_be_interrupted():
    """Which itself goes on after Ctrl-C: a terminal sends it to all, and one is to act."""
    with pool.processes([usable_cores()[:1]]) as workers, pool._children_without_interrupt():
        how = workers.submit(_how_interrupts_are_taken).result()
    assert how == (True, "0")


def _how_interrupts_are_taken() -> tuple[bool, str]:
    """Whether this process goes on, and whether one that it starts has SIGINT held back or ignored."""
    signal.raise_signal(signal.SIGINT)
    status = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    masks = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
    return True, f"{(int(masks['SigBlk'], 16) | int(masks['SigIgn'], 16)) >> (signal.SIGINT - 1) & 1}"


def test_a_second_interrupt_leaves_no_process(monkeypatch):
    """It comes while the first one's processes are ended, and is acted on after that."""
    shutdown = concurrent.futures.ProcessPoolExecutor.shutdown

    def interrupted(self, **how):
        signal.raise_signal(signal.SIGINT)
        shutdown(self, **how)

    monkeypatch.setattr(concurrent.futures.ProcessPoolExecutor, "shutdown", interrupted)
    before = signal.default_int_handler
    found = signal.signal(signal.SIGINT, before)  # where tests run in the background it is ignored
    with pytest.raises(KeyboardInterrupt) as raised, pool.processes([usable_cores()[:1]]) as workers:
        playing = workers.submit(time.sleep, 600)
        while not playing.running():
            time.sleep(0.01)
        started = multiprocessing.active_children()
        raise KeyboardInterrupt("the first one")
    assert "the first one" not in str(raised.value) and "the first one" in str(raised.value.__context__)
    assert signal.signal(signal.SIGINT, found) is before and started
    deadline = time.monotonic() + 60
    # The pool's thread waits for it too, and for a moment only that one may know how it has ended.
    while any(process.exitcode is None for process in started) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(process.exitcode is not None for process in started)
