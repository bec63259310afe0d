"""A search over the weights of prior playouts (`search.Knowledge`) by matches: which should be larger, which smaller.

    python -m bench.weights OUT.json --games 200 --visits 2000

Each game is played between two versions of a bot. For each group of weights a coin says which of them has it multiplied by
`FACTOR` and which divided; so every game tells something of all groups at once. Of every group the report says how much of the
score having it larger was worth, with its standard error. What stands in OUT.json already is kept, and games go on after it.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import time

import numpy as np

from bench import hardware, report
from bench.matches import pool
from bench.matches.contestants import Bot, Conditions
from bench.matches.playing import Match
from bench.matches.referee import OWN
from search.choice import Limits
from search.commands import options
from search.knowledge import Knowledge
from search.players import rule_of

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


def games_of(args: argparse.Namespace, numbers: list[int]) -> list[tuple[Match, int]]:
    """The games of these numbers, from 1 on."""
    rule = rule_of(args.bot, True)
    conditions = Conditions(args.size, 7.5, None, 0.0, options.default_memory() // (2 * args.workers))
    limits, how = Limits(visits=args.visits), {"leaves": 256, "playouts_per_leaf": 8, "cleanup": False}
    games = []
    for number in numbers:
        signs, versions = signs_of((number - 1) // 2, args.seed), []
        for name, side in (("first", 1), ("second", -1)):
            own = dataclasses.replace(rule, knowledge=scaled(rule.knowledge, side * signs))
            versions.append(Bot(f"{args.bot} {name}", args.bot, limits, {**how, "rule": own}))
        games.append((Match(tuple(versions), conditions, args.seed, 2, OWN), number))
    return games


def main() -> None:
    """Plays the games that are missing; after each the file holds what is known."""
    parser = argparse.ArgumentParser(prog="python -m bench.weights", description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=pathlib.Path, metavar="OUT.json")
    parser.add_argument("--games", type=options.count(2), default=200, metavar="N")
    parser.add_argument("--visits", type=options.count(1), default=2_000, metavar="N")
    parser.add_argument("--size", type=options.count(2, 25), default=9, metavar="N")
    parser.add_argument("--bot", type=options.bot, default="rave", metavar="NAME")
    parser.add_argument("--seed", type=options.count(0), default=0, metavar="S")
    parser.add_argument("--workers", type=options.count(1, 1024), default=len(hardware.usable_cores()), metavar="N")
    args = parser.parse_args()
    settings = {name: value for name, value in vars(args).items() if name not in ("output", "games", "workers")}
    settings |= {"factor": FACTOR, "weights": dataclasses.asdict(rule_of(args.bot, True).knowledge)}
    made = report.begin("weights", hardware.describe(), settings)
    made["command"] = f"python -m bench.weights {' '.join(sys.argv[1:])}"
    games = []
    if args.output.exists():
        held = json.loads(args.output.read_text())
        if held["settings"] != settings:
            sys.exit(f"{args.output} holds games of other settings: {held['settings']}")
        games = held["games"]
    there = {game["number"] for game in games}
    missing = [number for number in range(1, args.games + 1) if number not in there]
    start = time.monotonic()
    for game, _ in pool.play_all(games_of(args, missing), pool.places(args.workers, 1), lambda: False):
        signs = signs_of((game["number"] - 1) // 2, args.seed).tolist()
        games.append({"number": game["number"], "signs": signs, "won": game["won"], "moves": game["moves"], "game": game["game"]})
        games.sort(key=lambda game: game["number"])
        made |= {"effects": effects(games), "games": games}
        args.output.write_text(json.dumps(made, indent=1) + "\n")
        print(f"bench.weights: {len(games)} of {args.games} games, {time.monotonic() - start:.0f} s", file=sys.stderr)
    for name, found in made["effects"].items():
        print(f"{name:12} {100 * found['effect']:+6.1f} % +- {100 * found['error']:.1f}")


if __name__ == "__main__":
    main()
