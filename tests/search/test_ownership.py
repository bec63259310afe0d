"""Ownership of a search: where it samples positions."""

import jax
import numpy as np
import pytest

import jaxgo
import search
from search.findings import Findings, Wanted
from search.nodes import NONE, READY
from search.ownership import PLAYOUTS, SAMPLES, SAMPLES_OF_MOVE, Samples, _share_out, sample
from search.tree_needs import memory_for
from tests.search.trees import nodes_by_path


def test_samples_are_positions_that_the_device_has_described():
    made = search.Search(jaxgo.Position.empty(5), komi=3.5, leaves=16)
    made.run(visits=1000)
    made.launch(visits=10_000)
    nodes, counts = sample(made.tree, made.tree.root, 1000)
    assert (made.tree[: made.tree.count]["state"] != READY).any() and counts.sum() == 1000
    assert (made.tree[nodes]["state"] == READY).all()
    made.close()


def test_samples_are_shared_out_as_the_playouts_were():
    """As many of them as playouts: every position has those that went no further."""
    with search.Search(jaxgo.Position.empty(5), komi=3.5, leaves=16) as made:
        made.run(visits=1000)
        nodes, counts = sample(made.tree, made.tree.root, 1000)
        own = {node: made.tree[node]["visits"] - made.tree.visits(node).sum() for node in nodes_by_path(made.tree).values()}
        assert dict(zip(nodes.tolist(), counts.tolist())) == own and len(own) > 50


@pytest.mark.parametrize(("weights", "count", "expected"), [([5, 3, 2], 4, [2, 1, 1]), ([1, 1, 1], 2, [1, 1, 0]), ([6, 3, 1], 3, [2, 1, 0])])
def test_largest_remainders_get_what_is_left(weights, count, expected):
    assert _share_out(np.array(weights, float), count).tolist() == expected


def test_a_move_is_sampled_below_itself():
    with search.Search(jaxgo.Position.empty(5), komi=3.5, leaves=16, seed=3) as made:
        made.run(visits=1000)
        moves = np.argsort(-made.statistics().visits[:-1])[:2]
        whole, samples = Samples.of(made), Samples.of(made, moves)
        assert whole.counts.sum() == SAMPLES and not whole.groups.any() and whole.seed == samples.seed == made.seed == 3
        assert np.bincount(samples.groups, samples.counts).tolist() == [SAMPLES_OF_MOVE] * 2
        assert (samples.position.to_array().reshape(-1, 25)[np.arange(len(samples.groups)), moves[samples.groups]] == 1).all()


def test_without_a_tree_a_position_and_those_after_moves_are_sampled():
    position, policy = jaxgo.Position.empty(5).play(np.array([12])), jaxgo.Capture(0.5)
    whole, samples = Samples.without_tree(position, 3, policy=policy), Samples.without_tree(position, 3, [7, 2], policy)
    for made, starts, each in ((whole, [position], SAMPLES), (samples, [position.play(np.array([move])) for move in (7, 2)], SAMPLES_OF_MOVE)):
        assert made.seed == 3 and made.policy is policy and (made.counts == 1).all()
        assert made.groups.tolist() == np.repeat(np.arange(len(starts)), each).tolist()
        expected = jax.device_get(jaxgo.Position.concatenate(starts))[made.groups]
        jax.tree.map(np.testing.assert_array_equal, made.position, expected)


def test_ownership_is_the_samples_mean_each_as_often_as_it_counts():
    """By the same playouts as `jaxgo.evaluate` makes, so many positions at a time; the host may do something else in between."""
    many, seed, policy = SAMPLES + 2, 5, jaxgo.Capture(1.0)
    starts = jax.device_get(jaxgo.Position.concatenate([jaxgo.Position.empty(5), jaxgo.Position.empty(5).play(np.array([12]))]))
    rows, rng = np.arange(many) % 2, np.random.default_rng(1)
    samples = Samples(starts[rows], rng.integers(1, 9, many), rng.integers(0, 2, many), seed, policy)
    found = np.concatenate([
        jaxgo.evaluate(starts[np.arange(SAMPLES) % 2], PLAYOUTS, seed=seed, statistics=["ownership"], policy=policy).ownership[:part]
        for part in (SAMPLES, 2)
    ])  # fmt: skip
    expected = [np.average(found[samples.groups == group], axis=0, weights=samples.counts[samples.groups == group]) for group in (0, 1)]
    np.testing.assert_allclose(samples.ownership(), expected, rtol=1e-9, atol=1e-9)
    assert len(list(samples.in_parts())) == 1
    with pytest.raises(TypeError, match="devices must be"):
        samples.ownership(devices="x")


def test_moves_that_a_full_tree_has_forgotten_are_sampled_by_their_positions():
    """The new root knows that they have been played out, and no more."""
    rule = search.UCB1()
    full = search.Search(jaxgo.Position.empty(5), rule=rule, komi=0.5, seed=1, leaves=16, memory=2 * memory_for(5, rule, 0))
    full.run(visits=6000)
    full.advance(full.best())

    def tried() -> list[int]:
        return [int(move) for move in np.flatnonzero(full.statistics().visits)]

    def one_is_being_tried_again() -> bool:
        return any(not full.knows(move) and full.tree.child(full.tree.root, move) != NONE for move in tried())

    for _ in range(1000):
        if one_is_being_tried_again():
            break
        if not full.launch(full.visits + 10_000):
            full.finish()
    assert one_is_being_tried_again()
    moves = tried()
    known = [full.knows(move) for move in moves]
    samples = Samples.of(full, moves)
    assert samples.seed == full.seed
    assert samples.position.batch == len(samples.counts) == len(samples.groups)
    for group, (move, there) in enumerate(zip(moves, known)):
        rows = np.flatnonzero(samples.groups == group)
        assert samples.counts[rows].sum() == SAMPLES_OF_MOVE
        if not there:
            played = jax.device_get(full.position.play(np.array([move])))
            jax.tree.map(np.testing.assert_array_equal, samples.position[rows], played[np.zeros(len(rows), int)])
    full.abandon()
    owners = Findings.of(full, Wanted(moves_ownership=True))
    assert owners is not None
    np.testing.assert_array_equal(samples.ownership().shape, (len(moves), 5, 5))
    full.close()
