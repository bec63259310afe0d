"""MoGo's playouts: answer an atari, play a local pattern, capture beside the last move.

Sylvain Gelly, Yizao Wang, Remi Munos and Olivier Teytaud, "Modification of UCT with patterns in Monte-Carlo Go" (2006).
"""

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.base import checks
from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies import pattern_table, saving
from jaxgo.playing.policies.capture import may_be_legal, may_capture
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of


class Known(NamedTuple):
    """What it looks up; arrays [L]."""

    chance: jax.Array
    looked: saving.Looked | None
    """What saves chains, and which points may capture; None where it does not save."""
    matches: jax.Array | None
    """int32: bit i is set where a pattern matches at `pattern_table.STEPS[i]` from the last move; None if it does not match."""


class Patterns(Policy):
    """Plays, where it is asked, by MoGo's order:

     1. `save`: where the last move stands beside chains of the mover that are in atari, a move that saves one: one after which it
        has two liberties or more, not counting what is captured, or one that captures on a liberty of an enemy chain which
        touches it;
     2. `match`: a move on one of the eight points around the last move, where a 3x3 pattern matches (`pattern_table.PATTERNS`);
     3. `capture`: a capture on one of these points.

    The first of these that has a legal move which fills no own eye decides, with equal chances for its moves. MoGo's third rule
    was a capture anywhere, which is `[Patterns(capture=False), Capture()]`.

    Args:
      p: the probability that it is asked in a ply, 0 to 1.
      save, match, capture: which parts there are.
    """

    STATIC = ("save", "match", "capture")

    def __init__(self, p: float = 1.0, *, save: bool = True, match: bool = True, capture: bool = True):
        self.chance, self.save, self.match, self.capture = chance_of("p", p), save, match, capture
        for name in self.STATIC:
            checks.boolean(name, getattr(self, name))

    save: bool
    match: bool
    capture: bool

    @property
    def wants(self) -> Wants:
        """The last move, and which moves capture nothing."""
        return Wants(last=True, captures=self.save or self.capture)

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Known:
        """By floods, if it `looks`, and by looking up what lies around the points around the last move."""
        assert lanes.memory is not None and lanes.memory.last is not None
        looked, matches = saving.of_lanes(g, lanes, looks) if self.save else None, None
        if self.match:
            codes = in_one_loop(lambda *x: surroundings(g, *x), lanes.own, lanes.opp, lanes.memory.last)
            table = jnp.asarray(pattern_table.table())
            found = [table.at[code].get(mode="promise_in_bounds").astype(jnp.int32) for code in codes]
            matches = functools.reduce(operator.or_, (x << np.int32(i) for i, x in enumerate(found)))
        return Known(super().known(g, lanes, looks), looked, matches)

    def waits(self, known: Known) -> jax.Array | None:
        """Where it is not known yet what saves."""
        return None if known.looked is None else known.looked.waits

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Known, coin: int = 0) -> list[Preference]:
        """Those of its parts, in order."""
        assert lanes.memory is not None and lanes.memory.last is not None
        found: list[Preference] = []
        if known.looked is not None and known.looked.saving is not None:
            moves, captures = known.looked.saving
            captures = bb.without(captures, moves)
            found.append(Preference(bb.either(moves, captures), known.chance, coin, captures))
        if known.matches is not None:
            found.append(Preference(in_square(g, lanes.memory.last, known.matches), known.chance, coin))
        if known.looked is not None or self.capture:
            taking = may_capture(g, lanes.own, lanes.opp) if known.looked is None else known.looked.taking
            nowhere = tuple(jnp.zeros_like(x) for x in taking)
            all_eight = jnp.full_like(lanes.memory.last, 0xFF)
            captures = bb.both(taking, in_square(g, lanes.memory.last, all_eight)) if self.capture else nowhere
            possible = may_be_legal(g, lanes.opp, taking)
            found.append(Preference(captures, known.chance, coin, captures, possible=possible))
        return found

    def __repr__(self) -> str:
        return self._named(p=probability_of(self.chance), save=self.save, match=self.match, capture=self.capture)


def in_square(g: Geometry, last: jax.Array, which: jax.Array) -> Board:
    """Of the eight points around the last move those whose bit is set, int32, in the order of `pattern_table.STEPS`; none after
    a pass. Bits may leave the board."""
    bit, word_of = (last & np.int32(g.word_bits - 1)).astype(g.dtype), last >> np.int32(g.word_bits.bit_length() - 1)
    here = [word_of == np.int32(w) for w in range(g.num_words)]

    def row(three: jax.Array) -> Board:
        """Three points beside each other, that in the middle where the last move is."""
        placed = bb.down(three.astype(g.dtype) << bit, 1)
        return tuple(jnp.where(x, placed, g.word(0)) for x in here)

    north, south = which & np.int32(7), which >> np.int32(5) & np.int32(7)
    beside = which >> np.int32(3) & np.int32(1) | which >> np.int32(2) & np.int32(4)
    rows = row(beside), bb.from_south(g, row(north)), bb.from_north(g, row(south))
    return tuple(x | n | s for x, n, s in zip(*rows))


def surroundings(g: Geometry, own: Board, opp: Board, last: jax.Array) -> list[jax.Array]:
    """int32: what lies around each of the eight points around the last move, a number as `pattern_table.table` reads it."""
    word_of, bit = last >> np.int32(g.word_bits.bit_length() - 1), last & np.int32(g.word_bits - 1)
    slot = lax.div(bit, np.int32(g.stride))
    y, x = slot * np.int32(g.num_words) + word_of, bit - slot * np.int32(g.stride)

    def row(a: Board) -> jax.Array:
        """int32: the five bits around the last move in its row."""
        word = a[0]
        for w in range(1, g.num_words):
            word = jnp.where(word_of == np.int32(w), a[w], word)
        places = bit - np.int32(2)
        left = word << jnp.maximum(-places, np.int32(0)).astype(word.dtype)
        five = lax.shift_right_logical(left, jnp.maximum(places, np.int32(0)).astype(word.dtype)) & g.word(31)
        return five.astype(jnp.int32)

    # Columns x - 2 to x + 2 that are on the board.
    columns = (np.int32((1 << g.size) - 1) << np.int32(2)) >> x
    both = own, opp
    north, south = ([move(g, a) for a in both] for move in (bb.from_north, bb.from_south))
    boards = {-1: north, 0: both, 1: south, -2: [bb.from_north(g, a) for a in north], 2: [bb.from_south(g, a) for a in south]}
    lows, highs = {}, {}
    for dy, (mine, theirs) in boards.items():
        there = (y + np.int32(dy) >= np.int32(0)) & (y + np.int32(dy) < np.int32(g.size))
        inside = jnp.where(there, columns, np.int32(0))
        outside = ~inside & np.int32(31)
        lows[dy], highs[dy] = ((row(a) & inside) | outside for a in (mine, theirs))

    def around(rows: dict[int, jax.Array], dy: int, dx: int) -> jax.Array:
        cells = [rows[dy + i] >> np.int32(dx + 1) & np.int32(7) for i in (-1, 0, 1)]
        nine = cells[0] | cells[1] << np.int32(3) | cells[2] << np.int32(6)
        return nine & np.int32(15) | nine >> np.int32(1) & np.int32(0xF0)

    return [around(lows, dy, dx) | around(highs, dy, dx) << np.int32(8) for dy, dx in pattern_table.STEPS]
