"""Players: bots that choose a move for a position, by name.

Flat bots play random games from the position and choose by the statistics of its moves; tree bots search. `make_player` makes one
from its name; `search.bots` says what each is.
"""

import dataclasses
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxgo import Position
from jaxgo.base import checks
from jaxgo.playing.policies.in_order import Policies, are_of_place, begun, from_here
from search.bots import SUMMARIES
from search.choice import Choice, Limits, Player, Progress, Stop, check_thinking, passing, passing_wins, searched
from search.flat import FlatPlayer
from search.game import check_one_position
from search.in_steps import Question, Steps
from search.knowledge import Knowledge
from search.lessons import lessons_of, seconds_of
from search.search import Search
from search.search_options import check_all
from search.selection import UCB1, Rave, Rule
from search.shared import SharedLeaves

#: No move is chosen before this share of its time has passed: the rate of playouts must be known.
EARLIEST = 0.1
#: How much faster the rest of the time may turn out to be.
HURRY = 1.25
#: A move that has been tried this share as often as the best is its rival.
RIVAL = 0.25


#: Options of `search.Search` that are not a bot's own or a position's.
_OF_SEARCHES = tuple(sorted({*inspect.signature(Search).parameters} - {"position", "rule", "history", "policy"}))


class TreePlayer(Player):
    """A bot that searches, and keeps the part of its tree that the game follows.

    Args:
      rule: a rule of selection.
      resign: win rate below which it resigns, 0 to 1; 0 never does.
      early: whether to choose before a time limit once nothing that may still be played out can change the move.
      policy: whom playouts ask; those that have no table learn while the bot plays (`search.lessons`).
      **options: of `search.Search`.

    Raises:
      TypeError: there is no such option.
      ValueError: `resign` is out of range, or a policy is to learn, and searches are to share a device.
    """

    def __init__(self, rule, *, resign: float = 0.0, early: bool = False, policy: Policies = None, **options):
        resign = checks.number("resign", resign, 0, 1)
        checks.boolean("early", early)
        unknown = [name for name in options if name not in _OF_SEARCHES]
        if unknown:
            raise TypeError(f"{unknown[0]} is no option of a bot with a tree; they are {', '.join(_OF_SEARCHES)}")
        check_all({"rule": rule, **options})
        self.rule, self.resign, self.early, self.policy, self.options = rule, resign, early, policy, options
        self.search: Search | None = None
        of_lessons = {name: options[name] for name in ("komi", "seed", "devices", "stream") if name in options}
        self._lessons = lessons_of(policy, **of_lessons)
        if self._lessons is not None and options.get("device") is not None:
            raise ValueError("policy has one that learns, which searches that share a device cannot have")

    def compile(self, size: int) -> None:
        if self._lessons is not None:
            self._lessons.compile(size)
        self._search(Position.empty(size), self._begun(size)).compile()

    def fixed_policy(self, position: Position) -> Policies:
        """Whom playouts from a position ask, if that does not learn; otherwise None."""
        return from_here(self._begun(position.size), position) if self._lessons is None else None

    def _search(self, position: Position, policy: Policies, **options) -> Search:
        return Search(position, rule=self.rule, policy=policy, **self.options, **options)

    def _begun(self, size: int) -> Policies:
        """The policies before they have learned anything."""
        return begun(self.policy, size)

    def prepare(self, position: Position, history: np.ndarray | None, seconds: float | None = None) -> Search:
        """The search of a position: the present one, moved on or back, where the game has gone there."""
        check_one_position(position)
        if self.search is not None and not self._follow(position, history):
            self.search.close()
            self.search = None
        policy = self._begun(position.size)
        if self.search is None:
            self.search = self._search(position, policy, history=history)
        is_shared = self.options.get("device") is not None  # and plays by the policy that it was made for
        if self._lessons is not None or (are_of_place(policy) and not is_shared):
            known = policy if self._lessons is None else self._lessons.hold(position, seconds)
            self.search.play_by(from_here(known, position))
        return self.search

    def genmove(
        self, position: Position, history: np.ndarray | None, limits: Limits, progress: Progress = None, stop: Stop = None
    ) -> Choice:
        check_thinking(limits, progress, stop)
        before = seconds_of(self._lessons)
        search = self.prepare(position, history, limits.seconds)
        if passing_wins(position, search.komi, search.restrictions) and not search.cleanup:
            return passing(position.size**2)
        seconds = limits.seconds
        if seconds is not None:
            seconds = max(0.0, seconds - (seconds_of(self._lessons) - before))
            stop = _or_decided(search, seconds, stop) if self.early else stop
        search.run(visits=limits.visits, seconds=seconds, progress=progress, stop=stop)
        return self.choice()

    def genmove_in_steps(self, position: Position, history: np.ndarray | None, limits: Limits) -> Steps[Choice]:
        check_thinking(limits)
        device = self.options.get("device")
        if device is None or limits.seconds is not None:
            return self.genmove(position, history, limits)
        search = self.prepare(position, history)
        if passing_wins(position, search.komi, search.restrictions) and not search.cleanup:
            return passing(position.size**2)
        yield Question(OfSearches(device), (search, limits.visits))
        return self.choice()

    @property
    def torn(self) -> bool:
        """Whether another move has the better results than the one that the search would play, among those tried about as
        often: more time may change its mind."""
        search = self.search
        if search is None or not search.tree.ready:
            return False
        found = search.statistics()
        best = int(found.visits.argmax())
        rivals = (found.visits >= RIVAL * found.visits[best]) & (found.visits > 0)
        return bool(found.win_rate[rivals].max(initial=0.0) > found.win_rate[best])

    def choice(self) -> Choice:
        """What the search would play now.

        Raises:
          ValueError: there has been none.
        """
        search = searched(self.search)
        found, move = search.statistics(), search.best()
        rate = float(found.win_rate[move])
        line = search.variation(move) or [move]  # where there are no playouts after it
        return Choice(move, rate < self.resign, rate, found.visits, found.win_rate, found.root_visits, line, found)

    def _follow(self, position: Position, history: np.ndarray | None) -> bool:
        """Moves the search on to a position at most two moves ahead in its tree, or in that of an earlier root."""
        search = searched(self.search)
        if search.position.size != position.size:
            return False
        line = search.line_to(position, history)
        while line is None and search.retreat():
            line = search.line_to(position, history)
        for move in line or ():
            search.advance(move)
        return line is not None


