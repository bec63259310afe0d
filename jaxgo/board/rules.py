"""The rules of Go, exactly: which moves are legal, what a move does, and the area score.

Stated once, for players `own` (to move) and `opp`:

 - A player plays on an empty point or passes.
 - After the stone is placed, the opponent's chains without a liberty are taken off the board.
 - A move after which the mover's own new chain has no liberty is suicide and illegal, whatever the number of stones.
 - Simple ko: where a move takes exactly one stone, with a single stone that has only that one point as liberty, the opponent may
   not play on that point in his next move. A pass lifts the ko.
 - Two passes in a row end the game; no move, not even a pass, is legal then.
 - Score: a colour's area is its stones and the empty regions that touch no stone of the other colour.

Positional superko is the caller's: `Position.hash` tells positions apart.
"""

import functools
import operator
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, playing_geometry


def flood(g: Geometry, *grounds: tuple[Board, Board]) -> list[Board]:
    """For each (seeds, through), all points of `through` that are connected with a point of `seeds`, a subset of it."""
    playing = playing_geometry(g.size)
    with bb.words_known(playing):
        relaid = [(bb.relaid(seeds, g, playing), bb.relaid(through, g, playing)) for seeds, through in grounds]
        return [bb.relaid(board, playing, g) for board in flood_as_laid(playing, relaid)]


def flood_as_laid(g: Geometry, grounds: Sequence[tuple[Board, Board]]) -> list[Board]:
    """`flood` of boards that lie as they are played."""
    throughs = [through for _, through in grounds]

    def grown(reached, sweeps):
        return in_one_loop(functools.partial(_grown, g, sweeps), reached, throughs)

    def step(state):
        # A sweep each in two loops, which write into each other's buffers: what one alone goes on with XLA would copy.
        return grown(in_one_loop(functools.partial(_swept, g), state[0], throughs), 1)

    first = [seeds for seeds, _ in grounds], jnp.ones_like(throughs[0][0], dtype=jnp.int32)
    if throughs[0][0].shape:  # the first step often is enough
        first = grown(first[0], 2)
    return lax.while_loop(lambda state: jnp.any(state[1] != np.int32(0)), step, first)[0]


def _swept(g: Geometry, reached: list[Board], throughs: list[Board]) -> list[Board]:
    """Sets grown inside others by a sweep each."""
    return [bb.spread(g, r, t) for r, t in zip(reached, throughs)]


def _grown(g: Geometry, sweeps: int, reached: list[Board], throughs: list[Board]) -> tuple[list[Board], jax.Array]:
    """The same by some sweeps, and int32, whether any can grow on."""
    for _ in range(sweeps):
        reached = _swept(g, reached, throughs)
    growing = functools.reduce(operator.or_, (bb.grows(g, r, t) for r, t in zip(reached, throughs)))
    return reached, growing.astype(np.int32)


def out_of_atari(g: Geometry, own: Board, opp: Board) -> Board:
    """The stones of both colours whose chain has two liberties or more.

    A chain has two liberties if and only if their bit indices differ in some bit, so for every bit the liberties with and without
    it are flooded apart.
    """

    def seeds(own, opp, marked):
        beside = bb.neighbours(g, bb.both(bb.complement(g, bb.either(own, opp)), marked))
        return bb.both(beside, own), bb.both(beside, opp)

    # The floods lie side by side: [bits * 2, ...], the points with the bit and those without.
    marks = _index_marks(g)
    shape = (len(marks), *own[0].shape)
    marked = tuple(jnp.asarray(np.broadcast_to(marks[:, w].reshape(-1, *[1] * own[0].ndim), shape)) for w in range(g.num_words))
    owns, opps = (tuple(jnp.broadcast_to(w, shape) for w in board) for board in (own, opp))
    floods = flood(g, *zip(in_one_loop(seeds, owns, opps, marked), (owns, opps)))
    reached = jnp.stack(bb.either(*floods)).reshape(g.num_words, -1, 2, *own[0].shape)
    return tuple(lax.reduce(reached[:, :, 0] & reached[:, :, 1], g.word(0), lax.bitwise_or, (1,)))


def legal_points(g: Geometry, own: Board, opp: Board, ko: Board, free: Board) -> Board:
    """The points where the mover may play; `free` is `out_of_atari(g, own, opp)`.

    An empty point is legal if it has an empty neighbour, an own neighbour whose chain has another liberty, or an enemy neighbour
    whose chain has no other.
    """

    def legal(own, opp, ko, free):
        empty = bb.complement(g, bb.either(own, opp))
        helps = bb.either(empty, bb.either(bb.both(own, free), bb.without(opp, free)))
        return bb.without(bb.both(empty, bb.neighbours(g, helps)), ko)

    return in_one_loop(legal, own, opp, ko, free)


