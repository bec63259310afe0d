"""How near playouts come to the judgement of a stronger program: what a playout policy is worth, before matches are played.

    python -m bench.judgement [GAMES.sgf] [--policy NAME,...]... [--playouts N] [--json]

The games are one SGF record a line, with Black's win rate after each move in percent (SBKV, as Sabaki has it) where a program has
judged it. From each position so judged, playouts are played by each policy (`--policy uniform`: by none), as a tree search plays
them from its leaves: they know the last move. A search needs no more of their win rates than which are better, so a logistic
curve is laid through them first. What is told is how much that falls short of the judge: the Kullback-Leibler divergence in
thousandths of a nat a position, 0 for the judge himself; its difference to the first policy's, with the standard error over
games; the same by phases of the game; and the correlation with the judge's win rates. A policy that falls less short need not
win more games: a match tells.
"""

import argparse
import json
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich import box

import jaxgo
from bench import hardware, report
from jaxgo.base.constants import BLACK, STAY
from jaxgo.cli import UsageError
from jaxgo.commands import arguments
from jaxgo.commands.tables import make_console, print_table
from jaxgo.playing.policies.in_order import Policies
from jaxgo.records.library import sgf
from jaxgo.running.leaves import MOST_OF_A_LEAF

#: 43 games of Pachi 12.90 (without a network, 5,000 playouts a move, in turn either colour) against GNU Go 3.8 at level 10, from
#: up to four random moves on; the judge is Pachi.
GAMES = pathlib.Path(__file__).parents[1] / "games" / "judged-9x9.sgf"
POLICIES = ("uniform", "capture:0.9", "patterns", "patterns:0.8", "patterns:0.8:match", "no-self-atari:0.9,patterns:0.8:match")
#: Moves played before a position, by which phases are told: from so many on.
PHASES = (0, 14, 28, 42)
#: A judge is never surer than this, nor is what is laid through the playouts.
SUREST = 0.995
#: Playouts of a call, at most.
MOST_PLAYOUTS = 1 << 20


class Judged(NamedTuple):
    """Positions that were judged."""

    positions: jaxgo.Position
    before: jaxgo.Position
    """What the last moves were played in, where the other player had made one, else the positions."""
    last: np.ndarray
    """int [B]: the last moves, points or P for a pass, else `STAY`."""
    win_rate: np.ndarray
    """float64 [B]: Black's, 1 - SUREST to SUREST."""
    game: np.ndarray
    """int [B]: the number of the game that a position is of, from 1."""
    move: np.ndarray
    """int [B]: moves played before it."""
    komi: float


def read(path: pathlib.Path) -> Judged:
    """The judged positions of a file.

    Raises:
      ValueError: it cannot be read, has no judged position, or games of several board sizes or komis.
    """
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    positions, before, last, found, komis = [], [], [], [], set()
    for number, line in enumerate(lines, start=1):
        try:
            record, judged = jaxgo.read_game(line.encode()), list(_judged(line))
            komis.add(record.komi)
            if judged:
                moves, _ = zip(*judged)
                game = record.positions()
                to_play = np.asarray(game.to_play)
                # A player who moves twice in a row begins anew: leaves are reached by a move of the other's.
                follows = [move > 0 and record.moves[move - 1][0] == -to_play[move] for move in moves]
                positions.append(game[list(moves)])
                before.append(game[[move - has_last for move, has_last in zip(moves, follows)]])
                last += [record.moves[move - 1][1] if has_last else STAY for move, has_last in zip(moves, follows)]
                found += [(rate, number, move) for move, rate in judged]
        except ValueError as error:
            raise ValueError(f"{path}, game {number}: {error}") from error
    if not found:
        raise ValueError(f"{path} has no position with a win rate (SBKV)")
    komi, *others = komis
    if len({each.size for each in positions}) > 1 or others or komi is None:
        raise ValueError(f"{path} must have games of one board size and komi")
    rates, games, played = (np.array(column) for column in zip(*found))
    rates = np.clip(rates, 1 - SUREST, SUREST)
    together = jaxgo.Position.concatenate
    return Judged(together(positions), together(before), np.array(last), rates, games, played, komi)


def _judged(line: str) -> Iterator[tuple[int, float]]:
    """(moves played before, Black's win rate) of the judged positions of a game."""
    played = 0
    for node in sgf.Sgf_game.from_string(line).get_main_sequence():
        played += node.get_move()[0] is not None
        if node.has_property("SBKV"):
            text = node.get_raw("SBKV").decode("utf-8", "replace")
            try:
                percent = float(text)
            except ValueError:
                percent = -1.0
            if not 0 <= percent <= 100:
                raise ValueError(f"SBKV must be a win rate from 0 to 100, not {text[:20]!r}")
            yield played, percent / 100


def log_odds(rates: np.ndarray) -> np.ndarray:
    """Of win rates."""
    return np.log(rates / (1 - rates))


