"""What a move is worth by the rules of selection (see `search.selection`), compiled.

All for the player to move, from visits c of the move, their results w in halves, and RAVE visits and results rc, rw.
"""

import math

import numpy as np

from search.compiled import compiled
from search.selection import RAVE_MSE, UCT

#: Added to numbers of playouts so that none is 0: far below what rounding takes away from 1.
NOTHING = 1e-20
LOG_2 = math.log(2.0)


@compiled
def value(rule, log_n, beta, c, w, rc, rw):
    """The value of a move at a node of n visits; `log_n` is ln n, `beta` the hand-selected weight at n."""
    if rule.kind == UCT:
        if c == 0:
            return rule.first_play
        return w / (2 * c) + rule.exploration * math.sqrt(log_n / c)
    if rule.kind == RAVE_MSE:
        # (1 - beta) w/2c + beta rw/2rc over the common denominator rc + c + rc c b: no division by c or rc, and no limits.
        # Where nothing is known, a next to nothing decides.
        weight = 1 + rule.b * rc
        q = (0.5 * (rw + weight * w) + NOTHING * rule.first_play) / (c * weight + (rc + NOTHING))
    elif c == 0:
        q = rw / (2 * rc) if rc > 0 else rule.first_play
    elif rc == 0:
        q = w / (2 * c)
    else:
        q = (1 - beta) * w / (2 * c) + beta * rw / (2 * rc)
    if rule.exploration > 0:
        q += rule.exploration * math.sqrt(log_n / max(c, 0.5))
    return q


@compiled
def hand_selected_beta(n, k):
    """The weight of the RAVE value at a node of n visits; one half at n = k."""
    return math.sqrt(k / (3.0 * n + k))


@compiled
def log(n):
    """ln n for n >= 1, within a few units in the last place.

    Of operations that IEEE 754 rounds exactly, for those of mathematical libraries differ from machine to machine.
    """
    m, e = np.float64(n), 0
    while m > 1.5:
        m *= 0.5
        e += 1
    # ln m = 2 artanh z for z = (m - 1) / (m + 1), here -1/7 to 1/5: z + z^3 / 3 + z^5 / 5 + ...
    z = (m - 1) / (m + 1)
    squared, total = z * z, 0.0
    for i in range(23, 0, -2):
        total = total * squared + 1.0 / i
    return e * LOG_2 + 2 * z * total
