"""The games of a match side by side in this process, where the moves of both contestants can be chosen in batches."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from bench.hardware import usable_cores
from bench.matches.contestants import Bot, Conditions, Contestant
from bench.matches.playing import Match, play_in_steps
from jaxgo.backends.choice import backend_of, workers_of
from search.in_steps import Clock, Steps, side_by_side

#: Games under way at a time. Half of them are a batch, which even with few playouts of each keeps a GPU busy.
MOST = 1024
#: Where what is finished is kept, so many at least and at most one in so many of all, that what an interruption loses is little:
#: games that begin together end together.
FEWEST, PARTS = 64, 8
#: With so many cores, processes on them play games of bots with trees faster, whose host's part one process does on one core.
#: At 9x9 two cores played a game of RAVE against UCT at 3,000 playouts a move in 1.4 s side by side and in 3.7 s one by one, at
#: 10,000 in 3.8 and 5 s; of ucb a move of 2,000 took 25 and 75 ms.
CORES = 4
#: So do they where a search has more playouts than this, and keeps a core busy by itself.
MOST_OF_A_TREE = 10_000


def places(contestants: Sequence[Contestant], size: int, memory: int, kept: int | None = None) -> int:
    """How many games between these are best played side by side; 0 where one in each of several processes is faster.

    Side by side is faster where the devices do most of the work, and where searches of few playouts would each keep waiting for
    theirs. All trees must have room in so many bytes of memory. `kept` is the number of all games where each is kept as it ends.
    """
    most = MOST if kept is None else min(MOST, max(FEWEST, kept // PARTS))
    bots = [one for one in contestants if isinstance(one, Bot) and one.in_batches]
    trees = [bot for bot in bots if bot.has_tree]
    if len(bots) < len(contestants) or any((bot.limits.visits or 0) > MOST_OF_A_TREE for bot in trees):
        return 0
    if trees and len(usable_cores()) >= CORES and backend_of(workers_of(None)[0]).platform == "cpu":
        return 0
    return min(most, memory // sum(bot.memory(size) for bot in trees)) if trees else most


def play_all(
    games: Sequence[tuple[Match, int]], stop: Callable[[], bool], most: int = MOST, moved: Callable[[], None] = lambda: None
) -> Iterator[tuple[dict, bytes]]:
    """What `bench.matches.pool.play_all` does, on all devices, in batches of the positions of all games under way.

    Args:
      games: the match and the number of each.
      stop: asked a few times a second.
      most: games under way at a time.
      moved: called after each move that a contestant has chosen.
    """

    def begin(match: Match, number: int) -> Callable[[Clock], Steps[tuple[dict, bytes]]]:
        together = dataclasses.replace(match, conditions=_together(match))
        return lambda clock: play_in_steps(together, number, clock, moved)

    for match in {id(match): match for match, _ in games}.values():
        for contestant in match.contestants:
            assert isinstance(contestant, Bot)  # as `places` asks
            contestant.compile(_together(match))  # of each kind once
    return side_by_side((begin(*game) for game in games), most, stop)


def _together(match: Match) -> Conditions:
    """A match's conditions for games side by side."""
    return dataclasses.replace(match.conditions, memory=None)
