"""Statistics of playouts, reduced on the device."""

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Unpack

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.backends.choice import backend_of, own_of, workers_of
from jaxgo.base import checks
from jaxgo.base.constants import max_plies
from jaxgo.board.position import Position
from jaxgo.playing.policies.in_order import Policies, policy_of
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.results.evaluation import Evaluation, Interrupted, Played
from jaxgo.results.sums import STATISTICS, Sums, reduce_records, zero_sums
from jaxgo.running.chunks import Chunk
from jaxgo.running.jobs import Output, Plan, results
from jaxgo.running.pieces import PIECE, in_pieces
from jaxgo.running.request import Devices, Numbers, Options, Request, is_array, takes_options


@takes_options
def evaluate(
    position: Position, num_playouts: Numbers, *, komi: ArrayLike = 7.5, statistics: Collection[str] = STATISTICS,
    **options: Unpack[Options],
) -> Evaluation:  # fmt: skip
    """Plays `num_playouts` random playouts from each position and returns their statistics, reduced on the device.

    The playouts are those of `jaxgo.playouts` with the same arguments. Memory does not grow with their number. Inside `jit` and
    its kin use `jaxgo.simulate`.

    Args:
      position: B positions; one that is over gives playouts of length 0.
      num_playouts: playouts of each position, 1 to 2**31 - 1; an integer, or B of them. So may be `first_playout`.
      komi: points that White gets; a finite number, or B of them. Draws count half a win.
      statistics: what to have besides win rates, means of margins and lengths, of "margins" (their histogram), "ownership" and
        "amaf"; all by default. They take up to 8 (2 P + 1), 8 P and 32 P bytes of memory a position, P = N**2.
      **options: those of all jobs.

    Returns:
      `Evaluation` of numpy arrays.

    Raises:
      TypeError, ValueError: an argument is not what it must be, or not the same in all processes; before any work is done.
      Interrupted: on Ctrl-C, here or in another process, a KeyboardInterrupt whose `partial` holds the statistics of the playouts
        finished until then, as far as they are known here. To go on, add an evaluation whose `first_playout` is
        `partial.next_playout`.
      RuntimeError: another process has left the job because of an error.
    """
    adding = _adding(position, num_playouts, komi, statistics, options)()
    try:
        for _ in adding.chunks():
            pass
    except KeyboardInterrupt:
        raise Interrupted(adding.evaluation(copy=True)) from None
    return adding.evaluation()


@takes_options
def evaluations(
    position: Position, num_playouts: Numbers, *, komi: ArrayLike = 7.5, statistics: Collection[str] = STATISTICS,
    **options: Unpack[Options],
) -> Iterator[Evaluation]:  # fmt: skip
    """`jaxgo.evaluate` while it goes on: an iterator of evaluations, each of all playouts finished so far, and each of more.

    The last one is complete and what `jaxgo.evaluate` returns; which playouts those before it hold depends on what was ready
    first. To stop early, leave the loop: what is under way is finished and dropped. Several processes get the same iterators, and
    must leave them at the same place.

    Args:
      position, num_playouts, komi, statistics: as in `jaxgo.evaluate`.
      **options: those of all jobs.

    Raises:
      TypeError, ValueError: an argument is not what it must be; before any work is done.
    """
    begin = _adding(position, num_playouts, komi, statistics, options)

    def stream() -> Iterator[Evaluation]:
        adding, told = begin(), 0
        for _ in adding.chunks():
            if adding.count > told:  # what comes of several chunks at a time is told once
                found = adding.evaluation(copy=True)
                told = int(found.num_playouts.sum())
                yield found

    return stream()


def plan(
    size: int, batch: int, num_playouts: int, statistics: Collection[str] = STATISTICS, *, devices: Devices = None
) -> Plan:
    """How `evaluate` would do a job of uniform playouts: for programs that must not wait for a compiler in the middle of it."""
    return _plan(_output(_checked(statistics)), size, batch, num_playouts, None, devices)


def plan_of_pieces(
    size: int, pieces: int, statistics: Collection[str] = STATISTICS, *, policy: Policies = None, devices: Devices = None
) -> Plan:
    """How it would do one in which positions have playouts of their own, so many pieces in all (`jaxgo.running.pieces`)."""
    return _plan(_output(_checked(statistics), of_pieces=True), size, max(2, pieces), PIECE, policy, devices)


def _plan(output: Output, size: int, batch: int, num_playouts: int, policy: Policies, devices: Devices) -> Plan:
    asked = policy_of(policy, size)
    workers = workers_of(devices, of_all_processes=True)
    lanes = backend_of(own_of(workers)[0]).most_lanes(size)
    form = None if asked is None else PolicyForm.of(asked)
    return Plan.of(output, size, batch, num_playouts, workers, lanes, max_plies(size), form)


def _adding(
    position: Position, num_playouts: Numbers, komi: ArrayLike, statistics: Collection[str], options: Options
) -> "Callable[[], _Adding]":
    """What begins to do what is asked for, once that has been checked."""
    request = Request.of(position, num_playouts, options, komi=komi, each_its_own=True)
    alike = not is_array(num_playouts) and not is_array(options.get("first_playout"))
    return functools.partial(_Adding, request, _checked(statistics), alike)


