"""Compiled programs on disk, beside what jax keeps there: a process that finds one need not even trace it.

jax keeps what XLA has compiled, but to find it a program must be traced and lowered first, which for playouts by patterns takes
twice as long as to load it. Here an executable lies under a digest of its lowered text, the machine and the settings; and each
version of this package has a list of which it is for what. Where it cannot be told for certain what a program is for (a policy
from outside of this package, several processes, a GPU, whose kernel is on or off), it is not listed, and made as ever; likewise
where jax keeps nothing.

Executables are as jax's `jax.experimental.serialize_executable` gives them. As with jax's own, who can write to the folder can
run programs in the processes that read it.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import pickle
import platform
import sys
import threading
import time
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from jaxgo.backends.choice import backend_of
from jaxgo.base import cache, one_loop, processor

#: Of a file: the digest of the rest of it.
DIGEST = 32
#: When this package was imported, seconds since 1970.
_IMPORTED = time.time()


class _Unknown(Exception):
    """It cannot be told what a program was made from."""


class Place:
    """Where the program for something is kept.

    Args:
      folder: of all programs.
      source: a digest of what it is made from.
      settings: what it is compiled with.
      of: a text that tells what it is for.
      devices: whose it is.
    """

    def __init__(self, folder: pathlib.Path, source: str, settings: str, of: str, devices: tuple):
        self._folder, self._settings, self._devices = folder, settings, devices
        self.entry = folder / source[:16] / _digest(settings, of)

    def found(self) -> jax.stages.Compiled | None:
        """The program; None where there is none, or none that can be used."""
        with contextlib.suppress(OSError, ValueError):  # also where there is something else than a name
            return self._load(self._folder / self.entry.read_text("ascii"))
        return None

    def compiled(self, lowered: jax.stages.Lowered) -> jax.stages.Compiled:
        """The program, made of its lowered form; kept where that can be done."""
        path = self._folder / _digest(self._settings, lowered.in_tree, lowered.out_tree, lowered.as_text())
        program = self._load(path)
        if program is None:
            with _fresh() as is_fresh:
                program = lowered.compile()
            if is_fresh():
                _save(path, program)
        if path.exists():
            cache.write(self.entry, path.name.encode())
        return program

    def _load(self, path: pathlib.Path) -> jax.stages.Compiled | None:
        from jax.experimental import serialize_executable

        with contextlib.suppress(Exception):  # what is damaged, or of a jax that reads it otherwise, is made anew
            data = path.read_bytes()
            if hashlib.sha256(data[DIGEST:]).digest() == data[:DIGEST]:
                executable, in_tree, out_tree = pickle.loads(zlib.decompress(data[DIGEST:]))
                return serialize_executable.deserialize_and_load(
                    executable, in_tree, out_tree, execution_devices=list(self._devices)
                )
        return None


def place_of(kind: str, key: tuple) -> Place | None:
    """Where a program is kept; None where it is not.

    Args:
      kind: of the program, a word.
      key: what it is for; its devices, a tuple, are the last.
    """
    folder, devices = cache.folder_of_jax(), key[-1]
    unlimited = getattr(jax.config, "jax_compilation_cache_max_size", -1) == -1  # by whoever set a limit, jax alone is to fill it
    keeps = unlimited and getattr(jax.config, "jax_enable_compilation_cache", False) and backend_of(devices[0]).keeps
    if not keeps or folder is None or jax.process_count() > 1:
        return None
    try:
        source, of = _source(), "\n".join((kind, *map(_told, key[:-1])))
    except _Unknown:
        return None
    return Place(folder / "programs", source, f"{_machine()}\n{_settings(devices)}", of, devices)


def _save(path: pathlib.Path, program: jax.stages.Compiled) -> None:
    from jax.experimental import serialize_executable

    with contextlib.suppress(Exception):  # what cannot be written down is made again
        data = zlib.compress(pickle.dumps(serialize_executable.serialize(program)), 1)  # a fifth
        cache.write(path, hashlib.sha256(data).digest() + data)


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


#: Of each thread, how often jax has found a program on disk, and how often it has put one there.
_counts = threading.local()
_FOUND, _PUT = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"


@contextlib.contextmanager
def _fresh() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether this thread has compiled what it has made in the meantime.

    What jax has found on disk cannot be kept: XLA leaves out functions when it writes a CPU's program for a second time.
    """
    _listen()
    before = _counts.__dict__.copy()

    def since(event: str) -> int:
        return _counts.__dict__.get(event, 0) - before.get(event, 0)

    yield lambda: since(_PUT) > 0 and since(_FOUND) == 0


