"""What moves do: to the chains beside them, to eyes, and far from all stones; compiled.

A move captures one stone, two, or more. It saves own chains in atari, if one has two liberties or more then, not counting what is
captured, or if it captures on a liberty of a chain that touches one of them. It leaves a chain of the other's that has two
liberties with one. It captures nothing, and leaves its own chain with one liberty. It lies on the first, second or third line,
and no stone is within `FAR` steps. It fills what is as good as an eye, and saves nothing: an empty region of one or two points
beside which only the mover's stones are, whatever lies on the diagonals.
"""

import numpy as np

from search.chains import ATTACKS, EMPTY, LIBERTIES, ONE, OUTSIDE, SIDE, STONES, TWO, beside
from search.compiled import part
from search.shapes import MOST_LIBERTIES
from search.shapes import OUTSIDE as SIDE_OUTSIDE

#: What is said of moves, in the order of the bits of their numbers.
FEATURES = (
    "capture_one", "capture_two", "capture_more", "save", "atari", "self_atari", "far_line_1", "far_line_2", "far_line_3",
    "eyelike",
)  # fmt: skip
CAPTURE, SAVE, ATARI, SELF_ATARI, FAR_LINE, EYELIKE = 0, 3, 4, 5, 6, 9
#: Lines on which moves may be far from stones, and steps within which there is none then.
FAR_LINES, FAR = 3, 3


@part
def sides_and_features(places, chains, place, step, far_line):
    """(the number of the chains on a move's four sides, the number of what it does).

    Args:
      places, chains: as of `search.chains.look_at_chains`.
      place: the move's.
      step: the places of a row.
      far_line: the line on which it is far from stones, from 0; -1 if it is not.
    """
    sides, empty, gap, liberty, captured = 0, 0, place, place, 0
    theirs = roomy = in_atari = attacked = atari = False
    for side in range(4):
        near = beside(place, side, step)
        here = places[near]
        if here == OUTSIDE:
            sides |= SIDE_OUTSIDE << 3 * side
        elif here == EMPTY:
            empty, gap = empty + 1, near
            roomy |= liberty != place and liberty != near
            liberty = near
        else:
            chain = chains[here]
            sides |= chain[SIDE] << 3 * side
            if chain[SIDE] > MOST_LIBERTIES:
                theirs, attacked, atari = True, attacked or chain[ATTACKS] != 0, atari or chain[LIBERTIES] == 2
                if chain[LIBERTIES] == 1:
                    captured += chain[STONES]  # twice where it lies on two sides: then it has three stones or more anyway
            else:
                in_atari |= chain[LIBERTIES] == 1
                roomy |= chain[LIBERTIES] == MOST_LIBERTIES
                for each in (chain[ONE], chain[TWO]):
                    if each >= 0 and each != place:
                        roomy |= liberty != place and liberty != each
                        liberty = each
    said, saves = 0, (in_atari and roomy) or (attacked and captured > 0)
    if captured:
        said = 1 << CAPTURE + min(captured, 3) - 1
    elif not roomy:
        said = 1 << SELF_ATARI
    if saves:
        said |= 1 << SAVE
    elif not theirs and (empty == 0 or (empty == 1 and closed(places, chains, gap, step))):
        said |= 1 << EYELIKE
    if atari:
        said |= 1 << ATARI
    if far_line >= 0:
        said |= 1 << FAR_LINE + far_line
    return sides, said


@part
def closed(places, chains, place, step):
    """Whether beside a place there are one that is empty and else none but the mover's stones."""
    empty = 0
    for side in range(4):
        here = places[beside(place, side, step)]
        if here == EMPTY:
            empty += 1
        elif here >= 0 and chains[here, SIDE] > MOST_LIBERTIES:
            return False
    return empty == 1


@part
def read_near(own, opp, near, scratch):
    """Reads within `FAR` steps of which points there are stones.

    Args:
      own, opp: rows, as `search.surroundings.read_rows` has read them.
      near: int64 [N + 4], is filled in; rows as these.
      scratch: int64 [N + 4].
    """
    for y in range(len(own)):
        near[y] = own[y] ^ opp[y]  # both are set outside of the board
    for _ in range(FAR):
        for y in range(len(own)):
            scratch[y] = near[y]
        for y in range(1, len(own) - 1):
            near[y] = scratch[y] | scratch[y] << 1 | scratch[y] >> 1 | scratch[y - 1] | scratch[y + 1]


@part
def far_line_of(near, size, y, x):
    """The line of a point, from 0, if it is one of the first and far from stones; else -1."""
    line = min(min(y, size - 1 - y), min(x, size - 1 - x))
    return -1 if line >= FAR_LINES or (near[y + 2] >> (x + 2)) & 1 else line


def weights_by_number(weights: np.ndarray) -> np.ndarray:
    """int64 [2**F]: the sums of the weights of features, int [F], by numbers of what moves do."""
    numbers = np.arange(1 << len(FEATURES))
    return (numbers[:, None] >> np.arange(len(FEATURES)) & 1) @ weights.astype(np.int64)