def _checked(statistics: Collection[str]) -> tuple[str, ...]:
    if isinstance(statistics, str) or not isinstance(statistics, Collection):
        raise TypeError(f"statistics must be a collection of names, such as ['amaf'], not {statistics!r}")
    for name in statistics:
        checks.one_of("statistics", name, STATISTICS)
    return tuple(name for name in STATISTICS if name in statistics)


@dataclasses.dataclass(frozen=True)
class _Reduce:
    """The sums as the `reduce` of an `Output`; equal ones are compiled once."""

    statistics: tuple[str, ...]

    def __call__(self, g, records, columns, bounds, valid) -> Sums[jax.Array]:
        return reduce_records(g, records, bounds, valid, self.statistics)


def _output(statistics: tuple[str, ...], of_pieces: bool = False) -> Output:
    """The output of sums."""
    call = f"evaluate(statistics={list(statistics)})"
    return Output(call, first_plays="amaf" in statistics, moves=False, reduce=_Reduce(statistics), of_pieces=of_pieces)


class _Adding:
    """Adds up a request's chunks, each whole (`results`): of one that were added in part the sums would not belong together."""

    def __init__(self, request: Request, statistics: tuple[str, ...], alike: bool):
        self._request, self._statistics = request, statistics
        self._of: np.ndarray | None = None
        """Of which position each piece is that is played in its place; None where positions are played as they are."""
        self._played = request
        if not alike:
            self._played, self._of = in_pieces(request)
        self._sums = zero_sums(request.size**2, request.batch, statistics)
        self._access = threading.Lock()
        self._new: list[Chunk] = []
        self._held = _NOTHING
        """What has been added but for the new chunks."""

    def chunks(self) -> Iterator[Chunk]:
        """Yields chunks that have been added."""
        output = _output(self._statistics, of_pieces=self._of is not None)
        with contextlib.closing(results(self._played, output, self._add)) as added:
            yield from added

    def _add(self, chunk: Chunk, part: Sums[np.ndarray], _) -> None:
        here, first = slice(chunk.start, chunk.start + chunk.size), None
        if self._of is not None:
            positions, first = np.unique(self._of[here], return_index=True)
            here = slice(int(positions[0]), int(positions[-1]) + 1)
        with self._access:
            for target, source in zip(jax.tree.leaves(self._sums), jax.tree.leaves(part)):
                some = source[: chunk.size]
                target[here] += some if first is None else np.add.reduceat(some, first, dtype=np.int64)
            self._new.append(chunk)

    @property
    def count(self) -> int:
        """Playouts that have been added."""
        with self._access:
            return int(self._sums.num_playouts.sum())

    def evaluation(self, copy: bool = False) -> Evaluation:
        """Of what has been added."""
        asked = self._request
        with self._access:
            sums = jax.tree.map(np.copy, self._sums) if copy else self._sums
            chunks, self._new = self._new, []
        complete = bool((sums.num_playouts == asked.counts).all())
        parts: Sequence[tuple[int | np.ndarray, int | np.ndarray]]
        if complete:
            first, count = asked.first_playout.astype(np.int64), asked.counts.astype(np.int64)
            parts = [(int(first[0]), int(count[0])) if self._of is None else (first, count)]
        else:
            self._held = _joined([self._held, *map(self._numbers, chunks)])
            parts = _side_by_side(asked.batch, *self._held)
        played = tuple(Played(asked.seed, asked.streams, *part) for part in parts)
        return Evaluation(size=asked.size, komi=asked.komi, sums=sums, complete=complete, played=played)

    def _numbers(self, chunk: Chunk) -> "_Intervals":
        """The playouts of a chunk."""
        rows = np.arange(chunk.start, chunk.start + chunk.size)
        first = self._played.first_playout[rows].astype(np.int64) + chunk.first
        return rows if self._of is None else self._of[rows], first, first + self._played.counts_of(chunk, rows)


_Intervals = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Playouts of some positions: int64 arrays of places in a batch, and of the first numbers and the numbers after the last ones."""
_NOTHING: _Intervals = (np.zeros(0, np.int64),) * 3


def _joined(parts: Sequence[_Intervals]) -> _Intervals:
    """All of these, sorted by place and number, those that follow on each other as one; none may be there twice."""
    places, first, end = map(np.concatenate, zip(*parts))
    some = end > first
    order = np.lexsort((first[some], places[some]))
    places, first, end = (x[some][order] for x in (places, first, end))
    follows = (places[1:] == places[:-1]) & (first[1:] == end[:-1])
    begins, ends = (np.append(*x)[: len(places)] for x in ((True, ~follows), (~follows, True)))
    return places[begins], first[begins], end[ends]


def _side_by_side(batch: int, places: np.ndarray, first: np.ndarray, end: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(first, count), int64 [batch] each, of joined intervals: as many as any place has, others there are empty; at least one."""
    number = np.arange(len(places)) - np.searchsorted(places, places)
    out = []
    for i in range(max(1, number.max(initial=-1) + 1)):
        of = number == i
        interval = np.zeros((2, batch), np.int64)
        interval[:, places[of]] = first[of], end[of] - first[of]
        out.append((interval[0], interval[1]))
    return out
