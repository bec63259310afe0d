"""Compiling the tree's loops, which Numba does at their first use: once for trees of counts and once for those of fractions
(weighted credits), each ten to thirty seconds of a core.

Where the compiler's time goes: LLVM takes half of it, for each function and again for all that have taken it in. So what few
searches need is a loop of its own, called from Python, and no part of one that all need. A literal number where a function is
called (0, in place of `np.int64(0)`) makes Numba compile it once more, for that number's own type.

No mathematics is rearranged (`fastmath` stays off) and nothing but IEEE 754's exactly rounded operations is used, so that trees
are equal on every machine. Where jax keeps what it compiles (see `jaxgo.base.cache`), the loops are kept beside it; where it
keeps nothing, nothing is written.
"""

import contextlib
import functools
import hashlib
import os
import pathlib
import threading
from typing import Any

import numba

from jaxgo.base import constants
from jaxgo.base.cache import folder_of_jax
from jaxgo.playing import lanes
from jaxgo.playing.policies import pattern_table
from jaxgo.results import sums
from jaxgo.running import leaf_columns, leaf_results

#: The modules with compiled functions, and with constants and named tuples of theirs. Numba sees that a function's own file has
#: changed, but not those of others that it needs.
CONSTANTS = (constants, lanes, leaf_columns, leaf_results, pattern_table, sums)
MODULES = (
    "backup", "chains", "compiled", "descent", "earnings", "features", "histories", "knowledge", "move_weights", "nodes",
    "priors", "rows", "selection", "shapes", "surroundings", "terms", "tree", "values",
)  # fmt: skip
#: Functions of which nobody has said yet where they are to be kept, and who sees to it: threads make trees at the same time.
_anywhere: list = []
_keeping = threading.Lock()


#: Of arrays nothing is allocated or kept in the loops, so that nobody needs to count who holds which (`_nrt`, as Numba's own
#: parts do): half the time of a descent.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def plain(x):
    """Named tuples as plain ones, those within them too: what Python hands to compiled functions.

    Numba looks at the type of a named tuple anew in each call, in Python: with plain ones the host's part of a round of 16 leaves
    takes 42 us in place of 58. The functions give the names back, which costs nothing.
    """
    return tuple(plain(each) for each in x) if isinstance(x, tuple) else x


def part(function):
    """Compiles a function for plain numbers and arrays that compiled functions alone call, as a part of these.

    A call of its own would pass the tree's memory as a hundred numbers, seven to thirteen for each array: two thirds of the time
    of a descent. So the compiler must put parts where they are called, which it is told here.
    """
    return numba.njit(no_cpython_wrapper=True, forceinline=True, **_OPTIONS)(function)


def once(function):
    """A part that one function calls, in a place or two: it is put there before types are worked out, so that LLVM, where most of
    the compiler's time goes, sees it there alone. Python can call it too, which compiles it.
    """
    return numba.njit(nogil=True, inline="always", **_OPTIONS)(function)


def rare(function):
    """A part that is seldom called, and so is better apart: the code that is run always stays short."""
    return numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function)


def compiled(function):
    """Compiles a function for plain numbers and arrays; it holds no lock while it runs. In compiled functions it is a part."""
    return _for_python(function, nogil=True)


def brief(function):
    """The same for what takes microseconds: it keeps Python's lock, as to get that back from another thread takes longer."""
    return _for_python(function, nogil=False)


def _for_python(function, nogil: bool):
    dispatcher = numba.njit(nogil=nogil, forceinline=True, **_OPTIONS)(function)
    _anywhere.append(dispatcher)
    return dispatcher


def keep_loops() -> None:
    """Has the loops kept, from before they are first called on: whoever makes a tree says so, as only then it is known where.

    Until then a program may say where jax is to keep what it compiles, whatever it has imported.
    """
    if not _anywhere:
        return
    with _keeping:
        place = folder_of_jax() if _anywhere else None
        folder = None if place is None else _folder(place)
        if folder is None:
            return
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, folder
        try:
            for function in _anywhere:
                function.enable_caching()
                _forgive(function)
        finally:
            config.CACHE_DIR = before
        _anywhere.clear()


def _forgive(function) -> None:
    """Has a loop compiled anew where what is kept of it cannot be read, and not kept where it cannot be written.

    Numba raises what comes of a damaged file or a full disk, in every process. Its cache is not public; where that is another, it
    stays so.
    """
    cache: Any = getattr(function, "_cache", None)
    load, save, flush = (getattr(cache, name, None) for name in ("load_overload", "save_overload", "flush"))
    if load is None or save is None or flush is None:
        return

    def load_if_whole(*asked):
        try:
            return load(*asked)
        except Exception:
            with contextlib.suppress(Exception):
                flush()
            return None

    def save_if_possible(*kept) -> None:
        with contextlib.suppress(Exception):
            save(*kept)

    cache.load_overload, cache.save_overload = load_if_whole, save_if_possible


@functools.cache
def _folder(place: pathlib.Path) -> str | None:
    """Where compiled loops are kept there: a folder of this version's own; None where none can be."""
    files = [pathlib.Path(__file__).with_name(f"{name}.py") for name in MODULES]
    files += [pathlib.Path(str(module.__file__)) for module in CONSTANTS]
    source = b"".join(path.read_bytes() for path in files if path.exists())
    folder = os.path.join(place, f"tree-{hashlib.sha256(source).hexdigest()[:16]}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
