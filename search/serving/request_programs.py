"""What requests need compiled, which takes seconds: few wait for that at a time, so that others are answered meanwhile."""

import contextlib
import threading
from collections.abc import Iterator

from jaxgo.results.sums import STATISTICS
from jaxgo.running import evaluate
from jaxgo.running.jobs import Plan
from jaxgo.running.pieces import MOST_PIECES, PIECE
from search.analysis import complaints
from search.analysis import query as protocol
from search.analysis.options import ServiceOptions
from search.analysis.scheduler import Scheduler
from search.analysis.work import playouts_of
from search.serving.boards import Boards
from search.serving.limits import busy

#: Requests that wait for a compiler at a time; more are told "busy".
MOST_WAITING = 64
#: Playouts of requests that go together: those of more have larger pieces, and programs of their own.
MOST_TOGETHER = PIECE * MOST_PIECES


class RequestPrograms:
    """Which programs there are, and how there come to be more; every method is for any thread.

    Args:
      options: how positions are analysed.
      scheduler: of queries.
    """

    def __init__(self, options: ServiceOptions, scheduler: Scheduler):
        self._options, self._scheduler, self._places = options, scheduler, threading.BoundedSemaphore(MOST_WAITING)
        self._beside: set[Plan] = set()
        """What is compiled beside the work, or could not be."""
        self._access = threading.Lock()

    def _plan(self, size: int, pieces: int, statistics: tuple[str, ...] = STATISTICS) -> Plan:
        return evaluate.plan_of_pieces(size, pieces, statistics, policy=self._options.policy, devices=self._options.threads)

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise busy(f"{MOST_WAITING} requests are waiting for what is compiled for them, which is the most")
        try:
            yield
        finally:
            self._places.release()

    def prepare(self, asked: Boards) -> None:
        """Compiles what a request for arrays needs, where that is not done.

        Raises:
          Refusal: busy, with this.
        """
        if asked.work > MOST_TOGETHER:
            return
        try:
            plan = self._plan(asked.size, asked.pieces, asked.statistics)
        except ValueError:  # there is no policy for such boards, as will be told
            return
        if not plan.is_compiled:
            with self._place():
                plan.compile()

    def room(self, asked: Boards) -> int:
        """How many playouts may go together with those of a request, all counted, so that nothing need be compiled for them.

        None may as long as the program for many is missing, which is compiled meanwhile: they are answered one by one.
        """
        try:
            plan = self._plan(asked.size, MOST_PIECES, asked.statistics)
        except ValueError:  # there is no policy for such boards, as will be told
            return 0
        if plan.is_compiled:
            return MOST_TOGETHER
        with self._access:
            new = plan not in self._beside
            self._beside.add(plan)
        if new:
            threading.Thread(target=self._compile_beside, args=(plan,), name="compiles", daemon=True).start()
        return 0

    def _compile_beside(self, plan: Plan) -> None:
        try:
            plan.compile()
        except Exception as error:  # they go on one by one
            complaints.tell(error)
        else:
            with self._access:
                self._beside.discard(plan)

    @contextlib.contextmanager
    def prepared(self, asked: dict) -> Iterator[None]:
        """For as long as a query is taken on: a place where something is compiled for it.

        Raises:
          QueryError: it is none.
          Refusal: busy, with compiling.
        """
        query, _ = protocol.read_query(asked)
        with contextlib.nullcontext() if self._is_ready(query) else self._place():
            yield

    def _is_ready(self, query: protocol.Query) -> bool:
        """Whether taking it on compiles nothing."""
        _, with_tree = playouts_of(query, self._options)
        try:
            return self._scheduler.is_prepared(query.size, query.wanted, with_tree=with_tree)
        except ValueError:  # there is no policy for such boards, as will be told
            return True
