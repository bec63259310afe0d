"""Moves of one position held against each other: `jaxgo evaluate --compare`."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxgo.board.coordinates import coordinate, point
from jaxgo.cli import UsageError
from jaxgo.commands.asked import Asked
from jaxgo.commands.playing import How
from jaxgo.commands.progress import Progress
from jaxgo.commands.report import COLOUR_LETTERS
from jaxgo.running.comparison import LEAST_PLAYOUTS as LEAST_PLAYOUTS
from jaxgo.running.comparison import compare


@dataclasses.dataclass(frozen=True)
class ComparedMove:
    """A move, and what playouts after it say for the player who makes it; differences are to the first of the moves."""

    colour: int
    """1 Black, -1 White."""
    point: int
    num_playouts: int
    win_rate: float
    win_rate_error: float
    """Standard error."""
    lead: float
    """Points, komi counted."""
    lead_error: float
    win_rate_difference: float
    win_rate_difference_error: float
    lead_difference: float
    lead_difference_error: float

    def as_json(self, size: int) -> dict[str, Any]:
        """Plain numbers."""
        names = {"colour": COLOUR_LETTERS[self.colour], "point": coordinate(self.point, size)}
        return {**names, "playouts": self.num_playouts, **{k: v for k, v in dataclasses.asdict(self).items() if k not in (
            "colour", "point", "num_playouts")}}  # fmt: skip


def points_to_compare(asked: Asked, names: Sequence[str]) -> list[int]:
    """The points that are named.

    Raises:
      UsageError: a name is no point of the board or is there twice, or the move is illegal.
    """
    size, option = asked.record.size, f"--compare {','.join(names)}"
    position, found = asked.every[asked.moves[-1]], []
    legal = np.asarray(position.legal())[0]
    for name in names:
        try:
            found.append(point(name, size))
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from None
        if not legal[found[-1]]:
            raise UsageError(f"{option}: {name} is no legal move after {asked.moves[-1]} moves")
        if found[-1] < size * size and asked.repeats(np.array(asked.moves[-1:]), np.array(found[-1:]))[0]:
            raise UsageError(f"{option}: {name} repeats an earlier position after {asked.moves[-1]} moves, which superko forbids")
        if found[-1] in found[:-1]:
            raise UsageError(f"{option}: {name} is there twice; name different moves")
    return found


def compared_moves(asked: Asked, points: Sequence[int], how: How, progress: Progress) -> tuple[ComparedMove, ...]:
    """Plays playouts after each of the moves, with common random numbers."""
    move = asked.moves[-1]
    colour = int(np.asarray(asked.every.to_play)[move])
    after = jax.device_get(asked.every[np.full(len(points), move)].play(np.array(points)))
    found = compare(
        after, how.playouts, komi=asked.komi, streams=[move], colours=[colour], progress=progress,
        **how.options(asked.record.size),
    )  # fmt: skip
    names = [field.name for field in dataclasses.fields(ComparedMove)][3:]
    return tuple(
        ComparedMove(colour, at, found.num_playouts, **{name: float(getattr(found, name)[0, i]) for name in names})
        for i, at in enumerate(points)
    )
