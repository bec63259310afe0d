"""Plays the playouts of `jaxgo evaluate`: all positions of a board size in one batch, whichever games they are of."""

import dataclasses
from collections.abc import Iterator, Sequence

import jax
import numpy as np

import jaxgo
from jaxgo.board.position import Position
from jaxgo.commands import arguments
from jaxgo.commands.asked import Asked
from jaxgo.commands.endings import Ending, endings, without
from jaxgo.commands.kept import Kept
from jaxgo.commands.progress import Progress
from jaxgo.results.evaluation import Evaluation, Interrupted
from jaxgo.running import chunks
from jaxgo.running.request import Devices, Request

#: Positions whose figures are held at a time.
MOST_POSITIONS = 4_096
#: With --resume playouts are played in rounds, and what counts as kept is whole rounds: so many of the largest chunks for each
#: worker, which is a few seconds' work, and so many playouts of each position at least.
CHUNKS_OF_ROUND, LEAST_OF_ROUND = 4, 16


@dataclasses.dataclass(frozen=True)
class How:
    """How playouts are played."""

    playouts: int
    """From each position."""
    seed: int
    policy: str | None
    """Whom they ask, as --policy names them."""
    devices: Devices

    def options(self, size: int) -> dict:
        """Options of all jobs, for boards of a size."""
        return {"policy": arguments.policy_for(self.policy, size), "seed": self.seed, "devices": self.devices}


@dataclasses.dataclass(frozen=True, eq=False)
class Played:
    """What was asked of a game, and what has come of it."""

    asked: Asked
    evaluation: Evaluation | None
    """Of its positions; None where none of them has a playout yet."""
    endings: dict[int, Ending]
    """Of the positions that are over, by their move numbers."""


class Job:
    """The playouts of some games.

    Args:
      asked: the games.
      how: how to play.
      resume: the file of --resume; None without.

    Raises:
      UsageError: the file is of another job.
      ValueError: an argument of the playouts is not what it must be.
    """

    def __init__(self, asked: Sequence[Asked], how: How, resume: str | None = None):
        self._asked, self._how = asked, how
        self.complete = False
        """Whether all playouts are finished."""
        self.endings = _endings_of(asked, how)
        sizes = sorted({each.record.size for each in asked})
        self._batches = [_Batch(asked, self.endings, how, size, resume, alone=len(sizes) == 1) for size in sizes]

    @property
    def left(self) -> int:
        """Playouts that are not finished."""
        return sum(batch.left for batch in self._batches)

    @property
    def kept(self) -> bool:
        """Whether what is finished is in the file of --resume, if that is wanted."""
        return all(batch.kept for batch in self._batches)

    def run(self, progress: Progress) -> list[Played]:
        """Plays; Ctrl-C ends it, and what is finished then is returned."""
        found: dict[int, Evaluation] = {}
        total, before = self.left, 0
        for batch in self._batches:
            left = batch.left
            progress.compiles()
            evaluation, self.complete = batch.run(lambda done, before=before: progress(before + done, total))
            before += left
            if evaluation is not None:
                found |= {i: evaluation[rows] for i, rows in batch.rows.items()}
            if not self.complete:
                break
        return [Played(each, found.get(i), self.endings[i]) for i, each in enumerate(self._asked)]


