"""What a tree search asks of the device: play a move in each of many positions, then playouts from what results.

`Leaves` is the backend of jaxgo's own tree search, and of any other program that keeps its tree on the host: the host holds
positions as the device returned them, and never needs rules of its own.
"""

import dataclasses
import time
from collections.abc import Sequence
from typing import Self

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxgo.backends.choice import workers_of
from jaxgo.base import checks, threads
from jaxgo.base.constants import BLACK, INT32_MAX, NO_KO, STAY
from jaxgo.base.promise import Promise
from jaxgo.board.geometry import geometry
from jaxgo.board.position import Position, check_position
from jaxgo.playing.policies.in_order import Policies, policy_of
from jaxgo.playing.policies.policy import PolicyForm
from jaxgo.playing.wire import columns_of
from jaxgo.results import outcome
from jaxgo.running import leaf_columns
from jaxgo.running.leaf_results import LeafResults as LeafResults
from jaxgo.running.leaf_results import Room, Rows, found
from jaxgo.running.request import Devices, Seed, seed_words
from jaxgo.running.ring_program import Shape
from jaxgo.running.rings import Rings

#: Leaves of a call, playouts of a leaf (their sums in halves are int16), and playouts of a call, at most: their records lie on
#: the device, three calls at a time.
MOST_LEAVES, MOST_OF_A_LEAF, MOST_PLAYOUTS = 1 << 16, 16_000, 1 << 24
#: Playouts under way are few where they are no more than so many for each of the lanes that are for few; rings for few are worth
#: compiling where they have no more than such a part of the others' lanes.
FEW, WORTH = 24, 0.5
#: Seconds after which fewer playouts go to those for few again.
STAY_WITH_MANY = 0.02


