"""What `jaxgo evaluate` writes for people: tables, and the board with its ownership.

In a terminal with colours the board is one picture: stones on a background that shows who ends up with each point. Without
colours (a pipe, `NO_COLOR`) it is two grids of plain ASCII, the stones and the ownership in percent; the grid of stones can be
pasted into `Position.from_ascii`.
"""

import os
from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.style import Style
from rich.text import Text

from jaxgo.board.coordinates import COLUMNS, coordinate
from jaxgo.commands.compared import ComparedMove
from jaxgo.commands.mistakes import Mistakes
from jaxgo.commands.report import Report, Row, ending_text, is_same, last_move_text, move_text, score_text
from jaxgo.commands.tables import print_table
from jaxgo.records.sgf import without_controls

# Red, green, blue of the board's background: nobody's point, Black's for certain, White's for certain. Blue and orange differ for
# colour-blind eyes too, and both let a black and a white stone stand out.
_NOBODYS = np.array([203.0, 196.0, 180.0])
_BLACKS = np.array([58.0, 110.0, 178.0])
_WHITES = np.array([233.0, 140.0, 62.0])

_NAMES = {1: "Black", -1: "White"}


def print_game(report: Report, console: Console, *, board: bool) -> None:
    """Writes the header and the table of a game, what else was asked for, and perhaps the board of the last position in play."""
    console.print(_header(report), soft_wrap=True)
    if report.rows:
        _print_rows(report, console)
    for row in report.rows:
        if row.ending is not None:
            console.print(f"over at move {row.move}: {ending_text(row.ending, report.size)}\n", style="italic", soft_wrap=True)
    if report.mistakes is not None:
        _print_mistakes(report.mistakes, report.size, console)
    if report.compared:
        _print_compared(report.compared, report.size, console)
    if board and report.rows:
        console.print(_board(report, report.in_play[-1], console), soft_wrap=True)


def print_games(reports: Sequence[Report], console: Console) -> None:
    """Writes a table of games of which one position each was asked for."""
    plus_minus = _plus_minus(console)
    folder = _common_folder([report.name for report in reports])
    columns = ["game", "move", "to play", "Black wins", "margin", "komi", "result"]
    rows = [
        [
            without_controls(os.path.relpath(report.name, folder) if folder else report.name), str(row.move), _turn(row),
            _rate(row, plus_minus), _margin(row, plus_minus), f"{report.komi:g}", _result(row, report),
        ]
        for report in reports for row in report.rows
    ]  # fmt: skip
    caption = f"{plus_minus} one standard error; margin: Black's area minus White's, before komi"
    caption += f"; games in {folder}\n" if folder else "\n"
    print_table(console, columns, rows, left=(0, 2, 6), box=box.SIMPLE_HEAD, collapse_padding=True, caption=caption)


def _common_folder(names: Sequence[str]) -> str:
    """The folder that all files lie below, "" where they have none in common."""
    try:
        return os.path.commonpath([os.path.dirname(name) for name in names])
    except ValueError:  # some names begin at the root, and others do not
        return ""


def print_footer(reports: Sequence[Report], console: Console) -> None:
    """Writes how the figures of games that were played together came about, and whether some are missing."""
    report = reports[0]
    done = sum(row.num_playouts for each in reports for row in each.rows)
    rate = f"compiling included; {report.rate:,.0f} playouts/s once compiled" if report.rate else "compiling included"
    policy = f", policy {report.policy}" if report.policy else ""
    text = f"{done:,} playouts in {report.seconds:.1f} s ({rate}){policy}, seed {report.seed}, jax {report.engine['jax']}"
    if not report.engine.get("one_loop", True):
        text += "\nSLOW: this version of XLA does not keep the single loops that playouts on a CPU are fast by"
    elif not report.engine.get("vectors", True):
        text += "\nSLOW: this version of XLA does not make vectors of playouts on a CPU"
    if not report.complete:
        asked, found = sum(each.asked for each in reports), sum(len(each.rows) for each in reports)
        text = (
            f"PARTIAL, interrupted: {found} of {asked} positions have playouts, "
            f"{done:,} of {asked * report.playouts:,} are finished\n{text}"
        )
    console.print(text, soft_wrap=True)


def _header(report: Report) -> str:
    """Which game, board and komi."""
    record = report.record
    players = f": {record.black or '?'} (B) - {record.white or '?'} (W)" if record.black or record.white else ""
    handicap = f", handicap {record.handicap}" if record.handicap else ""
    result = f", result {record.result}" if record.result else ""
    board = f"{report.size}x{report.size}"
    if not report.name:
        return f"empty {board} board, komi {report.komi:g}"
    return f"{without_controls(report.name)}{players}; {board}{handicap}, komi {report.komi:g} ({report.komi_source}){result}"


