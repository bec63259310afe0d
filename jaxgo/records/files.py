"""Game records in files and folders, many at a time, each read as far as it can be, with what is to be said of it."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jaxgo.base.files import is_no_file
from jaxgo.records import sgf
from jaxgo.records.record import GameRecord

if TYPE_CHECKING:
    from jaxgo.board.position import Position


@dataclasses.dataclass(frozen=True, eq=False)
class Game:
    """A file's first game. Its main line ends before the first move that is illegal, if one is; `record.remarks` says so."""

    name: str
    """Of the file, in full."""
    record: GameRecord
    positions: "Position"
    """Position k after k moves, on the host, batch `len(record.moves) + 1`."""


@dataclasses.dataclass(frozen=True)
class Unread:
    """A file without a game that can be played."""

    name: str
    """Of the file, in full."""
    reason: str
    """Why, a sentence that names the file."""


def sgf_files(names: Iterable[str | os.PathLike]) -> list[str]:
    """The files that names stand for: the name of a file itself, and of a folder all `.sgf` files below it, sorted. A pipe must
    be named, as it would be waited for.

    Raises:
      ValueError: a folder that cannot be read, or holds no such file; a name that is empty.
    """
    files = []
    for name in names:
        if not os.fspath(name):
            raise ValueError("the name of a game record must not be empty")
        path = pathlib.Path(name)
        if not path.is_dir():
            files.append(os.fspath(name))
            continue

        def refuse(error: OSError) -> None:
            raise ValueError(f"the folder {error.filename!r} cannot be read: {error.strerror}") from error

        found = [
            os.path.join(folder, file)
            for folder, _, inside in os.walk(path, onerror=refuse)
            for file in inside
            if file.lower().endswith(".sgf") and not is_no_file(os.path.join(folder, file))
        ]
        if not found:
            raise ValueError(f"the folder {os.fspath(name)!r} holds no .sgf file")
        files += sorted(found)
    return files


def read_games(sources: Iterable[tuple[str, str | os.PathLike | bytes]]) -> Iterator[Game | Unread]:
    """Reads game records, and plays their games.

    Args:
      sources: of each its name, and a path or the record's bytes.

    Yields:
      What each has come to, in order.
    """
    for name, source in sources:
        try:
            read = sgf.read_as_far_as_possible(source if isinstance(source, bytes) else pathlib.Path(source))
        except ValueError as error:
            text = str(error)
            yield Unread(name, text if name in text else f"{name}: {text}")
        else:
            yield _game(name, *read)


def _game(name: str, record: GameRecord, off_board: str) -> Game | Unread:
    """A game that has been read, up to what is wrong with it, which may be a move off the board, played."""
    from jaxgo.records.replay import replay

    positions, illegal = replay(record)
    fault = illegal or off_board
    if positions is None:
        return Unread(name, f"{name}: {fault}")
    if fault:
        last = positions.batch - 1
        record = record.until(last)
        told = f"the game is read up to move {last}" if last else "no move of the game is read"
        record = dataclasses.replace(record, notes=(*record.notes, f"{fault}; {told}"))
    return Game(name, record, positions)
