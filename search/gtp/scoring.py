"""Which stones live at the end of a game, and the score.

Playouts decide, from the position with either player to move: a chain whose points mostly end up with the other player is dead.
They ask MoGo's policy (`jaxgo.Patterns`), as in uniform ones every seventh group of a finished game lived that should not have
(42 games of GNU Go against itself and weaker players: 36 of the scores were GNU Go's, with the policy all of them). A chain is
in seki where the player who has to move there dies; on a board with other moves left that shows as neighbours of
different colours, short of liberties, that mostly neither keep nor lose their points.
"""

import dataclasses

import numpy as np

import jaxgo
from jaxgo import BLACK, NO_KO, WHITE, Position
from search.gtp.table import Table
from search.ownership import Samples
from search.stones import chains, neighbours

ALIVE, DEAD, SEKI = STATUSES = ("alive", "dead", "seki")

#: A chain is dead where its points belong to the other player by more than this, on the scale from -1 to 1.
DEAD_BEYOND = 0.3
#: Chains in seki belong to nobody by more than this.
SEKI_WITHIN = 0.5
#: Where moving kills, a chain's points are its owner's less when he has the move than when he has not, by more than this.
SEKI_BEYOND = 0.5

POLICY = jaxgo.Patterns()
"""Whom the playouts ask."""


@dataclasses.dataclass(frozen=True, eq=False)
class Judgement:
    """What is left of a position at its end."""

    chains: list[tuple[list[int], str]]
    """Each chain of the board, and its status."""
    sureness: float
    """How surely each point is somebody's, at least, whoever moves first: 1 where playouts always agree on all points, 0 where
    some point may be either's."""


def judge(position: Position, *, all_live: bool = False, devices=None) -> Judgement:
    """The status of each chain.

    Args:
      position: one position.
      all_live: whether all stones live, as by rules under which dead ones must be captured.
      devices: as in `jaxgo.evaluate`.
    """
    stones = np.asarray(position.to_array())[0].copy()
    if all_live:
        return Judgement([(chain, ALIVE) for chain in chains(stones)], 0.0)
    now, sureness = _judge_once(position, stones, devices)
    dead: list[tuple[list[int], str]] = []
    while any(status == DEAD for _, status in now):
        # Once these are taken off, others whose life hung on theirs may turn out to be dead.
        dead += [(chain, status) for chain, status in now if status == DEAD]
        for chain, _ in dead:
            stones.flat[chain] = 0
        now = _judge_once(Position.from_array(stones), stones, devices)[0]
    return Judgement(sorted(dead + now), sureness)


def _judge_once(position: Position, stones: np.ndarray, devices) -> tuple[list[tuple[list[int], str]], float]:
    """(each chain and its status, the sureness) as playouts from the position say."""
    size, found = position.size, chains(stones)
    # [2, chain]: how far a chain's points are its own colour's, with its owner to move and with the other.
    owners = {colour: _ownership(position, colour, devices) for colour in (BLACK, WHITE)}
    colours = [int(stones.flat[chain[0]]) for chain in found]
    held = np.array(
        [[colour * owners[mover * colour].flat[chain].mean() for chain, colour in zip(found, colours)] for mover in (1, -1)]
    )  # fmt: skip
    mean = held.mean(axis=0)
    stuck = held[1] - held[0] > SEKI_BEYOND
    at = {point: number for number, chain in enumerate(found) for point in chain}
    out = []
    for number, chain in enumerate(found):
        liberties = {p for point in chain for p in neighbours(point, size) if not stones.flat[p]}
        others = {at[p] for liberty in liberties for p in neighbours(liberty, size) if stones.flat[p] == -colours[number]}
        undecided = abs(mean[number]) < SEKI_WITHIN and any(abs(mean[other]) < SEKI_WITHIN for other in others)
        seki = stuck[number] or (undecided and len(liberties) <= 2)
        out.append((chain, SEKI if seki else DEAD if mean[number] < -DEAD_BEYOND else ALIVE))
    agreed = np.sign(owners[BLACK]) == np.sign(owners[WHITE])
    return out, float((np.minimum(np.abs(owners[BLACK]), np.abs(owners[WHITE])) * agreed).min())


def _ownership(position: Position, colour: int, devices) -> np.ndarray:
    """float64 [N, N]: who ends up with each point when a player moves first, as if nobody had passed."""
    fields = {"to_play": colour, "ko": NO_KO, "passes": 0}
    fresh = {name: np.full_like(np.asarray(getattr(position, name)), value) for name, value in fields.items()}
    return Samples.without_tree(dataclasses.replace(position, **fresh), policy=POLICY).ownership(devices)[0]


def score(table: Table, judged: Judgement | None = None) -> float:
    """Black's area minus White's and komi, once the dead stones of a judgement are taken off."""
    stones = table.stones.copy()
    for chain, status in judged.chains if judged is not None else ():
        if status == DEAD:
            stones.flat[chain] = 0
    return int(np.asarray(Position.from_array(stones).score())[0]) - table.komi
