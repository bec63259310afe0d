"""Programs of playouts, compiled beside the threads that play, so that nobody waits for what another has asked
for, unless his own query needs something compiled.

What a query needs at least is compiled in the thread of the client who asks, before it is taken on. Programs that are faster,
for many playouts at a time, are compiled in a thread of their own while the smaller ones go on playing.
"""

import functools
from collections.abc import Callable

from jaxgo.running import evaluate
from jaxgo.running.jobs import Plan
from search.analysis import complaints
from search.analysis.jobs import Job, Jobs
from search.analysis.options import ServiceOptions
from search.findings import Wanted
from search.ownership import PLAYOUTS, SAMPLES

#: So many pieces are played by the largest program.
PIECES_OF_LARGEST = 1 << 16


class PlayoutPrograms:
    """Which programs of playouts there are, and how there come to be more. For the scheduler's thread, but for `prepare` and
    `is_prepared`.

    Args:
      post: has a function called in the scheduler's thread; for any thread.
      options: how positions are played out.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], options: ServiceOptions):
        self._jobs, self._options = Jobs(1, post), options
        self._waiting: dict[object, Plan] = {}
        """What is compiled for a client, or will be: one program at a time, so that clients take turns."""
        self._failed: set[Plan] = set()
        # Asked for with every query, and worked out once.
        self._plan, self._samples = functools.cache(self._plan_of_pieces), functools.cache(self._plan_of_samples)

    def prepare(self, size: int, wanted: Wanted, *, with_tree: bool) -> None:
        """Compiles what tasks on a board size need at least, a tree's device apart. For any thread; returns at once where that
        is done."""
        needed = self._needed(size, wanted, with_tree)
        if needed is not None and not needed.is_compiled:
            needed.compile()

    def is_prepared(self, size: int, wanted: Wanted, *, with_tree: bool) -> bool:
        """Whether `prepare` would return at once. For any thread."""
        needed = self._needed(size, wanted, with_tree)
        return needed is None or needed.is_compiled

    def _needed(self, size: int, wanted: Wanted, with_tree: bool) -> Plan | None:
        if with_tree:
            return self._samples(size) if wanted.ownership or wanted.moves_ownership else None
        return self._plan(size, 1)

    def _plan_of_pieces(self, size: int, pieces: int) -> Plan:
        """How so many pieces are played (`jaxgo.running.pieces`)."""
        return evaluate.plan_of_pieces(size, pieces, policy=self._options.policy, devices=self._options.threads)

    def _plan_of_samples(self, size: int) -> Plan:
        """How a tree's ownership is played out (`search.ownership`)."""
        return evaluate.plan(size, SAMPLES, PLAYOUTS, ["ownership"], devices=self._options.threads)

    def pieces(self, size: int, client=None) -> int:
        """How many pieces a call has room for; with a client, in the largest program that there is.

        Args:
          size: of the board.
          client: for whom the largest one is compiled, where it is missing; None where there is no work for it.
        """
        plan = self._plan(size, 1)
        if client is not None and not (larger := self._plan(size, PIECES_OF_LARGEST)).is_compiled:
            if client not in self._waiting and larger not in self._failed:
                self._compile(larger, client)
        elif client is not None:
            plan = larger
        return len(plan.workers) * plan.room[0]

    def _compile(self, plan: Plan, client) -> None:
        self._waiting[client] = plan

        def fail(error: BaseException) -> None:
            complaints.tell(error)
            self._failed.add(plan)
            del self._waiting[client]

        self._jobs.put(client, Job(plan.compile, lambda _: self._waiting.pop(client), fail))

    def hand_out(self) -> None:
        """Begins with the next program where there is none under way."""
        self._jobs.hand_out()

    def close(self) -> None:
        """Begins nothing any more."""
        self._jobs.close()
