"""Memory of large arrays, which is used again once nobody holds them.

Memory of more than 32 MB that a program frees goes to the system at once (glibc), which makes the next one's pages anew. That is
dear, most of all on virtual machines, whose hosts may have taken them too: playouts whose moves had fresh memory in each call now
and then took half as long again (`bench/TRIED.md`). So the last memory that came free is kept, at most `MOST` bytes of it.
"""

import collections
import ctypes
import math
import sys
import weakref

import numpy as np
from numpy.typing import DTypeLike

#: Bytes of arrays that are large, for which numpy asks for large pages; and of memory that is kept while nobody uses it, at most.
LARGE, MOST = 1 << 22, 1 << 28

#: Bytes of an array that the GNU library keeps, at most; larger ones go to the system as they come free.
KEPT = 32 << 20
#: Bytes that may come free and be left with the C library, before it is told to give back what it has.
LEFT = 1 << 29

#: Memory that nobody uses, uint8 [n] each, the last one to come free at the end. What is done with it takes no lock: an array's
#: end can come at any moment, in any thread, in the middle of it too.
_unused: collections.deque[np.ndarray] = collections.deque()


class _Holder:
    """What an array and all of its views keep alive: when it goes, the memory is free."""

    def __init__(self, memory: np.ndarray):
        self.__array_interface__ = memory.__array_interface__
        weakref.finalize(self, _keep, memory).atexit = False


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An array that holds anything, as `numpy.empty`.

    Raises:
      MemoryError: there is no such memory, not even without what is kept.
    """
    of = np.dtype(dtype)
    count = math.prod(shape) * of.itemsize
    if count < LARGE:
        return np.empty(shape, of)
    memory = _fitting(count)
    if memory is None:
        try:
            memory = np.empty(count, np.uint8)
        except MemoryError:
            _unused.clear()
            return np.empty(shape, of)  # whose complaint tells of this array
    return np.asarray(_Holder(memory))[:count].view(of).reshape(shape)


def _fitting(count: int) -> np.ndarray | None:
    """Unused memory of so many bytes, and at most twice as many; None if there is none."""
    for _ in range(len(_unused)):
        try:
            memory = _unused.popleft()
        except IndexError:  # another thread has taken it
            return None
        if count <= len(memory) <= 2 * count:
            return memory
        _unused.append(memory)
    return None


def _keep(memory: np.ndarray) -> None:
    """Keeps memory that is free now, and gives back the oldest where that is too much."""
    _unused.append(memory)
    while sum(map(len, tuple(_unused))) > MOST:
        try:
            _unused.popleft()
        except IndexError:
            return


def came_free(count: int) -> None:
    """Notes that so many bytes of arrays that the C library may keep have come free, or are about to: such as are made from time
    to time, and mostly empty.

    The GNU library keeps memory of up to 32 MB (`KEPT`) for the next to ask, wherever that comes to lie in it: what many such
    arrays have ever written to would stay with the process. To have none of it kept would make all pages anew; so it is given
    back now and then. Like an array's end, this may be called at any moment, in any thread.
    """
    global _left
    _left += count
    if _left >= LEFT:
        _left = 0
        give_back()


_left = 0


def give_back() -> None:
    """Gives back to the system what the C library's allocator has."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU library has it, others need none
        if trim is not None:
            trim(0)
