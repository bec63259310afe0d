"""The parts of a collection: how its positions are cut into pieces of work, always the same for the same inputs and settings.

A part holds what a worker needs and nothing else: texts of games and which of their positions are meant, rows of tables. It is
the unit of what is finished or not. Its number and its fingerprint name it: parts are numbered in the order of the inputs, so
that part 12 of two runs is the same work, and the fingerprint tells when the inputs have changed.
"""

import collections
import dataclasses
import hashlib
from collections.abc import Iterable, Iterator

import pyarrow

from search.collection.inputs import Game, Reject, Rows
from search.collection.settings import Settings


@dataclasses.dataclass(frozen=True)
class GamePiece:
    """Some positions of a game: of those that are wanted, in the order of its lines and plies, numbers `first` to `end` - 1."""

    name: str
    text: bytes
    first: int
    end: int | None
    """None for all that follow: how many there are is known when the game has been read."""

    @property
    def is_whole(self) -> bool:
        """Whether the game is not cut."""
        return not self.first and self.end is None


@dataclasses.dataclass(frozen=True)
class TablePiece:
    """Some rows of a table."""

    name: str
    data: bytes
    """The rows as an Arrow stream; see `inputs.Rows`."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A piece of work."""

    number: int
    size: int
    """N of all its positions."""
    positions: int
    """How many there are, about."""
    pieces: tuple[GamePiece | TablePiece, ...]

    @property
    def fingerprint(self) -> str:
        """Of what is to be done: 32 hexadecimal digits."""
        found = hashlib.blake2b(f"{self.size}".encode(), digest_size=16)
        for piece in self.pieces:
            for value in dataclasses.astuple(piece):
                data = value if isinstance(value, bytes) else repr(value).encode()
                found.update(b"%d:" % len(data) + data)
        return found.hexdigest()


def cut(found: Iterable[Game | Rows | Reject], settings: Settings) -> Iterator[Part | Reject]:
    """Cuts inputs into parts; what could not be read is passed on.

    As much is held as fills a part of each board size.
    """
    open_parts: dict[int, _Open] = collections.defaultdict(_Open)
    number = 0
    for x in found:
        if isinstance(x, Reject):
            yield x
            continue
        room = settings.positions_of_part(x.size)
        part = open_parts[x.size]
        for piece, count in _pieces(x, settings, room, lambda part=part: part.count):
            part.pieces.append(piece)
            part.count += count
            if part.count >= room:
                yield part.closed(number, x.size)
                number += 1
    for size in sorted(open_parts):
        if open_parts[size].pieces:
            yield open_parts[size].closed(number, size)
            number += 1


class _Open:
    """A part that still has room."""

    def __init__(self) -> None:
        self.pieces: list[GamePiece | TablePiece] = []
        self.count = 0

    def closed(self, number: int, size: int) -> Part:
        """The part; what comes next goes to another."""
        part = Part(number, size, self.count, tuple(self.pieces))
        self.pieces, self.count = [], 0
        return part


def _pieces(x: Game | Rows, settings: Settings, room: int, taken) -> Iterator[tuple[GamePiece | TablePiece, int]]:
    """What is cut off for the part that is open, which has `taken()` positions already, and for those after it."""
    # Each node but the first is mostly a move, and the last one in play; the last piece of a game takes whatever there is.
    last = x.nodes - 1 if isinstance(x, Game) else 0
    total = max(1, len(settings.plies(0, last, last))) if isinstance(x, Game) else len(x.table)
    start = 0
    while start < total:
        count = min(room - taken(), total - start)
        if isinstance(x, Game):
            end = None if start + count == total else start + count
            yield GamePiece(x.name, x.text, start, end), count
        else:
            yield TablePiece(x.name, _stream(x.table.slice(start, count))), count
        start += count


def _stream(table: pyarrow.Table) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()
