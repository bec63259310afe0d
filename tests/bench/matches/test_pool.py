"""Processes that play games end when they should."""

import concurrent.futures
import multiprocessing
import signal
import time

import pytest

from bench.hardware import usable_cores
from bench.matches import pool


def test_a_second_interrupt_leaves_no_process(monkeypatch):
    """It comes while the first one's processes are ended, and is acted on after that."""
    shutdown = concurrent.futures.ProcessPoolExecutor.shutdown

    def interrupted(self, **how):
        signal.raise_signal(signal.SIGINT)
        shutdown(self, **how)

    monkeypatch.setattr(concurrent.futures.ProcessPoolExecutor, "shutdown", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as raised, pool.processes([usable_cores()[:1]]) as workers:
        playing = workers.submit(time.sleep, 600)
        while not playing.running():
            time.sleep(0.01)
        started = multiprocessing.active_children()
        raise KeyboardInterrupt("the first one")
    assert "the first one" not in str(raised.value) and "the first one" in str(raised.value.__context__)
    assert signal.getsignal(signal.SIGINT) is before and started
    for process in started:
        process.join(60)
        assert process.exitcode is not None
