"""Game records played: the positions that their moves lead through, judged by the rules of `jaxgo.Position`.

Records of one size are played side by side, a move of each at a time, so that a folder of games takes little longer than its
longest one.
"""

import collections
import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxgo.base.constants import NO_KO
from jaxgo.board import dynamics
from jaxgo.board.coordinates import coordinate
from jaxgo.board.position import Position
from jaxgo.records.record import COLOUR_NAMES, GameRecord, when

#: Records that are played side by side, at most: few compiled shapes serve, and little memory is held.
SIDE_BY_SIDE = 256

_OVER = 2  # passes in a row that end a game
_REASONS = {
    "the point is occupied": "the point is occupied",
    "the ko forbids it": "it retakes the ko at once",
    "it is suicide": "it would leave its own chain without liberties (suicide)",
}


class Replay(NamedTuple):
    """What playing a record has come to."""

    positions: Position | None
    """Position k after k moves, on the host, up to the last that is legal; None where the stones set up at first are illegal."""
    fault: str
    """What is wrong with the next move, or with the stones that are set up there, "" where all is legal."""

    @property
    def num_moves(self) -> int:
        """Moves up to the last legal position."""
        return self.positions.batch - 1 if self.positions is not None else 0


def replay(records: Sequence[GameRecord]) -> list[Replay]:
    """Plays records, each as far as its moves and its setup stones are legal."""
    of_size: dict[int, list[int]] = collections.defaultdict(list)
    # The longest first, so that games of about one length are side by side.
    for i in sorted(range(len(records)), key=lambda i: -len(records[i].moves)):
        of_size[records[i].size].append(i)
    played: dict[int, Replay] = {}
    for numbers in of_size.values():
        for start in range(0, len(numbers), SIDE_BY_SIDE):
            part = numbers[start : start + SIDE_BY_SIDE]
            played |= dict(zip(part, _Games([records[i] for i in part]).replays()))
    return [played[i] for i in range(len(records))]


class _Games:
    """Games of one size, side by side."""

    def __init__(self, records: list[GameRecord]):
        self._records, self._size = records, records[0].size
        self._faults = [""] * len(records)
        self._last = np.array([len(record.moves) for record in records])
        """The last legal position of each; -1 where there is none."""
        self._now = jax.tree.map(np.array, jax.device_get(Position.empty(self._size, len(records))))

    def replays(self) -> list[Replay]:
        """Plays them to their ends."""
        self._turn(0)
        steps = [self._now]
        for number in range(1, self._last.max() + 1):
            self._play(number)
            self._turn(number)
            steps.append(self._now)
        together = jax.tree.map(lambda *leaves: np.stack(leaves, axis=1), *steps)
        each = [jax.tree.map(lambda x, i=i, n=n: x[i, : n + 1].copy(), together) for i, n in enumerate(self._last)]
        return [Replay(part if part.batch else None, fault) for part, fault in zip(each, self._faults)]

    def _play(self, number: int) -> None:
        """The move of this number in every game that has one."""
        now, passing = self._now, self._size**2
        going = self._last >= number
        moves = [record.moves[number - 1] if on else (0, passing) for record, on in zip(self._records, going)]
        points = np.array([point for _, point in moves], np.int32)
        # A stone after two passes resumes the game, a further pass leaves it ended.
        over = going & (now.passes == _OVER)
        resumed, still_over = over & (points != passing), over & (points == passing)
        before = dataclasses.replace(
            now, passes=np.where(resumed, np.int8(0), now.passes), ko=np.where(over, np.int16(NO_KO), now.ko)
        )  # fmt: skip
        after, faults = jax.device_get(dynamics.run(dynamics.tried, before, points, going & ~still_over))
        for i in np.flatnonzero(faults).tolist():
            colour, point = moves[i]
            move = f"move {number}, {COLOUR_NAMES[colour]} {coordinate(point, self._size)}"
            self._stop(i, number, f"{move}, is illegal: {_REASONS[dynamics.FAULTS[faults[i] - 1]]}")
        self._now = jax.tree.map(np.array, after)
        self._now.to_play[still_over] *= -1

    def _turn(self, number: int) -> None:
        """Sets up what the records set up after so many moves, and gives the turn to whom they give it."""
        now, games = self._now, zip(self._records, self._last)
        colours = np.array([record.to_play(number) if last >= number else 0 for record, last in games])
        other = (colours != 0) & (colours != now.to_play)
        now.to_play[other] = colours[other]
        now.ko[other], now.passes[other] = NO_KO, 0
        for i in np.flatnonzero(colours).tolist():
            stones = [stone for setup in self._records[i].setups if setup.after_move == number for stone in setup.stones]
            if stones:
                self._set_up(i, number, stones)

    def _set_up(self, i: int, number: int, stones: list[tuple[int, int]]) -> None:
        """Places and removes stones, (point, colour), in one game."""
        one = jax.tree.map(lambda x: x[i : i + 1], self._now)
        board = np.array(one.to_array())[0]
        for point, colour in stones:
            board[divmod(point, self._size)] = colour
        try:
            placed = jax.device_get(Position.from_array(board, to_play=one.to_play))
        except ValueError as error:
            self._stop(i, number, f"the stones set up {when(number)} are not a legal position: {error}")
            return
        for mine, new in zip(jax.tree.leaves(self._now), jax.tree.leaves(placed)):
            mine[i] = new[0]

    def _stop(self, i: int, number: int, fault: str) -> None:
        """Ends one game before a move that is illegal."""
        self._faults[i], self._last[i] = fault, number - 1