def _print_rows(report: Report, console: Console) -> None:
    """One row for each position."""
    plus_minus = _plus_minus(console)
    partial = len({row.num_playouts for row in report.rows}) > 1 or not report.complete
    gains = any(row.gain is not None for row in report.rows)
    columns = ["move", "last", *(["gain"] if gains else []), "to play", "Black wins", "margin", "length", "truncated"]
    columns += ["playouts"] if partial else []
    rows = [
        [
            str(row.move),
            last_move_text(row, report.size),
            *(["" if row.gain is None else f"{100 * row.gain:+.2f}"] if gains else []),
            _turn(row),
            _rate(row, plus_minus),
            _margin(row, plus_minus),
            f"{row.length_mean:.1f}",
            f"{100 * row.truncated:.2f} %",
            *([f"{row.num_playouts:,}"] if partial else []),
        ]
        for row in report.rows
    ]
    caption = f"{plus_minus} one standard error; margin: Black's area minus White's, before komi"
    caption += "; gain: of the last move, for who played it\n" if gains else "\n"
    left = (1, columns.index("to play"))
    print_table(console, columns, rows, left=left, box=box.SIMPLE_HEAD, collapse_padding=True, caption=caption)


def _print_mistakes(found: Mistakes, size: int, console: Console) -> None:
    """The moves that lost most."""
    beyond = f"{found.threshold:.1f} standard errors"
    if not found.losses:
        none = f"no mistakes: of {found.judged} moves none lost more than {beyond}, judged by {found.judge}\n"
        console.print(none, soft_wrap=True)
        return
    plus_minus = _plus_minus(console)
    rows = [
        [
            str(loss.move), move_text(loss.colour, loss.point, size), coordinate(loss.better, size),
            f"{100 * loss.loss:.2f} % {plus_minus} {100 * loss.loss_error:.2f}",
            f"{loss.lead_loss:+.2f} {plus_minus} {loss.lead_loss_error:.2f}",
            f"{100 * loss.win_rate:.2f} %", f"{100 * loss.better_win_rate:.2f} %",
        ]
        for loss in found.losses
    ]  # fmt: skip
    caption = f"the moves that lost most of {found.judged}, judged by {found.judge}, each more than {beyond}; "
    caption += f"wins: the player's own, {plus_minus} one standard error\n"
    columns = ["move", "played", "better", "loses", "points", "wins after it", "after the better"]
    print_table(console, columns, rows, left=(1, 2), box=box.SIMPLE_HEAD, collapse_padding=True, caption=caption)


def _print_compared(moves: Sequence[ComparedMove], size: int, console: Console) -> None:
    """Moves held against the first of them."""
    plus_minus = _plus_minus(console)
    rows = [
        [
            move_text(move.colour, move.point, size),
            f"{100 * move.win_rate:.2f} % {plus_minus} {100 * move.win_rate_error:.2f}",
            f"{move.lead:+.2f} {plus_minus} {move.lead_error:.2f}",
            *(["", ""] if not number else [
                f"{100 * move.win_rate_difference:+.2f} % {plus_minus} {100 * move.win_rate_difference_error:.2f}",
                f"{move.lead_difference:+.2f} {plus_minus} {move.lead_difference_error:.2f}",
            ]),
        ]
        for number, move in enumerate(moves)
    ]  # fmt: skip
    first = coordinate(moves[0].point, size)
    columns = ["move", "wins", "lead", f"wins more than {first}", f"leads more than {first}"]
    caption = f"after each move, {moves[0].num_playouts:,} playouts with common random numbers; {plus_minus} one standard error; "
    caption += "lead: with komi\n"
    print_table(console, columns, rows, left=(0,), box=box.SIMPLE_HEAD, collapse_padding=True, caption=caption)


def _plus_minus(console: Console) -> str:
    return "+-" if console.options.ascii_only else "±"


def _turn(row: Row) -> str:
    return "over" if row.over else _NAMES[row.to_play]


def _rate(row: Row, plus_minus: str) -> str:
    return f"{100 * row.win_rate:.2f} % {plus_minus} {100 * row.win_rate_error:.2f}"


def _margin(row: Row, plus_minus: str) -> str:
    return f"{row.margin_mean:+.2f} {plus_minus} {row.margin_error:.2f}"


def _result(row: Row, report: Report) -> str:
    """The record's result, and what the board's is where it ended otherwise."""
    stated = report.record.result
    if row.ending is None or is_same(row.ending.score, row.ending.stated):
        return stated
    return f"{stated} (here {score_text(row.ending.score)})" if stated else score_text(row.ending.score)


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
