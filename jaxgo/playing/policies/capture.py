"""Active capture: with some probability a move that captures, if there is one."""

from typing import Any

import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of


class Capture(Policy):
    """Captures, where it is asked and a stone can be captured: uniform over the points that capture something.

    Args:
      q: the probability that it is asked in a ply, 0 to 1.
    """

    def __init__(self, q: float = 1.0):
        self.chance = chance_of("q", q)

    @property
    def wants(self) -> Wants:
        """Which moves turned out to capture nothing."""
        return Wants(captures=True)

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """The points that may capture."""
        points = may_capture(g, lanes.own, lanes.opp)
        return [Preference(points, known, coin, capturing=points, possible=may_be_legal(g, lanes.opp, points))]

    def __repr__(self) -> str:
        return self._named(q=probability_of(self.chance))


def may_capture(g: Geometry, own: Board, opp: Board) -> Board:
    """The empty points that capture an enemy chain, and few others; the tick finds out which do."""
    empty = bb.complement(g, bb.either(own, opp))
    return bb.both(bb.neighbours(g, may_be_in_atari(g, opp, empty)), empty)


def may_be_legal(g: Geometry, opp: Board, taking: Board) -> Board:
    """The points where a stone is not alone among enemy ones, and those that may capture: of the others each is suicide, a fifth
    of what playouts would draw."""
    return bb.either(bb.neighbours(g, bb.complement(g, opp)), taking)


def may_be_in_atari(g: Geometry, stones: Board, empty: Board) -> Board:
    """The stones of chains in atari, and few others: all of which it is not seen that their chain has two liberties.

    It is seen if a stone has two, or if near a stone, of it and those beside it, there are liberties on both colours of a
    chessboard (and stones in a row have theirs on both in turn), and if a sweep carries that to the others.
    """
    two, _ = bb.beside_several(g, empty)
    two = bb.both(two, stones)
    on_white = tuple(x & word for x, word in zip(empty, every_other_point(g)))
    beside = [bb.both(bb.neighbours(g, x), stones) for x in (on_white, bb.without(empty, on_white))]
    near = [bb.either(x, bb.neighbours(g, x)) for x in beside]
    return bb.without(stones, bb.spread(g, bb.either(two, bb.both(bb.both(*near), stones)), stones))


def every_other_point(g: Geometry) -> tuple[np.integer, ...]:
    """The points of one colour of a chessboard, words of numpy."""
    words = [0] * g.num_words
    for y, (word, shift) in enumerate(zip(g.word_of_row, g.shift_of_row)):
        words[word] |= sum(1 << x for x in range(y % 2, g.size, 2)) << int(shift)
    return tuple(g.word(x) for x in words)
