"""What a device tells of leaves: the positions, and the sums of their playouts, as rows of uint32 on the wire."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxgo.base import checks, memory, threads
from jaxgo.base.constants import BLACK, max_plies
from jaxgo.base.one_loop import in_one_loop
from jaxgo.board import bitboard as bb
from jaxgo.board import dynamics, rules
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.board.position import Position
from jaxgo.playing.wire import Fields, Records, captured_of, moves_of
from jaxgo.results import outcome, sums
from jaxgo.results.sums import square_sums


@dataclasses.dataclass(frozen=True, eq=False)
class LeafResults:
    """Positions reached and their playouts; numpy arrays, `B` leaves, `K` playouts of each, `P` points.

    Attributes:
      size: N, an int.
      words: uint32 [B, 2 W]: the stones of the player to move, then the other's (see `jaxgo.board.geometry`).
      ko: int16 [B]: the point that simple ko forbids, or -1.
      passes: int8 [B]: passes in a row just before; 2 where the game is over.
      hash: uint64 [B]: Zobrist hash of the stones, for superko: the two words of `Position.hash`, the first above the second.
      legal_bits: uint32 [B, 2, P // 32 + 1]: the points where the player to move (0) and the other (1; as if it were his turn)
        may play, point p as bit p % 32 of word p // 32; `legal` has them apart.
      useful_bits: uint32 [B, P // 32 + 1]: those of the mover's legal points that fill no eye of his own; `useful` has them
        apart.
      margin: int16 [B]: the mover's area minus the other's, of the position as it stands.
      wins: int32 [B]: results of the playouts for the mover, in halves: win 2, draw 1, loss 0.
      lead: int32 [B]: sum over the playouts of the mover's area minus the other's.
      squares: int64 [B]: sum of the squares of these areas' differences.
      first_plays: int16 [B, 2, 2, 32 (P // 32 + 1)]: for the mover (0) and the other (1), the playouts in which he was the first
        of both to play at each point (0), and his own results in these, in halves (1). 0 from P on, of which `firsts` has only
        the pass.
      events: int16 [B, K, max_plies]: every playout's moves (pass P, -1 after the end), with 2**14 added where they captured.
        None unless asked for; `moves` and `captured` tell them apart.
      results: int8 [B, K]: each playout's result for the mover, in halves. None unless asked for.
    """

    size: int
    words: np.ndarray
    ko: np.ndarray
    passes: np.ndarray
    hash: np.ndarray
    legal_bits: np.ndarray
    useful_bits: np.ndarray
    margin: np.ndarray
    wins: np.ndarray
    lead: np.ndarray
    squares: np.ndarray
    first_plays: np.ndarray
    events: np.ndarray | None
    results: np.ndarray | None

    @property
    def firsts(self) -> np.ndarray:
        """int16 [B, 2, 2, P + 1]: `first_plays` of the points and, always 0, of the pass."""
        return self.first_plays[..., : self.size**2 + 1]

    @property
    def legal(self) -> np.ndarray:
        """bool [B, 2, P]: the points where the player to move (0) and the other (1; as if it were his turn) may play."""
        return self._points(self.legal_bits)

    @property
    def useful(self) -> np.ndarray:
        """bool [B, P]: those of the mover's legal points that fill no eye of his own."""
        return self._points(self.useful_bits)

    def _points(self, words: np.ndarray) -> np.ndarray:
        bits = np.unpackbits(np.ascontiguousarray(words).astype("<u4", copy=False).view(np.uint8), axis=-1, bitorder="little")
        return bits[..., : self.size**2].astype(np.bool_)

    @property
    def moves(self) -> np.ndarray | None:
        """int16 [B, K, max_plies]: every playout's moves (pass P, -1 after the end). None unless asked for."""
        return None if self.events is None else moves_of(self.events)

    @property
    def captured(self) -> np.ndarray | None:
        """bool [B, K, max_plies]: whether the ply captured. None unless asked for."""
        return None if self.events is None else captured_of(self.events)

    def position(self, black: ArrayLike) -> Position:
        """The positions; `black`, bool [B], says where Black is to move."""
        black = checks.bools("black", black, self.ko.shape)
        return jax.device_put(positions_of(self.size, self.words, self.ko, self.passes, black))

    def some(self, index) -> "LeafResults":
        """The results of some leaves: a slice or an array keeps the axis of leaves, an integer drops it."""
        chosen: dict[str, Any] = {name: x[index] if isinstance(x, np.ndarray) else x for name, x in vars(self).items()}
        return LeafResults(**chosen)


def positions_of(size: int, words: np.ndarray, ko: np.ndarray, passes: np.ndarray, black: np.ndarray) -> Position:
    """The positions that are told so, as `LeafResults` has them; of numpy arrays.

    Args:
      size: of the board.
      words: uint32 [B, 2 W].
      ko, passes: of integers, [B].
      black: bool [B], whether Black is to move.
    """
    own, opp = np.split(words.T, 2)
    blacks, whites = (tuple(np.where(black, *pair)) for pair in ((own, opp), (opp, own)))
    numbers: dict[str, Any] = {
        "to_play": np.where(black, BLACK, -BLACK).astype(np.int8), "ko": ko.astype(np.int16), "passes": passes.astype(np.int8),
    }  # fmt: skip
    return Position(blacks, whites, **numbers, size=size)


@functools.cache
def fields_of_position(size: int) -> Fields:
    """What a leaf's row holds of its position."""
    g, bits = geometry(size), bb.num_point_words(size)
    return Fields(
        words=(np.uint32, (2 * g.num_words,)), hash=(np.uint32, (2,)), ko=(np.int16, ()), margin=(np.int16, ()),
        passes=(np.int8, ()), legal_bits=(np.uint32, (2, bits)), useful_bits=(np.uint32, (bits,)),
    )  # fmt: skip


@functools.cache
def fields_of_playouts() -> Fields:
    """What a leaf's row holds of its playouts; their first plays have an array of their own."""
    return Fields(wins=(np.int32, ()), lead=(np.int32, ()), squares=(np.int32, (2,)))


class Rows(NamedTuple):
    """What a device tells of n leaves as it comes, each array's first axis theirs; `Places` says where in a row things are."""

    positions: np.ndarray
    """uint32 [n, .], of `fields_of_position`."""
    playouts: np.ndarray
    """uint32 [n, .], of `fields_of_playouts`."""
    first_plays: np.ndarray
    """`LeafResults.first_plays`."""
    events: np.ndarray
    """`LeafResults.events`; [n, 0, 0] unless moves are told."""
    results: np.ndarray
    """`LeafResults.results`; [n, 0] likewise."""

    def some(self, index) -> "Rows":
        """Those of some leaves."""
        return Rows(*(x[index] for x in self))


class Places(NamedTuple):
    """Where in `Rows.positions` fields begin, and where in `Rows.playouts`, each named as in `LeafResults`.

    Numbers of fewer than 32 bits are as they are in int32. Of `hash` the first word is the upper half; `squares` are the first
    number times `jaxgo.results.sums.LOW` and the second.
    """

    words: int
    hash: int
    ko: int
    margin: int
    passes: int
    legal_bits: int
    useful_bits: int
    wins: int
    lead: int
    squares: int

    @classmethod
    def of(cls, size: int) -> "Places":
        """For boards of a size."""
        return cls(**fields_of_position(size).starts, **fields_of_playouts().starts)


class Room:
    """Room on the host for what devices tell of a call's leaves."""

    def __init__(self, rows: Rows):
        self.rows = rows

    @classmethod
    def of(cls, size: int, count: int, playouts: int) -> "Room":
        """For so many leaves.

        Args:
          size: N.
          count: of the leaves.
          playouts: K, if their moves are told; otherwise 0.
        """
        return cls(Rows(
            fields_of_position(size).room(count), fields_of_playouts().room(count),
            np.empty((count, 2, 2, 32 * bb.num_point_words(size)), np.int16),
            memory.empty((count, playouts, max_plies(size) if playouts else 0), np.int16), np.empty((count, playouts), np.int8),
        ))  # fmt: skip

    def part(self, start: int, end: int) -> "Room":
        """The same room for some of the leaves."""
        return Room(self.rows.some(slice(start, end)))

    def take_positions(self, rows: np.ndarray) -> None:
        """Takes `Rows.positions`."""
        self.rows.positions[...] = rows

    def take_playouts(self, *rows: np.ndarray, at_a_time: int = 1) -> None:
        """Takes the rest of `Rows`, the last two only if moves are told, in at most so many threads."""
        for room, brought in zip(self.rows[1:], rows):
            threads.copy([(room, brought)], at_a_time)


def found(size: int, rows: Rows) -> LeafResults:
    """What rows say, in arrays of their own."""
    out: dict[str, Any] = {"size": size, "first_plays": rows.first_plays}
    out |= fields_of_position(size).unpack(rows.positions) | fields_of_playouts().unpack(rows.playouts)
    high, low = out["hash"].astype(np.uint64).T
    out["hash"] = high << np.uint64(32) | low
    high, low = out["squares"].astype(np.int64).T
    out["squares"] = high * sums.LOW + low
    told = rows.results.size > 0
    return LeafResults(**out, events=rows.events if told else None, results=rows.results if told else None)


def describe(g: Geometry, position: Position) -> jax.Array:
    """What the host must know of the positions themselves, in rows of `fields_of_position`."""
    own, opp = dynamics.own_and_opp(position)
    legal = dynamics.boards_legal_for_both(g, own, opp, position.ko)
    mine, theirs = (bb.choose(position.is_over(), bb.without(board, board), board) for board in legal)
    useful = bb.both(mine, rules.no_eyes(g, own, opp))
    in_order = functools.partial(in_one_loop, functools.partial(bb.point_words, g))
    mine_bits, their_bits, useful_bits = (jnp.stack(in_order(board), axis=1) for board in (mine, theirs, useful))
    return fields_of_position(g.size).pack(
        words=jnp.stack([*own, *opp], axis=1), ko=position.ko, passes=position.passes, hash=dynamics.stones_hash(position),
        legal_bits=jnp.stack([mine_bits, their_bits], axis=1), useful_bits=useful_bits,
        margin=rules.area_margin(g, own, opp).astype(jnp.int16),
    )  # fmt: skip


def reduce(g: Geometry, records: Records, black: jax.Array, bounds: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What the host must know of the leaves' playouts.

    Args:
      g: the layout of the records' boards.
      records: [K * B], the leaves' first playouts, then their second ones, and so on.
      black: bool [B], whether Black is to move at the leaf.
      bounds: int32 [B, 2] (see `jaxgo.results.outcome`).

    Returns:
      (rows of `fields_of_playouts`; `LeafResults.first_plays`; the results in halves for the player to move, int32 [K, B]).
    """
    shape = len(records.margin) // len(black), len(black)
    margin, black = records.margin.reshape(shape), jnp.broadcast_to(black, shape)
    result = outcome.of_mover(margin, bounds[None], black)
    rows = fields_of_playouts().pack(
        wins=jnp.sum(result, axis=0, dtype=jnp.int32), squares=square_sums(margin.T, jnp.ones(shape[::-1], jnp.int32)),
        lead=jnp.sum(jnp.where(black, margin, -margin), axis=0, dtype=jnp.int32),
    )  # fmt: skip
    return rows, _first_plays(g, records, black, result), result


def _first_plays(g: Geometry, records: Records, black: jax.Array, result: jax.Array) -> jax.Array:
    """`LeafResults.first_plays`.

    Given are where the mover is Black, bool [K, B], and his results in halves, int32 [K, B].
    """
    playouts, batch = result.shape
    # A row for each word of the mover's board and of the other's: [2 W, K, B].
    mine, theirs = (jnp.stack(board).reshape(-1, playouts, batch) for board in (records.first_black, records.first_white))
    black = jnp.broadcast_to(black, mine.shape)
    boards = jnp.concatenate([jnp.where(black, mine, theirs), jnp.where(black, theirs, mine)])
    won, lost, drawn = (jnp.where(result == np.int32(x), ~np.uint32(0), np.uint32(0)) for x in (2, 0, 1))
    won = jnp.concatenate([jnp.broadcast_to(x, mine.shape) for x in (won, lost)])
    drawn = jnp.broadcast_to(drawn, boards.shape)

    def add(counts, halves, boards, won, drawn):
        counts = sums.count_in_place(counts, boards)
        halves = sums.count_in_place(halves, [board & here for board, here in zip(boards, drawn)])
        return counts, halves[:1] + sums.count_in_place(halves[1:], [board & here for board, here in zip(boards, won)])

    def step(i, counters):
        start = i * np.int32(at_once)
        boards_won_drawn = ([lax.dynamic_index_in_dim(x, start + np.int32(k), 1, False) for k in range(at_once)] for x in parts)
        return in_one_loop(add, *counters, *boards_won_drawn)

    at_once = min(sums.AT_ONCE, playouts)
    more = ((0, 0), (0, -playouts % at_once), (0, 0))
    parts = [jnp.pad(x, more) for x in (boards, won, drawn)]
    # Not zeros outright: see `sums.count_points`.
    zero, bits = boards[:, 0] & np.uint32(0), (playouts + at_once).bit_length()
    counters = lax.fori_loop(0, -(-playouts // at_once), step, ((zero,) * bits, (zero,) * (bits + 1)))
    return jnp.stack([_in_order(g, kind) for kind in counters], axis=2)


def _in_order(g: Geometry, counters: Sequence[jax.Array]) -> jax.Array:
    """int16 [B, 2, .]: what is counted of the points of two boards, in their order; bit i of it is counter i, uint32 [2 W, B]."""
    words = jnp.stack(counters).reshape(len(counters), 2, g.num_words, -1)
    in_order = in_one_loop(functools.partial(bb.point_words, g), tuple(words[:, :, w] for w in range(g.num_words)))
    bits = jnp.transpose(jnp.stack(in_order), (1, 3, 2, 0))  # [counters, B, 2, .]
    numbers = sums.counted(tuple(bits), 32).astype(jnp.int16)
    return numbers.reshape(*numbers.shape[:2], -1)
