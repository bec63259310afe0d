"""How positions are played in batches: games that stay over, moves in some games only, programs for few sizes, any jax setting."""

import collections
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxgo
from jaxgo.board import dynamics
from tests.processes import run_with_devices
from tests.referee import Game

KO = """
    . X O . .
    X . X O .
    . X O . .
    . . . . .
    . . . . .
"""


def same(actual: jaxgo.Position, expected: jaxgo.Position) -> None:
    chex.assert_trees_all_equal(actual, expected, strict=True)


def random_games(size: int, batch: int, plies: int, seed: int = 0) -> jaxgo.Position:
    """Positions after random legal moves, passes among them."""

    @jax.jit
    def step(position, key):
        noise = jax.random.uniform(key, (batch, size * size + 1))
        return position.play(jnp.argmax(jnp.where(position.legal(), noise, jnp.float32(-1)), axis=1).astype(jnp.int32))

    position = jaxgo.Position.empty(size, batch)
    for key in jax.random.split(jax.random.key(seed), plies):
        position = step(position, key)
    return position


def test_a_game_that_is_over_stays_over():
    """64 games of 400 random plies each: from the second pass in a row on nothing changes."""

    def step(position, key):
        points = jax.random.randint(key, (64,), 0, 10).astype(jnp.int32)
        legal = jnp.take_along_axis(position.legal(), points[:, None], axis=1)[:, 0]
        after = position.play(jnp.where(legal, points, jnp.int32(9)))
        return after, (after.to_array(), after.passes, after.is_over())

    keys = jax.random.split(jax.random.key(0), 400)
    last, (boards, passes, over) = jax.jit(lambda p, k: lax.scan(step, p, k))(jaxgo.Position.empty(3, 64), keys)
    boards, passes, over = (np.asarray(x) for x in (boards, passes, over))
    assert over[-1].all() and (passes <= 2).all()
    assert (over[1:] >= over[:-1]).all(), "a game went on after its end"
    ended = over.argmax(axis=0)
    for game, end in enumerate(ended):
        assert (boards[end:, game] == boards[end, game]).all()
    same(jax.jit(lambda p: p.play(0))(last), last)


def test_passes_do_not_overflow():
    passed = jax.jit(lambda p: lax.fori_loop(0, 130, lambda _, p: p.play(9), p))(jaxgo.Position.empty(3, 2))
    np.testing.assert_array_equal(passed.passes, [2, 2])


def test_moves_in_some_games_only():
    position = jaxgo.Position.concatenate([jaxgo.Position.from_ascii(KO), jaxgo.Position.empty(5, 2)])
    over = position[2].play(25).play(25)
    position = jaxgo.Position.concatenate([position[:2], over])
    after = position.play([0, 7, 3], where=[True, True, False])
    same(after[:2], position[:2].play([0, 7]))
    same(after[2], over)
    same(jax.jit(lambda p: p.play(jnp.array([0, 7, 3]), where=jnp.array([True, True, False])))(position), after)
    for elsewhere in (-1, 26, 1000):  # such as -1, which stands after the end of a playout's moves
        same(position.play([0, 7, elsewhere], where=[True, True, False]), after)
    same(position.play(99, where=False), position)
    with pytest.raises(ValueError, match="points must be between 0 and 25, not -1"):
        position.play([0, -1, 3], where=[True, True, False])
    with pytest.raises(ValueError, match="in position 2: the game is over"):
        position.play([0, 7, 3])
    same(position.play([0, 7, 3], check=False), after)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: p.play(0, where=1), TypeError, "where must hold bools, not int64"),
        (lambda p: p.play(0, where=[True]), ValueError, r"where must be one bool or have shape \(2,\), not \(1,\)"),
        (lambda p: p.play(26, check=False), ValueError, "points must be between 0 and 25, not 26"),
        (lambda p: p.play([1.5, 2.0]), TypeError, "points must hold integers, not float64"),
    ],
)
def test_bad_moves_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(jaxgo.Position.empty(5, 2))


#: The referee's words for what is wrong with a move, and ours.
REASONS = {
    None: None, "the game is over": "the game is over", "occupied": "the point is occupied", "ko": "the ko forbids it",
    "suicide": "it is suicide",
}  # fmt: skip


