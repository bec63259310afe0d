"""Who has won: the one place that turns margins and komi into results.

Results count in halves, so that sums of them are whole numbers: a win 2, a draw 1, a loss 0.
"""

import numpy as np
from numpy.typing import ArrayLike

#: What a win, a draw and a loss count.
WIN, DRAW, LOSS = 2, 1, 0


def bounds(komi: ArrayLike, num_points: int) -> np.ndarray:
    """int32 [..., 2]: the least margin with which Black wins, and the margin of a draw, or one that never occurs.

    Args:
      komi: finite points that White gets, a float or float [...].
      num_points: P; margins, Black's area minus White's, lie between -P and P.
    """
    komi, beyond = np.asarray(komi, np.float64), num_points + 1
    whole = np.clip(np.floor(komi), -beyond - 1, beyond).astype(np.int32)
    return np.stack([whole + 1, np.where(komi == whole, whole, beyond + 1)], axis=-1).astype(np.int32)


def of_black(margin, bounds):
    """int32: Black's results in halves (numpy or jax); `bounds` [..., 2] broadcasts over the margins but for its last axis."""
    xp = margin.__array_namespace__()
    win, draw, loss = (np.int32(x) for x in (WIN, DRAW, LOSS))
    return xp.where(margin >= bounds[..., 0], win, xp.where(margin == bounds[..., 1], draw, loss))


def of_mover(margin, bounds, black):
    """int32: the results in halves of the player to move, Black where `black` (bool) holds; the rest as in `of_black`."""
    result = of_black(margin, bounds)
    return result.__array_namespace__().where(black, result, np.int32(WIN) - result)
