"""A batch of Go positions as a pytree of bitboards, with exact rules."""

import dataclasses
import functools
import os
from collections.abc import Iterable
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo.board import bitboard as bb
from jaxgo.base import checks
from jaxgo.board import rules
from jaxgo.board.bitboard import Board
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.playing.tick import useful

BLACK, WHITE = 1, -1
#: `Position.ko` where no point is forbidden.
NO_KO = -1

_SYMBOLS = {"X": BLACK, "#": BLACK, "O": WHITE, ".": 0, "+": 0}


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["black", "white", "to_play", "ko", "passes"], meta_fields=["size"]
)
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Position:
    """A batch of positions on boards of one size. Immutable.

    `B` denotes the batch dimension, `N` the board's size, `P = N * N` its points. Point `p = y * N + x` lies in row y, counted
    from the top, and column x; `p = P` is the pass. Colours are 1 (Black) and -1 (White).

    The methods `legal`, `useful`, `play`, `is_over`, `score`, `hash` and `to_array` are pure functions of the arrays and work
    inside `jax.jit`, `vmap`, `scan` and `shard_map`. The constructors check their arguments and are for use outside of them.
    """

    black: Board
    """W words of uint32 [B]: Black's stones (see `jaxgo.board.geometry`)."""
    white: Board
    """W words of uint32 [B]: White's stones."""
    to_play: jax.Array
    """int8 [B]: 1 where Black is to move, -1 where White is."""
    ko: jax.Array
    """int16 [B]: the point where the player to move may not play now because of simple ko, or -1."""
    passes: jax.Array
    """int8 [B]: passes in a row just before: 0, 1, or 2, which ends the game."""
    size: int
    """N, from 2 to 25."""

    # Constructors.

    @classmethod
    def empty(cls, size: int, batch: int = 1, *, to_play: int = BLACK) -> "Position":
        """`batch` empty boards of `size` x `size` points (2 to 25)."""
        size, batch = checks.size(size), checks.integer("batch", batch, 1)
        checks.one_of("to_play", to_play, (BLACK, WHITE))
        return _make(np.zeros((batch, size, size), np.int8), np.int32(to_play), np.int32(NO_KO), np.int32(0))

    @classmethod
    def from_array(cls, stones, *, to_play=BLACK, ko=NO_KO, passes=0) -> "Position":
        """Positions from arrays of stones.

        Args:
          stones: integers [B, N, N], or [N, N] for one position: 1 Black, -1 White, 0 empty; row 0 is the top.
          to_play: 1 or -1, for all positions or [B].
          ko: the empty point where the player to move may not play because of simple ko, -1 for none; one or [B].
          passes: passes in a row before the position, 0 to 2 (2: the game is over); one or [B].

        Raises:
          TypeError: an array that does not hold integers.
          ValueError: a wrong shape or value, a ko point that is occupied, or stones without liberties.
        """
        array = np.asarray(stones)
        if array.dtype.kind not in "iu":
            raise TypeError(f"stones must be an array of integers (int8), not {array.dtype}")
        if array.ndim == 2:
            array = array[None]
        if array.ndim != 3 or array.shape[1] != array.shape[2]:
            raise ValueError(f"stones must have shape [batch, N, N] or [N, N], not {np.asarray(stones).shape}")
        checks.size(array.shape[1])
        checks.integer("the batch of stones", array.shape[0], 1)
        wrong = array[(array < -1) | (array > 1)]
        if wrong.size:
            raise ValueError(f"stones must be 1 (Black), -1 (White) or 0 (empty), not {wrong.flat[0]}")
        batch, points = array.shape[:1], array.shape[1] ** 2
        to_play = checks.integers("to_play", to_play, batch, WHITE, BLACK)
        if not to_play.all():
            raise ValueError("to_play must be 1 (Black) or -1 (White), not 0")
        ko = checks.integers("ko", ko, batch, NO_KO, points - 1)
        passes = checks.integers("passes", passes, batch, 0, 2)
        occupied = (ko != NO_KO) & (array.reshape(len(array), -1)[np.arange(len(array)), ko] != 0)
        if occupied.any():
            i = int(occupied.argmax())
            raise ValueError(f"ko must be an empty point, but point {ko[i]} of position {i} is occupied")
        position = _make(array.astype(np.int8), to_play, ko, passes)
        captured = np.asarray(_without_liberties(position))
        if captured.any():
            i, point = np.argwhere(captured)[0]
            y, x = divmod(int(point), array.shape[1])
            raise ValueError(f"stones must have liberties, but the chain at row {y}, column {x} of position {i} has none")
        return position

    @classmethod
    def from_ascii(cls, text: str, *, to_play: int = BLACK, ko: int = NO_KO, passes: int = 0) -> "Position":
        """One position from a diagram: X or # Black, O White, . or + empty; spaces and blank lines are ignored.

        Raises:
          ValueError: another symbol, or rows that do not make a square; and as `from_array`.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a diagram as a str, not {type(text).__name__}")
        rows = [row for row in ("".join(line.split()) for line in text.splitlines()) if row]
        for row in rows:
            for symbol in row:
                if symbol not in _SYMBOLS:
                    raise ValueError(f"a diagram's symbols are {' '.join(_SYMBOLS)}, not {symbol!r}")
            if len(row) != len(rows):
                raise ValueError(f"a diagram must be square: it has {len(rows)} rows, but row {row!r} has {len(row)} points")
        checks.size(len(rows))
        return cls.from_array(
            np.array([[_SYMBOLS[symbol] for symbol in row] for row in rows], np.int8), to_play=to_play, ko=ko, passes=passes
        )

    @classmethod
    def from_sgf(cls, path_or_text: str | os.PathLike, *, move: int | Literal["all"] | None = None) -> "Position":
        """Positions of an SGF game record's main line: the last, after `move` moves, or all from 0 on as a batch ("all").

        Raises:
          ValueError: no SGF, an unreadable file, a size outside 2 to 25, an illegal move (which one is said), no such move.
        """
        from jaxgo.records import sgf

        return sgf.read_game(path_or_text).position(move)

    @classmethod
    def concatenate(cls, positions: Iterable["Position"]) -> "Position":
        """One batch of all positions, in order; they must be of one size."""
        positions = list(positions)
        if not positions:
            raise ValueError("positions must hold at least one position")
        sizes = {p.size for p in positions}
        if len(sizes) > 1:
            raise ValueError(f"positions must be of one size, not {sorted(sizes)}")
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *positions)

    # The batch.

    @property
    def geometry(self) -> Geometry:
        """The layout of the bitboards."""
        return geometry(self.size)

    @property
    def batch(self) -> int:
        """B, the number of positions."""
        return self.to_play.shape[0]

    def __len__(self) -> int:
        return self.batch

    def __getitem__(self, index) -> "Position":
        """Some positions of the batch, by an integer (a batch of one), a slice, or an array of integers or bools."""
        if isinstance(index, (int, np.integer)):
            if not -self.batch <= index < self.batch:
                raise IndexError(f"position {index} of a batch of {self.batch}")
            index = slice(index, index + 1 or None)
        elif isinstance(index, list):
            index = np.asarray(index)
        return jax.tree.map(lambda leaf: leaf[index], self)

    # Rules.

    def to_array(self) -> jax.Array:
        """int8 [B, N, N]: 1 Black, -1 White, 0 empty; row 0 is the top."""
        return _to_array(self)

    def legal(self) -> jax.Array:
        """bool [B, P + 1]: where the player to move may play; index P is the pass. All False once the game is over."""
        return _legal(self)

    def useful(self) -> jax.Array:
        """bool [B, P]: the legal points that fill no eye of the player to move, which playouts draw from (see `jaxgo.playing.tick`)."""
        return _useful(self)

    def play(self, points) -> "Position":
        """The positions after a move in each.

        Args:
          points: integers [B], or one for all: the point, P for a pass.

        Raises:
          ValueError: a move is illegal, or points has a wrong shape. Inside `jit` and its kin nothing can be raised: there the
            caller must see to it that moves are legal (`legal()`), the result of an illegal one is not specified.
        """
        if not any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves((self, points))):
            self._check_moves(points)
        points = jnp.broadcast_to(jnp.asarray(points).astype(jnp.int32), self.to_play.shape)
        return play_moves(self, points)

    def is_over(self) -> jax.Array:
        """bool [B]: two passes in a row have ended the game."""
        return self.passes >= jnp.int8(2)

    def score(self) -> jax.Array:
        """int32 [B]: Black's area minus White's, before komi, of the board as it stands."""
        return _score(self)

    def hash(self) -> jax.Array:
        """uint32 [B, 2]: a Zobrist hash of the stones alone, the same in every process, for positional superko."""
        return position_hash(self)

    def _check_moves(self, points) -> None:
        size, batch = self.size, self.to_play.shape
        moves = checks.integers("points", points, batch, 0, size * size)
        illegal = ~np.take_along_axis(np.asarray(self.legal()), moves[:, None], axis=1)[:, 0]
        if illegal.any():
            i = int(illegal.argmax())
            y, x = divmod(int(moves[i]), size)
            where = "a pass" if moves[i] == size * size else f"point {moves[i]} (row {y}, column {x})"
            raise ValueError(f"points holds an illegal move: {where} in position {i}: {self[i]._why_illegal(int(moves[i]))}")

    def _why_illegal(self, point: int) -> str:
        if bool(self.is_over()[0]):
            return "the game is over"
        if self.to_array().reshape(-1)[point] != 0:
            return "the point is occupied"
        return "the ko forbids it" if int(self.ko[0]) == point else "it is suicide"

    def __repr__(self) -> str:
        abstract = any(isinstance(x, jax.core.Tracer) or not hasattr(x, "shape") for x in jax.tree.leaves(self))
        if abstract or self.to_play.ndim != 1:
            return f"Position(size={self.size}, to_play={self.to_play})"
        head = f"Position: {self.batch} of size {self.size}x{self.size}"
        shown = [self[i]._diagram() for i in range(min(self.batch, 3))]
        rest = [] if self.batch <= 3 else [f"... and {self.batch - 3} more"]
        return "\n".join([head, *shown, *rest])

    def _diagram(self) -> str:
        stones = np.asarray(self.to_array())[0]
        rows = [" ".join(".XO"[s] for s in row) for row in stones]
        facts = [f"{'Black' if int(self.to_play[0]) == BLACK else 'White'} (X is Black) to play"]
        facts += [f"ko at {int(self.ko[0])}"] if int(self.ko[0]) != NO_KO else []
        facts += [f"passes {int(self.passes[0])}"] if int(self.passes[0]) else []
        return "\n".join([*rows, ", ".join(facts)])


def _make(stones: np.ndarray, to_play, ko, passes) -> Position:
    """A position from checked arguments."""
    batch, size = stones.shape[:2]
    g = geometry(size)
    flat = stones.reshape(batch, -1)

    def words(colour: int) -> Board:
        bits = (flat == colour).astype(np.uint64) << g.bit_of_point.astype(np.uint64)
        return tuple(
            jax.device_put(bits[:, g.word_of_point == w].sum(axis=1, dtype=np.uint64).astype(np.uint32)) for w in range(g.num_words)
        )

    return Position(
        black=words(BLACK),
        white=words(WHITE),
        to_play=jax.device_put(np.broadcast_to(to_play, batch).astype(np.int8)),
        ko=jax.device_put(np.broadcast_to(ko, batch).astype(np.int16)),
        passes=jax.device_put(np.broadcast_to(passes, batch).astype(np.int8)),
        size=size,
    )


def points_of(g: Geometry, board: Board) -> jax.Array:
    """bool [..., P] of a bitboard of shape [...]."""
    words = jnp.stack(board, axis=-1)[..., g.word_of_point]
    bits = np.broadcast_to(g.bit_of_point.astype(np.uint32), words.shape)
    return ((words >> bits) & jnp.uint32(1)) != jnp.uint32(0)


def stones_array(g: Geometry, black: Board, white: Board) -> jax.Array:
    """int8 [..., N, N] of two bitboards of shape [...]."""
    flat = points_of(g, black).astype(jnp.int8) - points_of(g, white).astype(jnp.int8)
    return flat.reshape(*flat.shape[:-1], g.size, g.size)


@functools.partial(jax.jit, inline=True)
def own_and_opp(position: Position) -> tuple[Board, Board]:
    """The stones of the player to move, and the other's."""
    black = position.to_play == jnp.int8(BLACK)
    return bb.choose(black, position.black, position.white), bb.choose(black, position.white, position.black)


