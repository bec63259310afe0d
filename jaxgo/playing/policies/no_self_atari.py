"""No self-atari: moves that leave a chain with one liberty, for nothing, are passed over.

Uniform playouts fill liberties that both players share, and so end every seki, and lose groups that live by two liberties alone.
michi and Pachi refuse such moves likewise, with some probability, as now and then they are right. What is right more often is let
be: stones that are thrown in, and those inside an eye space that have to be taken, as they leave one that makes one eye.
"""

from typing import Any

import jax.numpy as jnp

from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing.asking import Coin, Preference
from jaxgo.playing.draws import CHANCES
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of


class NoSelfAtari(Policy):
    """Passes over self-ataris, where it is asked: moves that capture nothing, and leave a chain with one liberty.

    Chains of up to three stones are none, nor are the square of four and the shapes of `Nakade`: where they are taken, a stone on
    the vital point leaves one eye.

    That goes for what the policies after it prefer, and for all legal points, where none of them has a move; where all of these
    are self-ataris, it passes. Those that stand before it are left alone.

    Args:
      p: the probability that it is asked in a ply, 0 to 1.
    """

    def __init__(self, p: float = 1.0):
        self.chance = chance_of("p", p)

    @property
    def wants(self) -> Wants:
        """Which moves turned out to be self-ataris."""
        return Wants(liberties=True)

    def careful(self, known: Any, coin: int) -> Coin:
        """Its coin."""
        return Coin(known, coin)

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """All points but those."""
        return [careful_among(points, (self.careful(known, coin),))]

    def __repr__(self) -> str:
        return self._named(p=probability_of(self.chance))


def careful_among(points: Board, careful: tuple[Coin, ...]) -> Preference:
    """A preference, always heeded, for all that may be drawn but self-ataris, where one of the coins says so."""
    always = jnp.full_like(careful[0].chance, CHANCES)
    return Preference(points, always, careful[0].number, careful=careful, or_pass=True)
