"""Random openings: a few moves that both games of a pair begin with, so that engines that always answer alike play many games."""

import numpy as np

from search.choice import useful_moves_in_steps
from search.game import Game
from search.in_steps import Steps


def opening_in_steps(game: Game, moves: int, seed: int, pair: int) -> Steps[None]:
    """Plays a pair's opening, drawn uniformly from the legal points that are not near the edge; among others (`search.in_steps`).

    Args:
      game: without moves; it is played on.
      moves: how many, Black's first; fewer where no point is left.
      seed: of the match.
      pair: which pair of games, from 0.
    """
    random, size = np.random.default_rng([seed, pair]), game.size
    line = np.minimum(np.arange(size), np.arange(size)[::-1])
    # The third line and higher; on boards where that is next to nothing, the second.
    inner = (np.minimum(line[:, None], line) >= min(2, (size - 1) // 3)).ravel()
    for _ in range(moves):
        points = np.flatnonzero((yield from useful_moves_in_steps(game.position, game.history)) & inner)
        if not len(points):
            break
        game.play(int(random.choice(points)))
