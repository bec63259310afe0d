"""Types of the command's arguments, checked as they are read, and what --devices and --policy name.

The heavy imports stand inside the functions: `jaxgo --help` imports this module.
"""

import argparse
import functools
import math
from typing import TYPE_CHECKING

from jaxgo.base.constants import INT32_MAX, MAX_SIZE, MIN_SIZE, MOST_KOMI
from jaxgo.base.processor import usable_cores
from jaxgo.cli import UsageError

if TYPE_CHECKING:
    import jax

    from jaxgo.playing.policies.in_order import Policies

SEED_MAX = 2**64 - 1


def count(least: int, most: int = INT32_MAX):
    """An argument type: a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        try:
            value = int(text.replace("_", "").replace(",", ""))
        except ValueError:
            value = -1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return value

    return parse


def size(text: str) -> int:
    """An argument type: a board size."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not MIN_SIZE <= value <= MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{text!r} is not a board size from {MIN_SIZE} to {MAX_SIZE}")
    return value


def komi(text: str) -> float:
    """An argument type: a number of points."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= MOST_KOMI:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from -{MOST_KOMI:,.0f} to {MOST_KOMI:,.0f}")
    return value


def moves(text: str) -> tuple[str, ...]:
    """An argument type: names of at least two moves, such as D4,E5,pass."""
    names = tuple(name.strip() for name in text.split(","))
    if len(names) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} does not name two or more moves, such as D4,E5")
    return names


@functools.cache
def policy_for(text: str | None, board_size: int) -> "Policies":
    """What --policy names, for boards of a size; None where it is not given."""
    if text is None:
        return None
    from jaxgo.playing.policies.in_order import policy_of
    from jaxgo.playing.policies.named import policies_of

    try:
        return policy_of(policies_of(text), board_size)
    except (ValueError, OSError) as error:
        raise UsageError(f"--policy {text}: {error}") from error


def devices(text: str | None) -> "list[jax.Device] | int | None":
    """The JAX devices that --devices names; None where it is not given."""
    if text is None:
        return None
    import jax

    from jaxgo.backends.choice import workers_of

    found = []
    for part in text.split(","):
        platform, colon, index = part.strip().partition(":")
        if not platform:
            raise UsageError(f"--devices {text}: a name is missing; JAX has {_available()}")
        try:
            available = jax.devices(platform)
        except RuntimeError:
            raise UsageError(f"--devices {text}: there is no {platform!r} here; JAX has {_available()}") from None
        if not colon:
            # One CPU device uses one core for each time that it is named.
            found += available * (len(usable_cores()) if platform == "cpu" and len(available) == 1 else 1)
        elif index.isdecimal() and int(index) < len(available):
            found.append(available[int(index)])
        else:
            raise UsageError(f"--devices {text}: there is no {part.strip()!r}; JAX has {_available()}")
    try:
        # One CPU alone would be all its cores.
        return 1 if found == jax.local_devices() and len(found) == 1 and found[0].platform == "cpu" else list(workers_of(found))
    except ValueError as error:
        raise UsageError(f"--devices {text}: {error}") from None


def _available() -> str:
    """The names that --devices takes on this machine."""
    import jax

    found = jax.devices() if jax.default_backend() == "cpu" else jax.devices() + jax.devices("cpu")
    return ", ".join(f"{device.platform}:{device.id}" for device in found)
