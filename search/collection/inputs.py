"""What a collection is made of: game records and tables of positions, found in files and folders, and cut out as they stand.

Nothing here is parsed further than it takes to say where a game begins and ends, of which size its board is and about how many
positions it has: that is the workers' business. So one process can cut for many.
"""

import dataclasses
import functools
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from jaxgo.base.files import is_no_file
from jaxgo.records.sgf import CHARACTER_SET, MOST_BYTES, codec_of

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
#: Letters of two bytes by character set, where the second may look like a bracket or a backslash.
_WIDE = dict.fromkeys(("cp932", "shift_jisx0213", "shift_jis_2004"), rb"[\x81-\x9f\xe0-\xfc][\x40-\xfc]|")
_WIDE |= dict.fromkeys(("gb18030", "cp950", "big5hkscs"), rb"[\x81-\xfe][\x40-\xfe]|")
_SIGN = re.compile(rb"[();]")
#: Bytes of a file that are read at a time, and that may be part of a game's beginning, blanks between its first two signs.
BLOCK, BEGINNING = 1 << 16, 1 << 12


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
        if is_no_file(file):
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
        if found := begin and _end_of(data, begin.start(), ended or too_long):
            size = _size(data[begin.start() : found.second], found.signs)
            place, number = found.end, number + 1
            label = name if number == 1 else f"{name}#{number}"
            yield Game(label, data[begin.start() : place], size, found.nodes)
            if too_long and place == len(data):
                return
        elif ended:
            return
        else:
            # A game that has not ended is looked at again, with twice as much of it.
            start = begin.start() if begin else max(place, len(data) - BEGINNING)
            more = file.read(max(BLOCK, len(data) - start))
            data, place, ended = data[start:] + more, 0, not more


class _Signs(NamedTuple):
    """What values look like in a character set."""

    token: re.Pattern[bytes]
    """A value, the second group of which is empty where it ends; or a sign outside of values."""
    property: re.Pattern[bytes]
    """A name and its first value, the third group of which is empty where it ends."""
    codec: str
    """The character set, "" for one in which no letter looks like a bracket."""


@functools.cache
def _signs(codec: str) -> _Signs:
    """Those in a character set."""
    wide = _WIDE.get(codec, b"")
    value = rb"(?:" + wide + rb"[^\]\\]|\\.)*"
    token = re.compile(rb"\[" + value + rb"(?:\]|(\\?\Z))|[();]", re.DOTALL)
    named = re.compile(rb"(?<![A-Za-z])([A-Za-z]+)\s*\[(" + value + rb")(?:\]|(\\?\Z))", re.DOTALL)
    return _Signs(token, named, codec if wide else "")


def _signs_of(data: bytes, start: int) -> _Signs:
    """Those of the game that starts there, which names its character set near its beginning."""
    named = CHARACTER_SET.search(data, start, start + BEGINNING)
    if named is None or _BEGIN_OF_ROOT.search(data, start + 1, named.start()):
        return _signs("")
    try:
        codec = codec_of(named[1])
    except (LookupError, ValueError):
        return _signs("")
    return _signs(codec if codec in _WIDE else "")


class _Ends(NamedTuple):
    """Where in a file a game ends."""

    end: int
    second: int
    """Where its first node ends."""
    nodes: int
    """How many it has."""
    signs: _Signs
    """By what it was found."""


def _end_of(data: bytes, start: int, whole: bool) -> _Ends | None:
    """`_end` by the character set that the game names, if it is in that: records that were converted may name the one before."""
    signs = _signs_of(data, start)
    found = _end(data, start, signs, whole)
    if signs.codec and not (found and _is_in(signs.codec, data[start : found.end])):
        plain = _end(data, start, _signs(""), whole)
        # Where none has ended yet, more of the file may tell.
        if found or (plain and not _is_in(signs.codec, data[start : plain.end])):
            return plain
    return found


def _is_in(codec: str, text: bytes) -> bool:
    """Whether a text is in a character set, and not in UTF-8, whose letters may look like others of Shift_JIS."""
    fits = []
    for name in (codec, "utf-8"):
        try:
            text.decode(name)
        except ValueError:
            fits.append(False)
        else:
            fits.append(True)
    return fits == [True, False]


def _end(data: bytes, start: int, signs: _Signs, whole: bool) -> _Ends | None:
    """Where the game that starts there ends; None where it goes on beyond what is held of the file, of which `whole` says that no
    more comes."""
    depth, nodes, second = 0, 0, None
    for token in _tokens(data, start, signs, whole):
        kind = token.group()[:1]
        if kind == b";":
            nodes += 1
            second = token.start() if nodes == 2 else second
        elif kind != b"[":
            if nodes and _BEGIN_OF_ROOT.match(data, token.start()):
                return _Ends(token.start(), token.start() if second is None else second, nodes, signs)
            depth += 1 if kind == b"(" else -1
            second = token.start() if second is None and nodes else second
            if not depth:
                return _Ends(token.end(), token.end() if second is None else second, nodes, signs)
    return _Ends(len(data), len(data) if second is None else second, nodes, signs) if whole else None


def _tokens(data: bytes, start: int, signs: _Signs, whole: bool) -> Iterator[re.Match]:
    """Values, and signs outside of them. A value that does not end is all of the rest, or, in what is whole, none."""
    for token in signs.token.finditer(data, start):
        if whole and token[1] is not None:
            yield from _SIGN.finditer(data, token.start())
            return
        yield token


def _size(root: bytes, signs: _Signs) -> int:
    """The size that a game's first node states."""
    for found in signs.property.finditer(root):
        if found[3] is not None:  # a value that does not end
            break
        if bytes(x for x in found[1] if not 97 <= x <= 122) == b"SZ":  # FF[3] allows small letters, which do not count
            text = found[2].partition(b":")[0].strip().removeprefix(b"+").lstrip(b"0")
            return int(text) if text.isdigit() and len(text) <= 2 and MIN_SIZE <= int(text) <= MAX_SIZE else DEFAULT_SIZE
    return DEFAULT_SIZE


def _tables(file: str) -> Iterator[Rows | Reject]:
    from search.collection import positions

    yield from positions.cut_rows(file)
