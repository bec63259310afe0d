"""Rings of leaves on several devices, which share the work: how calls are divided among them, and which of them are at work."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxgo.backends.choice import backend_of
from jaxgo.base.promise import Promise
from jaxgo.running import ring_program
from jaxgo.running.leaf_results import Room
from jaxgo.running.ring import Call, Line, Ring
from jaxgo.running.ring_program import Shape

#: A place has room for so many calls, if they are no more playouts than this: together small ones cost less. Of as many is a part
#: of a call, at least, where rings are busy, however many there are: each step of a ring takes Python's lock for a while.
TOGETHER, ENOUGH = 4, 1024
#: Leaves of a part, at least, where devices play all of a step's playouts.
LEAST = 4
#: Loads that a ring at work has before another ring begins, which takes longer than to play one more.
APPETITE = 2


class Rings:
    """Leaves on several devices, which share the work.

    Args:
      shape: of the largest call.
      devices: one for each ring.
      policy: the arrays of the policy that the playouts ask.
    """

    def __init__(self, shape: Shape, devices: Sequence[jax.Device], policy: Sequence[np.ndarray]):
        backends = [backend_of(device) for device in devices]
        self._fly = all(ring_program.flies(shape, backend) for backend in backends)
        self._line, self._share = Line(), -(-shape.leaves // len(devices))
        room = self._share
        if self._fly:
            self._share = max(self._share, min(shape.leaves, ENOUGH // shape.playouts))
            room = max(self._share, min(TOGETHER * self._share, ENOUGH // shape.playouts))
        self._shape = dataclasses.replace(shape, leaves=room)
        self.lanes = ring_program.lanes(self._shape, backends[0]) if self._fly else 0
        """Of each; 0 where no playouts are left under way."""
        self._least = self.lanes or LEAST * shape.playouts
        self.rings = [Ring(self._line, self._shape, device, policy) for device in devices]

    @property
    def under_way(self) -> int:
        """Playouts that they have, or that wait for them."""
        with self._line.lock:
            leaves = sum(call.count for call in self._line.waiting)
            leaves += sum(load.count for ring in self.rings for load in ring.under_way)
        return leaves * self._shape.playouts

    @property
    def _are_idle(self) -> bool:
        """Whether nothing is under way."""
        return not any(ring.under_way for ring in self.rings)

    def parts_for(self, count: int) -> int:
        """Into how many parts a call of so many leaves is best divided: where nothing is under way one for each ring, but of a
        playout for each lane, as fewer take as long; where rings have work, as few as possible."""
        parts = min(len(self.rings), count * self._shape.playouts // self._least) if self._are_idle or not self._fly else 1
        return max(parts, -(-count // self._share))

    def compile(self) -> None:
        """Compiles the programs now, so that no later call has to."""
        for ring in self.rings:
            ring.compile()

    def close(self) -> None:
        """Ends the rings' threads; calls that have not begun are dropped."""
        line = self._line
        with line.lock:
            line.closed = True
            while line.waiting:
                line.waiting.popleft().promise.take_back()
            self._wake_idle()

    def rest(self) -> None:
        """Has programs end that have nothing left, where they would wait for another call: others are to have the devices."""
        line = self._line
        if not line.rests:
            with line.lock:
                line.rests = True
                self._wake_idle()

    def _wake_idle(self) -> None:
        for ring in self._line.idle:
            ring.wake()

    def check_open(self) -> None:
        """RuntimeError where they are closed."""
        if self._line.closed:
            raise RuntimeError("these Leaves are closed: they take no calls any more")

    def submit(self, parts: Sequence[tuple[np.ndarray, Room]]) -> list[Promise[None]]:
        """Begins calls on leaves, uint32 [columns, n] each; when the promise is kept, the room has what was found."""
        calls = [Call(columns, room, Promise()) for columns, room in parts]
        line = self._line
        with line.lock:
            self.check_open()
            line.rests = False
            line.waiting.extend(calls)
            try:
                self._see_to(len(line.waiting))
            except BaseException:  # no thread can be begun, or Ctrl-C: nobody will ask for what these calls bring
                for call in calls:
                    call.promise.take_back()
                raise
        return [call.promise for call in calls]

    def _see_to(self, wanted: int) -> None:
        """Has rings take as many calls as wait in the line; the caller has its lock."""
        # Those are woken that have just become idle: others may end, and one more begins dear.
        for ring in self._line.idle[: -wanted - 1 : -1]:
            ring.wake()
        appetite = 1 if self._are_idle else APPETITE
        more = wanted - sum(max(0, appetite - len(ring.under_way)) for ring in self.rings if ring.flying)
        for ring in [ring for ring in self.rings if not ring.flying][: max(0, more)]:
            ring.begin()
