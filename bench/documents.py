"""Results, kept so that nothing is lost where a measurement is killed."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from jaxgo.base import files


def write(path: pathlib.Path, document: Mapping[str, Any]) -> None:
    """Writes a JSON document, whole or not at all."""
    files.write(path, json.dumps(document, indent=1, allow_nan=False).encode() + b"\n")
