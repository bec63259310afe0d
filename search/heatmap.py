"""Heatmaps: how a bot likes each point, as characters or as a picture."""

import numpy as np

from jaxgo import Position
from jaxgo.board.coordinates import COLUMNS, coordinate

#: From the least to the best liked.
SHADES = "0123456789"


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


def save_picture(position: Position, values: np.ndarray, best: int, path: str, title: str) -> None:
    """Draws the board with the values as colours (needs matplotlib, `jaxgo[plot]`).

    Args:
      position: one position.
      values: float [P], NaN for points that are no moves.
      best: the point to mark, P for a pass.
      path: .png, .svg or .pdf.
      title: above the board.
    """
    from matplotlib.figure import Figure

    size = position.size
    stones, grid = np.asarray(position.to_array())[0], shades(values.astype(np.float64)).reshape(size, size)
    figure = Figure(figsize=(6.4, 6.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor("#cbc4b4")
    shown = axes.imshow(np.where(stones == 0, grid, np.nan), cmap="YlOrRd", vmin=0, vmax=1, alpha=0.9)
    figure.colorbar(shown, ax=axes, label="least liked to best liked", shrink=0.7)
    for y, x in np.argwhere(stones != 0):
        black = stones[y, x] == 1
        axes.add_patch(_circle(x, y, "black" if black else "white"))
    if best < size * size:
        axes.plot(best % size, best // size, marker="x", color="#1f4e8c", markersize=10, markeredgewidth=2)
    axes.set_xticks(range(size), COLUMNS[:size])
    axes.set_yticks(range(size), [str(size - y) for y in range(size)])
    axes.set_title(f"{title}: {coordinate(best, size)}")
    figure.savefig(path, dpi=150)


def _circle(x: int, y: int, colour: str):
    from matplotlib.patches import Circle

    return Circle((x, y), 0.45, facecolor=colour, edgecolor="black", linewidth=0.8)
