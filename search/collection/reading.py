"""What a part holds, read: positions side by side, what is known of each, and what cannot be read."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pyarrow

from jaxgo import NO_KO, Position
from jaxgo.base import checks
from jaxgo.base.constants import INT32_MAX
from jaxgo.board.coordinates import coordinate
from jaxgo.records.replay import Replay, replay
from search.collection.inputs import Reject
from search.collection.lines import Line, lines_of
from search.collection.parts import GamePiece, Part, TablePiece
from search.collection.positions import positions_of
from search.collection.settings import DEFAULT_KOMI, Settings

#: What is known of a position beside itself, in the order of the tables.
NAMES = ("game", "variation", "ply", "move", "black", "white", "result")


@dataclasses.dataclass(frozen=True, eq=False)
class Read:
    """The positions of a part, in order."""

    part: Part
    position: Position | None
    """B positions on the host; None for none."""
    facts: dict[str, list]
    """`NAMES` of each, lists [B]."""
    komi: np.ndarray
    """float64 [B]."""
    histories: list[np.ndarray]
    """uint32 [n, 2] of each: the hashes of the game's earlier positions, as `search.Search` takes them."""
    rejects: list[Reject]

    @property
    def batch(self) -> int:
        """B."""
        return 0 if self.position is None else self.position.batch


class _Gathering:
    """A part's positions, piece by piece."""

    def __init__(self, part: Part, settings: Settings):
        self.part, self.settings = part, settings
        self.positions: list[Position] = []
        self.facts: dict[str, list] = {name: [] for name in NAMES}
        self.komi: list[float] = []
        self.histories: list[np.ndarray] = []
        self.rejects: list[Reject] = []

    def add(self, position: Position, komi: list[float], histories: list[np.ndarray], **facts: list[Any]) -> None:
        self.positions.append(position)
        self.komi += komi
        self.histories += histories
        for name, values in facts.items():
            self.facts[name] += values

    def read(self) -> Read:
        together = jax.tree.map(lambda *x: np.concatenate(x), *self.positions) if self.positions else None
        return Read(self.part, together, self.facts, np.array(self.komi), self.histories, self.rejects)

    def komi_of(self, stated: float | None) -> float:
        komi = self.settings.komi
        return float(komi if komi is not None else stated if stated is not None else DEFAULT_KOMI)


def read(part: Part, settings: Settings) -> Read:
    """Reads a part, and plays its games."""
    gathering = _Gathering(part, settings)
    for piece in part.pieces:
        if isinstance(piece, TablePiece):
            _add_rows(gathering, piece)
        else:
            _add_game(gathering, piece, _told(piece, gathering, _game if piece.is_whole else _cut_game))
    return gathering.read()


def _game(text: bytes, size: int) -> list[tuple[Line, Replay]]:
    """The lines of a game, played.

    Raises:
      ValueError: what is wrong with all of it.
    """
    lines = lines_of(text)
    if lines[0].record.size != size:
        raise ValueError(f"its board size, {lines[0].record.size}, does not stand where it can be found")
    return [(line, replay(line.record)) for line in lines]


#: Of a game that was cut: a part needs few of its positions, and the next part others.
_cut_game = functools.lru_cache(1)(_game)


def _told(
    piece: GamePiece, gathering: _Gathering, reader: Callable[[bytes, int], list[tuple[Line, Replay]]]
) -> list[tuple[Line, Replay]]:  # fmt: skip
    """What a reader finds in a game; what is wrong with all of it is told in the part that has its first piece."""
    try:
        return reader(piece.text, gathering.part.size)
    except ValueError as error:
        if not piece.first:
            gathering.rejects.append(Reject(piece.name, -1, 0, str(error).replace("the given text", "this")))
        return []


