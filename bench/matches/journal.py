"""A match in a folder: its conditions, a line for each game as it ends, and the games' records.

- `match.json`: the conditions, the version and the commit. A folder holds one match; what differs is refused.
- `games.jsonl`: a line for each finished game, on the disk before the next is counted. Nothing else says that a game has been
  played, so that a match that was killed goes on where it was: no game is lost and none counts twice.
- `0001.sgf` and so on: the records, each there before its line.
"""

import contextlib
import io
import json
import os
import pathlib

from bench import documents
from jaxgo.base import files
from jaxgo.cli import UsageError

CONDITIONS, GAMES = "match.json", "games.jsonl"


class Journal:
    """The games of a match that are finished, in a folder; one process may have it open. To be closed, or used in a `with`.

    Args:
      folder: made if need be; empty, or a match's.
      conditions: whatever two runs must have in common to be one match, ready for JSON.

    Raises:
      UsageError: the folder cannot be used, belongs to something else or to another match, or is in use.
    """

    def __init__(self, folder: str, conditions: dict):
        self._folder, self._name = pathlib.Path(folder), folder
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._new and any(path.name not in (GAMES, f".{CONDITIONS}.part") for path in self._folder.iterdir()):
                raise UsageError(f"the folder {folder!r} holds other files but no {CONDITIONS}; choose an empty one")
            self._file = (self._folder / GAMES).open("ab+", buffering=0)  # what cannot be written is not kept for later
        except OSError as error:
            raise UsageError(f"the folder {folder!r} cannot be used: {error.strerror}") from error
        try:
            self._lock()
            if self._new:  # now that nobody else can begin a match here
                documents.write(self._folder / CONDITIONS, conditions)
            else:
                self._compare(conditions)
            self.games = self._read()
            """What is known of each finished game, by its number."""
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def add(self, game: dict, record: bytes) -> None:
        """Notes a finished game.

        Args:
          game: what is known of it, with its `number`.
          record: its SGF record.

        Raises:
          OSError: it cannot be written; the game does not count.
        """
        files.write(self._folder / f"{game['number']:04d}.sgf", record)
        line, before = memoryview(json.dumps(game).encode() + b"\n"), self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            error.filename = str(self._folder / GAMES)
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise
        self.games[game["number"]] = game

    def close(self) -> None:
        """Gives the folder free."""
        self._file.close()

    @property
    def _new(self) -> bool:
        """Whether the folder holds no match yet."""
        return not (self._folder / CONDITIONS).exists()

    def _lock(self) -> None:
        """Takes the folder for this process, where its file system has locks."""
        if not files.take(self._file.fileno()):
            raise UsageError(f"the folder {self._name!r} is in use by another match")

    def _compare(self, conditions: dict) -> None:
        """That the folder's match is this one."""
        try:
            held = json.loads((self._folder / CONDITIONS).read_bytes())
        except ValueError:
            raise UsageError(f"{self._folder / CONDITIONS} cannot be read; choose another folder") from None
        given = json.loads(json.dumps(conditions))  # tuples are lists there
        told_by_others = ("conditions", "names")  # what the options come to; the options themselves are told of first
        for name in sorted({*held, *given}, key=lambda name: (name in told_by_others, name)):
            if held.get(name) != given.get(name):
                difference = f"{name} {held.get(name)!r}, not {given.get(name)!r}"
                difference += " (--memory and --workers say how much a tree has)" if name == "memory_of_a_tree" else ""
                raise UsageError(f"the folder {self._name!r} holds a match with {difference}; choose another folder")

    def _read(self) -> dict[int, dict]:
        """The games noted; the end of a line that was being written when its process was killed is cut off."""
        self._file.seek(0)
        games, good = {}, 0
        for line in io.BytesIO(self._file.readall()):
            if not line.endswith(b"\n"):
                break
            try:
                game = json.loads(line)
                games[game["number"]] = game
            except (ValueError, TypeError, KeyError):
                raise UsageError(f"{self._folder / GAMES}, byte {good}: this is no game's line; choose another folder") from None
            good += len(line)
        self._file.truncate(good)
        return games
