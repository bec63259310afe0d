"""One device for many searches: their rounds are played together.

A young tree asks for few leaves at a time, which would leave a device of thousands of lanes mostly idle. Here the leaves that
several searches ask for are put into one call of `jaxgo.Leaves`. A leaf's playouts depend on nothing but its seed and stream, so
that a search gets the same results as on a device of its own. Searches may belong to owners, who take turns.

One thread drives all searches of a device, step by step (`Search.launch`, `Search.finish`); so nothing is locked but the count of
a call's parts, which the device's threads finish.
"""

import collections
import dataclasses
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxgo import Leaves
from jaxgo.backends.choice import backend_of, workers_of
from jaxgo.base import checks
from jaxgo.playing.policies.in_order import Policies, each_of
from jaxgo.running.leaf_results import Rows
from jaxgo.running.request import Devices
from search.choice import MOST_VISITS
from search.turns import Turns

if TYPE_CHECKING:
    from search.search import Search

#: Calls under way at a time: one more than the device works on, which then never waits for the host.
CALLS = 2
#: Rounds that fit into a call of a device which is no CPU.
ROUNDS_ELSEWHERE = 8
#: Seconds that `SharedLeaves.run` waits at a time for the device.
WAIT = 0.05


def leaves_of_calls(leaves: int, moves: bool, devices: Devices = None) -> int:
    """Leaves of a call for searches whose rounds have so many: on CPUs as many; elsewhere, where a call takes at least as long as
    a game, those of several rounds, unless moves are told, for which there is room in every call whether it is full or not."""
    return leaves if moves or backend_of(workers_of(devices)[0]).platform == "cpu" else ROUNDS_ELSEWHERE * leaves


class _Call:
    """Leaves of several searches in one call of the device."""

    def __init__(self, leaves: Leaves, begun, on_done: Callable[[], None]):
        self.leaves, self.begun = leaves, begun
        self._left = len(begun.parts)
        self._lock, self._on_done = threading.Lock(), on_done
        for part in begun.parts:
            part.then(self._part_is_done)

    @property
    def done(self) -> bool:
        """Whether all of it is; searches ask often."""
        return not self._left

    def _part_is_done(self) -> None:
        with self._lock:
            self._left -= 1
            last = not self._left
        if last:
            self._on_done()

    def rows(self, which: slice) -> Rows:
        return self.leaves.rows(self.begun).some(which)


@dataclasses.dataclass(eq=False)
class _Request:
    """The leaves of one search's round."""

    owner: object
    priority: int
    columns: np.ndarray
    """uint32 [rows, n], see `jaxgo.running.leaf_columns`."""
    call: _Call | None = None
    """The call that they are part of, None as long as they wait."""
    rows: slice | None = None
    """Where in it."""

    @property
    def count(self) -> int:
        """Of the leaves."""
        return self.columns.shape[1]


class SharedLeaves:
    """A device that searches share.

    Args:
      size: of the board.
      leaves: the most leaves of a call.
      playouts: playouts from each leaf.
      moves: whether to return every playout's moves, as searches with weighted credits need.
      policy: whom playouts ask for their moves, as in `jaxgo.playouts`.
      devices: as in `jaxgo.playouts`.
      on_done: called, in another thread, whenever the device has finished a call.
    """

    def __init__(
        self, size: int, leaves: int = 256, playouts: int = 8, *, moves: bool = False, policy: Policies = None,
        devices=None, on_done: Callable[[], None] = lambda: None,
    ):  # fmt: skip
        self._leaves = Leaves(size, leaves, playouts, moves=moves, policy=policy, devices=devices)
        self._policy, self._on_done = policy, on_done
        self._waiting: collections.deque[_Request] = collections.deque()
        self._under_way: list[_Call] = []
        self._turns, self._smallest_first = Turns(), False

    @property
    def size(self) -> int:
        """Of the board."""
        return self._leaves.size

    def compile(self) -> None:
        """Compiles what the device needs."""
        self._leaves.compile()

    def close(self) -> None:
        """Ends the device's threads."""
        self._leaves.close()

    def seat(self, owner=None, priority: int = 0) -> "Seat":
        """The device as the searches of one owner see it, by default one of its own; those of higher priority come first among
        his.

        Raises:
          TypeError: the owner is no object of a class, such as of one's own: it must be hashable, and take weak references.
        """
        return Seat(self, owner, priority)

    def share(self, size: int, leaves: int, playouts: int, *, moves: bool, policy: Policies = None) -> "Share":
        """The device as one search sees it that is its own owner; see `Seat.share`."""
        return self.seat().share(size, leaves, playouts, moves=moves, policy=policy)

    def flush(self, patient: bool = False) -> None:
        """Sends waiting leaves to the device, as long as fewer than CALLS calls are under way, and as many at a time as fit.

        Args:
          patient: whether to send full calls only; for when more leaves are sure to come at once.
        """
        self._under_way = [call for call in self._under_way if not call.done]
        while self._waiting and len(self._under_way) < CALLS:
            if patient and sum(request.count for request in self._waiting) < self._leaves.leaves:
                break
            self._send()

    def run(self, searches: Sequence[tuple["Search", int]], stop: Callable[[], bool] = lambda: False) -> None:
        """Runs searches on this device until the root of each has had so many playouts, or `stop` says so.

        Raises:
          TypeError, ValueError: a search is of another device, or a number of playouts is none.
        """
        left = list(searches)
        for search, visits in left:
            checks.integer("visits", visits, 0, MOST_VISITS)
            if not search.plays_on(self):
                raise ValueError(f"searches must play on this device, which {search!r} does not")
        try:
            while left and not stop():
                for search, visits in left:
                    while search.launch(visits):
                        pass
                self.flush()
                moved = [search.finish() for search, _ in left]
                left = [(search, visits) for search, visits in left if search.under_way or search.visits < visits]
                if not any(moved) and self._under_way:
                    self._under_way[0].leaves.wait(self._under_way[0].begun, WAIT)
        finally:
            for search, _ in left:
                search.abandon()

    def _send(self) -> None:
        """Sends one call: the leaves that `_choose` chooses."""
        self._forget_sent()  # where Ctrl-C came below
        if not self._waiting:
            return
        chosen, start = self._choose(), 0
        columns = np.concatenate([request.columns for request in chosen], axis=1)
        call = _Call(self._leaves, self._leaves.begin(columns), self._on_done)  # where that fails, they wait as before
        self._under_way.append(call)
        for request in chosen:
            request.rows = slice(start, start + request.count)
            request.call, start = call, request.rows.stop
        self._forget_sent()

    def _forget_sent(self) -> None:
        self._waiting = collections.deque(request for request in self._waiting if request.call is None)

    def _choose(self) -> list[_Request]:
        """What goes into the next call: requests of owners one after the other, as long as there is room.

        Of an owner those of the highest priority come first; among these in turn the oldest and the smallest, so that young trees
        do not wait for many large rounds of others.
        """
        self._smallest_first = not self._smallest_first
        by_owner: dict[object, list[_Request]] = {}
        for request in self._waiting:
            by_owner.setdefault(request.owner, []).append(request)
        for requests in by_owner.values():
            requests.sort(key=lambda request: (-request.priority, request.count if self._smallest_first else 0))
        order = self._turns.order(by_owner)
        self._turns.took(order[0])
        chosen, room, lines = [], self._leaves.leaves, [by_owner[owner] for owner in order]
        while lines:
            for line in lines:
                if line and (request := line.pop(0)).count <= room:
                    chosen.append(request)
                    room -= request.count
            lines = [line for line in lines if line and room]
        return chosen

    def _drop(self, request: _Request) -> None:
        if request.call is None and request in self._waiting:  # an interruption may have come after it was taken back
            self._waiting.remove(request)


