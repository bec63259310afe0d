"""The connection to Ray."""

import socket
import subprocess
import sys

import pytest

from search.cluster import ClusterError, connected


@pytest.mark.timeout(60)
@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_an_address_where_nobody_listens_is_told_at_once(form):
    """Ray itself would try for minutes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = form.format(free.getsockname()[1])
        with pytest.raises(ClusterError, match=f"--ray {address}: there is no cluster"), connected(address, "data"):
            pass


@pytest.mark.wide
def test_signals_are_handled_as_before():
    """Ray's own handler would end the process at once, and what it has finished untold."""
    program = """
import signal
from search.cluster import connected
signal.signal(signal.SIGTERM, mine := lambda *_: None)
with connected("local", "data"):
    print(signal.getsignal(signal.SIGTERM) is mine)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True\n"
