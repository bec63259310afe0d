"""What settings of a tree search and of its prior playouts are worth, by matches: which should be larger, which less.

    python -m bench.tuning OUT.json --games 200 --visits 2000
    python -m bench.tuning OUT.json --games 100 --seconds 0.5 --of share=0.05:0.1,virtual_losses=1:4,likely

The bot plays as `jaxgo gtp` has it play, but for what is tried. Each game is played between two versions of it. For each factor a
coin says which of them has its larger and which its smaller value; so every game tells something of all factors at once (a
fractional factorial design). Of every factor the report says how much of the score its larger value was worth, with the standard
error. What stands in OUT.json already is kept, and games go on after it.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bench import documents, hardware, report
from bench.matches import at_once, pool
from bench.matches.contestants import Bot, Conditions
from bench.matches.playing import Match
from bench.matches.referee import OWN
from jaxgo import Position
from jaxgo.base import files
from jaxgo.base.signals import handled
from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from jaxgo.playing.policies.in_order import Policies, asks
from search.bots import SUMMARIES
from search.choice import Limits
from search.commands import options
from search.players import has_tree, make_player, rule_of
from search.round_size import suited

CORES = len(hardware.usable_cores())
#: A version gives up below this win rate: games are half as long, and few of those would be won.
RESIGN = 0.03
#: Of prior playouts, of a rule of selection and of a search, each with a smaller and a larger value.
PRIORS = {"even": (3, 15), "likely": (100, 255)}
SETTINGS = {
    "bias": (0.003, 0.03), "exploration": (0.0, 0.1), "reference_visits": (0, 400), "strict": (False, True),
    "playouts_per_leaf": (2, 8), "leaves": (128, 512), "share": (0.1, 0.4), "virtual_losses": (1, 2),
}  # fmt: skip
VALUES = PRIORS | SETTINGS
#: Factors by what `--of` asks for in one word.
FACTORS = {"priors": tuple(PRIORS), "settings": tuple(SETTINGS), "all": tuple(VALUES)}


def factors_of_argument(text: str) -> dict[str, tuple]:
    """What `--of` names: of each factor its smaller and its larger value."""
    found: dict[str, tuple] = {}
    for part in text.split(","):
        name, given, values = part.partition("=")
        named = FACTORS.get(name, (name,) if name in FACTORS["all"] else ())
        if not named:
            which = ", ".join((*FACTORS, *FACTORS["all"]))
            raise argparse.ArgumentTypeError(f"must name some of {which}, with commas between, not {name!r}")
        if given and name in FACTORS:
            raise argparse.ArgumentTypeError(f"{name} takes no values, as in {part!r}: they are several")
        found |= {one: VALUES[one] for one in named} | ({name: _values(name, values)} if given else {})
    return found


def _values(name: str, text: str) -> tuple:
    """SMALLER:LARGER of a setting, numbers like those of `VALUES`."""
    kind = type(VALUES[name][0])
    try:
        smaller, larger = map(kind, text.split(":"))
    except ValueError:
        smaller = larger = 0
    if kind is bool or not smaller < larger < float("inf"):
        raise argparse.ArgumentTypeError(f"{name} takes a smaller and a larger value, as in {_example(name)}, not {text!r}")
    return smaller, larger


def _example(name: str) -> str:
    return name if isinstance(VALUES[name][0], bool) else "{}={}:{}".format(name, *VALUES[name])


def signs_of(pair: int, seed: int, factors: int) -> np.ndarray:
    """int [factors], 1 where the first version has the larger value and -1 where the second has; of two games in a row the same,
    which they play with either colour."""
    return np.random.default_rng([0x3E16, seed, pair]).choice([-1, 1], factors)


def version(rule, how: dict[str, Any], signs: dict[str, int], values: dict[str, tuple]) -> dict[str, Any]:
    """The options of `search.make_player` of a version.

    Args:
      rule: the bot's rule of selection, with prior playouts.
      how: its other options.
      signs: of each factor, whether it has the larger value, 1, or the smaller, -1.
      values: of each the smaller and the larger one.
    """
    fields = {field.name for field in dataclasses.fields(rule)}
    chosen = {name: values[name][int(sign > 0)] for name, sign in signs.items()}
    knowledge = dataclasses.replace(rule.knowledge, **{name: value for name, value in chosen.items() if name in PRIORS})
    of_rule = {name: value for name, value in chosen.items() if name in fields}
    others = {name: value for name, value in chosen.items() if name not in PRIORS and name not in fields}
    return how | others | {"rule": dataclasses.replace(rule, **of_rule, knowledge=knowledge)}


def effects(games: list[dict[str, Any]], factors: Sequence[str]) -> dict[str, dict[str, float]]:
    """Of each factor, how much the score rises with its larger value: `effect`, half the difference to the smaller one, and
    `error`, its standard error; from games with `signs` and `won`, by least squares. Nothing while there are too few games."""
    signs, won = np.array([game["signs"] for game in games], float), np.array([game["won"] for game in games])
    if np.linalg.matrix_rank(signs) < len(factors):
        return {}
    inverse = np.linalg.inv(signs.T @ signs)
    found, errors = inverse @ signs.T @ (won - 0.5), 0.5 * np.sqrt(np.diag(inverse))
    return {name: {"effect": float(effect), "error": float(error)} for name, effect, error in zip(factors, found, errors)}


def factors_of(bot: str, of: dict[str, tuple]) -> tuple[str, ...]:
    """Those of the factors that a bot has: UCB1's rule lacks some."""
    fields = {field.name for field in dataclasses.fields(rule_of(bot))}
    of_rave = {"bias", "reference_visits", "strict"}
    return tuple(name for name in of if name not in of_rave or name in fields)


