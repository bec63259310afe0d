"""Which moves a stronger program plays: weights of moves are fitted to its games, and held against games that were left out.

    python -m bench.move_prediction [GAMES.sgf] [--from N] [--output WEIGHTS.npz] [--json]

The games are one SGF record a line. In each position from move N on, moves are as likely as weights say, of what they do
(`search.features`), of their lines, of how far from the last two moves they are, and of what lies around them, turned and
mirrored alike: on eight points, on twelve, and which chains on the four sides (`search.shapes`). Fitted are those under which the
moves that were played are the most likely (a conditional logit with a penalty on their squares).
Every fifth game is left out first: in these, how often the move played was the likeliest, or among the first three or five, and
the mean surprise, minus the logarithm of its chance. The weights that are written are fitted to all of the games then.
`search.Knowledge` takes them: `search.MoveWeights.load("WEIGHTS.npz")`.
"""

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse
from rich import box

import jaxgo
from bench import hardware, report
from jaxgo.base.constants import STAY
from jaxgo.commands import arguments
from jaxgo.commands.tables import make_console, print_table
from search import surroundings
from search.features import FEATURES
from search.move_weights import DISTANCES, DOUBLE, LINES, MoveWeights, line_of
from search.shapes import PATTERNS, SIDES, alike, turned_sides

#: 2,982 games that Pachi 12.90 played against itself, without a network, with 1,000 playouts a move, from one to six random moves
#: on.
GAMES = pathlib.Path(__file__).parents[1] / "games" / "pachi-9x9.sgf"
RANDOM_MOVES = 6
#: Patterns that stand around fewer moves have no weight of their own.
SEEN = 10
#: On half of the squares of weights, in nats.
PENALTY = 2.0
#: One game in so many is left out.
LEFT_OUT = 5
AT_ONCE = 4096
#: Where what is said of a move begins: features, lines, patterns, distances from the last move and from the one before it, sides,
#: and shapes.
COLUMNS = np.cumsum([0, len(FEATURES), LINES, PATTERNS, DISTANCES, DISTANCES, SIDES])


class Moves(NamedTuple):
    """Moves of positions that may be useful; M in all, of B positions one after the other."""

    said: scipy.sparse.csr_matrix
    """float64 [M, n]: 1 where a feature, a line and so on is a move's, in the order of `COLUMNS`, and then of `shapes`."""
    shapes: np.ndarray
    """int64 [n - COLUMNS[-1]], rising: the least of the numbers of those that are alike."""
    first: np.ndarray
    """int [B]: the first move of each position."""
    played: np.ndarray
    """int [B]: the one that was played."""
    game: np.ndarray
    """int [B]: the number of the game that the position is of."""

    def of(self, wanted: np.ndarray) -> "Moves":
        """Those of some positions; bool [B]."""
        ends = np.append(self.first[1:], self.said.shape[0])
        lengths = (ends - self.first)[wanted]
        first = np.cumsum(lengths) - lengths
        rows = np.repeat(self.first[wanted] - first, lengths) + np.arange(lengths.sum())
        return Moves(self.said[rows], self.shapes, first, first + (self.played - self.first)[wanted], self.game[wanted])


def read(path: pathlib.Path, begin: int) -> Moves:
    """The moves of a file's games from move number `begin` on, from 0; passes are left out, and a second move of the same player.

    Raises:
      ValueError: it cannot be read, or has no such moves, or games of several board sizes.
    """
    try:
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    before, asked = [], []
    for number, line in enumerate(lines, start=1):
        try:
            record = jaxgo.read_game(line)
            points, positions = [STAY, *(point for _, point in record.moves)], record.positions()
        except ValueError as error:
            raise ValueError(f"{path}, game {number}: {error}") from error
        colours = [colour for colour, _ in record.moves]
        in_turn = [k for k in range(begin, len(colours)) if k == 0 or colours[k] != colours[k - 1]]
        at = [k for k in in_turn if points[k + 1] != record.size**2]
        if at:
            before.append(positions[[max(k - 1, 0) for k in at]])
            asked += [(points[k], points[k - 1] if k > 1 else -1, points[k + 1], number) for k in at]
    if not asked:
        raise ValueError(f"{path} has no moves from number {begin} on")
    if len({each.size for each in before}) > 1:
        raise ValueError(f"{path} must have games of one board size")
    return describe(jaxgo.Position.concatenate(before), *np.array(asked).T)


