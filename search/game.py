"""A game: positions in order, with positional superko, undo, and the hashes that a search needs to know."""

import collections
from collections.abc import Sequence

import jax
import numpy as np

from jaxgo import BLACK, WHITE, Position
from jaxgo.base import checks
from jaxgo.board import host_moves
from jaxgo.board.coordinates import coordinate
from jaxgo.board.dynamics import is_traced
from jaxgo.board.position import check_position
from jaxgo.records.record import GameRecord
from search.replay import IllegalMove as IllegalMove
from search.replay import replay, turned

#: Plays that one call of the device looks at for repetitions, at most.
BLOCK = 4096
#: Colours by the names that programs send, in lower case.
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


class Game:
    """A game in progress.

    The rules are jaxgo's, and positional superko: no play may repeat an earlier position of the game. A move that another program
    has played all the same can be taken: many know simple ko alone, and the game has gone on. Either colour may move at any time,
    as clients want; the position then counts as theirs to play.

    Args:
      position: where it begins, one position.
      komi: points that White gets.
      earlier: hashes of positions before it that superko forbids to repeat, as `hash_numbers` takes them.
    """

    def __init__(self, position: Position, komi: float = 7.5, earlier=None):
        check_one_position(position, may_be_over=True)
        self.komi = checks.komi(komi)
        self.positions = [position]
        self.moves: list[tuple[int, int]] = []
        """(colour, point) of each move, P for a pass."""
        self._hashes = np.array(position.hash())  # of the positions in order, and room for more
        before = hash_numbers(earlier, "earlier")
        self._before = np.stack([before >> np.uint64(32), before & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
        self._seen = collections.Counter(before.tolist())
        self._seen.update(hash_numbers(self._hashes).tolist())

    @classmethod
    def of_record(cls, record: GameRecord, moves: int, komi: float) -> "Game":
        """The game of a record after so many moves, with all that led there.

        Raises:
          ValueError: the record holds no such game, or not so many moves.
        """
        checks.integer("moves", moves, 0, len(record.moves))
        positions = record.until(moves).positions()  # what comes later may be illegal
        game, hashes = cls(positions[0], komi), np.asarray(positions.hash())
        for number, move in enumerate(record.moves[:moves], start=1):
            game._add(positions[number], hashes[number], move)
        return game

    @property
    def position(self) -> Position:
        """The position now."""
        return self.positions[-1]

    @property
    def size(self) -> int:
        """N."""
        return self.position.size

    @property
    def to_play(self) -> int:
        """1 Black, -1 White."""
        return int(np.asarray(self.position.to_play)[0])

    @property
    def over(self) -> bool:
        """Whether two passes have ended the game."""
        return bool(np.asarray(self.position.passes)[0] >= 2)

    @property
    def history(self) -> np.ndarray:
        """uint32 [n, 2]: hashes of the earlier positions, those before the game's first included."""
        earlier = self._hashes[: len(self.moves)]
        if len(self._before):
            earlier = np.concatenate([self._before, earlier])
        earlier.flags.writeable = False
        return earlier

    def score(self) -> float:
        """Black's area minus White's and komi, of the board as it stands."""
        return int(np.asarray(self.position.score())[0]) - self.komi

    def turn(self, colour: int) -> Position:
        """The position with this colour to move; see `turn`."""
        return turn(self.position, colour)

    def play(self, point: int, colour: int | None = None, *, tolerant: bool = False) -> bool:
        """Plays a move, P for a pass, of a colour, by default the one to move.

        Args:
          point: where.
          colour: whose; after two passes only a colour that is named plays on.
          tolerant: whether to take a move that repeats an earlier position. What no rules allow is refused all the same: a point
            that is taken, suicide (no rules here allow it), and to retake a simple ko at once.

        Returns:
          Whether the move repeats an earlier position.

        Raises:
          IllegalMove: the move is illegal, or repeats an earlier position where that is not tolerated.
          TypeError: the point is no integer.
        """
        passing = self.size**2
        try:
            point = checks.integer("point", point, 0, passing)
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        if colour is None and self.over:
            raise IllegalMove(f"{coordinate(point, self.size)} is illegal: the game is over", "the game is over")
        if colour is not None:
            checks.one_of("colour", colour, (BLACK, WHITE))
        mover = self.to_play if colour is None else colour
        after, (after_hash,) = replay(self.position, ((mover, point),))
        repeats = point != passing and bool(self._seen[_number(after_hash)])
        if repeats and not tolerant:
            raise IllegalMove(f"{coordinate(point, self.size)} repeats an earlier position (positional superko)")
        self._add(after, after_hash, (mover, point))
        return repeats

    def undo(self) -> None:
        """Takes the last move back.

        Raises:
          ValueError: there is none.
        """
        if not self.moves:
            raise ValueError("there is no move to take back")
        number = _number(self._hashes[len(self.moves)])
        self._seen[number] -= 1
        if not self._seen[number]:
            del self._seen[number]
        self.positions.pop()
        self.moves.pop()
        self._hashes = self._hashes[: len(self.positions)].copy()  # `history` has shown the array

    def _add(self, after: Position, after_hash: np.ndarray, move: tuple[int, int]) -> None:
        self.positions.append(after)
        self.moves.append(move)
        if len(self.moves) == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
        self._hashes[len(self.moves)] = after_hash
        self._seen[_number(after_hash)] += 1


def repeating(positions: Position, among: np.ndarray, seen: Sequence[np.ndarray]) -> np.ndarray:
    """bool [B, P]: those of the legal points `among` (likewise) where a play leads to a position that has been seen.

    Args:
      positions: B positions.
      among: where to look.
      seen: uint64 [n] for each, hashes of what its game has seen, see `hash_numbers`.
    """
    rows, points = np.nonzero(among)
    # Padded, so that a few compiled shapes serve.
    room = among.shape[1] if len(among) == 1 else -(-len(rows) // BLOCK) * BLOCK
    of_rows, plays = np.zeros(room, np.int64), np.full(room, among.shape[1])
    of_rows[: len(rows)], plays[: len(rows)] = rows, points
    held, after = jax.device_get(positions), np.empty(room, np.uint64)
    for part in (slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)):
        after[part] = hash_numbers(held[of_rows[part]].play(plays[part], check=False).hash())
    out = np.zeros(among.shape, np.bool_)
    for i in np.flatnonzero(np.isin(after[: len(rows)], np.concatenate(seen))):  # which another game may have seen
        out[rows[i], points[i]] = after[i] in seen[rows[i]]
    return out


def legal_moves(position: Position, history) -> np.ndarray:
    """bool [P + 1]: where the player to move may play, superko counted; the last is the pass.

    Args:
      position: one position.
      history: hashes of its game's earlier positions, as `hash_numbers` takes them.

    On the host, as `search.replay` has it: programs ask while the device plays.
    """
    size, place = position.size, host_moves.place_of(position)
    if place.passes >= 2:
        return np.zeros(size * size + 1, np.bool_)
    seen = {place.hash, *hash_numbers(history).tolist()}
    tried = (host_moves.play(size, place, place.to_play, point) for point in range(size * size))
    return np.array([*(not fault and after.hash not in seen for after, fault in tried), True])


def seen_by(positions: Position, histories: Sequence) -> list[np.ndarray]:
    """uint64 [n] for each of B positions: the hashes of its own and of its game's earlier ones, as `hash_numbers` takes them."""
    return [np.append(hash_numbers(history), own) for history, own in zip(histories, hash_numbers(positions.hash()))]


def turn(position: Position, colour: int) -> Position:
    """One position with a colour to move, which goes on after two passes. A ko binds only the player it was set against."""
    checks.one_of("colour", colour, (BLACK, WHITE))
    if colour == int(np.asarray(position.to_play)[0]) and np.asarray(position.passes)[0] < 2:
        return position
    return turned(position, np.full_like(position.to_play, colour))


def _number(one_hash: np.ndarray) -> int:
    return int(one_hash[0]) << 32 | int(one_hash[1])


def hash_numbers(hashes, name: str = "history") -> np.ndarray:
    """uint64 [n] of the hashes of a game's earlier positions: uint32 [n, 2] as `Position.hash` gives them, the upper half first,
    uint64 [n] as `LeafResults.hash`, or None for none.

    `name` is the argument's, for what is raised.

    Raises:
      TypeError, ValueError: another type or shape.
    """
    if hashes is None:
        return np.empty(0, np.uint64)
    wanted = "hashes of positions (see Position.hash), uint32 [n, 2] or uint64 [n]"
    try:
        hashes = np.asarray(hashes)
    except (TypeError, ValueError):  # such as positions
        what = type(hashes[0] if isinstance(hashes, (list, tuple)) and hashes else hashes).__name__
        raise TypeError(f"{name} must be {wanted}, not {what}") from None
    if not hashes.size and hashes.dtype != object:  # an empty list is of floats
        return np.empty(0, np.uint64)
    if hashes.dtype == np.uint64 and hashes.ndim == 1:
        return hashes
    if hashes.ndim != 2 or hashes.shape[1] != 2 or hashes.dtype != np.uint32:
        raise ValueError(f"{name} must be {wanted}, not {hashes.dtype} {list(hashes.shape)}")
    return hashes[:, 0].astype(np.uint64) << np.uint64(32) | hashes[:, 1]


def check_one_position(position, may_be_over: bool = False) -> None:
    """TypeError or ValueError unless it is one position, and not over, where it may not be."""
    check_position(position)
    if is_traced(position):
        raise TypeError("position must have values: it cannot be searched inside jit, vmap and their kin")
    if position.batch != 1:
        raise ValueError(f"position must be one position, not a batch of {position.batch}")
    if not may_be_over and np.asarray(position.passes)[0] >= 2:
        raise ValueError("position must not be over, but two passes have ended the game")
