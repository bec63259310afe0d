"""How many of this process's programs want each device, so that those that go on for long make room for others.

A CPU's programs are run by threads of XLA's, one for each core or simulated device, which all devices of the CPU share; other
devices run one program after the other.
"""

import collections
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from jaxgo.base.processor import usable_cores

_counts: collections.Counter[Any] = collections.Counter()
_counting = threading.Lock()


def count(device: jax.Device, more: int) -> None:
    """Counts programs that begin (1) or end (-1)."""
    with _counting:
        _counts[_line_of(device)] += more


@contextlib.contextmanager
def on(devices: Sequence[jax.Device]) -> Iterator[None]:
    """Counts a program while it runs."""
    for device in devices:
        count(device, 1)
    try:
        yield
    finally:
        for device in devices:
            count(device, -1)


def number(device: jax.Device) -> int:
    """Of the programs at work there; if it is more than `side_by_side`, some wait."""
    return _counts[_line_of(device)]


def side_by_side(device: jax.Device) -> int:
    """How many programs run there at a time."""
    if device.platform != "cpu":
        return 1
    return max(len(usable_cores()), device.client.local_device_count())


def _line_of(device: jax.Device) -> Any:
    """What stands for all devices whose programs wait for each other."""
    return device.client if device.platform == "cpu" else device
