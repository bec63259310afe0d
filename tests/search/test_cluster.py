"""Ray's errors, as a user is told them, and addresses where there is no Ray."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from search import cluster
from search.cluster import ClusterError, cause, connected

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


@contextlib.contextmanager
def listener(answer: bytes | None) -> Iterator[str]:
    """The address of one who answers the first thing that he is sent, and goes; None for not at all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 10)
                if answer is None:
                    ended.wait(30)
                else:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            thread.join(30)


@pytest.mark.parametrize("answer", [b"HTTP/1.0 400 Bad request\r\n\r\n", b"", b"no", bytes([0, 0, 4, 7])])
def test_who_listens_and_is_not_ray_is_told_at_once(answer: bytes) -> None:
    pytest.importorskip("ray")
    with listener(answer) as address, pytest.raises(ClusterError, match=f"--ray {address}: .* who listens there is not Ray"):
        with connected(address, "data"):
            raise AssertionError("there is no cluster")


def test_who_listens_and_says_nothing_is_waited_for_only_so_long(monkeypatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(cluster, "_PATIENCE", 0.1)
    with listener(None) as address, pytest.raises(ClusterError, match="timed out"):
        with connected(f"ray://{address}", "data"):
            raise AssertionError("there is no cluster")


def test_a_server_of_http_2_may_be_ray() -> None:
    with listener(bytes([0, 0, 6, 4, 0])) as address:
        cluster._reach(address)
