"""Random openings: a few moves that both games of a pair begin with, so that engines that always answer alike play many games."""

import numpy as np

from jaxgo import Position
from search.choice import useful_moves
from search.game import Game


def opening(size: int, moves: int, seed: int, pair: int) -> list[int]:
    """The points of a pair's opening, drawn uniformly from the legal ones that are not near the edge.

    Args:
      size: of the board.
      moves: how many, Black's first; fewer where no point is left.
      seed: of the match.
      pair: which pair of games, from 0.
    """
    random, game = np.random.default_rng([seed, pair]), Game(Position.empty(size))
    line = np.minimum(np.arange(size), np.arange(size)[::-1])
    # The third line and higher; on boards where that is next to nothing, the second.
    inner = (np.minimum(line[:, None], line) >= min(2, (size - 1) // 3)).ravel()
    for _ in range(moves):
        points = np.flatnonzero(useful_moves(game.position, game.history) & inner)
        if not len(points):
            break
        game.play(int(random.choice(points)))
    return [point for _, point in game.moves]
