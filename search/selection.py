"""Rules of selection: how much a tree search wants to try each move of a node.

Here are their names and numbers, checked; `search.values` works them out.
"""

import dataclasses
from typing import ClassVar, NamedTuple, TypeAlias

from jaxgo.base import checks
from search.knowledge import Knowledge

#: Kinds of rules.
UCT, RAVE_MSE, RAVE_HAND = range(3)


class RuleNumbers(NamedTuple):
    """A rule as the compiled loops read it."""

    kind: int
    """UCT, RAVE_MSE or RAVE_HAND."""
    first_play: float
    exploration: float
    b: float
    """bias**2 / 0.25, of the schedule "mse"."""
    k: float
    """Of the schedule "hand"."""
    reference_visits: int


def _check_knowledge(value) -> None:
    if value is not None and not isinstance(value, Knowledge):
        raise TypeError(f"knowledge must be a search.Knowledge or None, not {value!r}")


def _check_numbers(rule: "UCB1 | Rave", *names: str) -> None:
    """Makes floats of what was given as numbers from 0, which may be of any type and precision."""
    for name in names:
        object.__setattr__(rule, name, checks.number(name, getattr(rule, name), 0))


@dataclasses.dataclass(frozen=True)
class UCB1:
    """Upper confidence bounds, `Q + exploration * sqrt(ln(parent visits) / visits)`: UCT as in Teresa, a C program.

    Args:
      exploration: a number from 0.
      first_play: what an unvisited move is worth, instead of infinity; a number from 0.
      knowledge: prior playouts of moves; None without any.

    Raises:
      ValueError: a number is out of range.
    """

    exploration: float = 0.35
    first_play: float = 1.1
    knowledge: Knowledge | None = None
    """Prior playouts of moves; None without any."""

    credit: ClassVar[str | None] = None
    """The credit rule (see `jaxgo.credits`) that feeds `rave_visits`; None without any."""
    reference_visits: ClassVar[int] = 0
    """A node with fewer visits takes its points' earnings from the nearest ancestor that has as many (GRAVE)."""
    strict: ClassVar[bool] = True

    def __post_init__(self):
        _check_numbers(self, "exploration", "first_play")
        _check_knowledge(self.knowledge)

    @property
    def numbers(self) -> RuleNumbers:
        """For the compiled loops."""
        return RuleNumbers(UCT, self.first_play, self.exploration, 0.0, 0.0, 0)


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
      knowledge: prior playouts of moves, which count as visits do; None without any.
    """

    schedule: str = "mse"
    bias: float = 0.01
    k: float = 1000.0
    exploration: float = 0.0
    first_play: float = 1.1
    credit: str = "amaf"
    strict: bool = True
    reference_visits: int = 0
    knowledge: Knowledge | None = None

    def __post_init__(self):
        checks.one_of("schedule", self.schedule, SCHEDULES)
        checks.one_of("credit", self.credit, CREDITS)
        _check_numbers(self, "k", "exploration", "first_play")
        object.__setattr__(self, "bias", checks.number("bias", self.bias, 0, 1))
        checks.boolean("strict", self.strict)
        checks.integer("reference_visits", self.reference_visits, 0)
        _check_knowledge(self.knowledge)
        if self.credit != "amaf" and (self.reference_visits or not self.strict):
            raise ValueError(f"reference_visits and strict=False are for credit='amaf', not {self.credit!r}")

    @property
    def numbers(self) -> RuleNumbers:
        """For the compiled loops."""
        kind = RAVE_MSE if self.schedule == "mse" else RAVE_HAND
        b = self.bias**2 / 0.25
        return RuleNumbers(kind, self.first_play, self.exploration, b, self.k, int(self.reference_visits))


Rule: TypeAlias = UCB1 | Rave
"""A rule of selection."""
