"""Positions from and to sgfmill's boards and pgx's states, against games that those play themselves."""

import contextlib
import re
import types

import chex
import jax
import numpy as np
import pytest
from sgfmill import boards

from jaxgo import Position
from jaxgo.board.observation import observation
from jaxgo.records.boards import from_pgx, from_sgfmill, to_pgx, to_sgfmill

BLACK, WHITE = 1, -1
SIZE, GAMES, PLIES = 5, 16, 50


def assert_same(actual: Position, expected: Position) -> None:
    """All fields are equal, and of equal types."""
    chex.assert_trees_all_equal(actual, expected, strict=True)


def some(tree, index):
    """Some of a batch of positions or states, as numpy's arrays."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], tree)


# sgfmill.


def test_a_game_on_both_boards():
    rng, board, colour = np.random.default_rng(83), boards.Board(4), "b"
    position, kos = Position.empty(4), 0
    while len(legal := np.flatnonzero(np.asarray(position.legal())[0, :16])) and kos < 3:
        point = int(rng.choice(legal))
        position = position.play(point)
        ko = board.play(3 - point // 4, point % 4, colour)
        colour = "w" if colour == "b" else "b"
        kos += ko is not None
        assert_same(from_sgfmill(board, WHITE if colour == "w" else BLACK, ko=ko), position)
        (copy,) = to_sgfmill(position)
        assert copy.board == board.board
    assert kos == 3


def test_several_boards():
    first, second = boards.Board(3), boards.Board(3)
    first.play(0, 0, "b")
    second.play(2, 1, "w")
    position = from_sgfmill([first, second], [WHITE, BLACK], ko=[None, (1, 1)], passes=[1, 0])
    assert np.asarray(position.to_array()).tolist() == [[[0, 0, 0], [0, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 0, 0], [0, 0, 0]]]
    assert [x.tolist() for x in (position.to_play, position.ko, position.passes)] == [[-1, 1], [-1, 4], [1, 0]]
    assert [board.board for board in to_sgfmill(position)] == [first.board, second.board]


def state_of(size: int) -> types.SimpleNamespace:
    """What stands for a state of pgx's on a board of some size."""
    x = {name: np.int32(0) for name in ("ko", "consecutive_pass_count", "step_count")}
    return types.SimpleNamespace(_x=types.SimpleNamespace(board=np.zeros(size**2, np.int32), **x))


def test_bad_boards():
    for call, error, message in (
        (lambda: from_sgfmill([]), ValueError, "boards must be at least one, and of one size, not of the sizes []"),
        (lambda: from_sgfmill([boards.Board(3), boards.Board(4)]), ValueError, "not of the sizes [3, 4]"),
        (lambda: from_sgfmill([np.zeros((3, 3))]), TypeError, "boards must be sgfmill.boards.Board, one or several, not ndarray"),
        (lambda: from_sgfmill(7), TypeError, "boards must be sgfmill.boards.Board, one or several, not int"),
        (lambda: from_sgfmill(boards.Board(3), 0), ValueError, "to_play must be 1 (Black) or -1 (White), not 0"),
        (lambda: from_sgfmill(boards.Board(3), ko=(3, 0)), ValueError, "a row of ko must be between 0 and 2, not 3"),
        (lambda: from_sgfmill(boards.Board(3), ko=4), TypeError, "ko must be a (row, column) or None, not 4"),
        (lambda: from_sgfmill([boards.Board(3)], ko=[]), ValueError, "a point or None for each of 1 boards, not 0"),
        (lambda: to_sgfmill(boards.Board(3)), TypeError, "position must be a jaxgo.Position, not Board"),
        (lambda: from_pgx(state_of(26)), ValueError, "size must be between 2 and 25, not 26"),
        (lambda: to_pgx(state_of(9), None), TypeError, "position must be a jaxgo.Position, not SimpleNamespace"),
        (lambda: from_sgfmill(boards.Board(26)), ValueError, "size must be between 2 and 25, not 26"),
    ):
        with pytest.raises(error, match=re.escape(message)):
            call()


# pgx.


@contextlib.contextmanager
def as_pgx_wants():
    """pgx promotes types and ranks, which the other tests' settings forbid."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="module")
def env():
    """pgx's Go on 5x5."""
    pytest.importorskip("pgx", reason="pgx is not installed")
    from pgx.go import Go

    return Go(size=SIZE, komi=3.5)


@pytest.fixture(scope="module")
def step(env):
    """A step of a batch of states."""
    return jax.jit(jax.vmap(env.step))


@pytest.fixture(scope="module")
def games(env, step):
    """(states, moves) of each ply of games with few passes, from the first; states that have ended stay as they are."""
    rng = np.random.default_rng(5)
    with as_pgx_wants():
        state = jax.vmap(env.init)(jax.random.split(jax.random.key(1), GAMES))
        plies = []
        for ply in range(PLIES):
            points = [np.flatnonzero(mask[:-1]) for mask in np.asarray(state.legal_action_mask)]
            passes = rng.random(GAMES) < (0.02 if ply < 40 else 0.4)
            moves = np.array([SIZE**2 if p or not len(q) else rng.choice(q) for p, q in zip(passes, points)], np.int32)
            plies.append((state, moves))
            state = step(state, moves)
    return plies


