"""Which moves save chains from atari.

That takes floods, which are dear. So lanes get two looks. The first one (`_at_a_glance`) takes a few sweeps for all lanes at
once, and settles nearly all; where it does not, the lane waits, and when many wait, these are put together and flooded until
nothing grows (`_in_full`). As waiting is cheap, there is a first look in every other tick only: lanes that draw a move, and have
stones that may be in atari beside the last one, a fifth of them, wait for it in the others (measured).
"""

import functools
from collections.abc import Callable
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
from jaxgo.playing.lanes import NO_MOVE, Lanes, is_over
from jaxgo.playing.policies.capture import may_be_in_atari, may_capture


class _Sweeps(NamedTuple):
    """How far the first look goes."""

    chains: int
    """Sweeps for the mover's chains."""
    attackers: int
    """Sweeps for the chains that touch them."""


#: Up to 9x9, and on larger boards, where sweeps cost more than the waiting they save (measured, for many lanes and for few).
SMALL, SWEEPS_OF_SMALL, SWEEPS_OF_LARGE = 9, _Sweeps(2, 4), _Sweeps(1, 3)
#: Of the lanes under way more than one in so many must wait before they are flooded, about one in so many of all at a time.
SHARE = 16
#: They are put together by a multiple of this, as vectors are.
VECTOR = 16
#: Words of a board up to which the first look is one loop. What XLA makes of a longer one works out many values again and again,
#: and a look took seconds on 25x25.
WORDS_IN_ONE_LOOP = 8


class Saving(NamedTuple):
    """What there is for chains of the mover that are in atari and stand beside the last move."""

    moves: Board
    """The moves after which one of them has two liberties or more."""
    captures: Board
    """Of the points that may capture, the liberties of enemy chains that touch one of them."""


class Looked(NamedTuple):
    """What has been found out about lanes; arrays [L]."""

    saving: Saving | None
    """What there is in lanes that draw a move and need not wait; None if there was no look."""
    waits: jax.Array | None
    """int32, not 0 where a lane would draw a move, and it is not known yet which ones save; None if that is so nowhere."""
    taking: Board
    """The points that may capture."""


class _Lane(NamedTuple):
    """What a look needs to know of a lane."""

    own: Board
    opp: Board
    weak: Board
    """Own stones that may be in atari."""
    taking: Board
    """The points that may capture."""
    last: jax.Array
    """int32: bit index of the last move."""


def of_lanes(g: Geometry, lanes: Lanes, looks: bool) -> Looked:
    """What there is in lanes, if this tick `looks`; else which of them wait."""
    assert lanes.memory is not None and lanes.memory.last is not None

    def begin(own, opp, last, move, passes, plies_left):
        weak, taking = _weak_and_taking(g, own, opp)
        running = ~is_over(passes, plies_left)
        waits = bb.any_point(_beside(g, last, weak)) & (move == np.int32(NO_MOVE)) & running
        return weak, taking, waits.astype(jnp.int32), running.astype(jnp.int32)

    own, opp, last = lanes.own, lanes.opp, lanes.memory.last
    weak, taking, waits, running = in_one_loop(begin, own, opp, last, lanes.move, lanes.passes, lanes.plies_left)
    if not looks:
        return Looked(None, waits, taking)
    if not last.shape:
        return Looked(_of_one(g, _Lane(own, opp, weak, taking, last), waits), None, taking)
    all_lanes, number = _Lane(own, opp, weak, taking, last), last.shape[0]
    some = max(1, round(number / SHARE / VECTOR)) * VECTOR
    # Not numbers outright: in a `shard_map` they must vary over the mesh as the lanes do.
    index = lax.broadcasted_iota(jnp.int32, last.shape, 0) + (last & np.int32(0))

    def flood_some(state):
        saving, waits = state
        place = jnp.cumsum(waits, dtype=jnp.int32) - np.int32(1)
        place = jnp.where(waits != np.int32(0), place, np.int32(some))
        which = index[:some] * np.int32(0) + np.int32(number)
        which = which.at[place].set(index, mode="drop")
        found = _in_full(g, *jax.tree.map(lambda x: x.at[which].get(mode="clip"), (own, opp, last)))
        saving = jax.tree.map(lambda x, y: x.at[which].set(y, mode="drop"), saving, found)
        return saving, jnp.where(place < np.int32(some), np.int32(0), waits)

    def many_wait(state):
        # Where all that are under way wait, these are many, and so it always goes on.
        return jnp.sum(state[1], dtype=jnp.int32) * np.int32(SHARE) > jnp.sum(running, dtype=jnp.int32)

    first = _look(g, all_lanes, waits)
    found, left = lax.while_loop(many_wait, flood_some, first)
    return Looked(found, left, taking)


