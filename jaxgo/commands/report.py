"""What `jaxgo evaluate` found, as plain data: the rows that the table, the JSON document and the plot are made from."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxgo.board.coordinates import coordinate
from jaxgo.records.record import GameRecord

if TYPE_CHECKING:
    from jaxgo.commands.compared import ComparedMove
    from jaxgo.commands.endings import Ending
    from jaxgo.commands.mistakes import Mistakes
    from jaxgo.commands.playing import Played

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
    ending: "Ending | None"
    """Where two passes ended the game: its dead stones. A playout is then the score of the board without them."""
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
    """int8 [N, N]: 1 Black, -1 White, row 0 at the top; dead stones included."""
    ownership: np.ndarray
    """float64 [N, N] in [-1, 1], 1 where Black always ends up with the point."""
    margin_histogram: np.ndarray
    """int64 [2P+1]: playouts by margin + P."""
    amaf_visits: np.ndarray
    """int64 [2, N, N]: playouts in which Black (0), White (1) was the first to play at the point."""
    amaf_wins: np.ndarray
    """float64 [2, N, N]: wins among them for the colour that played, draws half."""
    gain: float | None = None
    """What the last move changed in its player's win rate; None where the position before it has no row, or the game is over."""
    gain_error: float | None = None
    """Its standard error: the two positions' playouts are independent."""

    @property
    def over(self) -> bool:
        """Whether two passes ended the game."""
        return self.ending is not None

    @property
    def margin_error(self) -> float:
        """Standard error of the mean margin."""
        return self.margin_std / math.sqrt(self.num_playouts)


@dataclasses.dataclass(frozen=True)
class Report:
    """What a finished or interrupted run of the command found of one game."""

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
    """Time the playouts took, compiling included; of all games that were played together."""
    rate: float | None
    """Playouts per second once compiled; None for a run that was too short to tell."""
    engine: dict[str, Any]
    """Versions, and what was found out about how this machine plays; see `Backend.report`."""
    rows: tuple[Row, ...]
    """The positions with at least one finished playout, by move number."""
    mistakes: "Mistakes | None" = None
    """The moves that lost most, where they are asked for and were found before the run was interrupted."""
    compared: "tuple[ComparedMove, ...]" = ()
    """The moves that were to be compared, from the last row's position."""

    @property
    def size(self) -> int:
        """Rows and columns of the board."""
        return self.record.size

    @property
    def in_play(self) -> tuple[Row, ...]:
        """The rows whose games are not over, for curves and boards; all of them where there is no such row."""
        return tuple(row for row in self.rows if not row.over) or self.rows


def rows_of(played: "Played") -> tuple[Row, ...]:
    """The rows of a game's positions that have finished playouts."""
    asked, evaluation = played.asked, played.evaluation
    if evaluation is None:
        return ()
    record, boards = asked.record, np.asarray(asked.positions.to_array())
    rows: list[Row] = []
    for i, move in enumerate(asked.moves):
        if not evaluation.num_playouts[i]:
            continue
        row = Row(
            move=move,
            last_move=record.moves[move - 1] if move else None,
            to_play=record.to_play(move),
            ending=played.endings.get(move),
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
        rows.append(_with_gain(row, rows[-1]) if rows else row)
    return tuple(rows)


def _with_gain(row: Row, before: Row) -> Row:
    """A row that says what its last move changed, where `before` is of the position before it."""
    if before.move != row.move - 1 or row.over or row.last_move is None:
        return row
    gain = row.last_move[0] * (row.win_rate - before.win_rate) + 0.0  # no -0
    return dataclasses.replace(row, gain=gain, gain_error=math.hypot(row.win_rate_error, before.win_rate_error))


def move_text(colour: int, point: int, size: int) -> str:
    """A move such as "B E5" or "W pass"."""
    return f"{COLOUR_LETTERS[colour]} {coordinate(point, size)}"


def last_move_text(row: Row, size: int) -> str:
    """The move that led to the position, such as "B E5" or "W pass", "" before the first."""
    return "" if row.last_move is None else move_text(*row.last_move, size)


def score_text(score: float) -> str:
    """A score as records state it, such as "B+14" or "W+0.5"; "0" for a draw."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def is_same(score: float, stated: float | None) -> bool:
    """Whether a score is the one that a record states, whatever floats make of its komi's tenths."""
    return stated is not None and abs(score - stated) < 1e-6


def ending_text(ending: "Ending", size: int) -> str:
    """What was done about a finished game's dead stones, a sentence."""
    points = ", ".join(coordinate(point, size) for point in ending.dead)
    how = "as the record's result says" if ending.by_record else "as playouts say"
    taken = f"{len(ending.dead)} dead stones are taken off, {how} ({points})" if points else f"no stone is dead, {how}"
    score = f"two passes ended the game there; {taken}: {score_text(ending.score)}"
    if ending.at_its_komi != ending.score:
        score = f"{score}; {score_text(ending.at_its_komi)} with the record's komi"
    if ending.stated is None:
        return score
    if ending.bonus:
        return f"{score}; {score_text(ending.stated)} with {ending.bonus} points for handicap stones, as the record says"
    agrees = is_same(ending.at_its_komi, ending.stated)
    return f"{score}, {'as the record says' if agrees else f'but the record says {score_text(ending.stated)}'}"
