"""The work that a query makes: a task for each position, which is searched or played out."""

import dataclasses
import itertools
import time

import numpy as np

import jaxgo
from jaxgo import Evaluation, Position
from search.analysis.games import Node, together
from search.analysis.query import Query
from search.game import turn as turn_of
from search.search import Search

#: Playouts that a search makes at least: all of the first ones start at the root, and there must be a move to tell of.
LEAST_VISITS = 192
_numbers = itertools.count()


@dataclasses.dataclass(eq=False)
class Task:
    """One position of a query, and how far it has come."""

    client: object
    query: Query
    turn: int
    priority: int
    position: Position
    """With the colour to move that the query means."""
    history: np.ndarray
    komi: float
    visits: int
    """Playouts to make."""
    seed: int
    with_tree: bool
    number: int = dataclasses.field(default_factory=lambda: next(_numbers))
    """In the order of arrival."""
    finished: bool = False
    """Whether the last reply has been given."""
    search: Search | None = None
    deadline: float | None = None
    next_report: float | None = None
    winding_up: bool = False
    """Whether the search has ended and the reply waits for the ownership."""

    @property
    def to_play(self) -> int:
        """1 Black, -1 White."""
        return int(self.position.to_play[0])

    def begin(self) -> None:
        """Starts the task's clocks."""
        now, query = time.monotonic(), self.query
        self.deadline = None if query.seconds is None else now + query.seconds
        if query.report_every is not None:
            self.next_report = now + (query.report_every if query.first_report is None else query.first_report)

    def report_is_due(self) -> bool:
        """Whether to report now; then the next report is set."""
        now = time.monotonic()
        if self.next_report is None or now < self.next_report:
            return False
        self.next_report = now + self.query.report_every
        return True

    def late(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline


def tasks_of(query: Query, line: list[Node], client, *, visits: int, playouts: int, seed: int) -> list[Task]:
    """A task for each turn of a query.

    Args:
      query: the query.
      line: the game's positions.
      client: who asks.
      visits: playouts of a search where the query does not say.
      playouts: playouts of an evaluation without a tree where the query does not say.
      seed: where the query does not say.
    """
    asked = query.visits if query.visits is not None else visits
    with_tree = query.playouts is None and asked > 1
    number = max(asked, LEAST_VISITS) if with_tree else query.playouts if query.playouts is not None else playouts
    tasks = []
    for turn, priority in zip(query.turns, query.priorities):
        node = line[turn]
        position = turn_of(node.position, node.to_play)
        tasks.append(
            Task(
                client, query, turn, priority, position, node.history, query.komi_at(turn), number,
                seed if query.seed is None else query.seed, with_tree,
            )
        )  # fmt: skip
    return tasks


class Batch:
    """Tasks of playouts alone that go to the device together: of one size, komi, seed and number of playouts.

    All positions have stream 0, so that what a position gets does not depend on which others are in the batch.
    """

    def __init__(self, tasks: list[Task]):
        self.tasks = tasks
        first = tasks[0]
        self._position = together([task.position for task in tasks])
        self._komi, self._seed, self._playouts = first.komi, first.seed, first.visits
        self.issued, self._found = 0, None

    @staticmethod
    def key(task: Task) -> tuple:
        """Tasks with one key may share a batch."""
        return task.query.size, task.komi, task.seed, task.visits

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits for a result."""
        return not all(task.finished for task in self.tasks)

    @property
    def all_issued(self) -> bool:
        """Whether all playouts have been handed out."""
        return self.issued == self._playouts

    @property
    def complete(self) -> bool:
        """Whether all playouts have been made."""
        return self._found is not None and int(self._found.num_playouts[0]) == self._playouts

    def slice(self, budget: int):
        """The next playouts, about so many in all: a function that plays them, for any thread."""
        count = min(max(budget // len(self.tasks), 1), self._playouts - self.issued)
        first, self.issued = self.issued, self.issued + count
        return lambda: jaxgo.evaluate(self._position, count, komi=self._komi, seed=self._seed, first_playout=first, streams=0)

    def add(self, part: Evaluation) -> None:
        """Adds the result of a slice."""
        self._found = part if self._found is None else self._found.plus(part)

    def result(self, index: int) -> Evaluation:
        """What is known of a task's position so far."""
        return self._found[index]
