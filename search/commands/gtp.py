"""`jaxgo gtp`: an engine for Go programs that speak GTP."""

import argparse
import contextlib
import os
import signal
import sys
import textwrap

from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from search import bots, rulesets
from search.commands import configuration, options
from search.commands.configuration import read_defaults as read_defaults
from search.gtp.options import DEFAULT_KOMI, DEFAULT_RESIGN, DEFAULT_SIZE, DEFAULT_VISITS, EngineOptions

SUMMARY = "an engine for Go programs (GTP 2): Sabaki, GoGui, Lizzie, servers"

_EPILOG = f"""\
{bots.listing()}
limits: --visits, --seconds and the clock that the client sets hold together, whichever comes first. Without any, a move has
{DEFAULT_VISITS:,} playouts. Boards of 2x2 to 25x25; a new size is compiled when the client asks for it, not while a clock runs.
final_score takes dead stones off the board, those that playouts say are dead, and a game in which nothing is left to be gained is
passed; with --cleanup, for servers that count what stands on the board, dead stones must be captured, and all others count as
alive.

{textwrap.fill(f"rules: {', '.join(rulesets.NAMES)}.", 120, break_on_hyphens=False)}
Area is scored, with positional superko and without suicide, whatever is asked for; what else differs is said on stderr. The
engine plays no move against superko, but takes one of another program, for many know simple ko alone.

commands beyond the standard: lz-analyze, kata-analyze and their genmove forms, kata-search, cgos-genmove_analyze; set_position,
loadsgf, printsgf; kata-get-param and kata-set-param (kata-list-params names what there is); gogui-analyze_commands with maps of
ownership, AMAF and visits; ref-nodes and ref-score of the reference bots; list_commands says them all. A line `# interrupt` while
a move is being chosen has it chosen at once.

examples:
  jaxgo gtp                                            what a Go program starts
  jaxgo gtp --bot rave --seconds 5 --ponder            five seconds a move, and the opponent's time
  jaxgo gtp --policy uniform --seconds 5               uniformly random playouts, as in jaxgo evaluate: more, and weaker play
  jaxgo gtp --size 9 --cleanup --log game.log          for a server (CGOS): compiles 9x9 at once, keeps the conversation
  jaxgo gtp --config engine.toml --seconds 1           options from a file: `bot = "uct"`, `ponder = true`, `memory = "4G"`
  printf 'boardsize 5\\ngenmove b\\nshowboard\\n' | jaxgo gtp --visits 1000
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Answers commands of the Go Text Protocol on stdin and stdout until `quit`."
    parser.epilog = _EPILOG
    parser.add_argument("--bot", type=options.bot, default="rave", metavar="NAME", help="see below (default: %(default)s)")
    options.add_player_arguments(parser, DEFAULT_VISITS)
    parser.add_argument("--rules", type=_rules, default="tromp-taylor", metavar="NAME", help="see below (default: %(default)s)")
    size = f"of the board at the beginning, compiled at once (default: {DEFAULT_SIZE}, compiled when needed)"
    parser.add_argument("--size", type=options.count(2, 25), metavar="N", help=size)
    resign = (
        "resign after three moves in a row below this win rate, 0 to 1, each of a thousand playouts or more; 0 never does "
        "(default: %(default)s)"
    )
    parser.add_argument("--resign", type=options.fraction, default=DEFAULT_RESIGN, metavar="RATE", help=resign)
    ponder = "think while the opponent does"
    parser.add_argument("--ponder", action=argparse.BooleanOptionalAction, default=False, help=ponder)
    options.add_policy_argument(parser, as_bot=True)
    options.add_memory_argument(parser)
    threads = "CPU cores that play, or on a GPU calls at a time (default: all cores, all devices)"
    parser.add_argument("--threads", type=options.count(1, 1024), metavar="N", help=threads)
    log = "write the whole conversation there, with times, behind what the file holds"
    parser.add_argument("--log", metavar="FILE", help=log)
    configuration.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for; ends with status 0 after `quit`, the end of the input, and SIGTERM."""
    from search.gtp.server import serve, with_times
    from search.log import Log

    engine_options = EngineOptions(
        bot=args.bot, visits=args.visits, seconds=args.seconds, leaves=args.leaves, playouts_per_leaf=args.playouts_per_leaf,
        seed=args.seed, komi=DEFAULT_KOMI if args.komi is None else args.komi, rules=args.rules, size=args.size,
        resign=args.resign, cleanup=args.cleanup, ponder=args.ponder, threads=args.threads,
        knowledge=options.knowledge_of_argument(args.knowledge, args.bot),
        policy=options.policy_of_argument(args.policy, args.size or DEFAULT_SIZE, args.bot, learning=True),
        memory=options.default_memory() if args.memory is None else args.memory,
    )  # fmt: skip
    _check(engine_options)
    try:
        log = Log(args.log, _say) if args.log else None
    except OSError as error:
        raise UsageError(f"the log {args.log!r} cannot be written: {error.strerror}") from error
    # stdout is the protocol's alone: whatever else writes there is sent to stderr.
    sys.stdout.flush()
    output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        ended_by = serve(engine_options, sys.stdin.fileno(), output, with_times(log) if log else lambda direction, text: None)
    finally:
        os.dup2(output, sys.stdout.fileno())
        os.close(output)
        if log is not None:
            log.close()
    return EXIT_INTERRUPTED if ended_by == signal.SIGINT else EXIT_DONE


def _check(chosen: EngineOptions) -> None:
    """That a player can be made of the options."""
    from jaxgo.backends.choice import workers_of
    from jaxgo.playing.policies.in_order import asks
    from search.players import has_tree, make_player, rule_of
    from search.round_size import suited
    from search.tree_needs import needs_histories

    histories = has_tree(chosen.bot) and needs_histories(rule_of(chosen.bot))
    try:
        suited(
            DEFAULT_SIZE, workers_of(chosen.threads), chosen.leaves, chosen.playouts_per_leaf, histories=histories,
            policy=asks(chosen.policy),
        )  # fmt: skip
    except ValueError as error:
        raise UsageError(str(error)) from error
    make_player(chosen.bot, komi=chosen.komi, seed=chosen.seed)


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # where nobody takes it, the game goes on
        print(f"jaxgo gtp: {text}", file=sys.stderr)


def _rules(text: str) -> rulesets.Ruleset:
    """Rules by their name."""
    try:
        rules, warning = rulesets.find(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"there are no rules {text!r}; there are: {', '.join(rulesets.NAMES)}") from None
    if warning:
        _say(warning)
    return rules
