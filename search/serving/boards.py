"""Positions that come as arrays: numpy's npz format, read without trusting it."""

import dataclasses
import io
import math
import sys
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jaxgo import BLACK, NO_KO, Evaluation
from jaxgo.base import checks, saved
from jaxgo.base.constants import INT32_MAX, MAX_SIZE, MIN_SIZE
from jaxgo.results.sums import STATISTICS
from jaxgo.running.pieces import PIECE
from search.serving.limits import MALFORMED, NOT_ALLOWED, TOO_LARGE, Limits, Refusal

#: Arrays that a request may have; only the first must be there.
ARRAYS = ("boards", "to_play", "ko", "passes", "komi", "playouts", "seed", "streams", "first_playout", "statistics")
#: Arrays of the answer, besides those that `Evaluation.load` reads.
RATES = ("num_playouts", "win_rate", "win_rate_error", "margin_mean", "margin_std", "length_mean", "truncated")
#: Where a request does not say.
PLAYOUTS, KOMI, SEED = 1_000, 7.5, 0
#: Ways to pack that bound what they unpack at a time.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What zipfile and numpy raise of files that are none.
_UNREADABLE = (*saved.DAMAGED, OSError)
#: Bytes of an array of the answer, besides its numbers.
_OF_ARRAY = 300


