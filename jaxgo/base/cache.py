"""A folder in which jax keeps what it compiles, so that a process need not compile what another has compiled.

Importing this module does not import jax.
"""

import contextlib
import os
import pathlib
import sys
import tempfile


def keep_compiled(folder: str | os.PathLike | None = None) -> str | None:
    """Has jax keep compiled programs in a folder, in this process and those it starts.

    A library does not write to people's disks unasked, so every process compiles anew (seconds) unless this is called once,
    before or after jax is imported; the commands do.

    Args:
      folder: where; by default $JAXGO_CACHE, or the folder `jaxgo` of the user's caches. JAXGO_CACHE=off keeps none.

    Returns:
      The folder; None where none is kept, or jax has been told of another folder already, which then stays.

    Raises:
      OSError: a folder that was asked for cannot be written to. (If the default one cannot, nothing is kept.)
    """
    asked = os.fspath(folder) if folder is not None else os.environ.get("JAXGO_CACHE", "")
    if asked.lower() == "off" or _known_to_jax():
        return None
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not asked and not os.path.isabs(caches):
        return None  # of somebody without a home, as in a container: the folder would lie where he happens to be
    place = os.path.abspath(asked or os.path.join(caches, "jaxgo"))  # for a process that goes elsewhere, and those it starts
    try:
        os.makedirs(place, exist_ok=True)
        usable = os.access(place, os.W_OK)
    except OSError:
        usable = False
    if not usable:
        if asked:
            raise OSError(f"the folder {asked!r} cannot be written to")
        return None
    # Environment variables, which processes inherit; and jax's settings, which it has made of them if it is imported already.
    os.environ["JAX_COMPILATION_CACHE_DIR"] = place
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")  # many small programs add up to a second
    if "jax" in sys.modules:
        import jax

        jax.config.update("jax_compilation_cache_dir", place)
        least = float(os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"])
        jax.config.update("jax_persistent_cache_min_compile_time_secs", least)
    return place


def folder_of_jax() -> pathlib.Path | None:
    """The folder in which jax, which has been imported, keeps programs; None where it keeps none, or keeps them elsewhere."""
    folder = getattr(sys.modules["jax"].config, "jax_compilation_cache_dir", None)
    return pathlib.Path(folder) if folder and "://" not in folder else None


def write(path: pathlib.Path, data: bytes) -> None:
    """Writes a file, whole and at once, for those who read meanwhile; not at all where that cannot be done."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            new = pathlib.Path(file.name)
            try:
                file.write(data)
                file.flush()
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)


def _known_to_jax() -> bool:
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return True
    return "jax" in sys.modules and bool(getattr(sys.modules["jax"].config, "jax_compilation_cache_dir", None))
