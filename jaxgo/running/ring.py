"""Leaves on one device, whose lanes never wait: what is under way stays there from call to call.

A device keeps a ring of places, each with room for a call's leaves, and a flight (`jaxgo.backends.xla`). In each step its program
takes new leaves into a free place, plays on until the oldest leaves are finished, and gives their sums; lanes that have nothing
left of the oldest leaves play for the younger ones meanwhile. So only the last leaves before a pause wait for their longest game.

    host                                   device
    a tree, or `Leaves.submit`, writes
    `leaf_columns`, uint32             ->  a place of the ring: the moves are played, the positions described
                                       <-  `leaf_results.Rows.positions`, uint32
                                           lanes play; records of finished playouts go back to the place
    (next steps)                           the place's records are summed up
    the tree, or `Leaves.gather`, reads  <-  the rest of `Rows`: sums, first plays, moves

Stones are those of the player to move and of the other from the tree to the lanes and back; only the bounds of results, and who
of both is Black, say anything of colours.

Rings that work together (`jaxgo.running.rings`) take their calls from one line (`Line`), each as it comes round to it, so that
one whose core does other work as well does less, and none waits for it. Of small calls a ring takes several together.

On CPUs the program goes on while calls follow each other, and exchanges leaves and rows with the host as it runs
(`jaxgo.backends.exchange`), as to begin it costs a third of a step's time; elsewhere it is begun for each step.

Playouts are named by the leaf's seed and stream and their own number, so that it leaves no trace in the results which device
plays a leaf, when, and beside which others. On devices whose playouts cannot be left under way (`Backend.flies_on`) each step
plays all of its own, and the next is begun before its results are read, so that the device does not wait for the host.
"""

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxgo.backends import exchange
from jaxgo.backends.choice import backend_of
from jaxgo.base import threads
from jaxgo.base.processor import usable_cores
from jaxgo.base.promise import Promise
from jaxgo.base.trials import as_by_default
from jaxgo.running import at_work, ring_program
from jaxgo.running.leaf_results import Room
from jaxgo.running.ring_program import NUMBERS, PLACES, Shape

#: Steps that are under way on a device which plays all of a step's own: one that it plays, and one that is ready for it.
STEPS = 2
#: Seconds that a program waits for a call before it ends: to begin one takes some 2 ms, for most of which it holds Python's lock,
#: which all rings need.
PATIENCE = 0.01
#: Seconds after which it ends in any case, that others may have the device: where nothing else of jaxgo's waits for it, and where
#: something does. The next ring's lasts twice as long, and so on: one that ends soon is enough, and to begin them all again and
#: again would keep Python's lock busy.
LONGEST, LONGEST_OF_MANY = 0.25, 0.05


@dataclasses.dataclass(eq=False)
class Call:
    """Leaves on their way."""

    columns: np.ndarray
    room: Room
    promise: Promise[None]

    @property
    def count(self) -> int:
        return self.columns.shape[1]

    @property
    def unwanted(self) -> bool:
        return self.promise.taken_back


@dataclasses.dataclass(eq=False)
class _Load:
    """Calls that a ring has taken together."""

    calls: list[Call]
    place: int

    @property
    def count(self) -> int:
        return sum(call.count for call in self.calls)

    @property
    def unwanted(self) -> bool:
        return all(call.unwanted for call in self.calls)

    def parts(self) -> Iterator[tuple[Call, slice]]:
        """Each call, and which of the load's leaves are its."""
        start = 0
        for call in self.calls:
            yield call, slice(start, start + call.count)
            start += call.count


class Line:
    """Where calls wait for the rings that take them."""

    def __init__(self) -> None:
        self.waiting: collections.deque[Call] = collections.deque()
        self.rings: list[Ring] = []
        self.idle: list[Ring] = []
        """Rings whose programs wait for a call, the last to begin with that at the end."""
        self.lock = threading.RLock()
        """Guards all of it."""
        self.closed = False
        self.rests = False
        """Whether no calls are to be waited for."""

    @property
    def awaits(self) -> bool:
        """Whether calls are to be waited for where there are none."""
        return not (self.closed or self.rests)


