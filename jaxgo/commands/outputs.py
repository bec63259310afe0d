"""Where `jaxgo evaluate` writes a file for each game: one game's to the file that is named, those of several into a folder."""

import os
import pathlib
from collections.abc import Sequence

from jaxgo.cli import UsageError


def places(option: str, given: str, names: Sequence[str], suffixes: Sequence[str]) -> list[pathlib.Path]:
    """A file for each game. In a folder they lie as the games do below the folder that these have in common.

    Args:
      option: its name, for errors.
      given: what the option says: a file, or a folder that is there or, for several games, is made.
      names: the games' files.
      suffixes: those that a file may have; in a folder, files have the first.

    Raises:
      UsageError: the folder cannot be made or written to; a file has none of the suffixes, or would replace a game's own.
    """
    if not given:  # mostly a shell's variable that was not set
        raise UsageError(f"{option} must name a file or a folder, not ''")
    out = pathlib.Path(given)
    if len(names) == 1 and not out.is_dir() and not given.endswith(os.sep):
        if out.suffix.lower() not in suffixes:
            raise UsageError(f"{option} {given}: the name must end in {', '.join(sorted(suffixes))}")
        found = [out]
    else:
        if out.suffix.lower() in suffixes and not out.is_dir() and len(names) > 1:
            raise UsageError(f"{option} {given}: for {len(names)} games it must be a folder")
        found = _in_folder(out, names, suffixes[0])
        for folder in {path.parent for path in found}:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"{option} {given}: the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    for path in found:
        _check(option, path, names)
    return found


def _in_folder(out: pathlib.Path, names: Sequence[str], suffix: str) -> list[pathlib.Path]:
    paths = [os.path.abspath(name) if os.path.exists(name) else "" for name in names]
    common = os.path.commonpath([os.path.dirname(path) for path in paths if path] or [""])
    found: list[pathlib.Path] = []
    for name, path in zip(names, paths):
        # What was read from a pipe, what has gone since, and the empty board, lie at the top.
        inside = os.path.relpath(path, common) if path else os.path.basename(name) or "empty"
        first = place = (out / inside).with_suffix(suffix)
        number = 2
        while place in found:
            place, number = first.with_stem(f"{first.stem}-{number}"), number + 1
        found.append(place)
    return found


def _check(option: str, path: pathlib.Path, names: Sequence[str]) -> None:
    """Finds out before the work begins what would keep a file from being written at its end."""
    if any(name and path.exists() and os.path.exists(name) and os.path.samefile(path, name) for name in names):
        raise UsageError(f"{option} {path}: the file is the game record itself; give another name")
    existed = os.path.lexists(path)
    try:
        with open(path, "ab"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{option} {path}: the file cannot be written: {reason}") from error
    if not existed:
        os.remove(path)
