"""What a collection is made of: game records and tables of positions, found in files and folders, and cut out as they stand.

Nothing here is parsed further than it takes to say where a game begins and ends, of which size its board is and about how many
positions it has: that is the workers' business. So one process can cut for many.
"""

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.records.sgf import MOST_BYTES

if TYPE_CHECKING:
    import pyarrow

#: What is taken from folders, in any case.
GAMES, TABLES = ".sgf", ".parquet"
#: Of a folder of results: what says that it is one, and a table that holds no positions.
MANIFEST, REJECTS = "collection.json", "rejects.parquet"
#: A game is taken for a 19x19 one where its record states no size that is played; a worker says what is wrong with it.
DEFAULT_SIZE = 19

_BEGIN = re.compile(rb"\(\s*;")
#: A game's first node, and no variation's: it begins with what may stand there alone.
_BEGIN_OF_ROOT = re.compile(rb"\(\s*;\s*(?:FF|GM|SZ|CA)\s*\[")
_TOKEN = re.compile(rb"\[(?:[^\]\\]|\\.)*\]|[();]", re.DOTALL)
#: The same, and values that do not end in what there is.
_TOKEN_OR_PART = re.compile(rb"\[(?:[^\]\\]|\\.)*(?:\]|\\?\Z)|[();]", re.DOTALL)
#: Bytes of a file that are read at a time, and that may be part of a game's beginning, blanks between its first two signs.
BLOCK, BEGINNING = 1 << 16, 1 << 12
_PROPERTY = re.compile(rb"([A-Za-z]+)\s*\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)


class NoInput(ValueError):
    """An input that is not there or cannot be one; the text names it."""


class Changed(Exception):
    """The inputs are no longer what they were when the run began; the text says where."""


@dataclasses.dataclass(frozen=True)
class Game:
    """A game record with all its variations."""

    name: str
    """The file's, and "#2" for its second game."""
    text: bytes
    size: int
    """N, as far as the record states one."""
    nodes: int
    """Of all variations."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Positions of a table, of one size."""

    name: str
    """The file's."""
    size: int
    """N."""
    table: "pyarrow.Table"
    """The columns of `search.collection.positions.COLUMNS` that the table has, and `row`, the number of each row."""


@dataclasses.dataclass(frozen=True)
class Reject:
    """What could not be evaluated."""

    game: str
    """The game's name, or the table's and the row's."""
    variation: int
    """The line of the game, 0 the main one; -1 for all of it."""
    ply: int
    """The first position of it that there is not; 0 for all of it."""
    reason: str

    @property
    def words(self) -> str:
        """Why, and what there is all the same."""
        return f"{self.reason}; read up to move {self.ply - 1}" if self.ply else self.reason


def files_of(names: Iterable[str], without: str) -> list[str]:
    """The files that names stand for: a file itself, and of a folder every game record and table below it, sorted.

    Args:
      names: as given on a command line.
      without: a folder that is left out, the results'.

    Raises:
      NoInput: a name of nothing, a folder that cannot be read or holds neither, or a file of another kind.
    """
    results, out, seen = os.path.realpath(without), [], set()
    for name in names:
        if os.path.isdir(name):
            found = list(_below(name, results))
            if not found:
                raise NoInput(f"the folder {name!r} holds no {GAMES} and no {TABLES} file")
        elif not os.path.exists(name):
            raise NoInput(f"there is no file and no folder {name!r}")
        elif not name.lower().endswith((GAMES, TABLES)):
            raise NoInput(f"{name!r} is neither a folder nor a {GAMES} or {TABLES} file")
        else:
            found = [name]
        for path in found:  # a file that two names stand for counts once
            real = os.path.realpath(path)
            if real not in seen:
                seen.add(real)
                out.append(path)
    return out


def _below(folder: str, results: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise NoInput(f"the folder {error.filename!r} cannot be read: {error.strerror}") from error

    for here, folders, files in os.walk(folder, onerror=refuse):
        if os.path.realpath(here) == results:
            folders.clear()
            continue
        folders.sort()
        of_results = {REJECTS} if MANIFEST in files else set()  # a table of what could not be read
        yield from (
            os.path.join(here, file) for file in sorted(files)
            if file.lower().endswith((GAMES, TABLES)) and file not in of_results
        )  # fmt: skip


def read(files: Iterable[str]) -> Iterator[Game | Rows | Reject]:
    """What files hold, in order; one game, or a piece of a table, is held at a time."""
    for file in files:
        if os.path.exists(file) and not os.path.isfile(file):  # a pipe would be waited for
            yield Reject(file, -1, 0, "the file cannot be read: it is no regular file")
        else:
            yield from _tables(file) if file.lower().endswith(TABLES) else _games(file)


def _games(file: str) -> Iterator[Game | Reject]:
    some = False
    try:
        with open(file, "rb") as opened:
            for game in cut_games(file, opened):
                some = True
                yield game
    except OSError as error:
        yield Reject(file, -1, 0, f"the file cannot be read: {error.strerror}")
        return
    if not some:
        yield Reject(file, -1, 0, "the file holds no SGF game record: no game begins in it with (;")


def cut_games(name: str, file: BinaryIO) -> Iterator[Game]:
    """The games of a collection. One whose brackets do not close goes to where the next plainly begins, or to the end.

    Of the file, which may hold a million games, little more than one is held at a time. Of one that does not end in `MOST_BYTES`
    no more is read, nor of what follows it.
    """
    data, place, ended, number = b"", 0, False, 0
    while True:
        begin = _BEGIN.search(data, place)
        too_long = begin is not None and len(data) - begin.start() > MOST_BYTES
        if found := begin and _end(data, begin.start(), ended or too_long):
            place, second, nodes = found
            number += 1
            label = name if number == 1 else f"{name}#{number}"
            yield Game(label, data[begin.start() : place], _size(data[begin.start() : second]), nodes)
            if too_long and place == len(data):
                return
        elif ended:
            return
        else:
            # A game that has not ended is looked at again, with twice as much of it.
            start = begin.start() if begin else max(place, len(data) - BEGINNING)
            more = file.read(max(BLOCK, len(data) - start))
            data, place, ended = data[start:] + more, 0, not more


def _end(data: bytes, start: int, whole: bool) -> tuple[int, int, int] | None:
    """(where the game that starts there ends, where its first node does, how many nodes it has); None where it goes on beyond
    what is held of the file, of which `whole` says that no more comes."""
    depth, nodes, second = 0, 0, None
    for token in (_TOKEN if whole else _TOKEN_OR_PART).finditer(data, start):
        kind = token.group()[:1]
        if kind == b";":
            nodes += 1
            second = token.start() if nodes == 2 else second
        elif kind != b"[":
            if nodes and _BEGIN_OF_ROOT.match(data, token.start()):
                return token.start(), token.start() if second is None else second, nodes
            depth += 1 if kind == b"(" else -1
            second = token.start() if second is None and nodes else second
            if not depth:
                return token.end(), token.end() if second is None else second, nodes
    return (len(data), len(data) if second is None else second, nodes) if whole else None


def _size(root: bytes) -> int:
    """The size that a game's first node states."""
    for found in _PROPERTY.finditer(root):
        if bytes(x for x in found[1] if not 97 <= x <= 122) == b"SZ":  # FF[3] allows small letters, which do not count
            text = found[2].partition(b":")[0].strip().lstrip(b"0")
            return int(text) if text.isdigit() and len(text) <= 2 and MIN_SIZE <= int(text) <= MAX_SIZE else DEFAULT_SIZE
    return DEFAULT_SIZE


def _tables(file: str) -> Iterator[Rows | Reject]:
    from search.collection import positions

    yield from positions.cut_rows(file)
