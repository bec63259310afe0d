"""Akimot's advisor: the move that has done best in its context so far."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.base import checks
from jaxgo.base.constants import MAX_SIZE
from jaxgo.board import bitboard as bb
from jaxgo.board.bitboard import Board
from jaxgo.board.dynamics import is_traced
from jaxgo.board.geometry import Geometry, geometry
from jaxgo.board.position import Position
from jaxgo.playing.asking import Preference
from jaxgo.playing.lanes import Lanes, Wants
from jaxgo.playing.policies.advisor_table import AdvisorTable
from jaxgo.playing.policies.policy import Policy, chance_of, probability_of

if TYPE_CHECKING:
    from jaxgo.results.playouts import Playouts


#: How many moves it has at hand in a context, where nobody says.
SUGGESTIONS = 7
#: More exploration than by which every difference between mean results is nothing would only overflow.
MOST_EXPLORATION = 1e6


class Advisor(Policy):
    """Plays, where it is asked, the most urgent of a table's suggestions that is legal and fills no own eye; of several that are
    as urgent, one at random. Where there is none it is passed over, as in a context that the table has never met.

    Akimot's advisor (an Arimaa program): a bandit over contexts, whose urgencies are mean results and an exploration term, moves
    that were never tried being first. The table stays as it is while playouts are played. It learns between batches:

        table = jaxgo.AdvisorTable(9)
        for seed in range(10):
            played = jaxgo.playouts(position, 10_000, moves=True, seed=seed, policy=jaxgo.Advisor(0.5, table))
            table = table.update(played, position, komi=7.5)

    Args:
      p: the probability that it is asked in a ply, 0 to 1.
      table: what it has learned, an `AdvisorTable`. A new one is not compiled for. Bots (`search.make_player`) may have
        none: they begin with an empty one, which learns from playouts of each position that they are to move in.
      exploration: the weight of the urgencies' visit term, from 0 to a million.
      suggestions: how many moves it has at hand in a context, from the most urgent on, 1 to P, by default 7; those as urgent as
        each other count once, and so do all that were never tried. More take longer: each doubling takes W words more to look up.

    A copy that jax has made, by `jax.tree.map` for example, plays as this does; it has no table to learn with.
    """

    ARRAYS = ("chance", "planes")
    STATIC = ("size", "context", "begins")

    def __init__(self, p: float, table: AdvisorTable | None = None, *, exploration: float = 0.1, suggestions: int | None = None):
        self.chance = chance_of("p", p)
        if not isinstance(table, (AdvisorTable, type(None))):
            raise TypeError(f"table must be a jaxgo.AdvisorTable, not {type(table).__name__}")
        exploration = checks.number("exploration", exploration, 0, MOST_EXPLORATION)
        points = table.size**2 if table else MAX_SIZE**2
        suggestions = min(SUGGESTIONS, points) if suggestions is None else checks.integer("suggestions", suggestions, 1, points)
        self._table, self._how = table, (exploration, suggestions)
        self.size: Any = None
        self.context: Any = None
        self.begins: Any = self._how
        if table is None:
            self.planes = None
            return
        if is_traced(table.visits):
            raise TypeError("table must have values: make the Advisor outside of jit, and hand it in")
        self.size, self.context, self.begins = table.size, table.context, None
        levels, g = table.levels(exploration, suggestions), geometry(table.size)
        bits = [bb.of_points(g, (levels >> bit & 1).astype(bool)) for bit in reversed(range(suggestions.bit_length()))]
        self.planes = np.stack([np.stack(board, axis=-1) for board in bits], axis=2)

    _table: AdvisorTable | None = None

    planes: Any
    """uint32 [2, C, K, W]: of each colour and context, the points whose level has a bit, the highest bit first."""

    @property
    def wants(self) -> Wants:
        """Who is to move, and the last move if it counts."""
        return Wants(last=self.context == "previous", colour=True)

    @property
    def learns(self) -> bool:
        """Where there is no table."""
        return self.size is None

    def begun(self, size: int) -> "Advisor":
        """With an empty table."""
        return self._with(AdvisorTable(size), *self.begins) if self.learns else self

    def learnt(self, playouts: "Playouts", position: Position, *, komi: ArrayLike = 7.5) -> "Advisor":
        """With what its table has learned then."""
        if self._table is None:
            raise ValueError("policy must have been made with a table to learn: jaxgo.Advisor(p, table), and be no copy of that")
        return self._with(self._table.update(playouts, position, komi=komi), *self._how)

    def _with(self, table: AdvisorTable, exploration: float, suggestions: int) -> "Advisor":
        made = Advisor(0.0, table, exploration=exploration, suggestions=min(suggestions, table.size**2))
        made.chance = self.chance
        return made

    def check(self, size: int) -> None:
        """Its table's."""
        if self.learns:
            raise ValueError("policy has an advisor without a table (TABLE.npz): only bots that play games teach it one")
        if size != self.size:
            raise ValueError(f"policy has an advisor's table for boards of size {self.size}, but the board is of size {size}")

    def typical(self) -> "Advisor":
        """With levels at random."""
        words = np.random.default_rng(self.size).integers(0, 1 << 32, self.planes.shape, np.uint32)
        return self.tree_unflatten((self.size, self.context, None), (chance_of("p", 0.5), words))

    def laid_out(self, g: Geometry) -> "Advisor":
        """With the words for each colour and last move, by bit index: K * W columns of them."""
        number = self.planes.shape[2]
        board = bb.relaid(tuple(jnp.moveaxis(self.planes, -1, 0)), geometry(self.size), g)
        rows = jnp.stack(board, axis=-1).reshape(2, -1, number * g.num_words)
        if self.context == "previous":
            context_of_index = np.full(g.pass_index + 1, g.num_points, np.int32)
            context_of_index[g.index_of_point] = np.arange(g.num_points + 1, dtype=np.int32)
            rows = rows[:, context_of_index]
        columns = tuple(rows.reshape(-1, number * g.num_words).T)
        return self.tree_unflatten((self.size, self.context, None), (self.chance, columns))

    def known(self, g: Geometry, lanes: Lanes, looks: bool) -> Any:
        """The chance, and the boards of the levels' bits in the lane's context."""
        memory = lanes.memory
        assert memory is not None and memory.black is not None
        if self.context == "point":  # whoever else may want the last move
            black = memory.black != np.int32(0)
            words = [jnp.where(black, column[0], column[1]) for column in self.planes]
        else:
            assert memory.last is not None
            row = (np.int32(1) - memory.black) * np.int32(self.planes[0].shape[0] // 2) + memory.last
            words = [column.at[row].get(mode="promise_in_bounds") for column in self.planes]
        boards = [tuple(words[i : i + g.num_words]) for i in range(0, len(words), g.num_words)]
        return super().known(g, lanes, looks), boards

    ranks = True

    def preferences(self, g: Geometry, lanes: Lanes, points: Board, known: Any, coin: int = 0) -> list[Preference]:
        """The points of the highest level, found bit by bit."""
        chance, planes = known
        best, advised = points, jnp.zeros_like(chance, bool)
        for plane in planes:
            upper = bb.both(best, plane)
            some = bb.any_point(upper)
            best, advised = bb.choose(some, upper, best), advised | some
        return [Preference(tuple(jnp.where(advised, x, g.word(0)) for x in best), chance, coin)]

    def __repr__(self) -> str:
        return self._named(p=probability_of(self.chance), size=self.size, context=self.context)

