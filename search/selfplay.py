"""Games between two players, and their records."""

import dataclasses
from collections.abc import Callable

import numpy as np
from sgfmill import sgf

from jaxgo import Position
from jaxgo.board.coordinates import coordinate
from search.choice import Choice, Limits
from search.game import Game, IllegalMove
from search.players import Player


@dataclasses.dataclass(frozen=True, eq=False)
class Played:
    """A finished game."""

    game: Game
    choices: list[Choice]
    """Of each move; one more than the game's moves where a player resigned."""
    winner: int
    """1 Black, -1 White, 0 a draw."""
    result: str
    """As in SGF: B+3.5, W+R, 0 for a draw, Void where the game was too long."""


def play_game(
    black: Player,
    white: Player,
    position: Position,
    limits: Limits,
    *,
    komi: float = 7.5,
    max_moves: int | None = None,
    on_move: Callable[[Game, Choice], None] | None = None,
) -> Played:
    """Plays a game to two passes, a resignation, or the most moves.

    Args:
      black, white: the players.
      position: where it begins.
      limits: of each move.
      komi: points that White gets; the players must know the same.
      max_moves: by default three times the points; such a game is scored as it stands.
      on_move: called after each move.
    """
    game, choices = Game(position, komi), []
    most = 3 * position.size**2 if max_moves is None else max_moves
    while not game.over and len(game.moves) < most:
        mover = game.to_play
        choice = (black if mover == 1 else white).genmove(game.position, game.history, limits)
        choices.append(choice)
        if choice.resign:
            return Played(game, choices, -mover, f"{'W' if mover == 1 else 'B'}+R")
        try:
            game.play(choice.move)
        except IllegalMove as error:
            raise RuntimeError(f"a player chose an illegal move: {error}") from error
        if on_move is not None:
            on_move(game, choice)
    score = game.score()
    result = "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
    return Played(game, choices, int(np.sign(score)), result)


def as_sgf(played: Played, black: str, white: str, setup: Position | None = None) -> bytes:
    """The game's SGF record, with each move's evaluation as a comment.

    Args:
      played: the game.
      black, white: the players' names.
      setup: the first position, where it is not the empty board.
    """
    game = played.game
    record = sgf.Sgf_game(size=game.size)
    root = record.get_root()
    for name, value in (("PB", black), ("PW", white), ("KM", game.komi), ("RE", played.result), ("RU", "area")):
        root.set(name, value)
    if setup is not None:
        stones = np.asarray(setup.to_array())[0]
        placed = [[_row_column(int(p), game.size) for p in np.flatnonzero(stones == colour)] for colour in (1, -1)]
        root.set_setup_stones(*placed)
        root.set("PL", "b" if int(np.asarray(setup.to_play)[0]) == 1 else "w")
    for (colour, point), choice in zip(game.moves, played.choices):
        node = record.extend_main_sequence()
        node.set_move("b" if colour == 1 else "w", _row_column(point, game.size))
        node.set("C", describe(choice, colour, game.size))
    return record.serialise()


def describe(choice: Choice, colour: int, size: int) -> str:
    """A choice in words: the win rate, the playouts behind it, and what is expected."""
    name = "Black" if colour == 1 else "White"
    if np.isnan(choice.win_rate):
        return f"{name} plays without playouts"
    line = " ".join(coordinate(point, size) for point in choice.variation)
    return f"{name} wins {100 * choice.win_rate:.1f} % of {choice.playouts:,} playouts; {line}"


def _row_column(point: int, size: int) -> tuple[int, int] | None:
    """A point as sgfmill counts it, rows from the bottom; None for a pass."""
    return None if point == size * size else (size - 1 - point // size, point % size)
