"""Whom playouts ask for their moves: what a policy prefers, and what becomes of a move that is not what it meant.

Where there are candidates among what a policy (`jaxgo.playing.policies`) prefers, and a coin says yes, the move is drawn
uniformly among these. Coins are tossed once a ply, not once a draw, and so rejection keeps this choice exactly uniform over the
legal points that are preferred. A policy that wants captures names points that may capture; a move that turns out to capture
nothing is not played then, and the next draw is over the rest. Where a policy wants no self-ataris, the chain that a move makes
is flooded from its stone, beside the tick's own flood, until two liberties are seen or it is whole.

As in a tick, everything is elementwise over lanes.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing import draws
from jaxgo.playing.lanes import LEGAL, MUST_BREATHE, MUST_CAPTURE, REFUSED, UNDECIDED, Lanes, Memory


class Coin(NamedTuple):
    """A coin that is tossed once a ply."""

    chance: jax.Array
    """int32: how likely it says yes, of `draws.CHANCES`."""
    number: int
    """Coins of other numbers are others."""

    def says_yes(self, memory: Memory, key: jax.Array) -> jax.Array:
        """bool: what it says in a lane's ply."""
        return draws.coin(memory.begun, key, self.number) < self.chance


class Preference(NamedTuple):
    """What a policy prefers to play, elementwise over lanes."""

    points: Board
    """The points; those that are no candidates do no harm."""
    chance: jax.Array
    """int32: how likely the policy is asked, of `draws.CHANCES`."""
    coin: int
    """The number of the coin that says whether it is; preferences may share one."""
    capturing: Board = ()
    """Those of the points that are meant only if they capture. Needs `Wants.captures`."""
    careful: tuple[Coin, ...] = ()
    """Where any says yes, those of the points are not meant on which the move is a self-atari. Needs `Wants.liberties`."""
    or_pass: bool = False
    """Whether a pass is meant where it is careful, and all moves are self-ataris."""
    possible: Board = ()
    """All other points are known to be illegal, and are not drawn to find that out, unless the policy is never asked; an empty
    tuple where nothing is known."""


Ask: TypeAlias = Callable[[Lanes, Board], list[Preference]]
"""What a policy prefers in lanes, given their candidates; elementwise."""


class Asked(NamedTuple):
    """What a policy has lanes draw, and what the move must do."""

    points: Board
    """What they draw from."""
    capturing: Board
    """Points on which the move must capture; an empty tuple where the policy wants no captures."""
    careful: jax.Array
    """bool: the move must be no self-atari."""


def ask(policy: Ask, lanes: Lanes, points: Board) -> Asked:
    """Of the candidates, those that the policy's first preference names which names any and is heeded, else all of them."""
    memory = lanes.memory
    assert memory is not None
    nobody = jnp.zeros_like(lanes.move) != np.int32(0)
    nowhere = tuple(jnp.zeros_like(x) for x in memory.harmless)
    preferences = policy(lanes, points)
    points = drawn_from(points, preferences)
    chosen, must_capture, must_breathe = points, nowhere, nobody
    for preference in reversed(preferences):
        capturing, careful = preference.capturing or nowhere, nobody
        wanted = bb.both(preference.points, points)
        if preference.capturing:
            wanted = bb.without(wanted, bb.both(capturing, memory.harmless))
        if preference.careful:
            careful = functools.reduce(operator.or_, (coin.says_yes(memory, lanes.key) for coin in preference.careful))
            wanted = bb.choose(careful, bb.without(wanted, memory.cramped), wanted)
        has_move = bb.any_point(wanted)
        if preference.or_pass:
            has_move |= careful
        heeded = has_move & Coin(preference.chance, preference.coin).says_yes(memory, lanes.key)
        chosen, must_capture = bb.choose(heeded, wanted, chosen), bb.choose(heeded, capturing, must_capture)
        must_breathe = (heeded & careful) | (~heeded & must_breathe)
    return Asked(chosen, must_capture, must_breathe)


def drawn_from(points: Board, preferences: Sequence[Preference]) -> Board:
    """What is left of the candidates without those that the preferences know to be illegal."""
    for preference in preferences:
        if preference.possible:
            points = bb.choose(preference.chance > np.int32(0), bb.both(points, preference.possible), points)
    return points


class Judged(NamedTuple):
    """What becomes of moves; arrays [L]."""

    found: jax.Array
    """int32: as of `tick.play`, but REFUSED of a legal move that does not do what it must, UNDECIDED while that is not known."""
    marks: Board
    """As of `tick.play`."""
    bound: jax.Array | None
    """int32: for `Memory.bound`."""
    chain: Board
    """For `Memory.chain`."""


