"""What a player is told and what it answers: limits, a move, and the rules of passing that all bots share."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from jaxgo import BLACK, MoveStatistics, Position
from jaxgo.base import checks
from search.game import repeating, seen_by
from search.in_steps import Question, Steps, alone
from search.replay import together
from search.root import RootStatistics

#: Playouts of a move, at most.
MOST_VISITS = 1 << 50


@dataclasses.dataclass(frozen=True)
class Limits:
    """How long a player may think: at least one of the two."""

    visits: int | None = None
    """Playouts, up to 2**50; bots without a tree stop at 2**31 - 1."""
    seconds: float | None = None
    """Time on the clock on the wall."""

    def __post_init__(self):
        if self.visits is None and self.seconds is None:
            raise ValueError("limits must give visits or seconds")
        if self.visits is not None:
            checks.integer("visits", self.visits, 1, MOST_VISITS)
        if self.seconds is not None:
            wrong = isinstance(self.seconds, (bool, np.bool_)) or not isinstance(self.seconds, (int, float, np.number))
            if wrong or not 0 < self.seconds < float("inf"):
                raise ValueError(f"seconds must be a positive finite number, not {self.seconds!r}")
            # It is added to a clock's time, of which numpy's 32 bits hold too few digits.
            object.__setattr__(self, "seconds", float(self.seconds))

    def __str__(self) -> str:
        parts = [*([f"{self.visits:,} playouts"] if self.visits else []), *([f"{self.seconds:g} s"] if self.seconds else [])]
        return " or ".join(parts) + " a move"


def check_limits(limits: Limits) -> None:
    """Raises TypeError if these are none."""
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be search.Limits(visits=...), (seconds=...) or both, not {limits!r}")


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """A player's move and what it rests on; arrays [P + 1], rates from the view of the player to move."""

    move: int
    """The point, P for a pass."""
    resign: bool
    """Whether the player would rather resign."""
    win_rate: float
    """Of the move, in [0, 1]; NaN where nothing was played out."""
    visits: np.ndarray
    """What each move was tried: playouts, or for flat bots the credit it earned."""
    values: np.ndarray
    """Win rate of each move in [0, 1]; NaN without visits."""
    playouts: int
    """Playouts made or kept."""
    variation: list[int]
    """The moves expected, this one first."""
    statistics: RootStatistics | MoveStatistics | None
    """The details."""


Progress = Callable[[int], None] | None
"""A function of the number of playouts so far, or None."""

Stop = Callable[[], bool] | None
"""A function that is asked every few milliseconds whether to choose from what there is, or None."""


def passing(points: int) -> Choice:
    """A pass without playouts."""
    none = np.full(points + 1, np.nan)
    return Choice(points, False, float("nan"), np.zeros(points + 1), none, 0, [points], None)


def useful_moves(position: Position, history: np.ndarray | None) -> np.ndarray:
    """bool [P]: legal points that fill no own eye and repeat no earlier position."""
    return alone(useful_moves_in_steps(position, history))


def useful_moves_in_steps(position: Position, history: np.ndarray | None) -> Steps[np.ndarray]:
    """`useful_moves`, among others (`search.in_steps`)."""
    return (yield Question(UsefulMoves(position.size), (position, history)))


@dataclasses.dataclass(frozen=True)
class UsefulMoves:
    """The kind of questions for the useful moves of (position, history)."""

    size: int
    long = False

    def answers(self, questions: Sequence[tuple[Position, np.ndarray | None]], stop=None) -> np.ndarray:
        """bool [B, P]."""
        positions, histories = zip(*questions)
        positions = together(positions)
        useful = np.asarray(positions.useful())
        return useful & ~repeating(positions, useful, seen_by(positions, histories))


def passing_wins(position: Position, komi: float) -> bool:
    """Whether the other player has passed and the score as it stands wins for the player to move."""
    if int(np.asarray(position.passes)[0]) != 1:
        return False
    beyond = int(np.asarray(position.score())[0]) - komi
    return (beyond > 0) if int(np.asarray(position.to_play)[0]) == BLACK else (beyond < 0)
