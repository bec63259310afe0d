"""Numbers that everything agrees on: colours, sizes of boards, marks in place of a point."""

#: Colours, as in `Position.to_play` and arrays of stones; 0 is an empty point.
BLACK, WHITE = 1, -1
#: The least and the greatest board size.
MIN_SIZE, MAX_SIZE = 2, 25
#: `Position.ko` where no point is forbidden.
NO_KO = -1
#: In place of a move, for `Leaves`: the position is taken as it is.
STAY = -1
#: The greatest number of playouts, streams and the like.
INT32_MAX = 2**31 - 1
#: The most lanes, playouts that run at a time on a device.
MOST_LANES = 1 << 18
#: Komi that commands and protocols take, at most; nobody means more.
MOST_KOMI = 1e6


def max_plies(size: int) -> int:
    """The cap on a playout's plies: three times the points of a board of `size` (Dailey's "3X", 2008)."""
    return 3 * size * size