def judge(g: Geometry, lanes: Lanes, asked: Asked, move, continued, found, marks: Board) -> Judged:
    """Whether moves do what they must.

    Args:
      g: the board's geometry.
      lanes: the playouts before the tick.
      asked: what the policy has had those draw that had no move.
      move: int32, bit index of the move, drawn now or before.
      continued: int32, not 0 where it was drawn before.
      found, marks: what `tick.play` has found out.
    """
    memory = lanes.memory
    assert memory is not None
    if memory.bound is None:
        return Judged(found, marks, None, memory.chain)
    drawn = asked.careful.astype(jnp.int32) * np.int32(MUST_BREATHE)
    if memory.harmless:
        must_capture = bb.any_point(bb.both(bb.one_point(g, move), asked.capturing))
        drawn = jnp.where(must_capture, np.int32(MUST_CAPTURE), drawn)
    bound = jnp.where(continued != np.int32(0), memory.bound, drawn)
    takes_nothing, chain = found == np.int32(LEGAL), memory.chain
    refused = takes_nothing & (bound == np.int32(MUST_CAPTURE))
    if memory.cramped:
        chain, short, whole = chain_of(g, lanes, move, continued)
        short = short & takes_nothing & (bound == np.int32(MUST_BREATHE)) & (move != np.int32(g.pass_index))
        refused, open_yet = refused | (short & whole & ~leaves_one_eye(g, chain)), short & ~whole
        # The next tick floods from the liberties again, and finds the move legal again, while it finds more of the chain.
        stones = bb.either(bb.either(lanes.own, bb.one_point(g, move)), lanes.opp)
        marks = bb.choose(open_yet, bb.neighbours(g, bb.complement(g, stones)), marks)
        found = jnp.where(open_yet, np.int32(UNDECIDED), found)
    return Judged(jnp.where(refused, np.int32(REFUSED), found), marks, bound, chain)


def chain_of(g: Geometry, lanes: Lanes, move, continued) -> tuple[Board, jax.Array, jax.Array]:
    """(what is found of the chain that a move makes, one sweep further; bool, whether no two liberties of it are seen; bool,
    whether that is all of it)."""
    assert lanes.memory is not None
    stone = bb.one_point(g, move)
    through = bb.either(lanes.own, stone)
    chain = bb.spread(g, bb.choose(continued != np.int32(0), lanes.memory.chain, stone), through)
    around = bb.neighbours(g, chain)
    liberties = bb.both(around, bb.complement(g, bb.either(through, lanes.opp)))
    return chain, bb.count(liberties) < np.int32(2), ~bb.any_point(bb.without(bb.both(around, through), chain))


def leaves_one_eye(g: Geometry, chain: Board) -> jax.Array:
    """bool: whoever takes this chain has an eye space that a stone on its vital point makes one eye: of up to three stones, or of
    four to six in one of the shapes of `jaxgo.playing.policies.nakade`, or the square of four.

    A shape is told by how many stones have two others of it beside them, or three; in the square all have two.
    """
    two, three = bb.beside_several(g, chain)
    stones, with_two, with_three = bb.count(chain), bb.count(bb.both(chain, two)), bb.count(bb.both(chain, three))
    vital = (with_three == np.int32(1)) & ((with_two == np.int32(1)) | (with_two == np.int32(4))) & (stones <= np.int32(6))
    return (stones <= np.int32(3)) | vital | ((stones == np.int32(4)) & (with_two == np.int32(4)))


def remember(g: Geometry, memory: Memory, move, counter, judged: Judged) -> Memory:
    """The memory after a tick; `counter` is that after it."""
    moved, refused = judged.found >= np.int32(LEGAL), judged.found == np.int32(REFUSED)
    stone = bb.one_point(g, move)

    def with_refused(points: Board, must: int) -> Board:
        if not points:
            return ()
        because = refused & (judged.bound == np.int32(must))
        return tuple(jnp.where(moved, g.word(0), jnp.where(because, p | s, p)) for p, s in zip(points, stone))

    return Memory(
        begun=jnp.where(moved, counter, memory.begun),
        last=None if memory.last is None else jnp.where(moved, move, memory.last),
        black=None if memory.black is None else jnp.where(moved, np.int32(1) - memory.black, memory.black),
        bound=judged.bound,
        harmless=with_refused(memory.harmless, MUST_CAPTURE),
        cramped=with_refused(memory.cramped, MUST_BREATHE),
        chain=judged.chain,
    )