def calibrated(rates: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """The logistic curve of rates' log odds, slope and offset, that comes nearest to what was judged: by Newton's method, whose
    steps are halved where they lead away."""
    columns = np.stack([log_odds(rates), np.ones_like(rates)], axis=1)

    def loss(line: np.ndarray) -> float:
        odds = columns @ line
        return float((np.logaddexp(0, odds) - judged * odds).sum())

    line = np.zeros(2)
    for _ in range(50):
        expected = _rate(columns @ line)
        curvature = columns.T @ (columns * (expected * (1 - expected))[:, None])
        step = np.linalg.solve(curvature + 1e-9 * np.eye(2), columns.T @ (judged - expected))
        while np.abs(step).max() > 1e-12 and loss(line + step) > loss(line):
            step = step / 2
        line = line + step
    return np.clip(_rate(columns @ line), 1 - SUREST, SUREST)


def _rate(odds: np.ndarray) -> np.ndarray:
    """The rates of which these are the log odds."""
    return np.exp(-np.logaddexp(0, -odds))


def shortfall(told: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """The Kullback-Leibler divergence of what is told from what was judged, in nats, for each position."""
    return judged * np.log(judged / told) + (1 - judged) * np.log((1 - judged) / (1 - told))


def win_rates(judged: Judged, policy: Policies, playouts: int) -> np.ndarray:
    """float64 [B]: Black's win rates in so many playouts from each position, never 0 or 1."""
    words, ko, passes, black = jaxgo.Leaves.arguments_of(judged.before)
    to_play, count = np.asarray(judged.positions.to_play), len(judged.move)
    at_once = min(count, MOST_PLAYOUTS // playouts)
    leaves = jaxgo.Leaves(judged.positions.size, at_once, playouts, komi=judged.komi, seed=1, policy=policy)
    try:
        parts = [slice(i, i + at_once) for i in range(0, count, at_once)]
        streams = np.arange(count)
        calls = [leaves.submit(words[x], ko[x], passes[x], black[x], judged.last[x], streams[x]) for x in parts]
        wins = np.concatenate([leaves.gather(call).wins for call in calls]) / 2
    finally:
        leaves.close()
    return (np.where(to_play == BLACK, wins, playouts - wins) + 1) / (playouts + 2)


def measure(judged: Judged, names: Sequence[str], playouts: int) -> list[dict[str, Any]]:
    """What each policy's playouts are short of, in order."""
    out, first = [], None
    for name in names:
        policy = arguments.policy_for(name, judged.positions.size)
        rates = win_rates(judged, policy, playouts)
        short = shortfall(calibrated(rates, judged.win_rate), judged.win_rate)
        first = short if first is None else first
        # Of a mean over games of unequal lengths: what each game's positions add beyond the mean's share.
        beyond = short - first - (short - first).mean()
        by_game = [beyond[judged.game == game].sum() for game in np.unique(judged.game)]
        phase = np.searchsorted(PHASES, judged.move, side="right") - 1
        varied = min(np.ptp(rates), np.ptp(judged.win_rate)) > 0
        out.append({
            "policy": name, "short": float(short.mean()), "difference": float((short - first).mean()),
            "difference_error": float(np.std(by_game, ddof=1) * np.sqrt(len(by_game)) / len(short)) if len(by_game) > 1 else None,
            "phases": [float(short[phase == i].mean()) if (phase == i).any() else None for i in range(len(PHASES))],
            "correlation": float(np.corrcoef(rates, judged.win_rate)[0, 1]) if varied else None,
        })  # fmt: skip
        print(f"python -m bench.judgement: {name} measured, {len(out)} of {len(names)}", file=sys.stderr)
    return out


def rows(results: Sequence[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Of the table for people."""

    def thousandths(value: float | None) -> str:
        return "-" if value is None else f"{1000 * value:.1f}"

    for each in results:
        error = each["difference_error"]
        difference = f"{1000 * each['difference']:+.1f}" + ("" if error is None else f" ± {1000 * error:.1f}")
        phases = map(thousandths, each["phases"])
        correlation = "-" if each["correlation"] is None else f"{each['correlation']:.3f}"
        yield each["policy"], thousandths(each["short"]), difference, *phases, correlation


def main(given: Sequence[str] | None = None) -> int:
    """Measures what is asked for; the exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.judgement", description=__doc__, formatter_class=as_written)
    parser.add_argument("games", nargs="?", type=pathlib.Path, default=GAMES, metavar="GAMES.sgf", help=f"default: {GAMES.name}")
    parser.add_argument("--policy", action="append", metavar="NAME,...", help="may be given again; default: some of them")
    count = arguments.count(1, MOST_OF_A_LEAF)
    parser.add_argument("--playouts", type=count, default=2_000, metavar="N", help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print a document")
    asked = parser.parse_args(given)
    names = asked.policy or list(POLICIES)
    try:
        judged = read(asked.games)
        for name in names:
            arguments.policy_for(name, judged.positions.size)
    except (ValueError, UsageError) as error:
        parser.error(str(error))
    settings = {"games": asked.games.name, "positions": len(judged.move), "playouts": asked.playouts}
    made = report.begin("judgement", hardware.describe(), settings) | {"software": hardware.versions()}
    made["results"] = measure(judged, names, asked.playouts)
    if asked.json:
        print(json.dumps(made, indent=1, allow_nan=False))
        return 0
    print(f"{len(judged.move):,} positions; thousandths of a nat a position that playouts are short of the judge")
    columns = ("policy", "short", "to the first", *(f"from move {first}" for first in PHASES), "correlation")
    print_table(make_console(), columns, list(rows(made["results"])), box=box.HEAVY_HEAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
