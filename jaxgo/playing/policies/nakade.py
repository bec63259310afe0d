"""The vital point of a small eye space: who plays there first decides whether it makes one eye or two.

An eye space of which one point has all the others beside it, or all but a corner that two of them share, is a "nakade" shape:
three in a row, the pyramid of four, the bulky and the crossed five and the rabbity six. That point is its vital one; all other
shapes of up to six points have none. Uniform playouts find it one time in as many as there are moves, and so take the dead for
living. The rule is that of MoGo's later playouts (Chaslot, Fiter, Hoock, Rimmel and Teytaud, "Adding expert knowledge and
exploration in Monte-Carlo tree search", 2010), which have the three in a row, for all the shapes.
"""

from typing import Any

import jax

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of


class Nakade(Policy):
    """Plays, where it is asked, on the vital point of an eye space beside the last move.

    That is a set of empty points that hang together, in one of the shapes above, with only the other player's stones around; the
    last move stands beside one of them.

    Args:
      p: the probability that it is asked in a ply, 0 to 1.
    """

    def __init__(self, p: float = 1.0):
        self.chance = chance_of("p", p)

    @property
    def wants(self) -> Wants:
        """The last move."""
        return Wants(last=True)

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """The vital points."""
        assert lanes.memory is not None and lanes.memory.last is not None
        vital = vital_points(g, lanes.own, lanes.opp)
        return [Preference(bb.both(vital, _near(g, lanes.own, lanes.opp, lanes.memory.last)), known, coin)]

    def __repr__(self) -> str:
        return self._named(p=probability_of(self.chance))


def vital_points(g: Geometry, own: Board, opp: Board) -> Board:
    """The vital points of all eye spaces with only the other player's stones around, elementwise, without a flood.

    What a shape is can be told by how many empty points lie beside each. A tip has one beside it. A corner has two, and so have
    these two, which it shares with the vital point; all else beside the vital point are tips.
    """
    empty = bb.complement(g, bb.either(own, opp))
    enclosed = bb.without(empty, bb.neighbours(g, own))
    two, three = bb.beside_several(g, empty)
    tips, bends = bb.without(enclosed, two), bb.without(bb.both(enclosed, two), three)
    north, south, west, east = bb.sides(g, bb.without(empty, tips))
    more_than_tips = bb.either(bb.either(north, south), bb.either(west, east))
    found = bb.without(two, more_than_tips)
    bend_north, bend_south, bend_west, bend_east = bb.sides(g, bends)
    for bend, other in (bend_north, south), (bend_south, north):
        _, _, corner_west, corner_east = bb.sides(g, bend)
        for corner, beside, opposite in (corner_west, bend_west, east), (corner_east, bend_east, west):
            bulky = bb.both(bb.both(bend, beside), bb.both(corner, three))
            found = bb.either(found, bb.without(bulky, bb.either(other, opposite)))
    return bb.both(found, enclosed)


def _near(g: Geometry, own: Board, opp: Board, last: jax.Array) -> Board:
    """The empty points to which two steps or fewer, over empty points, lead from one beside the last move."""
    empty = bb.complement(g, bb.either(own, opp))
    reached = bb.both(bb.neighbours(g, bb.one_point(g, last)), empty)
    for _ in range(2):
        reached = bb.either(reached, bb.both(bb.neighbours(g, reached), empty))
    return reached