def check_device(device) -> None:
    """TypeError unless it is a device that searches share, a seat of one, or what stands in for one; or None."""
    if device is not None and not hasattr(device, "share"):
        raise TypeError(f"device must be a search.shared.SharedLeaves, not {device!r}")


class Seat:
    """An owner's place at the device: what `search.Search` takes as its device."""

    def __init__(self, shared: SharedLeaves, owner, priority: int):
        self._shared, self.owner, self.priority = shared, self if owner is None else owner, priority
        try:
            weakref.WeakKeyDictionary({self.owner: None})
        except TypeError as error:
            text = f"owner must be an object that is hashable and takes weak references, not {owner!r}: {error}"
            raise TypeError(text) from None

    def share(self, size: int, leaves: int, playouts: int, *, moves: bool, policy: Policies = None) -> "Share":
        """The device as one search sees it; `policy` is None, or the device's own.

        Raises:
          ValueError: the search is of another shape than the device, or of another policy.
        """
        device = self._shared._leaves
        mine, others = (device.size, device.playouts, device.moves), (size, playouts, moves)
        if mine != others:
            raise ValueError(f"the shared device is for (size, playouts_per_leaf, moves) = {mine}, the search for {others}")
        if policy is not None and [*map(id, each_of(policy))] != [*map(id, each_of(self._shared._policy))]:
            raise ValueError(f"the shared device plays by the policy {self._shared._policy!r}, the search by {policy!r}")
        checks.integer("leaves", leaves, 1, device.leaves)
        return Share(self._shared, self, leaves)


class Share:
    """A search's share of the device: what `search.rounds.Rounds` needs of `jaxgo.Leaves`."""

    def __init__(self, shared: SharedLeaves, seat: Seat, leaves: int):
        self._shared, self._seat, device = shared, seat, shared._leaves
        self.leaves, self.playouts, self.moves = leaves, device.playouts, device.moves

    def is_of(self, shared: SharedLeaves) -> bool:
        """Whether it is a share of this device."""
        return self._shared is shared

    @property
    def busy_seconds(self) -> float:
        """Of all searches on the device."""
        return self._shared._leaves.busy_seconds

    @property
    def num_workers(self) -> int:
        return self._shared._leaves.num_workers

    def compile(self) -> None:
        self._shared.compile()

    def close(self) -> None:
        """Leaves the device to the others."""

    def begin(self, columns: np.ndarray) -> _Request:
        """Hands leaves in, as `jaxgo.Leaves.begin` takes them; `SharedLeaves.flush` sends them."""
        request = _Request(self._seat.owner, self._seat.priority, columns)
        self._shared._waiting.append(request)
        return request

    def done(self, request: _Request) -> bool:
        return request.call is not None and request.call.done

    def wait(self, request: _Request, seconds: float) -> bool:
        """Waits a while, and sees to it that the leaves are sent; for a search that runs by itself."""
        self._shared.flush()
        if request.call is None:
            for call in self._shared._under_way[:1]:
                call.leaves.wait(call.begun, seconds)
            return False
        return request.call.leaves.wait(request.call.begun, seconds)

    def drop(self, request: _Request) -> None:
        """Takes leaves back that are still waiting; what the device already has, others share."""
        self._shared._drop(request)

    def rows(self, request: _Request) -> Rows:
        """What the device has found."""
        assert request.call is not None and request.rows is not None, "it is done"
        return request.call.rows(request.rows)
