"""Ray, for the commands that use a cluster."""

import contextlib
import importlib
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

#: What Ray would else say on stderr, or to others.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_BACKEND_LOG_LEVEL": "fatal"}
#: Seconds in which a cluster's address must answer; Ray itself would try for minutes.
_PATIENCE = 10.0
#: How a client of HTTP/2, which Ray speaks, begins (RFC 9113, 3.4), a frame of settings included. The server answers with one.
_GREETING, _SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]), 4


class ClusterError(Exception):
    """The cluster cannot be used, or is lost; the text says what it was."""


@contextlib.contextmanager
def connected(address: str, library: str) -> Iterator:
    """The module `ray`, connected to a cluster as long as this lasts.

    Args:
      address: "local" for a cluster of this machine's cores and GPUs that lasts as long as this, "auto" for the one that runs
        here, or an address.
      library: which of Ray's is needed: "data" or "serve".

    Raises:
      ClusterError: Ray is not installed, or there is no cluster at the address.

    What is printed meanwhile goes to stderr.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray

        importlib.import_module(f"ray.{library}")
    except ImportError as error:
        raise ClusterError(f"--ray needs Ray: pip install 'jaxgo[cluster]' ({error})") from error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
    on_term = signal.getsignal(signal.SIGTERM)
    try:
        _reach(address)
        if address == "local":
            ray.init("local", include_dashboard=False, **quiet)
        else:
            ray.init(address, **quiet)
    except SystemExit:  # of Ray's own handler of SIGTERM
        if callable(on_term):
            on_term(signal.SIGTERM, None)
        raise
    except Exception as error:  # Ray raises what has no class of its own, too
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ClusterError(f"--ray {address}: there is no cluster to connect to: {first}") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_term)  # Ray has its own, which ends the process at once
    logger = logging.getLogger(f"ray.{library}")
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    # Where a worker is lost Ray tells of it on stdout, which is for results: some of it as it ends.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            yield ray
        finally:
            ray.shutdown()


def room_of_nodes(ray: Any, cores: int, *, on_gpus: bool) -> list[int]:
    """How many workers of so many cores each, and on GPUs of one GPU, each node of a cluster has room for."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [min(int(node.get("CPU", 0)) // cores, int(node.get("GPU", 0)) if on_gpus else 1 << 30) for node in nodes]


def _reach(address: str) -> None:
    """OSError if nobody listens at an address of a host and port, or who does is not Ray."""
    found = re.fullmatch(r"(?:ray://)?\[?([^\[\]/]+)\]?:([0-9]{1,5})", address)
    if not found:
        return
    with socket.create_connection((found[1], int(found[2])), _PATIENCE) as connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
            return
        connection.sendall(_GREETING)
        answer = b""
        while len(answer) < 4 and (more := connection.recv(4 - len(answer))):
            answer += more
    if answer[3:] != bytes([_SETTINGS]):
        raise ConnectionError("who listens there is not Ray (of a cluster the port is 6379, where it was not given another)")


def cause(error: Exception) -> str:
    """Of what Ray says of an error the line that tells what it was: the last one, before those on the errors that followed."""
    first = str(error).partition("The above exception was the direct cause of")[0]
    lines = [line.strip() for line in first.splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