class _Batch:
    """All positions of one board size."""

    def __init__(
        self, asked: Sequence[Asked], ends: list[dict[int, Ending]], how: How, size: int, resume: str | None, alone: bool
    ):  # fmt: skip
        mine = [i for i, each in enumerate(asked) if each.record.size == size]
        counts = [len(asked[i].moves) for i in mine]
        stops = np.cumsum(counts)
        self.rows = {i: slice(int(stop) - count, int(stop)) for i, stop, count in zip(mine, stops, counts)}
        """By the number of the game."""
        parts = [_scored(asked[i], ends[i]) for i in mine]
        self._positions = jax.tree.map(lambda *leaves: np.concatenate(leaves), *map(jax.device_get, parts))
        self._streams = np.concatenate([asked[i].moves for i in mine])
        self._komi = np.repeat(np.array([asked[i].komi for i in mine], np.float64), counts)
        self._how, self._options = how, how.options(size)
        self._kept, self._round = None, how.playouts
        if resume is not None:
            request = Request.of(self._positions, how.playouts, {"streams": self._streams, **self._options})
            names = [asked[i].name for i in mine if asked[i].name]
            learned = jax.tree.leaves(request.policy)
            self._kept = Kept(resume, size, alone, names, request.columns, self._komi, how.seed, how.policy, learned)
            of_round = CHUNKS_OF_ROUND * chunks.PER_LANE[-1] * request.lanes * len(request.workers)
            self._round = max(LEAST_OF_ROUND, of_round // request.batch)

    @property
    def left(self) -> int:
        """Playouts that are not finished."""
        return max(0, self._how.playouts - self._finished) * len(self._positions)

    @property
    def kept(self) -> bool:
        """Whether what is finished is in the file, if there is to be one."""
        return self._kept is None or self._kept.can_be_written

    @property
    def _finished(self) -> int:
        return self._kept.finished if self._kept is not None else 0

    def run(self, progress) -> tuple[Evaluation | None, bool]:
        """(what is finished, whether that is all)."""
        first, found = self._finished, None
        try:
            while self._finished < self._how.playouts and found is None:
                found = self._next_round(self._finished, (self._finished - first) * len(self._positions), progress)
                if self._kept is not None:
                    self._kept.add(found)
                    found = None
        except Interrupted as interrupted:
            return self._with_kept(interrupted.partial), False
        except KeyboardInterrupt:
            return self._with_kept(None), False
        finally:
            if self._kept is not None:
                self._kept.write()
        return self._with_kept(found), True

    def _next_round(self, first: int, before: int, progress) -> Evaluation:
        # Of even parts, so that one compiled program serves.
        rounds = -(-(self._how.playouts - first) // self._round)
        count = -(-(self._how.playouts - first) // rounds)
        return jaxgo.evaluate(
            self._positions, count, komi=self._komi, streams=self._streams, first_playout=first,
            progress=lambda done, _: progress(before + done), **self._options,
        )  # fmt: skip

    def _with_kept(self, part: Evaluation | None) -> Evaluation | None:
        kept = self._kept.evaluation if self._kept is not None else None
        return part if kept is None else kept if part is None else kept.plus(part)


def in_groups(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    """The games in groups of at most `MOST_POSITIONS` positions together, or of one game."""
    group: list[Asked] = []
    for each in asked:
        if group and sum(len(x.moves) for x in group) + len(each.moves) > MOST_POSITIONS:
            yield group
            group = []
        group.append(each)
    yield group


def _endings_of(asked: Sequence[Asked], how: How) -> list[dict[int, Ending]]:
    """The ends of each game's positions that are over, by their move numbers."""
    out: list[dict[int, Ending]] = [{} for _ in asked]
    for size in sorted({each.record.size for each in asked}):
        places = [
            (i, move) for i, each in enumerate(asked) if each.record.size == size
            for move in each.moves if np.asarray(each.every.passes)[move] == 2
        ]  # fmt: skip
        if not places:
            continue
        over = Position.concatenate(asked[i].every[move] for i, move in places)
        komi = [asked[i].komi for i, _ in places]
        its_komi = [asked[i].komi if (stated := asked[i].record.komi) is None else stated for i, _ in places]
        last = [move == len(asked[i].record.moves) for i, move in places]
        results = [asked[i].record.result_points if at_end else None for (i, _), at_end in zip(places, last)]
        handicap = [asked[i].record.handicap for i, _ in places]
        found = endings(over, komi, its_komi, results, handicap, seed=how.seed, devices=how.devices)
        for (i, move), ending in zip(places, found):
            out[i][move] = ending
    return out


def _scored(asked: Asked, ends: dict[int, Ending]) -> Position:
    """The positions asked for, those that are over without their dead stones."""
    positions = asked.positions
    over = [number for number, move in enumerate(asked.moves) if move in ends]
    if not over:
        return positions
    cleared = jax.device_get(without(positions[np.array(over)], [ends[asked.moves[number]].dead for number in over]))
    out = jax.tree.map(np.array, jax.device_get(positions))
    for mine, new in zip(jax.tree.leaves(out), jax.tree.leaves(cleared)):
        mine[over] = new
    return out
