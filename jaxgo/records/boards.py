"""Positions from and to other libraries: boards of sgfmill, states of pgx's Go.

sgfmill's board knows stones alone. A state of pgx holds a position and more: the boards and hashes of the game before, for its
planes and for superko, and the rules it was made for. The functions say what of it is carried over and what is not.

pgx, https://github.com/sotetsuk/pgx, is needed for `to_pgx` alone, whose argument is made by it; version 2.6 is meant.
"""

import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import checks
from jaxgo.base.constants import BLACK, NO_KO, WHITE
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position, check_position

if TYPE_CHECKING:
    from sgfmill.boards import Board

_COLOURS = {"b": BLACK, "w": WHITE, None: 0}
#: The largest board of pgx; on larger ones its hashes, and with them superko, are wrong.
_MAX_PGX_SIZE = 19
_OUTSIDE = 2  # no colour of a stone, and not empty


def from_sgfmill(boards: "Board | Iterable[Board]", to_play=BLACK, *, ko=None, passes=0) -> Position:
    """Positions from sgfmill's boards, which know their stones alone.

        board = sgfmill.boards.Board(9)
        ko = board.play(4, 4, "b")
        position = from_sgfmill(board, to_play=-1, ko=ko)

    Args:
      boards: one board, or B of one size.
      to_play: 1 Black or -1 White, for all boards or [B].
      ko: the point where the player to move may not play because of simple ko, as sgfmill has it: (row, column), row 0 at the
        bottom, or None, which is what `Board.play` returns. For one board, or B of them in a list.
      passes: passes in a row before the position, 0 to 2; one or [B].

    Raises:
      TypeError: an argument of another type.
      ValueError: no boards, boards of several sizes or of a size outside 2 to 25; and as `Position.from_array`.
    """
    if hasattr(boards, "side"):
        boards, ko = [boards], [ko]
    if not isinstance(boards, Iterable):
        raise TypeError(f"boards must be sgfmill.boards.Board, one or several, not {type(boards).__name__}")
    boards = list(boards)
    kos = [None] * len(boards) if ko is None else list(ko)
    for board in boards:
        if not hasattr(board, "side"):
            raise TypeError(f"boards must be sgfmill.boards.Board, one or several, not {type(board).__name__}")
    sizes = sorted({board.side for board in boards})
    if len(sizes) != 1:
        raise ValueError(f"boards must be at least one, and of one size, not of the sizes {sizes}")
    if len(kos) != len(boards):
        raise ValueError(f"ko must be None, or a point or None for each of {len(boards)} boards, not {len(kos)}")
    (size,) = sizes
    stones = [[[_COLOURS[board.get(size - 1 - y, x)] for x in range(size)] for y in range(size)] for board in boards]
    points = [NO_KO if place is None else _point(place, size) for place in kos]
    return Position.from_array(np.array(stones, np.int8), to_play=to_play, ko=np.array(points), passes=passes)


def to_sgfmill(position: Position) -> "list[Board]":
    """A board of sgfmill for each position. It holds the stones; who is to play, ko and passes are not carried over."""
    from sgfmill.boards import Board

    check_position(position)
    boards, size = [], position.size
    for stones in np.asarray(position.to_array()):
        board = Board(size)
        black, white = ([(size - 1 - int(y), int(x)) for y, x in np.argwhere(stones == colour)] for colour in (BLACK, WHITE))
        board.apply_setup(black, white, [])
        boards.append(board)
    return boards


def from_pgx(state) -> Position:
    """The positions of states of pgx's Go. A pure function, also for inside of `jax.jit`.

    Stones, ko, passes and who is to move (Black at even `step_count`) are carried over; the boards before, the captures, the
    rewards and which player is Black are not. What pgx ends for its length, a repetition or an illegal move goes on here:
    `state.terminated` says so, `Position.is_over` tells of two passes alone.

    Args:
      state: pgx.go.State, one (a batch of one comes of it) or a batch of B as `jax.vmap(env.init)` makes them.

    Raises:
      TypeError: something else.
      ValueError: its board is of a size that there is not here.
    """
    x: Any = getattr(state, "_x", None)
    if not all(hasattr(x, name) for name in ("board", "ko", "consecutive_pass_count", "step_count")):
        raise TypeError(f"state must be a state of pgx's Go (pgx.go.State), not {type(state).__name__}")
    size = checks.size(math.isqrt(x.board.shape[-1]))
    g, board = geometry(size), jnp.asarray(x.board).reshape(-1, size * size)
    batch = board.shape[:1]
    return Position(
        black=bb.of_points(g, board > 0),
        white=bb.of_points(g, board < 0),
        to_play=jnp.where(x.step_count % 2 == 0, BLACK, WHITE).reshape(batch).astype(jnp.int8),
        ko=jnp.asarray(x.ko).reshape(batch).astype(jnp.int16),
        passes=jnp.clip(x.consecutive_pass_count, 0, 2).reshape(batch).astype(jnp.int8),
        size=size,
    )


