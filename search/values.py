"""What a move is worth by the rules of selection (see `search.selection`), compiled.

All for the player to move, from visits c of the move, their results w in halves, and RAVE visits and results rc, rw.
"""

import math

import numpy as np

from search.compiled import compiled, once, part
from search.selection import RAVE_MSE, UCT

#: Added to numbers of playouts so that none is 0: far below what rounding takes away from 1.
NOTHING = 1e-20
LOG_2 = math.log(2.0)


@part
def uct(rule, log_n, c, w):
    """Of UCT's rule; with one division, which takes as long as all the rest."""
    share = 1 / max(c, 0.5)
    worth = 0.5 * w * share + rule.exploration * math.sqrt(log_n * share)
    return worth if c > 0 else rule.first_play


@part
def rave_mse(rule, c, w, rc, rw):
    """Of the schedule "mse": (1 - beta) w/2c + beta rw/2rc over the common denominator rc + c + rc c b.

    No division by c or rc, and no limits. Where nothing is known, a next to nothing decides.
    """
    weight = 1 + rule.b * rc
    return (0.5 * (rw + weight * w) + NOTHING * rule.first_play) / (c * weight + (rc + NOTHING))


@part
def rave_hand(rule, beta, c, w, rc, rw):
    """Of the hand-selected schedule, whose weight is `beta`."""
    if c == 0:
        return rw / (2 * rc) if rc > 0 else rule.first_play
    if rc == 0:
        return w / (2 * c)
    return (1 - beta) * w / (2 * c) + beta * rw / (2 * rc)


@once
def work_out(rule, n, values, c, w, rc, rw):
    """Fills the values of all moves at a node of n visits, float64 [M] all; one loop a rule, of which vectors are made."""
    log_n = log(n) if rule.exploration > 0 else 0.0
    if rule.kind == UCT:
        for move in range(len(values)):
            values[move] = uct(rule, log_n, c[move], w[move])
        return
    if rule.kind == RAVE_MSE:
        for move in range(len(values)):
            values[move] = rave_mse(rule, c[move], w[move], rc[move], rw[move])
    else:
        beta = hand_selected_beta(n, rule.k)
        for move in range(len(values)):
            values[move] = rave_hand(rule, beta, c[move], w[move], rc[move], rw[move])
    if rule.exploration > 0:
        for move in range(len(values)):
            values[move] += rule.exploration * math.sqrt(log_n / max(c[move], 0.5))


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
