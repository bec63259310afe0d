"""Which stones live at the end of a game, as playouts tell.

Playouts decide, from the position with either player to move: a chain whose points mostly end up with the other player is dead.
They begin with any move; so what may be saved or taken at once is looked at apart, as the player would who has the move.
It is in seki where the player who has to move there dies; on a board with other moves left that shows as neighbours of different
colours, short of liberties, that mostly neither keep nor lose their points. Once dead stones are taken off, others whose life
hung on theirs may turn out to be dead.

The playouts should ask `POLICY`, MoGo's: in uniform ones much lives that should not. Of 58 games at 9x9 of GNU Go against itself,
weakened in some, 47 scores were GNU Go's by uniform playouts and 55 with the policy; of 24 at 13x13, 16 and 22.
"""

from collections.abc import Callable, Iterable

import numpy as np

from jaxgo.base.constants import BLACK, WHITE
from jaxgo.board.stones import after_move, chain_at, chains, neighbours
from jaxgo.playing.policies.patterns import Patterns

ALIVE, DEAD, SEKI = STATUSES = ("alive", "dead", "seki")

#: A chain is dead where its points belong to the other player by more than this, on the scale from -1 to 1.
DEAD_BEYOND = 0.3
#: Chains in seki belong to nobody by more than this.
SEKI_WITHIN = 0.5
#: Where moving kills, a chain's points are its owner's less when he has the move than when he has not, by more than this.
SEKI_BEYOND = 0.5
#: Moves of a player that are looked at apart, of the largest chains.
MOST_URGENT = 4
#: Whom the playouts should ask.
POLICY = Patterns()

Statuses = list[tuple[list[int], str]]
"""Each chain of a board, and its status."""

OwnersOf = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A function of boards, int8 [B, N, N], and of who moves first on each, [B]: who ends up with each point, float64 [B, N, N],
as if nobody had passed."""


def settled(boards: np.ndarray, owners_of: OwnersOf) -> tuple[list[Statuses], np.ndarray]:
    """The status of each chain of some boards; dead ones are taken off, and what is left is judged again, until none is dead.

    Args:
      boards: int8 [B, N, N]: 1 Black, -1 White.
      owners_of: playouts.

    Returns:
      The statuses of each board, and what `owners_of_movers` says of the boards as they are given.
    """
    boards, left = np.array(boards), list(range(len(boards)))
    dead: list[Statuses] = [[] for _ in boards]
    living: list[Statuses] = [[] for _ in boards]
    first = owners = owners_of_movers(boards, owners_of)
    while left:
        for place, i in enumerate(left):
            living[i] = statuses(boards[i], *owners[:, place])
            dying = [(chain, status) for chain, status in living[i] if status == DEAD]
            dead[i] += dying
            for chain, _ in dying:
                boards[i].flat[chain] = 0
        left = [i for i in left if any(status == DEAD for _, status in living[i])]
        if left:
            owners = owners_of_movers(boards[left], owners_of)
    return [sorted(gone + here) for gone, here in zip(dead, living)], first


def owners_of_movers(boards: np.ndarray, owners_of: OwnersOf) -> np.ndarray:
    """float64 [2, B, N, N]: who ends up with each point when Black moves first (0) or White (1), be it with an urgent move."""
    found = np.stack([owners_of(boards, np.full(len(boards), colour)) for colour in (BLACK, WHITE)])
    colours = BLACK, WHITE
    urgent = [(i, colour, after) for i, board in enumerate(boards) for colour in colours for after in _urgent(board, colour)]
    if urgent:
        others = np.array([-colour for _, colour, _ in urgent])
        for (i, colour, _), owners in zip(urgent, owners_of(np.stack([after for *_, after in urgent]), others)):
            mine, best = (0, np.maximum) if colour == BLACK else (1, np.minimum)
            found[mine, i] = best(found[mine, i], owners)
    return found


def _urgent(stones: np.ndarray, colour: int) -> list[np.ndarray]:
    """The boards after a player's urgent moves: those that take a chain, or save one that could be taken."""
    out = dict[int, np.ndarray]()
    for chain in sorted(chains(stones), key=len, reverse=True):
        liberties = _liberties(stones, chain)
        if len(liberties) != 1:
            continue
        (point,) = liberties
        after = after_move(stones, colour, point)
        if len(_liberties(after, chain_at(after, point))) > (stones.flat[chain[0]] == colour):
            out.setdefault(point, after)
    return list(out.values())[:MOST_URGENT]


def _liberties(stones: np.ndarray, chain: Iterable[int]) -> set[int]:
    return {p for point in chain for p in neighbours(point, len(stones)) if not stones.flat[p]}


def held(stones: np.ndarray, black_first: np.ndarray, white_first: np.ndarray) -> np.ndarray:
    """float64 [2, chains]: how far chains' points are their own colour's, -1 to 1, with the owner to move and with the other.

    Args:
      stones: int8 [N, N].
      black_first, white_first: float64 [N, N]: who ends up with each point when that player moves.
    """
    owners = {BLACK: black_first, WHITE: white_first}
    found = chains(stones)
    colours = [int(stones.flat[chain[0]]) for chain in found]
    of_movers = [
        [colour * owners[mover * colour].flat[chain].mean() for chain, colour in zip(found, colours)] for mover in (1, -1)
    ]  # fmt: skip
    return np.array(of_movers, np.float64).reshape(2, len(found))


def statuses(stones: np.ndarray, black_first: np.ndarray, white_first: np.ndarray) -> Statuses:
    """The status of each chain; the arguments are those of `held`."""
    size, found = len(stones), chains(stones)
    of_owner, of_other = held(stones, black_first, white_first)
    mean, stuck = (of_owner + of_other) / 2, of_other - of_owner > SEKI_BEYOND
    at = {point: number for number, chain in enumerate(found) for point in chain}
    out = []
    for number, chain in enumerate(found):
        colour = int(stones.flat[chain[0]])
        liberties = _liberties(stones, chain)
        others = {at[p] for liberty in liberties for p in neighbours(liberty, size) if stones.flat[p] == -colour}
        undecided = abs(mean[number]) < SEKI_WITHIN and any(abs(mean[other]) < SEKI_WITHIN for other in others)
        seki = stuck[number] or (undecided and len(liberties) <= 2)
        out.append((chain, SEKI if seki else DEAD if mean[number] < -DEAD_BEYOND else ALIVE))
    return out
