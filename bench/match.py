"""`jaxgo match`: many games between two bots, or any GTP engines, with colours alternating, and how sure the result is."""

import argparse
import contextlib
import dataclasses
import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from jaxgo.base.signals import handled, interruptible
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import options

if TYPE_CHECKING:
    from bench.matches.contestants import Contestant
    from bench.matches.journal import Journal
    from bench.matches.playing import Match
    from jaxgo.commands.progress import Show

#: The largest board that GNU Go plays on.
GNUGO = 19
SUMMARY = "a match between two bots or GTP engines, with the confidence interval of its result"

_EPILOG = f"""\
{bots.listing()}
settings, after the name: visits, seconds, policy (whom playouts ask: as in jaxgo evaluate --policy, with + in place of commas),
resign (at a win rate below that, 0 to 1: games are half as long with 0.03); for trees also leaves, playouts_per_leaf,
in_flight, share, virtual_losses (as in `search.Search`), exploration, first_play, knowledge (True, False); for RAVE also bias,
schedule (mse, hand), k, strict, reference_visits, credit.
Prior playouts, where there is knowledge: even and likely, as in `search.Knowledge`.

any GTP engine: 'gtp:COMMAND LINE'. With --seconds it is told the time, and who takes longer than that and --grace loses the game;
rave:seconds=1 in place of --seconds 1 leaves the engine's time alone. Where it fails it loses the game, and is started anew. It
shares the cores of its game, so it should not think in its opponent's time. Its moves against positional superko are taken.
referee: GNU Go's final_score where an engine plays and GNU Go is installed, up to {GNUGO}x{GNUGO}; else our own rules: area, as
the board stands. Where a referee fails the report says so, and our own rules score that game.
Bots count stones as alive until they are captured; --cleanup makes them capture the dead ones before they pass.

Two games each, with either colour, begin with the same random moves. With --output a match that was stopped or killed goes on
when the same command is given again, also with more --games.

Bots play all games side by side where playouts are their only limit: in this process, on all its cores or devices, in batches of
the positions of many games; what a move took is its share of the batch (a first one's of a bot without a tree includes what
compiles). With --workers, --cores or --ray, for other contestants, and for bots with a tree on a CPU of more than three cores or
of more than 10,000 playouts a move, each game under way has a process of its own. The games are the same either way, as long as
--memory has room for all that trees visit.

With --ray the games are spread over a Ray cluster, where jaxgo of the same version must be installed on every node: a worker has
--cores cores of a node, and a GPU where the cluster has some; --workers is by default as many as there is room for. Engines run
on the workers' machines, and are tried on this one first. --output is written here alone, and holds the same match with --ray and
without; a game whose worker is lost is played again.

examples:
  jaxgo match rave uct --games 200 --visits 2000
  jaxgo match rave:bias=0.05 rave:bias=0.2 --games 400 --output bias
  jaxgo match wamaf amaf --visits 8000 --games 1000 --json > wamaf.json
  jaxgo match rave:policy=patterns,knowledge=True 'gtp:gnugo --mode gtp --level 10' --seconds 1 --cores 2 --output gnugo
  jaxgo match rave uct --games 5000 --output large --ray auto
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Plays games between two players and reports the first one's score with its 95 % Wilson interval."
    parser.epilog = _EPILOG
    first = "whose score is reported, BOT, BOT:NAME=VALUE,... or 'gtp:COMMAND LINE'; Black in odd games"
    parser.add_argument("first", metavar="FIRST", help=first)
    parser.add_argument("second", metavar="SECOND", help="its opponent, likewise")
    games = "games to play (default: %(default)s)"
    parser.add_argument("--games", type=options.count(1, 10**6), default=200, metavar="N", help=games)
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N", help="of the board (default: %(default)s)")
    ray = "spread the games over a Ray cluster: auto, the address of its head node, or local for one on this machine alone"
    parser.add_argument("--ray", metavar="ADDRESS", help=ray)
    opening = "random moves that a game begins with (default: %(default)s)"
    parser.add_argument("--opening", type=options.count(0, 100), default=2, metavar="N", help=opening)
    cores = "of each game (default: 1, or all where games are played side by side; see below)"
    parser.add_argument("--cores", type=options.count(1, 1024), metavar="N", help=cores)
    workers = "games at a time, in a process each (default: as many as there are cores for, or side by side; see below)"
    parser.add_argument("--workers", type=options.count(1, 1024), metavar="N", help=workers)
    grace = "how much longer than --seconds a move may take before it loses the game (default: %(default)g s)"
    parser.add_argument("--grace", type=options.seconds, default=1.0, metavar="S", help=grace)
    referee = "'gtp:COMMAND LINE' of an engine that counts the score, or own (default: see below)"
    parser.add_argument("--referee", metavar="ENGINE", help=referee)
    output = "keep the games there: a line each in games.jsonl, and SGF records; and go on with what is there"
    parser.add_argument("--output", type=options.folder, metavar="DIR", help=output)
    parser.add_argument("--json", action="store_true", help="print one JSON document with every game instead")
    options.add_player_arguments(parser, 2_000, for_gpus=False)
    options.add_memory_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Plays the match. Ctrl-C reports the games that are finished."""
    from bench import report
    from bench.hardware import describe, versions
    from bench.matches.contestants import read
    from bench.matches.journal import Journal
    from bench.matches.standing import standing

    with contextlib.ExitStack() as stack:
        stack.enter_context(interruptible(signal.SIGTERM))  # so that the engines that are tried end
        contestants = read(args.first, args), read(args.second, args)
        memory = args.memory or options.default_memory()
        places = stack.enter_context(_places(args, contestants, memory))
        _check_memory(args, contestants, memory, places.of_machine)
        match = _match(args, contestants, None if places.side_by_side else memory // (2 * places.of_machine))
        settings = _settings(args, match)
        asked = {"games": args.games, "workers": places.workers, "memory": memory, "ray": args.ray}
        made = report.begin("match", describe(), settings | asked)
        made["software"] = versions()
        identity = settings | {"jaxgo": made["jaxgo"], "commit": made["commit"]}
        journal = stack.enter_context(Journal(args.output, identity)) if args.output else None
        games = [] if journal is None else [game for game in journal.games.values() if game["number"] <= args.games]
        if journal is not None and games:
            beyond = len(journal.games) - len(games)
            others = f", beside {beyond} of more than {args.games}" if beyond else ""
            print(f"jaxgo match: {len(games)} games are in {args.output} already{others}", file=sys.stderr)
        stopped, status = _play(match, games, args.games, places, journal)
    made |= {"complete": not stopped, "stopped": stopped or None, **(standing(games) if games else {"games": 0})}
    if args.json:
        print(json.dumps(made | {"records": sorted(games, key=lambda g: g["number"])}, indent=1, allow_nan=False))
    else:
        print("\n".join(lines_of(made)))
    return status


@dataclasses.dataclass(frozen=True)
class _Places:
    """Where games are played."""

    workers: int
    """Games at a time."""
    of_machine: int
    """On one machine, at most, however few games there are: trees have the same memory where more are played later."""
    side_by_side: bool
    """Whether in this process."""
    play_all: Callable[[list[tuple["Match", int]], Callable[[], bool], Callable[[], None]], Iterator[tuple[dict, bytes]]]
    """Plays games until told to stop; see `bench.matches.pool.play_all`. The last is called after moves, where games tell."""


@contextlib.contextmanager
def _places(args: argparse.Namespace, contestants: tuple["Contestant", "Contestant"], memory: int) -> Iterator[_Places]:
    """This process, the cores of this machine, or those of a cluster."""
    from bench.hardware import usable_cores
    from bench.matches import at_once, pool

    of_game = args.cores or 1
    if args.ray is None:
        together = args.workers is None and args.cores is None
        most = at_once.places(contestants, args.size, memory, args.games if args.output else None) if together else 0
        if most := min(most, args.games):
            yield _Places(most, most, True, lambda games, stop, moved: at_once.play_all(games, stop, most, moved))
            return
        cores = len(usable_cores())
        if of_game > cores:
            raise UsageError(f"--cores must be at most {cores}, the cores there are, not {of_game}")
        most = args.workers or cores // of_game
        where = pool.places(min(most, args.games), of_game)
        yield _Places(len(where), most, False, lambda games, stop, _: pool.play_all(games, where, stop))
        return
    from bench.matches.cluster import Cluster
    from search.cluster import ClusterError, connected

    with contextlib.ExitStack() as stack:
        try:
            cluster = Cluster(stack.enter_context(connected(args.ray, "data")), of_game)
        except ClusterError as error:
            raise UsageError(str(error)) from error
        most = min(args.workers or cluster.places, cluster.places)
        workers, of_machine = min(most, args.games), min(most, cluster.places_of_node)
        yield _Places(workers, of_machine, False, lambda games, stop, _: cluster.play_all(games, workers, stop))


def _check_memory(
    args: argparse.Namespace, contestants: tuple["Contestant", "Contestant"], memory: int, at_a_time: int
) -> None:  # fmt: skip
    """UsageError where so many games at a time have too little memory for their trees."""
    least = 2 * at_a_time * max(one.least_memory(args.size) for one in contestants)
    if memory < least:
        where = f"{at_a_time} games at a time on {args.size}x{args.size}"
        raise UsageError(f"--memory must be at least {least} bytes for {where}, not {memory}; or --workers fewer")


def _match(args: argparse.Namespace, contestants: tuple["Contestant", "Contestant"], memory: int | None) -> "Match":
    """What is to be played; a referee is tried."""
    from bench.matches.contestants import Conditions
    from bench.matches.playing import Match

    komi = 7.5 if args.komi is None else args.komi
    conditions = Conditions(args.size, komi, args.seconds, args.grace, memory)
    return Match(contestants, conditions, args.seed, args.opening, _referee(args))


def _settings(args: argparse.Namespace, match: "Match") -> dict:
    """What two runs must have in common to be one match, ready for JSON."""
    names = (
        "first", "second", "size", "visits", "seconds", "grace", "leaves", "playouts_per_leaf", "knowledge", "seed", "cleanup",
        "opening",
    )  # fmt: skip
    return {name: getattr(args, name) for name in names} | {
        "cores": args.cores or 1, "komi": match.conditions.komi, "referee": match.referee,
        "names": [c.name for c in match.contestants], "conditions": [c.what for c in match.contestants],
        "memory_of_a_tree": match.too_little_memory,
    }  # fmt: skip


def _play(match: "Match", games: list[dict[str, Any]], most: int, places: _Places, journal: "Journal | None") -> tuple[str, int]:
    """Plays the games that are missing and adds them; returns what has stopped it, "" for nothing, and the exit status."""
    from jaxgo.commands.progress import shown

    there = {game["number"] for game in games}
    left = [number for number in range(1, most + 1) if number not in there]
    interrupted: list[int] = []
    # Not an exception: games are noted whole or not at all.
    ending = handled(lambda number, _: interrupted.append(number), signal.SIGINT, signal.SIGTERM)
    try:
        with ending, shown("jaxgo match", most, "beginning") as show:
            say = _Progress(show, most, games)
            for game, record in places.play_all([(match, number) for number in left], lambda: bool(interrupted), say.moved):
                if journal is not None:
                    journal.add(game, record)
                games.append(game)
                say.finished(game)
    except Exception as error:  # whatever ends a game in its process, or the process: what is finished is not lost
        stopped = f"failed: {type(error).__name__}: {error}"
        print(f"jaxgo match: {stopped}", file=sys.stderr)
        return stopped, EXIT_FAILED
    return ("interrupted", EXIT_INTERRUPTED) if len(games) < most else ("", EXIT_DONE)


def _referee(args: argparse.Namespace) -> str:
    """Who counts the score; an engine is tried."""
    from bench.matches.contestants import read_program
    from bench.matches.engine import PREFIX, find_gnugo
    from bench.matches.referee import OWN

    asked = args.referee
    if asked is None:
        engines = any(text.startswith(PREFIX) for text in (args.first, args.second))
        asked = PREFIX + found if engines and args.size <= GNUGO and (found := find_gnugo()) else OWN
    if asked == OWN:
        return asked
    if not asked.startswith(PREFIX):
        raise UsageError(f"--referee must be {OWN}, or {PREFIX} and an engine's command line, not {asked!r}")
    read_program(asked, args)
    return asked


class _Progress:
    """Says how far the match has come, by `jaxgo.commands.progress.shown`."""

    def __init__(self, show: "Show", games: int, before: list[dict[str, Any]]):
        self._show, self._games, self._before, self._start = show, games, len(before), time.monotonic()
        self._done, self._won, self._moves, self._under_way = len(before), sum(game["won"] for game in before), 0, 0

    def moved(self) -> None:
        """Another move, where games tell: those side by side end all at a time, and it would seem long until the first does."""
        self._under_way += 1
        self._show(self._done, self._games, self._words)

    def finished(self, game: dict) -> None:
        """Another game."""
        self._done, self._won, self._moves = self._done + 1, self._won + game["won"], self._moves + game["moves"]
        self._under_way = max(0, self._under_way - game["moves"] + len(game["opening"]))
        self._show(self._done, self._games, self._words)

    def _words(self) -> str:
        from bench.matches.standing import wilson
        from jaxgo.commands.progress import time_left

        here, words = self._done - self._before, [f"{self._done:,} of {self._games:,} games"]
        if self._done:
            score = self._won / self._done
            low, high = wilson(score, self._done)
            words.append(f"{100 * score:.1f} % ({100 * low:.1f} to {100 * high:.1f})")
        if here:
            games, made = self._games - self._done, self._moves + self._under_way
            left = max(games * self._moves / here - self._under_way, games)
            words.append(time_left((time.monotonic() - self._start) / max(made, 1) * left))
        else:
            words.append(f"{self._under_way:,} moves")
        return ", ".join(words)


def lines_of(made: dict) -> list[str]:
    """The report for people."""
    from jaxgo.base import source

    settings = made["settings"]
    clock = "" if settings["seconds"] is None else f", {settings['seconds']:g} s a move"
    first, second = settings["names"]
    lines = [
        f"{first} against {second}, {settings['size']}x{settings['size']}, komi {settings['komi']:g}{clock}, "
        f"{settings['opening']} random moves, seed {settings['seed']}",
        *(f"{name}: {text}" for name, text in zip(settings["names"], settings["conditions"])),
        f"referee: {settings['referee']}",
        f"jaxgo {made['jaxgo']}{source.in_words(made['commit'])}, {made['date']}",
    ]
    if not made["complete"]:
        lines.append(f"PARTIAL, {made['stopped']}: {made['games']} of {settings['games']} games are finished")
    if not made["games"]:
        return lines
    low, high = made["interval"]
    black = "" if made["score_as_black"] is None else f"; as Black {100 * made['score_as_black']:.1f} %"
    return [
        *lines,
        f"score {100 * made['score']:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f}; {_elo(made)}",
        f"{made['games']} games: {made['wins']} won, {made['draws']} drawn, {made['losses']} lost{black}; "
        f"mean length {made['mean_moves']:.1f} moves; {made['different']} different games{_odd(made)}",
        *(_of_side(name, made[which]) for name, which in zip(settings["names"], ("first", "second"))),
    ]


def _odd(made: dict) -> str:
    """What is to be known of some games, "" if of none."""
    failed = f"the referee failed in {made['referee_failed']}, scored by our own rules ({made['referee_remark']})"
    parts = {
        "too_long": f"{made['too_long']} too long, scored as they stood",
        "dead_stones_decided": f"dead stones decided {made['dead_stones_decided']}",
        "referee_failed": failed,
    }  # fmt: skip
    return "".join(f"; {text}" for name, text in parts.items() if made[name])


def _elo(made: dict) -> str:
    """The difference of ratings in words; a bound that there is none is left out."""
    low, high = made["elo_interval"]
    if made["elo"] is None:
        return f"Elo at least {low:+.0f}" if low is not None else f"Elo at most {high:+.0f}"
    return f"Elo {made['elo']:+.0f} ({-math.inf if low is None else low:+.0f} to {math.inf if high is None else high:+.0f})"


def _of_side(name: str, side: dict) -> str:
    """A line on what a contestant took, and what it lost by other than on the board."""
    time = "no move" if side["seconds_per_move"] is None else f"{side['seconds_per_move']:.2f} s a move"
    keys = ("resignations", "losses_on_time", "illegal_moves", "failures")
    lost = [f"{key.replace('_', ' ')} {side[key]}" for key in keys if side[key]]
    remark = f" ({side['remark']})" if side["remark"] else ""
    return ", ".join([f"{name}: {time}, at most {side['longest_move']:.2f} s", *lost]) + remark
