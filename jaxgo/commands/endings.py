"""Games that two passes have ended: which stones are dead there, and the score without them.

Playouts say which stones are dead (`jaxgo.results.statuses`). Where the record states the score and theirs is another, the chains
that playouts think least of are taken off, as many as give the record's score, if any number does. By some rules White gets a
point for each handicap stone (Chinese), or for each but one (AGA), which komi does not tell and the record's score has in it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxgo.board.position import Position
from jaxgo.board.stones import chains
from jaxgo.commands.report import is_same
from jaxgo.results.statuses import DEAD, POLICY, Statuses, held, settled
from jaxgo.running.evaluate import evaluate

#: Playouts with either player to move.
PLAYOUTS = 1_000
#: A chain that holds more of its points than this lives, whatever the record's score.
ALIVE_BEYOND = 0.5


@dataclasses.dataclass(frozen=True)
class Ending:
    """The end of a game."""

    dead: tuple[int, ...]
    """The points of the stones that are taken off, in order."""
    score: float
    """Black's area minus White's and komi, without them."""
    at_its_komi: float
    """The same with the komi of the record."""
    stated: float | None
    """The latter as the record states it; None where it states none."""
    by_record: bool
    """Whether they are those that give the record's score, where playouts alone would have taken off others."""
    bonus: int = 0
    """Points for handicap stones that White has in the record's score beside komi."""


def endings(
    positions: Position, komi: Sequence[float], its_komi: Sequence[float], stated: Sequence[float | None],
    handicap: Sequence[int], **options,
) -> list[Ending]:  # fmt: skip
    """The ends of games.

    Args:
      positions: [B], over.
      komi: points that White gets in each.
      its_komi: those that he gets by its record.
      stated: the scores that their records state, by their komi.
      handicap: the handicap stones that they state, 0 without.
      **options: `seed` and `devices` of `jaxgo.evaluate`.
    """

    def owners_of(boards: np.ndarray, to_play: np.ndarray) -> np.ndarray:
        # One stream for all: what comes of a board depends on no other.
        going_on = Position.from_array(boards, to_play=to_play)
        return evaluate(going_on, PLAYOUTS, policy=POLICY, streams=0, statistics=["ownership"], **options).ownership

    boards = np.asarray(positions.to_array())
    found, owners = settled(boards, owners_of)
    out = []
    for i, board in enumerate(boards):
        bonuses = (0, handicap[i], handicap[i] - 1) if handicap[i] > 1 else (0,)
        dead, by_record = _dead(board, found[i], owners[:, i], its_komi[i], stated[i], bonuses)
        (margin,) = _margins(board, [dead])
        score = margin - its_komi[i]
        bonus = next((bonus for bonus in bonuses if stated[i] is not None and is_same(score - bonus, stated[i])), 0)
        out.append(Ending(tuple(dead), margin - komi[i], score, stated[i], by_record, bonus))
    return out


def without(positions: Position, dead: Sequence[Sequence[int]]) -> Position:
    """The positions, over, without some stones."""
    boards = np.array(positions.to_array())
    for board, points in zip(boards, dead):
        board.flat[list(points)] = 0
    return Position.from_array(boards, to_play=positions.to_play, passes=positions.passes)


def _dead(
    stones: np.ndarray, judged: Statuses, owners: np.ndarray, komi: float, stated: float | None, bonuses: Sequence[int]
) -> tuple[list[int], bool]:  # fmt: skip
    """(the points of the stones to be taken off, whether the record's score says so)."""
    dead = sorted(point for chain, status in judged if status == DEAD for point in chain)
    (margin,) = _margins(stones, [dead])
    if stated is None or any(is_same(margin - komi - bonus, stated) for bonus in bonuses):
        return dead, False
    found, mean = chains(stones), held(stones, *owners).mean(axis=0)
    candidates: list[list[int]] = [[]]
    for number in np.argsort(mean, kind="stable"):
        if mean[number] <= ALIVE_BEYOND:
            candidates.append(sorted([*candidates[-1], *found[number]]))
    agreeing = [points for points, each in zip(candidates, _margins(stones, candidates)) if is_same(each - komi, stated)]
    if not agreeing:
        return dead, False
    return min(agreeing, key=lambda points: abs(len(points) - len(dead))), True


def _margins(stones: np.ndarray, candidates: list[list[int]]) -> list[int]:
    """Black's area minus White's without each of some sets of stones."""
    boards = np.repeat(stones[None], len(candidates), axis=0)
    for board, points in zip(boards, candidates):
        board.flat[points] = 0
    return [int(margin) for margin in np.asarray(Position.from_array(boards).score())]
