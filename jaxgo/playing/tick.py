"""One tick of the playout machine: every lane takes one step of its own playout.

A lane is one running playout. In a tick, each lane

 1. draws a move uniformly among its candidates, unless an earlier draw is still undecided: the empty points that are no eye of
    the mover, not the ko point, and not found illegal before (`barred`, `dead`);
 2. floods from the liberties that are left through the stones of both colours, as far as one sweep down and up carries;
 3. decides, if the flood already tells: the move is legal (and is played, with its captures), or is suicide (and is barred, so
    that the next draw is uniform over the rest: rejection sampling keeps the choice exactly uniform over the legal candidates),
    or there was no candidate, and the lane passes. An undecided lane goes on flooding in the next tick.

Most rejected draws are points of living enemy groups that would be drawn again and again. So for a draw whose neighbours are all
enemy stones, the enemy chain beside it is flooded too. If that chain alone surrounds two or more single points, the opponent can
fill none of them, because the chain always has another liberty, until the owner fills one himself: they are `dead` to the
opponent from then on, and are not drawn. (The one-point case of Benson's "Life in the game of Go", 1976.) When a lane plays on
a dead point, which only its owner can, all of that lane's dead points are forgotten.

A playout policy may prefer some of the points, and may not want what a move turns out to do; see `jaxgo.playing.asking`.

Everything is elementwise over lanes, whatever their shape, without loops or branches, so that any backend can run it: XLA, one
fused loop on a CPU, the body of a GPU kernel.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.board.rules import signs_of_no_eye
from jaxgo.playing import asking, draws
from jaxgo.playing.lanes import CAPTURE, CAPTURES, LEGAL, NO_MOVE, SUICIDE, UNDECIDED, Lanes, is_over


def candidates(g: Geometry, own: Board, opp: Board, barred: Board, dead: Board) -> Board:
    """The points that the mover may draw: useful, not barred, and not dead to him.

    A dead point has neighbours of one colour only: it is dead to the mover if these are not his.
    """
    beside_others, broken = signs_of_no_eye(g, own, opp)
    rows = zip(bb.complement(g, bb.either(own, opp)), barred, dead, beside_others, broken)
    return tuple(empty & ~bar & ((others & ~no_use) | (~others & lost)) for empty, bar, no_use, others, lost in rows)


def pick(g: Geometry, points: Board, k: jax.Array) -> jax.Array:
    """int32: the bit index of point number k (uint32, below the number of points), counted word by word."""
    passed, start, index = jnp.zeros_like(k), jnp.zeros_like(k), jnp.zeros_like(k)
    chosen = points[0]
    for w in range(1, g.num_words):
        passed = passed + bb.bits_of(points[w - 1])
        later = k >= passed
        chosen = jnp.where(later, points[w], chosen)
        start = jnp.where(later, passed, start)
        index = jnp.where(later, np.uint32(g.word_bits * w), index)
    k = k - start
    half = g.word_bits // 2
    while half:
        low = chosen & g.word((1 << half) - 1)
        ones = bb.bits_of(low)
        upper = k >= ones
        k = jnp.where(upper, k - ones, k)
        chosen = jnp.where(upper, bb.down(chosen, half), low)
        index = jnp.where(upper, index + np.uint32(half), index)
        half //= 2
    return index.astype(jnp.int32)


def draw(g: Geometry, points: Board, move, counter, key) -> tuple[jax.Array, jax.Array]:
    """Step 1: (move, counter) after each lane without an undecided move has drawn one of the points; the pass if it has none."""
    num = bb.count(points).astype(jnp.uint32)
    drawn = pick(g, points, draws.below(draws.bits(counter, key), num))
    drawn = jnp.where(num == np.uint32(0), np.int32(g.pass_index), drawn)
    undecided = move != np.int32(NO_MOVE)
    return jnp.where(undecided, move, drawn), jnp.where(undecided, counter, counter + np.uint32(draws.STEP))


class Played(NamedTuple):
    """What `play` has done; every board is W arrays `[L]`."""

    own: Board
    """Stones of the player to move next."""
    opp: Board
    """Stones of the other player."""
    marks: Board
    """While UNDECIDED how far the flood has got, for the next tick; after CAPTURES the ko point, if there is one; after SUICIDE
    the points found to be dead to the mover, if any."""
    found: jax.Array
    """int32: UNDECIDED, SUICIDE, LEGAL (a pass too) or CAPTURES. Lanes that are over stay UNDECIDED."""


def play(g: Geometry, own: Board, opp: Board, reach: Board, move, continued, passes, plies_left) -> Played:
    """Steps 2 and 3: floods, decides, and plays a legal move.

    Args:
      g: the board's geometry.
      own, opp: stones of the mover and of the other player.
      reach: the flood so far, where it is continued.
      move: int32, bit index of an empty point, or `g.pass_index` for a pass.
      continued: int32, not 0 where an undecided move's flood goes on.
      passes, plies_left: as in `Lanes`; where the playout is over, nothing is played.
    """
    over = is_over(passes, plies_left)
    pass_move = move == np.int32(g.pass_index)
    continued = continued != np.int32(0)
    stone = bb.one_point(g, move)
    with_stone = bb.either(own, stone)
    around = bb.on_board(g, bb.neighbours(g, stone))
    enclosed = ~bb.any_point(bb.without(around, opp))

    # `theirs`: enemy stones that have a liberty. `second`: own stones that have one; of an enclosed stone, which can have none,
    # an enemy chain beside it instead.
    beside = bb.neighbours(g, bb.complement(g, bb.either(with_stone, opp)))
    source = bb.choose(continued, reach, beside)
    target = bb.choose(enclosed, opp, with_stone)
    theirs = bb.both(source, opp)
    second = bb.both(bb.choose(enclosed, bb.one_neighbour(g, stone), source), target)
    # More sweeps would decide more moves at once but cost every lane (measured).
    theirs, second = bb.spread(g, theirs, opp), bb.spread(g, second, target)

    # Enemy neighbours that the flood has not reached are captured, once the flood is complete.
    cut_off = bb.any_point(bb.without(bb.both(around, opp), theirs))
    alive = bb.any_point(bb.both(stone, second)) & ~enclosed
    buried = enclosed & ~cut_off
    flooded = bb.choose(cut_off, theirs, second)
    border = bb.neighbours(g, bb.choose(buried, bb.complement(g, second), flooded))
    complete = ~bb.any_point(bb.without(bb.both(border, bb.choose(cut_off, opp, target)), flooded))
    captures = cut_off & complete & ~over
    legal = captures | (((alive & ~cut_off) | pass_move) & ~over)
    suicide = ~legal & ~cut_off & (enclosed | complete) & ~over
    captured = tuple(jnp.where(captures, o & ~t, g.word(0)) for o, t in zip(opp, theirs))
    ko = captures & enclosed & (bb.count(captured) == np.int32(1))
    inside = bb.without(bb.complement(g, bb.either(own, opp)), border)
    dead = suicide & buried & (bb.count(inside) >= np.int32(2))
    decided = tuple(jnp.where(ko, c, jnp.where(dead, i, g.word(0))) for c, i in zip(captured, inside))
    reached = bb.choose(enclosed, theirs, bb.either(theirs, second))
    return Played(
        own=bb.choose(legal, bb.without(opp, captured), own),
        opp=bb.choose(legal, with_stone, opp),
        marks=bb.choose(legal | suicide, decided, reached),
        found=jnp.where(legal, np.int32(LEGAL), np.int32(UNDECIDED)) + captures.astype(jnp.int32) + suicide.astype(jnp.int32),
    )


def bar(g: Geometry, barred: Board, dead: Board, marks: Board, move, found) -> tuple[Board, Board]:
    """(barred, dead) after a move: it lifts the bars and sets the ko's; a suicide is barred and may have found dead points."""
    stone = bb.one_point(g, move)
    moved, suicide = found >= np.int32(LEGAL), found == np.int32(SUICIDE)
    forget = moved & bb.any_point(bb.both(stone, dead))
    barred = tuple(jnp.where(moved, m, jnp.where(suicide, b | s, b)) for b, s, m in zip(barred, stone, marks))
    dead = tuple(jnp.where(forget, g.word(0), jnp.where(suicide, d | m, d)) for d, m in zip(dead, marks))
    return barred, dead


