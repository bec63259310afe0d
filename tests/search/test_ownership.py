"""Ownership of a search: where it samples positions."""

import jaxgo
import search
from search.nodes import READY
from search.ownership import sample


def test_samples_are_positions_that_the_device_has_described():
    made = search.Search(jaxgo.Position.empty(5), komi=3.5, leaves=16)
    made.run(visits=1000)
    made.launch(visits=10_000)
    nodes, counts = sample(made.tree, made.tree.root, 1000)
    assert (made.tree[: made.tree.count]["state"] != READY).any() and counts.sum() == 1000
    assert (made.tree[nodes]["state"] == READY).all()
    made.close()
