"""Arguments that the playing commands share, checked as they are read. Imports the standard library only."""

import argparse
import math

from search.bots import SUMMARIES


def add_player_arguments(parser: argparse.ArgumentParser, visits: int) -> None:
    """--visits, --seconds, --leaves, --playouts-per-leaf, --komi, --seed, --cleanup."""
    parser.add_argument("--visits", type=count(1), metavar="N", help=f"playouts of each move (default: {visits:,}, or --seconds)")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="time for each move, compilation apart")
    parser.add_argument("--leaves", type=count(1), default=64, metavar="N", help="leaves of a round (default: %(default)s)")
    leaf_help = "playouts from each leaf (default: %(default)s)"
    parser.add_argument("--playouts-per-leaf", type=count(1), default=8, metavar="K", help=leaf_help)
    parser.add_argument("--komi", type=komi, metavar="K", help="points for White (default: the record's, else 7.5)")
    parser.add_argument("--seed", type=count(0, 2**63), default=0, metavar="S", help="of the random numbers (default: 0)")
    cleanup = "capture all dead stones before passing, for rules that count what stands on the board"
    parser.add_argument("--cleanup", action="store_true", help=cleanup)


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


def seconds(text: str) -> float:
    """A positive time."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text!r}")
    return value


def komi(text: str) -> float:
    """A finite number."""
    value = _number(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a finite number, not {text!r}")
    return value


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
