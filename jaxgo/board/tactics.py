"""What moves do to the chains beside them: captures, saves, ataris, self-ataris; for all moves of a position at once.

The chains of a position are looked at one after the other, one of the mover's and one of the other's at a time, in all positions
side by side: each is flooded from its first stone, and once it is whole, its liberties are counted, and what that says of moves
on them is noted. That is as many steps as a player has chains, of little work each; to play out every move would be as many
floods as the board has points.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, playing_geometry


class Tactics(NamedTuple):
    """Empty points by what the mover's stone does there, whether or not the move is legal."""

    takes: Board
    """Where it captures."""
    takes_two: Board
    """Where it captures two stones or more."""
    takes_three: Board
    """Where it captures three or more."""
    saves: Board
    """Where it saves own chains in atari: one has two liberties or more then, not counting what is captured; or it captures, on
    a liberty of an enemy chain that touches one of them."""
    ataris: Board
    """Where it leaves an enemy chain of two liberties with one."""
    self_ataris: Board
    """Where it captures nothing, and leaves its own chain with one liberty, or none."""
    free: Board
    """Not points: the stones of both whose chain has two liberties or more, as of `rules.out_of_atari`."""


class _Noted(NamedTuple):
    """What whole chains have said."""

    weak: Board
    """Stones in atari."""
    safe: Board
    """Liberties of his chains of three or more."""
    once: Board
    """Liberties of his chains of two that do not touch."""
    twice: Board
    """Those of several such chains."""
    takes: tuple[Board, Board, Board]
    ataris: Board


def tactics(g: Geometry, own: Board, opp: Board) -> Tactics:
    """Of positions in which no chain is without a liberty and no point has two stones; the boards' shape is [B]."""
    playing = playing_geometry(g.size)
    with bb.words_known(playing):
        own, opp = (bb.relaid(board, g, playing) for board in (own, opp))
        return Tactics(*(bb.relaid(board, playing, g) for board in _tactics(playing, own, opp)))


def _tactics(g: Geometry, own: Board, opp: Board) -> Tactics:
    none = tuple(x & g.word(0) for x in own)
    noted = _chains(g, own, opp, _Noted(none, none, none, none, (none, none, none), none))
    (attackers,) = rules.flood_as_laid(g, [(bb.both(bb.neighbours(g, bb.both(noted.weak, own)), opp), opp)])

    def judge(own, opp, noted):
        empty = bb.complement(g, bb.either(own, opp))
        one, (two, _) = bb.neighbours(g, empty), bb.beside_several(g, empty)
        roomy = bb.either(bb.either(two, noted.safe), bb.both(one, noted.once))
        return roomy, bb.without(bb.without(bb.both(empty, noted.twice), one), roomy)

    roomy, unclear = in_one_loop(judge, own, opp, noted)
    roomy = bb.either(roomy, _joins(g, own, opp, unclear))

    def finish(own, opp, noted, attackers, roomy):
        empty, takes = bb.complement(g, bb.either(own, opp)), noted.takes[0]
        saves = bb.both(empty, bb.both(bb.neighbours(g, bb.both(noted.weak, own)), roomy))
        taking = bb.both(takes, bb.neighbours(g, attackers))
        free = bb.without(bb.either(own, opp), noted.weak)
        return bb.either(saves, taking), bb.without(bb.without(empty, roomy), takes), free

    saves, self_ataris, free = in_one_loop(finish, own, opp, noted, attackers, roomy)
    return Tactics(*noted.takes, saves, noted.ataris, self_ataris, free)


def _where(g: Geometry, condition: jax.Array, a: Board) -> Board:
    return tuple(jnp.where(condition, x, g.word(0)) for x in a)


def _chains(g: Geometry, own: Board, opp: Board, noted: _Noted) -> _Noted:
    """What all chains say."""

    def step(own, opp, left, reach, noted):
        empty = bb.complement(g, bb.either(own, opp))
        next_reach, gone = [], []
        for stones, look in ((own, _look_at_own), (opp, _look_at_opp)):
            mine = bb.both(reach, stones)
            chain = bb.choose(bb.any_point(mine), mine, bb.first_point(bb.both(left, stones)))
            chain = bb.spread(g, bb.spread(g, chain, stones), stones)
            around = bb.neighbours(g, chain)
            whole = ~bb.any_point(bb.without(bb.both(around, stones), chain))
            noted = look(g, noted, _where(g, whole, chain), _where(g, whole, bb.both(around, empty)))
            next_reach.append(_where(g, ~whole, chain))
            gone.append(_where(g, whole, chain))
        left = bb.without(left, bb.either(*gone))
        return left, bb.either(*next_reach), noted

    def more(state):
        return jnp.any(bb.any_point(state[0]))

    none = tuple(jnp.zeros_like(x) for x in noted.weak)
    state = bb.either(own, opp), tuple(x | y for x, y in zip(none, noted.weak)), noted
    return lax.while_loop(more, lambda state: in_one_loop(step, own, opp, *state), state)[2]


def _look_at_own(g: Geometry, noted: _Noted, chain: Board, liberties: Board) -> _Noted:
    number, apart = bb.count(liberties), ~bb.any_point(bb.both(bb.neighbours(g, liberties), liberties))
    other = _where(g, (number == np.int32(2)) & apart, liberties)
    return noted._replace(
        weak=bb.either(noted.weak, _where(g, number == np.int32(1), chain)),
        safe=bb.either(noted.safe, _where(g, number >= np.int32(3), liberties)),
        once=bb.either(noted.once, other),
        twice=bb.either(noted.twice, bb.both(noted.once, other)),
    )


def _look_at_opp(g: Geometry, noted: _Noted, chain: Board, liberties: Board) -> _Noted:
    number, size = bb.count(liberties), bb.count(chain)
    last = _where(g, number == np.int32(1), liberties)
    one, two, three = noted.takes
    many = [_where(g, size >= np.int32(n), last) for n in (1, 2, 3)]
    # What the move takes already, and one, two or three more.
    three = bb.either(bb.either(three, many[2]), bb.either(bb.both(one, many[1]), bb.both(two, many[0])))
    two = bb.either(bb.either(two, many[1]), bb.both(one, many[0]))
    return noted._replace(
        weak=bb.either(noted.weak, _where(g, number == np.int32(1), chain)), takes=(bb.either(one, many[0]), two, three),
        ataris=bb.either(noted.ataris, _where(g, number == np.int32(2), liberties)),
    )  # fmt: skip


def _joins(g: Geometry, own: Board, opp: Board, points: Board) -> Board:
    """Those of some empty points on which a stone makes a chain of two liberties or more; few, so that each is tried."""

    def step(own, opp, left, reach, found):
        begun = bb.any_point(reach)
        stone = bb.first_point(left)
        through = bb.either(own, stone)
        chain = bb.spread(g, bb.spread(g, bb.choose(begun, reach, stone), through), through)
        around = bb.neighbours(g, chain)
        whole = ~bb.any_point(bb.without(bb.both(around, through), chain))
        liberties = bb.both(around, bb.complement(g, bb.either(through, opp)))
        roomy = whole & (bb.count(liberties) >= np.int32(2))
        return (
            bb.without(left, _where(g, whole, stone)), _where(g, ~whole, chain), bb.either(found, _where(g, roomy, stone))
        )  # fmt: skip

    def more(state):
        return jnp.any(bb.any_point(state[0]))

    none = tuple(x & g.word(0) for x in own)
    return lax.while_loop(more, lambda state: in_one_loop(step, own, opp, *state), (points, none, none))[2]
