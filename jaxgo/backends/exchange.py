"""What a program on a CPU and the host tell each other while the program runs, by XLA's foreign function interface.

To begin a program costs about a tenth of a millisecond of processor time for each thousand operations that were written into
single loops (`jaxgo.base.one_loop`): XLA's CPU client sets up a buffer for every one of their values, though none is used. A
program that goes on, and hands out and takes in arrays while it runs, pays that once.

The interface is C (`c_api.h` beside `jax.ffi.include_dir()`), of which a call's frame and its buffers are read here with ctypes.
`trusted` tries it once per process.
"""

import contextlib
import ctypes
import functools
import itertools
import math
import pathlib
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.trials import tried

TARGET = "jaxgo_exchange"
#: Of the interface, whose major number says which frames are the ones below.
MAJOR = 0
EXECUTE, METADATA = 3, 1
#: By XLA's numbers.
DTYPES = {
    number: np.dtype(name)
    for number, name in ((1, "bool"), (2, "int8"), (3, "int16"), (4, "int32"), (6, "uint8"), (7, "uint16"), (8, "uint32"))
}

Answer = Callable[[list[np.ndarray], list[np.ndarray]], None]


class _Extension(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("next", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", _Version), ("traits", ctypes.c_uint32)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(_Metadata))]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("dtype", ctypes.c_int), ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class _Buffers(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("count", ctypes.c_int64), ("types", ctypes.c_void_p),
        ("buffers", ctypes.POINTER(ctypes.POINTER(_Buffer))),
    ]  # fmt: skip


class _Frame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("extension", ctypes.POINTER(_MetadataExtension)), ("api", ctypes.c_void_p),
        ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("arguments", _Buffers), ("results", _Buffers),
    ]  # fmt: skip


#: Of each of XLA's threads, whether Python keeps its state.
_threads = threading.local()
#: By number, the function, and the arrays that it was given and has filled, by where they are and of what: in a program that goes
#: on they stay in their places, and to make them takes longer than to find them.
_answers: dict[int, tuple[Answer, dict[tuple, np.ndarray]]] = {}
_numbers = itertools.count(1)


def exchange(number: jax.Array, given: Sequence[jax.Array], wanted: Sequence[jax.ShapeDtypeStruct]) -> Sequence[jax.Array]:
    """In a program for a CPU: gives arrays to the host's function of a number, and takes what it answers.

    Args:
      number: int32, as `answering` gives it.
      given: of the types in `DTYPES`.
      wanted: of the answer's arrays; likewise.
    """
    for dtype in (*(x.dtype for x in given), *(x.dtype for x in wanted)):
        if dtype not in DTYPES.values():
            raise TypeError(f"arrays to exchange must be of {', '.join(map(str, DTYPES.values()))}, not {dtype}")
    _register()
    return jax.ffi.ffi_call(TARGET, list(wanted), has_side_effect=True)(number, *given)


@functools.cache
def _register() -> None:
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_handler), platform="cpu")


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[int]:
    """Has a function of the host answer programs that run meanwhile; gives the number by which they know it.

    It is called with the arrays given, to be read, and those wanted, to be filled, both only until it returns; in a thread of
    XLA's. What it raises is raised at the end, and until then programs are answered with zeros, which must make them end.
    """
    failed: list[BaseException] = []

    def guarded(given: list[np.ndarray], wanted: list[np.ndarray]) -> None:
        try:
            if not failed:
                answer(given, wanted)
        except BaseException as error:
            failed.append(error)
        if failed:
            _zeros(given, wanted)

    number = next(_numbers)
    _answers[number] = guarded, {}
    try:
        yield number
    finally:
        del _answers[number]
    if failed:
        raise failed[0]


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Frame))
def _handler(frame_at) -> None:
    if not hasattr(_threads, "kept"):
        # Python would otherwise make and drop a state of the thread with each call, which takes time; and while it makes one, a
        # `tracemalloc.stop` elsewhere may crash it (CPython, up to 3.13).
        ctypes.pythonapi.PyGILState_Ensure()
        _threads.kept = True
    frame = frame_at[0]
    if frame.extension and frame.extension[0].base.kind == METADATA:
        version = frame.extension[0].metadata[0].version
        version.major, version.minor = _version()
    elif frame.stage == EXECUTE:
        number = ctypes.c_int32.from_address(frame.arguments.buffers[0][0].data).value
        answer, known = _answers.get(number, (_zeros, {}))
        answer(_arrays(frame.arguments, known)[1:], _arrays(frame.results, known))


def _zeros(given: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for array in wanted:
        array[...] = 0


def _arrays(buffers: _Buffers, known: dict[tuple, np.ndarray]) -> list[np.ndarray]:
    """Those of buffers, of which it adds to the known ones those that are not."""
    at, found = buffers.buffers, []
    for i in range(buffers.count):
        buffer = at[i][0]
        key = buffer.data, buffer.dtype, *buffer.dims[: buffer.rank]
        array = known.get(key)
        if array is None:
            array = known[key] = _array(*key)
        found.append(array)
    return found


def _array(data: int, number: int, *shape: int) -> np.ndarray:
    dtype: Any = DTYPES[number]
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(data)
    return np.frombuffer(memory, dtype, count).reshape(shape)


@functools.cache
def _version() -> tuple[int, int]:
    """Of the interface, as this jaxlib's header says."""
    header = (pathlib.Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text("utf-8")
    numbers = dict(re.findall(r"define XLA_FFI_API_(MAJOR|MINOR) (\d+)", header))
    return int(numbers["MAJOR"]), int(numbers["MINOR"])


@functools.cache
def trusted() -> bool:
    """Whether programs and the host reach each other so (tried once per process)."""

    def trial() -> bool:
        if _version()[0] != MAJOR:
            raise RuntimeError(f"its major version is {_version()[0]}, not {MAJOR}")
        seen: list[list[int]] = []

        def answer(given, wanted):
            seen.append(given[0].tolist())
            wanted[0][...] = given[0] + 1
            wanted[1][...] = len(seen) < 3

        def step(state):
            shapes = [jax.ShapeDtypeStruct((2,), np.int16), jax.ShapeDtypeStruct((), np.int32)]
            numbers, more = exchange(state[0], [state[1]], shapes)
            return state[0], numbers, more

        def program(number):
            return lax.while_loop(lambda x: x[2] != np.int32(0), step, (number, jnp.array([1, 7], jnp.int16), np.int32(1)))[1]

        with jax.default_device(jax.local_devices(backend="cpu")[0]), answering(answer) as number:
            found = np.asarray(jax.jit(program)(np.int32(number)))
        return found.tolist() == [4, 10] and seen == [[1, 7], [2, 8], [3, 9]]

    try:
        exact, reason = tried(trial), ""
    except Exception as error:  # whatever a compiler may raise
        exact, reason = False, f": {error}"
    if not exact:
        warnings.warn(f"programs of this XLA do not exchange arrays with the host; searches will be slower{reason}", stacklevel=2)
    return exact