@pytest.mark.parametrize(("size", "plies"), [(3, 9), (5, 25)])
def test_a_moves_fault_is_what_legal_says(size, plies):
    """Every point of positions reached by random moves: a fault exactly where `legal` has none, and the right one."""
    positions, seen = random_games(size, 64, plies), collections.Counter()
    legal, stones = np.asarray(positions.legal()), np.asarray(positions.to_array()).reshape(64, -1).tolist()
    numbers = (np.asarray(x).tolist() for x in (positions.to_play, positions.ko, positions.passes))
    games = [Game(size, board, to_play=to_play, ko=ko, passes=passes) for board, to_play, ko, passes in zip(stones, *numbers)]
    for point in range(size * size + 1):
        _, faults = dynamics.run(dynamics.tried, positions, np.full(64, point, np.int32), np.ones(64, np.bool_))
        np.testing.assert_array_equal(np.asarray(faults) == 0, legal[:, point])
        for game, fault in zip(games, np.asarray(faults).tolist()):
            why = game.why_illegal(point)
            seen[why] += 1
            assert (dynamics.FAULTS[fault - 1] if fault else None) == REASONS[why]
    assert all(seen[why] for why in REASONS)


def test_batches_of_many_sizes_share_programs():
    program = dynamics._program(dynamics.score, "cpu")
    program.clear_cache()
    for batch in range(1, 65):
        assert jaxgo.Position.empty(4, batch).score().shape == (batch,)
    assert program._cache_size() == 4  # for 1, 4, 16 and 64


def test_empty_batches_are_empty():
    none = jaxgo.Position.empty(5, 3)[:0]
    assert none.batch == 0 and none.legal().shape == (0, 26) and none.play(np.zeros(0, np.int32)).batch == 0
    for call in (jaxgo.evaluate, jaxgo.playouts, jaxgo.simulate, jaxgo.move_statistics):
        with pytest.raises(ValueError, match="the batch of position must be between 1"):
            call(none, 10)


@pytest.mark.parametrize(
    ("index", "expected"),
    [([2, 0], [2, 0]), ([-1], [2]), (np.int64(1), [1]), (np.array(1), [1]), (jnp.array(2), [2]), ([True, False, True], [0, 2]), ([], [])],
)
def test_indices(index, expected):
    positions = jaxgo.Position.empty(3, 3).play([0, 1, 2])
    found = positions[index]
    assert found.batch == len(expected)
    np.testing.assert_array_equal(found.to_array(), np.asarray(positions.to_array())[expected])


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ([7], IndexError, "position 7 of a batch of 3"),
        (3, IndexError, "position 3 of a batch of 3"),
        (-4, IndexError, "position -4 of a batch of 3"),
        (jnp.array([0, 5]), IndexError, "position 5 of a batch of 3"),
        ([True], ValueError, r"index of \[n\] integers or \[3\] bools, not bool of \(1,\)"),
        ([[0]], ValueError, r"not int64 of \(1, 1\)"),
        ([0.5], ValueError, "not float64"),
        (True, TypeError, "must be an integer, a slice or an array"),
        ((0, 1), TypeError, "must be an integer, a slice or an array"),
    ],
)
def test_bad_indices(index, error, text):
    with pytest.raises(error, match=text):
        jaxgo.Position.empty(3, 3)[index]


def test_a_traced_index():
    positions = jaxgo.Position.empty(3, 3).play([0, 1, 2])
    same(jax.jit(lambda p, i: p[i])(positions, 1), positions[1])


@pytest.mark.parametrize(
    "setting",
    [lambda: jax.disable_jit(), lambda: jax.transfer_guard("disallow"), lambda: jax.check_tracer_leaks()],
    ids=["disable_jit", "transfer_guard", "check_tracer_leaks"],
)
def test_any_setting_of_jax(setting):
    position, key = jaxgo.Position.from_ascii("X . .\n. O .\n. . ."), jax.random.key(3)

    def made() -> tuple:
        return position.legal(), position.is_over(), position.play([8]).to_array(), jaxgo.evaluate(position, 50, seed=key).win_rate

    expected = made()
    with setting():
        found = made()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("setting", [lambda: jax.disable_jit(), lambda: jax.transfer_guard("disallow")], ids=["jit", "guard"])
def test_any_setting_of_jax_for_what_is_made_of_playouts(setting):
    position = jaxgo.Position.from_ascii("X .\n. .")
    played = jaxgo.playouts(position, 5, moves=True)

    def made() -> list:
        learned = jaxgo.AdvisorTable(2).update(played, position), jaxgo.Replies(2).update(played, position)
        return jax.device_get([*learned, jaxgo.statistics_of(position, played).weight])

    def simulated() -> np.ndarray:
        policies = None, [jaxgo.Capture(0.5), jaxgo.Mercy(3)]
        return np.stack([jax.device_get(jaxgo.simulate(position, 5, seed=3, policy=policy).margin) for policy in policies])

    expected, margins = made(), simulated()
    with setting():
        found = made()
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    with jax.transfer_guard("disallow"):
        np.testing.assert_array_equal(simulated(), margins)


