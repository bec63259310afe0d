"""A batch of Go positions as a pytree of bitboards, with exact rules."""

import dataclasses
import functools
import os
from collections.abc import Iterable
from typing import Literal

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.base.constants import BLACK, NO_KO, WHITE
from jaxgo.board import dynamics
from jaxgo.board.bitboard import Board, of_points
from jaxgo.board.coordinates import coordinate
from jaxgo.board.dynamics import is_traced, run, traced
from jaxgo.board.geometry import Geometry, geometry

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
    `len(positions)` is B; `positions[k]`, a slice or an array of indices gives a batch of some, of one for an integer, and so
    does iteration; `Position.concatenate` puts batches together.

    Attributes:
      black: W words of uint32 [B]: Black's stones. Row y of the board lies in word y % W from bit y // W * (N + 1) on, its first
        column lowest (see `jaxgo.board.geometry`); `to_array` has the stones as an array.
      white: W words of uint32 [B]: White's stones.
      to_play: int8 [B]: 1 where Black is to move, -1 where White is.
      ko: int16 [B]: the point where the player to move may not play now because of simple ko, or -1.
      passes: int8 [B]: passes in a row just before: 0, 1, or 2, which ends the game.
      size: N, from 2 to 25.
    """

    black: Board
    white: Board
    to_play: jax.Array
    ko: jax.Array
    passes: jax.Array
    size: int

    # Constructors.

    @classmethod
    def empty(cls, size: int, batch: int = 1, *, to_play: int = BLACK) -> "Position":
        """`batch` empty boards of `size` x `size` points (2 to 25)."""
        size, batch = checks.size(size), checks.integer("batch", batch, 1)
        checks.one_of("to_play", checks.integer("to_play", to_play, -1, 1), (BLACK, WHITE))
        return _make(np.zeros((batch, size, size), np.int8), np.int32(to_play), np.int32(NO_KO), np.int32(0))

    @classmethod
    def from_array(
        cls, stones: ArrayLike, *, to_play: ArrayLike = BLACK, ko: ArrayLike = NO_KO, passes: ArrayLike = 0
    ) -> "Position":
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
        array = checks.as_array("stones", stones)
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
        captured = jax.device_get(run(dynamics.without_liberties, position))
        if captured.any():
            i, point = np.argwhere(captured)[0]
            where = f"{coordinate(int(point), array.shape[1])} (point {point} of position {i})"
            raise ValueError(f"stones must have liberties, but the chain at {where} has none")
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
        try:
            positions = list(positions)
        except TypeError:
            raise TypeError(f"positions must be jaxgo.Position objects, not {positions!r}") from None
        if not positions:
            raise ValueError("positions must hold at least one position")
        for position in positions:
            if not isinstance(position, Position):
                raise TypeError(f"positions must hold jaxgo.Position objects, not {type(position).__name__}")
        sizes = {p.size for p in positions}
        if len(sizes) > 1:
            raise ValueError(f"positions must be of one size, not {sorted(sizes)}")
        return dynamics.rearranged(lambda xp, *leaves: xp.concatenate(leaves), *positions)

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
        """Some positions of the batch: by an integer (a batch of one), a slice, or an array of integers or bools.

        Raises:
          IndexError: an integer beyond the batch. (A traced one is taken as jax takes it.)
          TypeError, ValueError: an index of another kind or shape.
        """
        if isinstance(index, slice):
            return dynamics.rearranged(lambda xp, leaf: leaf[index], self)
        if isinstance(index, bool) or not isinstance(index, (int, np.integer, list, np.ndarray, jax.Array)):
            raise TypeError(f"a batch's index must be an integer, a slice or an array of integers or bools, not {index!r}")
        if isinstance(index, int) and not -self.batch <= index < self.batch:
            raise IndexError(f"position {index} of a batch of {self.batch}")
        if not isinstance(index, jax.core.Tracer):
            index = np.zeros(0, np.int32) if isinstance(index, list) and not index else checks.as_array("a batch's index", index)
        if index.ndim == 0:
            index = index[None]
        if index.dtype.kind not in "iub" or index.ndim != 1 or index.dtype.kind == "b" and len(index) != self.batch:
            wanted, given = f"[n] integers or [{self.batch}] bools", f"{index.dtype} of {index.shape}"
            raise ValueError(f"a batch of {self.batch} takes an index of {wanted}, not {given}")
        if isinstance(index, jax.core.Tracer):
            return jax.tree.map(lambda leaf: leaf[index], self)
        if index.dtype.kind != "b":
            wrong = index[(index < -self.batch) | (index >= self.batch)]
            if wrong.size:
                raise IndexError(f"position {wrong[0]} of a batch of {self.batch}")
        return dynamics.rearranged(lambda xp, leaf: leaf[index], self)

    # Rules.

    def to_array(self) -> jax.Array:
        """int8 [B, N, N]: 1 Black, -1 White, 0 empty; row 0 is the top."""
        return run(dynamics.to_array, self)

    def legal(self) -> jax.Array:
        """bool [B, P + 1]: where the player to move may play; index P is the pass. All False once the game is over."""
        return run(dynamics.legal, self)

    def useful(self) -> jax.Array:
        """bool [B, P]: the legal points that fill no eye of the player to move, which playouts draw from (see
        `jaxgo.board.rules.signs_of_no_eye`)."""
        return run(dynamics.useful, self, self.legal())

    def play(self, points: ArrayLike, *, where: ArrayLike = True, check: bool = True) -> "Position":
        """The positions after a move in each. In a game that is over none is legal; it stays as it is where nobody looks.

        Args:
          points: integers [B], or one for all: the point, P for a pass.
          where: bool [B], or one for all: in which positions to play; the others stay as they are, whatever their point.
          check: whether to look at the moves: with False the caller answers for them (the result of an illegal one is not
            specified), and moves in games that are over do nothing.

        Raises:
          TypeError, ValueError: a move is illegal, or an argument is of a wrong type or shape. Inside `jit` and its kin values
            cannot be looked at: there moves are taken as with `check=False`.
        """
        if is_traced(self, points, where):
            batch = self.to_play.shape
            points, where = traced("points", points, batch), traced("where", where, batch, np.bool_)
            return run(dynamics.played, self, points, where)
        batch = self.to_play.shape
        where = checks.bools("where", where, batch)
        points = checks.integers("points", points, batch, 0, self.size**2, where)
        if not check:
            return run(dynamics.played, self, points, where)
        after, faults = run(dynamics.tried, self, points, where)
        if is_traced(faults):
            return after
        faults = jax.device_get(faults)
        if faults.any():
            i = int((faults != 0).argmax())
            y, x = divmod(int(points[i]), self.size)
            move = "a pass" if points[i] == self.size**2 else f"point {points[i]} (row {y}, column {x})"
            raise ValueError(f"points holds an illegal move: {move} in position {i}: {dynamics.FAULTS[faults[i] - 1]}")
        return after

    def is_over(self) -> jax.Array:
        """bool [B]: two passes in a row have ended the game."""
        return dynamics.is_over(self) if is_traced(self) else run(dynamics.is_over, self)

    def observation(self, last_moves: ArrayLike | None = None) -> jax.Array:
        """bool [B, N, N, 6 + K]: planes for a network; see `jaxgo.board.observation`, which says what they are.

        Args:
          last_moves: integers [B, K], the last move first: a point, P for a pass, -1 for an unknown one; None for no such planes.
        """
        from jaxgo.board.observation import observation

        return observation(self, last_moves)

    def score(self) -> jax.Array:
        """int32 [B]: Black's area minus White's, before komi, of the board as it stands."""
        return run(dynamics.score, self)

    def hash(self) -> jax.Array:
        """uint32 [B, 2]: a Zobrist hash of the stones alone, the same in every process, for positional superko. The first of the
        two words is the upper half of what `Leaves` tells as one uint64."""
        return run(dynamics.stones_hash, self)

    def __repr__(self) -> str:
        abstract = is_traced(self) or not all(hasattr(x, "shape") for x in jax.tree.leaves(self))
        elsewhere = not abstract and not all(x.is_fully_addressable for x in jax.tree.leaves(self) if isinstance(x, jax.Array))
        if abstract or elsewhere or self.to_play.ndim != 1:
            return f"Position(size={self.size}, to_play={self.to_play})"
        head = f"Position: {self.batch} of size {self.size}x{self.size}"
        held = jax.device_get(self)  # and no program is run: debuggers show positions wherever they stand
        shown = [held._diagram(i) for i in range(min(self.batch, 3))]
        rest = [] if self.batch <= 3 else [f"... and {self.batch - 3} more"]
        return "\n".join([head, *shown, *rest])

    def _diagram(self, i: int) -> str:
        g = geometry(self.size)
        black, white = (
            np.array([word[i] for word in board])[g.word_of_point] >> g.bit_of_point & 1 for board in (self.black, self.white)
        )
        rows = [" ".join(".XO"[s] for s in row) for row in (black + 2 * white).reshape(self.size, self.size)]
        facts = [f"{'Black' if int(self.to_play[i]) == BLACK else 'White'} (X is Black) to play"]
        facts += [f"ko at {int(self.ko[i])}"] if int(self.ko[i]) != NO_KO else []
        facts += [f"passes {int(self.passes[i])}"] if int(self.passes[i]) else []
        return "\n".join([*rows, ", ".join(facts)])


def _make(stones: np.ndarray, to_play, ko, passes) -> Position:
    """A position from checked arguments."""
    batch, size = stones.shape[:2]
    black, white = (of_points(geometry(size), stones.reshape(batch, -1) == colour) for colour in (BLACK, WHITE))
    numbers = ((to_play, np.int8), (ko, np.int16), (passes, np.int8))
    to_play, ko, passes = (np.broadcast_to(x, batch).astype(dtype) for x, dtype in numbers)
    return jax.device_put(Position(black, white, to_play, ko, passes, size))


def check_position(position: object) -> None:
    """TypeError unless it is a `Position`."""
    if not isinstance(position, Position):
        raise TypeError(f"position must be a jaxgo.Position, not {type(position).__name__}")
