"""The games of a match side by side in this process, where the moves of both contestants can be chosen in batches."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from bench.matches.playing import Match, play_in_steps
from search.in_steps import Clock, Steps, side_by_side

#: Games under way at a time. Half of them are a batch: of a few playouts each, still enough for a GPU.
MOST = 1024


def play_all(games: Sequence[tuple[Match, int]], stop: Callable[[], bool], most: int = MOST) -> Iterator[tuple[dict, bytes]]:
    """What `bench.matches.pool.play_all` does, on all devices, in batches of the positions of all games under way.

    Args:
      games: the match and the number of each.
      stop: asked a few times a second.
      most: games under way at a time.
    """

    def begin(match: Match, number: int) -> Callable[[Clock], Steps[tuple[dict, bytes]]]:
        together = dataclasses.replace(match, conditions=dataclasses.replace(match.conditions, side_by_side=True))
        return lambda clock: play_in_steps(together, number, clock)

    return side_by_side((begin(*game) for game in games), most, stop)
