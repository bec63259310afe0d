"""The exact distribution of the results of uniform playouts on tiny boards, by brute force.

All positions that playouts can be in after i plies are carried forward together with their probabilities: ply by ply, every
position hands its probability in equal parts to the positions after each of its candidate moves (or to the one after a pass).
That needs a few ten thousand positions on 3x3. Moves come from the referee, no random number is drawn.
"""

import functools
from collections import defaultdict

from tests.referee import CAP_PER_POINT, Game

Result = tuple[int, int, bool]
"""length in plies, margin, truncated"""


def distribution(start: Game, max_plies: int | None = None) -> dict[Result, float]:
    """The probability of each (length, margin, truncated) of a playout from `start`, capped at `max_plies` (3P by default)."""
    max_plies = CAP_PER_POINT * start.num_points if max_plies is None else max_plies
    results: dict[Result, float] = defaultdict(float)
    positions = {start.key(): 1.0}
    for length in range(max_plies + 1):
        following: dict[tuple, float] = defaultdict(float)
        for key, probability in positions.items():
            stones, _, _, passes = key
            if passes >= 2 or length == max_plies:
                results[length, _margin(start.size, stones), passes < 2] += probability
                continue
            successors = _successors(start.size, *key)
            share = probability / len(successors)
            for after in successors:
                following[after] += share
        positions = following
    return dict(results)


@functools.cache  # starts on one board lead to the same positions
def _margin(size: int, stones: tuple[int, ...]) -> int:
    return Game(size, stones).margin()


@functools.cache
def _successors(size: int, stones: tuple[int, ...], to_play: int, ko: int, passes: int) -> list[tuple]:
    """The keys of the positions that one ply of a playout leads to, each as likely as the others."""
    game, keys = Game(size, stones, to_play=to_play, ko=ko, passes=passes), []
    for move in game.candidates() or [game.pass_move]:
        after = game.copy()
        after.play(move)
        keys.append(after.key())
    return keys
