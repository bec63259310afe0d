"""The rules of Go, exactly: which moves are legal, what a move does, and the area score.

Stated once, for players `own` (to move) and `opp`:

 - A player plays on an empty point or passes.
 - After the stone is placed, the opponent's chains without a liberty are taken off the board.
 - A move after which the mover's own new chain has no liberty is suicide and illegal, whatever the number of stones.
 - Simple ko: where a move takes exactly one stone, with a single stone that has only that one point as liberty, the opponent may
   not play on that point in his next move. A pass lifts the ko.
 - Two passes in a row end the game; no move, not even a pass, is legal then.
 - Score: a colour's area is its stones and the empty regions that touch no stone of the other colour.

Positional superko is the caller's: `stones_hash` gives every position a hash.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo import bitboard as bb
from jaxgo.bitboard import Board
from jaxgo.geometry import Geometry
from jaxgo.one_loop import in_one_loop


def flood(g: Geometry, seeds: Board, through: Board) -> Board:
    """All points of `through` that are connected with a point of `seeds` (a subset of it)."""

    def step(seeds, through):
        grown = bb.spread(g, bb.spread(g, seeds, through), through)
        return grown, bb.grows(g, grown, through).astype(jnp.int32)

    def body(state):
        return in_one_loop(step, state[0], through)

    return lax.while_loop(lambda state: jnp.any(state[1] != jnp.int32(0)), body, body((seeds, None)))[0]


def legal_points(g: Geometry, own: Board, opp: Board, ko: Board) -> Board:
    """The points where the mover may play.

    An empty point is legal if it has an empty neighbour, an own neighbour whose chain has another liberty, or an enemy neighbour
    whose chain has no other. So chains with one liberty must be told from chains with two or more: a chain has two liberties if
    and only if their bit indices differ in some bit, so for every bit the liberties with and without it are flooded apart.
    """
    empty = bb.complement(g, bb.either(own, opp))
    several = tuple(jnp.zeros_like(x) for x in own)
    for marked in _index_bits(g):
        on = tuple(e & bb.word(m) for e, m in zip(empty, marked))
        on, off = bb.neighbours(g, on), bb.neighbours(g, bb.without(empty, on))
        floods = [flood(g, bb.both(side, stones), stones) for stones in (own, opp) for side in (on, off)]
        several = bb.either(several, bb.either(bb.both(*floods[:2]), bb.both(*floods[2:])))
    helps = bb.either(empty, bb.either(bb.both(own, several), bb.without(opp, several)))
    return bb.without(bb.both(empty, bb.neighbours(g, helps)), ko)


def _index_bits(g: Geometry) -> list[list[int]]:
    """For every bit of a point's index, the W words of the points that have it."""
    index = g.index_of_point[:-1]
    out = []
    for b in range(int(index.max()).bit_length()):
        words = [0] * g.num_words
        for i in index[(index >> b) & 1 == 1]:
            words[i // 32] |= 1 << int(i % 32)
        if any(words):
            out.append(words)
    return out


def play(g: Geometry, own: Board, opp: Board, stone: Board) -> tuple[Board, Board, Board]:
    """(own, opp, ko) after a legal move, still from the mover's view: ko is the point that the opponent may not play next.

    `stone` holds the move's one point, or none for a pass.
    """
    own_after = bb.either(own, stone)
    empty = bb.complement(g, bb.either(own_after, opp))
    alive = flood(g, bb.both(bb.neighbours(g, empty), opp), opp)
    captured = bb.without(opp, alive)
    around = bb.on_board(g, bb.neighbours(g, stone))
    ko = (bb.count(captured) == jnp.int32(1)) & ~bb.any_point(bb.without(around, opp))
    return own_after, alive, tuple(jnp.where(ko, c, bb.word(0)) for c in captured)


def area_margin(g: Geometry, own: Board, opp: Board) -> jax.Array:
    """int32: own area minus the other's."""
    empty = bb.complement(g, bb.either(own, opp))
    mine, theirs = flood(g, own, bb.either(own, empty)), flood(g, opp, bb.either(opp, empty))
    return bb.count(bb.without(mine, theirs)) - bb.count(bb.without(theirs, mine))


def without_liberties(g: Geometry, own: Board, opp: Board) -> Board:
    """The stones whose chain has no liberty; none in a position of a game."""
    near = bb.neighbours(g, bb.complement(g, bb.either(own, opp)))
    return bb.either(*(bb.without(s, flood(g, bb.both(near, s), s)) for s in (own, opp)))


def zobrist_keys(size: int) -> np.ndarray:
    """uint32 [2 colours, P, 2]: the numbers that are exclusive-ored into a position's hash, the same in every process."""
    return np.random.default_rng([0x5A0B, size]).integers(0, 2**32, (2, size * size, 2), dtype=np.uint32)
