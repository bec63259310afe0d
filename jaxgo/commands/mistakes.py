"""The moves of a game that lost most, and what was better: `jaxgo evaluate --mistakes`.

Here random playouts are the judge. Of each position a first quarter of the playouts is shared out over all moves, another over
the few best of them; the best that these tell of and the game's move then get the other half, playouts that have chosen neither
of them, with common random numbers. So the difference is not flattered by the choice, and its standard error holds. What chance
alone explains is no mistake: a difference counts from so many standard errors on that in 19 of 20 games without any mistake none
would be told of.

Other judges plug in through the entry-point group `jaxgo.judges`: a name and a function like `by_playouts`.
"""

import dataclasses
import importlib.metadata
import statistics
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxgo.board.coordinates import coordinate
from jaxgo.cli import UsageError
from jaxgo.commands.asked import Asked
from jaxgo.commands.playing import How
from jaxgo.commands.progress import Progress
from jaxgo.commands.report import COLOUR_LETTERS
from jaxgo.running.comparison import compare
from jaxgo.running.evaluate import evaluate

GROUP = "jaxgo.judges"
PLAYOUTS = "playouts"

#: Moves of a position that go on from the first quarter of the playouts to the second.
GO_ON = 8
#: Playouts that a move gets at least.
LEAST = 16
#: And each of two that are compared at last: by fewer the error itself is so unsure that chance would look like mistakes. (Where
#: the two have another result in half of the playouts, 16 would tell of one in 23 of 100 games without any, these in 5.5.)
LEAST_OF_PAIR = 256
#: How often a game without mistakes may have some told of.
FALSE_ALARMS = 0.05


@dataclasses.dataclass(frozen=True)
class Loss:
    """A move of the game that was not the best. Rates and leads are those of the player who moved."""

    move: int
    """Its number, from 1 on."""
    colour: int
    """1 Black, -1 White."""
    point: int
    better: int
    """The point that was better."""
    win_rate: float
    """After the game's move."""
    better_win_rate: float
    """After the better one."""
    loss: float
    """The difference."""
    loss_error: float
    """Its standard error."""
    lead_loss: float
    """The same in points."""
    lead_loss_error: float

    def as_json(self, size: int) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "move": self.move, "colour": COLOUR_LETTERS[self.colour], "point": coordinate(self.point, size),
            "better": coordinate(self.better, size), "loss": self.loss, "loss_error": self.loss_error,
            "lead_loss": self.lead_loss, "lead_loss_error": self.lead_loss_error, "win_rate": self.win_rate,
            "better_win_rate": self.better_win_rate,
        }  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Mistakes:
    """What a judge has found of a game."""

    judge: str
    """Its name."""
    judged: int
    """Moves that were looked at."""
    threshold: float
    """Standard errors from which on a difference counts."""
    losses: tuple[Loss, ...]
    """Those that lost most, the most first."""

    def as_json(self, size: int) -> dict[str, Any]:
        """Plain numbers."""
        losses = [loss.as_json(size) for loss in self.losses]
        return {"judge": self.judge, "judged": self.judged, "threshold": self.threshold, "losses": losses}


Judge = Callable[[Asked, How, int, Progress], Mistakes]
"""A function of a game, how to play, how many mistakes to tell of at most, and whom to tell of the progress."""


def judge_named(name: str) -> Judge:
    """The judge of a name.

    Raises:
      UsageError: there is none.
    """
    others = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    if name == PLAYOUTS:
        return by_playouts
    if name not in others:
        raise UsageError(f"--judge {name}: there is no such judge; there are: {', '.join([PLAYOUTS, *sorted(others)])}")
    try:
        return others[name].load()
    except ImportError as error:
        raise UsageError(f"--judge {name}: the judge ({others[name].value}) cannot be loaded: {error}") from error


def threshold(tried: int) -> float:
    """Standard errors beyond which one of so many differences counts (Bonferroni's correction)."""
    return statistics.NormalDist().inv_cdf(1 - FALSE_ALARMS / max(1, tried))


def moves_to_judge(asked: Asked) -> np.ndarray:
    """int [J]: the numbers, from 0 on, of the moves that were played while the game went on."""
    passes = np.asarray(asked.every.passes)
    last = asked.record.last_in_play
    return np.array([k for k in range(last) if passes[k] < 2 and passes[k + 1] < 2], np.int64)


