"""Files of arrays and a few facts about them, in numpy's npz format."""

import contextlib
import io
import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

#: What comes of a file that is no npz, one of somebody else's, or damaged.
DAMAGED = (
    KeyError, ValueError, EOFError, TypeError, IndexError, OverflowError, AttributeError, MemoryError, RuntimeError, zlib.error,
    zipfile.BadZipFile, SyntaxError, tokenize.TokenError,
)  # fmt: skip


def write(path: str | os.PathLike | BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Writes a file with these arrays; `path` may be the open file itself.

    Raises:
      TypeError: it is neither.
      OSError: the file cannot be written.
    """
    with _opened(path, "w") as file:
        np.savez_compressed(file, **arrays)


def _opened(path: str | os.PathLike | BinaryIO, mode: str) -> contextlib.AbstractContextManager[Any]:
    if isinstance(path, (str, os.PathLike)):
        return open(path, f"{mode}b")
    if not hasattr(path, "read" if mode == "r" else "write"):
        raise TypeError(f"path must be the path of a file, or an open file, not {path!r:.100}")
    return contextlib.nullcontext(path)


def facts(kind: str, version: int, **values: Any) -> dict[str, str]:
    """What says what a file is, as one more of its arrays.

    Args:
      kind: the name of what is in it.
      version: of its form.
      **values: ready for JSON.
    """
    return {kind: json.dumps({"format": version, **values})}


@contextlib.contextmanager
def blamed_on(path: str | os.PathLike | BinaryIO, writer: str) -> Iterator[None]:
    """A context that makes something of what a file holds: that this cannot be done is the file's fault, a ValueError.

    Args:
      path: of the file, or the open file itself.
      writer: the method that writes such files, for people.
    """
    try:
        yield
    except DAMAGED as error:
        name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
        raise ValueError(f"path must be a file that {writer} has written, not {name!r}") from error


def read(path: str | os.PathLike | BinaryIO, kind: str, newest: int, writer: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(facts, arrays by name) of a file.

    Args:
      path: of the file, or the open file itself.
      kind: as given to `facts`.
      newest: the newest form that is known.
      writer: the method that writes such files, for people.

    Raises:
      TypeError: it is neither.
      ValueError: the file holds something else, or is of a newer form.
      OSError: the file cannot be read.
    """
    with _opened(path, "r") as whole:
        data = io.BytesIO(whole.read())  # what numpy cannot read of that is not the system's fault
    with blamed_on(path, writer):
        try:
            with np.load(data, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except OSError as error:
            raise ValueError(f"numpy cannot read it: {error}") from error
        about = json.loads(str(arrays.pop(kind)))
        version = int(about["format"])
    if version > newest:
        raise ValueError(f"path holds what {writer} writes in format {version}, this version of jaxgo reads up to {newest}")
    return about, arrays
