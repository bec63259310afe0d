"""Statistics of moves, summed on the device while the playouts are played."""

import threading
from typing import Unpack

import numpy as np

from jaxgo.base import checks
from jaxgo.board.position import Position
from jaxgo.results import credits
from jaxgo.results.credit_sums import CreditSums, units
from jaxgo.results.move_statistics import MoveStatistics
from jaxgo.running.chunks import Chunk
from jaxgo.running.jobs import Output, results
from jaxgo.running.request import Options, Request, takes_options


@takes_options
def move_statistics(
    position: Position, num_playouts: int, *, rule: str = "amaf", komi=7.5, **options: Unpack[Options]
) -> MoveStatistics:
    """Plays playouts from each position and sums up on the device what each point earns by a rule of credit.

    Args:
      position: B positions; ply 0 of a playout is the move of the player to move.
      num_playouts: playouts of each position, 1 to 2**31 - 1.
      rule: one of `jaxgo.credits.RULES`: "amaf", "weighted_v1", "weighted_v2", "mctr_simple", "mctr_capture", "first_move", and
        two that their authors found worse, "amaf_first_twice" and "mctr_whole".
      komi: points that White gets; a finite number, or B of them.
      **options: those of all jobs.

    Returns:
      `MoveStatistics`.

    Raises:
      TypeError, ValueError: an argument is not what it must be; before any work is done.
    """
    checks.one_of("rule", rule, credits.RULES)
    request = Request.of(position, num_playouts, options, komi=komi)
    sums = CreditSums(rule)
    total = np.zeros((request.batch, request.size**2, 3), np.int64)
    output = Output(f"move_statistics(rule={rule!r})", first_plays=not sums.moves, moves=sums.moves, reduce=sums)
    one_at_a_time = threading.Lock()

    def take(chunk: Chunk, part: np.ndarray, _) -> None:
        earned = units(part)[: chunk.size]
        with one_at_a_time:
            total[chunk.start : chunk.start + chunk.size] += earned

    for _ in results(request, output, take):
        pass
    return MoveStatistics.from_units(total, num_playouts)
