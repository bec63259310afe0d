"""Heatmaps: how a bot likes each point, as characters or as a picture."""

import os

import numpy as np

from jaxgo import Position
from jaxgo.board.coordinates import COLUMNS

#: From the least to the best liked.
SHADES = "0123456789"
_BEST = "#1f6fd6"


def shades(values: np.ndarray) -> np.ndarray:
    """Values scaled from the least (0) to the greatest (1), NaN where they are; 1 everywhere if all are equal."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.full(values.shape, np.nan)
    least, most = known.min(), known.max()
    return np.where(np.isnan(values), np.nan, (values - least) / (most - least) if most > least else 1.0)


def as_text(position: Position, values: np.ndarray) -> str:
    """One character for each point: stones X and O, a digit for how a move is liked (9 most), . for what is no move.

    Args:
      position: one position.
      values: float [P], NaN for points that are no moves.
    """
    size = position.size
    stones, scaled = np.asarray(position.to_array())[0], shades(values.astype(np.float64)).reshape(size, size)
    rows = []
    for y in range(size):
        line = []
        for x in range(size):
            if stones[y, x]:
                line.append("X" if stones[y, x] == 1 else "O")
            else:
                line.append("." if np.isnan(scaled[y, x]) else SHADES[round(float(scaled[y, x]) * 9)])
        rows.append(f"{size - y:2d} {' '.join(line)}")
    return "\n".join([*rows, "   " + " ".join(COLUMNS[:size])])


def save_picture(
    position: Position, values: np.ndarray, best: int, path: str | os.PathLike, title: str, last: int | None = None
) -> None:  # fmt: skip
    """Draws the board with the values as colours (needs matplotlib, `jaxgo[plot]`).

    Args:
      position: one position.
      values: float [P], NaN for points that are no moves.
      best: the point to mark, P for a pass.
      path: .png, .svg or .pdf.
      title: above the board.
      last: the point of the last move, which is marked too; None, or P, for none.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    from jaxgo.commands.board_picture import draw_board

    size = position.size
    stones, grid = np.asarray(position.to_array())[0], shades(values.astype(np.float64)).reshape(size, size)
    figure = Figure(figsize=(7.2, 6.6), layout="constrained")
    axes = figure.add_subplot()
    draw_board(axes, stones, last)
    y, x = np.nonzero(~np.isnan(grid) & (stones == 0))
    # As large as its space allows, whatever the board's size.
    dots = axes.scatter(x, y, c=grid[y, x], s=(250 / size) ** 2, cmap="YlOrRd", vmin=0, vmax=1, lw=0, zorder=4)
    figure.colorbar(dots, ax=axes, label="least liked to best liked", shrink=0.7)
    if best < size * size:
        axes.add_patch(Circle((best % size, best // size), 0.4, fill=False, edgecolor=_BEST, lw=2.4, zorder=6))
    axes.set_title(title, fontsize=11)
    figure.savefig(path, dpi=150)
