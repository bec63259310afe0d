"""Ray's errors, as a user is told them."""

from search.cluster import cause

OF_A_WORKER = """\
\x1b[36mray::MapWorker(MapBatches(_Actor)).submit()\x1b[39m (pid=26677, ip=192.0.2.2)
  File "cluster.py", line 152, in __call__
    raise RuntimeError("this node has jaxgo 1")
RuntimeError: this node has jaxgo 1

The above exception was the direct cause of the following exception:

\x1b[36mray::MapWorker(MapBatches(_Actor)).submit()\x1b[39m (pid=26677, ip=192.0.2.2)
ray.exceptions.UserCodeException: UDF failed to process a data block.
To change retry attempts, configure `ray.data.DataContext.get_current()`."""


def test_the_cause_of_an_error_is_that_of_the_worker_not_what_followed_from_it() -> None:
    assert cause(RuntimeError(OF_A_WORKER)) == "RuntimeError: this node has jaxgo 1"


def test_the_cause_of_an_error_without_others_is_its_last_line() -> None:
    assert cause(RuntimeError("The actor died.\n  Its node is gone.\n")) == "Its node is gone."


def test_an_error_that_says_nothing_is_told_by_its_name() -> None:
    assert cause(TimeoutError(" \n")) == "TimeoutError"
