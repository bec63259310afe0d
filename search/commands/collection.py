"""`jaxgo collection`: the positions of many games evaluated, on this machine or on a Ray cluster, as Parquet tables."""

import argparse
import json
import math
import re
import signal
import sys
import time

from jaxgo.base.signals import interruptible
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from jaxgo.commands.arguments import komi
from search.bots import TREES
from search.commands import options

SUMMARY = "the positions of many games, evaluated here or on a Ray cluster, as Parquet tables"

DEFAULT_PLAYOUTS = 1_000

_DESCRIPTION = """\
Evaluates every position of every game of the inputs, variations included, by playouts, or with --bot by a tree search, and writes
Parquet tables, which pandas, polars, DuckDB and Arrow read. An input is an SGF file with one game or many, a Parquet table with
positions (columns board and to_play; the results are such tables too; rows of a game, by its name in a column game, follow each
other by ply; without that column each row stands alone), or a folder with any of them.

What is finished is kept: the same command again goes on where it was, after Ctrl-C, a crash or kill -9, and computes nothing
twice. What cannot be read is in DIR/rejects.parquet, with the reason; that is no failure (status 0), unless nothing can (1). A
result depends on the position, the settings and the seed alone: it is the same on one core, on many machines, and in any order.
"""

_EPILOG = """\
examples:
  jaxgo collection games --out results                        1,000 playouts of every position
  jaxgo collection games --out results --every 10 --playouts 100000
  jaxgo collection games --out results --bot rave --playouts 20000     a tree search of each position
  jaxgo collection games --out results --ray local            a process for each core or GPU of this machine
  jaxgo collection games --out results --ray auto             the Ray cluster that this machine is part of
  jaxgo report results --html report.html                     the biggest swings, with boards

With --ray, jaxgo of the same version must be installed on every node. Only this process reads the inputs and writes DIR, so that
nodes need no common disk. One worker has one GPU, or one core where the cluster has no GPUs. A worker or a node that dies is done
without; where it is the node of this process, Ray ends the process with status 1, and the same command goes on.

DIR/9x9/*.parquet: game, variation (0 is the main line), ply, move (the last one), black, white, result, size, to_play, over,
board, ko, passes, komi; playouts, win_rate, win_rate_error, margin (before komi), margin_stdev, length, ownership (N * N numbers,
rows from the top, 1 is Black's), moves (move, playouts, win_rate, win_rate_error, line). All rates and margins are Black's.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="an SGF file, a Parquet table or a folder of them")
    parser.add_argument("--out", type=options.folder, required=True, metavar="DIR", help="folder of the results")
    playouts = "playouts of each position (default: %(default)s)"
    parser.add_argument("--playouts", type=options.count(1), default=DEFAULT_PLAYOUTS, metavar="N", help=playouts)
    bot = f"search each position with so many playouts, by {', '.join(TREES)}"
    parser.add_argument("--bot", choices=TREES, metavar="BOT", help=bot)
    options.add_policy_argument(parser)
    every = "only positions after 0, K, 2K, ... moves, and the last in play"
    parser.add_argument("--every", type=options.count(1), default=1, metavar="K", help=every)
    moves = "only positions after A to B moves; either may be left out"
    parser.add_argument("--moves", type=_moves, default=(0, None), metavar="A:B", help=moves)
    parser.add_argument("--komi", type=komi, metavar="K", help="points for White (default: each record's, else 7.5)")
    parser.add_argument("--seed", type=options.count(0, 2**63), default=0, metavar="S", help="of the random numbers (default: 0)")
    best = "moves that are told of in each position (default: %(default)s)"
    parser.add_argument("--best", type=options.count(0, 626), default=5, metavar="N", help=best)
    batch = "positions of a part, which is written at once (default: as many as take seconds)"
    parser.add_argument("--batch", type=options.count(1, 1 << 16), metavar="N", help=batch)
    ray = "use a Ray cluster: auto, the address of its head node, or local for one on this machine alone"
    parser.add_argument("--ray", metavar="ADDRESS", help=ray)
    workers = "workers on the cluster, or cores without --ray (default: all)"
    parser.add_argument("--workers", type=options.count(1, 1 << 16), metavar="W", help=workers)
    parser.add_argument("--json", action="store_true", help="print what has been done as one JSON document")


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for. Ctrl-C and SIGTERM leave what is finished."""
    _check_arrow()
    from search.collection.inputs import NoInput, files_of
    from search.collection.settings import Settings
    from search.collection.store import Store, Unusable

    settings = Settings(
        playouts=args.playouts, bot=args.bot, policy=args.policy, seed=args.seed, komi=args.komi, every=args.every,
        first_move=args.moves[0], last_move=args.moves[1], best=args.best, batch=args.batch,
    )  # fmt: skip
    from search.collection.playing import policies_named
    from search.collection.running import Run

    try:
        policies_named(args.policy)
    except ValueError as error:
        raise UsageError(f"--policy {args.policy}: {error}") from error
    try:
        with interruptible(signal.SIGTERM):
            files = files_of(args.inputs, args.out)  # before a folder is made for what they hold
            with Store(args.out, settings) as store:
                return _bring_to_end(args, Run(files, settings, store, args.out))
    except (NoInput, Unusable) as error:
        raise UsageError(str(error)) from error


