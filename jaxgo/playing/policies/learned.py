"""Files of what policies have learned: arrays and a few facts, in numpy's npz format."""

import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

#: The form of the files.
FORMAT = 1


def save(path: str | os.PathLike, what: str, facts: Mapping[str, Any], **arrays: Any) -> None:
    """Writes a file.

    Args:
      path: where to.
      what: the name of what is in it.
      facts: ready for JSON, the board's `size` among them.
      **arrays: the arrays by name.
    """
    held: dict[str, Any] = {what: np.asarray(json.dumps({"format": FORMAT, **facts}))}
    held |= {name: np.asarray(array) for name, array in arrays.items()}
    with open(path, "wb") as file:
        np.savez_compressed(file, **held)


def load(path: str | os.PathLike, what: str, writer: str, *names: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(facts, arrays by name) of a file that `save` has written.

    Args:
      path: of the file.
      what: as given to `save`.
      writer: what writes such files, for people.
      *names: of the arrays.

    Raises:
      ValueError: the file holds something else, or is of a newer format.
      OSError: the file cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            facts, arrays = json.loads(str(file[what])), {name: file[name] for name in names}
        version, size = int(facts["format"]), int(facts["size"])
    except (KeyError, ValueError, EOFError, TypeError, IndexError, zipfile.BadZipFile) as error:  # no npz, or somebody else's
        raise ValueError(f"path must be a file that {writer} has written, not {os.fspath(path)!r}") from error
    if version > FORMAT:
        raise ValueError(f"path holds a table of format {version}, this version of jaxgo reads up to {FORMAT}")
    return {**facts, "size": size}, arrays
