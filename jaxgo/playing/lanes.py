"""The lanes: the state of the running playouts, between ticks."""

from typing import NamedTuple, Self

import jax
import numpy as np

from jaxgo.board.bitboard import Board

#: `Lanes.move` of a lane without an undecided move.
NO_MOVE = -1
#: Moves that `Lanes.log` holds.
LOGGED = 8
#: What stands in a log before the playout's first move (as int16, -1).
NO_EVENT = 0xFFFF
#: Added to the logged bit index of a move that captures.
CAPTURE = 1 << 14

#: What `play` finds out about a move.
UNDECIDED, SUICIDE, LEGAL, CAPTURES = range(4)
#: What is found instead of LEGAL about a move that does not do what it had to: it is not played.
REFUSED = -1
#: What a move may have to do: capture, or leave its chain with two liberties, if it captures nothing and is no nakade.
MUST_CAPTURE, MUST_BREATHE = 1, 2


class Wants(NamedTuple):
    """What a playout policy wants lanes to remember."""

    last: bool = False
    """The last move."""
    colour: bool = False
    """Who is to move."""
    captures: bool = False
    """Which moves turned out to capture nothing, for preferences that are `capturing`."""
    liberties: bool = False
    """Which moves turned out to be self-ataris, for preferences that are `careful`."""


class Memory(NamedTuple):
    """What lanes remember for a playout policy, arrays [L]; None, or an empty board, is what it does not want."""

    begun: jax.Array
    """uint32: the counter when the ply began, of which its coins are made."""
    last: jax.Array | None
    """int32: bit index of the last move; `Geometry.pass_index` after a pass, and at the playout's start."""
    black: jax.Array | None
    """int32: 1 where Black is to move, 0 where White is."""
    bound: jax.Array | None
    """int32: what the undecided move must do, of MUST_CAPTURE and MUST_BREATHE."""
    harmless: Board
    """Points that were drawn in this ply to capture and turned out to capture nothing."""
    cramped: Board
    """Points that were drawn in this ply and turned out to be self-ataris."""
    chain: Board
    """How much of the chain that the undecided move makes has been found."""

    @classmethod
    def fresh(cls, wants: Wants, begun, last, black, zero, none: Board) -> Self:
        """That of playouts at their start; `zero` and `none` are an int32 and a board of nothing, arrays as the others."""
        captures, liberties = none if wants.captures else (), none if wants.liberties else ()
        bound = zero if wants.captures or wants.liberties else None
        return cls(begun, last, black if wants.colour else None, bound, captures, liberties, liberties)

    @property
    def wants(self) -> Wants:
        """What is remembered."""
        return Wants(self.last is not None, self.black is not None, bool(self.harmless), bool(self.cramped))


class Lanes(NamedTuple):
    """The state of the running playouts; every array has the lanes' shape `[L]`, every board is W such arrays."""

    own: Board
    """Stones of the player to move."""
    opp: Board
    """Stones of the other player."""
    barred: Board
    """Points that the mover may not play now: the ko point, and draws that turned out to be suicide."""
    dead: Board
    """Points surrounded by one chain that owns several such points: suicide for the opponent until the owner fills one."""
    reach: Board
    """How far the flood of the undecided move has got."""
    played: Board
    """Points played so far by either colour in this playout. Empty tuple where first plays are not wanted."""
    starter: Board
    """Those of `played` that the colour which began the playout played first. Empty tuple likewise."""
    move: jax.Array
    """int32: bit index of the undecided move, or NO_MOVE."""
    counter: jax.Array
    """uint32: counter of the next draw."""
    key: jax.Array
    """uint32: key of the draws."""
    passes: jax.Array
    """int32: passes in a row just before; 2 ends the playout."""
    plies: jax.Array
    """int32: plies played in this playout."""
    plies_left: jax.Array
    """int32: plies until the cap."""
    log: tuple[jax.Array, ...]
    """LOGGED / 2 uint32: bit indices of the last moves (`Geometry.pass_index` for the pass; plus CAPTURE), 16 bits each, the last
    move in the low half of the first word; NO_EVENT where there was none yet. Empty tuple where moves are not wanted."""
    memory: Memory | None = None
    """What a playout policy wants to know; None where there is no policy."""


def is_over(passes: jax.Array, plies_left: jax.Array) -> jax.Array:
    """bool: the playout has ended, by two passes or at the cap."""
    return (passes >= np.int32(2)) | (plies_left <= np.int32(0))
