"""What `jaxgo evaluate` is asked: games, and the positions of each."""

import argparse
import contextlib
import dataclasses
import pathlib
import sys

import jax
import numpy as np

from jaxgo.board.position import Position
from jaxgo.cli import UsageError
from jaxgo.records.files import Game, Unread, read_games, sgf_files
from jaxgo.records.record import GameRecord
from jaxgo.records.sgf import bytes_of

DEFAULT_KOMI = 7.5


@dataclasses.dataclass(frozen=True, eq=False)
class Asked:
    """A game, and the positions of it that are asked for."""

    name: str
    """The file's name, "" for the empty board."""
    source: pathlib.Path | bytes | None
    """The record, or where it is; None for the empty board."""
    record: GameRecord
    every: Position
    """All positions of the game, number k after k moves, on the host."""
    moves: tuple[int, ...]
    """The numbers of those asked for."""
    komi: float
    komi_source: str
    """Where it comes from: "file", "option" or "default"."""

    def repeats(self, numbers: np.ndarray, points: np.ndarray) -> np.ndarray:
        """bool [n]: whether a legal play after so many moves leads to an earlier position of the game (positional superko).

        Args:
          numbers: int [n], of moves.
          points: int [n], of the plays.
        """
        if not len(numbers):
            return np.zeros(0, np.bool_)
        seen = _as_one(self.every.hash())
        after = _as_one(jax.device_get(self.every[numbers].play(points)).hash())
        first = {number: place for place, number in reversed([*enumerate(seen.tolist())])}
        return np.array([first.get(one, number + 1) for one, number in zip(after.tolist(), numbers)]) <= numbers

    @property
    def positions(self) -> Position:
        """Those asked for."""
        return self.every[np.array(self.moves)]


def _as_one(hashes) -> np.ndarray:
    """uint64 [n] of the hashes of n positions."""
    high, low = np.asarray(hashes).astype(np.uint64).T
    return high << np.uint64(32) | low


def asked_of(args: argparse.Namespace) -> tuple[list[Asked], list[str]]:
    """The games that the command line names, and what could not be read, a sentence each.

    What is remarkable about a game is said on stderr.

    Raises:
      UsageError: nothing can be evaluated; or one game alone is asked about, and that cannot be.
    """
    if bool(args.files) == (args.size is not None):
        both = "give either game records or --size N for an empty board, not both"
        raise UsageError(both if args.files else "give a game record, or --size N for an empty board")
    if args.size is not None:
        empty = Game("", GameRecord(size=args.size, moves=()), Position.empty(args.size))
        return [_asked(args, empty, None)], []
    try:
        files = sgf_files(args.files)
    except ValueError as error:
        raise UsageError(str(error)) from error
    sources = [("stdin", sys.stdin.buffer.read()) if file == "-" else (file, _source(file, args)) for file in files]
    games, left_out = [], []
    for (_, source), found in zip(sources, read_games(sources)):
        try:
            if isinstance(found, Unread):
                raise UsageError(found.reason)
            games.append(_asked(args, found, source))
        except UsageError as error:
            if len(sources) == 1:
                raise
            left_out.append(str(error))
            continue
        for remark in found.record.remarks:
            print(f"jaxgo evaluate: {f'{found.name}: ' if len(sources) > 1 else ''}{remark}", file=sys.stderr)
    for reason in left_out:
        print(f"jaxgo evaluate: left out: {reason}", file=sys.stderr)
    if not games:
        raise UsageError(f"none of {len(sources)} game records can be evaluated")
    return games, left_out


def _source(file: str, args: argparse.Namespace) -> pathlib.Path | bytes:
    """Where a record is; or its bytes where they are needed again, for a pipe is read once, and a file may change."""
    if args.sgf is not None:
        with contextlib.suppress(ValueError):  # who reads it says why
            return bytes_of(file)
    return pathlib.Path(file)


def _asked(args: argparse.Namespace, game: Game, source: pathlib.Path | bytes | None) -> Asked:
    record = game.record
    komi = args.komi if args.komi is not None else record.komi if record.komi is not None else DEFAULT_KOMI
    komi_source = "option" if args.komi is not None else "file" if record.komi is not None else "default"
    return Asked(game.name, source, record, game.positions, _moves(args, game.name, record), komi, komi_source)


def _moves(args: argparse.Namespace, name: str, record: GameRecord) -> tuple[int, ...]:
    """The move numbers of the positions asked for."""
    last = len(record.moves)
    if args.move is not None:
        if args.move > last:
            raise UsageError(f"--move {args.move}: {name or 'the empty board'} has {last} moves")
        return (args.move,)
    if args.all:
        return tuple(range(last + 1))
    # Once two passes have ended the game nothing is played.
    last = record.last_in_play
    if args.every:
        return tuple(sorted({*range(0, last + 1, args.every), last}))
    return (last,)
