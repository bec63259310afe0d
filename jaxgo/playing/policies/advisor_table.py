"""What an advisor has learned: a bandit over moves in contexts, as a pytree that can be saved."""

import os
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks, saved
from jaxgo.base.constants import INT32_MAX
from jaxgo.board import bitboard as bb
from jaxgo.board import rules
from jaxgo.board.bitboard import points_of
from jaxgo.board.dynamics import is_over, is_traced, ko_board, own_and_opp, run
from jaxgo.board.position import Position, check_position

if TYPE_CHECKING:
    from jaxgo.results.playouts import Playouts

#: What a move's value depends on besides its colour and point: nothing, or the move before.
CONTEXTS = ("point", "previous")
#: The form of saved tables.
FORMAT = 1
#: Urgencies are told apart in steps of this size, coarser than what two machines' logarithms differ by.
STEP = 2.0**-20

#: A last move that is not known.
NO_MOVE = -1


class AdvisorTable:
    """How often each move was played in each context, and with what results. Immutable; a pytree.

    A table for boards of `size` x `size` points, P = size**2, that knows nothing yet, or what is given.

    Args:
      size: N, from 2 to 25.
      context: what a move's value depends on besides its colour and point: the move before ("previous") or nothing ("point").
      visits, results: the attributes, arrays of numpy, both or neither; `results` are at most twice the `visits`.

    Attributes:
      visits: int32 [2, C, P]: how often Black (0) or White (1) played a point in a context: of "previous" the point of the move
        before (C = P + 1), P for a pass or a playout's first move; of "point" there is one.
      results: int32 [2, C, P]: that player's wins in the playouts in question, in halves.
      size: N.
      context: as given.

    Raises:
      TypeError, ValueError: an argument is not what it must be.
    """

    visits: Any
    results: Any
    size: int
    context: str

    def __init__(self, size: int, context: str = "previous", *, visits: Any = None, results: Any = None):
        checks.one_of("context", context, CONTEXTS)
        size = checks.size(size)
        shape = 2, size**2 + 1 if context == "previous" else 1, size**2
        if (visits is None) != (results is None):
            raise TypeError(f"visits and results must be given together, not {'results' if visits is None else 'visits'} alone")
        if visits is None:
            visits = results = np.zeros(shape, np.int32)
        counts = ("visits", visits), ("results", results)
        visits, results = (checks.integers(name, x, shape, 0, INT32_MAX) for name, x in counts)
        if (results - visits > visits).any():
            raise ValueError("results must be at most twice the visits, as they are in halves")
        self.size, self.context, self.visits, self.results = size, context, visits, results

    @classmethod
    def _of(cls, facts: tuple[int, str], arrays: tuple[Any, Any]) -> "AdvisorTable":
        """A table of arrays that may be anything, as those of pytrees may."""
        table = object.__new__(cls)
        (table.size, table.context), (table.visits, table.results) = facts, arrays
        return table

    def update(self, playouts: "Playouts", position: Position, *, komi: ArrayLike = 7.5) -> "AdvisorTable":
        """The table after it has learned from playouts, of both colours and all plies, on the device.

        Args:
          playouts: with moves, of `jaxgo.playouts(..., moves=True)` or `jaxgo.simulate`; whichever policy was asked.
          position: the B positions that they are from.
          komi: points that White gets; a finite number, or B of them.

        Raises:
          TypeError, ValueError: playouts without moves, or of another size or number of positions; or a move would have more
            than 2**30 wins, beyond what is counted.
        """
        from jaxgo.results.learning import counted

        visits, results = counted(self, playouts, position, komi)
        if not is_traced(visits):
            _check_counts(visits, results)
        return self._of((self.size, self.context), (visits, results))

    def enter_tactics(self, position: Position, *, last_moves: ArrayLike = NO_MOVE, visits: int = 10) -> "AdvisorTable":
        """The table with the tactical moves of positions entered: those of the player to move that capture, and those after which
        a chain of his that was in atari has two liberties or more, as if each had been played and won `visits` times.

        Args:
          position: B positions.
          last_moves: the moves before, integers [B] or one for all: a point, P for a pass, -1 where it is not known.
          visits: how much they count, 1 to 2**20.

        Raises:
          TypeError, ValueError: an argument is not what it must be, or beyond what is counted, as for `update`.
        """
        check_position(position)
        if position.size != self.size:
            raise ValueError(f"position must be of size {self.size}, as the table is, not {position.size}")
        visits, points = checks.integer("visits", visits, 1, 1 << 20), self.size**2
        last = checks.integers("last_moves", last_moves, (position.batch,), NO_MOVE, points)
        found = jax.device_get(run(tactical, position))
        colour = (np.asarray(position.to_play) < 0).astype(np.int32)
        context = np.where(last < 0, points, last) if self.context == "previous" else np.zeros_like(last)
        more = np.zeros(self.visits.shape, np.int64)
        np.add.at(more, (colour, context), found * np.int64(visits))
        counts = np.asarray(self.visits) + more, np.asarray(self.results) + 2 * more
        _check_counts(*counts)
        return self._of((self.size, self.context), (counts[0].astype(np.int32), counts[1].astype(np.int32)))

    @property
    def value(self) -> np.ndarray:
        """float64 [2, C, P] in [0, 1]: each move's mean result for the player who makes it; NaN where it was never played."""
        visits = np.asarray(self.visits)
        return np.where(visits, np.asarray(self.results) / 2, np.nan) / np.maximum(visits, 1)

    def urgency(self, exploration: float) -> np.ndarray:
        """float64 [2, C, P]: value + exploration * sqrt(ln(all visits of the context) / visits); infinite for moves that were
        never played in a context that was met, and minus infinity in one that never was."""
        visits = np.asarray(self.visits, np.float64)
        used = visits.sum(axis=-1, keepdims=True)
        term = np.sqrt(np.log(np.maximum(used, 1.0)) / np.maximum(visits, 1.0))
        urgency = np.where(visits, np.nan_to_num(self.value) + exploration * term, np.inf)
        return np.where(used, urgency, -np.inf)

    def levels(self, exploration: float, suggestions: int) -> np.ndarray:
        """int32 [2, C, P]: `suggestions` for the most urgent moves of a context, one less for the next, and so on down to 0 for
        all others, and in a context that was never met. Moves that are as urgent as each other share a level."""
        urgency = self.urgency(exploration)
        steps = np.where(np.isfinite(urgency), np.round(np.nan_to_num(urgency, posinf=0.0, neginf=0.0) / STEP), urgency)
        order = np.argsort(-steps, axis=-1, kind="stable")
        falling = np.take_along_axis(steps, order, axis=-1)
        above = np.zeros(steps.shape, np.int32)
        above[..., 1:] = np.cumsum(falling[..., 1:] != falling[..., :-1], axis=-1)
        levels = np.empty(steps.shape, np.int32)
        np.put_along_axis(levels, order, np.maximum(np.int32(suggestions) - above, 0), axis=-1)
        return np.where(np.isneginf(urgency), np.int32(0), levels)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the table to a file, in numpy's npz format; `AdvisorTable.load` reads it."""
        facts = saved.facts("jaxgo_advisor", FORMAT, size=self.size, context=self.context)
        saved.write(path, {**facts, "visits": np.asarray(self.visits), "results": np.asarray(self.results)})

    @classmethod
    def load(cls, path: str | os.PathLike) -> "AdvisorTable":
        """Reads what `save` has written.

        Raises:
          ValueError: the file holds no table, or one of a newer format.
          OSError: the file cannot be read.
        """
        facts, arrays = saved.read(path, "jaxgo_advisor", FORMAT, "AdvisorTable.save")
        with saved.blamed_on(path, "AdvisorTable.save"):
            return cls(facts["size"], facts["context"], visits=arrays["visits"], results=arrays["results"])

    def __repr__(self) -> str:
        if is_traced(self.visits):
            return f"AdvisorTable({self.size}, {self.context!r})"
        return f"AdvisorTable({self.size}, {self.context!r}): {np.asarray(self.visits).sum(dtype=np.int64):,} moves learned"


