"""The moves of a game that lost most, as a tree search sees them: the judge `search` of `jaxgo evaluate --mistakes`.

A search of every position names the best move; what the game's move lost is first guessed from the search of the position that
it led to. The moves that seem to have lost most are then tried again: searches of their own, with other seeds, of the position
after the game's move and of the one after the better move. A tree's win rate is not the mean of independent playouts, so the
difference's error is that of these searches among each other, and what it must exceed is Student's.
"""

import math

import numpy as np

from jaxgo import Position
from jaxgo.commands.asked import Asked
from jaxgo.commands.mistakes import FALSE_ALARMS, Loss, Mistakes, most_lost, moves_to_judge
from jaxgo.commands.playing import How
from jaxgo.commands.progress import Progress
from search.search import Search

SEARCH = "search"

#: Moves that are tried again, for each mistake that may be told of.
TRIED = 2
#: Searches that a position is then given. Student's distribution with one degree of freedom less has a quantile in closed form.
SEARCHES = 5


def by_search(asked: Asked, how: How, most: int, progress: Progress) -> Mistakes:
    """The mistakes as searches of `how.playouts` visits judge them; see the module's text.

    Raises:
      KeyboardInterrupt: on Ctrl-C.
    """
    numbers = moves_to_judge(asked)
    tried = min(TRIED * most, len(numbers))
    progress.compiles()
    searches = _Searches(asked, how, progress, len(numbers) + 1 + 2 * SEARCHES * tried)
    found = {k: searches.of(k) for k in sorted({*numbers.tolist(), *(numbers + 1).tolist()})}
    guesses = {}
    for k in numbers.tolist():
        (best, rate), played = found[k], asked.record.moves[k][1]
        if best != played:
            guesses[k] = rate - (1 - found[k + 1][1])
    again = sorted(guesses, key=lambda k: (-guesses[k], k))[:tried]
    beyond = student(1 - FALSE_ALARMS / max(1, len(again)))
    losses = [searches.loss(k, found[k][0]) for k in again]
    return Mistakes(SEARCH, len(numbers), beyond, most_lost(losses, beyond, most))


def student(probability: float) -> float:
    """The quantile of Student's distribution with 4 degrees of freedom, for a probability of at least a half.

    Source: Shaw, "Sampling Student's T distribution", Journal of Computational Finance 9 (2006).
    """
    alpha = math.sqrt(4 * probability * (1 - probability))
    return 2 * math.sqrt(max(0.0, math.cos(math.acos(alpha) / 3) / alpha - 1))


class _Searches:
    """Searches of a game's positions, and of those after other moves."""

    def __init__(self, asked: Asked, how: How, progress: Progress, number: int):
        self._asked, self._how, self._progress = asked, how, progress
        self._hashes = np.asarray(asked.every.hash())
        self._done, self._total = 0, number * how.playouts

    def of(self, k: int) -> tuple[int, float]:
        """(the best move, its win rate for the player to move) after k moves of the game."""
        return self._run(self._asked.every[k], self._hashes[:k], self._how.seed)[:2]

    def loss(self, k: int, better: int) -> Loss:
        """What the move after k moves lost against a better one."""
        before, history = self._asked.every[k], self._hashes[: k + 1]
        colour, point = self._asked.record.moves[k]
        after = [before.play(np.array([move])) for move in (point, better)]
        # Other seeds than the search that has found the better move.
        seeds = [(self._how.seed + 0x9E3779B97F4A7C15 * (i + 1)) % 2**64 for i in range(SEARCHES)]
        rates, leads = np.array([[self._after(p, history, seed) for p in after] for seed in seeds]).transpose(2, 0, 1)
        (loss, error), (lead_loss, lead_error) = (_mean(values[:, 1] - values[:, 0]) for values in (rates, leads))
        played, best = rates.mean(axis=0)
        return Loss(
            move=k + 1, colour=colour, point=point, better=better, win_rate=float(played), better_win_rate=float(best),
            loss=loss, loss_error=error, lead_loss=lead_loss, lead_loss_error=lead_error,
        )  # fmt: skip

    def _after(self, position: Position, history: np.ndarray, seed: int) -> tuple[float, float]:
        """(win rate, lead) of the player who has just moved."""
        if bool(np.asarray(position.is_over())[0]):
            mover = -int(np.asarray(position.to_play)[0])
            lead = mover * (int(np.asarray(position.score())[0]) - self._asked.komi)
            return (math.copysign(1.0, lead) + 1) / 2 if lead else 0.5, lead
        _, rate, lead = self._run(position, history, seed)
        return 1 - rate, -lead

    def _run(self, position: Position, history: np.ndarray, seed: int) -> tuple[int, float, float]:
        """(the best move, its win rate, its lead) for the player to move."""
        options = self._how.options(position.size) | {"seed": seed, "visits": self._how.playouts}
        search = Search(position, komi=self._asked.komi, history=history, **options)
        try:
            search.run(visits=self._how.playouts, progress=lambda visits: self._progress(self._done + visits, self._total))
            best, found = search.best(), search.statistics()
        finally:
            search.close()
        self._done += self._how.playouts
        if not found.visits[best]:  # nothing else than to pass, which was not tried
            return best, found.root_win_rate, found.root_lead
        return best, float(found.win_rate[best]), float(found.lead[best])


def _mean(values: np.ndarray) -> tuple[float, float]:
    """The mean of independent values, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
