"""Compiled programs are made once, by one thread, and the oldest are dropped."""

import threading
import time

import pytest

from jaxgo.backends import programs
from jaxgo.backends.programs import Programs


class Lowered:
    """What is yet to be compiled to something."""

    def __init__(self, compiled):
        self.compile = lambda: compiled


def test_each_is_made_once_and_the_oldest_are_dropped(monkeypatch):
    monkeypatch.setattr(programs, "KEPT", 3)
    made = []
    kept = Programs(lambda *key: Lowered(made.append(key) or key))
    for number in (1, 2, 3, 1, 4, 1, 2):
        assert kept(number, ("device",)) == (number, ("device",))
    assert [number for number, _ in made] == [1, 2, 3, 4, 2]  # 2 was dropped for 4, as 1 had been asked for since
    assert len(kept) == len(kept.programs()) == 3

    assert (1, ("device",)) in kept and (3, ("device",)) not in kept


def test_a_process_may_keep_fewer(monkeypatch):
    monkeypatch.setattr(programs, "KEPT", programs.KEPT)  # put back at the end
    kept = Programs(lambda *key: Lowered(key))
    for number in range(5):
        kept(number, ("device",))
    programs.keep(2)
    kept(5, ("device",))
    assert [number for number, _ in kept.programs()] == [4, 5]


def test_threads_wait_for_the_one_that_compiles():
    made = []

    def build(*key):
        time.sleep(0.05)
        made.append(key)
        return Lowered(object())

    kept, found = Programs(build), []
    threads = [threading.Thread(target=lambda: found.append(kept("a", ("device",)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(set(map(id, found))) == 1


def test_a_program_that_cannot_be_made_is_tried_again():
    outcomes = iter([RuntimeError("no memory"), "a program"])

    def build(*key):
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return Lowered(outcome)

    kept = Programs(build)
    with pytest.raises(RuntimeError, match="no memory"):
        kept(1, ("device",))
    assert kept(1, ("device",)) == "a program"
