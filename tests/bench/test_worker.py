"""Worker processes: pinned, with an environment of their own, and plain about failures."""

import os

import pytest

from bench import hardware
from bench.measure import Work
from bench.worker import Worker, WorkerError, environment, one_core


class Doubling:
    """Work that is easy to check: it does twice what it is asked for, plus a number."""

    def __init__(self, more: int):
        self.more = more

    def run(self, count: int) -> Work:
        return Work(2 * count + self.more, plies=3.0)


def where_am_i() -> tuple[int, list[int]]:
    return os.getpid(), hardware.usable_cores()


def variable(name: str) -> str | None:
    return os.environ.get(name)


def shout() -> None:
    print("this must not reach stdout")


def fail() -> None:
    raise ValueError("no such luck")


def leave() -> None:
    os._exit(7)


def test_a_worker_is_another_process_on_its_core() -> None:
    with Worker(cores=one_core()) as worker:
        pid, cores = worker.call("tests.bench.test_worker:where_am_i")
    assert pid != os.getpid()
    if Worker.pinned:
        assert cores == one_core()


def test_a_worker_without_cores_may_use_all() -> None:
    with Worker() as worker:
        assert worker.call("tests.bench.test_worker:where_am_i")[1] == hardware.usable_cores()


def test_variables_are_set_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAXGO_TEST_REMOVED", "here")
    with Worker(environment={"JAXGO_TEST_SET": "yes", "JAXGO_TEST_REMOVED": None}) as worker:
        assert worker.call("tests.bench.test_worker:variable", name="JAXGO_TEST_SET") == "yes"
        assert worker.call("tests.bench.test_worker:variable", name="JAXGO_TEST_REMOVED") is None


def test_a_compile_cache_is_used_only_where_one_is_given() -> None:
    assert environment()["JAX_COMPILATION_CACHE_DIR"] is None
    assert environment()["JAX_ENABLE_COMPILATION_CACHE"] == "false"
    assert environment(cache="/some/where")["JAX_COMPILATION_CACHE_DIR"] == "/some/where"
    assert environment(cache="/some/where")["JAX_ENABLE_COMPILATION_CACHE"] == "true"


def test_prepared_work_is_measured_by_name() -> None:
    with Worker() as worker:
        for name, more in (("one", 1), ("ten", 10)):
            worker.prepare(name, "tests.bench.test_worker:Doubling", more=more)
        assert [worker.measure(name, 5).amount for name in ("one", "ten", "one")] == [11, 20, 11]
        assert worker.measure("one", 5).plies == 3.0


def test_failures_are_reported_with_their_cause_and_the_worker_goes_on() -> None:
    with Worker() as worker:
        with pytest.raises(WorkerError, match="ValueError: no such luck"):
            worker.call("tests.bench.test_worker:fail")
        assert worker.call("tests.bench.test_worker:variable", name="JAXGO_TEST_UNSET") is None


def test_a_worker_that_ends_is_reported_with_its_exit_status() -> None:
    with Worker() as worker, pytest.raises(WorkerError, match="exit status 7"):
        worker.call("tests.bench.test_worker:leave")


def test_what_a_worker_prints_stays_out_of_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    with Worker() as worker:
        worker.call("tests.bench.test_worker:shout")
    assert capfd.readouterr().out == ""