def record(g: Geometry, played: Board, starter: Board, move, found, plies) -> tuple[Board, Board]:
    """(played, starter) after a move; `plies` is the number of plies before it."""
    if not played:
        return played, starter
    moved, by_starter = found >= np.int32(LEGAL), (plies & np.int32(1)) == np.int32(0)
    fresh = bb.without(bb.one_point(g, jnp.where(moved, move, np.int32(g.pass_index))), played)
    return bb.either(played, fresh), tuple(jnp.where(by_starter, s | f, s) for s, f in zip(starter, fresh))


def append(log: tuple[jax.Array, ...], move, found) -> tuple[jax.Array, ...]:
    """The log after a move."""
    moved = found >= np.int32(LEGAL)
    event = jnp.where(found == np.int32(CAPTURES), move + np.int32(CAPTURE), move).astype(jnp.uint32)
    carried = (event, *(x >> np.uint32(16) for x in log))
    return tuple(jnp.where(moved, (x << np.uint32(16)) | c, x) for x, c in zip(log, carried))


def tick(g: Geometry, lanes: Lanes, policy: asking.Ask | None = None, waits: jax.Array | None = None) -> Lanes:
    """The lanes one tick later; see the module's text. Those that are over stay as they are.

    Args:
      g: the board's geometry.
      lanes: the running playouts.
      policy: whom they ask, if they remember what it wants: gives its preferences, the first above the second, for lanes and
        their candidates.
      waits: int32, not 0 in lanes that draw no move in this tick, and have none; None if there are none.
    """
    undecided = (lanes.move != np.int32(NO_MOVE)).astype(jnp.int32)
    points = candidates(g, lanes.own, lanes.opp, lanes.barred, lanes.dead)
    asked = None
    if policy is not None:
        asked = asking.ask(policy, lanes, points)
        points = asked.points
    move, counter = draw(g, points, lanes.move, lanes.counter, lanes.key)
    plies_left = lanes.plies_left
    if waits is not None:  # without a move, and as if over, which leaves them as they are
        drawing = waits == np.int32(0)
        move, counter = jnp.where(drawing, move, lanes.move), jnp.where(drawing, counter, lanes.counter)
        plies_left = jnp.where(drawing, plies_left, np.int32(0))
    own, opp, marks, found = play(g, lanes.own, lanes.opp, lanes.reach, move, undecided, lanes.passes, plies_left)
    memory = lanes.memory
    if asked is not None and memory is not None:
        judged, legal = asking.judge(g, lanes, asked, move, undecided, found, marks), found == np.int32(LEGAL)
        stays = legal & (judged.found != np.int32(LEGAL))
        own, opp = bb.choose(stays, lanes.own, own), bb.choose(stays, lanes.opp, opp)
        found, marks, memory = judged.found, judged.marks, asking.remember(g, memory, move, counter, judged)
    barred, dead = bar(g, lanes.barred, lanes.dead, marks, move, found)
    played, starter = record(g, lanes.played, lanes.starter, move, found, lanes.plies)
    moved = found >= np.int32(LEGAL)
    is_pass, one = move == np.int32(g.pass_index), moved.astype(jnp.int32)
    return Lanes(
        own=own,
        opp=opp,
        barred=barred,
        dead=dead,
        reach=marks,
        played=played,
        starter=starter,
        move=jnp.where(found == np.int32(UNDECIDED), move, np.int32(NO_MOVE)),
        counter=counter,
        key=lanes.key,
        passes=jnp.where(moved, jnp.where(is_pass, lanes.passes + np.int32(1), np.int32(0)), lanes.passes),
        plies=lanes.plies + one,
        plies_left=lanes.plies_left - one,
        log=append(lanes.log, move, found),
        memory=memory,
    )
