"""`jaxgo evaluate`: win rates, margins and ownership of game records' positions, from random playouts.

The heavy imports stand inside the functions: `jaxgo --help` imports this module for its `SUMMARY`.
"""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxgo.base.signals import interruptible
from jaxgo.base.source import version
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from jaxgo.commands import arguments

if TYPE_CHECKING:
    from jaxgo.commands.asked import Asked
    from jaxgo.commands.extras import Extras
    from jaxgo.commands.playing import How
    from jaxgo.commands.report import Report

SUMMARY = "win rate, margin and ownership of game records' positions, from random playouts"

DEFAULT_PLAYOUTS = 100_000

_DESCRIPTION = """\
Plays random games to the end from positions of SGF game records and reports, for each position, how often Black
wins, by how much, and who ends up with each point. Without --move, --every or --all: the last position, before the
passes that closed the game. After those passes the score counts, without the stones that playouts call dead.

A playout's moves are drawn uniformly from the legal moves that do not fill an own eye; area scoring; a draw counts half.
With --policy some are drawn from what a playout policy prefers instead.
"""

_EPILOG = """\
examples:
  jaxgo evaluate game.sgf                              the last position
  jaxgo evaluate game.sgf --move 30                    the position after 30 moves
  jaxgo evaluate game.sgf --every 10 --plot game.png   every tenth, with curves and the board as a picture
  jaxgo evaluate games/ more/*.sgf                     many games, the last position of each
  jaxgo evaluate games/ --all --json > games.jsonl     everything, for a program: a line for each game
  jaxgo evaluate game.sgf --mistakes 5 --sgf out.sgf   the moves that lost most; the game with figures and marks
  jaxgo evaluate game.sgf --mistakes 5 --judge search  the same as a tree search sees them
  jaxgo evaluate game.sgf --move 30 --compare D4,E5    two moves with the same random numbers
  jaxgo evaluate game.sgf --all --playouts 10000000 --resume game.npz     goes on where it was interrupted
  jaxgo evaluate --size 9 --komi 7 --playouts 1000000  the empty 9x9 board
  cat game.sgf | jaxgo evaluate -                      a record from a pipe

--policy names policies, asked in this order, with commas between them; Q and P are probabilities, by default 1:
  capture:Q                 captures
  nakade:P                  the vital point of a small eye space
  patterns:P                MoGo's order: save from atari, 3x3 patterns around the last move, captures there; or some of
                            these parts, as in patterns:0.8:match or patterns:1:save/capture
  no-self-atari:P           what follows it passes over self-ataris
  mercy:STONES              ends playouts in which one side has so many stones more
  advisor:P:TABLE.npz       what a table has learnt, and likewise replies:P:REPLIES.npz
  uniform                   the last, where no other has a move; it may be left out

The result goes to stdout, progress to stderr. Ctrl-C or SIGTERM prints what is finished and says that it is partial (status
130). Of several records those that cannot be read are told and left out (status 1). A record is read up to the first move that
is illegal.
The same seed gives the same figures on every machine; the position after k moves draws from stream k, so that
--move 10 and the row 10 of --all agree, whichever other games are asked about.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    files_help = "game records, and folders of them; - reads one from stdin"
    parser.add_argument("files", nargs="*", metavar="FILE.sgf", help=files_help)
    size_help = "evaluate the empty NxN board (2 to 25) instead of a record"
    parser.add_argument("--size", type=arguments.size, metavar="N", help=size_help)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--move", type=arguments.count(0), metavar="N", help="the position after N moves")
    every_help = "the positions after 0, K, 2K, ... moves, and the last"
    which.add_argument("--every", type=arguments.count(1), metavar="K", help=every_help)
    which.add_argument("--all", action="store_true", help="every position, the closing passes included")
    playouts_help = "playouts from each position (default: %(default)s)"
    parser.add_argument("--playouts", type=arguments.count(1), default=DEFAULT_PLAYOUTS, metavar="N", help=playouts_help)
    komi = "points for White, those included that rules may give for handicap stones (default: the record's komi, else 7.5)"
    parser.add_argument("--komi", type=arguments.komi, metavar="K", help=komi)
    seed_help = "of the random numbers (default: 0)"
    parser.add_argument("--seed", type=arguments.count(0, arguments.SEED_MAX), default=0, metavar="S", help=seed_help)
    parser.add_argument("--policy", metavar="P,...", help="whom playouts ask for their moves, see below (default: "
        "uniform)")  # fmt: skip
    mistakes_help = "also the N moves of the game that lost most, and what was better; takes about as long as --all"
    parser.add_argument("--mistakes", type=arguments.count(1), metavar="N", help=mistakes_help)
    judge_help = "who finds the mistakes: playouts, or the search, which sees what needs an answer (default: playouts)"
    parser.add_argument("--judge", metavar="J", help=judge_help)
    compare_help = "also hold moves of the position against each other, with common random numbers"
    parser.add_argument("--compare", type=arguments.moves, metavar="D4,E5,...", help=compare_help)
    json_help = "print one JSON document with everything instead of the tables; for several games one a line"
    parser.add_argument("--json", action="store_true", help=json_help)
    sgf_help = "also write the game with figures, win rates (SBKV) and marks of ownership (TB, TW); for several games a folder"
    parser.add_argument("--sgf", metavar="OUT.sgf", help=sgf_help)
    plot_help = "also draw the curves and the board (.png, .svg or .pdf; needs jaxgo[plot]); for several games a folder"
    parser.add_argument("--plot", metavar="OUT.png", help=plot_help)
    resume_help = "keep what is finished in this file, and go on with what it holds: after an interruption, or for more playouts"
    parser.add_argument("--resume", metavar="FILE.npz", help=resume_help)
    devices_help = "JAX devices to use: cpu (all cores), cpu:0 (one core), gpu, gpu:0,gpu:1, ... (default: all there are)"
    parser.add_argument("--devices", metavar="D,...", help=devices_help)


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for; see the module's text.

    Raises:
      UsageError: the arguments or the record are no good; nothing has been computed.
    """
    with interruptible(signal.SIGTERM):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    if args.compare and (args.every or args.all or len(args.files) > 1):
        raise UsageError("--compare is for one position of one game: give --move, not --every, --all or several files")
    from jaxgo.commands import playing
    from jaxgo.commands.asked import asked_of
    from jaxgo.commands.extras import Extras

    asked, left_out = asked_of(args)
    extras = Extras.of(args, asked)
    # At the door, for every size there is.
    policies = [arguments.policy_for(args.policy, size) for size in sorted({each.record.size for each in asked})]
    policy = args.policy if any(policies) else None
    how = playing.How(args.playouts, args.seed, policy, arguments.devices(args.devices))
    written = True
    for group in [asked] if args.resume else list(playing.in_groups(asked)):
        reports, kept = _evaluate(group, how, extras, args.resume)
        if not any(report.rows for report in reports):
            raise KeyboardInterrupt
        written &= kept & _show(args, group, reports, extras)
        if not reports[0].complete:
            return EXIT_INTERRUPTED
    return EXIT_FAILED if left_out or not written else EXIT_DONE