def describe(before: jaxgo.Position, last: np.ndarray, one_before: np.ndarray, played: np.ndarray, game: np.ndarray) -> Moves:
    """What is said of the moves after each last move, `played` among them; positions of which it is none are left out."""
    size, count = before.size, len(last)
    words, ko, passes, black = jaxgo.Leaves.arguments_of(before)
    line = line_of(size)
    leaves = jaxgo.Leaves(size, min(count, AT_ONCE), 1)
    columns, shapes, played_rows, of_games, lengths = [], [], [], [], []
    try:
        for part in (slice(i, i + AT_ONCE) for i in range(0, count, AT_ONCE)):
            call = leaves.submit(words[part], ko[part], passes[part], black[part], last[part], np.arange(count)[part])
            found = leaves.gather(call)
            known = found.useful[np.arange(len(found.useful)), played[part]]
            useful = found.useful[known]
            row, point = np.nonzero(useful)
            shape, sides, said = (numbers[row, point] for numbers in surroundings.numbers(size, found.words[known]))
            features = np.where(said[:, None] >> np.arange(len(FEATURES)) & 1, np.arange(len(FEATURES)), -1)
            from_moves = [distances(size, other[part][known][row], point) for other in (last, one_before)]
            pattern, sides = alike(shape & PATTERNS - 1), alike(sides, turned_sides)
            others = [np.where(x < 0, -1, x + begin) for x, begin in zip([line[point], pattern, *from_moves, sides], COLUMNS[1:])]
            columns.append(np.column_stack([features, *others]))
            shapes.append(alike(shape))
            lengths.append(useful.sum(axis=1))
            played_rows.append(np.cumsum(useful, axis=1)[np.arange(len(useful)), played[part][known]] - 1)
            of_games.append(game[part][known])
    finally:
        leaves.close()
    of_shapes, of_move = np.unique(np.concatenate(shapes), return_inverse=True)
    column = np.column_stack([np.concatenate(columns), COLUMNS[-1] + of_move])
    move, which = np.nonzero(column >= 0)
    at = move, column[move, which]
    said = scipy.sparse.csr_matrix((np.ones(len(move)), at), shape=(len(column), COLUMNS[-1] + len(of_shapes)))
    many = np.concatenate(lengths)
    first = np.cumsum(many) - many
    return Moves(said, of_shapes, first, first + np.concatenate(played_rows), np.concatenate(of_games))


