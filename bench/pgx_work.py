"""Random play with pgx's Go, as a user of pgx would write it in JAX, with the eye rule of our playouts added.

pgx offers the moves and their legality; who plays them is the user's own code. Here a player chooses uniformly among the legal
moves that do not fill an own eye and passes when there is none, as in jaxgo's playouts. What stays different is pgx's own: a game
ends after 2 N^2 plies, or when a whole-board position repeats.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from pgx.experimental import auto_reset
from pgx.go import Go

from bench.choice_work import choose_uniformly
from bench.measure import Work
from jaxgo.records.boards import from_pgx


def own_eyes(stones: jax.Array) -> jax.Array:
    """The eyes of the player to move: points that a playout does not fill.

    An eye is an empty point whose orthogonal neighbours on the board are all own, and whose diagonal neighbours hold at most one
    enemy stone, or none where the point is on an edge or corner.

    Args:
      stones: int `[B, N, N]`, 1 own, -1 enemy, 0 empty.

    Returns:
      bool `[B, N, N]`.
    """
    size = stones.shape[-1]
    rim = ((0, 0), (1, 1), (1, 1))
    # A point off the board is no neighbour: as an orthogonal one it must not fail "all own", as a diagonal one not be an enemy.
    own = jnp.pad(stones == 1, rim, constant_values=True)
    enemy = jnp.pad(stones == -1, rim, constant_values=False).astype(jnp.int32)
    before, here, after = slice(0, size), slice(1, size + 1), slice(2, size + 2)
    surrounded = own[:, before, here] & own[:, after, here] & own[:, here, before] & own[:, here, after]
    num_diagonal = enemy[:, before, before] + enemy[:, before, after] + enemy[:, after, before] + enemy[:, after, after]
    allowed = np.zeros((size, size), np.int32)
    allowed[1:-1, 1:-1] = 1
    return (stones == 0) & surrounded & (num_diagonal <= allowed[None])


class _Play:
    """What all kinds of play here share."""

    def __init__(self, size: int, batch: int, seed: int, komi: float = 7.5):
        self._env = Go(size=size, komi=komi)
        self._size = size
        self._komi = komi
        self._batch = batch
        self._key = jax.random.key(seed)

    def _next_key(self) -> jax.Array:
        self._key, key = jax.random.split(self._key)
        return key

    def _start(self, key: jax.Array) -> pgx.State:
        return jax.vmap(self._env.init)(jax.random.split(key, self._batch))

    def _playout_move(self, key: jax.Array, state: pgx.State) -> jax.Array:
        """int32 `[B]`: a uniform legal move that fills no own eye, or the pass."""
        num_points = self._size**2
        # pgx keeps chain numbers on its board, positive for Black; `_x` is the only way to the stones of one board.
        black = jnp.sign(state._x.board).reshape(-1, self._size, self._size)
        eyes = own_eyes(jnp.where(state._x.color == 0, 1, -1)[:, None, None] * black)
        candidates = state.legal_action_mask[:, :num_points] & ~eyes.reshape(-1, num_points)
        return jnp.where(candidates.any(axis=1), choose_uniformly(key, candidates), num_points)


class LockstepPlayouts(_Play):
    """A batch of playouts stepped together until the last has ended: what a user gets who wants whole playouts."""

    def __init__(self, size: int, batch: int, seed: int = 0, komi: float = 7.5):
        """Makes the environment.

        Args:
          size: of the board.
          batch: playouts played together.
          seed: of the playouts.
          komi: points that White gets.
        """
        super().__init__(size, batch, seed, komi)
        self._play = jax.jit(self._batch_of_playouts)

    def run(self, count: int) -> Work:
        """Plays at least `count` playouts, in whole batches."""
        num_batches = -(-count // self._batch)
        plies, ends = 0, []
        for _ in range(num_batches):
            ended, more = self._play(self._next_key())
            plies += int(more)
            ends.append(ended)
        num_playouts = num_batches * self._batch

        def black_wins() -> float:
            # By the last boards; pgx would count the score after every move, were its rewards looked at in the loop.
            return float(np.mean([np.asarray(from_pgx(state).score()) > self._komi for state in ends]))

        return Work(num_playouts, plies / num_playouts, black_wins)

    def _batch_of_playouts(self, key: jax.Array) -> tuple[pgx.State, jax.Array]:
        """(the playouts' ends, int32: plies of all of them together)."""

        def one_ply(carry):
            state, key, plies = carry
            key, draw = jax.random.split(key)
            plies += (~state.terminated).sum(dtype=jnp.int32)
            return jax.vmap(self._env.step)(state, self._playout_move(draw, state)), key, plies

        def unfinished(carry):
            return ~carry[0].terminated.all()

        key, start = jax.random.split(key)
        first = self._start(start)
        last, _, plies = jax.lax.while_loop(unfinished, one_ply, (first, key, jnp.int32(0)))
        return _without_extras(last, first), plies


class RefilledPlayouts(_Play):
    """Playouts that restart at once when they end (pgx's `auto_reset`), and of which only the ends are counted.

    No step is wasted on a finished game. This is the kindest way to count: what a user gets so are the playouts that happen to
    end, which favours short ones, and nothing of them but that they ended.
    """

    #: Plies of one call; a playout's length or two, so that the time goes by in whole calls of a few seconds.
    PLIES = 128

    def __init__(self, size: int, batch: int, seed: int = 0, komi: float = 7.5):
        """Makes the environment; the arguments are those of `LockstepPlayouts`."""
        super().__init__(size, batch, seed, komi)
        self._step = jax.vmap(auto_reset(self._env.step, self._env.init))
        self._play = jax.jit(self._some_plies)
        self._state = self._start(self._next_key())

    def run(self, count: int) -> Work:
        """Plays on until at least `count` more playouts have ended."""
        ended = plies = 0
        while ended < count:
            self._state, num_ended = self._play(self._state, self._next_key())
            ended += int(num_ended)
            plies += self.PLIES * self._batch
        return Work(ended, plies / ended)

    def _some_plies(self, state: pgx.State, key: jax.Array) -> tuple[pgx.State, jax.Array]:
        """The state `PLIES` plies later, and int32: how many playouts ended meanwhile."""

        def one_ply(carry, key):
            state, ended = carry
            draw, reset = jax.random.split(key)
            state = self._step(state, self._playout_move(draw, state), jax.random.split(reset, self._batch))
            return (state, ended + state.terminated.sum(dtype=jnp.int32)), None

        (last, ended), _ = jax.lax.scan(one_ply, (state, jnp.int32(0)), jax.random.split(key, self.PLIES))
        return _without_extras(last, state), ended


class Steps(_Play):
    """The environment on its own: `step` with a uniform legal move, the pass included, and a new game after the end."""

    #: Steps of one call.
    STEPS = 16

    def __init__(self, size: int, batch: int, seed: int = 0):
        """Makes the environment; the arguments are those of `LockstepPlayouts`."""
        super().__init__(size, batch, seed)
        step = jax.vmap(auto_reset(self._env.step, self._env.init))

        def one_step(state, key):
            draw, reset = jax.random.split(key)
            move = choose_uniformly(draw, state.legal_action_mask)
            return step(state, move, jax.random.split(reset, batch)), None

        def steps(state, key):
            last, _ = jax.lax.scan(one_step, state, jax.random.split(key, self.STEPS))
            return _without_extras(last, state)

        self._play = jax.jit(steps)
        self._state = self._start(self._next_key())

    def run(self, count: int) -> Work:
        """Makes at least `count` steps (one step of one game each)."""
        num_calls = -(-count // (self.STEPS * self._batch))
        for _ in range(num_calls):
            self._state = self._play(self._state, self._next_key())
        jax.block_until_ready(self._state)
        return Work(num_calls * self.STEPS * self._batch)


def _without_extras(state: pgx.State, other: pgx.State) -> pgx.State:
    """The state with another's observation and rewards.

    Nobody looks at them here. With nothing depending on them, the compiler leaves out the work of making them, which makes pgx
    about half as fast again: what is compared then is the rules alone.
    """
    return state.replace(observation=other.observation, rewards=other.rewards)