def _evaluate(group: "Sequence[Asked]", how: "How", extras: "Extras", resume: str | None) -> "tuple[list[Report], bool]":
    """Plays the playouts of some games, with progress on stderr; an interruption gives reports that are not complete. And whether
    what --resume is to keep is kept."""
    import jax

    from jaxgo.backends.choice import backend_of, workers_of
    from jaxgo.commands.playing import Job
    from jaxgo.commands.progress import progress_on_stderr
    from jaxgo.commands.report import Report, rows_of

    try:
        job = Job(group, how, resume)
    except ValueError as error:
        raise UsageError(str(error)) from error
    with progress_on_stderr(job.left) as progress:
        played = job.run(progress)
    complete, seconds = job.complete, progress.seconds()
    found: list[dict[str, Any]] = [{} for _ in group]
    try:
        if complete:
            for each, more in zip(group, found):
                more |= extras.of_game(each, how)
    except KeyboardInterrupt:
        complete = False
    engine = {"jax": jax.__version__, **backend_of(workers_of(how.devices)[0]).report()}
    reports = [
        Report(
            name=each.asked.name, record=each.asked.record, komi=each.asked.komi, komi_source=each.asked.komi_source,
            policy=how.policy, seed=how.seed, playouts=how.playouts, asked=len(each.asked.moves), complete=complete,
            seconds=seconds, rate=progress.rate(), engine=engine, rows=rows_of(each), **more,
        )
        for each, more in zip(played, found)
    ]  # fmt: skip
    return reports, job.kept


def _show(args: argparse.Namespace, group: "Sequence[Asked]", reports: "list[Report]", extras: "Extras") -> bool:
    """Prints what has been found of some games, and writes their files; whether all could be written."""
    if args.json:
        from jaxgo.commands.document import as_document

        for report in reports:
            print(json.dumps(as_document(report, version()), allow_nan=False))
    else:
        from jaxgo.commands import tables, terminal

        console = tables.make_console()
        one_each = extras.num_games > 1 and not (args.every or args.all or args.mistakes)
        if one_each:
            terminal.print_games(reports, console)
        for report in () if one_each else reports:
            terminal.print_game(report, console, board=extras.num_games == 1)
        terminal.print_footer(reports, console)
    sys.stdout.flush()  # the figures are out before a file can fail
    return all([extras.write(each, report) for each, report in zip(group, reports)])
