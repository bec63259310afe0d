"""How large rounds are, and how many are under way, where nobody says."""

import types

import jax
import numpy as np
import pytest

from jaxgo import Capture, Position, Uniform
from jaxgo.backends.choice import backend_of
from jaxgo.base.constants import MAX_SIZE, MIN_SIZE
from search import Rave, Search, round_size
from search.round_size import (
    FEW,
    MOST_LEAVES,
    MOST_OF_A_LEAF,
    MOST_ON_CPUS,
    RoundSize,
    Young,
    for_visits,
    of_young_trees,
    rounds_in_flight,
    suited,
)
from search.shared import SharedLeaves


class Gpu:
    """What is asked of a GPU here, where there is none."""

    platform = "gpu"
    client = types.SimpleNamespace(platform_version="cuda 12080")


@pytest.mark.parametrize("workers", [None, jax.devices(), jax.devices() * 4], ids=["shared", "one core", "four cores"])
def test_on_cpus_rounds_are_the_same_everywhere(workers):
    for size in (2, 9, 25):
        for how in ({}, {"histories": True}):
            assert suited(size, workers, **how) == (256, 8)
            assert suited(size, workers, **how, policy=True) == (256, 4)
    assert suited(9, workers, 64) == (64, 8) and suited(9, workers, playouts=2) == (256, 2)


@pytest.mark.parametrize("workers", [None, jax.devices(), [Gpu()]], ids=["shared", "cpus", "gpu"])
@pytest.mark.parametrize("how", [{}, {"policy": True}, {"histories": True}], ids=str)
def test_whatever_is_given_alone_is_fitted_with(workers, how):
    most = 2**24 if workers is None or isinstance(workers[0], Gpu) else MOST_ON_CPUS
    for playouts in (1, 1024, 1025, 2_000, MOST_OF_A_LEAF):
        found = suited(9, workers, playouts=playouts, **how)
        assert found.playouts == playouts and 16 <= found.leaves <= most // playouts
    for leaves in (1, 32_769, MOST_LEAVES):
        found = suited(9, workers, leaves, **how)
        assert found.leaves == leaves and 1 <= found.playouts <= most // leaves


@pytest.mark.parametrize(("size", "expected"), [(9, (2048, 1024)), (13, (2048, 512)), (19, (4096, 128))])
def test_rounds_for_a_gpu(size, expected):
    """About sixteen playouts for each lane, or half; as many of a leaf as an H100 plays while the host beside it deals with one
    (4.3, 6 and 9.5 us a leaf; 250, 67 and 15 M playouts a second), within a factor of 2."""
    assert suited(size, [Gpu()]) == expected
    leaves, playouts = expected
    assert 7 < leaves * playouts / backend_of(Gpu()).most_lanes(size) < 17
    seconds, rate = {9: (4.3e-6, 250e6), 13: (6e-6, 67e6), 19: (9.5e-6, 15e6)}[size]
    assert playouts / 2 < seconds * rate < playouts * 2


def test_searches_of_few_playouts_have_small_rounds_everywhere():
    """2,000 playouts in two leaves would choose nothing."""
    gpu = [Gpu()]
    for visits in (1, 2_000, FEW):
        workers = for_visits(visits, gpu)
        rounds = suited(9, workers)
        assert (rounds, rounds_in_flight(9, rounds, workers), of_young_trees(9, rounds, workers)) == ((256, 8), 12, (4, 3))
    assert for_visits(FEW + 1, gpu) == for_visits(None, gpu) == gpu
    cpus = jax.devices()
    assert suited(9, for_visits(2_000, cpus)) == suited(9, cpus)


def test_rounds_for_several_gpus_and_for_what_is_given():
    one, eight = suited(9, [Gpu()]), suited(9, [Gpu() for _ in range(8)])
    assert eight == (2048, 8 * one.playouts)
    gpu = Gpu()
    assert suited(9, [gpu] * 3) == one  # calls on one device, not devices
    assert suited(9, [gpu], 64) == (64, 1024) and suited(9, [gpu], playouts=64) == (32768, 64)
    assert suited(9, [gpu], 64, 32) == (64, 32)
    assert suited(9, [gpu], 60_000).playouts == 2**24 // 60_000