class Leaves:
    """Plays leaves of a tree on the devices, several calls at a time.

    The workers are all cores of the CPU, or the devices. A call is spread over them, on CPUs in parts that are worth a step: of
    1,024 playouts where cores have work already, of some 80 on 9x9 where they have none. They work on several calls at a time,
    so that none waits for the longest game of a call while another is there (`jaxgo.running.ring`). A program that keeps three
    calls under way, on CPUs of some 3,000 playouts for each core together, has all workers busy; further ones wait in line.
    Where few are under way CPUs play on fewer lanes, so that these are sooner back.
    Results do not depend on how leaves are spread.

    Args:
      size: N, 2 to 25.
      leaves: the most leaves of a call, 1 to 65,536.
      playouts: K, playouts from each leaf, 1 to 16,000; leaves times playouts are at most 2**24.
      komi: points that White gets, where a call does not say.
      seed: an int in [0, 2**64), or a jax key; likewise.
      moves: whether to return the moves of every playout.
      policy: whom playouts ask for their moves, as in `jaxgo.playouts`; the move to a leaf is the last move that they know.
      devices: as in `jaxgo.playouts`, but of this process alone.
    """

    def __init__(
        self, size: int, leaves: int, playouts: int, *, komi: float = 7.5, seed: Seed = 0, moves: bool = False,
        policy: Policies = None, devices: Devices = None,
    ):  # fmt: skip
        self.size = checks.size(size)
        self.leaves = checks.integer("leaves", leaves, 1, MOST_LEAVES)
        self.playouts = checks.integer("playouts", playouts, 1, MOST_OF_A_LEAF)
        checks.integer("leaves times playouts", self.leaves * self.playouts, 1, MOST_PLAYOUTS)
        self.komi = checks.komi(komi)
        self.moves = checks.boolean("moves", moves)
        self._seed = seed_words(seed)
        workers = workers_of(devices)
        form, arrays = _form_of(policy, self.size)
        self._shape = Shape(self.size, self.leaves, self.playouts, self.moves, form)
        self._bounds = outcome.bounds(self.komi, self.size**2)
        self._workers, self._busy = workers, 0.0
        self._begin_with(arrays)
        self._own = object()
        """What their calls are known by, which hold them no longer than others do."""

    def _begin_with(self, arrays: Sequence[np.ndarray]) -> None:
        """Has rings that ask a policy of these arrays."""
        self._rings = Rings(self._shape, self._workers, arrays)
        few = Rings(dataclasses.replace(self._shape, few=True), self._workers, arrays)
        self._few = few if few.lanes <= WORTH * self._rings.lanes and few.lanes else None
        """Those for few playouts under way, where they are worth it."""
        self._many_until = 0.0

    @property
    def _all_rings(self) -> list[Rings]:
        return [self._rings] if self._few is None else [self._rings, self._few]

    def _rings_for(self, count: int) -> Rings:
        """Those that play so many leaves more. After many they stay with those for many for a while: side by side both would have
        to share the cores."""
        many, few, now = self._rings, self._few, time.monotonic()
        if few is None:
            return many
        are_few = few.under_way + count * self.playouts <= FEW * few.lanes * len(few.rings)
        if are_few and now > self._many_until and not many.under_way:
            many.rest()
            return few
        self._many_until = now + STAY_WITH_MANY
        few.rest()
        return many

    @property
    def num_workers(self) -> int:
        """Cores or devices that work."""
        return len(self._rings.rings)

    @property
    def busy_seconds(self) -> float:
        """Seconds that they have worked, all together; of calls that `play_by` found under way, until then."""
        return self._busy + sum(ring.busy for rings in self._all_rings for ring in rings.rings)

    def compile(self) -> None:
        """Compiles for this shape now, so that no later call has to."""
        compiling = [threads.begin(rings.compile) for rings in self._all_rings]
        for each in compiling:
            each.result()

    def play_by(self, policy: Policies) -> None:
        """Has the playouts of later calls ask another policy; calls that have not begun are dropped.

        Args:
          policy: of the same form as the one until now, such as `Advisor` with another table: nothing is compiled anew.

        Raises:
          TypeError, ValueError: it is of another form.
          RuntimeError: they are closed.
        """
        self._rings.check_open()
        form, arrays = _form_of(policy, self.size)
        if form != self._shape.policy:
            raise ValueError(f"policy must be of the same form as the one that was given to Leaves, not {policy!r}")
        self._busy = self.busy_seconds
        self.close()
        self._begin_with(arrays)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker threads; calls that have not begun are dropped. So does the end of a `with`."""
        for rings in self._all_rings:
            rings.close()

    @staticmethod
    def arguments_of(position: Position) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(words, ko, passes, black) of positions, as `submit` takes them."""
        check_position(position)
        held = jax.device_get(position)
        words = columns_of(held, np.zeros(held.batch, np.int32))[:-4]
        return np.stack(words, axis=1), held.ko, held.passes, held.to_play == BLACK

    def submit(
        self, words: np.ndarray, ko: ArrayLike, passes: ArrayLike, black: ArrayLike, moves: Sequence[int] | np.ndarray,
        streams: ArrayLike, *, komi: ArrayLike | None = None, seed: int | None = None,
    ) -> "Call":  # fmt: skip
        """Begins a call; `gather` waits for its results.

        Args:
          words: uint32 [n, 2 W], the stones of the player to move and the other's, as in `LeafResults.words`; n at most `leaves`.
          ko: int [n], point or -1.
          passes: int [n], passes in a row before the position, 0 to 2.
          black: bool [n], whether Black is to move.
          moves: int [n], the point to play (legal: that is not checked), P for a pass, or STAY.
          streams: int [n], the random stream of each leaf, from 0.
          komi: of all leaves, or float [n]; by default the one given to `Leaves`. The playouts do not depend on it.
          seed: of this call, an int in [0, 2**64); by default the one given to `Leaves`.

        Raises:
          TypeError, ValueError: an argument is not what it must be; nothing is begun then.
          RuntimeError: `close` has been called.
        """
        moves = np.asarray(moves)
        if moves.ndim != 1:
            raise TypeError(f"moves must be integers of shape [n], not of shape {moves.shape}")
        count, points = checks.integer("the number of leaves", len(moves), 1, self.leaves), self.size**2
        words, num_words = np.asarray(words), 2 * geometry(self.size).num_words
        if words.dtype != np.uint32 or words.shape != (count, num_words):
            raise ValueError(f"words must be uint32 of shape {(count, num_words)}, not {words.dtype} of {words.shape}")
        numbers = [
            checks.integers(name, x, (count,), least, most)
            for name, x, least, most in (
                ("ko", ko, NO_KO, points - 1), ("passes", passes, 0, 2), ("streams", streams, 0, INT32_MAX),
                ("moves", moves, STAY, points),
            )
        ]  # fmt: skip
        numbers.insert(leaf_columns.BLACK, checks.bools("black", black, (count,)))
        bounds = self._bounds if komi is None else outcome.bounds(checks.komis(komi, count), points)
        key = self._seed if seed is None else seed_words(checks.integer("seed", seed, 0, 2**64 - 1))
        columns = np.empty((self._shape.num_columns, count), np.uint32)
        columns[:num_words] = words.T
        of_leaves = columns[num_words:].view(np.int32)
        for row, values in zip(of_leaves, (*numbers, *bounds.T)):
            row[...] = values
        for row, word in zip(columns[num_words + leaf_columns.SEED :], key):
            row[...] = word
        return self.begin(columns)

    def begin(self, columns: np.ndarray) -> "Call":
        """Begins a call whose columns the caller writes, as `jaxgo.running.leaf_columns` says: what `submit` does with checked
        arguments, for programs that ask for many leaves a second. What stands in them is not checked.

        Args:
          columns: uint32 [rows, n], n at most `leaves`; not to be written to until the call is finished. Each leaf has its own
            komi and seed.

        Raises:
          ValueError: they are of another type or shape; nothing is begun then.
          RuntimeError: `close` has been called.
        """
        if not isinstance(columns, np.ndarray):
            raise ValueError(f"columns must be a numpy array of uint32, not {type(columns).__name__}")
        rows, count = self._shape.num_columns, columns.shape[-1] if columns.ndim else 0
        if columns.dtype != np.uint32 or columns.shape != (rows, count) or not 1 <= count <= self.leaves:
            wanted = f"uint32 of {rows} rows for 1 to {self.leaves} leaves"
            raise ValueError(f"columns must be {wanted}, not {columns.dtype} of shape {columns.shape}")
        rings = self._rings_for(count)
        parts, room = rings.parts_for(count), Room.of(self.size, count, self.playouts if self.moves else 0)
        if parts == 1:
            return Call(room, rings.submit([(columns, room)]), self._own)
        ends = [count * i // parts for i in range(parts + 1)]
        rooms = [(columns[:, a:b], room.part(a, b)) for a, b in zip(ends, ends[1:])]
        return Call(room, rings.submit(rooms), self._own)

    def done(self, call: "Call") -> bool:
        """Whether a call is finished, or has been taken back: by `drop`, `close`, `play_by`."""
        return all(part.done for part in self._parts_of(call))

    def wait(self, call: "Call", seconds: float) -> bool:
        """Waits a while for a call; whether it is finished, or has been taken back."""
        parts, end = self._parts_of(call), time.monotonic() + checks.number("seconds", seconds, 0)
        return all(part.wait(end - time.monotonic()) for part in parts)

    def drop(self, call: "Call") -> None:
        """Takes back a call whose results nobody wants any more, as far as it has not begun."""
        for part in self._parts_of(call):
            part.take_back()

    def gather(self, call: "Call") -> LeafResults:
        """The results of a call, in the order of its leaves; waits for them.

        Raises:
          concurrent.futures.CancelledError: it has been taken back.
        """
        return found(self.size, self.rows(call))

    def rows(self, call: "Call") -> Rows:
        """The same as they come from the device, for programs that read them themselves."""
        for part in self._parts_of(call):
            part.result()
        return call.room.rows

    def _parts_of(self, call: "Call") -> Sequence[Promise[None]]:
        """What a call consists of; TypeError or ValueError unless it is one of these leaves."""
        if not isinstance(call, Call):
            raise TypeError(f"call must be what submit has returned, not {type(call).__name__}")
        if call.owner is not self._own:
            raise ValueError("call must be of these Leaves, not of others")
        return call.parts


def _form_of(policy: Policies, size: int) -> tuple[PolicyForm | None, list[np.ndarray]]:
    """What programs are compiled for, and the arrays that they take."""
    asked = policy_of(policy, size)
    return (None, []) if asked is None else (PolicyForm.of(asked), jax.device_get(jax.tree.leaves(asked)))


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """Leaves that `Leaves` is playing; its attributes are the library's own."""

    room: Room
    parts: Sequence[Promise[None]]
    owner: object
