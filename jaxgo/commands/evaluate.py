"""`jaxgo evaluate`: win rates, margins and ownership of a game record's positions, from random playouts.

The heavy imports stand inside the functions: `jaxgo --help` imports this module for its `SUMMARY`.
"""

import argparse
import json
import math
import os
import pathlib
import sys
import time
from typing import TYPE_CHECKING

from jaxgo.base.source import version
from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    import jax

    from jaxgo.commands.report import Report
    from jaxgo.playing.policies.in_order import Policies
    from jaxgo.records.record import GameRecord

SUMMARY = "win rate, margin and ownership of a game record's positions, from random playouts"

DEFAULT_PLAYOUTS = 100_000
DEFAULT_KOMI = 7.5
_INT32_MAX = 2**31 - 1
_SEED_MAX = 2**64 - 1

_DESCRIPTION = """\
Plays random games to the end from positions of an SGF game record and reports, for each position, how often Black
wins, by how much, and who ends up with each point. Without --move, --every or --all: the last position, before the
passes that closed the game.

A playout's moves are drawn uniformly from the legal moves that do not fill an own eye; area scoring; a draw counts half.
With --policy some are drawn from what a playout policy prefers instead.
"""

_EPILOG = """\
examples:
  jaxgo evaluate game.sgf                              the last position
  jaxgo evaluate game.sgf --move 30                    the position after 30 moves
  jaxgo evaluate game.sgf --every 10 --plot game.png   every tenth, with curves and the board as a picture
  jaxgo evaluate game.sgf --all --json > game.json     everything, for a program
  jaxgo evaluate --size 9 --komi 7 --playouts 1000000  the empty 9x9 board
  cat game.sgf | jaxgo evaluate -                      a record from a pipe

The result goes to stdout, progress to stderr. Ctrl-C prints what is finished and says that it is partial (status 130).
The same seed gives the same figures on every machine; the position after k moves draws from stream k, so that
--move 10 and the row 10 of --all agree.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("file", nargs="?", metavar="FILE.sgf", help="the game record; - reads it from stdin")
    parser.add_argument("--size", type=_size, metavar="N", help="evaluate the empty NxN board (2 to 25) instead of a record")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--move", type=_count(0), metavar="N", help="the position after N moves")
    which.add_argument("--every", type=_count(1), metavar="K", help="the positions after 0, K, 2K, ... moves, and the last")
    which.add_argument("--all", action="store_true", help="every position, the closing passes included")
    playouts_help = "playouts from each position (default: %(default)s)"
    parser.add_argument("--playouts", type=_count(1), default=DEFAULT_PLAYOUTS, metavar="N", help=playouts_help)
    parser.add_argument("--komi", type=_komi, metavar="K", help=f"default: the record's, else {DEFAULT_KOMI}")
    parser.add_argument("--seed", type=_count(0, _SEED_MAX), default=0, metavar="S", help="of the random numbers (default: 0)")
    parser.add_argument("--policy", metavar="P,...", help="whom playouts ask for their moves: capture:0.9, patterns, "
        "advisor:0.5:TABLE.npz, uniform; the first that has one decides (default: uniform)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document with everything instead of the tables")
    plot_help = "also draw the curves and the board (.png, .svg or .pdf; needs jaxgo[plot])"
    parser.add_argument("--plot", metavar="OUT.png", help=plot_help)
    devices_help = "JAX devices to use: cpu (all cores), cpu:0 (one core), gpu, gpu:0,gpu:1, ... (default: all there are)"
    parser.add_argument("--devices", metavar="D,...", help=devices_help)


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for; see the module's text.

    Raises:
      UsageError: the arguments or the record are no good; nothing has been computed.
    """
    if args.plot:
        from jaxgo.commands import plots

        plots.check_can_plot(args.plot)
    try:
        record, name = _record(args)
        moves = _moves(args, record)
        komi, komi_source = _komi_of(args, record)
        for remark in record.remarks:
            print(f"jaxgo evaluate: {remark}", file=sys.stderr)
        report = _evaluate(args, record, name, moves, komi, komi_source)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if args.json:
        from jaxgo.commands.report import as_document

        print(json.dumps(as_document(report, version()), allow_nan=False))
    else:
        from jaxgo.commands import tables, terminal

        terminal.print_report(report, tables.make_console())
    sys.stdout.flush()  # the figures are out before the picture can fail
    if args.plot and report.rows:
        plots.save_plot(report, args.plot)
        print(f"jaxgo: wrote {args.plot}", file=sys.stderr)
    return EXIT_DONE if report.complete else EXIT_INTERRUPTED


def _record(args: argparse.Namespace) -> tuple["GameRecord", str]:
    """The game record and its name; a record without moves for an empty board."""
    if (args.file is None) == (args.size is None):
        both = "give either a game record or --size N for an empty board, not both"
        raise UsageError(both if args.file else "give a game record, or --size N for an empty board")
    from jaxgo.records.record import GameRecord
    from jaxgo.records.sgf import read_game

    if args.size is not None:
        return GameRecord(size=args.size, moves=()), ""
    if args.file == "-":
        return read_game(sys.stdin.buffer.read()), "stdin"
    return read_game(pathlib.Path(args.file)), args.file


