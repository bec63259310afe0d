"""What is cheap to say of a position's moves: tactics, local patterns, nearness to the last moves, the board's edge, eyes.

Tree searches begin with such knowledge at new nodes, before playouts have told anything (Gelly and Silver, "Combining online and
offline knowledge in UCT", 2007; the program michi).
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.board.tactics import Tactics
from jaxgo.playing.policies import pattern_table

#: What is said of moves, in the order of `features`. A move is said to capture one stone, two, or more; to save an own chain in
#: atari, to put an enemy chain in atari, to leave its own chain in atari (see `jaxgo.board.tactics`); to match a 3x3 pattern of
#: `pattern_table`; to lie one, two or three steps from the last move, and from the move before that; to lie on the first, second
#: or third line with no stone within `FAR` steps; to fill what is as good as an eye.
FEATURES = (
    "capture_one", "capture_two", "capture_more", "save", "atari", "self_atari", "pattern", "near_last_1", "near_last_2",
    "near_last_3", "near_before_1", "near_before_2", "near_before_3", "far_line_1", "far_line_2", "far_line_3", "eyelike",
)  # fmt: skip
#: Steps within which there is no stone around a move that is far from stones.
FAR = 3


def features(g: Geometry, own: Board, opp: Board, found: Tactics, moves: Board, last: jax.Array, before: jax.Array) -> jax.Array:
    """Those of moves: uint32 [B, len(FEATURES), W].

    Args:
      g: the boards' layout, of 32-bit words.
      own, opp: stones of the mover and the other player, [B].
      found: their tactics.
      moves: the moves of which it is said; empty points.
      last, before: int32 [B], the points of the last move and of the one before it, -1 for a pass or where they are not known.
    """
    two, three = found.takes_two, found.takes_three
    near = near_moves(g, own, opp, jnp.stack([last, before]))
    *lines, eyes = in_one_loop(lambda own, opp: [*far_lines(g, own, opp), eyelike(g, own, opp)], own, opp)
    planes = [
        bb.without(found.takes, two), bb.without(two, three), three, found.saves, found.ataris, found.self_ataris,
        patterns(g, own, opp), *(tuple(x[i] for x in board) for i in range(2) for board in near),
        *lines, bb.without(eyes, found.saves),
    ]  # fmt: skip
    return jnp.stack([jnp.stack(bb.both(board, moves), axis=-1) for board in planes], axis=-2)


def patterns(g: Geometry, own: Board, opp: Board) -> Board:
    """The empty points around which a 3x3 pattern matches."""

    def surroundings(own, opp):
        boards = [bb.moved(g, stones, -dy, -dx) for stones in (own, opp) for dy, dx in pattern_table.STEPS]
        return [bb.either(board, outside) for board, outside in zip(boards, _outside(g) * 2)]

    boards = in_one_loop(surroundings, own, opp)
    words = [jnp.stack(board, axis=-1)[..., None] for board in boards]  # [B, W, 1] each
    bit = lax.broadcasted_iota(jnp.uint32, (*words[0].shape[:-1], g.stride * g.num_slots), words[0].ndim - 1)
    codes = jnp.zeros_like(bit)
    for i, word in enumerate(words):
        codes = codes | ((word >> bit) & np.uint32(1)) << np.uint32(i)
    found = jnp.asarray(pattern_table.table()).at[codes.astype(jnp.int32)].get(mode="promise_in_bounds")
    matches = jnp.sum(found.astype(jnp.uint32) << bit, axis=-1, dtype=jnp.uint32)
    return bb.both(tuple(matches[..., w] for w in range(g.num_words)), bb.complement(g, bb.either(own, opp)))


@functools.cache
def _outside(g: Geometry) -> list[tuple[np.integer, ...]]:
    """For each of the steps around a point, the points from which it leads off the board; words of numpy."""
    rows, columns = np.divmod(np.arange(g.num_points), g.size)
    steps = [(rows + dy, columns + dx) for dy, dx in pattern_table.STEPS]
    inside = [(0 <= y) & (y < g.size) & (0 <= x) & (x < g.size) for y, x in steps]
    return [tuple(g.word(int(word)) for word in bb.of_points(g, ~points)) for points in inside]


def near_moves(g: Geometry, own: Board, opp: Board, points: jax.Array) -> list[Board]:
    """The empty points one, two and three steps away from points, int32 [n, B]; boards [n, B].

    A step leads to all points beside; through a chain it leads at once, so that those beside the chain of the last move, for
    example, are one step away from it, and the liberties of the chains which touch that are two.
    """
    own, opp = (tuple(jnp.broadcast_to(x, points.shape) for x in board) for board in (own, opp))
    index = jnp.asarray(g.index_of_point)[points]
    reached = bb.one_point(g, jnp.where(points < np.int32(0), np.int32(g.pass_index), index))
    found = []
    for _ in range(3):
        mine, theirs = rules.flood(g, (bb.both(reached, own), own), (bb.both(reached, opp), opp))
        reached = bb.either(reached, bb.either(mine, theirs))
        wider = bb.on_board(g, bb.either(reached, bb.neighbours(g, reached)))
        found.append(bb.without(bb.without(wider, reached), bb.either(own, opp)))
        reached = wider
    return found


def far_lines(g: Geometry, own: Board, opp: Board) -> list[Board]:
    """The points of the first, second and third line with no stone within `FAR` steps."""
    near = bb.either(own, opp)
    for _ in range(FAR):
        near = bb.either(near, bb.on_board(g, bb.neighbours(g, near)))
    return [tuple(x & ~y for x, y in zip(line, near)) for line in _lines(g)]


@functools.cache
def _lines(g: Geometry) -> list[tuple[np.integer, ...]]:
    """The first, second and third line; words of numpy."""
    rows, columns = np.divmod(np.arange(g.num_points), g.size)
    height = np.minimum(np.minimum(rows, g.size - 1 - rows), np.minimum(columns, g.size - 1 - columns))
    return [tuple(g.word(int(word)) for word in bb.of_points(g, height == line)) for line in range(3)]


def eyelike(g: Geometry, own: Board, opp: Board) -> Board:
    """Empty points that are as good as eyes of the mover: all of an empty region of one or two points beside which only his
    stones are, whatever lies on the diagonals."""
    empty, others = bb.complement(g, bb.either(own, opp)), bb.complement(g, own)
    north, south, west, east = bb.sides(g, others)

    def alone(side, *rest):
        return bb.without(bb.both(empty, side), functools.reduce(bb.either, rest))

    to_north, to_south = alone(north, south, west, east), alone(south, north, west, east)
    to_west, to_east = alone(west, north, south, east), alone(east, north, south, west)
    pairs = (
        bb.both(to_north, bb.from_north(g, to_south)), bb.both(to_south, bb.from_south(g, to_north)),
        tuple(x & y << g.word(1) for x, y in zip(to_west, to_east)), tuple(x & bb.down(y, 1) for x, y in zip(to_east, to_west)),
    )  # fmt: skip
    single = bb.without(empty, functools.reduce(bb.either, (north, south, west, east)))
    return functools.reduce(bb.either, pairs, single)
