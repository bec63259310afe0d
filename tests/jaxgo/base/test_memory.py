"""Memory of large arrays is used again, and never while anybody holds it."""

import concurrent.futures
import ctypes
import gc
import os
import pathlib
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgo
from jaxgo.base import memory
from jaxgo.base.memory import LARGE, MOST
from search.tree import Tree


@pytest.fixture(autouse=True)
def nothing_unused():
    gc.collect()  # of what other tests have left
    memory._unused.clear()
    yield
    memory._unused.clear()


def place(array: np.ndarray) -> int:
    """Where an array begins."""
    return array.__array_interface__["data"][0]


def test_small_arrays_are_numpys():
    array = memory.empty((LARGE - 1,), np.uint8)
    assert array.flags.owndata and array.dtype == np.uint8 and array.shape == (LARGE - 1,)
    del array
    assert not memory._unused


def test_memory_is_used_again_for_arrays_that_need_half_of_it_or_more():
    first = memory.empty((3, LARGE), np.int16)
    assert first.shape == (3, LARGE) and first.dtype == np.int16 and first.flags.writeable and first.flags.c_contiguous
    there = place(first)
    del first
    too_large, too_small = memory.empty((6 * LARGE + 1,), np.uint8), memory.empty((3 * LARGE - 1,), np.uint8)
    assert there not in (place(too_large), place(too_small))
    again = memory.empty((LARGE, 3), np.uint8)
    assert place(again) == there and again.shape == (LARGE, 3)


def test_memory_that_fits_is_found_wherever_it_lies():
    """Among what has come free before it, and after; and what does not fit stays for others."""
    sizes = (LARGE, 5 * LARGE, 12 * LARGE)
    arrays = [memory.empty((size,), np.uint8) for size in sizes]
    places = [place(array) for array in arrays]
    while arrays:
        del arrays[0]
    for i in (1, 0, 2, 2, 1, 0):
        array = memory.empty((sizes[i],), np.uint8)
        assert place(array) == places[i]
        del array
    assert sorted(map(len, memory._unused)) == list(sizes)


@pytest.mark.parametrize("hold", [lambda x: x[5:], lambda x: x.reshape(2, -1).T, lambda x: x.view(np.uint8)[1:2], memoryview, jnp.asarray])
def test_what_somebody_holds_stays(hold):
    array = memory.empty((LARGE,), np.int16)
    array[...] = 7
    held = hold(array)
    del array
    gc.collect()
    other = memory.empty((LARGE,), np.int16)
    other[...] = 8
    assert set(np.unique(np.asarray(held))) <= {7, 0}  # 0 is a 7's upper byte
    del held
    gc.collect()
    assert sum(map(len, memory._unused)) in (0, 2 * LARGE)  # jax may have copied it


def test_no_more_is_kept_than_may_be():
    arrays = [memory.empty((MOST // 4,), np.uint8) for _ in range(6)]
    places = [place(x) for x in arrays]
    while arrays:
        del arrays[0]
    assert [place(x) for x in memory._unused] == places[-4:]
    huge = memory.empty((MOST + 1,), np.uint8)
    del huge
    assert not memory._unused


def test_where_there_is_too_little_memory_what_is_kept_is_given_back():
    """And the complaint is of the array that was asked for."""
    kept = memory.empty((LARGE,), np.uint8)
    del kept
    assert memory._unused
    with pytest.raises(MemoryError, match=r"shape \(2147483647, 3, 100000\) and data type int32"):
        memory.empty((2**31 - 1, 3, 100_000), np.int32)
    assert not memory._unused


def test_threads_never_share():
    def work(number: int) -> bool:
        for _ in range(200):
            array = memory.empty((LARGE + number,), np.uint8)
            array[:: LARGE // 8] = number
            view = array[1:]
            del array
            if not (view[LARGE // 8 - 1 :: LARGE // 8] == number).all():
                return False
            del view
        return True

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(1, 9)))


def test_results_that_are_held_are_left_alone():
    position, count = jaxgo.Position.empty(9), LARGE // 2 // 243 + 1
    first = jaxgo.playouts(position, count, moves=True, seed=1)
    kept, there = first.moves.copy(), place(first.events)
    second = jaxgo.playouts(position, count, moves=True, seed=2)
    assert place(second.events) != there
    np.testing.assert_array_equal(first.moves, kept)
    del first
    third = jaxgo.playouts(position, count, moves=True, seed=1)
    assert place(third.events) == there, "in the first one's place"
    np.testing.assert_array_equal(third.moves, kept)


def test_what_small_trees_leave_is_given_back_now_and_then(monkeypatch):
    """The C library keeps what they have written to, wherever that lies."""
    given = []
    monkeypatch.setattr(memory, "give_back", lambda: given.append(memory._left))
    monkeypatch.setattr(memory, "_left", 0)
    tree = Tree(5, 1 << 20)
    size = sum(x.nbytes for x in tree.memory)
    assert size > 1 << 20
    del tree
    assert memory._left == size and not given
    memory.came_free(memory.LEFT)
    assert given == [0]
    memory.came_free(1)
    assert given == [0]
    memory._left, large = 0, Tree(9, 1 << 30)
    assert sum(x.nbytes for x in large.memory) > 1 << 32
    del large
    assert memory._left < memory.KEPT, "large arrays go to the system by themselves"


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not the GNU library")
def test_what_the_c_library_has_is_given_back():
    """Below something that is still held."""
    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    library, count, size = ctypes.CDLL(None), 640, 100_000
    library.malloc.restype, library.malloc.argtypes, library.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
    places = [library.malloc(size) for _ in range(count)]
    for each in places:
        ctypes.memset(each, 1, size)
    for each in places[:-1]:
        library.free(each)
    before = resident()
    memory.give_back()
    assert resident() < before - count * size // 2
    library.free(places[-1])


def test_rounds_that_are_held_are_left_alone():
    count, playouts = 64, LARGE // 2 // 64 // 75 + 1
    words, ko, passes, black = (np.repeat(x, count, axis=0) for x in jaxgo.Leaves.arguments_of(jaxgo.Position.empty(5)))
    leaves = jaxgo.Leaves(5, count, playouts, moves=True)

    def played(stream: int) -> np.ndarray:
        call = leaves.submit(words, ko, passes, black, np.full(count, jaxgo.STAY), stream + np.arange(count))
        return leaves.gather(call).events

    first = played(0)
    kept, there = first.copy(), place(first)
    second = played(count)
    assert place(second) != there
    np.testing.assert_array_equal(first, kept)
    del first
    third = played(0)
    assert place(third) == there
    np.testing.assert_array_equal(third, kept)
    leaves.close()
