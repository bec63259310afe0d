"""`jaxgo analysis`: positions analysed for other programs, in KataGo's JSON protocol."""

import argparse
import contextlib
import os
import queue
import signal
import threading
from typing import NoReturn

from jaxgo.base.signals import handled
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from search import bots
from search.analysis import complaints
from search.analysis.memory import MOST_PROCESSES
from search.analysis.options import LARGE_SEARCH, MANY_SEARCHES, PROGRAMS
from search.commands import options

SUMMARY = "an analysis engine for other programs: KataGo's JSON protocol at stdin or a TCP port"

_LOCAL = "127.0.0.1"
_EPILOG = f"""\
One JSON object a line each way; replies come in any order. At the end of stdin the queue is finished and the command ends.

a query:
  {{"id": "a", "moves": [["B", "E5"], ["W", "C3"]], "rules": "tromp-taylor", "komi": 7, "boardXSize": 9, "boardYSize": 9,
   "analyzeTurns": [0, 1, 2], "maxVisits": 5000, "includeOwnership": true}}            (on one line)
needed: id moves rules boardXSize boardYSize (square, 2 to 25)
also:   initialStones initialPlayer komi whiteHandicapBonus analyzeTurns maxVisits includeOwnership includeMovesOwnership
        includePolicy includePVVisits analysisPVLen avoidMoves allowMoves overrideSettings (reportAnalysisWinratesAs,
        maxVisits, maxPlayouts, maxTime, analysisPVLen) reportDuringSearchEvery firstReportDuringSearchAfter priority priorities
actions: query_version query_models clear_cache terminate terminate_all
Rates and leads are Black's unless reportAnalysisWinratesAs is WHITE or SIDETOMOVE. The rules are always area scoring with
positional superko and without suicide; other rules are played as these, with a warning where that can change a score. A
game's own moves may repeat positions, as many programs know simple ko alone; the moves that are proposed do not.
At most 1,000 moves in a game. Clients at a port take turns, then their queries' priorities count; what one client has waiting,
or does not read, holds up nobody else.
Where {MANY_SEARCHES} searches of up to {LARGE_SEARCH:,} visits are under way on CPUs, more processes start and take some of what
waits: a reply does not depend on where it is made. --active and --memory are shared out among them, --threads are of each; one
that dies is replaced.
--memory bounds the trees. Beside them each process takes about 300 MB, and 50 to 200 MB for each compiled program: one for the
trees of each board size, a few for its playouts. The {PROGRAMS} of either kind that were used last are kept, so that it is 3 GB
at most whatever clients ask for; one board size takes about 300 MB.

what is different from KataGo: visits are playouts, so ask for many (a search makes at least 192, unless maxTime or a
termination ends it), and "prior" and "policy" are shares of what RAVE has learnt. What is added:
  "playouts": 10000      random playouts without a tree; much faster, and queries of this kind share the device best.
                         maxVisits 1 does the same with --playouts of them. moveInfos is empty: there are rootInfo,
                         and ownership, policy and amaf where asked for
  "seed": 7              of the random numbers. A query's reply depends on the query and the seed alone, not on others
                         that run at the same time (unless maxTime ends it)
  "includeAmaf": true    "amaf": visits and win rate of every point as a first play, row by row from the top left

{bots.listing(bots.TREES)}
examples:
  jaxgo analysis                                   at stdin and stdout, as KaTrain and other programs start it
  jaxgo analysis < queries.jsonl > replies.jsonl
  jaxgo analysis --listen 7000                     for many clients, on this machine
  jaxgo analysis --listen 0.0.0.0:7000 --bot uct   for other machines too (there is no password)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Answers queries of other programs, as `katago analysis` does."
    parser.epilog = _EPILOG
    parser.add_argument("--listen", type=_address, metavar="[HOST:]PORT", help="serve TCP clients there instead of stdin")
    add_engine_arguments(parser)
    processes = "processes that share small searches where there are many (default: one for two cores, at least 2; 1 on GPUs)"
    parser.add_argument("--processes", type=options.count(1, MOST_PROCESSES), metavar="N", help=processes)
    queue = "positions that a client may have waiting (default: %(default)s)"
    parser.add_argument("--max-queue", type=options.count(1), default=20_000, metavar="N", help=queue)
    line = "bytes of a line of input (default: %(default)s)"
    parser.add_argument("--max-line", type=options.count(100), default=1 << 17, metavar="N", help=line)
    parser.add_argument("--log", metavar="FILE", help="append every line that comes in (<) and goes out (>)")


def add_engine_arguments(parser: argparse.ArgumentParser, threads: int | None = None) -> None:
    """The arguments that say how positions are analysed; `engine_options` reads them.

    Args:
      parser: that gets them.
      threads: the default of --threads; None for all cores.
    """
    parser.add_argument("--bot", type=_tree_bot, default="rave", metavar="NAME", help="see below (default: %(default)s)")
    visits = "playouts of a search where the query does not say (default: %(default)s)"
    parser.add_argument("--visits", type=options.count(1, 10**9), default=2_000, metavar="N", help=visits)
    playouts = "playouts of a query with maxVisits 1 (default: %(default)s)"
    parser.add_argument("--playouts", type=options.count(1, 10**9), default=1_000, metavar="N", help=playouts)
    leaf_help = "playouts from each leaf, 1 to 62 (default: %(default)s)"
    parser.add_argument("--playouts-per-leaf", type=options.count(1, 62), default=8, metavar="K", help=leaf_help)
    seed = "of the random numbers where a query has none (default: %(default)s)"
    parser.add_argument("--seed", type=options.count(0, 2**63), default=0, metavar="S", help=seed)
    active = "searches under way at a time (default: %(default)s)"
    parser.add_argument("--active", type=options.count(1, 1024), default=64, metavar="N", help=active)
    options.add_policy_argument(parser)
    options.add_knowledge_argument(parser)
    options.add_memory_argument(parser)
    cores = f"CPU cores that play, or on a GPU calls at a time (default: {threads or 'all cores, all devices'})"
    parser.add_argument("--threads", type=options.count(1, 1024), default=threads, metavar="N", help=cores)


def engine_options(args: argparse.Namespace) -> dict:
    """What the arguments of `add_engine_arguments` say, for `ServiceOptions`, --memory apart."""
    return {
        "bot": args.bot, "visits": args.visits, "playouts": args.playouts, "playouts_per_leaf": args.playouts_per_leaf,
        "seed": args.seed, "active": args.active, "policy": options.policy_of_argument(args.policy),
        "knowledge": args.knowledge, "threads": args.threads,
    }  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Does what the command line asks for."""
    # Whatever ends the service says so here. No `threading.Event`: its lock may be held where the signal's handler is called.
    ends: queue.SimpleQueue[None] = queue.SimpleQueue()
    signals = []
    unwritten: list[OSError] = []
    """What has kept replies from being written."""

    def end(number, _) -> None:
        signals.append(number)
        ends.put(None)

    def wait_for_the_end() -> None:
        # A signal wakes nobody if it comes just before the wait, or to another thread; it is seen when the wait has an end.
        while True:
            with contextlib.suppress(queue.Empty):
                return ends.get(timeout=1.0)

    with handled(end, signal.SIGINT, signal.SIGTERM), complaints.settled():
        from jaxgo.backends import programs
        from search.analysis import streams
        from search.analysis.options import ServiceOptions
        from search.analysis.processes import suited
        from search.analysis.service import Service

        output = streams.own_stdout()
        programs.keep(PROGRAMS)
        log = _log(args.log)
        service_options = ServiceOptions(
            **engine_options(args), memory=args.memory or options.default_memory(), queue=args.max_queue, line=args.max_line,
            processes=args.processes or suited(args.threads),
        )  # fmt: skip
        service = Service(service_options, log, on_failure=lambda: ends.put(None))
        if args.listen is not None:
            try:
                listener = streams.Listener(service, *args.listen)
            except OSError as error:
                raise UsageError(f"cannot listen at {args.listen[0]}:{args.listen[1]}: {error.strerror}") from error
            complaints.say(f"listening at {listener.address}")
            wait_for_the_end()
            service.end()
            listener.close()
        else:
            complaints.say("ready")
            client, writer = streams.at_stdin(service, output, unwritten.append)

            def end_with_the_writer() -> None:
                writer.join()
                ends.put(None)

            threading.Thread(target=end_with_the_writer, daemon=True).start()
            wait_for_the_end()
            client.end()
            service.end()
            writer.join(2.0)
            for problem in unwritten:
                complaints.say(f"replies cannot be written: {problem.strerror}")
    if service.scheduler.failed:
        _leave_at_once(EXIT_FAILED)
    if signals:
        _leave_at_once(EXIT_INTERRUPTED if signal.SIGINT in signals else EXIT_DONE)
    return EXIT_FAILED if unwritten else EXIT_DONE


def _leave_at_once(status: int) -> NoReturn:
    """Ends the process while its threads may be compiling: Python's own end would tear them down in a compiler, and abort."""
    os._exit(status)


def _log(path: str | None):
    """What writes a line to the log, None without one."""
    if path is None:
        return None
    from search.log import Log

    try:
        return Log(path, complaints.say)
    except OSError as error:
        raise UsageError(f"the log {path!r} cannot be written: {error.strerror}") from error


def _tree_bot(text: str) -> str:
    if text not in bots.TREES:
        raise argparse.ArgumentTypeError(f"must be a bot with a tree, {', '.join(bots.TREES)}, not {text!r}")
    return text


def _address(text: str) -> tuple[str, int]:
    """(host, port) of HOST:PORT, [HOST]:PORT or PORT alone, which means this machine only."""
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"must be PORT or HOST:PORT with a port from 0 to 65535, not {text!r}")
    return host.strip("[]") or _LOCAL, int(port)
