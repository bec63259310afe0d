"""What a tree says of its root: the move to play, the expected line, the statistics of every move."""

import dataclasses
import functools

import numpy as np

from jaxgo.results import outcome
from search.tree import Tree

#: How much better a pass must look than the best other move to be played while there is another.
PASS_GAIN = 0.02


@dataclasses.dataclass(frozen=True, eq=False)
class RootStatistics:
    """What a search knows of the root's moves; arrays [P + 1], rates from the view of the player to move."""

    black: bool
    """Whether Black is to move at the root."""
    visits: np.ndarray
    """int64: playouts through each move."""
    win_rate: np.ndarray
    """float64 in [0, 1], draws half; NaN without visits."""
    lead: np.ndarray
    """float64 points: mean area of the mover minus the other's, komi counted; NaN without visits, and for moves of which a full
    tree has forgotten it."""
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
    def of(cls, tree: Tree, black: bool, komi: float, losses: int, playouts: int) -> "RootStatistics":
        """The statistics of a tree with Black or White to move at the root; playouts on their way do not count yet.

        Args:
          tree: the tree.
          black: whether Black is to move.
          komi: points that White gets.
          losses: of so many playouts on their way so many count as lost meanwhile, as in `Tree.found`.
          playouts: see there.
        """
        root, points = tree[tree.root], komi if black else -komi
        visits, wins, leads, squares = tree.found(tree.root, losses, playouts)
        rave = tree.rave(tree.root)[0] if tree.rave_colours else np.zeros((2, tree.moves))
        total = np.float64(root["visits"] - root["pending"])
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, root_mean = leads / visits, float(root["leads"] / total)
            return cls(
                black=black, visits=visits.astype(np.int64), win_rate=wins / (2.0 * visits),
                lead=mean - points, lead_stdev=np.sqrt(np.maximum(squares / visits - mean**2, 0.0)), rave_visits=rave[0],
                rave_win_rate=rave[1] / (2.0 * rave[0]), playable=tree.open(tree.root) & tree.ready,
                root_visits=int(total), root_win_rate=float(root["wins"] / (2 * total)), root_lead=root_mean - points,
                root_lead_stdev=float(np.sqrt(np.maximum(root["squares"] / total - root_mean**2, 0.0))),
            )  # fmt: skip

    def as_json(self, name_of) -> dict:
        """Plain numbers, None for what is not known; a dictionary for each move visited, the most visited first.

        `name_of(point)` names a move.
        """
        order = sorted(np.flatnonzero(self.visits), key=lambda m: (-int(self.visits[m]), int(m)))
        return {
            "visits": self.root_visits,
            "win_rate": None if np.isnan(self.root_win_rate) else self.root_win_rate,
            "lead": None if np.isnan(self.root_lead) else self.root_lead,
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


def result_as_it_stands(tree: Tree, black: bool, komi: float) -> int:
    """The result of the mover at the root, Black or White, if the board is scored now, in halves (`jaxgo.results.outcome`)."""
    margin = int(tree[tree.root]["margin"])
    bounds = _bounds(komi, tree.moves - 1)
    return int(outcome.of_mover(np.int64(margin if black else -margin), bounds, np.bool_(black)))


_bounds = functools.lru_cache(outcome.bounds)


def best_move(tree: Tree, *, as_it_stands: int, cleanup: bool) -> int:
    """The move to play at a root that is ready: the most visited; P passes.

    A pass is played when there is nothing else; when the other player has passed and the score as it stands wins; or when it is
    the most visited, the score as it stands does not lose, and every other move looks worse (as in a seki). Where the other has
    passed, a pass brings for sure what the score says, a draw for example, and no other move needs to look worse by any margin.

    Args:
      tree: the tree.
      as_it_stands: the mover's result if the board is scored now, in halves.
      cleanup: whether the mover passes only where nothing else is left.
    """
    allowed, passing = tree.open(tree.root), tree.moves - 1
    others, after_pass = allowed[:-1].any(), tree[tree.root]["passes"] == 1
    if after_pass and allowed[passing] and as_it_stands == outcome.WIN and not (cleanup and others):
        return passing
    visits, wins = tree.visits_and_wins(tree.root)
    visits = np.where(allowed, visits, -1)
    # Equal visits: more wins, then the lower number; where nothing has been tried yet, what is expected.
    expected = np.zeros(tree.moves) if (visits > 0).any() else _expected(tree)
    order = np.lexsort((np.arange(tree.moves), -expected, -wins, -visits))
    best = int(order[0])
    if best == passing and others:
        other = int(order[1])
        rate = wins / np.maximum(2 * visits, 1)
        gain = 0.0 if after_pass else PASS_GAIN
        if cleanup or as_it_stands == outcome.LOSS or (visits[other] > 0 and rate[best] < rate[other] + gain):
            return other
    return best


def _expected(tree: Tree) -> np.ndarray:
    """float64 [P + 1] in [-1, 1]: what is known of the root's moves before any is tried, from playouts of the root that made them
    later on and from prior playouts: their win rate; -1 for the pass, and where there is nothing."""
    won, played = np.zeros((2, tree.moves))
    if tree.rave_colours:
        visits, wins = tree.rave(tree.root)[0]
        won, played = won + wins / 2, played + visits
    if len(tree.memory.priors):
        priors = tree.memory.priors[tree.root]
        won, played = won + priors[0], played + priors.sum(axis=0)
    expected = np.where(played > 0, won / np.maximum(played, 1), -1.0)
    expected[-1] = -1.0
    return expected


def visits_along(tree: Tree, line: list[int], first: int) -> list[int]:
    """Playouts through each move of a line that begins at the root; `first` are those of its first move that have results."""
    node = tree.root
    out: list[int] = []
    for move in line:
        # Playouts under way are in the tree already, but not among the first move's.
        out.append(min(int(tree.visits(node)[move]), out[-1] if out else first))
        node = tree.child(node, move)
    return out
