"""Files that are written whole or not at all, so that nothing is lost where a measurement is killed."""

import json
import os
import pathlib
from collections.abc import Mapping


def write(path: pathlib.Path, data: bytes) -> None:
    """Writes a file; it is on the disk when this returns."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_document(path: pathlib.Path, document: Mapping[str, object]) -> None:
    """Writes a JSON document."""
    write(path, json.dumps(document, indent=1, allow_nan=False).encode() + b"\n")