def _add_game(gathering: _Gathering, piece: GamePiece, lines: list[tuple[Line, Replay]]) -> None:
    """The positions of a game that the piece means."""
    settings, before = gathering.settings, 0
    record = lines[0][0].record if lines else None
    if record and record.komi is None and record.komi_text.strip() and settings.komi is None and not piece.first:
        gathering.rejects.append(Reject(piece.name, 0, 0, f"{record.remarks[0]}; {DEFAULT_KOMI:g} points are taken"))
    for variation, (line, played) in enumerate(lines):
        fault, last = played.fault or line.fault, played.num_moves if played.positions is not None else -1
        # A fault before what is the line's own is an earlier line's, and told there.
        if fault and not piece.first and last + 1 >= line.start:
            gathering.rejects.append(Reject(piece.name, variation, last + 1, fault))
        plies = settings.plies(line.start, last, min(line.record.last_in_play, last))
        meant = slice(max(0, piece.first - before), None if piece.end is None else max(0, piece.end - before))
        before += len(plies)
        if plies[meant]:
            _add_line(gathering, piece.name, variation, line, played, plies[meant])


def _add_line(gathering: _Gathering, name: str, variation: int, line: Line, played: Replay, plies: list[int]) -> None:
    assert played.positions is not None  # there are plies
    record, count = line.record, len(plies)
    hashes = np.asarray(played.positions.hash()) if gathering.settings.bot else None
    gathering.add(
        played.positions[np.array(plies)],
        [gathering.komi_of(record.komi)] * count,
        [hashes[:ply] for ply in plies] if hashes is not None else [],
        game=[name] * count, variation=[variation] * count, ply=plies,
        move=[coordinate(record.moves[ply - 1][1], record.size) if ply else None for ply in plies],
        black=[record.black or None] * count, white=[record.white or None] * count, result=[record.result or None] * count,
    )  # fmt: skip


def _add_rows(gathering: _Gathering, piece: TablePiece) -> None:
    """The positions of some rows of a table."""
    with pyarrow.ipc.open_stream(piece.data) as stream:
        table = stream.read_all()
    position, good, bad = positions_of(table, gathering.part.size)
    numbers = table["row"].to_pylist()
    held = {name: table[name].to_pylist() for name in (*NAMES, "komi") if name in table.column_names}
    # Of rows that do not say what game they are from each is one of its own: nothing leads from one to the next.
    alone = "game" not in held
    otherwise = {
        "game": lambda row: f"{piece.name}, row {numbers[row]}" if alone else piece.name,
        "variation": lambda row: 0, "ply": lambda row: 0 if alone else numbers[row],
    }  # fmt: skip

    def value(name: str, row: int) -> Any:
        stated = held[name][row] if name in held else None
        if stated is not None:
            return _kept(name, stated)
        return otherwise[name](row) if name in otherwise else None

    facts: dict[str, list] = {name: [] for name in NAMES}
    kept, komi = [], []
    for place, row in enumerate(good):
        try:
            values, of_row = {name: value(name, row) for name in NAMES}, gathering.komi_of(value("komi", row))
        except ValueError as error:
            bad.append((row, str(error)))
            continue
        kept.append(place)
        komi.append(of_row)
        for name, x in values.items():
            facts[name].append(x)
    gathering.rejects += [Reject(f"{piece.name}, row {numbers[row]}", -1, 0, reason) for row, reason in sorted(bad)]
    if kept:
        assert position is not None
        histories = [np.empty((0, 2), np.uint32)] * len(kept) if gathering.settings.bot else []
        gathering.add(position[np.array(kept)], komi, histories, **facts)


def _kept(name: str, stated: object) -> str | int | float:
    """What a row states, as it is kept.

    Raises:
      ValueError: it cannot be.
    """
    if name in ("variation", "ply"):
        if isinstance(stated, bool) or not isinstance(stated, int) or not 0 <= stated <= INT32_MAX:
            raise ValueError(f"{name} must be an integer between 0 and {INT32_MAX}, not {stated!r}")
        return stated
    if name == "komi":
        if isinstance(stated, bool) or not isinstance(stated, (int, float)):
            raise ValueError(f"komi must be a number, not {stated!r}")
        return checks.komi(float(stated))
    return str(stated)


def names_of_ko(position: Position) -> list[str | None]:
    """The ko points by name, None for none."""
    return [None if ko == NO_KO else coordinate(int(ko), position.size) for ko in np.asarray(position.ko)]
