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