def _weak_and_taking(g: Geometry, own: Board, opp: Board) -> tuple[Board, Board]:
    """The own stones that may be in atari, and the points that may capture."""
    return may_be_in_atari(g, own, bb.complement(g, bb.either(own, opp))), may_capture(g, own, opp)


def _beside(g: Geometry, last: jax.Array, stones: Board) -> Board:
    """The stones beside the last move."""
    return bb.both(bb.neighbours(g, bb.one_point(g, last)), stones)


def _look(g: Geometry, lane: _Lane, waits: jax.Array) -> tuple[Saving, jax.Array]:
    """`_at_a_glance`, in one loop or in several."""
    if g.num_words <= WORDS_IN_ONE_LOOP:
        return in_one_loop(functools.partial(_at_a_glance, g, _as_it_is), lane, waits)
    return _at_a_glance(g, in_one_loop, lane, waits)


def _as_it_is(part: Callable, *args):
    return part(*args)


def _at_a_glance(g: Geometry, do: Callable, lane: _Lane, waits: jax.Array) -> tuple[Saving, jax.Array]:
    """What there is where a few sweeps settle it, elementwise; and int32, not 0 where they do not, among the lanes that wait.

    `do` calls each part with its arguments, pytrees of arrays.
    """
    own, opp, weak, taking, last = lane
    *chains, several = do(functools.partial(_chains_at_a_glance, g), weak, last)
    of_chains = [do(functools.partial(_chain_at_a_glance, g), own, opp, weak, chain) for chain in chains]
    return do(functools.partial(_captures_at_a_glance, g), opp, taking, of_chains, several, waits)


def _sweeps(g: Geometry) -> _Sweeps:
    return SWEEPS_OF_SMALL if g.size <= SMALL else SWEEPS_OF_LARGE


def _swept(g: Geometry, board: Board, through: Board, sweeps: int) -> Board:
    for _ in range(sweeps):
        board = bb.spread(g, board, through)
    return board


def _chains_at_a_glance(g: Geometry, weak: Board, last: jax.Array) -> tuple[Board, Board, jax.Array]:
    """One chain beside the last move, another, and int32, not 0 where there may be a third.

    Each is as much of a chain as a few sweeps reach from one stone; both may be of the same.
    """
    seeds = _beside(g, last, weak)
    first = _swept(g, bb.first_point(seeds), weak, _sweeps(g).chains)
    others = bb.without(seeds, first)
    return first, _swept(g, others, weak, _sweeps(g).chains), (bb.count(others) > np.int32(1)).astype(jnp.int32)


def _chain_at_a_glance(g: Geometry, own: Board, opp: Board, weak: Board, chain: Board) -> tuple[Board, Board, jax.Array]:
    """Of a chain the move that saves it, enemy stones that touch it if it is in atari, and int32, not 0 where that is open."""
    empty, nowhere = bb.complement(g, bb.either(own, opp)), tuple(jnp.zeros_like(x) for x in own)
    around = bb.neighbours(g, chain)
    move = bb.both(around, empty)
    # A chain of which other stones are known to be out of atari is so, too.
    out = bb.any_point(bb.both(around, bb.without(own, weak))) | (bb.count(move) >= np.int32(2))
    grows = bb.any_point(bb.without(bb.both(around, weak), chain))
    through = bb.either(own, move)
    longer = _swept(g, bb.either(chain, move), through, _sweeps(g).chains)
    around_longer = bb.neighbours(g, longer)
    saved = bb.count(bb.without(bb.both(around_longer, empty), move)) >= np.int32(2)
    longer_grows = bb.any_point(bb.without(bb.both(around_longer, through), longer))
    unsettled = ~out & (grows | (~saved & longer_grows))
    return bb.choose(~out & saved, move, nowhere), bb.choose(out, nowhere, bb.both(around, opp)), unsettled.astype(jnp.int32)


def _captures_at_a_glance(
    g: Geometry, opp: Board, taking: Board, of_chains: list[tuple[Board, Board, jax.Array]], several: jax.Array, waits: jax.Array
) -> tuple[Saving, jax.Array]:  # fmt: skip
    """All that there is, by what there is of the chains."""
    (moves, attackers, unsettled), (more_moves, more_attackers, more_unsettled) = of_chains
    attackers = _swept(g, bb.either(attackers, more_attackers), opp, _sweeps(g).attackers)
    border = bb.neighbours(g, attackers)
    attackers_grow = bb.any_point(bb.without(bb.both(border, opp), attackers))
    open_captures = attackers_grow & bb.any_point(bb.without(taking, border))
    left = ((several | unsettled | more_unsettled) != np.int32(0)) | open_captures
    return Saving(bb.either(moves, more_moves), bb.both(taking, border)), (left & (waits != np.int32(0))).astype(jnp.int32)