def to_pgx(position: Position, env) -> Any:
    """States of pgx's Go, with which `env` plays on. A pure function, also for inside of `jax.jit`.

        env = pgx.make("go_9x9")
        states = to_pgx(position, env)
        states = jax.vmap(env.step)(states, moves)

    What a position knows is filled in: stones (as pgx's numbers of chains), ko, passes, who is to move, legal actions, the
    observation, and, after two passes, the end and its rewards. What it does not know is filled in like this:

    - Player 0 is Black.
    - The game begins here: `step_count`, by which pgx knows who is to move and when a game is too long, is 0 for Black's first
      move on the empty board, and else 1 where White is to move, 2 where Black is.
    - Of the boards in the history, and so of the observation's planes, only the last is there; the others are blank.
    - Superko knows of this position, but of none before it. Captured stones are counted from here.

    Args:
      position: B positions.
      env: pgx.go.Go of the same size, for its komi, length of history and longest game.

    Returns:
      A batch of B pgx.go.State.

    Raises:
      TypeError: env is no such environment, or position no position.
      ValueError: env is of another size, or of one that pgx does not play right, above 19.
    """
    check_position(position)
    game: Any = getattr(env, "_game", None)
    if not all(hasattr(game, name) for name in ("size", "rewards", "init")):
        raise TypeError(f"env must be pgx's environment of Go (pgx.go.Go), not {type(env).__name__}")
    if game.size != position.size:
        raise ValueError(f"env must be of the positions' size, {position.size}, not {game.size}")
    if position.size > _MAX_PGX_SIZE:
        raise ValueError(f"pgx's Go plays boards up to {_MAX_PGX_SIZE}, not {position.size}")
    return _states(position, env)


@functools.partial(jax.jit, static_argnames="env")
def _states(position: Position, env) -> Any:
    return jax.vmap(lambda one: _state(one, env))(position)


def _state(position: Position, env) -> Any:
    """The state of one position, without a batch axis."""
    first, game = env.init(jax.random.key(0)), env._game
    stones, white = position.to_array(), position.to_play == np.int8(WHITE)
    # A pass has pgx write the board into its histories; what the pass does besides is overwritten.
    before = first._x._replace(board=_chain_numbers(stones), step_count=jnp.where(white, 0, 1).astype(jnp.int32))
    after = game.step(before, np.int32(game.size**2))._replace(
        ko=position.ko.astype(jnp.int32), consecutive_pass_count=position.passes.astype(jnp.int32)
    )
    fresh = ~white & ~stones.any() & (position.passes == np.int8(0))
    x = jax.tree.map(lambda new, old: jnp.where(fresh, old, new), after, first._x)
    players, over = jnp.array([0, 1], jnp.int32), game.is_terminal(x)
    state = first.replace(
        current_player=white.astype(jnp.int32),
        rewards=game.rewards(x)[players],
        terminated=over,
        legal_action_mask=position.legal() | over,
        _step_count=x.step_count,
        _player_order=players,
        _x=x,
    )
    return state.replace(observation=env.observe(state))


def _chain_numbers(stones: jax.Array) -> jax.Array:
    """int32 [P] of stones [N, N]: for each stone 1 + the first point of its chain, negative for White; 0 for an empty point."""
    size = stones.shape[0]
    first = jnp.arange(1, size * size + 1, dtype=jnp.int32).reshape(size, size)

    def beside(board: jax.Array, outside: int) -> list[jax.Array]:
        rimmed = jnp.pad(board, 1, constant_values=outside)
        return [rimmed[y : y + size, x : x + size] for y, x in ((0, 1), (1, 0), (1, 2), (2, 1))]

    joined = [theirs == stones for theirs in beside(stones, _OUTSIDE)]

    def grow(state):
        numbers, _ = state
        reaching = [jnp.where(same, theirs, numbers) for same, theirs in zip(joined, beside(numbers, 0))]
        least = functools.reduce(jnp.minimum, reaching, numbers)
        return least, (least != numbers).any()

    least, _ = lax.while_loop(lambda state: state[1], grow, (first, jnp.bool_(True)))
    return (least * stones.astype(jnp.int32)).reshape(-1)  # empty regions were numbered too


def _point(place, size: int) -> int:
    """The point of sgfmill's (row, column)."""
    if not isinstance(place, tuple) or len(place) != 2:
        raise TypeError(f"ko must be a (row, column) or None, not {place!r}")
    row, column = place
    row, column = checks.integer("a row of ko", row, 0, size - 1), checks.integer("a column of ko", column, 0, size - 1)
    return (size - 1 - row) * size + column
