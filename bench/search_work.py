"""What a tree search does when it is timed, and `jaxgo.playouts` of the same batch beside it."""

import time

import numpy as np

import jaxgo
from bench.measure import Work
from search import UCB1, Rave, Search
from search.tree import Tree

#: The rules by the names that the benchmark gives them.
RULES = {"rave": Rave(), "uct": UCB1()}
#: Nodes at which a tree is thrown away for a new one.
MOST_NODES = 200_000

_SHARES: dict[str, dict[str, float]] = {}


class InSearch:
    """A search from the empty board that goes on from run to run."""

    def __init__(self, label: str, size: int, rule: str, leaves: int, playouts: int):
        """Makes the search.

        Args:
          label: under which `shares` knows it.
          size: of the board.
          rule: of `RULES`.
          leaves: of a round.
          playouts: from each leaf.
        """
        self._label, self._playouts = label, playouts
        self._make = lambda: Search(
            jaxgo.Position.empty(size), rule=RULES[rule], leaves=leaves, playouts_per_leaf=playouts, memory=1 << 31
        )
        self._search = self._make()

    def run(self, count: int) -> Work:
        """Adds `count` playouts to the tree."""
        search = self._search
        if search.tree.count + count // self._playouts > MOST_NODES:
            search.close()
            search = self._search = self._make()
        before, wall, busy = dict(search.seconds), time.perf_counter(), search.device_seconds
        visits = search.visits
        search.run(visits=visits + count)
        wall = time.perf_counter() - wall
        shares = {name: (search.seconds[name] - before[name]) / wall for name in before}
        _SHARES[self._label] = shares | {"device": (search.device_seconds - busy) / wall / search.num_workers}
        return Work(search.visits - visits)


class SameBatch:
    """`jaxgo.playouts` from the positions after every first move, as many as a round has leaves."""

    def __init__(self, size: int, leaves: int, playouts: int):
        """Makes the positions; arguments as of `InSearch`."""
        self._positions = jaxgo.Position.empty(size, leaves).play(np.arange(leaves) % (size * size))
        self._playouts, self._seed = playouts, 0

    def run(self, count: int) -> Work:
        """Plays batches until there are `count` playouts."""
        calls = -(-count // (len(self._positions) * self._playouts))
        for _ in range(calls):
            self._seed += 1
            jaxgo.playouts(self._positions, self._playouts, seed=self._seed)
        return Work(calls * len(self._positions) * self._playouts)


def shares(label: str) -> dict[str, float]:
    """Of the last run: the shares of the time on the clock spent choosing, waiting and backing up, and the devices' busy share."""
    return _SHARES[label]


def bytes_per_node(size: int) -> int:
    """Memory of a node of a RAVE tree."""
    return Tree.bytes_per_node(size)
