"""What jaxgo does when it is timed, from the empty board: evaluations, playouts, and `legal` + `play` on their own."""

import jax
import jax.numpy as jnp

import jaxgo
from bench.choice_work import choose_uniformly
from bench.measure import Work


class Evaluate:
    """`jaxgo.evaluate` with all its outputs."""

    def __init__(self, size: int, komi: float = 7.5, seed: int = 0, **options):
        """Makes the position.

        Args:
          size: of the board.
          komi: points that White gets.
          seed: of the first run; each run takes the next.
          **options: others of `jaxgo.evaluate`.
        """
        self._position = jaxgo.Position.empty(size)
        self._options = {"komi": komi, **options}
        self._seed = seed

    def run(self, count: int) -> Work:
        """Evaluates with `count` playouts."""
        self._seed += 1
        evaluation = jaxgo.evaluate(self._position, count, seed=self._seed, **self._options)
        return Work(int(evaluation.num_playouts.sum()), float(evaluation.length_mean[0]), float(evaluation.win_rate[0]))


class Calls:
    """One call of `jaxgo.evaluate` after the other, of so many positions and so many playouts of each."""

    def __init__(self, size: int, positions: int, playouts: int):
        self._positions, self._playouts = jaxgo.Position.empty(size, positions), playouts
        self._seed = 0

    def run(self, count: int) -> Work:
        """Makes calls until there are at least `count` playouts."""
        done = 0
        while done < count:
            self._seed += 1
            done += int(jaxgo.evaluate(self._positions, self._playouts, seed=self._seed).num_playouts.sum())
        return Work(done)


#: Playout policies by name, as they are priced: those that learn have learned from so many uniform playouts.
POLICIES = {
    "capture": lambda position, played: jaxgo.Capture(0.5),
    "reply": lambda position, played: jaxgo.LastGoodReply(jaxgo.Replies(position.size).update(played, position)),
    "advisor": lambda position, played: jaxgo.Advisor(0.5, jaxgo.AdvisorTable(position.size).update(played, position)),
    "nakade": lambda position, played: jaxgo.Nakade(),
    "no-self-atari": lambda position, played: jaxgo.NoSelfAtari(),
    "patterns": lambda position, played: jaxgo.Patterns(),
    "match": lambda position, played: jaxgo.Patterns(0.8, save=False, capture=False),
}
LEARNED = 1000


class Playouts:
    """`jaxgo.playouts`: margin, length, flag and final board of every playout; with or without its moves."""

    def __init__(self, size: int, moves: bool, seed: int = 0, policy: str | None = None):
        """Makes the position.

        Args:
          size: of the board.
          moves: whether the moves are recorded and returned, too.
          seed: of the first run; each run takes the next.
          policy: one of `POLICIES`, or None for uniform playouts.
        """
        self._position = jaxgo.Position.empty(size)
        self._moves = moves
        self._policy = None
        if policy is not None:
            self._policy = POLICIES[policy](self._position, jaxgo.playouts(self._position, LEARNED, moves=True))
        self._seed = seed

    def run(self, count: int) -> Work:
        """Plays `count` playouts."""
        self._seed += 1
        played = jaxgo.playouts(self._position, count, seed=self._seed, moves=self._moves, policy=self._policy)
        return Work(played.length.size, float(played.length.mean()))


class Steps:
    """`Position.legal` and `Position.play` inside one jit: a uniform legal move, the pass included; after the end a new game."""

    #: Steps of one call.
    STEPS = 256

    def __init__(self, size: int, batch: int, seed: int = 0):
        """Makes the positions.

        Args:
          size: of the board.
          batch: games played together.
          seed: of the moves.
        """
        self._batch = batch
        self._key = jax.random.key(seed)
        empty = jaxgo.Position.empty(size, batch)

        def one_step(position, key):
            position = position.play(choose_uniformly(key, position.legal()))
            over = position.is_over()

            def restart(new, now):
                return jnp.where(over, new, now)

            return jax.tree.map(restart, empty, position), None

        self._play = jax.jit(
            lambda position, key: jax.lax.scan(one_step, position, jax.random.split(key, self.STEPS))[0]
        )
        self._position = empty

    def run(self, count: int) -> Work:
        """Makes at least `count` steps (one step of one game each)."""
        num_calls = -(-count // (self.STEPS * self._batch))
        for _ in range(num_calls):
            self._key, key = jax.random.split(self._key)
            self._position = self._play(self._position, key)
        jax.block_until_ready(self._position)
        return Work(num_calls * self.STEPS * self._batch)