def test_games_of_pgx_are_those_of_positions(games):
    play, kos, ended = jax.jit(Position.play), 0, 0
    for (state, moves), (after, _) in zip(games, games[1:]):
        going, position = ~np.asarray(state.terminated), from_pgx(state)
        np.testing.assert_array_equal(position.to_array(), np.sign(state._x.board).reshape(-1, SIZE, SIZE))
        np.testing.assert_array_equal(np.asarray(position.legal())[going], np.asarray(state.legal_action_mask)[going])
        assert_same(some(from_pgx(after), going), some(play(position, moves), going))
        kos += int((np.asarray(position.ko) >= 0).sum())
        ended = int(position.is_over().sum())
    assert kos > 3 and ended > 3
    assert_same(from_pgx(some(after, 2)), from_pgx(after)[2])
    assert_same(jax.jit(from_pgx)(after), from_pgx(after))


def test_states_play_on_as_the_ones_they_came_from(env, step, games):
    for ply in (1, 12, 25, 38, 46):
        state, moves = games[ply]
        with as_pgx_wants():
            made = to_pgx(from_pgx(state), env)
        assert_same(from_pgx(made), from_pgx(state))
        # What ends a game besides passes is not in a position; and a superko that the histories before decide is neither.
        same = ~np.asarray(state.terminated) | np.asarray(from_pgx(state).is_over())
        for _ in range(3):
            jax.tree.map(lambda a, b: (a.dtype, a.shape) == (b.dtype, b.shape) or pytest.fail(f"{a} {b}"), made, state)
            for field in ("board", "ko", "consecutive_pass_count"):
                np.testing.assert_array_equal(getattr(made._x, field)[same], getattr(state._x, field)[same], err_msg=field)
            np.testing.assert_array_equal(made._x.color[same], state._x.color[same])
            for field in ("legal_action_mask", "terminated"):
                np.testing.assert_array_equal(getattr(made, field)[same], getattr(state, field)[same], err_msg=field)
            planes = [np.asarray(x.observation)[same][..., [0, 1, 16]] for x in (made, state)]
            np.testing.assert_array_equal(*planes)
            with as_pgx_wants():
                made, state = step(made, moves), step(state, moves)
            same &= ~np.asarray(state._x.is_psk)
        np.testing.assert_array_equal(made.current_player, made._x.color)


def test_the_first_state_is_pgxs_own(env):
    with as_pgx_wants():
        made = to_pgx(Position.empty(SIZE, GAMES), env)
        own = jax.vmap(env.init)(jax.random.split(jax.random.key(0), GAMES))
    for path, leaf in jax.tree_util.tree_leaves_with_path(made):
        if "player" not in jax.tree_util.keystr(path):
            np.testing.assert_array_equal(leaf, dict(jax.tree_util.tree_leaves_with_path(own))[path])


def test_an_ended_game_has_its_rewards(env):
    stones = np.zeros((GAMES, SIZE, SIZE), np.int8)
    stones[:, 0, 0] = to_play = np.where(np.arange(GAMES) % 2 == 0, 1, -1)
    over = Position.from_array(stones, to_play=to_play, passes=2)
    with as_pgx_wants():
        made = to_pgx(over, env)
    assert np.asarray(made.terminated).all() and np.asarray(made.legal_action_mask).all()
    assert np.asarray(made.rewards).tolist() == [[1, -1], [-1, 1]] * (GAMES // 2)


def test_superko_and_planes_know_the_last_board_alone(env, games):
    state, _ = games[12]
    with as_pgx_wants():
        made = to_pgx(from_pgx(state), env)
    made, state = (some(x, ~np.asarray(state.terminated)) for x in (made, state))
    assert np.asarray(made._x.step_count).tolist() == [2] * len(state.terminated)
    np.testing.assert_array_equal(made._x.hash_history[:, 1], state._x.hash_history[:, 11])
    assert not np.delete(made._x.hash_history, 1, axis=1).any()
    np.testing.assert_array_equal(made._x.board_history[:, 0], state._x.board_history[:, 0])
    assert not np.asarray(made.observation)[..., 2:16].any()


def test_planes_are_pgxs(games):
    for state, _ in games[::10]:
        planes = np.asarray(observation(from_pgx(state)))
        np.testing.assert_array_equal(planes[..., :2], state.observation[..., :2])
        np.testing.assert_array_equal(planes[..., 2], ~np.asarray(state.observation[..., 16]))


def test_bad_states(env):
    import pgx

    with as_pgx_wants():
        other = pgx.make("tic_tac_toe")
        for call, error, message in (
            (lambda: from_pgx(other.init(jax.random.key(0))), TypeError, "must be a state of pgx's Go (pgx.go.State), not State"),
            (lambda: from_pgx(3), TypeError, "state must be a state of pgx's Go (pgx.go.State), not int"),
            (lambda: to_pgx(Position.empty(5), other), TypeError, "must be pgx's environment of Go (pgx.go.Go), not Tic"),
            (lambda: to_pgx(Position.empty(4), env), ValueError, "env must be of the positions' size, 4, not 5"),
            (lambda: to_pgx(Position.empty(20), type(env)(size=20)), ValueError, "pgx's Go plays boards up to 19, not 20"),
        ):
            with pytest.raises(error, match=re.escape(message)):
                call()
