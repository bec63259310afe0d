"""Ownership of a search: where it samples positions."""

import jax
import numpy as np

import jaxgo
import search
from search.findings import Findings, Wanted
from search.nodes import NONE, READY
from search.ownership import SAMPLES_OF_MOVE, Samples, sample
from search.tree_needs import memory_for


def test_samples_are_positions_that_the_device_has_described():
    made = search.Search(jaxgo.Position.empty(5), komi=3.5, leaves=16)
    made.run(visits=1000)
    made.launch(visits=10_000)
    nodes, counts = sample(made.tree, made.tree.root, 1000)
    assert (made.tree[: made.tree.count]["state"] != READY).any() and counts.sum() == 1000
    assert (made.tree[nodes]["state"] == READY).all()
    made.close()


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