def explicit_sharding() -> None:
    """Run with two devices: batches sharded explicitly give what others give, each device its own part."""
    position = random_games(5, 4, 12)
    mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    points = np.asarray(position.legal()).argmax(axis=1).astype(np.int32)
    expected = [position.legal(), position.useful(), position.score(), position.hash(), position.to_array()]
    played, margins = position.play(points), jaxgo.playouts(position, 6).margin
    with jax.set_mesh(mesh):
        sharded = jax.device_put(position, jax.NamedSharding(mesh, jax.P("x")))
        found = [sharded.legal(), sharded.useful(), sharded.score(), sharded.hash(), sharded.to_array()]
        for one, other in zip(found, expected, strict=True):
            assert one.sharding.spec[0] == "x", one.sharding
            np.testing.assert_array_equal(one, other)
        same(jax.jit(lambda p, x: p.play(x))(sharded, points), played)
        same(sharded.play(points), played)
        np.testing.assert_array_equal(jaxgo.simulate(sharded, 6).margin, margins)
        np.testing.assert_array_equal(jax.jit(lambda p: jaxgo.simulate(p, 6).margin)(sharded), margins)


@pytest.mark.wide
def test_explicit_sharding():
    run_with_devices(2, "from tests.jaxgo.board import test_dynamics as here; here.explicit_sharding()", lightly=True)


def learnt(position: jaxgo.Position) -> jaxgo.AdvisorTable:
    """What an advisor learns from playouts."""
    return jaxgo.AdvisorTable(position.size).update(jaxgo.simulate(position, 4, moves=True), position)


def of_positions(position: jaxgo.Position) -> dict:
    """What can be asked of positions and of playouts from them, by name."""
    playouts = jaxgo.simulate(position, 4, moves=True)
    table = jaxgo.AdvisorTable(position.size).update(playouts, position)
    return {
        "legal": position.legal(), "played": position.play(position.size**2), "array": position.to_array(), "repr": repr(position),
        "planes": position.observation(), "one": position[1], "slice": position[1:3], "chosen": position[np.array([3, 1])],
        "both": jaxgo.Position.concatenate([position, position]), "turned": jaxgo.symmetry(position, 3),
        "turned each": jaxgo.symmetry(position, np.arange(4)), "all": jaxgo.all_symmetries(position), "margin": playouts.margin,
        "learned": table.visits, "again": table.update(jaxgo.playouts(position, 3, moves=True), position).visits,
        "replies": jaxgo.Replies(position.size).update(playouts, position).replies, "rate": jaxgo.evaluate(position, 4).win_rate,
        "made": jaxgo.Position.from_ascii(". X\n. ."), "tactics": table.enter_tactics(position).visits,
    }  # fmt: skip


def meshes() -> None:
    """Run with two devices: positions give the same in programs for several devices, on one of them or on all."""
    position = random_games(5, 4, 12)
    expected = jax.device_get(of_positions(position))

    def agree(position: jaxgo.Position, where: str) -> None:
        for name, found in of_positions(position).items():
            for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected[name]), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{where}: {name}")

    for kind in (jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto):
        mesh = jax.make_mesh((2,), ("x",), axis_types=(kind,))
        sharded = jax.device_put(position, jax.NamedSharding(mesh, jax.P("x")))
        with jax.set_mesh(mesh):
            agree(position, f"{kind}, on one device")
            agree(sharded, f"{kind}, sharded")
        agree(sharded, f"{kind}, sharded, no mesh set")
        in_parts = functools.partial(jax.shard_map, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x"))
        both = jax.jit(in_parts(lambda x: learnt(x).visits[None]))(sharded)
        for one, part in zip(both, (position[:2], position[2:]), strict=True):
            np.testing.assert_array_equal(one, learnt(part).visits)


@pytest.mark.wide
def test_positions_in_programs_for_several_devices():
    run_with_devices(2, "from tests.jaxgo.board import test_dynamics as here; here.meshes()", lightly=True)


def bindings() -> None:
    """Run with two devices: results are bound to a device only if positions are."""
    position = jaxgo.Position.empty(5, 3)
    for x in jax.tree.leaves((position, position.legal(), position.play(3), position[1:], position.observation())):
        assert not x.committed
    there = jax.device_put(position, jax.devices()[1])
    for x in jax.tree.leaves((there.legal(), there.play(3), there[1:], there.observation())):
        assert x.committed and x.devices() == {jax.devices()[1]}


def test_results_lie_where_positions_do():
    run_with_devices(2, "from tests.jaxgo.board import test_dynamics as here; here.bindings()", lightly=True)
