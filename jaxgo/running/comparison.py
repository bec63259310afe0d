"""Positions compared with common random numbers: playout i of each draws from one stream, and differences are taken playout by
playout, so that what the random numbers do to all of them alike does not count."""

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.base.constants import BLACK, INT32_MAX, WHITE
from jaxgo.board.position import Position, check_position
from jaxgo.running.playouts import playouts
from jaxgo.running.request import Progress

#: Playouts whose results are held at a time; each takes some hundred bytes.
AT_A_TIME = 500_000
#: Of each position: with fewer there are no errors.
LEAST_PLAYOUTS = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """`G` groups of `M` positions; arrays [G, M] for one player. Differences are to the first position of the group."""

    num_playouts: int
    """Of each position."""
    win_rate: np.ndarray
    """[0, 1], draws half."""
    win_rate_error: np.ndarray
    """Standard errors."""
    lead: np.ndarray
    """Points, komi counted."""
    lead_error: np.ndarray
    win_rate_difference: np.ndarray
    """[-1, 1]; 0 for the first."""
    win_rate_difference_error: np.ndarray
    """Standard errors, of the differences playout by playout."""
    lead_difference: np.ndarray
    """Points."""
    lead_difference_error: np.ndarray


def compare(
    position: Position, num_playouts: int, *, komi: float, streams: ArrayLike, colours: ArrayLike, first_playout: int = 0,
    progress: Progress | None = None, **options,
) -> Comparison:  # fmt: skip
    """Plays playouts from groups of positions, the same random numbers within a group.

    Args:
      position: G * M positions, group by group.
      num_playouts: playouts of each, at least 2.
      komi: points that White gets.
      streams: int [G]: the groups' random streams.
      colours: int [G]: for whom to count, 1 Black, -1 White.
      first_playout: number of the first playout.
      progress: called with the playouts finished and those in all, now and then.
      **options: `seed`, `policy` and `devices` of `jaxgo.playouts`.

    Raises:
      TypeError, ValueError: an argument is not what it must be.
      KeyboardInterrupt: on Ctrl-C.
    """
    check_position(position)
    streams, colours = np.atleast_1d(np.asarray(streams)), np.atleast_1d(np.asarray(colours))
    groups = len(streams)
    if not groups or position.batch % groups or colours.shape != streams.shape:
        raise ValueError(f"{position.batch} positions cannot be compared in {groups} groups of {colours.shape[0]} colours")
    if not np.isin(colours, (BLACK, WHITE)).all():
        raise ValueError(f"colours must be {BLACK} for Black or {WHITE} for White, not {colours.tolist()}")
    checks.integers("streams", streams, (groups,), 0, INT32_MAX)
    komi = checks.komi(komi)
    checks.integer("num_playouts", num_playouts, LEAST_PLAYOUTS)
    checks.integer("first_playout + num_playouts", first_playout + num_playouts, LEAST_PLAYOUTS)
    members = position.batch // groups
    total, sums = position.batch * num_playouts, np.zeros((2, 2, 2, groups, members))
    # Parts of one size, so that one compiled program serves.
    parts = -(-total // AT_A_TIME)
    each = -(-num_playouts // parts)
    for start in range(0, num_playouts, each):
        count = min(each, num_playouts - start)
        found = playouts(
            position, count, streams=np.repeat(streams, members), first_playout=first_playout + start,
            progress=_within(progress, start * position.batch, total), **options,
        )  # fmt: skip
        margins = found.margin.reshape(groups, members, count).astype(np.float64)
        leads = colours[:, None, None] * (margins - komi)
        for i, values in enumerate(((np.sign(leads) + 1) / 2, leads)):
            for j, numbers in enumerate((values, values - values[:, :1])):
                sums[i, j] += numbers.sum(axis=-1), np.square(numbers).sum(axis=-1)
    means = sums[:, :, 0] / num_playouts
    variances = np.maximum(sums[:, :, 1] / num_playouts - np.square(means), 0.0)
    errors = np.sqrt(variances / (num_playouts - 1))
    (rate, rate_difference), (lead, lead_difference) = means
    (rate_error, rate_difference_error), (lead_error, lead_difference_error) = errors
    return Comparison(
        num_playouts, rate, rate_error, lead, lead_error, rate_difference, rate_difference_error, lead_difference,
        lead_difference_error,
    )  # fmt: skip


def _within(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Tells of a part as part of the whole."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)
