"""What a tree search does when it is timed, and `jaxgo.evaluate` beside it."""

import concurrent.futures
import copy
import time
from typing import Any

import numpy as np

import jaxgo
from bench.hardware import usable_cores
from bench.measure import Work
from jaxgo.running.leaf_results import Places, Rows
from search import UCB1, Rave, Search, tree
from search.selection import Rule

#: The rules by the names that the benchmark gives them.
RULES: dict[str, Rule] = {
    "rave": Rave(), "uct": UCB1(), "rave-v1": Rave(credit="weighted_v1"), "rave-v2": Rave(credit="weighted_v2"),
    "rave-mctr": Rave(credit="mctr_simple"),
}  # fmt: skip
#: Leaves whose results stand for those of any round of `AtOnce`.
PLAYED = 256
#: Nodes at which a tree is thrown away for a new one.
MOST_NODES = 200_000

_SHARES: dict[str, dict[str, float]] = {}
_ROUNDS: dict[str, tuple[int, int]] = {}


class InSearch:
    """A search from the empty board that goes on from run to run."""

    def __init__(
        self, label: str, size: int, rule: str, leaves: int | None = None, playouts: int | None = None,
        device: Any = None,
    ):  # fmt: skip
        """Makes the search.

        Args:
          label: under which `shares` knows it.
          size: of the board.
          rule: of `RULES`.
          leaves: of a round; None for what suits the devices.
          playouts: from each leaf; likewise.
          device: an `AtOnce` in place of its own workers.
        """
        self._label = label
        self._make = lambda: Search(
            jaxgo.Position.empty(size), rule=RULES[rule], leaves=leaves, playouts_per_leaf=playouts, memory=1 << 31, device=device
        )
        self._search = self._make()
        _ROUNDS[label] = self._search.num_leaves, self._search.playouts_per_leaf

    def run(self, count: int) -> Work:
        """Adds `count` playouts to the tree."""
        search = self._search
        if search.tree.count + count // search.playouts_per_leaf > MOST_NODES:
            search.close()
            search = self._search = self._make()
        before, wall, busy = dict(search.seconds), time.perf_counter(), search.device_seconds
        visits = search.visits
        search.run(visits=visits + count)
        wall = time.perf_counter() - wall
        shares = {name: (search.seconds[name] - before[name]) / wall for name in before}
        _SHARES[self._label] = shares | {"device": (search.device_seconds - busy) / wall / search.num_workers}
        return Work(search.visits - visits)


class HostAlone:
    """RAVE searches on devices that answer at once, each in a thread of its own."""

    def __init__(self, size: int, leaves: int, playouts: int, on_all: bool):
        """Makes one search, or one for each core; the other arguments as of `InSearch`."""
        first = AtOnce(size, leaves, playouts, False)
        devices = [first.another(seed) for seed in range(len(usable_cores()) if on_all else 1)]
        self._searches = [InSearch("host alone", size, "rave", leaves, playouts, device) for device in devices]

    def run(self, count: int) -> Work:
        """Adds `count` playouts to the trees, together."""
        each = -(-count // len(self._searches))
        with concurrent.futures.ThreadPoolExecutor(len(self._searches)) as threads:
            return Work(sum(done.amount for done in threads.map(lambda search: search.run(each), self._searches)))


class AtOnce:
    """In place of a device, to time the host alone: what a batch of real leaves brought, at once, whatever is asked.

    Only the hashes are other ones each time, so that no position seems to come again.
    """

    def __init__(self, size: int, leaves: int, playouts: int, moves: bool):
        """Arguments as of `jaxgo.Leaves`."""
        self.leaves, self.playouts, self.moves = leaves, playouts, moves
        self.busy_seconds, self.num_workers = 0.0, 1
        played = min(leaves, PLAYED)
        device = jaxgo.Leaves(size, played, playouts, moves=moves)
        before = jaxgo.Leaves.arguments_of(jaxgo.Position.empty(size, played).play(np.arange(played) % (size * size)))
        found = device.rows(device.submit(*before, np.full(played, jaxgo.STAY), np.arange(played)))
        self._found = found.some(np.arange(leaves) % played)
        device.close()
        self._hash = Places.of(size).hash
        self._hashes = np.random.default_rng(0)

    def another(self, seed: int) -> "AtOnce":
        """The same with hashes of its own."""
        other = copy.copy(self)
        other._hashes = np.random.default_rng(seed)
        return other

    def share(self, *_, **__) -> "AtOnce":
        """Itself: one search has it."""
        return self

    def compile(self) -> None:
        """Nothing is to be compiled."""

    def close(self) -> None:
        """Nothing is to be closed."""

    def begin(self, columns: np.ndarray) -> int:
        """The number of leaves."""
        return columns.shape[1]

    def done(self, call: int) -> bool:
        """It is."""
        return True

    def wait(self, call: int, seconds: float) -> bool:
        """Nothing is waited for."""
        return True

    def drop(self, call: int) -> None:
        """Nothing is under way."""

    def rows(self, call: int) -> Rows:
        """The first so many leaves' results."""
        rows = self._found.some(slice(0, call))
        hashed = rows.positions.copy()
        hashed[:, self._hash : self._hash + 2] = self._hashes.integers(1 << 32, size=(call, 2), dtype=np.uint32)
        return rows._replace(positions=hashed)


class Bulk:
    """`jaxgo.evaluate` of the empty board: what the same machine plays without a tree."""

    def __init__(self, size: int):
        """Makes the position."""
        self._position, self._seed = jaxgo.Position.empty(size), 0

    def run(self, count: int) -> Work:
        """Plays so many playouts."""
        self._seed += 1
        return Work(int(jaxgo.evaluate(self._position, count, seed=self._seed).num_playouts.sum()))


def shares(label: str) -> dict[str, float]:
    """Of the last run: the shares of the clock's time spent choosing, waiting and backing up, and the devices' busy share."""
    return _SHARES[label]


def round_of(label: str) -> tuple[int, int]:
    """Leaves of a round, and playouts of each."""
    return _ROUNDS[label]


def bytes_per_node(size: int) -> tuple[int, int]:
    """Memory of a node of a RAVE tree: visited once, and visited again."""
    return tree.bytes_per_node(size)
