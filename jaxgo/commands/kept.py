"""The file of `jaxgo evaluate --resume`: the playouts that are finished, and of what they are.

For each board size it is an `Evaluation` as `Evaluation.save` writes it, in `FILE.npz`, or where there are several sizes in
`FILE-9x9.npz` and so on; `Evaluation.load` reads it. A further member of the archive tells the positions and the policy.
"""

import hashlib
import io
import json
import os
import pathlib
import sys
import time
import zipfile
from collections.abc import Sequence

import numpy as np

from jaxgo.base import files, saved
from jaxgo.cli import UsageError
from jaxgo.results.evaluation import Evaluation

_MEMBER = "jaxgo_evaluate.json"
#: Seconds between two times that the file is written while playouts go on: what `kill -9` may cost.
_SECONDS = 5.0


class Kept:
    """The finished playouts of all positions of one board size, in a file.

    Args:
      path: the option's value.
      size: N.
      alone: whether there is no other size.
      names: the games' names.
      columns: uint32 [C, B], the positions and their streams on the wire.
      komi: float64 [B].
      seed: of the playouts.
      policy: whom they ask, as the option names them.
      asked: the same, as arrays: what a file that the option names held.

    Raises:
      UsageError: the file holds something else, or cannot be read or written.
    """

    def __init__(
        self, path: str, size: int, alone: bool, names: Sequence[str], columns: np.ndarray, komi: np.ndarray, seed: int,
        policy: str | None, asked: Sequence[np.ndarray] = (),
    ):  # fmt: skip
        if not path:
            raise UsageError("--resume must name a file, not ''")
        whole = pathlib.Path(path)
        self._path = whole if alone else whole.with_name(f"{whole.stem}-{size}x{size}{whole.suffix}")
        self._about = {"names": list(names), "policy": policy, "positions": _digest([columns])}
        if len(asked):
            self._about["policy_arrays"] = _digest(asked)
        self._written = 0.0
        self.can_be_written = True
        """Whether the last time that it was written it could be."""
        self.evaluation: Evaluation | None = None
        """The finished playouts; None before any."""
        if not self._path.exists():
            _check_can_write(self._path, path)
            return
        self.evaluation, about = self._read()
        held, found = self.evaluation, self.evaluation.played
        wrong = ""
        if about.get("positions") != self._about["positions"]:
            wrong = f"it is of other positions, of {', '.join(about.get('names') or ['an empty board'])}"
        elif len(found) != 1 or found[0].first or found[0].seed != (seed & 0xFFFFFFFF, seed >> 32):
            wrong = f"it is of another seed, {found[0].seed[0] | found[0].seed[1] << 32}, not {seed}"
        elif about.get("policy") != policy:
            wrong = f"its playouts asked {about.get('policy') or 'no policy'}, not {policy or 'none'}"
        elif about.get("policy_arrays", ours := self._about.get("policy_arrays")) != ours:
            wrong = f"its playouts asked {policy} when that had learned something else"
        elif not np.array_equal(np.broadcast_to(held.komi, komi.shape), komi):
            theirs, mine = (", ".join(f"{points:g}" for points in np.unique(x)) for x in (held.komi, komi))
            wrong = f"its komi is {theirs}, not {mine}"
        if wrong:
            raise UsageError(f"--resume {self._path}: the file cannot be gone on with: {wrong}")

    @property
    def finished(self) -> int:
        """Playouts of each position that are finished."""
        return int(self.evaluation.num_playouts[0]) if self.evaluation is not None else 0

    def add(self, part: Evaluation) -> None:
        """Adds a complete evaluation that goes on where this one ends; writes the first, and more now and then."""
        self.evaluation = part if self.evaluation is None else self.evaluation.plus(part)
        if time.monotonic() - self._written > _SECONDS:
            self.write()

    def write(self) -> None:
        """Writes what is finished; another program never sees half a file. Where it cannot be written (a full disk), stderr
        says so, and the work goes on."""
        if self.evaluation is None:
            return
        whole = io.BytesIO()
        self.evaluation.save(whole)
        with zipfile.ZipFile(whole, "a") as archive:
            archive.writestr(_MEMBER, json.dumps(self._about))
        try:
            files.write(self._path, whole.getvalue())
            self.can_be_written = True
        except OSError as error:
            self.can_be_written = False
            print(f"jaxgo evaluate: --resume {self._path}: the file cannot be written: {error.strerror}", file=sys.stderr)
        self._written = time.monotonic()

    def _read(self) -> tuple[Evaluation, dict]:
        if not self._path.is_file():  # a device that never ends would fill the memory
            raise UsageError(f"--resume {self._path}: this is no file")
        try:
            with zipfile.ZipFile(self._path) as archive:
                about = json.loads(archive.read(_MEMBER))
            return Evaluation.load(self._path), about
        except saved.DAMAGED as error:
            raise UsageError(f"--resume {self._path}: this is no file that --resume has written") from error
        except OSError as error:
            raise UsageError(f"--resume {self._path}: the file cannot be read: {error.strerror}") from error


def _digest(arrays: Sequence[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)).hexdigest()


def _check_can_write(path: pathlib.Path, given: str) -> None:
    """Finds out before the work begins whether there will be a file."""
    if path.suffix != ".npz":
        raise UsageError(f"--resume {given}: the name must end in .npz")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"--resume {given}: the file cannot be written: there is no such folder, or it is read-only")
