"""Commands on a real Ray cluster of this machine, and the processes that belong to them."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

#: Ray keeps a token in the user's home otherwise; these clusters are this machine's alone.
ENVIRONMENT = os.environ | {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
#: In the command line of a node's own process.
RAYLET = "raylet/raylet"


def processes(name: str) -> list[int]:
    """The processes whose command lines begin with or run this."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if name in command.split(" --")[0] and "defunct" not in command:
                found.append(int(path.name))
        except OSError:  # it has ended
            continue
    return found


def below(process: int, name: str) -> list[int]:
    """Those that a process has started, itself or by others."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue

    def is_below(other: int | None) -> bool:
        return other is not None and (other == process or is_below(parents.get(other)))

    return [other for other in processes(name) if is_below(other)]


def start(arguments: list[str]) -> subprocess.Popen:
    """Starts `jaxgo`, a group of processes of its own."""
    command = [sys.executable, "-m", "jaxgo", *arguments]
    return subprocess.Popen(
        command, env=ENVIRONMENT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_until(true: Callable[[], object], process: subprocess.Popen, seconds: float = 300) -> bool:
    """Waits; whether it came to be before the process ended."""
    deadline = time.monotonic() + seconds
    while not true():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.02)
    return True


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def start_two_nodes(started: list[subprocess.Popen]) -> str:
    """Starts two nodes of one core each on this machine, whose processes are added to a list; the cluster's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ray = [str(pathlib.Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus", "1"]
    ray += ["--node-ip-address", "127.0.0.1"]
    for where in (["--head", "--port", address.rpartition(":")[2], "--include-dashboard=false"], ["--address", address]):
        started.append(subprocess.Popen([*ray, *where], env=ENVIRONMENT, start_new_session=True, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL))  # fmt: skip
        wait_until(lambda: below(started[-1].pid, RAYLET), started[-1])
        time.sleep(5)
    return address


def end_all(started: list[subprocess.Popen]) -> None:
    """Ends processes, with all that they have started."""
    for process in started:
        for other in below(process.pid, ""):
            kill(other)
        process.wait()
