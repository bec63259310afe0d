"""The connection to Ray."""

import socket

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