def _bring_to_end(args: argparse.Namespace, work) -> int:
    """Does what is left, and says how far it has come."""
    from jaxgo.commands.progress import shown
    from search.cluster import ClusterError
    from search.collection.inputs import Changed
    from search.collection.store import Unwritable

    status, trouble, start = EXIT_DONE, "", time.monotonic()
    if work.standing.parts_done:
        _say(f"{args.out} holds {work.standing.done:,} of {work.standing.positions:,} positions; going on")
    try:
        if not work.standing.complete:
            with shown("jaxgo collection", work.standing.positions, "beginning") as show:
                _evaluate(args, work, lambda standing, under_way: _show(show, standing, under_way / args.playouts, args.playouts))
    except KeyboardInterrupt:
        status, trouble = EXIT_INTERRUPTED, "interrupted"
    except (ClusterError, Changed, Unwritable) as error:
        status, trouble = EXIT_FAILED, str(error)
    try:
        work.end()
    except Unwritable as error:
        status, trouble = status or EXIT_FAILED, trouble or str(error)
    _tell(args, work.standing, trouble, time.monotonic() - start)
    nothing = work.standing.complete and work.standing.rejects and not work.standing.done
    return EXIT_FAILED if nothing and status == EXIT_DONE else status


def _evaluate(args: argparse.Namespace, work, show) -> None:
    if args.ray is None:
        work.embedded(args.workers, show)
        return
    from search.collection.cluster import connected

    with connected(args.ray) as cluster:
        workers = min(args.workers or cluster.devices, cluster.devices)
        kind = "GPU" if cluster.gpus else "core"
        _say(f"{workers} worker{'s' * (workers > 1)} of one {kind} each")
        work.on_cluster(cluster, workers, show)


def _tell(args: argparse.Namespace, standing, trouble: str, seconds: float) -> None:
    """What has come of it, in words or as a document."""
    if args.json:
        print(json.dumps({
            "out": args.out, "complete": standing.complete, "positions": standing.positions, "done": standing.done,
            "here": standing.here, "parts": standing.parts, "parts_done": standing.parts_done, "rejects": len(standing.rejects),
            "seconds": seconds, "rate": standing.rate(), "trouble": trouble or None,
            "workers": {name: {"positions": count, "seconds": taken} for name, (count, taken) in standing.workers.items()},
        }))  # fmt: skip
    if trouble:
        _say(f"{trouble}; {standing.done:,} of about {standing.positions:,} positions are finished; the same command goes on")
    elif standing.rejects and not standing.done:
        _say("the inputs hold no position that could be evaluated")
    elif standing.workers:  # something was done
        _say(f"{standing.done:,} positions; this run took {seconds:.1f} s, compiling included{_speed(standing, args.playouts)}")
    else:
        _say(f"all {standing.done:,} positions were finished")
    if standing.rejects:
        first, count = standing.rejects[0], len(standing.rejects)
        what = f"{count:,} could not be read, or not to the end, see {args.out}/rejects.parquet"
        _say(f"{what}; the first: {first.game}: {first.words}")


def _show(show, standing, under_way: float, playouts: int) -> None:
    """How far it is: `under_way` are the positions' worth of playouts that are made of the parts under way."""
    done = standing.done + under_way
    total = max(standing.positions, math.ceil(done))  # which is known only about, until all is read
    show(done, total, lambda: f"{done:,.0f} of {total:,} positions{_speed(standing, playouts)}")


def _speed(standing, playouts: int) -> str:
    """Speeds, and the time that is left."""
    from jaxgo.commands.progress import time_left

    rate, of_worker, left = standing.rate(), standing.rate_of_worker(), standing.seconds_left()
    text = f", {rate:,.1f} positions/s" if rate else ""
    if of_worker:
        text += f", {of_worker * playouts:,.0f} playouts/s a worker"
    return f"{text}, {time_left(left)}" if left else text


def _check_arrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise UsageError(f"tables need pyarrow: pip install 'jaxgo[cluster]' ({error})") from error


def _moves(text: str) -> tuple[int, int | None]:
    """A, B of A:B; what is left out is the first or the last."""
    match = re.fullmatch(r"([0-9]*):([0-9]*)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must be two numbers of moves such as 10:60, 10: or :60, not {text!r}")
    first, last = int(match[1] or 0), int(match[2]) if match[2] else None
    if last is not None and last < first:
        raise argparse.ArgumentTypeError(f"must not end before it begins, as {text!r} does")
    return first, last


def _say(text: str) -> None:
    print(f"jaxgo collection: {text}", file=sys.stderr, flush=True)
