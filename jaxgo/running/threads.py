"""Threads that play chunks, take what comes of them, and copy large arrays together.

They are kept from job to job: to start one, and to call a program in it for the first time, takes as long as a small job.
"""

import concurrent.futures
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: More than jobs have work for at a time: a job has as many under way as it has workers.
MOST = 4096
#: Bytes for which another thread is worth while. A core fills memory that is new to the process with some 5 GB a second.
PIECE = 1 << 22


@functools.cache
def _pool() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(MOST, "jaxgo")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # which has none of its parent's threads


def begin(work: Callable[..., Any], *given: Any) -> concurrent.futures.Future:
    """Has a thread do some work, one that is idle or a new one."""
    return _pool().submit(work, *given)


def copy(pairs: Sequence[tuple[np.ndarray, np.ndarray]], at_a_time: int) -> None:
    """Copies into the first array of each pair the second, all of whose first two axes are alike, in at most so many threads."""
    number = max(1, min(at_a_time, sum(target.nbytes for target, _ in pairs) // PIECE))
    if number == 1:
        _copy(pairs)
        return
    longest = int(np.argmax(pairs[0][0].shape[:2]))
    split = [[np.array_split(array, number, longest) for array in pair] for pair in pairs]
    parts = [[(targets[i], sources[i]) for targets, sources in split] for i in range(number)]
    others = [begin(_copy, part) for part in parts[1:]]
    _copy(parts[0])
    for other in others:
        other.result()


def _copy(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    for target, source in pairs:
        target[...] = source