def test_what_is_slower_gets_fewer_playouts_a_leaf():
    """By policies, which the devices play more slowly; and where the host looks at each playout."""
    assert suited(9, [Gpu()], policy=True) == (8192, 256)
    assert suited(9, [Gpu()], histories=True) == (1024, 128)


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
@pytest.mark.parametrize("devices", [1, 8, 64])
def test_rounds_of_any_size_are_allowed(size, devices):
    """What is given by default could have been given."""
    gpus = [Gpu() for _ in range(devices)]
    for how in ({}, {"histories": True}, {"policy": True}):
        rounds = suited(size, gpus, **how)
        assert suited(size, None, *rounds) == rounds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, None), "leaves must be between 1 and 65536, not 0"), ((None, 16_001), "playouts_per_leaf must be between 1 and 16000"),
        ((1200, 16_000), "leaves times playouts_per_leaf must be between 1 and 16777216, not 19200000"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("workers", [None, [Gpu()]], ids=["cpus", "gpu"])
def test_what_is_given_is_checked(given, message, workers):
    with pytest.raises(ValueError, match=message):
        suited(9, workers, *given)


@pytest.mark.parametrize(
    ("size", "playouts", "rounds"),
    [(9, 512, 48), (13, 512, 48), (19, 512, 8), (9, 2048, 12), (9, 16_000, 8), (2, 1, 64), (14, 1, 8)],
)
def test_small_rounds_are_more(size, playouts, rounds):
    """Up to 24,576 playouts on boards that are played quickly."""
    assert rounds_in_flight(size, RoundSize(playouts, 1), None) == rounds
    assert rounds_in_flight(size, RoundSize(playouts, 1), [Gpu()]) == 4


@pytest.mark.parametrize(("size", "leaves", "by_histories"), [(5, 16, 1024), (9, 128, 1024), (13, 128, 512), (19, 256, 256)])
def test_young_trees(size, leaves, by_histories):
    """On CPUs they have small rounds; on a GPU, where a round takes as long as a game, one of a playout for about every lane."""
    assert of_young_trees(size, RoundSize(256, 8), None) == of_young_trees(size, RoundSize(256, 8), jax.devices()) == (4, 3)
    rounds = suited(size, [Gpu()])
    assert of_young_trees(size, rounds, [Gpu()]) == (leaves, 2)
    assert 0.4 < leaves * rounds.playouts / backend_of(Gpu()).most_lanes(size) < 1.1
    assert of_young_trees(size, RoundSize(64, 8), [Gpu()]) == (64, 2)
    assert of_young_trees(size, suited(size, [Gpu()], histories=True), [Gpu()]) == (by_histories, 2)
    several = [Gpu() for _ in range(8)]
    assert of_young_trees(size, suited(size, several), several)[0] >= leaves


def test_a_search_grows_a_young_tree_in_rounds_of_that_many(monkeypatch):
    """After the root's own; two are under way, however few playouts the root has had."""
    monkeypatch.setattr(round_size, "of_young_trees", lambda *_: Young(32, 2))
    search = Search(Position.empty(5), leaves=64, playouts_per_leaf=4, in_flight=4, share=0)
    search.run(visits=100)
    while search.launch(10_000):
        pass
    assert search.under_way == 2 and search.tree[search.tree.root]["pending"] == 2 * 32 * 4
    search.close()


@pytest.mark.wide
def test_a_search_with_rounds_as_for_a_gpu():
    """More than 16-bit sums of a whole round could hold; every playout is counted, and the tree is that of the seed alone."""
    def run():
        search = Search(Position.empty(3), rule=Rave(), leaves=32, playouts_per_leaf=2_048, in_flight=4, komi=0.5, seed=5)
        search.run(visits=400_000)
        found, visits = search.statistics(), search.visits
        search.close()
        return visits, found

    (visits, found), (again, same) = run(), run()
    assert 400_000 <= visits < 400_000 + 4 * 32 * 2_048 and visits % 2_048 == 0
    assert found.visits.sum() == visits - 16 * 2_048  # the first round's leaves are the root
    assert again == visits
    for name in ("visits", "win_rate"):
        np.testing.assert_array_equal(getattr(found, name), getattr(same, name))


@pytest.mark.parametrize("visits", [None, 10])
def test_a_round_on_cpus_fits_into_memory(visits):
    """Somebody who takes a CPU for a GPU is told so before anything is made."""
    with pytest.raises(ValueError, match="leaves times playouts_per_leaf must be between 1 and 262144, not 2097152"):
        Search(Position.empty(9), leaves=4096, playouts_per_leaf=512, visits=visits)


def test_a_search_takes_what_suits():
    """By a policy fewer playouts of a leaf, and more rounds of them; on a device that is shared all are of one size."""
    policy = Capture(0.5)
    for own, expected in (None, 8), (Uniform(), 8), ([Uniform()], 8), (policy, 4), ([policy, Uniform()], 4):
        search = Search(Position.empty(3), policy=own)
        assert (search.num_leaves, search.playouts_per_leaf, search.in_flight) == (256, expected, 96 // expected)
        search.close()
    device = SharedLeaves(3, policy=policy)
    search = Search(Position.empty(3), policy=policy, device=device)
    assert (search.num_leaves, search.playouts_per_leaf) == (256, 8)
    search.close()
    device.close()
