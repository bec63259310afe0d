"""What was found out about a compiler or a device, kept beside jax's compile cache, where there is one, else in the process."""

import json
import os
import pathlib
import tempfile
from typing import Any

import jax

#: The file in the compile cache's folder.
FILE = "jaxgo-findings.json"

_in_process: dict[str, Any] = {}


def recall(name: str) -> Any:
    """What was kept under a name, or None."""
    return _in_process.get(name, _held().get(name))


def keep(name: str, finding: Any) -> None:
    """Keeps a finding, which JSON can hold, under a name."""
    _in_process[name] = finding
    file = _file()
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=file.name, delete=False) as new:
            json.dump(_held() | {name: finding}, new, indent=1)
        os.replace(new.name, file)  # at once, for those who read meanwhile
    except OSError:  # a cache that cannot be written: the next process finds out again
        pass


def _held() -> dict[str, Any]:
    file = _file()
    try:
        held = json.loads(file.read_text()) if file else {}
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _file() -> pathlib.Path | None:
    folder = getattr(jax.config, "jax_compilation_cache_dir", None)
    return pathlib.Path(folder, FILE) if folder and "://" not in folder else None
