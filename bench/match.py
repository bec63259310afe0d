"""`jaxgo match`: many games between two bots, with colours alternating, and how sure the result is.

A bot may come with settings: `rave:bias=0.05,visits=4000`. Games are played in several processes, a core each; game n has its own
seeds, so that a match gives the same games however it is spread.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import multiprocessing
import os
import signal
import sys
import time

from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import options

SUMMARY = "a match between two bots, with the confidence interval of its result"

_EPILOG = f"""\
{bots.listing()}
settings, after the name: visits, leaves, playouts_per_leaf; for trees also those of the rule: bias, schedule (mse, hand), k,
exploration, first_play, strict, reference_visits, credit.

examples:
  jaxgo match rave uct --games 200 --visits 2000
  jaxgo match rave:bias=0.05 rave:bias=0.2 --games 400
  jaxgo match wamaf amaf --visits 8000 --json > wamaf.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    parser.description = "Plays games between two bots and reports the first one's score with its 95 % Wilson interval."
    parser.epilog = _EPILOG
    parser.add_argument("first", metavar="BOT[:NAME=VALUE,...]", help="the bot whose score is reported; Black in odd games")
    parser.add_argument("second", metavar="BOT[:NAME=VALUE,...]", help="its opponent")
    parser.add_argument("--games", type=options.count(1, 10**6), default=200, metavar="N", help="default: %(default)s")
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N", help="of the board (default: %(default)s)")
    workers = "processes, a core each (default: the cores there are)"
    parser.add_argument("--workers", type=options.count(1, 1024), metavar="N", help=workers)
    parser.add_argument("--json", action="store_true", help="print one JSON document with every game instead")
    options.add_player_arguments(parser, 2_000)


def run(args: argparse.Namespace) -> int:
    """Plays the match. Ctrl-C reports the games that are finished."""
    for spec in (args.first, args.second):
        read_spec(spec)
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    workers = min(args.workers or len(cores), args.games)
    context = multiprocessing.get_context("spawn")
    places = context.Queue()
    for i in range(workers):
        places.put(cores[i % len(cores)])
    games, start, complete = [], time.monotonic(), True
    pool = concurrent.futures.ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(places,))
    try:
        calls = [pool.submit(_play, vars(args), number) for number in range(1, args.games + 1)]
        for call in concurrent.futures.as_completed(calls):
            games.append(call.result())
            left = (time.monotonic() - start) / len(games) * (args.games - len(games))
            done = summary(games)
            text = f"{len(games)} of {args.games} games, {100 * done['score']:.1f} %, {left:.0f} s left"
            print(f"jaxgo match: {text}", file=sys.stderr)
    except KeyboardInterrupt:
        complete = False
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():  # in the middle of games that nobody waits for
            worker.terminate()
    report = {
        "first": args.first, "second": args.second, "size": args.size, "komi": _komi(args), "visits": args.visits,
        "seconds": args.seconds, "seed": args.seed, "complete": complete, **(summary(games) if games else {"games": 0}),
    }  # fmt: skip
    if args.json:
        print(json.dumps(report | {"records": sorted(games, key=lambda g: g["number"])}, indent=1))
    elif games:
        low, high = report["interval"]
        print(f"{args.first} against {args.second}, {args.size}x{args.size}, komi {report['komi']:g}")
        print(f"score {100 * report['score']:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f}")
        print(f"{report['games']} games: {report['wins']} won, {report['draws']} drawn, {report['losses']} lost; as Black "
              f"{100 * report['score_as_black']:.1f} %; mean length {report['mean_moves']:.1f} moves")  # fmt: skip
    return EXIT_DONE if complete else EXIT_INTERRUPTED


def summary(games: list[dict]) -> dict:
    """The score of the first bot over some games, its Wilson interval, and more."""
    won = [g["won"] for g in games]
    black = [g["won"] for g in games if g["first_is_black"]]
    score = sum(won) / len(won)
    return {
        "games": len(won), "wins": won.count(1.0), "draws": won.count(0.5), "losses": won.count(0.0), "score": score,
        "interval": wilson(score, len(won)), "score_as_black": sum(black) / len(black) if black else None,
        "mean_moves": sum(g["moves"] for g in games) / len(games),
        "seconds_per_game": sum(g["seconds"] for g in games) / len(games),
    }  # fmt: skip


def wilson(score: float, games: int, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson score interval of a proportion (Edwin B. Wilson, 1927), 95 % by default."""
    centre = (score + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games))
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclasses.dataclass(frozen=True)
class Spec:
    """A bot with settings."""

    bot: str
    settings: dict[str, object]


#: Settings and how they are read.
_SETTINGS = {
    "visits": int, "leaves": int, "playouts_per_leaf": int, "bias": float, "k": float, "exploration": float,
    "first_play": float, "reference_visits": int, "schedule": str, "credit": str, "strict": lambda text: text != "False",
}  # fmt: skip
_OF_PLAYERS = ("leaves", "playouts_per_leaf")


def read_spec(text: str) -> Spec:
    """Reads `BOT[:NAME=VALUE,...]`; UsageError says what is wrong."""
    bot, _, rest = text.partition(":")
    if bot not in bots.SUMMARIES:
        raise UsageError(f"there is no bot {bot!r}; there are: {', '.join(bots.SUMMARIES)}")
    settings = {}
    for part in filter(None, rest.split(",")):
        name, _, value = part.partition("=")
        if name not in _SETTINGS:
            raise UsageError(f"{text}: there is no setting {name!r}; there are: {', '.join(_SETTINGS)}")
        try:
            settings[name] = _SETTINGS[name](value)
        except ValueError:
            raise UsageError(f"{text}: {name} cannot be {value!r}") from None
    return Spec(bot, settings)


def _begin_worker(places) -> None:
    """Binds a worker to its core, before jax counts them, and leaves Ctrl-C to the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {places.get()})


def _komi(args) -> float:
    return 7.5 if args.komi is None else args.komi


def _play(arguments: dict, number: int) -> dict:
    """Plays game `number` in a worker."""
    from jaxgo import Position
    from search.choice import Limits
    from search.players import make_player, rule_of
    from search.selfplay import play_game

    args = argparse.Namespace(**arguments)
    first_is_black = number % 2 == 1
    players = []
    for i, text in enumerate((args.first, args.second)):
        spec = read_spec(text)
        own = {"leaves": args.leaves, "playouts_per_leaf": args.playouts_per_leaf}
        own |= {k: v for k, v in spec.settings.items() if k in _OF_PLAYERS}
        of_rule = {k: v for k, v in spec.settings.items() if k not in (*_OF_PLAYERS, "visits")}
        if of_rule:
            own["rule"] = dataclasses.replace(rule_of(spec.bot), **of_rule)
        visits = spec.settings.get("visits", args.visits or (None if args.seconds else 2_000))
        player = make_player(spec.bot, komi=_komi(args), seed=args.seed + 2 * number + i, cleanup=args.cleanup, **own)
        players.append(_Limited(player, Limits(visits=visits, seconds=args.seconds)))
    start = time.perf_counter()
    black, white = players if first_is_black else players[::-1]
    played = play_game(black, white, Position.empty(args.size), None, komi=_komi(args))
    won = 0.5 if played.winner == 0 else float((played.winner == 1) == first_is_black)
    return {
        "number": number, "first_is_black": first_is_black, "won": won, "result": played.result,
        "moves": len(played.game.moves), "seconds": round(time.perf_counter() - start, 2),
    }  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Limited:
    """A player with limits of its own."""

    player: object
    limits: object

    def genmove(self, position, history, _):
        return self.player.genmove(position, history, self.limits)