@functools.cache
def _listen() -> None:
    def count(event: str, **_) -> None:
        if event in (_FOUND, _PUT):
            _counts.__dict__[event] = _counts.__dict__.get(event, 0) + 1

    jax.monitoring.register_event_listener(count)


@functools.cache
def _source() -> str:
    """A digest of this package's source.

    Raises:
      _Unknown: it has been changed since it was imported, so that what runs here may be the old one.
    """
    package = pathlib.Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.stat().st_mtime > _IMPORTED:
            raise _Unknown(path)
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _machine() -> str:
    """Versions, and the processor with its abilities."""
    versions = jax.__version__, importlib.metadata.version("jaxlib"), np.__version__, sys.version
    return "\n".join((*versions, platform.system(), platform.machine(), platform.processor(), processor.abilities()))


def _settings(devices: tuple) -> str:
    """The devices, and what decides how programs are made for them."""
    backend, client = backend_of(devices[0]), devices[0].client
    return repr((
        [(device.platform, device.device_kind, device.id) for device in devices], client.platform_version, len(client.devices()),
        type(backend).__qualname__, backend.form, sorted(backend.compiler_options().items()), backend.exchanges(),
        one_loop.trusted(), os.environ.get("XLA_FLAGS"), os.environ.get("LIBTPU_INIT_ARGS"),
        jax.dtypes.canonicalize_dtype(np.float64),
    ))  # fmt: skip


def _told(x: Any) -> str:
    """A text that only equal things have.

    Raises:
      _Unknown: something of a kind that is not known here, or from outside of this package.
    """
    if x is None or isinstance(x, (bool, int, float, str, bytes)):
        return repr(x)
    if isinstance(x, (np.dtype, jax.ShapeDtypeStruct)):
        return repr(x) if isinstance(x, np.dtype) else f"{x.shape} {x.dtype}"
    kind = type(x)
    if kind in (tuple, list):
        return f"{kind.__name__}({','.join(map(_told, x))})"
    if kind is functools.partial:
        return f"partial({','.join(map(_told, (x.func, *x.args, *sorted(x.keywords.items()))))})"
    if isinstance(x, types.FunctionType) and x.__closure__ is None and "<" not in x.__qualname__ and _is_ours(x):
        return f"{x.__module__}.{x.__qualname__}"
    if not _is_ours(kind):
        raise _Unknown(kind)
    if hasattr(x, "with_arrays"):  # the form of a policy, whose structure hides what it is of
        parts = x.with_arrays(x.shapes),
    elif hasattr(x, "STATIC"):
        parts = tuple(getattr(x, name) for name in (*x.STATIC, *x.ARRAYS))
    elif isinstance(x, tuple):
        parts = tuple(x)
    elif dataclasses.is_dataclass(x):
        parts = tuple(getattr(x, field.name) for field in dataclasses.fields(x))
    else:
        raise _Unknown(kind)
    return f"{kind.__module__}.{kind.__qualname__}({','.join(map(_told, parts))})"


def _is_ours(x: Any) -> bool:
    """Whether a class or function is of this package."""
    return x.__module__.partition(".")[0] == __name__.partition(".")[0]
