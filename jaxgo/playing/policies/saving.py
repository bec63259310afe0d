"""Which moves save chains from atari.

That takes floods that are complete, which is dear, and few lanes need them: those that draw a move, beside whose last move there
are stones that may be in atari. So these are put together, some at a time, and flooded apart from the others.
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
from jaxgo.board.geometry import Geometry
from jaxgo.playing.policies.capture import may_be_in_atari
from jaxgo.playing.tick import NO_MOVE, Lanes, is_over

#: One lane in so many is flooded at a time (measured).
SHARE = 4


class Saving(NamedTuple):
    """What there is for chains of the mover that are in atari and stand beside the last move."""

    moves: Board
    """The moves after which one of them has two liberties or more."""
    attackers: Board
    """The enemy chains that touch one of them."""


def of_lanes(g: Geometry, lanes: Lanes) -> Saving:
    """That of the lanes which draw a move; for others there is nothing."""
    assert lanes.memory is not None and lanes.memory.last is not None

    def begin(own, opp, last, move, passes, plies_left):
        weak = may_be_in_atari(g, own, bb.complement(g, bb.either(own, opp)))
        beside = bb.any_point(bb.both(bb.neighbours(g, bb.one_point(g, last)), weak))
        return weak, (beside & (move == np.int32(NO_MOVE)) & ~is_over(passes, plies_left)).astype(jnp.int32)

    last = lanes.memory.last
    weak, waiting = in_one_loop(begin, lanes.own, lanes.opp, last, lanes.move, lanes.passes, lanes.plies_left)
    number, share = last.shape[0], -(-last.shape[0] // SHARE)
    boards = (lanes.own, lanes.opp, weak)
    nothing = tuple(jnp.zeros_like(x) for x in lanes.own)
    # Not numbers outright: in a `shard_map` they must vary over the mesh as the lanes do.
    lane = lax.broadcasted_iota(jnp.int32, last.shape, 0) + (last & np.int32(0))

    def some(state):
        waiting, found = state
        place = jnp.cumsum(waiting, dtype=jnp.int32) - np.int32(1)
        place = jnp.where(waiting != np.int32(0), place, np.int32(share))
        which = lane[:share] * np.int32(0) + np.int32(number)
        which = which.at[place].set(lane, mode="drop")
        own, opp, weak, point = jax.tree.map(lambda x: x.at[which].get(mode="clip"), (*boards, last))
        made = _saving(g, own, opp, weak, point)
        found = jax.tree.map(lambda x, y: x.at[which].set(y, mode="drop"), found, made)
        return jnp.where(place < np.int32(share), np.int32(0), waiting), found

    return lax.while_loop(lambda state: jnp.any(state[0] != np.int32(0)), some, (waiting, Saving(nothing, nothing)))[1]


def _saving(g: Geometry, own: Board, opp: Board, weak: Board, last: jax.Array) -> Saving:
    """That of all; `weak` are own stones that may be in atari."""

    def begin(last, weak):
        stone = bb.one_point(g, last)
        north, south = bb.from_south(g, stone), bb.from_north(g, stone)
        west, east = tuple(bb.down(x, 1) for x in stone), tuple(x << g.word(1) for x in stone)
        return [bb.both(x, weak) for x in (north, west, east, south)]

    def liberties(own, opp, weak, chain):
        free = bb.both(bb.neighbours(g, chain), bb.complement(g, bb.either(own, opp)))
        # A chain of which other stones are known to be out of atari is so, too.
        whole = ~bb.any_point(bb.both(bb.neighbours(g, chain), bb.without(own, weak)))
        in_atari = whole & (bb.count(free) == np.int32(1))
        beside = bb.both(bb.neighbours(g, chain), opp)
        move, attackers = (tuple(jnp.where(in_atari, x, g.word(0)) for x in board) for board in (free, beside))
        return move, bb.either(own, move), attackers

    def saved(own, opp, chain, move):
        left = bb.without(bb.both(bb.neighbours(g, chain), bb.complement(g, bb.either(own, opp))), move)
        enough = bb.count(left) >= np.int32(2)
        return tuple(jnp.where(enough, x, g.word(0)) for x in move)

    # The chains in the four directions side by side, [4, L].
    chains = tuple(jnp.stack(words) for words in zip(*in_one_loop(begin, last, weak)))
    owns, opps, weaks = (tuple(jnp.broadcast_to(x, chains[0].shape) for x in board) for board in (own, opp, weak))
    (chains,) = rules.flood(g, (chains, weaks))
    move, through, attackers = in_one_loop(liberties, owns, opps, weaks, chains)
    (chains,) = rules.flood(g, (move, through))
    moves = in_one_loop(saved, owns, opps, chains, move)
    moves, attackers = (tuple(lax.reduce(x, g.word(0), lax.bitwise_or, (0,)) for x in board) for board in (moves, attackers))
    return Saving(moves, rules.flood(g, (attackers, opp))[0])
