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

A playout policy (`jaxgo.playing.policies`) may prefer some points. Where there are candidates among them, and a coin says yes,
the move is drawn uniformly among these instead. Coins are tossed once a ply, not once a draw, and so rejection keeps this choice
exactly uniform over the legal points that are preferred, too. A policy that wants captures names points that may capture; a move
that turns out to capture nothing is not played then, and the next draw is over the rest. Where a policy wants no self-ataris, the
chain that a move makes is flooded from its stone, beside the tick's own flood, until two liberties are seen or it is whole.

Everything is elementwise over lanes, whatever their shape, without loops or branches, so that any backend can run it: XLA, one
fused loop on a CPU, the body of a GPU kernel.
"""

from collections.abc import Callable
from typing import NamedTuple, Self, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry
from jaxgo.board.rules import signs_of_no_eye
from jaxgo.playing import draws

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
    careful: Coin | None = None
    """Where it says yes, those of the points are not meant on which the move is a self-atari. Needs `Wants.liberties`."""
    or_pass: bool = False
    """Whether a pass is meant where it is careful, and all moves are self-ataris."""


Ask: TypeAlias = Callable[["Lanes", Board], list[Preference]]
"""What a policy prefers in lanes, given their candidates; elementwise."""


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


def ask(g: Geometry, policy: Ask, lanes: Lanes, points: Board) -> tuple[Board, Board, jax.Array]:
    """(those of the candidates that the policy's first preference names which names any and is heeded, else all of them; those
    of them that must capture, empty tuple where the policy wants no captures; bool, whether they must not be self-ataris)."""
    memory = lanes.memory
    assert memory is not None
    nowhere = tuple(jnp.zeros_like(x) for x in memory.harmless)
    chosen, must_capture, must_breathe = points, nowhere, jnp.zeros_like(lanes.move) != np.int32(0)
    for preference in reversed(policy(lanes, points)):
        capturing = preference.capturing or nowhere
        wanted = bb.both(preference.points, points)
        if preference.capturing:
            wanted = bb.without(wanted, bb.both(capturing, memory.harmless))
        careful = jnp.zeros_like(must_breathe)
        if preference.careful is not None:
            careful = preference.careful.says_yes(memory, lanes.key)
            wanted = bb.choose(careful, bb.without(wanted, memory.cramped), wanted)
        has_move = bb.any_point(wanted)
        if preference.or_pass:
            has_move |= careful
        heeded = has_move & (draws.coin(memory.begun, lanes.key, preference.coin) < preference.chance)
        chosen, must_capture = bb.choose(heeded, wanted, chosen), bb.choose(heeded, capturing, must_capture)
        must_breathe = (heeded & careful) | (~heeded & must_breathe)
    return chosen, must_capture, must_breathe


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


def remember(g: Geometry, memory: Memory, move, counter, bound, found, chain: Board) -> Memory:
    """The memory after a tick; `counter` is that after it, `bound` what the move had to do, and `chain` what it may have made."""
    moved, refused = found >= np.int32(LEGAL), found == np.int32(REFUSED)
    stone = bb.one_point(g, move)

    def with_refused(points: Board, to: int) -> Board:
        if not points:
            return ()
        because = refused & (bound & np.int32(to) != np.int32(0))
        return tuple(jnp.where(moved, g.word(0), jnp.where(because, p | s, p)) for p, s in zip(points, stone))

    return Memory(
        begun=jnp.where(moved, counter, memory.begun),
        last=None if memory.last is None else jnp.where(moved, move, memory.last),
        black=None if memory.black is None else jnp.where(moved, np.int32(1) - memory.black, memory.black),
        bound=bound, harmless=with_refused(memory.harmless, MUST_CAPTURE), cramped=with_refused(memory.cramped, MUST_BREATHE),
        chain=chain,
    )  # fmt: skip


def tick(g: Geometry, lanes: Lanes, policy: Ask | None = None, waits: jax.Array | None = None) -> Lanes:
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
    if policy is not None:
        points, must_capture, must_breathe = ask(g, policy, lanes, points)
    move, counter = draw(g, points, lanes.move, lanes.counter, lanes.key)
    plies_left = lanes.plies_left
    if waits is not None:  # without a move, and as if over, which leaves them as they are
        drawing = waits == np.int32(0)
        move, counter = jnp.where(drawing, move, lanes.move), jnp.where(drawing, counter, lanes.counter)
        plies_left = jnp.where(drawing, plies_left, np.int32(0))
    own, opp, marks, found = play(g, lanes.own, lanes.opp, lanes.reach, move, undecided, lanes.passes, plies_left)
    memory = lanes.memory
    if policy is not None and memory is not None:
        bound, chain = memory.bound, memory.chain
        if bound is not None:
            drawn = must_breathe.astype(jnp.int32) * np.int32(MUST_BREATHE)
            if memory.harmless:
                must = bb.any_point(bb.both(bb.one_point(g, move), must_capture))
                drawn = jnp.where(must, np.int32(MUST_CAPTURE), drawn)
            bound = jnp.where(undecided != np.int32(0), bound, drawn)
            harmless = found == np.int32(LEGAL)
            refused = harmless & (bound == np.int32(MUST_CAPTURE))
            if memory.cramped:
                chain, short, whole = chain_of(g, lanes, move, undecided)
                short = harmless & short & (bound == np.int32(MUST_BREATHE)) & (move != np.int32(g.pass_index))
                refused, open_yet = refused | (short & whole & ~leaves_one_eye(g, chain)), short & ~whole
                # Then the next tick decides anew whether the move is legal, from its start, while it finds more of the chain.
                stone = bb.one_point(g, move)
                beside = bb.neighbours(g, bb.complement(g, bb.either(bb.either(lanes.own, stone), lanes.opp)))
                marks = bb.choose(open_yet, beside, marks)
                found = jnp.where(open_yet, np.int32(UNDECIDED), found)
            found = jnp.where(refused, np.int32(REFUSED), found)
            stays = harmless & (found != np.int32(LEGAL))
            own, opp = bb.choose(stays, lanes.own, own), bb.choose(stays, lanes.opp, opp)
        memory = remember(g, memory, move, counter, bound, found, chain)
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