def _index_marks(g: Geometry) -> np.ndarray:
    """[bits * 2, W] words: for every bit of a point's index, the points that have it, then those that have not."""
    index = g.index_of_point[:-1]
    marks = np.zeros((2 * int(index.max()).bit_length(), g.num_words), g.dtype)
    for row in range(len(marks)):
        chosen = index[(index >> (row // 2)) & 1 == 1 - row % 2]
        np.bitwise_or.at(marks[row], chosen // g.word_bits, g.word(1) << (chosen % g.word_bits).astype(g.dtype))
    return marks


def signs_of_no_eye(g: Geometry, own: Board, opp: Board) -> tuple[Board, Board]:
    """(points beside which not all stones are the mover's, points whose diagonal neighbours spoil an eye of his).

    An eye's orthogonal neighbours are all the mover's; at most one of its diagonal neighbours is an enemy, none at the edge. Bits
    may leave the board.
    """
    beside_others = bb.neighbours(g, bb.complement(g, own))
    east, west = tuple(x << g.word(1) for x in opp), tuple(bb.down(x, 1) for x in opp)
    diagonals = zip(bb.from_north(g, east), bb.from_south(g, east), bb.from_north(g, west), bb.from_south(g, west))
    rows = zip(diagonals, g.edge)
    return beside_others, tuple(
        (a & b) | (c & d) | ((a | b) & (c | d)) | ((a | b | c | d) & g.word(edge)) for (a, b, c, d), edge in rows
    )


def no_eyes(g: Geometry, own: Board, opp: Board) -> Board:
    """The empty points that are no eye of the mover, as `signs_of_no_eye` says."""
    return bb.both(bb.complement(g, bb.either(own, opp)), bb.either(*signs_of_no_eye(g, own, opp)))


def play(g: Geometry, own: Board, opp: Board, stone: Board) -> tuple[Board, Board, Board]:
    """(own, opp, ko) after a legal move, still from the mover's view: ko is the point that the opponent may not play next.

    `stone` holds the move's one point, or none for a pass.
    """

    def seeds(own, opp, stone):
        empty = bb.complement(g, bb.either(bb.either(own, stone), opp))
        return bb.both(bb.neighbours(g, empty), opp)

    def finish(own, opp, stone, alive):
        captured = bb.without(opp, alive)
        around = bb.on_board(g, bb.neighbours(g, stone))
        ko = (bb.count(captured) == np.int32(1)) & ~bb.any_point(bb.without(around, opp))
        return bb.either(own, stone), tuple(jnp.where(ko, c, g.word(0)) for c in captured)

    (alive,) = flood(g, (in_one_loop(seeds, own, opp, stone), opp))
    own, ko = in_one_loop(finish, own, opp, stone, alive)
    return own, alive, ko


def areas(g: Geometry, own: Board, opp: Board) -> tuple[Board, Board]:
    """Each colour's area: its stones and the empty regions that touch no stone of the other colour."""
    mine, theirs = _reached(g, own, opp, None)
    return bb.without(mine, theirs), bb.without(theirs, mine)


def area_margin(g: Geometry, own: Board, opp: Board, wanted: jax.Array | None = None) -> jax.Array:
    """int32: own area minus the other's (`areas`).

    Where `wanted` (bool) is given and false, the areas are the stones alone, which saves the others the longest floods.
    """

    def margin(mine, theirs):
        return bb.count(bb.without(mine, theirs)) - bb.count(bb.without(theirs, mine))

    return in_one_loop(margin, *_reached(g, own, opp, wanted))


def _reached(g: Geometry, own: Board, opp: Board, wanted: jax.Array | None) -> list[Board]:
    """What each colour's stones reach by way of empty points."""

    def grounds(own, opp, *wanted):
        empty = bb.complement(g, bb.either(own, opp))
        for where in wanted:
            empty = tuple(jnp.where(where != np.int32(0), x, g.word(0)) for x in empty)
        return bb.either(own, empty), bb.either(opp, empty)

    where = () if wanted is None else (wanted.astype(jnp.int32),)
    mine, theirs = in_one_loop(grounds, own, opp, *where)
    return flood(g, (own, mine), (opp, theirs))


def without_liberties(g: Geometry, own: Board, opp: Board) -> Board:
    """The stones whose chain has no liberty; none in a position of a game."""
    near = bb.neighbours(g, bb.complement(g, bb.either(own, opp)))
    alive = flood(g, (bb.both(near, own), own), (bb.both(near, opp), opp))
    return bb.without(bb.either(own, opp), bb.either(*alive))


def zobrist_keys(size: int) -> np.ndarray:
    """uint32 [2 colours, P, 2]: the numbers that are exclusive-ored into a position's hash, the same in every process."""
    return np.random.default_rng([0x5A0B, size]).integers(0, 2**32, (2, size * size, 2), dtype=np.uint32)
