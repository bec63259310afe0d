"""A tree search of one's own: UCT in plain Python on the host, and `jaxgo.Leaves` to play its leaves on the devices.

The tree keeps positions as the device returned them and never needs rules of its own. Some leaves go out at a time, so that the
device has work while the host chooses; one that is on its way counts as visits that lost.
"""

import argparse
import dataclasses
import math

import numpy as np

import jaxgo

LEAVES, PLAYOUTS = 32, 8


@dataclasses.dataclass
class Node:
    """A position after a move; `row` is what the device said of it, None as long as it is on its way."""

    move: int
    visits: int = 0
    wins: float = 0.0
    """Of the player who made the move."""
    row: jaxgo.LeafResults | None = None
    children: list["Node"] | None = None

    def expand(self) -> None:
        """Adds a child for each useful move, or for the pass where there is none."""
        moves = np.flatnonzero(self.row.useful[0])
        self.children = [Node(int(move)) for move in (moves if len(moves) else [self.row.useful.shape[1]])]

    def best_child(self) -> "Node":
        """By UCB1; those that have not been tried come first."""
        log = math.log(self.visits + 1)
        return max(self.children, key=lambda c: c.wins / c.visits + 0.7 * math.sqrt(log / c.visits) if c.visits else math.inf)


def descend(root: Node) -> list[Node]:
    """The way to the leaf to be played next, each node on it charged with its playouts as if they were lost."""
    path = [root]
    while path[-1].row is not None and path[-1].row.passes[0] < 2:
        if path[-1].children is None:
            path[-1].expand()
        path.append(path[-1].best_child())
    for node in path:
        node.visits += PLAYOUTS
    return path


def search(position: jaxgo.Position, playouts: int, komi: float = 7.5) -> Node:
    """The tree after so many playouts."""
    with jaxgo.Leaves(position.size, LEAVES, PLAYOUTS, komi=komi) as device:
        return grown(device, position, playouts)


def grown(device: jaxgo.Leaves, position: jaxgo.Position, playouts: int) -> Node:
    """The same, by leaves that this device plays."""
    words, ko, passes, black = jaxgo.Leaves.arguments_of(position)
    root, stream = Node(jaxgo.STAY, visits=1), 1
    root.row = device.gather(device.submit(words, ko, passes, black, [jaxgo.STAY], [0]))
    while root.visits < playouts:
        paths: list[list[Node]] = []
        for _ in range(LEAVES):
            path = descend(root)
            if any(path[-1] is other[-1] for other in paths):  # it is on its way already
                for node in path:
                    node.visits -= PLAYOUTS
                break
            paths.append(path)
        parents = [path[-2].row for path in paths]
        found = device.gather(device.submit(
            np.concatenate([p.words for p in parents]), [int(p.ko[0]) for p in parents], [int(p.passes[0]) for p in parents],
            [bool(black[0]) == (len(path) % 2 == 0) for path in paths], [path[-1].move for path in paths],
            range(stream, stream + len(paths)),
        ))  # fmt: skip
        stream += len(paths)
        for i, path in enumerate(paths):
            path[-1].row = found.some(slice(i, i + 1))
            won = float(found.wins[i]) / 2  # of the player to move at the leaf, who is not the one who moved there
            for depth, node in enumerate(reversed(path)):
                node.wins += PLAYOUTS - won if depth % 2 == 0 else won
    return root


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--playouts", type=int, default=20_000)
    asked = parser.parse_args()
    tree = search(jaxgo.Position.empty(asked.size), asked.playouts)
    for child in sorted(tree.children, key=lambda c: -c.visits)[:5]:
        print(f"{jaxgo.coordinate(child.move, asked.size)}: {child.visits} playouts, {child.wins / child.visits:.1%} won")
