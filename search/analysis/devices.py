"""The devices that searches share, one for each board size: made when they are asked for, dropped when long unused."""

import collections
import contextlib
import threading
from collections.abc import Callable, Iterator

from jaxgo import Position
from search.analysis.options import ServiceOptions
from search.players import rule_of
from search.search import Search
from search.shared import SharedLeaves, leaves_of_calls
from search.tree_needs import needs_histories

#: Leaves of a round of a search, at most.
LEAVES = 256
#: Devices that are kept though nobody needs them now: the last ones that were needed.
MOST_IDLE = 4


class Devices:
    """Devices by board size.

    Args:
      options: how positions are analysed.
      on_done: called, in any thread, whenever a device has finished a call.
    """

    def __init__(self, options: ServiceOptions, on_done: Callable[[], None]):
        self._options, self._rule, self._on_done = options, rule_of(options.bot, options.knowledge), on_done
        self._made: dict[int, SharedLeaves] = {}
        """Replaced as a whole, so that any thread may look; the one needed last comes last."""
        self._needed: collections.Counter[int] = collections.Counter()
        """By how many each size is needed."""
        self._making, self._lock = threading.Lock(), threading.Lock()

    def __getitem__(self, size: int) -> SharedLeaves:
        return self._made[size]

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[SharedLeaves]:
        return iter(self._made.values())

    def is_ready(self, size: int) -> bool:
        """Whether the device of a board size is there. For any thread."""
        return size in self._made

    @contextlib.contextmanager
    def ready(self, size: int) -> Iterator[None]:
        """Makes the device of a board size and compiles what it needs, where that is not done; it stays as long as this lasts.
        For any thread."""
        self.need(size)
        try:
            if size not in self._made:
                with self._making:
                    if size not in self._made:
                        made = self._make(size)
                        with self._lock:
                            self._made = {**self._made, size: made}
            yield
        finally:
            self.release(size)

    def _make(self, size: int) -> SharedLeaves:
        options, moves = self._options, needs_histories(self._rule)
        device = SharedLeaves(
            size, leaves_of_calls(LEAVES, moves, options.threads), options.playouts_per_leaf, moves=moves, policy=options.policy,
            on_done=self._on_done, devices=options.threads,
        )  # fmt: skip
        Search(
            Position.empty(size), rule=self._rule, leaves=LEAVES, playouts_per_leaf=options.playouts_per_leaf, device=device,
            policy=options.policy,
        ).compile()  # fmt: skip
        return device

    def need(self, size: int, times: int = 1) -> None:
        """Counts those who need a device. For any thread."""
        with self._lock:
            self._needed[size] += times

    def release(self, size: int) -> None:
        """Counts one less who needs it. For any thread."""
        with self._lock:
            self._needed[size] -= 1
            if not self._needed[size]:
                del self._needed[size]
                if size in self._made:
                    others = {other: device for other, device in self._made.items() if other != size}
                    self._made = {**others, size: self._made[size]}

    def drop_idle(self, searched: set[int]) -> None:
        """Ends the devices that have been idle for longest, beyond `MOST_IDLE` of them. For the thread that drives them.

        Args:
          searched: sizes whose device may still hold something of a search.
        """
        with self._lock:
            idle = [size for size in self._made if size not in self._needed and size not in searched]
            dropped = {size: self._made[size] for size in idle[: max(0, len(idle) - MOST_IDLE)]}
            if dropped:
                self._made = {size: device for size, device in self._made.items() if size not in dropped}
        for device in dropped.values():
            device.close()

    def close(self) -> None:
        """Ends all."""
        for device in self:
            device.close()
