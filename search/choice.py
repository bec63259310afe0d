"""What a player is told and what it answers: limits, a move, and the rules of passing that all bots share."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from jaxgo import BLACK, MoveStatistics, Position
from jaxgo.base import checks
from search.game import repeating, seen_by
from search.in_steps import Question, Steps, alone
from search.replay import together
from search.restrictions import Restrictions
from search.root import RootStatistics

if TYPE_CHECKING:
    from search.flat import FlatSearch
    from search.search import Search

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
            # It is added to a clock's time, of which numpy's 32 bits hold too few digits.
            try:
                seconds = checks.number("seconds", self.seconds, 0)
            except ValueError:
                seconds = 0.0
            if not seconds:
                raise ValueError(f"seconds must be a positive finite number, not {self.seconds!r:.60}")
            object.__setattr__(self, "seconds", seconds)

    def __str__(self) -> str:
        parts = [*([f"{self.visits:,} playouts"] if self.visits else []), *([f"{self.seconds:g} s"] if self.seconds else [])]
        return " or ".join(parts) + " a move"


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

Searched = TypeVar("Searched")


def check_thinking(limits: Limits, progress: Progress = None, stop: Stop = None) -> None:
    """Raises TypeError if these are none."""
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be search.Limits(visits=...), (seconds=...) or both, not {limits!r}")
    checks.callable_or_none("progress", progress)
    checks.callable_or_none("stop", stop)


def searched(search: Searched | None) -> Searched:
    """A player's search; ValueError if there has been none."""
    if search is None:
        raise ValueError("the player has not searched yet: have it choose a move first")
    return search


class Player(Protocol):
    """What every bot offers."""

    search: Any
    """The search of the last position, a `Search` or a `FlatSearch`; None before the first."""

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        """Chooses a move.

        Args:
          position: one position that is not over.
          history: uint32 [n, 2], hashes of the game's earlier positions (`Game.history`).
          limits: how long to think.
          progress: called now and then with the number of playouts so far.
          stop: asked now and then, in this thread; once it returns True the choice is made from what there is. It belongs to
            the caller, so that a request made before the call counts too.

        Raises:
          TypeError, ValueError: an argument is not what it must be, or the game is over.
        """

    def genmove_in_steps(self, position: Position, history: np.ndarray | None, limits: Limits) -> Steps[Choice]:
        """`genmove`, among other players; see `search.in_steps`."""

    def compile(self, size: int) -> None:
        """Compiles for a board size, so that no clock runs meanwhile."""

    def prepare(
        self, position: Position, history: np.ndarray | None, seconds: float | None = None
    ) -> "Search | FlatSearch":  # fmt: skip
        """The search of a position, to be run and looked at step by step; `choice` is what it would play.

        Args:
          position, history: as in `genmove`.
          seconds: for the whole move, of which what policies learn first is to take a part; None without a clock.
        """

    def choice(self) -> Choice:
        """What the search prepared last would play now."""


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


def passing_wins(position: Position, komi: float, restrictions: Restrictions | None = None) -> bool:
    """Whether the other player has passed, the score as it stands wins for the player to move, and he may pass."""
    black = int(np.asarray(position.to_play)[0]) == BLACK
    if int(np.asarray(position.passes)[0]) != 1 or not (restrictions is None or restrictions.leave_pass(black)):
        return False
    beyond = int(np.asarray(position.score())[0]) - komi
    return (beyond > 0) if black else (beyond < 0)