@dataclasses.dataclass(frozen=True, eq=False)
class Boards:
    """What `jaxgo.evaluate` is to be asked: B positions, their stones not checked yet."""

    boards: np.ndarray
    """Integers [B, N, N], as `Position.from_array` takes them."""
    to_play: np.ndarray
    ko: np.ndarray
    passes: np.ndarray
    """int32 [B] each."""
    komi: float | np.ndarray
    """Or float64 [B]."""
    playouts: int = PLAYOUTS
    seed: int = SEED
    first_playout: int = 0
    streams: np.ndarray | None = None
    """int32 [B]."""
    statistics: tuple[str, ...] = STATISTICS

    @property
    def positions(self) -> int:
        """B."""
        return len(self.boards)

    @property
    def size(self) -> int:
        """N."""
        return self.boards.shape[1]

    @property
    def work(self) -> int:
        """Playouts of all positions."""
        return self.positions * self.playouts

    @property
    def pieces(self) -> int:
        """In how many they are played where there are not too many (`jaxgo.running.pieces`)."""
        return self.positions * -(-self.playouts // PIECE)

    @property
    def key(self) -> tuple:
        """Requests with one key can be evaluated together: numpy joins their arrays, of numbers with signs or without, too."""
        return self.size, self.seed, self.statistics, self.boards.dtype.kind

    @property
    def held(self) -> int:
        """Bytes of the arrays."""
        arrays = (self.boards, self.to_play, self.ko, self.passes, self.komi, self.streams)
        return sum(x.nbytes for x in arrays if isinstance(x, np.ndarray))

    @property
    def answer(self) -> int:
        """Bytes of the answer, about."""
        points = self.size**2
        numbers = {"margins": 2 * points + 1, "ownership": 2 * points, "amaf": 4 * points}
        return 8 * self.positions * (20 + sum(numbers[name] for name in self.statistics)) + _OF_ARRAY * 24


def read(body: bytes, limits: Limits) -> Boards:
    """Reads and checks a request.

    Args:
      body: a file that `np.savez` or `np.savez_compressed` has written.
      limits: of what it may ask for.

    Raises:
      Refusal: it is no such file, an array is not what it must be, or it asks for more than is allowed.
    """
    arrays = unpacked(body, limits.body)
    for name in arrays:
        if name not in ARRAYS:
            raise Refusal(NOT_ALLOWED, f"an array must be one of {', '.join(ARRAYS)}, not {name!r:.60}", f"{name:.60}")
    boards = arrays.get("boards")
    if boards is None:
        raise Refusal(NOT_ALLOWED, "boards must be there: integers [B, N, N], 1 Black, -1 White, 0 empty", "boards")
    boards = boards[None] if boards.ndim == 2 else boards
    if boards.dtype.kind not in "iu" or boards.ndim != 3 or boards.shape[1] != boards.shape[2] or not len(boards):
        text = f"boards must hold integers of shape [B, N, N] or [N, N], not {boards.dtype} of {arrays['boards'].shape}"
        raise Refusal(NOT_ALLOWED, text, "boards")
    if not MIN_SIZE <= boards.shape[1] <= MAX_SIZE:
        text = f"boards must be of a size between {MIN_SIZE} and {MAX_SIZE}, not {boards.shape[1]}"
        raise Refusal(NOT_ALLOWED, text, "boards")
    batch = len(boards)

    def integers(name: str, default: int, most: int) -> np.ndarray:
        return _checked(name, lambda: checks.integers(name, arrays.get(name, default), (batch,), -1, most))

    def integer(name: str, default: int, least: int, most: int = INT32_MAX) -> int:
        return _checked(name, lambda: checks.integer(name, _one(arrays.get(name, default)), least, most))

    playouts = integer("playouts", PLAYOUTS, 1)
    limits.check(batch, playouts, ("boards", "playouts"))
    first = integer("first_playout", 0, 0)
    _checked("first_playout", lambda: checks.integer("first_playout + playouts", first + playouts, 1))
    streams = _checked("streams", lambda: checks.integers("streams", arrays.get("streams", 0), (batch,), 0, INT32_MAX))
    return Boards(
        boards=boards, to_play=integers("to_play", BLACK, 1), ko=integers("ko", NO_KO, boards.shape[1] ** 2 - 1),
        passes=integers("passes", 0, 2), komi=_checked("komi", lambda: checks.komis(arrays.get("komi", KOMI), batch)),
        playouts=playouts, seed=integer("seed", SEED, 0, 2**64 - 1), first_playout=first,
        streams=streams if "streams" in arrays else None, statistics=_statistics(arrays.get("statistics")),
    )  # fmt: skip


def packed(found: Evaluation) -> bytes:
    """The answer: what `Evaluation.load` reads, the rates of `RATES`, and the ownership where that was asked for."""
    arrays = found.arrays() | {name: getattr(found, name) for name in RATES}
    if found.sums.owned is not None:
        arrays["ownership"] = found.ownership
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpacked(body: bytes, most: int) -> Mapping[str, np.ndarray]:
    """The arrays of an npz file by name: plain numbers and texts, of no more than so many bytes together.

    Sizes are looked at before anything is made of them: a short file may claim to hold arrays of any size.

    Raises:
      Refusal: it is no such file, holds other things, or is larger.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            members = file.infolist()
            size = sum(member.file_size for member in members)
            if size > most:
                raise Refusal(TOO_LARGE, f"the arrays must take at most {most:,} bytes, not {size:,}")
            if any(member.compress_type not in _PACKINGS for member in members):
                raise ValueError("it is packed in a way that np.savez does not know")
            if len(members) > len(ARRAYS):
                raise Refusal(MALFORMED, f"the file must hold at most {len(ARRAYS)} arrays, not {len(members)}")
            return {member.filename.removesuffix(".npy"): _array(member.filename, _data(file, member)) for member in members}
    except _UNREADABLE as error:
        raise Refusal(MALFORMED, f"the body must be a file of np.savez: {error}") from None


def _data(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """What a member holds, as far as it says so itself: without a number of bytes all of it would be unpacked first."""
    with file.open(member) as packed:
        return packed.read(member.file_size)


def _array(name: str, data: bytes) -> np.ndarray:
    """The array of a file of numpy's npy format."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read_header(stream)
    except MemoryError:  # what Python's parser raises of brackets or signs too deep
        raise ValueError(f"{name!r:.60} has a header that is no plain text of Python's") from None
    if dtype.kind not in "biufU" or not dtype.itemsize:
        raise ValueError(f"{name!r:.60} holds {dtype}, which are neither numbers nor texts")
    left, wanted = len(data) - stream.tell(), math.prod(shape) * dtype.itemsize
    if left != wanted or min(shape, default=0) < 0:
        raise ValueError(f"{name!r:.60} claims to hold {wanted:,} bytes, and holds {left:,}")
    flat = np.frombuffer(data, dtype, offset=stream.tell()) if wanted else np.zeros(math.prod(shape), dtype)
    if dtype.kind == "U" and (flat.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder)) > sys.maxunicode).any():
        raise ValueError(f"{name!r:.60} holds signs that Unicode does not have")
    return flat.reshape(shape, order="F" if fortran else "C")


def _one(value) -> Any:
    """The number of an array that holds one."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _statistics(value: np.ndarray | None) -> tuple[str, ...]:
    if value is None:
        return STATISTICS
    names = value.reshape(-1).tolist()
    for name in names:
        if name not in STATISTICS:
            text = f"statistics must be of {', '.join(STATISTICS)}, not {str(name):.60}"
            raise Refusal(NOT_ALLOWED, text, "statistics")
    return tuple(name for name in STATISTICS if name in names)


def _checked(name: str, check: Callable[[], Any]) -> Any:
    """What a check of an argument returns; what it raises as a refusal."""
    try:
        return check()
    except (TypeError, ValueError) as error:
        raise Refusal(NOT_ALLOWED, f"{error!s:.300}", name) from None
