"""What a device is asked of leaves: uint32, a row for each thing that is said and a column for each leaf.

The first rows are the words of the stones of the player to move, and of the other's (see `jaxgo.board.geometry`); the others, in
this order after them, numbers. Negative ones are as they are in int32. Up to the stream they are the columns of the position
(`jaxgo.playing.wire.columns_of`).
"""

from jaxgo.board.geometry import geometry

#: Of the position before the move to the leaf: the point that simple ko forbids, passes in a row, whether Black is to move.
KO, PASSES, BLACK = range(3)
#: The leaf's random stream, and the move to it: a point, P for a pass, STAY.
STREAM, MOVE = 3, 4
#: The bounds of its results, `jaxgo.results.outcome.bounds` of the komi, and the seed's words.
WIN, DRAW, SEED, MORE_SEED = range(5, 9)


def number(size: int) -> int:
    """Of the rows."""
    return 2 * geometry(size).num_words + MORE_SEED + 1
