"""3x3 patterns, and the table that says whether what lies around a point matches one.

The patterns are MoGo's (Gelly, Wang, Munos and Teytaud, "Modification of UCT with patterns in Monte-Carlo Go", 2006), with those
that Pachi and michi play beside them. A move stands in the middle; they hold for both players, turned and mirrored.
"""

import functools
import itertools

import numpy as np

#: X and O are the two players' stones, whoever is to move; x is anything but X, o anything but O, ? anything; . is an empty point
#: and # lies outside of the board.
PATTERNS = {
    "hane, enclosing": ("XOX", "...", "???"),
    "hane, not cutting": ("XO.", "...", "?.?"),
    "hane, turning": ("XO?", "X..", "x.?"),
    "diagonal attachment": (".O.", "X..", "..."),
    "cut, unprotected": ("XO?", "O.o", "?o?"),
    "cut, peeped at": ("XO?", "O.X", "???"),
    "cut between": ("?X?", "O.O", "ooo"),
    "cut of a knight's move": ("OX?", "o.O", "???"),
    "at the side, chase": ("X.?", "O.?", "###"),
    "at the side, block a cut": ("OX?", "X.O", "###"),
    "at the side, block a connection": ("?X?", "x.O", "###"),
    "at the side, descent": ("?XO", "x.x", "###"),
    "at the side, cut": ("?OX", "X.O", "###"),
}
#: What a cell may hold: empty, the mover's stone, the other's, nothing as it is outside of the board.
EMPTY, OWN, OPP, OUTSIDE = range(4)
_MEANT = {
    ".": (EMPTY,), "X": (OWN,), "O": (OPP,), "#": (OUTSIDE,),
    "x": (EMPTY, OPP, OUTSIDE), "o": (EMPTY, OWN, OUTSIDE), "?": (EMPTY, OWN, OPP, OUTSIDE),
}  # fmt: skip
#: The cells around the middle, in rows, and the steps to them, (rows, columns).
AROUND = (0, 1, 2, 3, 5, 6, 7, 8)
STEPS = tuple((cell // 3 - 1, cell % 3 - 1) for cell in AROUND)


def symmetries(pattern: tuple[str, ...]) -> set[str]:
    """The nine cells of a pattern in a row, turned and mirrored, and for either player."""
    grid, found = np.array([list(row) for row in pattern]), set()
    for turns, mirrored in itertools.product(range(4), (False, True)):
        turned = np.rot90(grid.T if mirrored else grid, turns)
        cells = "".join(turned.ravel())
        found |= {cells, cells.translate(str.maketrans("XOxo", "OXox"))}
    return found


@functools.cache
def table() -> np.ndarray:
    """uint8 [65,536], 0 or 1: whether a pattern matches, by what lies around a point.

    Bit i of an index is set where cell i of `AROUND` is the mover's or outside, bit 8 + i where it is the other's or outside.
    """
    matches = np.zeros((4,) * 8, bool)
    for pattern in PATTERNS.values():
        for cells in symmetries(pattern):
            matches[np.ix_(*(_MEANT[cells[i]] for i in AROUND))] = True
    number = np.arange(1 << 16)
    return matches[tuple((number >> i & 1) + 2 * (number >> 8 + i & 1) for i in range(8))].astype(np.uint8)


@functools.cache
def alike() -> np.ndarray:
    """int64 [65,536]: of each index of `table` the least among those of what is the same turned and mirrored."""
    index = np.arange(1 << 16)
    least = index.copy()
    for turn in range(8):
        turned = np.zeros_like(index)
        for i, (dy, dx) in enumerate(STEPS):
            y, x = (dx, dy) if turn & 4 else (dy, dx)
            j = STEPS.index((-y if turn & 2 else y, -x if turn & 1 else x))
            turned |= (index >> i & 1) << j | (index >> 8 + i & 1) << 8 + j
        least = np.minimum(least, turned)
    return least
