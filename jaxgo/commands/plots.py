"""The picture of `jaxgo evaluate --plot`: the board with its ownership, and the course of the game beside it.

Needs matplotlib, the extra `plot`. The figure is drawn without a display and without matplotlib's global state.
"""

import importlib.util
import math
import os
import pathlib

import numpy as np

from jaxgo.board.coordinates import COLUMNS
from jaxgo.cli import UsageError
from jaxgo.commands.report import Report, Row, last_move_text

FORMATS = ("pdf", "png", "svg")

_MOST_BARS = 90
_WOOD = "#e3b778"
_LINE = "#6b4f2a"
_BLACK, _WHITE = "#1a1a1a", "#fafafa"
_BLACKS, _WHITES = "#2b2b2b", "#d8b878"
_MARK = "#d0342c"
_CURVE, _MARGIN_CURVE, _GREY = "#2f6db0", "#c4622d", "#7a7a7a"


def check_can_plot(path: str) -> None:
    """Finds out before the work begins what would keep the picture from being written at its end.

    Raises:
      UsageError: matplotlib is missing, the format is unknown, or the file cannot be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'jaxgo[plot]'")
    suffix = pathlib.Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise UsageError(f"--plot {path}: the name must end in {', '.join('.' + name for name in FORMATS)}")
    existed = os.path.lexists(path)
    try:
        with open(path, "ab"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"--plot {path}: the file cannot be written: {reason}") from error
    if not existed:
        os.remove(path)


def save_plot(report: Report, path: str) -> None:
    """Draws the report into a file.

    Args:
      report: at least one row.
      path: ends in one of `FORMATS`.

    Raises:
      OSError: the file cannot be written after all (a full disk).
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.6, 6.4), dpi=130, layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.0), wspace=0.04)
    row = report.in_play[-1]
    _draw_board(figure.add_subplot(grid[:, 0]), row, report)
    upper, lower = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    if len(report.in_play) > 1:
        lower.sharex(upper)
        _draw_win_rates(upper, report)
        _draw_margins(lower, report)
    else:
        _draw_margin_histogram(upper, row, report)
        _draw_ownership_ranks(lower, row)
    figure.suptitle(_title(report), fontsize=12, color="#222222")
    figure.savefig(path)


def _title(report: Report) -> str:
    """Who played, on which board, and how many playouts."""
    record = report.record
    players = f"{record.black or '?'} (Black) - {record.white or '?'} (White)" if record.black or record.white else "Empty board"
    parts = [players, f"{report.size}x{report.size}", f"komi {report.komi:g}", f"{report.playouts:,} playouts a position"]
    if not report.complete:
        parts.append("interrupted")
    # A dollar sign in a name would start a formula.
    return "   ·   ".join(parts).replace("$", r"\$")


