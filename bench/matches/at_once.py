"""The games of a match side by side in this process, where the moves of both contestants can be chosen in batches."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from bench.hardware import usable_cores
from bench.matches.contestants import Contestant
from bench.matches.playing import Match, play_in_steps
from jaxgo.backends.choice import backend_of, workers_of
from search.in_steps import Clock, Steps, side_by_side

#: Games under way at a time. Half of them are a batch, which even with few playouts of each keeps a GPU busy.
MOST = 1024
#: With so many cores, processes on them play games of ucb faster: a move of 2,000 playouts at 9x9 takes 25 ms, mostly of one
#: core, side by side, and 75 ms of a process's own core one by one.
CORES = 4


def is_faster(contestants: Sequence[Contestant]) -> bool:
    """Whether games between these are better played side by side than one in each of several processes.

    That is where the devices do most of the work. The searches of ucb are mostly the host's, which one process does on one core:
    they are played so where processes would be few, or would have to share a GPU.
    """
    if not all(one.in_batches for one in contestants):
        return False
    on_host = any(one.has_tree for one in contestants)
    return not on_host or len(usable_cores()) < CORES or backend_of(workers_of(None)[0]).platform != "cpu"


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
