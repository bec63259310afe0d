"""Players: bots that choose a move for a position, by name.

Flat bots play random games from the position and choose by the statistics of its moves; tree bots search. `make_player` makes one
from its name; `search.bots` says what each is.
"""

from typing import Protocol

import numpy as np

from jaxgo import Position
from jaxgo.base import checks
from search.bots import SUMMARIES
from search.choice import Choice, Limits, Progress, Stop, passing, passing_wins
from search.flat import FlatPlayer, FlatSearch
from search.search import Search
from search.selection import UCB1, Rave


class Player(Protocol):
    """What every bot offers."""

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        """Chooses a move.

        Args:
          position: one position that is not over.
          history: uint32 [n, 2], hashes of the game's earlier positions (`Game.history`).
          limits: how long to think.
          progress: called now and then with the number of playouts so far.
          stop: asked now and then, in this thread; once it returns True the choice is made from what there is. It belongs to
            the caller, so that a request made before the call counts too.
        """

    def compile(self, size: int) -> None:
        """Compiles for a board size, so that no clock runs meanwhile."""

    def prepare(self, position: Position, history: np.ndarray | None) -> "Search | FlatSearch":
        """The search of a position, to be run and looked at step by step; `choice` is what it would play."""

    def choice(self) -> Choice:
        """What the search prepared last would play now."""


class TreePlayer:
    """A bot that searches, and keeps the part of its tree that the game follows.

    Args:
      rule: a rule of selection.
      resign: win rate below which it resigns; 0 never does.
      **options: of `search.Search`.
    """

    def __init__(self, rule, *, resign: float = 0.0, **options):
        self.rule, self.resign, self.options = rule, resign, options
        self.search: Search | None = None

    def compile(self, size: int) -> None:
        Search(Position.empty(size), rule=self.rule, **self.options).compile()

    def prepare(self, position: Position, history: np.ndarray | None) -> Search:
        """The search of a position: the present one, moved on or back, where the game has gone there."""
        if self.search is not None and not self._follow(position, history):
            self.search.close()
            self.search = None
        if self.search is None:
            self.search = Search(position, rule=self.rule, history=history, **self.options)
        return self.search

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        search = self.prepare(position, history)
        if passing_wins(position, search.komi) and not search.cleanup:
            return passing(position.size**2)
        search.run(visits=limits.visits, seconds=limits.seconds, progress=progress, stop=stop)
        return self.choice()

    def choice(self) -> Choice:
        """What the search would play now."""
        search = self.search
        found, move = search.statistics(), search.best()
        rate = float(found.win_rate[move])
        return Choice(
            move, rate < self.resign, rate, found.visits, found.win_rate, found.root_visits, search.variation(move), found
        )

    def _follow(self, position: Position, history: np.ndarray | None) -> bool:
        """Moves the search on to a position at most two moves ahead in its tree, or in that of an earlier root."""
        search = self.search
        if search.position.size != position.size:
            return False
        line = search.line_to(position, history)
        while line is None and search.retreat():
            line = search.line_to(position, history)
        for move in line or ():
            search.advance(move)
        return line is not None


#: The rules of the tree bots, by name.
_TREES = {
    "rave": Rave(), "grave": Rave(reference_visits=400), "uct": UCB1(), "rave-v1": Rave(credit="weighted_v1"),
    "rave-v2": Rave(credit="weighted_v2"), "rave-mctr": Rave(credit="mctr_simple"), "ucb": UCB1(),
}  # fmt: skip
#: The credit rules of the flat bots.
_FLAT = {
    "amaf": "amaf", "wamaf": "weighted_v1", "wamaf2": "weighted_v2", "mctr": "mctr_simple", "mctr-capture": "mctr_capture",
    "mc": "first_move", "amaf-first-twice": "amaf_first_twice", "mctr-whole": "mctr_whole",
}  # fmt: skip
#: Options that only tree bots have.
_OF_TREES = ("rule", "leaves", "playouts_per_leaf", "memory", "updates", "in_flight")


def has_tree(bot: str) -> bool:
    """Whether a bot searches, by a rule of selection."""
    return bot in _TREES


def rule_of(bot: str):
    """The rule of selection of a tree bot.

    Raises:
      ValueError: it has none.
    """
    checks.one_of("the bot with settings of a rule", bot, tuple(_TREES))
    return _TREES[bot]


def search_options(bot: str) -> dict[str, object]:
    """The options of `search.Search` that make a tree bot what it is.

    Raises:
      ValueError: it has no tree.
    """
    return {"rule": rule_of(bot)} | ({"depth": 1} if bot == "ucb" else {})


def make_player(bot: str, **options) -> Player:
    """A player by its name in `search.bots.SUMMARIES`.

    Args:
      bot: the name.
      **options: of `FlatPlayer` or `TreePlayer`; flat bots ignore those that only a tree has. `rule` replaces a tree bot's own.

    Raises:
      ValueError: no such bot.
    """
    checks.one_of("bot", bot, tuple(SUMMARIES))
    if bot in _FLAT:
        return FlatPlayer(_FLAT[bot], **{k: v for k, v in options.items() if k not in _OF_TREES})
    return TreePlayer(**(search_options(bot) | options))
