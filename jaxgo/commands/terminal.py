"""What `jaxgo evaluate` writes for people: the table, the board with its ownership, the progress line.

The report goes to stdout, progress to stderr. In a terminal with colours the board is one picture: stones on a background that
shows who ends up with each point. Without colours (a pipe, `NO_COLOR`) it is two grids of plain ASCII, the stones and the
ownership in percent; the grid of stones can be pasted into `Position.from_ascii`.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.style import Style
from rich.text import Text

from jaxgo.board.coordinates import COLUMNS
from jaxgo.commands.report import Report, Row, last_move_text
from jaxgo.commands.tables import print_table

# Red, green, blue of the board's background: nobody's point, Black's for certain, White's for certain. Blue and orange differ for
# colour-blind eyes too, and both let a black and a white stone stand out.
_NOBODYS = np.array([203.0, 196.0, 180.0])
_BLACKS = np.array([58.0, 110.0, 178.0])
_WHITES = np.array([233.0, 140.0, 62.0])

_NAMES = {1: "Black", -1: "White"}

_OVER = "over: two passes ended the game there; the board is scored as it stands, dead stones included.\n"

_FIRST_LINE_SECONDS, _MOST_SECONDS = 2.0, 60.0
"""Where stderr is no terminal: when the first line of progress comes, and the most time between two; it grows."""


def print_report(report: Report, console: Console) -> None:
    """Writes the header, the table and the board of the last position in play."""
    console.print(_header(report), soft_wrap=True)
    if report.rows:
        _print_table(report, console)
        if any(row.over for row in report.rows):
            console.print(_OVER, style="italic", soft_wrap=True)
        console.print(_board(report, report.in_play[-1], console), soft_wrap=True)
    console.print(_footer(report), soft_wrap=True)


def _header(report: Report) -> str:
    """Which game, board and komi."""
    record = report.record
    players = f": {record.black or '?'} (B) - {record.white or '?'} (W)" if record.black or record.white else ""
    handicap = f", handicap {record.handicap}" if record.handicap else ""
    result = f", result {record.result}" if record.result else ""
    board = f"{report.size}x{report.size}"
    if not report.name:
        return f"empty {board} board, komi {report.komi:g}"
    return f"{report.name}{players}; {board}{handicap}, komi {report.komi:g} ({report.komi_source}){result}"


def _footer(report: Report) -> str:
    """How the figures came about, and whether some are missing."""
    done = sum(row.num_playouts for row in report.rows)
    rate = f"compiling included; {report.rate:,.0f} playouts/s once compiled" if report.rate else "compiling included"
    policy = f", policy {report.policy}" if report.policy else ""
    text = f"{done:,} playouts in {report.seconds:.1f} s ({rate}){policy}, seed {report.seed}, jax {report.engine['jax']}"
    if not report.engine.get("one_loop", True):
        text += "\nSLOW: this version of XLA does not keep the single loops that playouts on a CPU are fast by"
    elif not report.engine.get("vectors", True):
        text += "\nSLOW: this version of XLA does not make vectors of playouts on a CPU"
    if report.complete:
        return text
    return (
        f"PARTIAL, interrupted: {len(report.rows)} of {report.asked} positions have playouts, "
        f"{done:,} of {report.asked * report.playouts:,} are finished\n{text}"
    )


def _print_table(report: Report, console: Console) -> None:
    """One row for each position."""
    plus_minus = "+-" if console.options.ascii_only else "±"
    partial = len({row.num_playouts for row in report.rows}) > 1 or not report.complete
    columns = ["move", "last", "to play", "Black wins", "margin", "length", "truncated", *(["playouts"] if partial else [])]
    rows = [
        [
            str(row.move),
            last_move_text(row, report.size),
            "over" if row.over else _NAMES[row.to_play],
            f"{100 * row.win_rate:.2f} % {plus_minus} {100 * row.win_rate_error:.2f}",
            f"{row.margin_mean:+.2f} {plus_minus} {row.margin_error:.2f}",
            f"{row.length_mean:.1f}",
            f"{100 * row.truncated:.2f} %",
            *([f"{row.num_playouts:,}"] if partial else []),
        ]
        for row in report.rows
    ]
    caption = f"{plus_minus} one standard error; margin: Black's area minus White's, before komi\n"
    print_table(console, columns, rows, left=(1, 2), box=box.SIMPLE_HEAD, collapse_padding=True, caption=caption)


def _board(report: Report, row: Row, console: Console) -> Text | str:
    """The position with its ownership, for the kind of terminal there is."""
    last = last_move_text(row, report.size)
    title = f"after move {row.move}" + (f" ({last})" if last else "")
    # Sixteen colours cannot show shades.
    if console.is_terminal and console.color_system in ("256", "truecolor") and not console.no_color:
        return _coloured_board(row, title, console.options.ascii_only)
    stones = [[" " + {0: ".", 1: "X", -1: "O"}[int(stone)] for stone in line] for line in row.stones]
    # 100 would touch its neighbour; a point that is owned in more than 99 % of the playouts reads 99.
    percent = np.clip(np.rint(100 * row.ownership), -99, 99).astype(int)
    owners = [[f"{value:4d}" for value in line] for line in percent]
    left, right = _grid(stones, title), _grid(owners, "ownership in percent, Black +, White -")
    width = max(map(len, left))
    if width + 4 + max(map(len, right)) > console.width:
        return "\n".join([*left, "", *right, ""])
    return "\n".join(f"{a:<{width}}    {b}" for a, b in zip(left, right, strict=True)) + "\n"


def _grid(cells: list[list[str]], title: str) -> list[str]:
    """Lines of plain text: cells with column letters above and row numbers at the left."""
    size, width = len(cells), len(cells[0][0])
    lines = [title, "   " + "".join(f"{letter:>{width}}" for letter in COLUMNS[:size])]
    return lines + [f"{size - y:2d} " + "".join(line) for y, line in enumerate(cells)]


def _coloured_board(row: Row, title: str, ascii_only: bool) -> Text:
    """Stones on a background from White's colour to Black's; the last move in brackets."""
    size = len(row.stones)
    symbols = {0: ".", 1: "X", -1: "O"} if ascii_only else {0: "·", 1: "●", -1: "●"}
    inks = {0: "rgb(90,85,75)", 1: "rgb(0,0,0)", -1: "rgb(255,255,255)"}
    last_point = row.last_move[1] if row.last_move else -1
    letters = "    " + "".join(f" {letter} " for letter in COLUMNS[:size])
    text = Text(f"{title}\n{letters}\n")
    for y in range(size):
        text.append(f" {size - y:2d} ")
        for x in range(size):
            stone = int(row.stones[y, x])
            cell = f"({symbols[stone]})" if y * size + x == last_point else f" {symbols[stone]} "
            text.append(cell, _ink(inks[stone], float(row.ownership[y, x]), bold=stone != 0))
        text.append(f" {size - y}\n")
    text.append(f"{letters}\n    background: ")
    for label, value in (("Black's", 1.0), ("mostly", 0.5), ("open", 0.0), ("mostly", -0.5), ("White's", -1.0)):
        text.append(f" {label} ", _ink("rgb(0,0,0)", value, bold=False))
    return text.append("\n")


def _ink(colour: str, owner: float, bold: bool) -> Style:
    """Text in `colour` on the background for an ownership in [-1, 1]."""
    target = _BLACKS if owner > 0 else _WHITES
    red, green, blue = np.rint(_NOBODYS + abs(owner) * (target - _NOBODYS)).astype(int)
    return Style.parse(f"{'bold ' if bold else ''}{colour} on rgb({red},{green},{blue})")


class ProgressCallback(Protocol):
    """What the engine calls after each chunk of playouts."""

    def __call__(self, done: int, total: int) -> None: ...


class _Rate(ProgressColumn):
    """Playouts per second since the first chunk, so that compiling does not drag the figure down."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} playouts/s" if task.speed else "", style="cyan")


@contextmanager
def progress_on_stderr(total: int) -> Iterator[ProgressCallback]:
    """Shows done and total, playouts per second and time left on stderr; single lines where it is no terminal.

    Args:
      total: playouts of the whole job.

    Yields:
      The callback for the engine's `progress=`.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_progress(time.monotonic())
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("compiling", total=total)

        def callback(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description="playing")

        yield callback


def _plain_progress(start: float) -> ProgressCallback:
    """Progress as whole lines, few and fewer: for logs."""
    first: tuple[float, int] | None = None
    due = start + _FIRST_LINE_SECONDS

    def callback(done: int, total: int) -> None:
        nonlocal first, due
        now = time.monotonic()
        first = first or (now, done)
        if now < due:
            return
        due = now + min(max((now - start) / 2, 1.0), _MOST_SECONDS)
        # From the first chunk on, so that compiling does not count, unless that was only just now.
        rate = (done - first[1]) / (now - first[0]) if now - first[0] >= 1.0 else done / (now - start)
        left = f", {(total - done) / rate:,.0f} s left" if rate else ""
        print(f"jaxgo: {done:,} of {total:,} playouts, {rate:,.0f} playouts/s{left}", file=sys.stderr, flush=True)

    return callback