@dataclasses.dataclass(frozen=True)
class OfSearches:
    """The kind of questions that searches which share a device answer: (search, visits), each of which is run to so many."""

    device: SharedLeaves
    long = True

    def answers(self, questions: Sequence[tuple[Search, int]], stop: Callable[[], bool]) -> Sequence[None]:
        self.device.run(questions, stop)
        return [None] * len(questions)


def _or_decided(search: Search, seconds: float, stop: Stop) -> Callable[[], bool]:
    """A `stop` that also says so once the second move by visits cannot catch up with the first in what is left of the time."""
    begun: list[tuple[float, int]] = []  # when the search asks first: what it needs is compiled then

    def ended() -> bool:
        if stop is not None and stop():
            return True
        if not begun:
            begun.append((time.monotonic(), search.visits))
        start, before = begun[0]
        passed = time.monotonic() - start
        if passed < EARLIEST * seconds or not search.tree.ready:
            return False
        second, first = np.sort(search.tree.visits(search.tree.root))[-2:]
        return first - second > HURRY * (search.visits - before) / passed * (seconds - passed)

    return ended


#: The rules of the tree bots, by name.
_TREES: dict[str, Rule] = {
    "rave": Rave(), "grave": Rave(reference_visits=400), "uct": UCB1(), "rave-v1": Rave(credit="weighted_v1"),
    "rave-v2": Rave(credit="weighted_v2"), "rave-mctr": Rave(credit="mctr_simple"), "ucb": UCB1(),
}  # fmt: skip
#: The credit rules of the flat bots.
_FLAT = {
    "amaf": "amaf", "wamaf": "weighted_v1", "wamaf2": "weighted_v2", "mctr": "mctr_simple", "mctr-capture": "mctr_capture",
    "mc": "first_move", "amaf-first-twice": "amaf_first_twice", "mctr-whole": "mctr_whole",
}  # fmt: skip
#: Options that only tree bots have.
_OF_TREES = {"rule", "early"} | ({*_OF_SEARCHES} - {*inspect.signature(FlatPlayer).parameters})


def has_tree(bot: str) -> bool:
    """Whether a bot searches, by a rule of selection."""
    return bot in _TREES


def is_flat(bot: str) -> bool:
    """Whether a bot looks one move ahead, with a tree of so much or none."""
    return bot in _FLAT or search_options(bot).get("depth") == 1


def rule_of(bot: str, knowledge: bool | None = None) -> Rule:
    """The rule of selection of a tree bot, with or without prior playouts, or by default as the bot has them.

    Raises:
      TypeError: `knowledge` is neither True nor False nor None.
      ValueError: it has none.
    """
    checks.one_of("the bot with settings of a rule", bot, tuple(_TREES))
    if knowledge is not None:
        checks.boolean("knowledge", knowledge)
    rule = _TREES[bot]
    if knowledge is None or knowledge == (rule.knowledge is not None):
        return rule
    return dataclasses.replace(rule, knowledge=Knowledge() if knowledge else None)


def search_options(bot: str, knowledge: bool | None = None) -> dict[str, Any]:
    """The options of `search.Search` that make a tree bot what it is; the arguments are those of `rule_of`.

    Raises:
      ValueError: it has no tree.
    """
    return {"rule": rule_of(bot, knowledge)} | ({"depth": 1} if bot == "ucb" else {})


def make_player(bot: str, *, knowledge: bool | None = None, **options) -> Player:
    """A player by its name in `search.bots.SUMMARIES`.

    Args:
      bot: the name: rave, grave, uct, rave-v1, rave-v2, rave-mctr and ucb have a tree; amaf, wamaf, wamaf2, mctr,
        mctr-capture and mc have none, nor have the controls amaf-first-twice and mctr-whole.
      knowledge: whether a tree bot's moves have prior playouts (`search.Knowledge`); by default as the bot has them.
      **options: of `FlatPlayer` or `TreePlayer`; flat bots ignore those that only a tree has. `rule` replaces a tree bot's own.

    Raises:
      TypeError: there is no such option.
      ValueError: no such bot, or both a rule and whether it has knowledge.
    """
    checks.one_of("bot", bot, tuple(SUMMARIES))
    if knowledge is not None and options.get("rule") is not None:
        raise ValueError("knowledge must not be given with a rule, which has its own")
    if bot in _FLAT:
        return FlatPlayer(_FLAT[bot], **{k: v for k, v in options.items() if k not in _OF_TREES})
    given = {name: value for name, value in options.items() if name != "rule" or value is not None}
    return TreePlayer(**(search_options(bot, knowledge) | given))
