"""Compiled programs, kept."""

import collections
import threading
from collections.abc import Callable, Hashable

import jax

#: Programs that are kept for each kind of them; of more, those are dropped that have not been used for longest.
KEPT = 64


class Programs:
    """Compiled programs by what they are for, of which the devices, a tuple, are the last; each is made once.

    Threads that ask for a program wait while one of them compiles it; those of other devices compile theirs meanwhile.

    Args:
      build: called as `build(*key)`.
    """

    def __init__(self, build: Callable[..., jax.stages.Compiled]):
        self._build = build
        self._made: collections.OrderedDict[Hashable, jax.stages.Compiled] = collections.OrderedDict()
        self._compiling: dict[Hashable, threading.Lock] = collections.defaultdict(threading.Lock)
        self._access = threading.Lock()

    def __len__(self) -> int:
        return len(self._made)

    def programs(self) -> list[jax.stages.Compiled]:
        """Those that are kept."""
        with self._access:
            return list(self._made.values())

    def __call__(self, *key) -> jax.stages.Compiled:
        if (found := self._find(key)) is not None:
            return found
        with self._access:
            lock = self._compiling[key[-1]]
        with lock:
            if (found := self._find(key)) is None:
                found = self._build(*key)
                with self._access:
                    self._made[key] = found
                    while len(self._made) > KEPT:
                        self._made.popitem(last=False)
        return found

    def _find(self, key) -> jax.stages.Compiled | None:
        with self._access:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)
