"""The picture of `jaxgo evaluate --plot`: the board with its ownership, and the course of the game beside it.

Needs matplotlib, the extra `plot`. The figure is drawn without a display and without matplotlib's global state.
"""

import importlib.util
import math
import pathlib
import sys
from collections.abc import Sequence

import numpy as np

from jaxgo.cli import UsageError
from jaxgo.commands.board_picture import GREY, MARK, draw_board, draw_owners, position_title
from jaxgo.commands.lettering import families_for
from jaxgo.commands.outputs import places
from jaxgo.commands.report import Report, Row, last_move_text

SUFFIXES = (".png", ".svg", ".pdf")

_MOST_BARS = 90
_BLACKS, _WHITES = "#2b2b2b", "#d8b878"
_CURVE, _MARGIN_CURVE = "#2f6db0", "#c4622d"


def places_of(given: str, names: Sequence[str], option: str = "--plot") -> list[pathlib.Path]:
    """Where --plot, or another option of pictures, has one for each game.

    Raises:
      UsageError: matplotlib is missing, the format is unknown, or a file cannot be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError(f"{option} needs matplotlib, which is not installed: pip install 'jaxgo[plot]'")
    return places(option, given, names, SUFFIXES)


def save_plot(report: Report, path: str | pathlib.Path) -> None:
    """Draws the report into a file.

    Args:
      report: at least one row.
      path: ends in one of `SUFFIXES`.

    Raises:
      OSError: the file cannot be written after all (a full disk).
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.6, 6.4), dpi=130, layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.0), wspace=0.04)
    row = report.in_play[-1]
    _draw_position(figure.add_subplot(grid[:, 0]), row, report)
    upper, lower = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    if len(report.in_play) > 1:
        lower.sharex(upper)
        _draw_win_rates(upper, report)
        _draw_margins(lower, report)
    else:
        _draw_margin_histogram(upper, row, report)
        _draw_ownership_ranks(lower, row)
    title = _title(report)
    figure.suptitle(title, fontsize=12, color="#222222", fontfamily=families_for(title))
    figure.savefig(path)


def _title(report: Report) -> str:
    """Who played, on which board, and how many playouts; names that no installed font can write are left out."""
    record = report.record
    names = {"Black": record.black, "White": record.white}
    for colour, name in names.items():
        if families_for(name) is None:
            print(f"jaxgo evaluate: no installed font has all letters of {name!r}: the picture says {colour}", file=sys.stderr)
            names[colour] = ""
    players = " - ".join(f"{name} ({colour})" if name else colour for colour, name in names.items())
    parts = [players if any(names.values()) or report.name else "Empty board", f"{report.size}x{report.size}"]
    parts += [f"komi {report.komi:g}", f"{report.playouts:,} playouts a position"]
    if not report.complete:
        parts.append("interrupted")
    # A dollar sign in a name would start a formula.
    return "   ·   ".join(parts).replace("$", r"\$")


def _draw_position(axes, row: Row, report: Report) -> None:
    """The board with who owns what."""
    draw_board(axes, row.stones, row.last_move[1] if row.last_move else None)
    draw_owners(axes, row.stones, row.ownership)
    axes.set_title(position_title(row.move, last_move_text(row, report.size), row.to_play, row.over), fontsize=11)
    axes.set_xlabel("squares: who ends up with the point; larger is surer", fontsize=9, color=GREY)


def _draw_win_rates(axes, report: Report) -> None:
    """Black's win rate over the game."""
    moves = np.array([row.move for row in report.in_play])
    rates = np.array([100 * row.win_rate for row in report.in_play])
    errors = np.array([100 * row.win_rate_error for row in report.in_play])
    low, high = rates - 2 * errors, rates + 2 * errors
    axes.axhline(50, color=GREY, lw=0.9, ls=(0, (4, 3)))
    axes.fill_between(moves, 50, rates, where=rates >= 50, interpolate=True, color=_BLACKS, alpha=0.16, lw=0)
    axes.fill_between(moves, 50, rates, where=rates <= 50, interpolate=True, color=_WHITES, alpha=0.35, lw=0)
    axes.fill_between(moves, low, high, color=_CURVE, alpha=0.25, lw=0)
    axes.plot(moves, rates, color=_CURVE, lw=1.8, marker="o", ms=3.2 if len(moves) < 80 else 0)
    bottom, top = _limits(low, high, 50.0, least=4.0)
    # A curve at the edge of what can be is seen whole all the same.
    axes.set(ylim=(max(bottom, -2.0), min(top, 102.0)), ylabel="Black wins, %")
    axes.set_title("Win rate in playouts (band: 2 standard errors)", fontsize=11)
    axes.tick_params(labelbottom=False)
    _tidy(axes)


def _draw_margins(axes, report: Report) -> None:
    """Black's mean margin over the game."""
    moves = np.array([row.move for row in report.in_play])
    means = np.array([row.margin_mean for row in report.in_play])
    errors = np.array([row.margin_error for row in report.in_play])
    low, high = means - 2 * errors, means + 2 * errors
    axes.axhline(report.komi, color=GREY, lw=0.9, ls=(0, (4, 3)))
    axes.annotate(f"komi {report.komi:g}", (1, report.komi), (-3, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", fontsize=8.5, color=GREY)
    axes.fill_between(moves, low, high, color=_MARGIN_CURVE, alpha=0.3, lw=0)
    axes.plot(moves, means, color=_MARGIN_CURVE, lw=1.8, marker="o", ms=3.2 if len(moves) < 80 else 0)
    axes.set(ylim=_limits(low, high, report.komi, least=2.0), xlabel="move", ylabel="Black's margin, points")
    axes.set_title("Mean area margin before komi (band: 2 standard errors)", fontsize=11)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _tidy(axes)


def _limits(low: np.ndarray, high: np.ndarray, line: float, least: float) -> tuple[float, float]:
    """The ends of an axis that fits the data, with a line in view; at least so long."""
    bottom, top = min(float(low.min()), line), max(float(high.max()), line)
    room = 0.08 * max(top - bottom, least) + max(0.0, least - (top - bottom)) / 2
    return bottom - room, top + room


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
    axes.axvline(report.komi, color=MARK, lw=1.1)
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
