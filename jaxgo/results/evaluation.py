"""What `jaxgo.evaluate` returns: rates, means and their errors, from exact sums."""

import dataclasses
import functools
import os
from typing import Any, BinaryIO

import numpy as np

from jaxgo.base import checks, saved
from jaxgo.base.constants import INT32_MAX
from jaxgo.board.symmetries import NUM_SYMMETRIES, transform_points
from jaxgo.results import sums
from jaxgo.results.sums import STATISTICS, Sums

#: The form of saved evaluations.
FORMAT = 1


@dataclasses.dataclass(frozen=True, eq=False)
class Played:
    """Which playouts an evaluation is of: of each position numbers `first` to `first + count - 1` of its stream."""

    seed: tuple[int, int]
    """Two words of 32 bits."""
    streams: np.ndarray
    """int32 [B]."""
    first: int | np.ndarray
    """An int for all, or int64 [B]."""
    count: int | np.ndarray
    """Likewise."""

    def __getitem__(self, index) -> "Played":
        """Of some positions."""
        numbers = (x if isinstance(x, int) else np.asarray(x[index]) for x in (self.first, self.count))
        return Played(self.seed, np.asarray(self.streams[index]), *numbers)

    @property
    def end(self) -> int | np.ndarray:
        """The number after the last one, as `first` has the first."""
        return self.first + self.count

    def at(self, place: int) -> str:
        """The numbers that the position at a place of the batch has, as people write them."""
        first, end = (np.broadcast_to(x, self.streams.shape).flat[place] for x in (self.first, self.end))
        return f"{first} to {end - 1}"

    @property
    def key(self) -> tuple:
        """By which those are sorted that may follow on each other."""
        return self.seed, self.streams.tobytes(), np.broadcast_to(self.first, self.streams.shape).astype(">i8").tobytes()


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """Statistics of playouts from `B` positions of `N` x `N` points: exact sums, and the rates and means that follow from them.

    One position of a batch (`evaluation[3]`) has the same without the axis `B`. Rates and means are numpy arrays of float64, NaN
    for a position of which no playout was finished (after an interruption). `num_playouts`, `win_rate`, `win_rate_error`,
    `margin_mean`, `margin_std`, `length_mean` and `truncated` are always there; `margin_histogram`, `ownership`, and
    `amaf_visits` with `amaf_wins` if they were asked for.

    Attributes:
      size: N.
      komi: points that White gets: a float, or float64 [B].
      sums: the exact sums, int64 (see `jaxgo.results.sums.Sums`).
      complete: whether all playouts asked for were finished.
      played: which playouts these are, for each call that they come from.
    """

    size: int
    komi: float | np.ndarray
    sums: Sums[np.ndarray]
    complete: bool
    played: tuple[Played, ...]

    @property
    def num_playouts(self) -> np.ndarray:
        """int64 [B]: playouts finished."""
        return self.sums.num_playouts

    @property
    def next_playout(self) -> np.ndarray:
        """int64 [B]: the number after the last of them, from which on no playout of their streams is among them: what the
        `first_playout` of an evaluation may be that is to be added."""
        ends = [np.where(x.count, x.end, 0) + np.zeros_like(self.num_playouts) for x in self.played]
        return functools.reduce(np.maximum, ends)

    @functools.cached_property
    def win_rate(self) -> np.ndarray:
        """[B] in [0, 1]: Black's wins, draws counted half, per playout."""
        return (self.sums.wins + self.sums.draws / 2) / self._n

    @functools.cached_property
    def win_rate_error(self) -> np.ndarray:
        """[B]: standard error of `win_rate`."""
        square = (self.sums.wins + self.sums.draws / 4) / self._n
        return np.sqrt(np.maximum(square - self.win_rate**2, 0.0) / self._n)

    @functools.cached_property
    def margin_mean(self) -> np.ndarray:
        """[B] points: mean of Black's area minus White's, before komi."""
        return self.sums.lead / self._n

    @functools.cached_property
    def margin_std(self) -> np.ndarray:
        """[B] points: standard deviation of the margin over playouts."""
        squares = self.sums.squares[..., 0] * sums.LOW + self.sums.squares[..., 1]
        return np.sqrt(np.maximum(squares / self._n - self.margin_mean**2, 0.0))

    @functools.cached_property
    def length_mean(self) -> np.ndarray:
        """[B] plies, final passes included."""
        return self.sums.length / self._n

    @functools.cached_property
    def truncated(self) -> np.ndarray:
        """[B] in [0, 1]: share of the playouts that the cap, or `jaxgo.Mercy`, ended."""
        return self.sums.truncated / self._n

    @property
    def margin_histogram(self) -> np.ndarray:
        """int64 [B, 2 P + 1]: playouts of each margin, P = N * N; index margin + P. Asked for as "margins"."""
        return self._wanted("margins", self.sums.margins)

    @functools.cached_property
    def ownership(self) -> np.ndarray:
        """[B, N, N] in [-1, 1]: mean owner of each point at the end, area counted: 1 always Black's, -1 always White's.

        Asked for as "ownership".
        """
        return self._boards(self._wanted("ownership", self.sums.owned) / self._n[..., None])

    @property
    def amaf_visits(self) -> np.ndarray:
        """int64 [B, 2, N, N]: playouts in which Black (index 0) or White (1) was the first of both to play at the point.

        Asked for as "amaf".
        """
        return self._boards(self._wanted("amaf", self.sums.first))

    @property
    def amaf_wins(self) -> np.ndarray:
        """[B, 2, N, N]: wins of that colour in those playouts, draws counted half. Asked for as "amaf"."""
        return self._boards(self._wanted("amaf", self.sums.first_results)) / 2

    @property
    def _n(self) -> np.ndarray:
        return np.where(self.sums.num_playouts > 0, self.sums.num_playouts, np.nan)

    @property
    def _statistics(self) -> tuple[str, ...]:
        """Those that it has."""
        held = zip(STATISTICS, (self.sums.margins, self.sums.owned, self.sums.first))
        return tuple(name for name, values in held if values is not None)

    def _boards(self, points: np.ndarray) -> np.ndarray:
        return points.reshape(*points.shape[:-1], self.size, self.size)

    def _wanted(self, name: str, values: np.ndarray | None) -> np.ndarray:
        if values is None:
            raise ValueError(f"this evaluation was made without {name!r}; jaxgo.evaluate(..., statistics=[{name!r}]) asks for it")
        return values

    def __len__(self) -> int:
        if not self.num_playouts.ndim:
            raise TypeError("this is the evaluation of one position, not of a batch")
        return len(self.num_playouts)

    def __getitem__(self, index) -> "Evaluation":
        """Some positions of the batch: a slice or an array keeps the batch axis, an integer drops it."""
        if index is None or isinstance(index, (bool, np.bool_)):
            raise TypeError(f"a batch's index must be an integer, a slice or an array of integers or bools, not {index!r}")
        if not self.num_playouts.ndim:
            raise TypeError("this is the evaluation of one position, not of a batch")
        return dataclasses.replace(
            self,
            komi=self.komi[index] if isinstance(self.komi, np.ndarray) else self.komi,
            sums=Sums._make(None if x is None else np.asarray(x[index]) for x in self.sums),
            played=tuple(x[index] for x in self.played),
        )

    def symmetry(self, k: int) -> "Evaluation":
        """The same evaluation of the positions turned and mirrored by symmetry k, 0 to 7 (see `jaxgo.board.symmetries`).

        Raises:
          TypeError, ValueError: k is no such number.
        """
        checks.integer("k", k, 0, NUM_SYMMETRIES - 1)
        turned: dict[str, Any] = {
            name: transform_points(getattr(self.sums, name), self.size, k)
            for name in ("owned", "first", "first_results")
            if getattr(self.sums, name) is not None
        }
        return dataclasses.replace(self, sums=self.sums._replace(**turned))

    def plus(self, other: "Evaluation") -> "Evaluation":
        """The evaluation of these playouts and others of the same positions with the same komi, as if made in one call.

        Raises:
          ValueError: the positions' number or size, the komi or the statistics are others, or some playouts are the same (of
            one seed, stream and number), which would count them twice: give another `seed`, or go on with `first_playout`, at
            `next_playout`.
        """
        if not isinstance(other, Evaluation):
            raise TypeError(f"other must be a jaxgo.Evaluation, not {type(other).__name__}")
        for name, one, another in (
            ("size", self.size, other.size), ("batch", self.num_playouts.shape, other.num_playouts.shape),
            ("set of statistics", self._statistics, other._statistics),
        ):  # fmt: skip
            if one != another:
                raise ValueError(f"evaluations of one {name} can be added, not of {one} and {another}")
        mine, others = (np.broadcast_to(x.komi, x.num_playouts.shape) for x in (self, other))
        if (different := mine != others).any():
            raise ValueError(f"evaluations of one komi can be added, not of {mine[different][0]:g} and {others[different][0]:g}")
        for a in self.played:
            for b in other.played:
                meet = (np.maximum(a.first, b.first) < np.minimum(a.end, b.end)) & (a.streams == b.streams)
                if a.seed == b.seed and meet.any():
                    ours, theirs = (x.at(int(meet.argmax())) for x in (a, b))
                    raise ValueError(
                        f"the evaluations share playouts: numbers {ours} and {theirs} of one seed and stream; give another seed, "
                        "or go on with first_playout, at next_playout"
                    )
        added = Sums._make(None if a is None else a + b for a, b in zip(self.sums, other.sums))
        played = _merged(self.played + other.played)
        return dataclasses.replace(self, sums=added, complete=self.complete and other.complete, played=played)

    def save(self, path: str | os.PathLike | BinaryIO) -> None:
        """Writes the evaluation to a file, or an open one, in numpy's npz format; `Evaluation.load` reads it."""
        saved.write(path, self.arrays())

    def arrays(self) -> dict[str, Any]:
        """What `save` writes: the sums, and which playouts they are of, by name."""
        arrays: dict[str, Any] = {f"sums.{name}": x for name, x in self.sums._asdict().items() if x is not None}
        arrays |= {f"streams.{i}": x.streams for i, x in enumerate(self.played)}
        numbers = ("first", "count")
        played = [{"seed": x.seed, **{name: np.asarray(getattr(x, name)).tolist() for name in numbers}} for x in self.played]
        facts = saved.facts("jaxgo_evaluation", FORMAT, size=self.size, complete=self.complete, played=played)
        return {**facts, "komi": self.komi, **arrays}

    @classmethod
    def load(cls, path: str | os.PathLike | BinaryIO) -> "Evaluation":
        """Reads what `save` has written.

        Args:
          path: of the file; or the open file itself, such as `io.BytesIO` of what a server has sent.

        Raises:
          ValueError: the file holds no evaluation, or one of a newer format.
          OSError: the file cannot be read.
        """
        facts, held = saved.read(path, "jaxgo_evaluation", FORMAT, "Evaluation.save")
        with saved.blamed_on(path, "Evaluation.save"):
            played = tuple(
                Played(tuple(x["seed"]), held[f"streams.{i}"], _numbers(x["first"]), _numbers(x["count"]))
                for i, x in enumerate(facts["played"])
            )
            komi, found = held["komi"], Sums._make(held.get(f"sums.{name}") for name in Sums._fields)
            loaded = cls(facts["size"], komi if komi.ndim else komi.item(), found, facts["complete"], played)
            _check(loaded)
            return loaded