def ko_board(g: Geometry, ko: jax.Array) -> Board:
    """The set of the ko point, empty for NO_KO."""
    index = jnp.asarray(g.index_of_point)[ko.astype(jnp.int32)]
    return bb.one_point(g, jnp.where(ko < 0, jnp.int32(g.pass_index), index))


@jax.jit
def _to_array(position: Position) -> jax.Array:
    return stones_array(position.geometry, position.black, position.white)


@jax.jit
def _legal(position: Position) -> jax.Array:
    g = position.geometry
    own, opp = own_and_opp(position)
    points = points_of(g, rules.legal_points(g, own, opp, ko_board(g, position.ko), rules.out_of_atari(g, own, opp)))
    with_pass = jnp.concatenate([points, jnp.ones_like(points[..., :1])], axis=-1)
    return with_pass & ~position.is_over()[..., None]


@jax.jit
def _useful(position: Position) -> jax.Array:
    return position.legal()[..., :-1] & points_of(position.geometry, useful(position.geometry, *own_and_opp(position)))


def legal_for_both(g: Geometry, own: Board, opp: Board, ko: jax.Array) -> jax.Array:
    """bool [..., 2, P]: where the player to move may play (0), and where the other could, were it his turn (1).

    `ko` is the ko point or NO_KO. The boards' shape is [...].
    """
    ko, free = ko_board(g, ko), rules.out_of_atari(g, own, opp)
    none = tuple(jnp.zeros_like(x) for x in ko)
    both = rules.legal_points(g, own, opp, ko, free), rules.legal_points(g, opp, own, none, free)
    return jnp.stack([points_of(g, legal) for legal in both], axis=-2)


