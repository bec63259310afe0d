"""OpenSpiel's random rollouts of Go, looped in its own C++ code.

The Python package cannot call a rollout evaluator itself, but its Monte Carlo tree search can be asked for exactly that: a search
of one simulation has no tree to descend, and evaluates the root with all of the evaluator's rollouts.

OpenSpiel's rollouts are uniform over all legal moves *and the pass*, own eyes included, and it ends a game after 2 N^2 plies;
there is no way to add the eye rule without leaving C++. They are about as long as ours all the same (118 plies at 9x9).
"""

import random
import statistics
import time

import pyspiel

from bench.measure import Work

#: Rollouts played move by move from Python to learn their mean length and who wins, which the C++ loop does not tell: so many,
#: and fewer where that takes longer than so many seconds.
SAMPLE, SAMPLE_SECONDS = 200, 20.0


class Rollouts:
    """Random rollouts from the empty board."""

    def __init__(self, size: int, komi: float, seed: int = 0):
        """Loads the game.

        Args:
          size: of the board, 2 to 19.
          komi: added to White's score.
          seed: of the rollouts.
        """
        self._game = pyspiel.load_game("go", {"board_size": size, "komi": komi})
        self._root = self._game.new_initial_state()
        self._seed = seed
        self._plies, self._black_wins = self._sample()

    def run(self, count: int) -> Work:
        """Plays `count` rollouts."""
        self._seed += 1
        evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=count, seed=self._seed)
        search = pyspiel.MCTSBot(
            self._game,
            evaluator,
            uct_c=1.0,
            max_simulations=1,
            max_memory_mb=100,
            solve=False,
            seed=self._seed,
            verbose=False,
        )
        root = search.mcts_search(self._root)
        if root.explore_count != 1:  # the loop would not have been what the module says
            raise RuntimeError(f"OpenSpiel's search made {root.explore_count} simulations, 1 was expected")
        return Work(count, self._plies, self._black_wins)

    def _sample(self) -> tuple[float, float]:
        """(mean length of rollouts by the same rule, Black's win rate), played from Python; standard errors of about 2 plies and
        0.035 at 9x9."""
        choose = random.Random(self._seed).choice
        lengths: list[int] = []
        wins, start = [], time.perf_counter()
        while len(lengths) < SAMPLE and (not lengths or time.perf_counter() - start < SAMPLE_SECONDS):
            state = self._game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(choose(state.legal_actions()))
            lengths.append(state.move_number())
            wins.append((1 + state.returns()[0]) / 2)  # a draw is half a win
        return statistics.fmean(lengths), statistics.fmean(wins)
