"""Arguments that the playing commands share, checked as they are read. Imports the standard library only."""

import argparse
import math
import os
import pathlib
import re
from typing import TYPE_CHECKING

from jaxgo.cli import UsageError
from jaxgo.commands.arguments import komi
from search.bots import STRONG, SUITED_POLICIES, SUMMARIES

if TYPE_CHECKING:
    from jaxgo.playing.policies.in_order import Policies

#: What of the machine's memory a program's trees may take where --memory is not given: one part in so many.
MEMORY_PARTS = 4
#: Bytes that --memory must be at least: the part of it that one search of many gets (`search.analysis.memory.LARGEST`) holds the
#: moves of any root, by any rule.
LEAST_MEMORY = 128 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LIMITS_OF_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def add_player_arguments(
    parser: argparse.ArgumentParser, visits: int, komi_by_default: str = "7.5", for_gpus: bool = True
) -> None:
    """--visits, --seconds, --leaves, --playouts-per-leaf, --komi, --seed, --cleanup, --knowledge.

    Args:
      parser: gets them.
      visits, komi_by_default: the defaults.
      for_gpus: whether rounds are larger on these, where nobody says.
    """
    parser.add_argument("--visits", type=count(1), metavar="N", help=f"playouts of each move (default: {visits:,}, or --seconds)")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="seconds for each move, compilation apart")
    what = f"leaves of a round (default: 256{'; with GPUs more, to keep them busy' if for_gpus else ''})"
    parser.add_argument("--leaves", type=count(1), metavar="N", help=what)
    what = f"playouts from each leaf (default: 8, by a policy 4{'; with GPUs more, for the host to keep up' if for_gpus else ''})"
    parser.add_argument("--playouts-per-leaf", type=count(1), metavar="K", help=what)
    parser.add_argument("--komi", type=komi, metavar="K", help=f"points for White (default: {komi_by_default})")
    parser.add_argument("--seed", type=count(0, 2**63), default=0, metavar="S", help="of the random numbers (default: 0)")
    cleanup = "capture all dead stones before passing, for rules that count what stands on the board"
    parser.add_argument("--cleanup", action=argparse.BooleanOptionalAction, default=False, help=cleanup)
    add_knowledge_argument(parser)


def add_knowledge_argument(parser: argparse.ArgumentParser) -> None:
    """--knowledge."""
    default = f"on in gtp and genmove for {' and '.join(STRONG)}, off elsewhere"
    what = f"begin in the tree with prior playouts of moves, by how likely a good player is to play them (default: {default})"
    parser.add_argument("--knowledge", action=argparse.BooleanOptionalAction, default=None, help=what)


def knowledge_of_argument(given: bool | None, bot: str) -> bool | None:
    """What --knowledge says for `jaxgo gtp` and `genmove`, where it may not be given; None for as the bot has it."""
    return True if given is None and bot in STRONG else given


def add_policy_argument(parser: argparse.ArgumentParser, *, as_bot: bool = False) -> None:
    """--policy; by default uniform, or what suits the bot."""
    suited = ", ".join(f"{policy} up to {size}x{size}" for policy, size in SUITED_POLICIES)
    default = f"for {' and '.join(STRONG)} {suited}; else uniform" if as_bot else "uniform"
    what = f"whom playouts ask for their moves: capture:0.9, patterns, ...; jaxgo evaluate --help tells (default: {default})"
    parser.add_argument("--policy", metavar="P,...", help=what)


def policy_of_argument(
    text: str | None, size: int | None = None, bot: str | None = None, *, learning: bool = False
) -> "Policies":
    """What --policy names, for `search.make_player` and `search.Search`; None where it is not given.

    Args:
      text: what was given.
      size: of the board, where it is known.
      bot: who plays, by what suits him where nothing was given.
      learning: whether it is for a bot that plays games, which teaches policies that learn, and takes what suits each board.

    Raises:
      UsageError: it names no policy, or one for other boards; imports the engine.
    """
    if text is None:
        if bot not in STRONG:
            return None
        from search.suited import Suited

        return Suited() if learning or size is None else Suited().begun(size)
    from jaxgo.base.constants import MAX_SIZE
    from jaxgo.playing.policies.in_order import begun, policy_of
    from jaxgo.playing.policies.named import policies_of

    try:
        policies = policies_of(text)
        if any(policy.learns for policy in policies):
            policy_of(begun(policies, size or MAX_SIZE) if learning else policies, size or MAX_SIZE)
            return policies
        return policies if size is None else policy_of(policies, size)
    except (ValueError, OSError) as error:
        raise UsageError(f"--policy {text}: {error}") from error


def add_memory_argument(parser: argparse.ArgumentParser) -> None:
    """--memory."""
    what = f"bytes that all trees together may take, such as 2G; at least 128M (default: 1/{MEMORY_PARTS} of the machine's)"
    parser.add_argument("--memory", type=memory, default=None, metavar="SIZE", help=what)


def bot(text: str) -> str:
    """A bot's name."""
    if text not in SUMMARIES:
        raise argparse.ArgumentTypeError(f"there is no bot {text!r}; there are: {', '.join(SUMMARIES)}")
    return text


def count(least: int, most: int = 2**31 - 1):
    """A whole number between two bounds."""

    def read(text: str) -> int:
        try:
            value = int(text.replace("_", ""))
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be between {least} and {most}, not {value}")
        return value

    return read


def memory(text: str) -> int:
    """Bytes, of a number with or without a unit: 512M, 1.5G, 2GiB, 3000000000."""
    match = re.fullmatch(r"([0-9_]*\.?[0-9]+)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"must be a size such as 512M or 2G, not {text!r}")
    # Of a number of many digits only its being too large matters.
    value = _number(match[1]) * _UNITS[match[2]]
    if not LEAST_MEMORY <= value <= 1 << 50:
        raise argparse.ArgumentTypeError(f"must be between {LEAST_MEMORY >> 20}M and {1 << 10}T, not {text!r}")
    return int(value)


def default_memory() -> int:
    """Bytes that trees may take where nobody says: a share of the machine's memory, or of the container's if that has less."""
    whole = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _LIMITS_OF_CONTAINERS:
        try:
            whole.append(int(pathlib.Path(path).read_text("ascii")))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    return max(LEAST_MEMORY, min(whole) // MEMORY_PARTS)


def seconds(text: str) -> float:
    """A positive time."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text!r}")
    return value


def folder(text: str) -> str:
    """A folder's name; what is empty is mostly a shell's variable that was not set."""
    if not text:
        raise argparse.ArgumentTypeError("must be a folder, not ''")
    return text


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, not {text!r}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}") from None
