"""Games between two players, and their records."""

import dataclasses
import datetime
import hashlib
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from jaxgo.board.coordinates import coordinate
from search.choice import Choice, Limits, Player
from search.game import Game, IllegalMove
from search.in_steps import Clock, Steps, alone
from search.records import as_record, score_as_result

#: How a game ends, and what stands for it in a record's result where a player lost without being beaten on the board.
SCORE, TOO_LONG, RESIGNATION, TIME, ILLEGAL, FAILURE = "score", "too long", "resignation", "time", "illegal move", "failure"
_LETTERS = {RESIGNATION: "R", TIME: "T", ILLEGAL: "F", FAILURE: "F"}


def seed_of(seed: int, number: int, player: int) -> int:
    """A player's seed in a game of many, in [0, 2**63): another one for each seed of these, number and player."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {number} {player}".encode(), digest_size=8).digest()) >> 1


class Forfeit(Exception):
    """The player to move loses: it has failed, or was too slow. `ending` is one of the constants above; the text says why."""

    def __init__(self, ending: str, why: str):
        super().__init__(why)
        self.ending = ending


class Mover(Protocol):
    """Who takes part in a game."""

    knows_superko: bool
    """Whether it keeps to positional superko. Of others a move that repeats a position is taken: many know simple ko alone."""

    def move_in_steps(self, game: Game) -> Steps[Choice]:
        """What it plays in this game, in which it is to move; among other games (`search.in_steps`).

        Raises:
          Forfeit: it cannot go on.
        """


@dataclasses.dataclass(frozen=True)
class Limited:
    """A bot that has so much for each move."""

    player: Player
    limits: Limits
    knows_superko = True

    def move_in_steps(self, game: Game) -> Steps[Choice]:
        return self.player.genmove_in_steps(game.position, game.history, self.limits)


@dataclasses.dataclass(frozen=True, eq=False)
class Played:
    """A finished game."""

    game: Game
    opening: int
    """Moves that were on the board before the players began."""
    choices: list[Choice]
    """Of each move since; one more than the game has where a player resigned."""
    seconds: list[float]
    """What each choice took, and what a move that never came had taken until the game was lost by it."""
    winner: int
    """1 Black, -1 White, 0 a draw."""
    ending: str
    """`SCORE` after two passes, `TOO_LONG` (scored as it stood), `RESIGNATION`, `TIME`, `ILLEGAL` or `FAILURE`."""
    remark: str
    """Why a player lost without being beaten, "" otherwise."""

    @property
    def result(self) -> str:
        """As in SGF: B+3.5, W+R, B+T (time), W+F (an illegal move, a failure), 0 for a draw."""
        if self.ending in _LETTERS:
            return f"{'B' if self.winner == 1 else 'W'}+{_LETTERS[self.ending]}"
        return score_as_result(self.game.score())


def play_game(
    black: Mover,
    white: Mover,
    game: Game,
    *,
    seconds: float | None = None,
    max_moves: int | None = None,
    on_move: Callable[[Game, Choice], None] | None = None,
) -> Played:
    """Plays a game to two passes, a resignation or a forfeit.

    Args:
      black, white: who plays.
      game: where it begins, an opening's moves included; it is played on.
      seconds: the most time that a move may take; who takes longer loses. None is without a clock.
      max_moves: by default three times the points; such a game is scored as it stands.
      on_move: called after each move.
    """
    return alone(play_game_in_steps(black, white, game, seconds=seconds, max_moves=max_moves, on_move=on_move))


def play_game_in_steps(
    black: Mover,
    white: Mover,
    game: Game,
    *,
    seconds: float | None = None,
    max_moves: int | None = None,
    on_move: Callable[[Game, Choice], None] | None = None,
    clock: Clock = time.perf_counter,
) -> Steps[Played]:
    """`play_game`, among other games (`search.in_steps`), by a clock of its own."""
    opening = len(game.moves)
    choices: list[Choice] = []
    taken: list[float] = []
    most = 3 * game.size**2 if max_moves is None else max_moves

    def ended(winner: int, ending: str, remark: str = "") -> Played:
        return Played(game, opening, choices, taken, winner, ending, remark)

    while not game.over and len(game.moves) < most:
        colour, start = game.to_play, clock()
        mover = black if colour == 1 else white
        try:
            choice = yield from mover.move_in_steps(game)
            taken.append(clock() - start)
            if seconds is not None and taken[-1] > seconds:
                raise Forfeit(TIME, f"a move took {taken[-1]:.2f} s")
            choices.append(choice)
            if choice.resign:
                return ended(-colour, RESIGNATION)
            game.play(choice.move, tolerant=not mover.knows_superko)
        except Forfeit as forfeit:
            if len(taken) == len(choices):  # of a move that has not come
                taken.append(clock() - start)
            return ended(-colour, forfeit.ending, str(forfeit))
        except IllegalMove as error:
            choices.pop()
            why = str(error).rpartition(": ")[2]
            return ended(-colour, ILLEGAL, f"{coordinate(choice.move, game.size)}: {why}")
        if on_move is not None:
            on_move(game, choice)
    return ended(int(np.sign(game.score())), SCORE if game.over else TOO_LONG)


def as_sgf(played: Played, black: str, white: str, comment: str = "", result: str | None = None) -> bytes:
    """The game's SGF record, with each move's evaluation as a comment.

    Args:
      played: the game.
      black, white: the players' names.
      comment: on the game: under which conditions it was played.
      result: a referee's, in place of the game's own.
    """
    game = played.game
    properties = {
        "DT": datetime.date.today().isoformat(), "PB": black, "PW": white, "KM": game.komi, "RU": "area",
        "RE": played.result if result is None else result, "GC": comment,
    }  # fmt: skip
    comments = ["opening"] * played.opening + [
        f"{describe(choice, colour, game.size)}{seconds:.2f} s"
        for choice, (colour, _), seconds in zip(played.choices, game.moves[played.opening :], played.seconds)
    ]
    if played.remark:
        # On the last move, or where there is none on the game.
        before = comments.pop() + "\n" if comments else ""
        comments.append(f"{before}{played.ending}: {played.remark}")
        if not game.moves:
            properties["C"] = comments.pop()
    return as_record(game, {name: value for name, value in properties.items() if value != ""}, dict(enumerate(comments, start=1)))


def describe(choice: Choice, colour: int, size: int) -> str:
    """A choice in words: the win rate, the playouts behind it, and what is expected; "" where nothing was played out."""
    if np.isnan(choice.win_rate):
        return ""
    name = "Black" if colour == 1 else "White"
    line = " ".join(coordinate(point, size) for point in choice.variation)
    return f"{name} wins {100 * choice.win_rate:.1f} % of {choice.playouts:,} playouts; {line}; "
