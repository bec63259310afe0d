"""Who owns which point at the end of the games that a search expects.

A tree keeps no boards of its playouts. So its positions are sampled as its playouts were shared out over them, and a few more
playouts from each say who owns what. Where there is no tree, as many playouts are made from the position itself.
"""

import dataclasses
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

import jax
import numpy as np

import jaxgo
from jaxgo import Position
from jaxgo.playing.policies.in_order import Policies
from search.nodes import READY
from search.tree import Tree

#: Positions that are sampled below the root, and below each of its moves.
SAMPLES, SAMPLES_OF_MOVE = 64, 16
#: Playouts from each.
PLAYOUTS = 16

Found = TypeVar("Found")


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Positions to play out; taken from a tree at once, so that it may grow while they are played."""

    position: Position
    counts: np.ndarray
    """int [n]: how often each counts."""
    groups: np.ndarray
    """int [n]: 0 those of the root, or the number of the move that they are of."""
    seed: object
    policy: Policies = None
    """Whom the playouts ask for their moves."""

    @classmethod
    def of(cls, search, moves=None) -> "Samples":
        """Samples of a tree; they depend on nothing but the search's tree and seed.

        Args:
          search: a `search.Search` that has some visits.
          moves: moves of the root that have visits, a group each; by default the root itself is the one group.
        """
        tree = search.tree
        if moves is None:
            return cls._below(search, [0], [sample(tree, tree.root, SAMPLES)])
        known = [group for group, move in enumerate(moves) if search.knows(move)]
        forgotten = sorted({*range(len(moves))} - {*known})  # by a full tree
        parts = [sample(tree, tree.child(tree.root, moves[group]), SAMPLES_OF_MOVE) for group in known]
        of_known = [cls._below(search, known, parts)] if known else []
        if not forgotten:
            return of_known[0]
        rest = cls.without_tree(search.position, search.seed, [moves[group] for group in forgotten])
        rest = dataclasses.replace(rest, groups=np.array(forgotten)[rest.groups])
        return rest.after(*of_known)

    @classmethod
    def _below(cls, search, groups: Sequence[int], parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> "Samples":
        """Samples of nodes, as `sample` gives them for each of some groups."""
        of_nodes = np.repeat(groups, [len(nodes) for nodes, _ in parts])
        nodes, counts = (np.concatenate(columns) for columns in zip(*parts))
        return cls(search.positions_of(nodes), counts, of_nodes, search.seed)

    def after(self, *others: "Samples") -> "Samples":
        """The samples of others of the same search, and then these."""
        parts = [*others, self]
        return dataclasses.replace(
            self, position=Position.concatenate([part.position for part in parts]),
            counts=np.concatenate([part.counts for part in parts]), groups=np.concatenate([part.groups for part in parts]),
        )  # fmt: skip

    def ownership(self, devices=None) -> np.ndarray:
        """float64 [groups, N, N]: who owns each point, 1 always Black, -1 always White.

        Args:
          devices: as in `jaxgo.evaluate`.
        """
        owners = finished(self.in_parts(devices), lambda: False)
        assert owners is not None, "nobody has stopped it"
        return owners

    def in_parts(self, devices=None) -> Generator[None, None, np.ndarray]:
        """`ownership`, call by call of the device: yields between two of them."""
        size, number = self.position.size, int(self.groups.max()) + 1
        out, total = np.zeros((number, size, size)), np.zeros(number)
        for start in range(0, len(self.counts), SAMPLES):  # always as many at a time, so that one compiled program serves
            if start:
                yield
            rows = np.arange(start, start + SAMPLES)
            held = rows < len(self.counts)
            part = self.position[np.minimum(rows, len(self.counts) - 1)]
            found = jaxgo.evaluate(
                part, PLAYOUTS, seed=self.seed, statistics=["ownership"], policy=self.policy, devices=devices
            )
            counts, groups = self.counts[rows[held]], self.groups[rows[held]]
            np.add.at(out, groups, counts[:, None, None] * found.ownership[held])
            np.add.at(total, groups, counts)
        return out / total[:, None, None]

    @classmethod
    def without_tree(cls, position: Position, seed: int = 0, moves=None, policy: Policies = None) -> "Samples":
        """Samples where no tree says what follows: the position itself, or those after some of its moves, as often as of a tree.

        Args:
          position: one position.
          seed: of the playouts.
          moves: legal moves, a group each; by default the position is the one group.
          policy: whom the playouts ask for their moves.
        """
        starts, each = jax.device_get(position), SAMPLES
        if moves is not None:
            points = np.full(position.size**2 + 1, position.size**2)  # padded with passes, so that one compiled shape serves
            points[: len(moves)] = moves
            starts, each = jax.device_get(starts[np.zeros(len(points), np.int64)].play(points))[: len(moves)], SAMPLES_OF_MOVE
        groups = np.repeat(np.arange(starts.batch), each)
        return cls(starts[groups], np.ones(len(groups), np.int64), groups, seed, policy)


def finished(parts: Generator[None, None, Found], stop: Callable[[], bool]) -> Found | None:
    """What work in parts gives at its end; None once `stop`, asked before each of them, says so."""
    while not stop():
        try:
            next(parts)
        except StopIteration as end:
            return end.value
    return None


def sample(tree: Tree, node: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(nodes, how often each): `count` positions at or below a node, as the playouts through it were shared out."""
    out: dict[int, int] = {}
    left = [(node, count)]
    while left:
        node, count = left.pop()
        children = tree.children(node)[1]
        children = children[tree[children]["state"] == READY]
        visits = tree[children]["visits"].astype(np.float64)
        own = max(float(tree[node]["visits"]) - visits.sum(), 1.0)
        shares = _share_out(np.append(visits, own), count)
        if shares[-1]:
            out[node] = out.get(node, 0) + int(shares[-1])
        left += [(int(child), int(number)) for child, number in zip(children, shares) if number]
    return np.array(list(out)), np.array(list(out.values()))


def _share_out(weights: np.ndarray, count: int) -> np.ndarray:
    """int [n] whose sum is `count`, in proportion to the weights: largest remainders, the first where they are equal."""
    exact = weights * (count / weights.sum())
    shares = np.floor(exact).astype(np.int64)
    most = np.argsort(shares - exact, kind="stable")[: count - shares.sum()]
    shares[most] += 1
    return shares
