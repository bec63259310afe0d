"""A collection's folder: what is finished is what it holds.

- `collection.json`: the settings. What differs is refused. When all is done, it says so.
- `9x9/000012.parquet`: part 12, of a 9x9 board, with all that is known of it. It is there whole or not at all.
- `rejects.parquet`: what could not be evaluated, and why. It is made of what the inputs and the parts say, when a run ends.
- `.lock`: held by the process that works on the folder.
"""

import json
import os
import pathlib
import re
from collections.abc import Iterable, Iterator

from jaxgo.base import files
from search.collection.inputs import MANIFEST, REJECTS, Reject
from search.collection.settings import Settings, difference

LOCK = ".lock"
_PART = re.compile(r"([0-9]{6,})\.parquet")
_FOLDER = re.compile(r"([0-9]+)x\1")


class Unusable(Exception):
    """The folder cannot be used as asked; the text says why and what to do."""


class Unwritable(Unusable):
    """A file cannot be written, and is not there; the text says which and why."""


class Store:
    """The folder while a run works on it. To be closed, or used in a `with`.

    Args:
      folder: made if need be; empty, or a collection's.
      settings: of the collection.

    Raises:
      Unusable: the folder cannot be used, belongs to something else or to other settings, or is in use.
    """

    def __init__(self, folder: str, settings: Settings):
        self._folder, self._name = pathlib.Path(folder), folder
        given = settings.as_document()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            new = not (self._folder / MANIFEST).exists()
            if new and any(path.name not in (LOCK, f".{MANIFEST}{files.UNFINISHED}") for path in self._folder.iterdir()):
                raise Unusable(f"the folder {folder!r} holds other files but no {MANIFEST}; choose an empty one")
            self._lock = (self._folder / LOCK).open("ab")
        except OSError as error:
            raise Unusable(f"the folder {folder!r} cannot be used: {error.strerror}") from error
        try:
            self._take()
            if new:
                self._write_manifest(given)
            elif text := difference(self._manifest()["settings"], given):
                raise Unusable(f"the folder {folder!r} holds a collection with {text}; choose another folder")
            self._clean()
        except OSError as error:
            self._lock.close()
            raise Unusable(f"the folder {folder!r} cannot be written to: {error.strerror}") from error
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_) -> None:
        self._lock.close()

    def finished(self) -> dict[int, pathlib.Path]:
        """The files of the parts that are done, by number."""
        return dict(part_files(self._folder))

    def path(self, number: int, size: int) -> pathlib.Path:
        """Where a part's file is, or will be."""
        return self._folder / f"{size}x{size}" / f"{number:06d}.parquet"

    def add(self, number: int, size: int, file: bytes) -> None:
        """Writes a part's file.

        Raises:
          Unwritable: it cannot be written; the part does not count.
        """
        _write(self.path(number, size), file)

    def begin_again(self, settings: Settings) -> None:
        """Notes that there is more to do, where an earlier run had done all that there was.

        Raises:
          Unwritable: it cannot be written.
        """
        if self._manifest().get("complete") is not None:
            self._write_manifest(settings.as_document())

    def end(self, rejects: Iterable[Reject], settings: Settings, complete: dict | None) -> None:
        """Writes what could not be evaluated, and in the manifest that all is done, where it is.

        Args:
          rejects: all that are known.
          settings: of the collection.
          complete: what to say of a collection that is complete; None for one that is not.

        Raises:
          Unwritable: it cannot be written.
        """
        from search.collection.tables import rejects_file

        _write(self._folder / REJECTS, rejects_file(sorted(rejects, key=lambda x: (x.game, x.variation, x.ply, x.reason))))
        if complete is not None:
            self._write_manifest(settings.as_document(), complete)

    def _take(self) -> None:
        if not files.take(self._lock.fileno()):
            raise Unusable(f"the folder {self._name!r} is in use by another run")

    def _clean(self) -> None:
        """Removes what was being written when an earlier run was killed."""
        for path in [*self._folder.glob(f".*{files.UNFINISHED}"), *self._folder.glob(f"*/.*{files.UNFINISHED}")]:
            path.unlink()

    def _manifest(self) -> dict:
        return manifest_of(self._name)

    def _write_manifest(self, settings: dict, complete: dict | None = None) -> None:
        text = json.dumps({"settings": settings, "complete": complete}, indent=1)
        _write(self._folder / MANIFEST, text.encode() + b"\n")


def manifest_of(folder: str) -> dict:
    """What a collection's folder says of itself: its `settings`, and what is known of it once it is `complete`, else None.

    Raises:
      Unusable: there is none.
    """
    path = pathlib.Path(folder) / MANIFEST
    try:
        found = json.loads(path.read_bytes())
        if not {"bot", "playouts", "seed"} <= found["settings"].keys():
            raise ValueError
    except FileNotFoundError:
        raise Unusable(f"the folder {folder!r} holds no collection: it has no {MANIFEST}") from None
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Unusable(f"{path} is no collection's; choose another folder") from None
    return found


def part_files(folder: str | os.PathLike) -> Iterator[tuple[int, pathlib.Path]]:
    """(number, file) of the parts that a folder holds, in order of board size and number."""
    places = [path for path in pathlib.Path(folder).iterdir() if _FOLDER.fullmatch(path.name)]
    for place in sorted(places, key=lambda path: int(path.name.partition("x")[0])):
        found = [(int(match[1]), path) for path in place.iterdir() if (match := _PART.fullmatch(path.name))]
        yield from sorted(found)


def _write(path: pathlib.Path, data: bytes) -> None:
    """Writes a whole file or none, on the disk when this returns."""
    try:
        path.parent.mkdir(exist_ok=True)
        files.write(path, data)
    except OSError as error:
        raise Unwritable(f"{path} cannot be written: {error.strerror}") from error
