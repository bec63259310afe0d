"""`jaxgo genmove`: a bot's move in a position of a game record, and why."""

import argparse
import json
import math
import pathlib
import signal
import sys
import time

from jaxgo.base.signals import handled
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import options

SUMMARY = "a bot's move in a position of a game record, with its tree's statistics"

DEFAULT_VISITS = 20_000

_EPILOG = f"""\
{bots.listing()}
examples:
  jaxgo genmove game.sgf                               RAVE, {DEFAULT_VISITS:,} playouts, in the last position
  jaxgo genmove game.sgf --move 20 --bot uct --visits 100000
  jaxgo genmove game.sgf --seconds 5 --heatmap         where the search looks
  jaxgo genmove game.sgf --plot map.png --json         a picture, and everything for a program
  jaxgo genmove --size 9                               the first move on 9x9
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Chooses a move in the last position of a game record, before the passes that closed the game."
    parser.epilog = _EPILOG
    parser.add_argument("file", nargs="?", metavar="FILE.sgf", help="the game record; - reads it from stdin")
    parser.add_argument("--size", type=options.count(2, 25), metavar="N", help="the empty NxN board instead of a record")
    parser.add_argument("--move", type=options.count(0), metavar="N", help="the position after N moves")
    parser.add_argument("--bot", type=options.bot, default="rave", metavar="NAME", help="see below (default: rave)")
    options.add_player_arguments(parser, DEFAULT_VISITS, "the record's, else 7.5")
    options.add_policy_argument(parser, as_bot=True)
    options.add_memory_argument(parser)
    parser.add_argument("--heatmap", action="store_true", help="print the board with a digit for how each move is liked")
    parser.add_argument("--plot", metavar="OUT.png", help="draw it (.png, .svg or .pdf; needs jaxgo[plot])")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for.

    Raises:
      UsageError: the arguments or the record are no good; nothing has been computed.
    """
    if (args.file is None) == (args.size is None):
        raise UsageError("give a game record, or --size N for an empty board" + (", not both" if args.file else ""))
    picture = None
    if args.plot is not None:
        from jaxgo.commands.plots import places_of

        (picture,) = places_of(args.plot, [args.file or ""])
    from search.choice import Limits
    from search.players import make_player

    visits = DEFAULT_VISITS if args.visits is None and args.seconds is None else args.visits
    try:
        game = _game(args)
        player = make_player(
            args.bot, komi=game.komi, seed=args.seed, cleanup=args.cleanup,
            knowledge=options.knowledge_of_argument(args.knowledge, args.bot), leaves=args.leaves,
            playouts_per_leaf=args.playouts_per_leaf, visits=visits, memory=args.memory or options.default_memory(),
            policy=options.policy_of_argument(args.policy, game.size, args.bot, learning=True),
        )  # fmt: skip
        limits = Limits(visits=visits, seconds=args.seconds)
        if game.over:
            raise UsageError("the game is over: two passes have ended it; choose another position with --move")
        player.compile(game.size)
    except ValueError as error:
        raise UsageError(str(error)) from error
    start, interrupted = time.perf_counter(), list[int]()  # no `threading.Event`: another Ctrl-C within its `set` would hang
    # Ctrl-C ends the thinking, not the command: the move is chosen from what there is.
    with handled(lambda number, _: interrupted.append(number), signal.SIGINT):
        choice = player.genmove(game.position, game.history, limits, _Progress(limits), lambda: bool(interrupted))
    _report(args, game, choice, time.perf_counter() - start)
    sys.stdout.flush()  # the move is out before a file can fail
    drawn = picture is None or _draw(args.bot, game, choice, picture)
    if interrupted:
        print(f"jaxgo genmove: interrupted after {choice.playouts:,} playouts", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_DONE if drawn else EXIT_FAILED


class _Progress:
    """Says on stderr, every two seconds, how far the thinking has come."""

    def __init__(self, limits):
        self._limits, self._start, self._said = limits, time.monotonic(), time.monotonic()

    def __call__(self, playouts: int) -> None:
        now = time.monotonic()
        if now - self._said < 2:
            return
        self._said, passed = now, now - self._start
        rate = playouts / passed
        left = [(self._limits.visits - playouts) / rate] if self._limits.visits else []
        left += [self._limits.seconds - passed] if self._limits.seconds else []
        text = f"{playouts:,} playouts, {rate:,.0f} playouts/s, {max(0, min(left)):.0f} s left"
        print(f"jaxgo genmove: {text}", file=sys.stderr)


def _game(args: argparse.Namespace):
    """The game up to the position asked for."""
    from jaxgo import Position
    from jaxgo.records.sgf import read_game
    from search.game import Game

    if args.size is not None:
        if args.move:
            raise UsageError("--move is for game records, not for an empty board")
        return Game(Position.empty(args.size), 7.5 if args.komi is None else args.komi)
    record = read_game(sys.stdin.buffer.read() if args.file == "-" else pathlib.Path(args.file))
    last = record.last_in_play if args.move is None else args.move
    if last > len(record.moves):
        raise UsageError(f"--move must be at most {len(record.moves)}, the record's number of moves, not {last}")
    for remark in record.remarks:
        print(f"jaxgo genmove: {remark}", file=sys.stderr)
    komi = args.komi if args.komi is not None else record.komi if record.komi is not None else 7.5
    return Game.of_record(record, last, komi)


def _values(game, choice):
    """float64 [P]: what a picture shows of each point, NaN for nothing."""
    import numpy as np

    from search.root import RootStatistics

    points = game.size**2
    if not isinstance(choice.statistics, RootStatistics):
        return choice.values[:points]
    return np.where(choice.visits[:points] > 0, choice.visits[:points].astype(np.float64), np.nan)


def _draw(bot: str, game, choice, picture: pathlib.Path) -> bool:
    """Draws the move and what it rests on; whether that could be written."""
    from jaxgo.board.coordinates import coordinate
    from jaxgo.commands.board_picture import position_title
    from jaxgo.commands.extras import written
    from jaxgo.commands.report import move_text
    from search import heatmap

    last: tuple[int, int] | None = game.moves[-1] if game.moves else None
    where = position_title(len(game.moves), move_text(*last, game.size) if last else "", game.to_play)
    title = f"{where}: {coordinate(choice.move, game.size)} ({bot}, {choice.playouts:,} playouts)"
    point, values = last[1] if last else None, _values(game, choice)
    return written(picture, lambda path: heatmap.save_picture(game.position, values, choice.move, path, title, point))


def _report(args: argparse.Namespace, game, choice, seconds: float) -> None:
    """Prints the move and what it rests on."""
    import numpy as np

    from jaxgo.board.coordinates import coordinate
    from search import heatmap
    from search.root import RootStatistics

    name = coordinate(choice.move, game.size)
    order = sorted(np.flatnonzero(choice.visits > 0), key=lambda m: (-choice.visits[m], m))
    if args.json:
        document = {
            "move": name, "bot": args.bot, "size": game.size, "komi": game.komi, "seed": args.seed,
            "to_play": "black" if game.to_play == 1 else "white", "win_rate": _plain(choice.win_rate),
            "playouts": choice.playouts, "seconds": round(seconds, 3),
            "variation": [coordinate(p, game.size) for p in choice.variation],
            "moves": [{"move": coordinate(int(m), game.size), "visits": float(choice.visits[m]),
                       "win_rate": _plain(choice.values[m])} for m in order],
        }  # fmt: skip
        if isinstance(choice.statistics, RootStatistics):
            document |= {"root": choice.statistics.as_json(lambda p: coordinate(p, game.size))}
        print(json.dumps(document, allow_nan=False))
        return
    print(f"{'Black' if game.to_play == 1 else 'White'} plays {name}")
    if choice.playouts:
        wins = "no playouts through it" if math.isnan(choice.win_rate) else f"wins {100 * choice.win_rate:.1f} % of its playouts"
        print(f"{wins}; {choice.playouts:,} playouts in {seconds:.2f} s")
    if len(order):
        print("expected: " + " ".join(coordinate(p, game.size) for p in choice.variation))
        print(f"\n{'move':>6} {'visits':>10} {'wins':>7}")
        for m in order[:8]:
            print(f"{coordinate(int(m), game.size):>6} {choice.visits[m]:>10,.0f} {100 * choice.values[m]:>6.1f}%")
    if args.heatmap:
        what = "visits" if isinstance(choice.statistics, RootStatistics) else "values"
        print(f"\n{what}, 9 the most:\n{heatmap.as_text(game.position, _values(game, choice))}")


def _plain(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else float(value)
