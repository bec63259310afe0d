"""What was found out about a compiler or a device, kept beside jax's compile cache, where there is one, else in the process."""

import json
import pathlib
from typing import Any

from jaxgo.base import cache

#: The file in the compile cache's folder.
FILE = "jaxgo-findings.json"

_in_process: dict[str, Any] = {}


def recall(name: str) -> Any:
    """What was kept under a name, or None."""
    return _in_process[name] if name in _in_process else _held().get(name)


def keep(name: str, finding: Any) -> None:
    """Keeps a finding, which JSON can hold, under a name."""
    _in_process[name] = finding
    file = _file()
    if file is not None:  # where it cannot be written, the next process finds out again
        cache.write(file, json.dumps(_held() | {name: finding}, indent=1).encode())


def _held() -> dict[str, Any]:
    file = _file()
    try:
        held = json.loads(file.read_text()) if file else {}
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _file() -> pathlib.Path | None:
    folder = cache.folder_of_jax()
    return folder and folder / FILE
