"""`jaxgo selfplay`: games of a bot against itself or another, as SGF records with evaluations."""

import argparse
import contextlib
import os
import pathlib
import re
import sys
import time
from collections.abc import Iterator

from jaxgo.base import files, source
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import options

SUMMARY = "games of bots against each other, as SGF records with evaluations"

DEFAULT_VISITS = 2_000

_EPILOG = f"""\
{bots.listing()}
A folder that holds records already keeps them: numbers, and with them the random numbers, go on after the last one. So the same
command again adds games, also after an interruption.

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
    output = "folder of the records; - writes them to stdout (default)"
    parser.add_argument("--output", type=options.folder, default="-", metavar="DIR", help=output)
    resign = "resign below this win rate, 0 to 1 (default: %(default)s, never)"
    parser.add_argument("--resign", type=options.fraction, default=0.0, metavar="RATE", help=resign)
    options.add_player_arguments(parser, DEFAULT_VISITS)
    options.add_policy_argument(parser)
    options.add_memory_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for. Ctrl-C keeps the games that are finished."""
    with contextlib.ExitStack() as held:
        folder = None if args.output == "-" else held.enter_context(_taken(_folder(args.output)))
        return _play_all(args, folder)


def _play_all(args: argparse.Namespace, folder: pathlib.Path | None) -> int:
    """Plays the games, into a folder or to stdout; the exit status."""
    first = 1 if folder is None else _last_number(folder) + 1
    if first > 1:
        print(f"jaxgo selfplay: {args.output} holds records; going on with {first:04d}.sgf", file=sys.stderr)
    start, done = time.monotonic(), 0
    try:
        for number in range(first, first + args.games):
            played, data = _play(args, number, f"game {done + 1} of {args.games}")
            where = "stdout"
            if folder is None:
                sys.stdout.buffer.write(data + b"\n")
                sys.stdout.flush()
            else:
                where = _write(folder, number, data)
            done += 1
            left = (time.monotonic() - start) / done * (args.games - done)
            remark = f" ({played.ending}: {played.remark})" if played.remark else ""
            text = f"game {done}: {played.result}{remark}, {len(played.game.moves)} moves, {where}; {left:.0f} s left"
            print(_over_progress(text), file=sys.stderr)
    except KeyboardInterrupt:
        print(_over_progress(f"jaxgo selfplay: interrupted; {done} of {args.games} games are finished"), file=sys.stderr)
        return EXIT_INTERRUPTED
    except OSError as error:
        if folder is None:  # a reader that has gone away is the caller's
            raise
        print(_over_progress(f"jaxgo selfplay: a record cannot be written to {args.output!r}: {error.strerror}"), file=sys.stderr)
        return EXIT_FAILED
    return EXIT_DONE


def _play(args: argparse.Namespace, number: int, what: str):
    """Plays a game; returns it and its record."""
    from jaxgo import Position
    from search.choice import Limits
    from search.game import Game
    from search.players import make_player
    from search.selfplay import Limited, as_sgf, play_game, seed_of

    komi = 7.5 if args.komi is None else args.komi
    visits = DEFAULT_VISITS if args.visits is None and args.seconds is None else args.visits
    limits = Limits(visits=visits, seconds=args.seconds)
    seeds = [seed_of(args.seed, number, i) for i in range(2)]
    memory, movers = (args.memory or options.default_memory()) // 2, []
    policy = options.policy_of_argument(args.policy, args.size, learning=True)
    try:
        for bot, seed in zip((args.black, args.white), seeds):
            player = make_player(
                bot, komi=komi, seed=seed, cleanup=args.cleanup, resign=args.resign, knowledge=args.knowledge,
                leaves=args.leaves, playouts_per_leaf=args.playouts_per_leaf, visits=visits, memory=memory, policy=policy,
            )  # fmt: skip
            player.compile(args.size)
            movers.append(Limited(player, limits))
    except ValueError as error:
        raise UsageError(str(error)) from error

    def show(game, _):
        if sys.stderr.isatty():
            print(f"\r{what}: move {len(game.moves)} ", end="", file=sys.stderr, flush=True)

    black, white = movers
    played = play_game(black, white, Game(Position.empty(args.size), komi), on_move=show)
    return played, as_sgf(played, args.black, args.white, _conditions(args, limits, number, seeds))


def _conditions(args: argparse.Namespace, limits, number: int, seeds: list[int]) -> str:
    """What it takes to play the game again."""
    from jaxgo.backends.choice import workers_of
    from jaxgo.playing.policies.in_order import asks
    from search.players import rule_of
    from search.round_size import for_visits, suited
    from search.tree_needs import needs_histories

    by_policy = asks(options.policy_of_argument(args.policy, args.size, learning=True))
    workers = for_visits(limits.visits, workers_of(None))
    rounds = [
        suited(args.size, workers, args.leaves, args.playouts_per_leaf, policy=by_policy, histories=needs_histories(rule_of(bot)))
        for bot in dict.fromkeys((args.black, args.white)) if bot in bots.TREES
    ]  # fmt: skip
    return "\n".join(
        [
            f"{limits}"
            + "".join(f", {x.leaves} leaves of {x.playouts} playouts a round" for x in dict.fromkeys(rounds))
            + (f", policy {args.policy}" if args.policy else "")
            + ("" if args.knowledge is None else f", {'with' if args.knowledge else 'without'} knowledge")
            + (", cleanup" if args.cleanup else "") + (f", resignation below {args.resign:g}" if args.resign else ""),
            f"game {number} of seed {args.seed}: Black's seed {seeds[0]}, White's {seeds[1]}",
            f"jaxgo {source.version()}{source.in_words(source.commit())}",
        ]
    )  # fmt: skip


def _folder(path: str) -> pathlib.Path:
    """The folder of the records, made if need be."""
    folder = pathlib.Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {path!r} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"the folder {path!r} cannot be written to")
    return folder


@contextlib.contextmanager
def _taken(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folder, for this run alone: two at a time would play the same games.

    Raises:
      UsageError: another run has it.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # it cannot be listed
        yield folder
        return
    try:
        if not files.take(descriptor):
            raise UsageError(f"the folder {str(folder)!r} is in use by another run, which plays the same games")
        yield folder
    finally:
        os.close(descriptor)


def _last_number(folder: pathlib.Path) -> int:
    """The number of the last record in a folder, 0 without any."""
    records = [path for path in folder.glob("*.sgf") if re.fullmatch(r"[0-9]{4,}", path.stem)]
    return max((int(path.stem) for path in records if not _was_begun_only(path)), default=0)


def _was_begun_only(path: pathlib.Path) -> bool:
    """Whether a record is empty, by a run that was killed just then; it makes room for the game that was to be there."""
    empty = path.is_file() and not path.stat().st_size
    if empty:
        path.unlink()
    return empty


def _write(folder: pathlib.Path, number: int, data: bytes) -> str:
    """Writes a record under the first free number from this one on: another program may be writing to the folder too."""
    while True:
        path = folder / f"{number:04d}.sgf"
        try:
            file = path.open("xb")
        except FileExistsError:
            number += 1
            continue
        try:
            with file:
                file.write(data)
        except BaseException:  # a full disk, or Ctrl-C: no record is left that is none
            path.unlink()
            raise
        return str(path)


def _over_progress(text: str) -> str:
    """A line that takes the place of the progress in a terminal."""
    return f"\r\x1b[K{text}" if sys.stderr.isatty() else text
