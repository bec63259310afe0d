"""Ray, for the commands that use a cluster."""

import contextlib
import importlib
import logging
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

#: What Ray would else say on stderr, or to others.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_BACKEND_LOG_LEVEL": "fatal"}
#: Seconds in which a cluster's address must answer; Ray itself would try for minutes.
_PATIENCE = 10.0


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
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """OSError if nobody listens at an address of a host and port."""
    found = re.fullmatch(r"(?:ray://)?\[?([^\[\]/]+)\]?:([0-9]{1,5})", address)
    if found:
        socket.create_connection((found[1], int(found[2])), _PATIENCE).close()