@jax.jit
def play_moves(position: Position, points: jax.Array) -> Position:
    """`Position.play` of legal moves, int32 [B], unchecked."""
    g = position.geometry
    own, opp = own_and_opp(position)
    index = jnp.asarray(g.index_of_point)[points]
    own, opp, ko = rules.play(g, own, opp, bb.one_point(g, index))
    black = position.to_play == jnp.int8(BLACK)
    is_pass = points == jnp.int32(g.num_points)
    ko_points = points_of(g, ko)
    return Position(
        black=bb.choose(black, own, opp),
        white=bb.choose(black, opp, own),
        to_play=-position.to_play,
        ko=jnp.where(jnp.any(ko_points, axis=-1), jnp.argmax(ko_points, axis=-1), NO_KO).astype(jnp.int16),
        passes=jnp.where(is_pass, position.passes + jnp.int8(1), jnp.int8(0)),
        size=position.size,
    )


@jax.jit
def _score(position: Position) -> jax.Array:
    return rules.area_margin(position.geometry, position.black, position.white)


@jax.jit
def position_hash(position: Position) -> jax.Array:
    """`Position.hash`."""
    g, keys = position.geometry, rules.zobrist_keys(position.size)

    def numbers(stones: Board, key: np.ndarray) -> jax.Array:
        held = points_of(g, stones)[..., None]
        return jnp.where(held, np.broadcast_to(key, (*held.shape[:-1], 2)), jnp.uint32(0))

    of_stones = numbers(position.black, keys[0]) ^ numbers(position.white, keys[1])
    return lax.reduce(of_stones, np.uint32(0), lax.bitwise_xor, (of_stones.ndim - 2,))


@jax.jit
def _without_liberties(position: Position) -> jax.Array:
    return points_of(position.geometry, rules.without_liberties(position.geometry, position.black, position.white))