def _check(loaded: Evaluation) -> None:
    """That an evaluation is one, of which a file may say anything.

    Raises:
      TypeError, ValueError: it is not.
    """
    points, found = checks.size(loaded.size) ** 2, loaded.sums
    checks.boolean("complete", loaded.complete)
    shapes = sums.zero_sums(points, 1, loaded._statistics)
    batch = found.num_playouts.shape
    for name, held, like in zip(Sums._fields, found, shapes):
        if (held is None) != (like is None):
            raise ValueError(f"{name} is {'missing' if held is None else 'too much'}")
        if held is not None and like is not None and (held.dtype != np.int64 or held.shape != batch + like.shape[1:]):
            raise ValueError(f"{name} is {held.dtype} of shape {held.shape}")
    komi = np.asarray(loaded.komi)
    if komi.dtype != np.float64 or komi.shape not in ((), batch) or not np.isfinite(komi).all():
        raise ValueError(f"komi is {komi}")
    for x in loaded.played:
        numbers = [np.asarray(y) for y in (x.first, x.count)]
        numbers_fit = all(y.shape in ((), batch) and ((y >= 0) & (y <= INT32_MAX)).all() for y in numbers)
        words_fit = len(x.seed) == 2 and all(isinstance(word, int) and 0 <= word < 2**32 for word in x.seed)
        if not numbers_fit or not words_fit or x.streams.dtype != np.int32 or x.streams.shape != batch or np.any(x.streams < 0):
            raise ValueError(f"it is of the playouts {x}")
    if np.any(sum(x.count for x in loaded.played) != found.num_playouts):
        raise ValueError("its playouts are not as many as their numbers say")


def _numbers(held: int | list[int]) -> int | np.ndarray:
    """`Played.first` and `Played.count` as they were saved."""
    array = np.array(held)
    if array.dtype != np.int64:
        raise TypeError(f"{held} are no integers")
    return array if array.ndim else int(array)


def _merged(played: tuple[Played, ...]) -> tuple[Played, ...]:
    """The same playouts, those that follow on each other as one."""
    out: list[Played] = []
    for x in sorted(played, key=lambda x: x.key):
        last = out[-1] if out else None
        if last and last.seed == x.seed and np.array_equal(last.streams, x.streams) and np.all(last.end == x.first):
            out[-1] = dataclasses.replace(last, count=last.count + x.count)
        else:
            out.append(x)
    return tuple(out)


class Interrupted(KeyboardInterrupt):
    """`jaxgo.evaluate` was interrupted; `partial` is the `Evaluation` of the playouts finished until then."""

    def __init__(self, partial: Evaluation):
        super().__init__(f"interrupted after {int(partial.num_playouts.sum())} playouts")
        self.partial = partial

    def __reduce__(self):
        return type(self), (self.partial,)
