"""A search over the weights of prior playouts (`search.Knowledge`) by matches: which should be larger, which smaller.

    python -m bench.weights OUT.json --games 200 --visits 2000

The bot plays as `jaxgo gtp` has it play. Each game is played between two versions of it. For each group of weights a coin says
which of them has it multiplied by `FACTOR` and which divided; so every game tells something of all groups at once. Of every group
the report says how much of the score having it larger was worth, with its standard error. What stands in OUT.json already is
kept, and games go on after it.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import sys
import time
from collections.abc import Sequence

import numpy as np

from bench import files, hardware, report
from bench.matches import pool
from bench.matches.contestants import Bot, Conditions
from bench.matches.playing import Match
from bench.matches.referee import OWN
from jaxgo.cli import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from search.bots import SUMMARIES
from search.choice import Limits
from search.commands import options
from search.knowledge import Knowledge
from search.players import has_tree, rule_of

#: By what weights are multiplied and divided.
FACTOR = 2.0
#: Weights that grow and shrink together.
GROUPS = {
    "even": ("even",), "capture": ("capture_one", "capture_two", "capture_more"), "save": ("save",), "atari": ("atari",),
    "self_atari": ("self_atari",), "pattern": ("pattern",), "near_last": ("near_last_1", "near_last_2", "near_last_3"),
    "near_before": ("near_before_1", "near_before_2", "near_before_3"),
    "far_line": ("far_line_1", "far_line_2", "far_line_3"), "eyelike": ("eyelike",),
}  # fmt: skip


def signs_of(pair: int, seed: int) -> np.ndarray:
    """int [groups], 1 where the first version has the group larger and -1 where the second has; of two games in a row the same,
    which they play with either colour."""
    return np.random.default_rng([0x3E16, seed, pair]).choice([-1, 1], len(GROUPS))


def scaled(knowledge: Knowledge, signs: np.ndarray) -> Knowledge:
    """Knowledge with each group of weights larger or smaller by `FACTOR`."""
    changes = {
        name: round(getattr(knowledge, name) * FACTOR ** int(sign))
        for group, sign in zip(GROUPS.values(), signs) for name in group
    }  # fmt: skip
    return dataclasses.replace(knowledge, **changes)


def effects(games: list[dict]) -> dict[str, dict[str, float]]:
    """Of each group, how much the score rises with the larger weights: `effect`, half the difference to the smaller ones, and
    `error`, its standard error; from games with `signs` and `won`, by least squares."""
    signs, won = np.array([game["signs"] for game in games], float), np.array([game["won"] for game in games])
    inverse = np.linalg.pinv(signs.T @ signs)
    found = inverse @ signs.T @ (won - 0.5)
    return {
        name: {"effect": float(effect), "error": float(error)}
        for name, effect, error in zip(GROUPS, found, 0.5 * np.sqrt(np.diag(inverse)))
    }


def games_of(args: argparse.Namespace, numbers: Sequence[int]) -> list[tuple[Match, int]]:
    """The games of these numbers, from 1 on."""
    rule, policy = rule_of(args.bot, True), options.policy_of_argument(args.policy, args.size, args.bot)
    conditions = Conditions(args.size, 7.5, None, 0.0, options.default_memory() // (2 * args.workers))
    limits, how = Limits(visits=args.visits), {"leaves": 256, "playouts_per_leaf": 8, "cleanup": False, "policy": policy}
    games = []
    for number in numbers:
        signs, versions = signs_of((number - 1) // 2, args.seed), []
        for name, side in (("first", 1), ("second", -1)):
            own = dataclasses.replace(rule, knowledge=scaled(rule.knowledge, side * signs))
            versions.append(Bot(f"{args.bot} {name}", args.bot, limits, {**how, "rule": own}))
        games.append((Match(tuple(versions), conditions, args.seed, 2, OWN), number))
    return games


def held_in(path: pathlib.Path, settings: dict) -> list[dict]:
    """The games that a file has; none where there is no file.

    Raises:
      UsageError: it holds something else, or games of other settings.
    """
    if not path.exists():
        return []
    try:
        held = json.loads(path.read_text("utf-8"))
        games, others = held["games"], held["settings"]
        effects(games)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be gone on with: it is no document of bench.weights") from error
    if others != settings:
        raise UsageError(f"{path} holds games of other settings: {others}")
    return games


def main(arguments: Sequence[str] | None = None) -> int:
    """Plays the games that are missing; after each the file holds what is known. The exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.weights", description=__doc__, formatter_class=as_written)
    parser.add_argument("output", type=pathlib.Path, metavar="OUT.json")
    parser.add_argument("--games", type=options.count(2), default=200, metavar="N", help="default: %(default)s")
    parser.add_argument("--visits", type=options.count(1), default=2_000, metavar="N", help="of a move (default: %(default)s)")
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N", help="of the board (default: %(default)s)")
    trees = [bot for bot in SUMMARIES if has_tree(bot)]
    parser.add_argument("--bot", choices=trees, default="rave", metavar="NAME", help=f"{', '.join(trees)} (default: %(default)s)")
    options.add_policy_argument(parser, as_bot=True)
    parser.add_argument("--seed", type=options.count(0), default=0, metavar="S", help="default: %(default)s")
    cores = len(hardware.usable_cores())
    parser.add_argument("--workers", type=options.count(1, 1024), default=cores, metavar="N", help="games at a time, one a core")
    args = parser.parse_args(arguments)
    settings = {name: value for name, value in vars(args).items() if name not in ("output", "games", "workers")}
    settings |= {"factor": FACTOR, "weights": dataclasses.asdict(rule_of(args.bot, True).knowledge)}
    try:
        settings["policy"] = repr(options.policy_of_argument(args.policy, args.size, args.bot))
        if not os.access(args.output.parent, os.W_OK):
            raise UsageError(f"{args.output} must be in a folder that is there and can be written to")
        games = held_in(args.output, settings)
    except UsageError as error:
        parser.error(str(error))
    missing = games_of(args, sorted(set(range(1, args.games + 1)) - {game["number"] for game in games}))
    made = report.begin("weights", hardware.describe(), settings)
    command = ["python", "-m", "bench.weights", *(sys.argv[1:] if arguments is None else arguments)]
    made |= {"software": hardware.versions(), "command": shlex.join(command)}
    start, status = time.monotonic(), EXIT_DONE
    try:
        for game, _ in pool.play_all(missing, pool.places(args.workers, 1), lambda: False):
            signs = signs_of((game["number"] - 1) // 2, args.seed).tolist()
            known = {name: game[name] for name in ("number", "won", "moves", "game")}
            games = sorted([*games, known | {"signs": signs}], key=lambda game: game["number"])
            files.write_document(args.output, made | {"effects": effects(games), "games": games})
            print(f"bench.weights: {len(games)} of {args.games} games, {time.monotonic() - start:.0f} s", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"bench.weights: interrupted; {args.output} has what is finished", file=sys.stderr)
        status = EXIT_INTERRUPTED
    if not games:
        return status
    for name, found in effects(games).items():
        print(f"{name:12} {100 * found['effect']:+6.1f} % +- {100 * found['error']:.1f}")
    return status


if __name__ == "__main__":
    sys.exit(main())
