"""The connection to Ray."""

import signal
import socket
import subprocess
import sys
import types

import pytest

from search.cluster import ClusterError, connected, room_of_nodes


@pytest.mark.timeout(60)
@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_an_address_where_nobody_listens_is_told_at_once(form):
    """Ray itself would try for minutes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = form.format(free.getsockname()[1])
        with pytest.raises(ClusterError, match=f"--ray {address}: there is no cluster"), connected(address, "data"):
            pass


def test_a_signal_while_it_is_begun_is_for_who_handled_it_before(monkeypatch):
    """Ray's own handler raises SystemExit with the signal's number."""
    ray = pytest.importorskip("ray")

    def init(*_, **__) -> None:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))
        signal.raise_signal(signal.SIGTERM)

    def mine(*_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray, "init", init)
    before = signal.signal(signal.SIGTERM, mine)
    try:
        with pytest.raises(KeyboardInterrupt), connected("local", "data"):
            pass
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("nodes", "cores", "on_gpus", "room"), [
    ([(1, 0), (1, 0)], 2, False, [0, 0]), ([(5, 0), (4, 0)], 2, False, [2, 2]), ([(8, 1), (8, 0)], 1, True, [1, 0]),
])  # fmt: skip
def test_workers_have_room_on_one_node_each(nodes, cores, on_gpus, room):
    told = [{"Alive": True, "Resources": {"CPU": float(cpus), "GPU": float(gpus)}} for cpus, gpus in nodes]
    ray = types.SimpleNamespace(nodes=lambda: [*told, {"Alive": False, "Resources": {"CPU": 64.0}}])
    assert room_of_nodes(ray, cores, on_gpus=on_gpus) == room


@pytest.mark.wide
def test_signals_are_handled_as_before():
    """Ray's own handler would end the process at once, and what it has finished untold. What is printed meanwhile, as Ray does of
    workers that are lost, does not come between the results."""
    program = """
import signal
from search.cluster import connected
signal.signal(signal.SIGTERM, mine := lambda *_: None)
with connected("local", "data"):
    kept = signal.getsignal(signal.SIGTERM) is mine
    print("a worker is lost")
print(kept)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True\n" and "a worker is lost" in done.stderr