def _of_one(g: Geometry, lane: _Lane, looks: jax.Array) -> Saving:
    """What there is in one lane, a thread of a kernel, if it `looks`: chain by chain, until there are no more."""
    nowhere = tuple(jnp.zeros_like(x) for x in lane.own)
    seeds = bb.choose(looks != np.int32(0), _beside(g, lane.last, lane.weak), nowhere)

    def next_chain(state):
        seeds, moves, attackers = state
        (chain,) = rules.flood_as_laid(g, [(bb.first_point(seeds), lane.weak)])
        move, beside, around = _of_chain(g, lane.own, lane.opp, lane.weak, chain)
        (longer,) = rules.flood_as_laid(g, [(beside, lane.own)])
        saved = _saved(g, lane.own, lane.opp, longer, move)
        return bb.without(seeds, chain), bb.either(moves, saved), bb.either(attackers, around)

    _, moves, attackers = lax.while_loop(lambda state: bb.any_point(state[0]), next_chain, (seeds, nowhere, nowhere))
    (attackers,) = rules.flood_as_laid(g, [(attackers, lane.opp)])
    return Saving(moves, bb.both(lane.taking, bb.neighbours(g, attackers)))


def _in_full(g: Geometry, own: Board, opp: Board, last: jax.Array) -> Saving:
    """What there is, by floods that go on until nothing grows; of few lanes, so that a loop more costs more than what it does."""
    weak, taking, chains = in_one_loop(functools.partial(_weak_chains, g), own, opp, last)
    chains = _flooded(g, [(chain, weak) for chain in chains])
    moves, beside, attackers = in_one_loop(functools.partial(_of_chains, g), own, opp, weak, chains)
    longer = _flooded(g, [(stones, own) for stones in beside])
    (attackers,) = _flooded(g, [(attackers, opp)])
    return in_one_loop(functools.partial(_saving, g), own, opp, taking, moves, longer, attackers)


def _flooded(g: Geometry, grounds: list[tuple[Board, Board]]) -> list[Board]:
    """`rules.flood_as_laid`, side by side where that is one loop."""
    if g.num_words <= WORDS_IN_ONE_LOOP:
        return rules.flood_as_laid(g, grounds)
    return [board for ground in grounds for board in rules.flood_as_laid(g, [ground])]


def _weak_chains(g: Geometry, own: Board, opp: Board, last: jax.Array) -> tuple[Board, Board, list[Board]]:
    """(own stones that may be in atari, points that may capture, those of the stones on each of the last move's sides)."""
    weak, taking = _weak_and_taking(g, own, opp)
    return weak, taking, [bb.both(side, weak) for side in bb.sides(g, bb.one_point(g, last))]


def _of_chains(
    g: Geometry, own: Board, opp: Board, weak: Board, chains: list[Board]
) -> tuple[list[Board], list[Board], Board]:  # fmt: skip
    """What `_of_chain` says of each, with all the other's stones together."""
    moves, beside, attackers = zip(*(_of_chain(g, own, opp, weak, chain) for chain in chains))
    return list(moves), list(beside), functools.reduce(bb.either, attackers)


def _saving(
    g: Geometry, own: Board, opp: Board, taking: Board, moves: list[Board], longer: list[Board], attackers: Board
) -> Saving:  # fmt: skip
    """All that there is, by what the floods have found."""
    saved = [_saved(g, own, opp, chain, move) for chain, move in zip(longer, moves)]
    return Saving(functools.reduce(bb.either, saved), bb.both(taking, bb.neighbours(g, attackers)))


def _of_chain(g: Geometry, own: Board, opp: Board, weak: Board, chain: Board) -> tuple[Board, Board, Board]:
    """(its liberty, the own stones beside that, the other's stones beside it) of a chain that is in atari; of others nothing.

    A chain that is not all of `weak` stones is in no atari.
    """
    free = bb.both(bb.neighbours(g, chain), bb.complement(g, bb.either(own, opp)))
    whole = ~bb.any_point(bb.both(bb.neighbours(g, chain), bb.without(own, weak)))
    in_atari = whole & (bb.count(free) == np.int32(1))
    beside = bb.both(bb.neighbours(g, chain), opp)
    move, attackers = (tuple(jnp.where(in_atari, x, g.word(0)) for x in board) for board in (free, beside))
    return move, bb.both(bb.neighbours(g, move), own), attackers


def _saved(g: Geometry, own: Board, opp: Board, longer: Board, move: Board) -> Board:
    """The move, if the chain that it makes with the `longer` ones beside it has two liberties or more."""
    empty = bb.complement(g, bb.either(own, opp))
    left = bb.without(bb.both(bb.neighbours(g, bb.either(longer, move)), empty), move)
    enough = bb.count(left) >= np.int32(2)
    return tuple(jnp.where(enough, x, g.word(0)) for x in move)