def rounds_by(policy: Policies, size: int) -> dict[str, Any]:
    """The rounds of a bot on CPUs whose playouts ask a policy, as options of `search.make_player`."""
    rounds = suited(size, None, policy=asks(policy))
    return {"leaves": rounds.leaves, "playouts_per_leaf": rounds.playouts}


def games_of(args: argparse.Namespace, numbers: Sequence[int]) -> list[tuple[Match, int]]:
    """The games of these numbers, from 1 on."""
    rule, policy = rule_of(args.bot, True), options.policy_of_argument(args.policy, args.size, args.bot)
    conditions = Conditions(args.size, 7.5, None, 0.0, options.default_memory() // (2 * (args.workers or CORES)))
    limits, how = Limits(args.visits, args.seconds), rounds_by(policy, args.size)
    how |= {"cleanup": False, "policy": policy, "resign": RESIGN}
    factors, games = factors_of(args.bot, args.of), []
    for number in numbers:
        signs = signs_of((number - 1) // 2, args.seed, len(factors))
        first, second = (
            Bot(f"{args.bot} {name}", args.bot, limits, version(rule, how, dict(zip(factors, side * signs)), args.of))
            for name, side in (("first", 1), ("second", -1))
        )
        games.append((Match((first, second), conditions, args.seed, 2, OWN), number))
    return games


def played(games: list[tuple[Match, int]], workers: int | None, stop: Callable[[], bool]) -> Iterator[tuple[dict, bytes]]:
    """Plays games until `stop` says so, each by a core of its own, or where nobody says how many at a time side by side, if that
    is faster."""
    if games and workers is None:
        match, _ = games[0]
        if most := at_once.places(match.contestants, match.conditions.size, options.default_memory()):
            return at_once.play_all(games, stop, most)
    return pool.play_all(games, pool.places(workers or CORES, 1), stop)


def check_versions(args: argparse.Namespace):
    """Begins a search with all of the smaller values, and one with all of the larger ones; and each with the other number of
    virtual losses, which must not be more than a leaf's playouts.

    Raises:
      ValueError: a value is not allowed, or the bot has none of what is to be tried.
    """
    factors = factors_of(args.bot, args.of)
    if not factors:
        raise ValueError(f"--of must name something that --bot {args.bot} has, not {', '.join(args.of)}")
    for sign, of_losses in itertools.product((-1, 1), repeat=2):
        signs = {name: of_losses if name == "virtual_losses" else sign for name in factors}
        policy = options.policy_of_argument(args.policy, args.size, args.bot)
        how = version(rule_of(args.bot, True), rounds_by(policy, args.size), signs, args.of)
        make_player(args.bot, **how).prepare(Position.empty(args.size), None).close()


def held_in(path: pathlib.Path, made: dict) -> list[dict[str, Any]]:
    """The games that a file has; none where there is no file.

    Args:
      path: of the file.
      made: the document that is to hold them, with what they must have in common.

    Raises:
      UsageError: it holds something else, or games of other settings or another version.
    """
    if not path.exists():
        return []
    try:
        held = json.loads(path.read_text("utf-8"))
        games, factors = held["games"], held["settings"]["factors"]
        effects(games, factors)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be gone on with: it is no document of bench.tuning") from error
    for name, what in (("settings", "other settings"), ("jaxgo", "another version"), ("commit", "another commit")):
        if held.get(name) != made[name]:
            raise UsageError(f"{path} holds games of {what}: {held.get(name)}")
    return games


def main(arguments: Sequence[str] | None = None) -> int:
    """Plays the games that are missing; after each the file holds what is known. The exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.tuning", description=__doc__, formatter_class=as_written)
    parser.add_argument("output", type=pathlib.Path, metavar="OUT.json")
    of = (
        "what is tried: priors (prior playouts), settings, all, or some of them by name, with commas between; these may have "
        f"other values, as in {_example('share')} (default: %(default)s). Priors: {', '.join(map(_example, PRIORS))}. Settings: "
        f"{', '.join(map(_example, SETTINGS))}"
    )
    parser.add_argument("--of", type=factors_of_argument, default="all", metavar="WHAT", help=of)
    parser.add_argument("--games", type=options.count(2), default=200, metavar="N", help="default: %(default)s")
    visits = "of a move (default: 2000, or --seconds)"
    parser.add_argument("--visits", type=options.count(1), metavar="N", help=visits)
    parser.add_argument("--seconds", type=options.seconds, metavar="S", help="time for each move, on one core")
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N", help="of the board (default: %(default)s)")
    trees = [bot for bot in SUMMARIES if has_tree(bot)]
    parser.add_argument("--bot", choices=trees, default="rave", metavar="NAME", help=f"{', '.join(trees)} (default: %(default)s)")
    options.add_policy_argument(parser, as_bot=True)
    parser.add_argument("--seed", type=options.count(0), default=0, metavar="S", help="default: %(default)s")
    workers = f"games at a time, a core each (default: {CORES}, the cores there are, or side by side where that is faster)"
    parser.add_argument("--workers", type=options.count(1, 1024), metavar="N", help=workers)
    args = parser.parse_args(arguments)
    if args.visits is None and args.seconds is None:
        args.visits = 2_000
    settings = {name: value for name, value in vars(args).items() if name not in ("output", "games", "workers", "of")}
    factors = factors_of(args.bot, args.of)
    settings |= {"resign": RESIGN, "knowledge": repr(rule_of(args.bot, True).knowledge), "factors": list(factors)}
    settings |= {"values": {name: list(args.of[name]) for name in factors}}
    with contextlib.ExitStack() as stack:
        try:
            settings["policy"] = repr(options.policy_of_argument(args.policy, args.size, args.bot))
            if not os.access(args.output.parent, os.W_OK):
                raise UsageError(f"{args.output} must be in a folder that is there and can be written to")
            check_versions(args)
            made = report.begin("tuning", hardware.describe(), settings) | {"software": hardware.versions()}
            if not stack.enter_context(files.taken(args.output)):
                raise UsageError(f"{args.output} is in use by another run")
            games = held_in(args.output, made)
        except (UsageError, ValueError) as error:
            parser.error(str(error))
        except OSError as error:
            parser.error(f"{args.output} cannot be used: {error.strerror}")
        return _play(args, factors, made, games)


def _play(args: argparse.Namespace, factors: Sequence[str], made: dict, games: list[dict[str, Any]]) -> int:
    """Plays what is missing of a document, and tells what is known; the exit status."""
    start, interrupted = time.monotonic(), []
    missing = games_of(args, sorted(set(range(1, args.games + 1)) - {game["number"] for game in games}))
    # Not an exception: what has ended is noted.
    with handled(lambda number, _: interrupted.append(number), signal.SIGINT):
        for game, _ in played(missing, args.workers, lambda: bool(interrupted)):
            signs = signs_of((game["number"] - 1) // 2, args.seed, len(factors)).tolist()
            known = {name: game[name] for name in ("number", "won", "moves", "game")}
            games = sorted([*games, known | {"signs": signs}], key=lambda game: game["number"])
            documents.write(args.output, made | {"effects": effects(games, factors), "games": games})
            print(f"bench.tuning: {len(games)} of {args.games} games, {time.monotonic() - start:.0f} s", file=sys.stderr)
    if interrupted:
        print(f"bench.tuning: interrupted; {args.output} has what is finished", file=sys.stderr)
    if not effects(games, factors):
        print(f"bench.tuning: {len(games)} games are too few to tell {len(factors)} factors apart", file=sys.stderr)
    for name, found in effects(games, factors).items():
        print(f"{name:18} {100 * found['effect']:+6.1f} % +- {100 * found['error']:.1f}")
    return EXIT_INTERRUPTED if interrupted else EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
