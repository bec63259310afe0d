"""Tables that fit where they are printed, with every figure whole.

A table that is too wide has its headings and figures folded at blanks; one that is too wide even so is printed row by row, a line
a figure. Text is printed as it is: what rich takes for markup may stand in a name, or in `pip install 'jaxgo[bench]'`.
"""

import sys
import textwrap
from collections.abc import Sequence

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 100
"""Columns where stdout is no terminal: the widest of the tables fits."""


def make_console() -> Console:
    """A console on stdout that prints text as it is."""
    console = Console(file=sys.stdout, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    elif console.width < 1:  # as COLUMNS=0 says, where nothing would be printed
        console.width = PIPE_WIDTH
    return console


def print_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    box: Box,
    collapse_padding: bool = False,
    caption: str = "",
) -> None:
    """Prints a table as wide as its text, folded, or row by row, whichever is the first to fit.

    Args:
      console: where.
      columns: the headings.
      rows: the cells; the first of a row names it.
      left: the columns that are text; the others are figures, which stand at the right.
      box: the lines around the cells.
      collapse_padding: of boxes without lines between columns.
      caption: a line below the table.
    """
    cells = [list(columns), *map(list, rows)]
    natural = [max(cell_len(row[i]) for row in cells) for i in range(len(columns))]
    made = _table(cells, left, box, collapse_padding)
    frame = Measurement.get(console, console.options.update(max_width=10_000), made).maximum - sum(natural)
    widths = _folded_widths(cells, natural, console.width - frame)
    if widths is None:
        _print_row_by_row(console, columns, rows, left)
    else:
        folded = [[_fold(cell, width) for cell, width in zip(row, widths)] for row in cells]
        console.print(_table(folded, left, box, collapse_padding))
    if caption:
        console.print(Text(caption, style="table.caption"), soft_wrap=True)


def _table(cells: list[list[str]], left: Sequence[int], box: Box, collapse_padding: bool) -> Table:
    """The table itself, its columns as wide as their text."""
    made = Table(box=box, collapse_padding=collapse_padding)
    for i, heading in enumerate(cells[0]):
        made.add_column(heading, justify="left" if i in left else "right", no_wrap=True)
    for row in cells[1:]:
        made.add_row(*row)
    return made


def _folded_widths(cells: list[list[str]], natural: list[int], room: int) -> list[int] | None:
    """The columns' widths within some room, the widest folded first, none beyond its longest word; None if that is too wide."""
    least = [max(cell_len(word) for row in cells for word in (row[i].split() or [""])) for i in range(len(natural))]
    # What a row is named by is not folded, so that rows are told apart at a glance; its heading may be.
    least[0] = max([least[0], *(cell_len(row[0]) for row in cells[1:])])
    widths = list(natural)
    while sum(widths) > room:
        foldable = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not foldable:
            return None
        widths[max(foldable, key=lambda i: widths[i])] -= 1
    return widths


def _fold(text: str, width: int) -> str:
    """Text in lines of at most this width; words stay whole."""
    return "\n".join(textwrap.wrap(text, max(1, width), break_long_words=False, break_on_hyphens=False))


def _print_row_by_row(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    """Each row as its name and a line for each figure that it has."""
    width = max(map(cell_len, columns[1:]), default=0)
    for row in rows:
        lines = [row[0] if 0 in left else f"{columns[0]} {row[0]}"]
        lines += [f"  {name:<{width}}  {cell}" for name, cell in zip(columns[1:], row[1:]) if cell]
        console.print("\n".join(lines), soft_wrap=True)
