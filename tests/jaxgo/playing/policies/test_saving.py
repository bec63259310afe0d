"""The first look at what saves chains, on boards of all widths of words."""

import statistics
import time

import jax
import numpy as np
import pytest

from jaxgo.backends.choice import backend_of
from jaxgo.base import forms
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import Geometry, playing_geometry
from jaxgo.playing.policies import saving

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


@pytest.mark.parametrize("size", [15, 23])
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