class Ring:
    """Leaves on one device.

    Args:
      line: where its calls wait.
      shape: of what it takes together.
      device: which.
      policy: the arrays of the policy that the playouts ask.
    """

    def __init__(self, line: Line, shape: Shape, device: jax.Device, policy: Sequence[np.ndarray]):
        self._line, self._waiting, self._lock = line, line.waiting, line.lock
        self._news = threading.Condition(line.lock)
        self._backend, self._device, self._shape = backend_of(device), device, shape
        self._policy = tuple(policy)
        self.flies = ring_program.flies(shape, self._backend)
        """Whether playouts stay under way from step to step."""
        self._places = PLACES if self.flies else STEPS
        self._state: Any = None
        self.under_way: collections.deque[_Load] = collections.deque()
        """What it has, the oldest first."""
        line.rings.append(self)
        self._number = len(line.rings)
        self._new: _Load | None = None
        self._awaited: _Load | None = None
        self._hands = 1  # threads that copy what the device has found
        self.flying = False
        """Whether a thread is at work on it."""
        self.busy = 0.0
        """Seconds that the device has worked."""
        self._counted = 0.0  # the time up to which it is counted

    def compile(self) -> None:
        """Compiles the program now, so that no later call has to."""
        ring_program.compiled(self._shape, (self._device,))

    def begin(self) -> None:
        """Has a thread take calls from the line until none are left."""
        self.flying, flight = True, Promise[None]()
        try:
            threads.begin(self._fly, promise=flight)
        except BaseException:  # Ctrl-C too
            if flight.taken_back:  # otherwise the thread says when it ends
                self.flying = False
            raise

    def wake(self) -> None:
        """Has its program look for calls at once; the caller has the line's lock."""
        self._news.notify()

    # In the device's thread, and those in which its program asks.

    def _fly(self) -> None:
        """Runs the device's program until no calls are left."""
        with self._lock:
            self._set_flying(True)
        while True:
            with self._lock:
                if self.under_way and all(load.unwanted for load in self.under_way):
                    self._begin_anew()
                if not self._waiting and not self.under_way:
                    self._set_flying(False)
                    return
                first = self._waiting[0] if self._waiting else None
            try:
                with as_by_default():
                    self._run()
            except BaseException as error:
                self._fail(error, first)

    def _set_flying(self, flying: bool) -> None:
        self.flying = flying
        at_work.count(self._device, 1 if flying else -1)

    def _has_had_its_time(self, start: float, side_by_side: int) -> bool:
        longest = LONGEST_OF_MANY if at_work.number(self._device) > side_by_side else LONGEST
        return time.perf_counter() - start > longest * self._number

    def _run(self) -> None:
        """Runs the program once, or for all steps that follow each other."""
        shape, start = self._shape, time.perf_counter()
        function = ring_program.compiled(shape, (self._device,))
        self._counted = time.perf_counter()  # to compile is no work
        if not self.flies:
            self._run_whole_steps(function)
            return
        columns, numbers = self._room_to_ask()
        if not self._ask(columns, numbers):
            return
        if self._state is None:
            self._state = ring_program.first_state(shape, self._backend)
        if self._backend.exchanges():
            side_by_side = at_work.side_by_side(self._device)

            def answer(given: list[np.ndarray], wanted: list[np.ndarray]) -> None:
                self._bring(*given)
                if self._has_had_its_time(start, side_by_side) or not self._ask(*wanted):
                    wanted[1][...] = 0

            with exchange.answering(answer) as number:
                ended = function(self._state, columns, numbers, self._policy, np.int32(number))
                self._state, _ = jax.block_until_ready(ended)  # of which the state may be empty
        else:
            self._state, found = function(self._state, columns, numbers, self._policy)
            self._bring(*(np.asarray(x) for x in jax.tree.leaves(found)))

    def _room_to_ask(self) -> tuple[np.ndarray, np.ndarray]:
        """What `_ask` writes into."""
        return np.zeros((self._shape.num_columns, self._shape.leaves), np.uint32), np.zeros(NUMBERS, np.int32)

    def _run_whole_steps(self, function: Callable) -> None:
        """Runs the program step by step, each begun before the results of the one before are read."""
        begun: collections.deque[tuple[_Load, Any]] = collections.deque()
        self._hands = max(1, len(usable_cores()) // len(self._line.rings))
        while True:
            with self._lock:
                load = self._take() if self._may_take() else None
            if load is not None:
                columns, numbers = self._room_to_ask()  # the device may be reading those of the step before
                for call, where in load.parts():
                    columns[:, where] = call.columns
                numbers[2] = load.count
                begun.append((load, function((), columns, numbers, self._policy)[1]))
            if len(begun) == self._places or begun and load is None:
                self._new, found = begun.popleft()
                self._awaited = self._new
                self._bring(*jax.device_get(jax.tree.leaves(found)))
            elif load is None:
                return

    def _ask(self, columns: np.ndarray, numbers: np.ndarray) -> bool:
        """Writes what the program is to do next; whether there is anything.

        It takes the next leaves, if there are any, and finishes the oldest, unless more are waiting that could be taken first.
        """
        with self._lock:
            if not self.under_way and not self._may_take() and self._line.awaits:
                self._line.idle.append(self)
                self._news.wait_for(lambda: self._may_take() or not self._line.awaits, PATIENCE)
                self._line.idle.remove(self)
                self._counted = time.perf_counter()
            if self.under_way and all(load.unwanted for load in self.under_way):
                return False
            self._new = self._take() if self._may_take() else None
            if not self.under_way:
                return False
            self._awaited = None if self._may_take() else self.under_way[0]
            ages = [load.count for load in self.under_way]
        new, awaited = self._new, self._awaited
        if new is not None:
            for call, where in new.parts():
                columns[:, where] = call.columns
        place, count = (new.place, new.count) if new is not None else (0, 0)
        # The rest is what memory held before: the program would make boards of it that no game has, and could loop for ever.
        columns[:, count:] = 0
        oldest, finished = self.under_way[0].place, awaited.count if awaited is not None else 0
        numbers[:] = (1, place, count, oldest, finished, *ages, *[0] * (PLACES - len(ages)))
        return True

    def _may_take(self) -> bool:
        """Whether a call is waiting, and it is this ring's turn: no other has fewer under way."""
        while self._waiting and self._waiting[0].unwanted:
            self._waiting.popleft()
        held = len(self.under_way)
        if not self._waiting or held >= self._places:
            return False
        return all(held <= len(ring.under_way) for ring in self._line.rings if ring.flying)

    def _take(self) -> _Load:
        """Takes this ring's share of the calls that wait, as far as they fit into a place."""
        calls: list[Call] = []
        room, line = self._shape.leaves, self._waiting
        share = -(-len(line) // len(self._line.rings)) if self.flies else 1
        while line and len(calls) < share and line[0].count <= room:
            call = line.popleft()
            if not calls or not call.unwanted:  # what was wanted when this ring's turn came is taken: a load is never empty
                calls.append(call)
                room -= call.count
        last = self.under_way[-1].place if self.under_way else -1
        load = _Load(calls, (last + 1) % self._places)
        self.under_way.append(load)
        return load

    def _bring(self, positions: np.ndarray, *playouts: np.ndarray) -> None:
        """Takes what the program has found (`Found`)."""
        now = time.perf_counter()
        self.busy, self._counted = self.busy + now - self._counted, now
        if self._new is not None:
            for call, where in self._new.parts():
                call.room.take_positions(positions[where])
        done = self._awaited
        if done is not None:
            for call, where in done.parts():
                call.room.take_playouts(*(x[where] for x in playouts), at_a_time=self._hands)
            with self._lock:
                self.under_way.popleft()
            for call in done.calls:
                call.promise.keep(None)

    def _fail(self, error: BaseException, first: Call | None) -> None:
        """Fails the oldest call; what else is under way is played anew.

        Args:
          error: why.
          first: the call that waited first when the program was begun: where none was taken, the one that fails, unless another
            ring has it by now. Calls that came later have nothing to do with it.
        """
        with self._lock:
            failed = None
            if self.under_way:
                calls = self.under_way[0].calls
                failed = calls.pop(0) if calls else None
            elif first is not None and first in self._waiting:
                self._waiting.remove(first)
                failed = first
            if failed is not None:
                failed.promise.fail(error)
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Begins with an empty ring again; what is under way and still wanted is played once more."""
        calls = [call for load in self.under_way for call in load.calls if not call.unwanted]
        self._waiting.extendleft(reversed(calls))
        self.under_way.clear()
        self._state = None