jax.tree_util.register_pytree_node(AdvisorTable, lambda x: ((x.visits, x.results), (x.size, x.context)), AdvisorTable._of)


def _check_counts(*counts) -> None:
    """ValueError where counts do not fit a table, or have gone beyond it."""
    ends = jax.device_get([(x.min(), x.max()) for x in counts])
    if any(least < 0 or most > INT32_MAX for least, most in ends):
        raise ValueError("the table holds as many playouts as it can count: a move may have 2**30 wins")


def tactical(position: Position) -> jax.Array:
    """bool [B, P]: the legal moves that capture, or that give a chain in atari two liberties or more."""
    g = position.geometry
    own, opp = own_and_opp(position)
    free = rules.out_of_atari(g, own, opp)
    legal = points_of(g, rules.legal_points(g, own, opp, ko_board(g, position.ko), free))
    beside = points_of(g, bb.neighbours(g, bb.without(opp, free)))
    # Each point's stone on a board of its own, [P, B].
    shape = (g.num_points, *own[0].shape)
    stones = bb.of_points(g, np.eye(g.num_points, dtype=bool))
    stone = tuple(jnp.broadcast_to(jnp.asarray(word)[:, None], shape) for word in stones)
    mine, theirs, weak = (tuple(jnp.broadcast_to(word, shape) for word in board) for board in (own, opp, bb.without(own, free)))
    mine, theirs, _ = rules.play(g, mine, theirs, stone)
    in_atari = bb.both(bb.neighbours(g, stone), weak)
    saved = bb.any_point(bb.both(in_atari, rules.out_of_atari(g, mine, theirs)))
    return legal & ~is_over(position)[:, None] & (beside | saved.T)
