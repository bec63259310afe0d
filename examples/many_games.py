"""Many games into a table: every position of some records, evaluated in one batch for each board size, as CSV on stdout.

    python examples/many_games.py games/*.sgf > table.csv

For millions of positions, other machines and work that goes on after an interruption there is `jaxgo collection`.
"""

import csv
import sys

import numpy as np

import jaxgo


def main(paths: list[str], playouts: int = 1000) -> None:
    if not paths:
        sys.exit("usage: python examples/many_games.py GAME.sgf...")
    by_size: dict[int, list[tuple[str, jaxgo.Position, float]]] = {}
    for path in paths:
        record = jaxgo.read_game(path)
        for remark in record.remarks:  # such as further games in the file, of which the first is read
            print(f"{path}: {remark}", file=sys.stderr)
        komi = 7.5 if record.komi is None else record.komi
        by_size.setdefault(record.size, []).append((path, record.position("all"), komi))
    table = csv.writer(sys.stdout)
    table.writerow(["game", "move", "black_to_play", "win_rate", "error", "margin"])
    for games in by_size.values():
        together = jaxgo.Position.concatenate([game for _, game, _ in games])
        names = [(path, move) for path, game, _ in games for move in range(game.batch)]
        komi = np.repeat([points for *_, points in games], [game.batch for _, game, _ in games])
        found = jaxgo.evaluate(together, playouts, komi=komi, seed=1)
        for (path, move), black, *figures in zip(
            names, np.asarray(together.to_play) == jaxgo.BLACK, found.win_rate, found.win_rate_error, found.margin_mean
        ):
            table.writerow([path, move, int(black), *(f"{x:.4f}" for x in figures)])


if __name__ == "__main__":
    main(sys.argv[1:])