def _moves(args: argparse.Namespace, record: "GameRecord") -> list[int]:
    """The move numbers of the positions asked for."""
    last = len(record.moves)
    if args.move is not None:
        if args.move > last:
            raise UsageError(f"--move {args.move}: the game record has {last} moves")
        return [args.move]
    if args.all:
        return list(range(last + 1))
    # Once two passes have ended the game nothing is played: it would be scored with the dead stones on the board.
    last = record.last_in_play
    if args.every:
        return sorted({*range(0, last + 1, args.every), last})
    return [last]


def _komi_of(args: argparse.Namespace, record: "GameRecord") -> tuple[float, str]:
    """The komi and where it comes from."""
    if args.komi is not None:
        return args.komi, "option"
    return (record.komi, "file") if record.komi is not None else (DEFAULT_KOMI, "default")


def _evaluate(
    args: argparse.Namespace, record: "GameRecord", name: str, moves: list[int], komi: float, komi_source: str
) -> "Report":
    """Plays the playouts, with progress on stderr; Ctrl-C gives a report that is not complete."""
    import jax
    import numpy as np

    import jaxgo
    from jaxgo.backends.choice import backend_of, workers_of
    from jaxgo.commands import terminal
    from jaxgo.commands.report import Report, rows_of

    devices, policy = _devices(args.devices), _policy(args.policy, record.size)
    positions = record.positions()[np.array(moves)] if len(moves) > 1 else record.position(moves[0])
    clock = _Clock()
    with terminal.progress_on_stderr(len(moves) * args.playouts) as show:

        def progress(done: int, total: int) -> None:
            clock.tick(done)
            show(done, total)

        try:
            evaluation = jaxgo.evaluate(
                positions, args.playouts, komi=komi, policy=policy, seed=args.seed, streams=np.array(moves), devices=devices,
                progress=progress,
            )  # fmt: skip
            complete = True
        except jaxgo.Interrupted as interrupted:
            evaluation, complete = interrupted.partial, False
    return Report(
        name=name,
        record=record,
        komi=komi,
        komi_source=komi_source,
        policy=args.policy if policy else None,
        seed=args.seed,
        playouts=args.playouts,
        asked=len(moves),
        complete=complete,
        seconds=clock.seconds(),
        rate=clock.rate(),
        engine={"jax": jax.__version__, **backend_of(workers_of(devices)[0]).report()},
        rows=rows_of(record, moves, positions, evaluation),
    )


class _Clock:
    """Times the playouts, and tells their speed from the compiling before the first of them."""

    _LONG_ENOUGH = 1.0
    """Seconds after the first chunk from which on a speed can be told: chunks end in bunches, as many as there are cores."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._first: tuple[float, int] | None = None
        self._last = (self._start, 0)

    def tick(self, done: int) -> None:
        """Notes that `done` playouts are finished now."""
        self._last = (time.monotonic(), done)
        self._first = self._first or self._last

    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def rate(self) -> float | None:
        """Playouts per second after the first chunk; None for a run that was too short to tell."""
        if self._first is None or self._last[0] - self._first[0] < self._LONG_ENOUGH:
            return None
        return (self._last[1] - self._first[1]) / (self._last[0] - self._first[0])


def _policy(text: str | None, size: int) -> "Policies":
    """What --policy names; None where it is not given."""
    if text is None:
        return None
    from jaxgo.playing.policies.in_order import policy_of
    from jaxgo.playing.policies.named import policies_of

    try:
        return policy_of(policies_of(text), size)
    except (ValueError, OSError) as error:
        raise UsageError(f"--policy {text}: {error}") from error


def _devices(text: str | None) -> "list[jax.Device] | int | None":
    """The JAX devices that --devices names; None where it is not given."""
    if text is None:
        return None
    import jax

    from jaxgo.backends.choice import workers_of

    found = []
    for part in text.split(","):
        platform, colon, index = part.strip().partition(":")
        try:
            available = jax.devices(platform)
        except RuntimeError:
            raise UsageError(f"--devices {text}: there is no {platform!r} here; JAX has {_available()}") from None
        if not colon:
            # One CPU device uses one core for each time that it is named.
            found += available * (_num_cores() if platform == "cpu" and len(available) == 1 else 1)
        elif index.isdecimal() and int(index) < len(available):
            found.append(available[int(index)])
        else:
            raise UsageError(f"--devices {text}: there is no {part.strip()!r}; JAX has {_available()}")
    try:
        # One CPU alone would be all its cores.
        return 1 if found == jax.local_devices() and len(found) == 1 and found[0].platform == "cpu" else list(workers_of(found))
    except ValueError as error:
        raise UsageError(f"--devices {text}: {error}") from None


def _num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _available() -> str:
    """The names that --devices takes on this machine."""
    import jax

    devices = jax.devices() if jax.default_backend() == "cpu" else jax.devices() + jax.devices("cpu")
    return ", ".join(f"{device.platform}:{device.id}" for device in devices)


def _count(least: int, most: int = _INT32_MAX):
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


def _size(text: str) -> int:
    """An argument type: a board size."""
    from jaxgo.base.constants import MAX_SIZE, MIN_SIZE

    try:
        value = int(text)
    except ValueError:
        value = -1
    if not MIN_SIZE <= value <= MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{text!r} is not a board size from {MIN_SIZE} to {MAX_SIZE}")
    return value


def _komi(text: str) -> float:
    """An argument type: a finite number of points."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number of points")
    return value
