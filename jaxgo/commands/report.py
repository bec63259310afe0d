"""What `jaxgo evaluate` found, as plain data: the rows that the table, the JSON document and the plot are made from."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxgo.board.coordinates import coordinate
from jaxgo.records.record import GameRecord

if TYPE_CHECKING:
    from jaxgo import Evaluation, Position

COLOUR_LETTERS = {1: "B", -1: "W"}


@dataclasses.dataclass(frozen=True)
class Row:
    """One position and the figures of its playouts. Figures are Black's; margins are area, before komi."""

    move: int
    """Moves played before it."""
    last_move: tuple[int, int] | None
    """(colour, point) of the move that led to it, None before the first."""
    to_play: int
    """1 Black, -1 White."""
    over: bool
    """Two passes ended the game: a playout is then the score of the board as it stands."""
    num_playouts: int
    """Playouts that are finished; at least 1."""
    win_rate: float
    """Black's, draws count half."""
    win_rate_error: float
    """Its standard error."""
    margin_mean: float
    margin_std: float
    """Standard deviation of one playout's margin."""
    length_mean: float
    """Plies of a playout, its passes included."""
    truncated: float
    """The fraction of playouts that met the length cap."""
    stones: np.ndarray
    """int8 [N, N]: 1 Black, -1 White, row 0 at the top."""
    ownership: np.ndarray
    """float64 [N, N] in [-1, 1], 1 where Black always ends up with the point."""
    margin_histogram: np.ndarray
    """int64 [2P+1]: playouts by margin + P."""
    amaf_visits: np.ndarray
    """int64 [2, N, N]: playouts in which Black (0), White (1) was the first to play at the point."""
    amaf_wins: np.ndarray
    """float64 [2, N, N]: wins among them for the colour that played, draws half."""

    @property
    def margin_error(self) -> float:
        """Standard error of the mean margin."""
        return self.margin_std / math.sqrt(self.num_playouts)


@dataclasses.dataclass(frozen=True)
class Report:
    """A finished or interrupted run of the command."""

    name: str
    """The file's name, or "" for the empty board."""
    record: GameRecord
    komi: float
    komi_source: str
    """Where it comes from: "file", "option" or "default"."""
    policy: str | None
    """Whom the playouts asked, as the option names them; None for uniform playouts."""
    seed: int
    playouts: int
    """Playouts asked for from each position."""
    asked: int
    """Positions asked for."""
    complete: bool
    """False where the run was interrupted."""
    seconds: float
    """Time the playouts took, compiling included."""
    rate: float | None
    """Playouts per second once compiled; None for a run that was too short to tell."""
    engine: dict[str, Any]
    """Versions, and what was found out about how this machine plays; see `Backend.report`."""
    rows: tuple[Row, ...]
    """The positions with at least one finished playout, by move number."""

    @property
    def size(self) -> int:
        """Rows and columns of the board."""
        return self.record.size

    @property
    def in_play(self) -> tuple[Row, ...]:
        """The rows whose games are not over, for curves and boards; all of them where there is no such row."""
        return tuple(row for row in self.rows if not row.over) or self.rows


def rows_of(record: GameRecord, moves: list[int], positions: "Position", evaluation: "Evaluation") -> tuple[Row, ...]:
    """The rows of the positions that have finished playouts.

    Args:
      record: the game.
      moves: the move number of each position.
      positions: the positions, batch `len(moves)`.
      evaluation: their figures, possibly partial.
    """
    boards, over = np.asarray(positions.to_array()), np.asarray(positions.is_over())
    rows = []
    for i, move in enumerate(moves):
        if not evaluation.num_playouts[i]:
            continue
        rows.append(
            Row(
                move=move,
                last_move=record.moves[move - 1] if move else None,
                to_play=record.to_play(move),
                over=bool(over[i]),
                num_playouts=int(evaluation.num_playouts[i]),
                win_rate=float(evaluation.win_rate[i]),
                win_rate_error=float(evaluation.win_rate_error[i]),
                margin_mean=float(evaluation.margin_mean[i]),
                margin_std=float(evaluation.margin_std[i]),
                length_mean=float(evaluation.length_mean[i]),
                truncated=float(evaluation.truncated[i]),
                stones=boards[i],
                ownership=np.asarray(evaluation.ownership[i]),
                margin_histogram=np.asarray(evaluation.margin_histogram[i]),
                amaf_visits=np.asarray(evaluation.amaf_visits[i]),
                amaf_wins=np.asarray(evaluation.amaf_wins[i]),
            )
        )
    return tuple(rows)


def as_document(report: Report, version: str) -> dict[str, Any]:
    """The report as a document for JSON: only numbers that JSON has (None for what is not finite), rows from the top."""
    record = report.record
    return {
        "jaxgo": version,
        "file": report.name or None,
        "size": report.size,
        "black": record.black or None,
        "white": record.white or None,
        "result": record.result or None,
        "handicap": record.handicap,
        "moves": len(record.moves),
        "komi": report.komi,
        "komi_source": report.komi_source,
        "policy": report.policy,
        "seed": report.seed,
        "playouts": report.playouts,
        "complete": report.complete,
        "positions_asked": report.asked,
        "seconds": _number(report.seconds),
        "playouts_per_second": report.rate,
        "engine": report.engine,
        "positions": [_row_document(row, report.size) for row in report.rows],
    }


def last_move_text(row: Row, size: int) -> str:
    """The move that led to the position, such as "B E5" or "W pass", "" before the first."""
    if row.last_move is None:
        return ""
    colour, point = row.last_move
    return f"{COLOUR_LETTERS[colour]} {coordinate(point, size)}"


def _row_document(row: Row, size: int) -> dict[str, Any]:
    """One position of the document."""
    last = None
    if row.last_move is not None:
        last = {"colour": COLOUR_LETTERS[row.last_move[0]], "point": coordinate(row.last_move[1], size)}
    points = size * size
    symbols = {0: ".", 1: "X", -1: "O"}
    return {
        "move": row.move,
        "last_move": last,
        "to_play": COLOUR_LETTERS[row.to_play],
        "over": row.over,
        "board": ["".join(symbols[int(stone)] for stone in line) for line in row.stones],
        "playouts": row.num_playouts,
        "win_rate": _number(row.win_rate),
        "win_rate_error": _number(row.win_rate_error),
        "margin_mean": _number(row.margin_mean),
        "margin_error": _number(row.margin_error),
        "margin_std": _number(row.margin_std),
        "margin_histogram": {str(i - points): int(count) for i, count in enumerate(row.margin_histogram) if count},
        "length_mean": _number(row.length_mean),
        "truncated": _number(row.truncated),
        "ownership": row.ownership.tolist(),
        "amaf": {
            name: {"visits": row.amaf_visits[i].tolist(), "wins": row.amaf_wins[i].tolist()}
            for i, name in enumerate(("black", "white"))
        },
    }


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None
