"""Rules of selection: how much a tree search wants to try each move of a node.

Every rule is a small object with `values`, the only thing that the search asks of it, and with what it needs in the tree. Values
are for the player to move at the node; results are in halves (win 2, draw 1, loss 0).
"""

import dataclasses

import numpy as np

from jaxgo.base import checks


@dataclasses.dataclass(frozen=True)
class Counts:
    """What is known of nodes' moves; arrays that broadcast to [rows, M]."""

    node_visits: np.ndarray
    """Playouts through the node."""
    visits: np.ndarray
    """Playouts through each move, those on their way included as losses."""
    wins: np.ndarray
    """The mover's results in them, in halves."""
    rave_visits: np.ndarray
    """What each point has earned as if it had been played first."""
    rave_wins: np.ndarray
    """Times the results, in halves."""

    def rows(self, index) -> "Counts":
        """The counts of some nodes."""
        return Counts(*(x[index] for x in (self.node_visits, self.visits, self.wins, self.rave_visits, self.rave_wins)))

    def moves_of(self, index: np.ndarray, moves: np.ndarray) -> "Counts":
        """The counts of some nodes [n] and some of their moves, which may be others for each, [n, any]."""
        place = (index[:, None], moves)
        return Counts(self.node_visits[index], self.visits[place], self.wins[place], self.rave_visits[place], self.rave_wins[place])

    def after(self, losses: np.ndarray) -> "Counts":
        """The counts [rows, steps, M] after each move alone has got so many losses (playouts), [rows or 1, steps, 1]."""
        return Counts(
            self.node_visits[:, None] + losses, self.visits[:, None] + losses, self.wins[:, None],
            self.rave_visits[:, None], self.rave_wins[:, None],
        )  # fmt: skip


def _number(name: str, value, least: float, most: float = np.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least} to {most}, not {value!r}")


@dataclasses.dataclass(frozen=True)
class UCB1:
    """Upper confidence bounds, `Q + exploration * sqrt(ln(parent visits) / visits)`: UCT as in Teresa, a C program.

    An unvisited move is worth `first_play`, instead of infinity.
    """

    exploration: float = 0.35
    first_play: float = 1.1

    credit = None
    """The credit rule (see `jaxgo.credits`) that feeds `rave_visits`; None without any."""
    reference_visits = 0
    """A node with fewer visits takes its points' earnings from the nearest ancestor that has as many (GRAVE)."""
    strict = True

    def __post_init__(self):
        _number("exploration", self.exploration, 0)
        _number("first_play", self.first_play, 0)

    def values(self, counts: Counts) -> np.ndarray:
        """float64 [rows, M]."""
        visits = np.maximum(counts.visits, 0.5)
        bound = self.exploration * np.sqrt(np.log(np.maximum(counts.node_visits, 1)) / visits)
        return np.where(counts.visits > 0, counts.wins / (2 * visits) + bound, self.first_play)


#: Added to numbers of playouts so that none is 0: far below what rounding takes away from 1.
NOTHING = 1e-20
#: Schedules of `Rave`.
SCHEDULES = ("mse", "hand")
#: Credit rules that can feed `Rave`: first plays, weighted first plays, weighted own plays, and MCTR's prefixes.
CREDITS = ("amaf", "weighted_v1", "weighted_v2", "mctr_simple")


@dataclasses.dataclass(frozen=True)
class Rave:
    """Rapid action value estimation: `(1 - beta) Q + beta Q_rave` (Gelly and Silver, "Combining online and offline knowledge in
    UCT", 2007, and Gelly's pseudo code of 2009, corrected).

    Args:
      schedule: "mse", `beta = rc / (rc + c + rc c b)`, b = bias**2 / 0.25, from the minimal mean squared error; or "hand",
        `beta = sqrt(k / (3 n + k))`, for c visits of the move, rc RAVE visits, n visits of the node.
      bias: of the RAVE value, 0 to 1.
      k: the equivalence parameter of the hand-selected schedule.
      exploration: weight of a UCB1 term; the best published is 0.
      first_play: value of a move of which nothing is known.
      credit: what feeds the RAVE statistics, one of `CREDITS`.
      strict: the papers' first plays, by either colour after the node; otherwise those of Gelly's posted code, which in the tree
        looks at the own colour only.
      reference_visits: 0, or GRAVE (Cazenave, "Generalized rapid action value estimation", 2015): a node with fewer visits than
        this uses the RAVE statistics of its nearest ancestor that has them.
    """

    schedule: str = "mse"
    bias: float = 0.01
    k: float = 1000.0
    exploration: float = 0.0
    first_play: float = 1.1
    credit: str = "amaf"
    strict: bool = True
    reference_visits: int = 0

    def __post_init__(self):
        checks.one_of("schedule", self.schedule, SCHEDULES)
        checks.one_of("credit", self.credit, CREDITS)
        _number("bias", self.bias, 0, 1)
        _number("k", self.k, 0)
        _number("exploration", self.exploration, 0)
        _number("first_play", self.first_play, 0)
        checks.integer("reference_visits", self.reference_visits, 0)
        if self.credit != "amaf" and (self.reference_visits or not self.strict):
            raise ValueError(f"reference_visits and strict=False are for credit='amaf', not {self.credit!r}")

    def values(self, counts: Counts) -> np.ndarray:
        """float64 [rows, M]."""
        c, w, rc, rw = counts.visits, counts.wins, counts.rave_visits, counts.rave_wins
        if self.schedule == "mse":
            # (1 - beta) w/2c + beta rw/2rc over the common denominator rc + c + rc c b: no division by c or rc, and no limits.
            b = self.bias**2 / 0.25
            # Where nothing is known, a next to nothing decides.
            weight = 1 + b * rc
            value = (0.5 * (rw + weight * w) + NOTHING * self.first_play) / (c * weight + (rc + NOTHING))
        else:
            beta = hand_selected_beta(counts.node_visits, self.k)
            beta = np.where(rc > 0, np.where(c > 0, beta, 1.0), 0.0)
            value = (1 - beta) * w / (2 * np.maximum(c, 0.5)) + beta * rw / (2 * np.maximum(rc, 1e-12))
            value = np.where((c > 0) | (rc > 0), value, self.first_play)
        if self.exploration:
            value = value + self.exploration * np.sqrt(np.log(np.maximum(counts.node_visits, 1)) / np.maximum(c, 0.5))
        return value


def minimum_mse_beta(c, rc, bias: float):
    """The weight of the RAVE value that minimises the mean squared error, for c visits and rc RAVE visits, not both 0."""
    return rc / (rc + c + rc * c * (bias**2 / 0.25))


def hand_selected_beta(n, k: float):
    """The weight of the RAVE value at a node of n visits; one half at n = k."""
    return np.sqrt(k / (3.0 * n + k))
