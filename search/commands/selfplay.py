"""`jaxgo selfplay`: games of a bot against itself or another, as SGF records with evaluations."""

import argparse
import os
import pathlib
import sys
import time

from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import options

SUMMARY = "games of bots against each other, as SGF records with evaluations"

DEFAULT_VISITS = 2_000

_EPILOG = f"""\
{bots.listing()}
examples:
  jaxgo selfplay --size 9 --output games              a game of RAVE against itself, games/0001.sgf
  jaxgo selfplay --black rave --white uct --games 10 --output match
  jaxgo selfplay --size 5 --output -                  one record to stdout
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Plays games and writes one SGF record each, with win rates and variations as comments."
    parser.epilog = _EPILOG
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N", help="of the board (default: %(default)s)")
    parser.add_argument("--black", type=options.bot, default="rave", metavar="BOT", help="see below (default: %(default)s)")
    parser.add_argument("--white", type=options.bot, default="rave", metavar="BOT", help="see below (default: %(default)s)")
    parser.add_argument("--games", type=options.count(1), default=1, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--output", default="-", metavar="DIR", help="folder of the records; - writes them to stdout (default)")
    resign = "resign below this win rate, 0 to 1 (default: %(default)s, never)"
    parser.add_argument("--resign", type=options.fraction, default=0.0, metavar="RATE", help=resign)
    options.add_player_arguments(parser, DEFAULT_VISITS)


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for. Ctrl-C keeps the games that are finished."""
    folder = None if args.output == "-" else pathlib.Path(args.output)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the folder {args.output!r} cannot be made: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise UsageError(f"the folder {args.output!r} cannot be written to")
    from jaxgo import Position
    from search.choice import Limits
    from search.players import make_player
    from search.selfplay import as_sgf, play_game

    komi = 7.5 if args.komi is None else args.komi
    visits = DEFAULT_VISITS if args.visits is None and args.seconds is None else args.visits
    limits, start, done = Limits(visits=visits, seconds=args.seconds), time.monotonic(), 0
    try:
        for number in range(1, args.games + 1):
            players = [
                make_player(
                    bot, komi=komi, seed=args.seed + 2 * number + i, cleanup=args.cleanup, resign=args.resign,
                    leaves=args.leaves, playouts_per_leaf=args.playouts_per_leaf,
                )
                for i, bot in enumerate((args.black, args.white))
            ]  # fmt: skip
            if number == 1:
                try:
                    for player in players:
                        player.compile(args.size)
                except ValueError as error:
                    raise UsageError(str(error)) from error

            def show(game, choice, number=number):
                if sys.stderr.isatty():
                    print(f"\rgame {number} of {args.games}: move {len(game.moves)} ", end="", file=sys.stderr, flush=True)

            played = play_game(*players, Position.empty(args.size), limits, komi=komi, on_move=show)
            data = as_sgf(played, args.black, args.white)
            done += 1
            left = (time.monotonic() - start) / done * (args.games - done)
            where = "stdout"
            if folder is None:
                sys.stdout.buffer.write(data + b"\n")
                sys.stdout.flush()
            else:
                where = str(folder / f"{number:04d}.sgf")
                pathlib.Path(where).write_bytes(data)
            moves = len(played.game.moves)
            print(f"\rgame {number}: {played.result}, {moves} moves, {where}; {left:.0f} s left", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"\njaxgo selfplay: interrupted; {done} of {args.games} games are finished", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_DONE
