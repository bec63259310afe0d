"""The tick: what it never draws is never playable, and how it is run leaves no trace."""

import functools
import time
from collections.abc import Iterator

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgo import compiler_options
from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.geometry import Geometry, geometry, playing_geometry
from jaxgo.playing import draws
from jaxgo.playing.lanes import CAPTURE, LOGGED, NO_EVENT, NO_MOVE, SUICIDE, Lanes, is_over
from jaxgo.playing.tick import candidates, tick
from tests.wide import wide

LANES = 64


def empty_lanes(size: int, count: int = LANES) -> Lanes:
    g = playing_geometry(size)
    none = tuple(jnp.zeros(count, g.dtype) for _ in range(g.num_words))
    zero = jnp.zeros(count, jnp.int32)
    counter, key = draws.stream_key((jnp.uint32(5), jnp.uint32(size)), zero, jnp.arange(count, dtype=jnp.int32))
    return Lanes(
        own=none, opp=none, barred=none, dead=none, reach=none, played=none, starter=none, move=zero + NO_MOVE,
        counter=counter, key=key, passes=zero, plies=zero, plies_left=zero + 3 * size * size,
        log=(jnp.full(count, 2**32 - 1, jnp.uint32),) * (LOGGED // 2),
    )  # fmt: skip


@functools.partial(jax.jit, static_argnums=0)
def forgone(size: int, lanes: Lanes) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(running, number of legal points that are no own eye and no candidate, number of dead points) of each lane."""
    g = playing_geometry(size)
    none = tuple(jnp.zeros_like(x) for x in lanes.own)
    no_eye = rules.no_eyes(g, lanes.own, lanes.opp)
    legal = rules.legal_points(g, lanes.own, lanes.opp, none, rules.out_of_atari(g, lanes.own, lanes.opp))
    drawn = candidates(g, lanes.own, lanes.opp, lanes.barred, lanes.dead)
    missing = bb.without(bb.both(no_eye, legal), drawn)
    running = ~is_over(lanes.passes, lanes.plies_left) & (lanes.move == jnp.int32(NO_MOVE))
    return running, bb.count(missing), bb.count(lanes.dead)


@pytest.fixture
def g(size) -> Iterator[Geometry]:
    layout = playing_geometry(size)
    with bb.words_known(layout):
        yield layout


@pytest.mark.parametrize("size", [3, 9, *wide(5, 7, 16), pytest.param(13, marks=pytest.mark.slow)])
def test_only_the_ko_is_forgone(g, size):
    """Barred and dead points are illegal by the exact rules, but for one point right after a capture: the ko."""
    step = jax.jit(lambda lanes: in_one_loop(functools.partial(tick, g), lanes))
    lanes, checked, dead_points, kos = empty_lanes(size), 0, 0, 0
    for _ in range(3 * size * size):
        lanes = step(lanes)
        last = np.asarray(lanes.log[0]) & 0xFFFF
        captured = (last != NO_EVENT) & ((last & CAPTURE) != 0)
        running, missing, dead = (np.asarray(x) for x in forgone(size, lanes))
        assert (missing[running & ~captured] == 0).all()
        assert (missing[running & captured] <= 1).all()
        checked, dead_points, kos = checked + running.sum(), dead_points + dead[running].sum(), kos + missing[running].sum()
    assert checked > 10 * LANES
    assert size == 3 or kos > 0
    assert size < 5 or dead_points > LANES, "the rule for dead points was not exercised"


@pytest.mark.parametrize("size", [5, 16])
def test_lanes_that_wait_stay_as_they_are(g, size):
    """While the others play on; later they play as if they had never waited."""
    lanes, zero = empty_lanes(size), jnp.zeros(LANES, jnp.int32)
    step = jax.jit(lambda lanes, waits: in_one_loop(functools.partial(tick, g), lanes, None, waits))
    alone, shared, odd = lanes, lanes, jnp.arange(LANES, dtype=jnp.int32) % 2
    for _ in range(40):
        alone = step(alone, zero)
        waits = odd * (shared.move == jnp.int32(NO_MOVE)).astype(jnp.int32)
        after = step(shared, waits)
        held = np.asarray(waits) != 0
        for name in set(Lanes._fields) - {"reach", "memory"}:
            for x, y in zip(jax.tree.leaves(getattr(shared, name)), jax.tree.leaves(getattr(after, name))):
                np.testing.assert_array_equal(np.asarray(x)[held], np.asarray(y)[held], name)
        shared = after
    even = np.asarray(odd) == 0
    np.testing.assert_array_equal(np.asarray(shared.plies)[even], np.asarray(alone.plies)[even])
    assert (np.asarray(shared.plies)[~even] == 0).all() and (np.asarray(alone.plies) > 10).all()
    for _ in range(40):
        shared = step(shared, zero)
    np.testing.assert_array_equal(np.asarray(shared.log)[:, ~even], np.asarray(alone.log)[:, ~even])


@pytest.mark.parametrize("size", [5, 9, 16])
def test_lanes_are_the_same_however_a_tick_is_run(g, size):
    whole = functools.partial(tick, g)
    results = []
    # What is not in one loop is not fused here: XLA compiles it in two thirds of the time.
    as_it_is = jax.jit(whole, compiler_options={"xla_disable_hlo_passes": "fusion"})
    for way in (jax.jit(lambda lanes: in_one_loop(whole, lanes)), as_it_is):
        lanes = empty_lanes(size)
        for _ in range(60):
            lanes = way(lanes)
        results.append(jax.tree.map(np.asarray, lanes))
    chex.assert_trees_all_equal(*results)


def seconds_of_a_tick(size: int) -> float:
    """The least time of a tick of all lanes in one loop, over many runs."""
    layout = playing_geometry(size)
    with bb.words_known(layout):
        function = jax.jit(lambda lanes: in_one_loop(functools.partial(tick, layout), lanes), compiler_options=compiler_options())
        lanes, best = jax.block_until_ready(function(empty_lanes(size, 528))), float("inf")
        for _ in range(60):
            start = time.perf_counter()
            jax.block_until_ready(function(lanes))
            best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.parametrize("size", [19, 25])
def test_a_tick_of_large_boards_is_vectorised(size):
    """A loop that LLVM leaves scalar takes 7 to 10 times as long: it does not take 4 times what words and lanes say it should."""
    words = playing_geometry(size).num_words / playing_geometry(16).num_words
    assert seconds_of_a_tick(size) < 4 * words * seconds_of_a_tick(16)


def test_a_lane_that_is_over_stays_as_it_is():
    g = geometry(5)
    lanes = empty_lanes(5)._replace(plies_left=jnp.zeros(LANES, jnp.int32))
    after = jax.jit(functools.partial(tick, g))(lanes)
    for name in ("own", "opp", "played", "starter", "passes", "plies", "plies_left", "log"):
        chex.assert_trees_all_equal(getattr(after, name), getattr(lanes, name))


def test_a_draw_in_a_living_groups_eye_marks_its_eyes_dead():
    """White draws one of Black's two eyes: suicide, barred, and both eyes are dead to White."""
    from jaxgo.playing.tick import bar, play

    g = geometry(5)
    rows = [". X . X .", "X X X X X", ". . . . .", ". . . . .", ". . . . ."]
    black = [y * 5 + x for y, row in enumerate(rows) for x, c in enumerate(row.split()) if c == "X"]

    def board(points):
        index = g.index_of_point[points]
        words = np.zeros(g.num_words, np.uint32)
        np.bitwise_or.at(words, index // 32, np.uint32(1) << (index % 32).astype(np.uint32))
        return tuple(jnp.asarray(w)[None] for w in words)

    zero, none = jnp.zeros(1, jnp.int32), board([])
    move = jnp.asarray(g.index_of_point[[2]])
    done = play(g, none, board(black), none, move, zero, zero, zero + 75)
    assert int(done.found[0]) == SUICIDE
    barred, dead = bar(g, none, none, done.marks, move, done.found)
    chex.assert_trees_all_equal(dead, board([0, 2, 4]))
    chex.assert_trees_all_equal(barred, board([2]))
    # Black, who may fill them, fills one: all is forgotten.
    barred, dead = bar(g, none, dead, none, jnp.asarray(g.index_of_point[[4]]), jnp.full(1, 2, jnp.int32))
    chex.assert_trees_all_equal(dead, none)
