"""A game: positions in order, with positional superko, undo, and the hashes that a search needs to know."""

import dataclasses

import numpy as np

from jaxgo import Position, checks
from jaxgo.position import BLACK, NO_KO
from jaxgo.sgf import format_point


class IllegalMove(ValueError):
    """A move that the rules forbid; the text says why."""


class Game:
    """A game in progress.

    The rules are jaxgo's, and positional superko: no play may repeat an earlier position of the game. Either colour may move
    at any time, as clients want; the position then counts as theirs to play.

    Args:
      position: where it begins, one position.
      komi: points that White gets.
    """

    def __init__(self, position: Position, komi: float = 7.5):
        if position.batch != 1:
            raise ValueError(f"position must be one position, not a batch of {position.batch}")
        self.komi = checks.komi(komi)
        self.positions = [position]
        self.hashes = [np.asarray(position.hash())[0]]
        self.moves: list[tuple[int, int]] = []
        """(colour, point) of each move, P for a pass."""

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
        return bool(np.asarray(self.position.is_over())[0])

    @property
    def history(self) -> np.ndarray:
        """uint32 [n, 2]: hashes of the earlier positions."""
        return np.stack(self.hashes[:-1]) if self.moves else np.empty((0, 2), np.uint32)

    def score(self) -> float:
        """Black's area minus White's and komi, of the board as it stands."""
        return int(np.asarray(self.position.score())[0]) - self.komi

    def turn(self, colour: int) -> Position:
        """The position with this colour to move. A ko binds only the player whom it was set against."""
        position = self.position
        if colour == self.to_play:
            return position
        checks.one_of("colour", colour, (BLACK, -BLACK))
        passes = np.minimum(np.asarray(position.passes), np.int8(1))  # a colour that is told to move goes on after two passes
        return dataclasses.replace(position, to_play=-position.to_play, ko=np.full_like(position.ko, NO_KO), passes=passes)

    def forbidden(self, position: Position | None = None) -> np.ndarray:
        """bool [P]: legal points that positional superko forbids to the player to move."""
        position = self.position if position is None else position
        points = position.size**2
        legal = np.flatnonzero(np.asarray(position.legal())[0, :points])
        out = np.zeros(points, np.bool_)
        if len(legal):
            moves = np.full(points, points)  # padded with passes, so that one compiled shape serves
            moves[: len(legal)] = legal
            after = np.asarray(position[np.zeros(points, np.int64)].play(moves).hash())[: len(legal)]
            out[legal] = np.isin(hash_numbers(after), hash_numbers(np.stack(self.hashes)))
        return out

    def play(self, point: int, colour: int | None = None) -> None:
        """Plays a move, P for a pass, of a colour, by default the one to move.

        Raises:
          IllegalMove: the move is illegal, or repeats an earlier position.
        """
        before = self.position if colour is None else self.turn(colour)
        mover = int(np.asarray(before.to_play)[0])
        try:
            after = before.play(np.array([point]))
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        after_hash = np.asarray(after.hash())[0]
        if point != self.size**2 and any((after_hash == h).all() for h in self.hashes):
            raise IllegalMove(f"{format_point(point, self.size)} repeats an earlier position (positional superko)")
        self.positions.append(after)
        self.hashes.append(after_hash)
        self.moves.append((mover, point))

    def undo(self) -> None:
        """Takes the last move back.

        Raises:
          ValueError: there is none.
        """
        if not self.moves:
            raise ValueError("there is no move to take back")
        for line in (self.positions, self.hashes, self.moves):
            line.pop()


def hash_numbers(hashes) -> np.ndarray:
    """uint64 [n] of the hashes of a game's earlier positions, uint32 [n, 2] as `Position.hash` gives them, or None for none.

    Raises:
      ValueError: another type or shape.
    """
    if hashes is None:
        return np.empty(0, np.uint64)
    hashes = np.asarray(hashes)
    if hashes.dtype == np.uint64 and hashes.ndim == 1:
        return hashes
    if hashes.ndim != 2 or hashes.shape[1] != 2 or hashes.dtype != np.uint32:
        raise ValueError(f"history must be hashes of positions, uint32 [n, 2], not {hashes.dtype} {list(hashes.shape)}")
    return hashes[:, 0].astype(np.uint64) << np.uint64(32) | hashes[:, 1]