def by_playouts(asked: Asked, how: How, most: int, progress: Progress) -> Mistakes:
    """The mistakes as random playouts judge them; see the module's text."""
    numbers = moves_to_judge(asked)
    if not len(numbers):
        return Mistakes(PLAYOUTS, 0, threshold(0), ())
    options = how.options(asked.record.size)
    colours, points = (np.array([asked.record.moves[k][i] for k in numbers]) for i in (0, 1))
    # Where the player could have played; an eye of his own, or against superko, only if the game did.
    open_to = np.concatenate([np.asarray(asked.every[numbers].useful()), np.zeros((len(numbers), 1), np.bool_)], axis=1)
    rows, moves = np.nonzero(open_to)
    open_to[rows, moves] = ~asked.repeats(numbers[rows], moves)
    open_to[np.arange(len(numbers)), points] = True
    of_each = np.array([len(numbers) * how.playouts // 4 // int(open_to.sum()), how.playouts // 4 // GO_ON, how.playouts // 4])
    first, second, third = np.maximum(of_each, [LEAST, LEAST, LEAST_OF_PAIR]).tolist()
    counted = _Counted(progress, int(open_to.sum()) * first + len(numbers) * ((GO_ON + 1) * second + 2 * third))

    def play(wanted: np.ndarray, count: int, first_playout: int) -> np.ndarray:
        """float64 [2, J, P + 1]: sums of the movers' results, and their mean leads, after the wanted moves, bool [J, P + 1]; -inf
        for others."""
        rows, moves = np.nonzero(wanted)
        found = evaluate(
            _after(asked, numbers[rows], moves), count, komi=asked.komi, statistics=(), streams=numbers[rows],
            first_playout=first_playout, progress=counted, **options,
        )  # fmt: skip
        counted.next()
        out = np.full((2, *wanted.shape), -np.inf)
        out[0, rows, moves] = count * np.where(colours[rows] > 0, found.win_rate, 1 - found.win_rate)
        out[1, rows, moves] = colours[rows] * found.margin_mean
        return out

    results, leads = play(open_to, first, 0)
    # Where a game is decided many moves win all of so few playouts: no more go on for that.
    going_on = np.zeros_like(open_to)
    np.put_along_axis(going_on, np.lexsort((leads, results), axis=1)[:, -GO_ON:], True, axis=1)
    going_on &= open_to
    going_on[np.arange(len(numbers)), points] = True
    best = (results + play(going_on, second, first)[0]).argmax(axis=1)
    (pairs,) = np.nonzero(best != points)
    counted.total = counted.before + 2 * len(pairs) * third
    losses = []
    if len(pairs):
        both = np.stack([points[pairs], best[pairs]], axis=1)
        found = compare(
            _after(asked, np.repeat(numbers[pairs], 2), both.ravel()), third, komi=asked.komi, streams=numbers[pairs],
            colours=colours[pairs], first_playout=first + second, progress=counted, **options,
        )  # fmt: skip
        losses = [
            Loss(
                move=int(numbers[j]) + 1, colour=int(colours[j]), point=int(points[j]), better=int(best[j]),
                win_rate=float(found.win_rate[i, 0]), better_win_rate=float(found.win_rate[i, 1]),
                loss=float(found.win_rate_difference[i, 1]), loss_error=float(found.win_rate_difference_error[i, 1]),
                lead_loss=float(found.lead_difference[i, 1]), lead_loss_error=float(found.lead_difference_error[i, 1]),
            )
            for i, j in enumerate(pairs)
        ]  # fmt: skip
    beyond_chance = threshold(len(numbers))
    return Mistakes(PLAYOUTS, len(numbers), beyond_chance, most_lost(losses, beyond_chance, most))


def most_lost(losses: list[Loss], beyond: float, most: int) -> tuple[Loss, ...]:
    """Of losses beyond so many standard errors, those that lost most."""
    certain = [loss for loss in losses if loss.loss > beyond * loss.loss_error]
    return tuple(sorted(certain, key=lambda loss: (-loss.loss, loss.move))[:most])


def _after(asked: Asked, numbers: np.ndarray, points: np.ndarray):
    """The positions after moves in the game's positions."""
    return jax.device_get(asked.every[numbers].play(points))


class _Counted:
    """Progress over several jobs, one after the other."""

    def __init__(self, progress: Progress, total: int):
        self._progress, self.total = progress, total
        self.before, self._job = 0, 0

    def __call__(self, done: int, total: int) -> None:
        self._job = total
        self._progress(self.before + done, self.total)

    def next(self) -> None:
        """The job is done, and the next has another program."""
        self._progress.compiles()
        self.before, self._job = self.before + self._job, 0
