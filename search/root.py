"""What a tree says of its root: the move to play, the expected line, the statistics of every move."""

import dataclasses

import numpy as np

from jaxgo import MoveStatistics
from search.tree import FORBIDDEN, ROOT, Tree

#: How much better a pass must look than the best other move to be played while there is another.
PASS_GAIN = 0.02


@dataclasses.dataclass(frozen=True, eq=False)
class RootStatistics:
    """What a search knows of the root's moves; arrays [P + 1], rates from the view of the player to move."""

    black: bool
    """Whether Black is to move at the root."""
    visits: np.ndarray
    """int32: playouts through each move."""
    win_rate: np.ndarray
    """float64 in [0, 1], draws half; NaN without visits."""
    lead: np.ndarray
    """float64 points: mean area of the mover minus the other's, komi counted; NaN without visits, and in a full tree without a node."""
    lead_stdev: np.ndarray
    """float64 points: standard deviation of the lead over the playouts; NaN where `lead` is."""
    rave_visits: np.ndarray
    """What each point has earned, see `jaxgo.credits`."""
    rave_win_rate: np.ndarray
    """float64 in [0, 1]; NaN without any."""
    playable: np.ndarray
    """bool: moves that the search considers."""
    root_visits: int
    """Playouts in all."""
    root_win_rate: float
    """Their results' mean for the mover."""
    root_lead: float
    """Their mean lead, komi counted."""
    root_lead_stdev: float
    """Their leads' standard deviation."""

    @classmethod
    def of(cls, tree: Tree, black: bool, komi: float, under_way: np.ndarray | int = 0) -> "RootStatistics":
        """The statistics of a tree with Black or White to move at the root.

        Args:
          tree: the tree.
          black: whether Black is to move.
          komi: points that White gets.
          under_way: int32 [M + 1], visits that have no results yet: through each move, and last of the root in all.
        """
        under_way = np.broadcast_to(np.int32(under_way), tree.moves + 1)
        visits, rave = tree.visits[ROOT] - under_way[:-1], tree.rave_visits[ROOT, 0].copy()
        total, points = np.float64(tree.node_visits[ROOT] - under_way[-1]), komi if black else -komi
        nodes = np.maximum(tree.child[ROOT], ROOT)
        leads = np.where(nodes > 0, -tree.node_leads[nodes].astype(np.float64), np.nan)
        squares = np.where(nodes > 0, tree.node_squares[nodes], np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, root_mean = leads / visits, float(tree.node_leads[ROOT] / total)
            return cls(
                black=black, visits=visits, win_rate=tree.wins[ROOT] / (2.0 * visits),
                lead=mean - points, lead_stdev=np.sqrt(np.maximum(squares / visits - mean**2, 0.0)), rave_visits=rave,
                rave_win_rate=tree.rave_wins[ROOT, 0] / (2.0 * rave), playable=tree.child[ROOT] != FORBIDDEN,
                root_visits=int(total), root_win_rate=float(tree.node_wins[ROOT] / (2 * total)),
                root_lead=root_mean - points,
                root_lead_stdev=float(np.sqrt(np.maximum(tree.node_squares[ROOT] / total - root_mean**2, 0.0))),
            )  # fmt: skip

    def as_move_statistics(self) -> MoveStatistics:
        """The visits as `jaxgo.MoveStatistics` [1, P], the interface of all one-ply statistics; every playout weighs 1."""
        visits = self.visits[None, :-1].astype(np.float64)
        sums = np.stack([visits, visits * np.nan_to_num(self.win_rate[None, :-1]), visits], axis=-1)
        return MoveStatistics.from_sums(sums, self.root_visits)

    def as_json(self, name_of) -> dict:
        """Plain numbers, a dictionary for each move visited, the most visited first; `name_of(point)` names a move."""
        order = sorted(np.flatnonzero(self.visits), key=lambda m: (-int(self.visits[m]), int(m)))
        return {
            "visits": self.root_visits,
            "win_rate": self.root_win_rate,
            "lead": self.root_lead,
            "moves": [
                {
                    "move": name_of(int(m)),
                    "visits": int(self.visits[m]),
                    "win_rate": float(self.win_rate[m]),
                    "lead": None if np.isnan(self.lead[m]) else float(self.lead[m]),
                    "rave_visits": float(self.rave_visits[m]),
                    "rave_win_rate": None if np.isnan(self.rave_win_rate[m]) else float(self.rave_win_rate[m]),
                }
                for m in order
            ],
        }


def best_move(tree: Tree, *, wins_as_it_stands: bool, cleanup: bool) -> int:
    """The move to play at a root that is ready: the most visited; P passes.

    A pass is played when there is nothing else; when the other player has passed and the score as it stands wins; or when it is
    the most visited, the score as it stands wins, and every other move looks worse (as in a seki).

    Args:
      tree: the tree.
      wins_as_it_stands: whether the mover wins if the board is scored now.
      cleanup: whether the mover passes only where nothing else is left.
    """
    allowed, passing = tree.child[ROOT] != FORBIDDEN, tree.moves - 1
    others = allowed[:-1].any()
    if tree.passes[ROOT] == 1 and wins_as_it_stands and not (cleanup and others):
        return passing
    visits = np.where(allowed, tree.visits[ROOT], -1).astype(np.int64)
    # Equal visits: more wins, then the lower number.
    order = np.lexsort((np.arange(tree.moves), -tree.wins[ROOT], -visits))
    best = int(order[0])
    if best == passing and others:
        other = int(order[1])
        rate = tree.wins[ROOT] / np.maximum(2 * visits, 1)
        if cleanup or not wins_as_it_stands or (visits[other] > 0 and rate[best] < rate[other] + PASS_GAIN):
            return other
    return best


def variation(tree: Tree, move: int | None, most: int) -> list[int]:
    """The principal variation: the most visited moves from the root, or from `move` on."""
    node, line = ROOT, []
    while len(line) < most:
        visits = np.where(tree.child[node] == FORBIDDEN, 0, tree.visits[node])
        chosen = int(move) if move is not None and not line else int(visits.argmax())
        if visits[chosen] <= 0:
            break
        line.append(chosen)
        node = int(tree.child[node, chosen])
        if node <= 0:
            break
    return line


def visits_along(tree: Tree, line: list[int], first: int) -> list[int]:
    """Playouts through each move of a line that begins at the root; `first` are those of its first move that have results."""
    node, out = ROOT, []
    for move in line:
        # Playouts under way are in the tree already, but not among the first move's.
        out.append(min(int(tree.visits[node, move]), out[-1] if out else first))
        node = int(tree.child[node, move])
    return out
