"""The first look at what saves chains, on boards of all widths of words: it finds what floods find, or leaves it open."""

import functools
import operator
import statistics
import time

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.backends.choice import backend_of
from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.playing.policies import saving
from jaxgo.playing.policies.capture import may_be_in_atari, may_capture
from tests.wide import wide

LANES = 144


def some_lanes(g: Geometry) -> tuple[saving._Lane, np.ndarray]:
    """Random stones; which of them are weak, and which points may capture, is random too."""
    random = np.random.default_rng(g.size)
    stones = random.integers(4, size=(LANES, g.num_points))
    own, opp, weak, taking = (
        bb.of_points(g, points)
        for points in (stones == 1, stones == 2, (stones == 1) & (random.random(stones.shape) < 0.7), stones == 0)
    )
    return saving._Lane(own, opp, weak, taking, random.choice(g.index_of_point, LANES).astype(np.int32)), np.ones(LANES, np.int32)


def looking(size: int):
    """(the board's layout, the compiled look, its arguments)."""
    backend = backend_of(jax.devices()[0])
    with forms.within(backend.form):
        g = playing_geometry(size)
    given = some_lanes(g)
    look = jax.jit(forms.written(backend.form, lambda *x: saving._look(g, *x)), compiler_options=backend.compiler_options())
    with bb.words_known(g):
        return g, look.lower(*given).compile(), given


@pytest.mark.parametrize("size", [23, *wide(15)])
def test_loops_and_single_operations_find_the_same(size):
    """On 23x23 a look is several loops, as one would be too long."""
    g, look, given = looking(size)
    with bb.words_known(g), forms.within(forms.PLAIN):
        expected = saving._at_a_glance(g, saving._as_it_is, *jax.tree.map(jax.numpy.asarray, given))
        jax.tree.map(np.testing.assert_array_equal, look(*given), expected)
    assert 0 < int(np.sum(np.asarray(expected[1]))) < LANES, "some looks settle what there is, and some do not"


def test_a_look_at_a_large_board_takes_no_longer_than_its_words_explain():
    """On 25x25 it took ten thousand times as long as on 20x20."""

    def seconds(size: int) -> float:
        g, look, given = looking(size)
        times = []
        with bb.words_known(g):
            for _ in range(7):
                start = time.perf_counter()
                jax.block_until_ready(look(*given))
                times.append(time.perf_counter() - start)
        return statistics.median(times)

    assert seconds(25) < 30 * seconds(20)


def given_a_look(size: int, boards: np.ndarray, to_play: int, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bool: (positions with chains that may be in atari beside the last move, those of them that a glance settles, those where it
    finds something else than floods) of boards [B, points] after moves [B]."""
    backend = backend_of(jax.devices()[0])
    with forms.within(backend.form):
        g = playing_geometry(size)

    def looks(own, opp, last):
        weak, taking = may_be_in_atari(g, own, bb.complement(g, bb.either(own, opp))), may_capture(g, own, opp)
        lane = saving._Lane(own, opp, weak, taking, last)
        waits = bb.any_point(saving._beside(g, last, weak)).astype(np.int32)
        (moves, captures), left = saving._look(g, lane, waits)
        every_move, every_capture = saving._in_full(g, own, opp, last)
        same = bb.both(every_capture, bb.complement(g, every_move)), bb.both(captures, bb.complement(g, moves))
        differs = [x != y for x, y in zip((*moves, *same[0]), (*every_move, *same[1]))]
        return waits != 0, left == 0, functools.reduce(operator.or_, differs)

    last = g.index_of_point[moves].astype(np.int32)
    with bb.words_known(g):
        look = jax.jit(forms.written(backend.form, looks), compiler_options=backend.compiler_options())
        waits, settled, differs = map(np.asarray, look(*(bb.of_points(g, boards == c) for c in (to_play, -to_play)), last))
    return waits, waits & settled, waits & settled & differs


def test_two_chains_of_which_one_is_long():
    """The stone at a is in atari, and capturing at b or c saves it. Two sweeps do not reach all of the other chain."""
    board = jaxgo.Position.from_ascii(
        """
        . O O X O
        O X O X b
        O X X X O
        O X X O a
        X X . c .
        """.replace("a", "X").replace("b", ".").replace("c", ".")
    ).to_array()
    found = given_a_look(5, np.asarray(board).reshape(1, -1), 1, np.array([18]))
    assert [x.tolist() for x in found] == [[True], [True], [False]]


@pytest.mark.usefixtures("many_playouts")
@pytest.mark.parametrize("policy", [None, jaxgo.Patterns()], ids=repr)
@pytest.mark.parametrize(("size", "plies"), [(5, 20), *wide((5, 27), (9, 64), (9, 89))])
def test_what_a_glance_settles_is_what_floods_find(size, plies, policy):
    """In positions of some 50,000 games: one in 10,000 was not."""
    played = jaxgo.playouts(jaxgo.Position.empty(size), 50_000, seed=7, moves=True, max_plies=plies, policy=policy)
    moves = played.moves[0, :, plies - 1]
    there = (moves >= 0) & (moves < size * size)
    waits, settled, wrong = given_a_look(size, played.board[0, there].reshape(-1, size * size), 1 - 2 * (plies % 2), moves[there])
    assert waits.sum() > 5_000 and waits.sum() > settled.sum() > 0.7 * waits.sum()
    assert not wrong.any()
