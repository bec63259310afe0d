"""Trees as tests compare them: what every node says, by the moves that lead to it."""

import numpy as np

from search.nodes import NONE
from search.tree import Tree

#: Of a node's record: what does not depend on where the node lies in memory.
OF_NODES = (
    "visits", "wins", "leads", "squares", "hash", "pending", "ko", "margin", "passes", "state",
)  # fmt: skip


def nodes_by_path(tree: Tree, root: int | None = None) -> dict[tuple[int, ...], int]:
    """All nodes at or below one, by default the root, by the moves that lead there; what their tables say is what links say."""
    found, frontier = {}, [((), tree.root if root is None else root)]
    while frontier:
        path, node = frontier.pop()
        found[path] = node
        moves, children = tree.children(node)
        if (table := tree[node]["table"]) != NONE:
            expected = np.full(tree.moves, NONE)
            expected[moves] = children
            np.testing.assert_array_equal(tree.memory.children[table], expected)
        frontier += [((*path, int(move)), int(child)) for move, child in zip(moves, children)]
    return found


def told(tree: Tree, root: int | None = None) -> dict[tuple[int, ...], dict[str, object]]:
    """Statistics and positions of all nodes at or below one, likewise."""
    found = nodes_by_path(tree, root)
    return {
        path: {name: tree[node][name].item() for name in OF_NODES}
        | {"words": tree.memory.words[node].tolist(), "open": tree.memory.open[node].tolist(), "rave": tree.rave(node).tolist()}
        | {"moves": [tree.visits(node).tolist(), tree.wins(node).tolist()]}
        | {"depth": int(tree[node]["depth"] - tree[found[()]]["depth"])}
        for path, node in found.items()
    }


def assert_same_trees(tree: Tree, other: Tree) -> None:
    """They are equal to the last bit."""
    some, others = told(tree), told(other)
    assert some.keys() == others.keys()
    for path, node in some.items():
        assert node == others[path], path


def rave_visits(tree: Tree) -> np.ndarray:
    """float64 [nodes, C, M] of all nodes."""
    return np.stack([tree.rave(node)[:, 0] for node in nodes_by_path(tree).values()])
