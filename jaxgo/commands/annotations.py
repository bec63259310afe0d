"""What `jaxgo evaluate --sgf` writes into a game record: figures, a curve of win rates, marks of ownership, better moves."""

import numpy as np

from jaxgo.board.coordinates import coordinate
from jaxgo.commands.asked import Asked
from jaxgo.commands.mistakes import Loss
from jaxgo.commands.report import Report, Row, ending_text
from jaxgo.records.annotated import Annotation, annotated

#: How surely a point must be a player's to be marked as his, on the scale from 0 to 1.
MARKED_FROM = 0.5


def annotated_record(asked: Asked, report: Report) -> bytes:
    """The game's record with what the report says of its positions."""
    rows = {row.move: row for row in report.rows}
    losses = {loss.move: loss for loss in report.mistakes.losses} if report.mistakes is not None else {}
    said = {move: _annotation(rows.get(move), losses.get(move), report) for move in {*rows, *losses}}
    return annotated(asked.source, report.size, said)


def _annotation(row: Row | None, loss: Loss | None, report: Report) -> Annotation:
    lines = []
    if row is not None:
        lines.append(
            f"Black wins {100 * row.win_rate:.2f} % +- {100 * row.win_rate_error:.2f}, margin {row.margin_mean:+.2f} +- "
            f"{row.margin_error:.2f} before komi ({row.num_playouts:,} playouts)"
        )
        if row.ending is not None:
            lines.append(ending_text(row.ending, report.size))
    if loss is not None:
        lost = f"{100 * loss.loss:.2f} % +- {100 * loss.loss_error:.2f}"
        lines.append(f"{coordinate(loss.better, report.size)} was better: this move loses {lost} of the player's wins")
    owners = {} if row is None else {
        name: np.flatnonzero((sign * row.ownership >= MARKED_FROM) & (row.stones != sign)).tolist()
        for name, sign in (("black", 1), ("white", -1))
    }  # fmt: skip
    better = None if loss is None else (loss.colour, loss.better)
    return Annotation("\n".join(lines), None if row is None else row.win_rate, bad=loss is not None, better=better, **owners)
