"""The work that a query makes: a task for each position, which is searched or played out."""

import dataclasses
import itertools
import json
import time
from typing import Any

import numpy as np

from jaxgo import Evaluation, Position
from search.analysis.fields import QueryError
from search.analysis.games import Games
from search.analysis.options import ServiceOptions
from search.analysis.query import Query
from search.game import legal_moves
from search.search import Search

#: Playouts that a search makes at least: all of the first ones start at the root, and there must be a move to tell of.
LEAST_PLAYOUTS = 192
#: Bytes of a task that waits.
_BYTES = 1_200
_numbers = itertools.count()


@dataclasses.dataclass(eq=False)
class Task:
    """One position of a query, and how far it has come."""

    client: Any
    """Who is told of it (`service.Client`), or stands in for him in another process."""
    query: Query
    turn: int
    priority: int
    komi: float
    playouts: int
    """To make."""
    seed: int
    with_tree: bool
    cost: int = 0
    """Bytes that it takes while it is pending, its tree apart."""
    number: int = dataclasses.field(default_factory=lambda: next(_numbers))
    """In the order of arrival."""
    waiting: bool = True
    """Whether it has not begun."""
    finished: bool = False
    """Whether the last reply has been given; the client sees to that."""
    position: Position | None = None
    """With the colour to move that the query means; None until it is needed, as are the next two."""
    history: np.ndarray | None = None
    """uint64 [n]: hashes of the earlier positions."""
    legal: np.ndarray | None = None
    """bool [P + 1]: where the mover may play, superko counted; for queries that want the policy."""
    issued: int = 0
    """Without a tree: playouts that have been handed out."""
    found: Evaluation | None = None
    """What those have found that are finished; None before any are."""
    search: Search | None = None
    memory: int = 0
    """Bytes that its tree may take."""
    deadline: float | None = None
    next_report: float | None = None
    reporting: bool = False
    """Whether a report waits for its ownership."""
    stopped: bool = False
    """Whether the client has had enough, and is to be told what there is."""
    winding_up: bool = False
    """Whether the search has ended and the reply waits for the ownership."""
    last_step: int = 0
    """When its search was last seen to."""

    @property
    def waits(self) -> bool:
        """Whether it is still to begin."""
        return self.waiting and not self.finished

    @property
    def key(self) -> tuple[int, int]:
        """Tasks with one key can be played out together."""
        return self.query.size, self.seed

    @property
    def left(self) -> int:
        """Playouts that have not been handed out."""
        return self.playouts - self.issued

    @property
    def made(self) -> int:
        """Playouts that are finished."""
        return 0 if self.found is None else int(self.found.num_playouts)

    @property
    def to_play(self) -> int:
        """1 Black, -1 White."""
        return self.query.to_play(self.turn)

    def prepare(self, games: Games) -> None:
        """Finds the position and what belongs to it; for any thread."""
        query = self.query
        place = games.at(query.size, query.stones, query.first, query.moves, self.turn)
        if query.wanted.shares:
            self.legal = legal_moves(place.position, place.history)
        self.position, self.history = place.position, place.history

    def begin(self) -> None:
        """Starts the task's clocks."""
        now, query = time.monotonic(), self.query
        self.deadline = None if query.seconds is None else now + query.seconds
        first = query.report_every if query.first_report is None else query.first_report
        self.next_report = None if first is None else now + first

    def report_is_due(self) -> bool:
        """Whether the time for a report has come, and the last one has been sent."""
        return self.next_report is not None and not self.reporting and time.monotonic() >= self.next_report

    def set_next_report(self) -> None:
        """A report is made now: sets the time of the next one, if any, in step with the others unless that has passed."""
        now, last, every = time.monotonic(), self.next_report, self.query.report_every
        if last is None or every is None:
            self.next_report = None
        else:
            self.next_report = last + every if last + every > now else now + every

    def late(self) -> bool:
        """Whether the time is up, or the client has had enough."""
        return self.stopped or (self.deadline is not None and time.monotonic() >= self.deadline)


def playouts_of(query: Query, options: ServiceOptions) -> tuple[int, bool]:
    """(playouts of each of a query's positions, whether they are in a tree)."""
    asked = query.visits if query.visits is not None else options.visits
    with_tree = query.playouts is None and asked > 1
    if with_tree:
        return max(asked, LEAST_PLAYOUTS), True
    return query.playouts if query.playouts is not None else options.playouts, False


def tasks_of(query: Query, client, options: ServiceOptions) -> list[Task]:
    """A task for each turn of a query.

    Args:
      query: the query.
      client: who asks.
      options: what is done where the query does not say.

    Raises:
      QueryError: moves are to be avoided, or to be kept to, by playouts without a tree.
    """
    number, with_tree = playouts_of(query, options)
    if query.restrictions is not None and not with_tree:
        field = "avoidMoves" if query.restrictions.avoids else "allowMoves"
        raise QueryError("Cannot be done by playouts without a tree: ask for a maxVisits of 2 or more, and no playouts", field)
    cost = _BYTES + len(json.dumps(query.id)) + -(-query.num_bytes // len(query.turns))  # each reply has the id
    seed = options.seed if query.seed is None else query.seed
    return [
        Task(client, query, turn, priority, query.komi_at(turn), number, seed, with_tree, cost)
        for turn, priority in zip(query.turns, query.priorities)
    ]