def distances(size: int, others: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How far points are from other moves, as `search.MoveWeights` counts it; -1 where these are no points."""
    rows, columns = (np.abs(x - y) for x, y in zip(np.divmod(others, size), np.divmod(points, size)))
    far = np.minimum(rows + columns + np.maximum(rows, columns), DISTANCES - 1)
    return np.where((others >= 0) & (others < size * size), far, -1)


def chances(moves: Moves, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the moves' chances, logarithms of those played), by weights in nats."""
    sums = moves.said @ weights
    position = np.repeat(np.arange(len(moves.first)), np.diff(np.append(moves.first, len(sums))))
    most = np.maximum.reduceat(sums, moves.first)
    strengths = np.exp(sums - most[position])
    totals = np.add.reduceat(strengths, moves.first)
    return strengths / totals[position], sums[moves.played] - most - np.log(totals)


def fit(moves: Moves, without: Sequence[slice] = ()) -> np.ndarray:
    """The weights, in nats, those of some columns 0."""
    common = np.asarray(moves.said.sum(axis=0)).ravel() >= SEEN
    for columns in without:
        common[columns] = False
    used = moves._replace(said=moves.said[:, common])
    transposed, observed = used.said.T.tocsr(), np.asarray(used.said[used.played].sum(axis=0)).ravel()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        each, logarithms = chances(used, weights)
        penalty = PENALTY / 2 * weights @ weights
        return float(penalty - logarithms.sum()), transposed @ each - observed + PENALTY * weights

    weights = np.zeros(moves.said.shape[1])
    weights[common] = scipy.optimize.minimize(loss, weights[common], jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return weights


def in_units(weights: np.ndarray, shapes: np.ndarray) -> MoveWeights:
    """Weights in nats as whole numbers; each pattern has that of those that are alike, and shapes of weight 0 are left out."""
    whole = np.round(weights * DOUBLE / np.log(2))
    features, lines, patterns, last, before, sides, of_shapes = np.split(whole, COLUMNS[1:])
    patterns, sides, of_shapes = (np.clip(x, -127, 127).astype(np.int8) for x in (patterns, sides, of_shapes))
    return MoveWeights(
        features.astype(np.int16), lines.astype(np.int16), patterns[alike(np.arange(PATTERNS))],
        np.stack([last, before]).astype(np.int16), sides[alike(np.arange(SIDES), turned_sides)],
        shapes[of_shapes != 0].astype(np.int32), of_shapes[of_shapes != 0],
    )  # fmt: skip


def in_nats(weights: MoveWeights, shapes: np.ndarray) -> np.ndarray:
    """The way back, for moves with these shapes."""
    known = dict(zip(weights.shapes.tolist(), weights.shape_weights.tolist()))
    of_shapes = [known.get(shape, 0) for shape in shapes.tolist()]
    of_others = weights.features, weights.lines, weights.patterns, *weights.distances, weights.sides
    return np.concatenate([*of_others, of_shapes]) * np.log(2) / DOUBLE


def judge(name: str, moves: Moves, weights: np.ndarray) -> dict:
    """How well weights tell the moves that were played; of moves with equal chances any is as likely the first."""
    each, logarithms = chances(moves, weights)
    mine = np.repeat(each[moves.played], np.diff(np.append(moves.first, len(each))))
    before, alike = (np.add.reduceat(x, moves.first, dtype=np.int64) for x in (each > mine, each == mine))
    firsts = {f"first_{n}": float(np.clip((n - before) / alike, 0, 1).mean()) for n in (1, 3, 5)}
    return {"weights": name, **firsts, "surprise": float(-logarithms.mean())}


def in_words(result: dict) -> tuple[str, ...]:
    """A row of the table for people."""
    return result["weights"], *(f"{100 * result[f'first_{n}']:.1f} %" for n in (1, 3, 5)), f"{result['surprise']:.3f}"


def main(given: Sequence[str] | None = None) -> int:
    """Fits and tells; the exit status."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m bench.move_prediction", description=__doc__, formatter_class=as_written)
    parser.add_argument("games", nargs="?", type=pathlib.Path, default=GAMES, metavar="GAMES.sgf", help=f"default: {GAMES.name}")
    begin = "moves before this one, from 0, are not learnt (default: %(default)s)"
    parser.add_argument("--from", dest="begin", type=arguments.count(0, 10_000), default=RANDOM_MOVES, metavar="N", help=begin)
    parser.add_argument("--output", type=pathlib.Path, metavar="WEIGHTS.npz", help="where to write what is fitted to all games")
    parser.add_argument("--json", action="store_true", help="print a document")
    asked = parser.parse_args(given)
    if asked.output and (asked.output.is_dir() or not os.access(asked.output.parent, os.W_OK)):
        parser.error(f"--output {asked.output} must be a file in a folder that is there and can be written to")
    try:
        moves = read(asked.games, asked.begin)
    except ValueError as error:
        parser.error(str(error))
    out = moves.game % LEFT_OUT == 0
    if out.all() or not out.any():
        parser.error(f"{asked.games} must have moves of {LEFT_OUT} games or more, of which one in {LEFT_OUT} is left out")
    kept, left = moves.of(~out), moves.of(out)
    patterns, rest = slice(*COLUMNS[2:4]), slice(COLUMNS[3], None)
    candidates = {
        "none": np.zeros(moves.said.shape[1]), "of features and lines": fit(kept, [patterns, rest]),
        "of patterns too": fit(kept, [rest]), "of distances and sides too": fit(kept, [slice(COLUMNS[-1], None)]),
        "of shapes too": fit(kept),
        f"that come with jaxgo{', fitted to these too' * (asked.games == GAMES)}": in_nats(MoveWeights.fitted(), moves.shapes),
    }  # fmt: skip
    settings = {"games": asked.games.name, "positions": len(moves.game), "left_out": int(out.sum()), "from": asked.begin}
    made = report.begin("move_prediction", hardware.describe(), settings) | {"software": hardware.versions()}
    made["results"] = [judge(name, left, weights) for name, weights in candidates.items()]
    if asked.json:
        print(json.dumps(made, indent=1, allow_nan=False))
    else:
        print(f"{len(moves.game):,} positions, of which {out.sum():,} were left out; in these the move played was")
        columns = ("weights", "the likeliest", "of the first 3", "of the first 5", "surprise, nats")
        print_table(make_console(), columns, [in_words(each) for each in made["results"]], box=box.HEAVY_HEAD)
    if asked.output:
        in_units(fit(moves), moves.shapes).save(asked.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
