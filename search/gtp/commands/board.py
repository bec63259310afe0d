"""Commands that set up the board and play moves on it."""

import json

import numpy as np

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from search.game import IllegalMove
from search.gtp import arguments, handicap
from search.gtp.protocol import CANNOT_UNDO, ILLEGAL_MOVE, SYNTAX_ERROR, UNACCEPTABLE_SIZE, Failure
from search.gtp.table import names


def boardsize(engine, size: str, rows: str | None = None) -> None:
    """An empty board of NxN points; some clients say both sides."""
    columns = arguments.whole(size, -(2**31))
    if not MIN_SIZE <= columns <= MAX_SIZE or (rows is not None and arguments.whole(rows, -(2**31)) != columns):
        raise Failure(UNACCEPTABLE_SIZE)
    engine.table.clear(columns)
    engine.new_game()
    engine.prepare()


def clear_board(engine) -> None:
    """An empty board."""
    engine.table.clear(engine.table.size)
    engine.new_game()
    engine.prepare()


def komi(engine, points: str) -> None:
    """Points for White."""
    engine.table.nominal_komi = arguments.number(points)


def get_komi(engine) -> str:
    """Points for White, without those for handicap stones."""
    return f"{engine.table.nominal_komi:g}"


def play(engine, colour: str, vertex: str) -> None:
    """Plays a move of either colour."""
    table = engine.table
    mover = arguments.colour(colour)
    try:
        table.game.play(arguments.vertex(vertex, table.size), mover)
    except IllegalMove:
        raise Failure(ILLEGAL_MOVE) from None


def undo(engine) -> None:
    """Takes the last move back."""
    if not engine.table.game.moves:
        raise Failure(CANNOT_UNDO)
    engine.table.game.undo()


def showboard(engine) -> str:
    """The board, and what else a person wants to see."""
    table = engine.table
    rules = {**table.rules.as_json(), "komi": table.nominal_komi}
    return "\n".join(
        [
            f"MoveNum: {len(table.game.moves)}",
            table.diagram(),
            f"Next player: {'Black' if table.game.to_play == arguments.BLACK else 'White'}",
            f"Rules: {json.dumps(dict(sorted(rules.items())), separators=(',', ':'))}",
            f"B stones captured: {table.captured(arguments.BLACK)}",
            f"W stones captured: {table.captured(arguments.WHITE)}",
        ]
    )


def loadsgf(engine, *words: str) -> None:
    """A game record, up to before a move number."""
    if not words:
        raise Failure(SYNTAX_ERROR)
    # Names may hold blanks; a last word that is a number is the move, unless it is all there is.
    before = arguments.whole(words[-1], 1) if len(words) > 1 and words[-1].isdecimal() else None
    path = " ".join(words if before is None else words[:-1])
    engine.table.load(path, before)
    engine.new_game()
    engine.prepare()


def fixed_handicap(engine, stones: str) -> str:
    """Handicap stones where custom has them."""
    _must_be_empty(engine)
    size, number = engine.table.size, arguments.whole(stones, -(2**31))
    if not 2 <= number <= handicap.most_fixed(size):
        raise Failure("invalid number of stones")
    return _place(engine, handicap.fixed(size, number))


def place_free_handicap(engine, stones: str) -> str:
    """Handicap stones where the engine wants them; it may place fewer than it is asked to."""
    _must_be_empty(engine)
    size, number = engine.table.size, arguments.whole(stones, -(2**31))
    if number < 2:
        raise Failure("invalid number of stones")
    return _place(engine, handicap.free(size, number))


def set_free_handicap(engine, *vertices: str) -> None:
    """Handicap stones where the client has them."""
    _must_be_empty(engine)
    size = engine.table.size
    points = [arguments.vertex(vertex, size) for vertex in vertices]
    if not 2 <= len(points) < size * size or len(set(points)) < len(points) or size * size in points:
        raise Failure("bad vertex list")
    try:
        _place(engine, points)
    except ValueError:  # stones without liberties
        raise Failure("bad vertex list") from None


def _must_be_empty(engine) -> None:
    if not engine.table.empty:
        raise Failure("board not empty")


def _place(engine, points: list[int]) -> str:
    engine.table.place_handicap(points)
    engine.new_game()
    return names(np.array(points), engine.table.size)


COMMANDS = {
    function.__name__: function
    for function in (
        boardsize, clear_board, komi, get_komi, play, undo, showboard, loadsgf, fixed_handicap, place_free_handicap,
        set_free_handicap,
    )
}  # fmt: skip
