"""The JSON of `jaxgo evaluate --json`: a document for each game, with only numbers that JSON has (None for what is not finite).

`pandas.DataFrame(document["positions"])` is a table: what a row of it says of a move is flat.
"""

import math
from typing import Any

from jaxgo.board.coordinates import coordinate
from jaxgo.commands.endings import Ending
from jaxgo.commands.report import COLOUR_LETTERS, Report, Row, score_text


def as_document(report: Report, version: str) -> dict[str, Any]:
    """One game."""
    record = report.record
    document = {
        "jaxgo": version,
        "file": report.name or None,
        "size": report.size,
        "black": record.black or None,
        "white": record.white or None,
        "result": record.result or None,
        "handicap": record.handicap,
        "moves": len(record.moves),
        "remarks": list(record.remarks),
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
        "positions": [_row(row, report) for row in report.rows],
    }
    if report.mistakes is not None:
        document["mistakes"] = report.mistakes.as_json(report.size)
    if report.compared:
        document["compared"] = [move.as_json(report.size) for move in report.compared]
    return document


def _row(row: Row, report: Report) -> dict[str, Any]:
    """One position."""
    size, points = report.size, report.size**2
    colour = point = last = None
    if row.last_move is not None:
        colour, point = COLOUR_LETTERS[row.last_move[0]], coordinate(row.last_move[1], size)
        last = {"colour": colour, "point": point}
    symbols = {0: ".", 1: "X", -1: "O"}
    return {
        "file": report.name or None,
        "move": row.move,
        "colour": colour,
        "point": point,
        "last_move": last,
        "gain": row.gain,
        "gain_error": row.gain_error,
        "to_play": COLOUR_LETTERS[row.to_play],
        "over": row.over,
        **_ending(row.ending, size),
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


def _ending(ending: Ending | None, size: int) -> dict[str, Any]:
    """What is known of the end of a game; nothing of a position in play."""
    if ending is None:
        return {"dead": None, "score": None, "dead_by_record": None}
    return {
        "dead": [coordinate(point, size) for point in ending.dead],
        "score": score_text(ending.score),
        "dead_by_record": ending.by_record,
    }


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None
