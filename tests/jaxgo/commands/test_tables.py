"""Tables keep every figure whole, whatever the terminal's width."""

import io

import pytest
from rich import box
from rich.console import Console

from jaxgo.commands import tables

COLUMNS = ("board, engine", "per core", "jaxgo is x times", "plies")
ROWS = [
    ("9x9 jaxgo", "681 k (621-682)", "", "111.0"),
    ("9x9 pgx lockstep, batch 32", "408 (359-423)", "1,610 (1,521-1,896)", "110.5"),
    ("19x19 [b]OpenSpiel[/b] :smile:", "45.4 k (44.7-46.2)", "83.8 (81.7-90.7)", "120.4"),
]


def printed(width: int, rows=ROWS, **options) -> str:
    """What a terminal of this width shows."""
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    tables.print_table(console, COLUMNS, rows, box=box.HEAVY_HEAD, **options)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [20, 40, 60, 72, 80, 100])
def test_every_word_is_whole(width):
    text = printed(width)
    assert "…" not in text
    for row in ROWS:
        assert row[0] in text, "a row's name is in one line"
        assert all(word in text.split() for cell in row for word in cell.split())
    assert max(map(len, text.splitlines())) <= max(width, 40)


def test_a_wide_terminal_has_a_table_a_narrow_one_less_and_less():
    one_line, folded, stacked = printed(100), printed(80), printed(40)
    assert "1,610 (1,521-1,896)" in one_line and len(one_line.splitlines()) == len(ROWS) + 4
    assert "┃" in folded and "1,610 (1,521-1,896)" not in folded
    assert "┃" not in stacked
    assert stacked.startswith("9x9 jaxgo\n  per core          681 k (621-682)\n  plies             111.0\n9x9 pgx")


def test_rows_that_a_number_names_say_of_what():
    assert printed(20, [("7", "a", "b", "c")], left=()).startswith("board, engine 7\n")


def test_the_caption_is_not_cut():
    caption = "a caption that is longer than the terminal is wide"
    assert caption in printed(20, caption=caption)


def test_without_a_terminal_the_widest_tables_fit(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    tables.print_table(tables.make_console(), COLUMNS, ROWS, box=box.HEAVY_HEAD)
    assert all(figure in capsys.readouterr().out for figure in ["1,610 (1,521-1,896)"])
