"""Tables of positions: which columns they have, and how positions are read from them. Results are such tables too.

- `board`: N * N letters, row by row from the top: X or # Black, O White, . or + empty; or a list of N * N numbers, 1, -1 and 0.
- `to_play`: "black" or "white", "B" or "W", or 1 or -1. These two must be there.
- `ko`: the point where the player to move may not play because of simple ko ("D4"); `passes` in a row just before, 0 to 2.
- `komi`; and what is only passed on: `game`, `variation`, `ply`, `move` (the last one), `black`, `white` (the players), `result`.
"""

import math
from collections.abc import Iterator

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from jaxgo import BLACK, NO_KO, WHITE, Position
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.board.coordinates import point
from search.collection.inputs import Reject, Rows

#: Columns that are read.
COLUMNS = ("board", "to_play", "ko", "passes", "komi", "game", "variation", "ply", "move", "black", "white", "result")
#: Rows of a table that are held at a time.
ROWS = 1 << 14

_COLOURS = {"black": BLACK, "b": BLACK, "1": BLACK, "white": WHITE, "w": WHITE, "-1": WHITE}
_STONES = {"X": 1, "#": 1, "O": -1, ".": 0, "+": 0}


def cut_rows(file: str) -> Iterator[Rows | Reject]:
    """A table's positions, a piece of one size at a time; what cannot be read is said."""
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            names = table.schema_arrow.names
            missing = [name for name in ("board", "to_play") if name not in names]
            if missing:
                yield Reject(file, -1, 0, f"the table has no column {missing[0]!r}; it has {', '.join(names)}")
                return
            if doubled := [name for name in COLUMNS if names.count(name) > 1]:
                yield Reject(file, -1, 0, f"the table has {names.count(doubled[0])} columns {doubled[0]!r}")
                return
            start = 0
            for batch in table.iter_batches(ROWS, columns=[name for name in COLUMNS if name in names]):
                batch.validate(full=True)  # texts that are none are found by nobody else
                yield from _of_sizes(file, pyarrow.table(batch), start)
                start += len(batch)
    except (OSError, pyarrow.ArrowException) as error:
        yield Reject(file, -1, 0, f"the table cannot be read: {error}")


def _of_sizes(file: str, table: pyarrow.Table, start: int) -> Iterator[Rows | Reject]:
    for place, column in enumerate(table.columns):  # as pandas and polars write categories
        if pyarrow.types.is_dictionary(column.type):
            table = table.set_column(place, table.column_names[place], column.cast(column.type.value_type))
        elif pyarrow.types.is_string_view(column.type):
            table = table.set_column(place, table.column_names[place], column.cast(pyarrow.large_string()))
    board = table["board"]
    listed = pyarrow.types.is_list(board.type) or pyarrow.types.is_large_list(board.type)
    listed = listed or pyarrow.types.is_fixed_size_list(board.type)
    if not (listed or pyarrow.types.is_string(board.type) or pyarrow.types.is_large_string(board.type)):
        yield Reject(file, -1, 0, f"the column 'board' must hold texts or lists of numbers, not {board.type}")
        return
    lengths = pyarrow.compute.list_value_length(board) if listed else pyarrow.compute.utf8_length(board)
    points = lengths.fill_null(0).to_numpy()
    numbers = np.arange(start, start + len(table))
    table = table.append_column("row", pyarrow.array(numbers))
    for count in sorted(set(points.tolist())):
        size, here = math.isqrt(count), points == count
        if size * size != count or not MIN_SIZE <= size <= MAX_SIZE:
            for number in numbers[here]:
                yield Reject(f"{file}, row {number}", -1, 0, f"its board has {count} points, not N * N for an N of 2 to 25")
        else:
            yield Rows(file, size, table.filter(pyarrow.array(here)).combine_chunks())


def positions_of(table: pyarrow.Table, size: int) -> tuple[Position | None, list[int], list[tuple[int, str]]]:
    """(positions on the host or None for none, the rows that they are of, and of the others row and reason).

    Args:
      table: as in `Rows`; the rows that are returned count from 0 on in it.
      size: N.
    """
    columns = {name: table[name].to_pylist() if name in table.column_names else [None] * len(table) for name in COLUMNS[:4]}
    good, bad, held = [], [], []
    for row, (board, to_play, ko, passes) in enumerate(zip(*columns.values())):
        try:
            colour = _COLOURS.get(str(to_play).lower())
            if colour is None:
                raise ValueError(f"to_play must be black or white, not {to_play!r}")
            stones = [_STONES[x] for x in board] if isinstance(board, str) else board
            if not all(x in (1, -1, 0) for x in stones):
                raise ValueError("a board's numbers are 1, -1 and 0, not " + repr(next(x for x in stones if x not in (1, -1, 0))))
            if passes is not None and passes not in (0, 1, 2):
                raise ValueError(f"passes must be 0, 1 or 2, not {passes!r}")
            one = Position.from_array(
                np.array(stones, np.int8).reshape(size, size), to_play=colour, ko=NO_KO if ko is None else point(ko, size),
                passes=0 if passes is None else int(passes),
            )  # fmt: skip
        except KeyError as error:
            bad.append((row, f"a board's letters are {' '.join(_STONES)}, not {error}"))
        except (TypeError, ValueError, OverflowError) as error:
            bad.append((row, str(error)))
        else:
            good.append(row)
            held.append(one)
    return (_together(held) if held else None), good, bad


def _together(positions: list[Position]) -> Position:
    import jax

    return jax.tree.map(lambda *parts: np.concatenate(parts), *jax.device_get(positions))