def _star_points(size: int) -> list[tuple[int, int]]:
    """(x, y) of the points that a real board marks."""
    if size < 7:
        return [(size // 2, size // 2)] if size % 2 else []
    edge = 2 if size < 13 else 3
    lines = [edge, size - 1 - edge]
    corners = [(x, y) for x in lines for y in lines]
    if size % 2 == 0:
        return corners
    middle = size // 2
    if size < 19:
        return [*corners, (middle, middle)]
    lines.insert(1, middle)
    return [(x, y) for x in lines for y in lines]


def _draw_board(axes, row: Row, report: Report) -> None:
    """Stones on a wooden board; a square on each point in its owner's colour, as large as the ownership is certain."""
    from matplotlib.patches import Circle, Rectangle

    size = report.size
    edge = 0.72
    axes.add_patch(Rectangle((-edge, -edge), size - 1 + 2 * edge, size - 1 + 2 * edge, facecolor=_WOOD, edgecolor=_LINE, lw=1.2))
    for i in range(size):
        axes.plot((0, size - 1), (i, i), color=_LINE, lw=0.8, zorder=1)
        axes.plot((i, i), (0, size - 1), color=_LINE, lw=0.8, zorder=1)
    for x, y in _star_points(size):
        axes.add_patch(Circle((x, y), 0.09, color=_LINE, zorder=1))
    last = divmod(row.last_move[1], size) if row.last_move and row.last_move[1] < size * size else None
    for y in range(size):
        for x in range(size):
            stone, owner = int(row.stones[y, x]), float(row.ownership[y, x])
            if stone:
                face = _BLACK if stone > 0 else _WHITE
                axes.add_patch(Circle((x + 0.03, y + 0.04), 0.465, color="#00000038", lw=0, zorder=2))
                axes.add_patch(Circle((x, y), 0.465, facecolor=face, edgecolor="#2b2b2b", lw=0.7, zorder=3))
            if (y, x) == last:
                axes.add_patch(Circle((x, y), 0.3, fill=False, edgecolor=_MARK, lw=1.8, zorder=5))
            side = 0.62 * np.sqrt(abs(owner))
            # A stone's own colour would not show on it; only what contradicts the stone is drawn there.
            if side > 0.05 and stone * owner <= 0:
                face, rim = (_BLACK + "e6", "#00000000") if owner > 0 else (_WHITE + "e6", "#00000055")
                corner = (x - side / 2, y - side / 2)
                axes.add_patch(Rectangle(corner, side, side, facecolor=face, edgecolor=rim, lw=0.5, zorder=4))
    axes.set_xticks(range(size), COLUMNS[:size])
    axes.set_yticks(range(size), [str(size - y) for y in range(size)])
    axes.tick_params(length=0, labelsize=9 if size < 15 else 7.5, colors="#444444", labeltop=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set(xlim=(-edge - 0.02, size - 1 + edge + 0.02), ylim=(size - 1 + edge + 0.02, -edge - 0.02), aspect="equal")
    mover = "game over" if row.over else f"{'Black' if row.to_play > 0 else 'White'} to play"
    move = last_move_text(row, size)
    axes.set_title(f"after move {row.move}{f' ({move})' if move else ''}, {mover}", fontsize=11)
    axes.set_xlabel("squares: who ends up with the point; larger is surer", fontsize=9, color=_GREY)


def _draw_win_rates(axes, report: Report) -> None:
    """Black's win rate over the game."""
    moves = np.array([row.move for row in report.in_play])
    rates = np.array([100 * row.win_rate for row in report.in_play])
    errors = np.array([100 * row.win_rate_error for row in report.in_play])
    axes.axhline(50, color=_GREY, lw=0.9, ls=(0, (4, 3)))
    axes.fill_between(moves, 50, rates, where=rates >= 50, interpolate=True, color=_BLACKS, alpha=0.16, lw=0)
    axes.fill_between(moves, 50, rates, where=rates <= 50, interpolate=True, color=_WHITES, alpha=0.35, lw=0)
    axes.fill_between(moves, rates - 2 * errors, rates + 2 * errors, color=_CURVE, alpha=0.25, lw=0)
    axes.plot(moves, rates, color=_CURVE, lw=1.8, marker="o", ms=3.2 if len(moves) < 80 else 0)
    axes.set(ylim=(0, 100), ylabel="Black wins, %")
    axes.set_title("Win rate in playouts (band: 2 standard errors)", fontsize=11)
    axes.tick_params(labelbottom=False)
    _tidy(axes)


def _draw_margins(axes, report: Report) -> None:
    """Black's mean margin over the game, with the spread of single playouts."""
    moves = np.array([row.move for row in report.in_play])
    means = np.array([row.margin_mean for row in report.in_play])
    spread = np.array([row.margin_std for row in report.in_play])
    axes.axhline(report.komi, color=_GREY, lw=0.9, ls=(0, (4, 3)))
    axes.annotate(f"komi {report.komi:g}", (1, report.komi), (-3, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", fontsize=8.5, color=_GREY)
    axes.fill_between(moves, means - spread, means + spread, color=_MARGIN_CURVE, alpha=0.15, lw=0)
    axes.plot(moves, means, color=_MARGIN_CURVE, lw=1.8, marker="o", ms=3.2 if len(moves) < 80 else 0)
    axes.set(xlabel="move", ylabel="Black's margin, points")
    axes.set_title("Area margin before komi (band: standard deviation of a playout)", fontsize=11)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _tidy(axes)


def _draw_margin_histogram(axes, row: Row, report: Report) -> None:
    """How often the margins came out, in bars of a few points that begin and end at the komi."""
    counts = row.margin_histogram
    margins = np.flatnonzero(counts) - report.size**2
    width = max(1, -(-(margins[-1] - margins[0] + 1) // _MOST_BARS))
    first_win = math.floor(report.komi) + 1
    bars, place = np.unique((margins - first_win) // width, return_inverse=True)
    share = 100 * np.bincount(place, weights=counts[margins + report.size**2]) / row.num_playouts
    lefts = first_win + bars * width - 0.5
    axes.bar(lefts, share, width=0.9 * width, align="edge", color=np.where(bars >= 0, _BLACKS, _WHITES))
    axes.axvline(report.komi, color=_MARK, lw=1.1)
    axes.set(xlabel="Black's area margin before komi, points", ylabel="playouts, %")
    result = f"Black wins {100 * row.win_rate:.2f} % ± {100 * row.win_rate_error:.2f}"
    axes.set_title(f"{result} (dark: margin above komi)", fontsize=11)
    _tidy(axes)


def _draw_ownership_ranks(axes, row: Row) -> None:
    """All points of the board from the surest of White's to the surest of Black's: how settled the position is."""
    owners = 100 * np.sort(row.ownership, axis=None)
    ranks = np.arange(1, len(owners) + 1)
    axes.bar(ranks, owners, width=1.0, color=np.where(owners > 0, _BLACKS, _WHITES))
    axes.set(xlim=(0.4, len(owners) + 0.6), xlabel="points, from White's surest to Black's surest")
    axes.set(ylim=(-105, 105), ylabel="ownership, %")
    axes.set_title(f"How settled the board is (mean certainty {np.abs(owners).mean():.0f} %)", fontsize=11)
    _tidy(axes)


def _tidy(axes) -> None:
    """Light grid, no frame at the top and right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
    axes.xaxis.label.set_size(9.5)
    axes.yaxis.label.set_size(9.5)
