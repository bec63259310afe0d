"""Compiled programs, kept: each takes 50 to 200 MB of memory, and a compiler as much again while it works."""

import collections
import threading
from collections.abc import Callable, Hashable

import jax

from jaxgo.backends import kept
from jaxgo.base import memory

#: Programs that are kept for each kind of them; of more, those are dropped that have not been used for longest.
KEPT = 64


def keep(most: int) -> None:
    """From now on this process keeps at most so many programs of each kind; for servers, whose clients may ask for any."""
    global KEPT
    KEPT = most


class Programs:
    """Compiled programs by what they are for, of which the devices, a tuple, are the last; each is made once.

    Threads that ask for a program wait while one of them compiles it; those of other devices compile theirs meanwhile.

    Args:
      lower: gives a program that is still to be compiled, called as `lower(*key)`.
      kind: a word under which programs are kept on disk, too, where jax keeps some (`jaxgo.backends.kept`); None for nowhere.
    """

    def __init__(self, lower: Callable[..., jax.stages.Lowered], kind: str | None = None):
        self._lower, self._kind = lower, kind
        self._made: collections.OrderedDict[Hashable, jax.stages.Compiled] = collections.OrderedDict()
        self._compiling: dict[Hashable, threading.Lock] = collections.defaultdict(threading.Lock)
        self._access = threading.Lock()

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, key: tuple) -> bool:
        """Whether a program is there, so that a call with `key` compiles nothing."""
        with self._access:
            return key in self._made

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
                found = self._made_for(key)
                with self._access:
                    self._made[key] = found
                    dropped = [self._made.popitem(last=False) for _ in range(len(self._made) - KEPT)]
                del dropped
                memory.give_back()  # what a compiler, or a program that was dropped, has left
        return found

    def _made_for(self, key) -> jax.stages.Compiled:
        """The program as another process has kept it, else compiled."""
        place = kept.place_of(self._kind, key) if self._kind is not None else None
        if place is None:
            return self._lower(*key).compile()
        return place.found() or place.compiled(self._lower(*key))

    def _find(self, key) -> jax.stages.Compiled | None:
        with self._access:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)
