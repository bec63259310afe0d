"""Commands that set up the board and play moves on it."""

import json

import numpy as np

from jaxgo import BLACK, WHITE
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE, MOST_KOMI
from jaxgo.board.coordinates import coordinate
from search.game import IllegalMove
from search.gtp import arguments, handicap
from search.gtp.protocol import CANNOT_UNDO, ILLEGAL_MOVE, INVALID_POINT, SYNTAX_ERROR, UNACCEPTABLE_SIZE, Failure, remark
from search.gtp.table import names


def boardsize(engine, size: str, rows: str | None = None) -> None:
    """An empty board of NxN points; some clients say both sides."""
    columns = arguments.whole(size, -(2**31))
    if not MIN_SIZE <= columns <= MAX_SIZE or (rows is not None and arguments.whole(rows, -(2**31)) != columns):
        raise Failure(UNACCEPTABLE_SIZE)
    engine.table.clear(columns)
    engine.clock.begin()
    engine.new_game()
    engine.prepare()


def clear_board(engine) -> None:
    """An empty board."""
    engine.table.clear(engine.table.size)
    engine.clock.begin()
    engine.new_game()
    engine.prepare()


def komi(engine, points: str) -> None:
    """Points for White."""
    engine.table.nominal_komi = arguments.number(points, -MOST_KOMI, MOST_KOMI) + 0.0  # of -0, too


def get_komi(engine) -> str:
    """Points for White, without those for handicap stones."""
    return f"{engine.table.nominal_komi:.12g}"


def play(engine, colour: str, vertex: str) -> None:
    """Plays a move of either colour, of which another program has made sure that its rules allow it."""
    _play(engine, *_move(engine, colour, vertex))


def play_sequence(engine, *words: str) -> None:
    """Plays several moves, `COLOUR POINT COLOUR POINT ...`; all of them or, where one is illegal, none."""
    if len(words) % 2:
        raise Failure(SYNTAX_ERROR)
    moves = [_move(engine, *pair) for pair in zip(words[::2], words[1::2])]
    before = len(engine.table.game.moves)
    try:
        for move in moves:
            _play(engine, *move)
    except Failure:
        while len(engine.table.game.moves) > before:
            _undo(engine)
        raise


def undo(engine) -> None:
    """Takes the last move back."""
    if not engine.table.game.moves:
        raise Failure(CANNOT_UNDO)
    _undo(engine)


def _undo(engine) -> None:
    engine.table.game.undo()
    engine.resignation.undone(len(engine.table.game.moves))


def showboard(engine) -> str:
    """The board, and what else a person wants to see."""
    table = engine.table
    rules = {**table.rules.as_json(), "komi": table.nominal_komi}
    return "\n".join(
        [
            f"MoveNum: {len(table.game.moves)}",
            table.diagram(),
            f"Next player: {'Black' if table.game.to_play == BLACK else 'White'}",
            f"Rules: {json.dumps(dict(sorted(rules.items())), separators=(',', ':'))}",
            f"B stones captured: {table.captured(BLACK)}",
            f"W stones captured: {table.captured(WHITE)}",
        ]
    )


def set_position(engine, *words: str) -> None:
    """Exactly these stones, `COLOUR POINT COLOUR POINT ...`; Black moves next, and there is nothing to take back."""
    if len(words) % 2:
        raise Failure(SYNTAX_ERROR)
    size, stones = engine.table.size, {}
    for colour, point in (_move(engine, *pair) for pair in zip(words[::2], words[1::2])):
        if point == size * size or point in stones:
            raise Failure(INVALID_POINT)
        stones[point] = colour
    try:
        engine.table.set_up(stones, BLACK)
    except ValueError as error:  # stones without liberties
        raise Failure(f"the stones are not a legal position: {error}") from None
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


def _move(engine, colour: str, vertex: str) -> tuple[int, int]:
    return arguments.colour(colour), arguments.vertex(vertex, engine.table.size)


def _play(engine, colour: int, point: int) -> None:
    """Plays a move of another program; as KataGo does, also one against superko, which not all programs know."""
    try:
        repeats = engine.table.game.play(point, colour, tolerant=True)
    except IllegalMove:
        raise Failure(ILLEGAL_MOVE) from None
    if repeats:
        name = coordinate(point, engine.table.size)
        remark(f"{name} repeats an earlier position, which positional superko forbids; it is taken as it was played")


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
        boardsize, clear_board, komi, get_komi, play, undo, showboard, set_position, fixed_handicap, place_free_handicap,
        set_free_handicap,
    )
}  # fmt: skip
COMMANDS["gogui-play_sequence"] = play_sequence
