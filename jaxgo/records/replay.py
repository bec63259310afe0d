"""Game records played: the positions that their moves lead through, judged by the rules of `jaxgo.Position`, on the host."""

from collections.abc import Iterable
from typing import NamedTuple

import jax

from jaxgo.base.constants import BLACK, NO_KO
from jaxgo.board import host_moves
from jaxgo.board.coordinates import coordinate
from jaxgo.board.dynamics import FAULTS
from jaxgo.board.host_moves import Place
from jaxgo.board.position import Position
from jaxgo.records.record import COLOUR_NAMES, GameRecord, when

_REASONS = {
    "the point is occupied": "the point is occupied",
    "the ko forbids it": "it retakes the ko at once",
    "it is suicide": "it would leave its own chain without liberties (suicide)",
}


class Replay(NamedTuple):
    """What playing a record has come to."""

    positions: Position | None
    """Position k after k moves, on the host, up to the last that is legal; None where the stones set up at first are illegal."""
    fault: str
    """What is wrong with the next move, or with the stones that are set up there, "" where all is legal."""

    @property
    def num_moves(self) -> int:
        """Moves up to the last legal position."""
        return self.positions.batch - 1 if self.positions is not None else 0


def replay(record: GameRecord) -> Replay:
    """Plays a record as far as its moves and its setup stones are legal. A stone after two passes goes on with the game."""
    size, place, places, fault = record.size, Place(0, 0, BLACK, NO_KO, 0, 0), [], ""
    try:
        places.append(_turned(record, place, 0))
        for number, (colour, point) in enumerate(record.moves, start=1):
            place, wrong = host_moves.play(size, places[-1], places[-1].to_play, point)
            if wrong:
                move = f"move {number}, {COLOUR_NAMES[colour]} {coordinate(point, size)}"
                raise _Illegal(f"{move}, is illegal: {_REASONS[FAULTS[wrong - 1]]}")
            places.append(_turned(record, place, number))
    except _Illegal as error:
        fault = str(error)
    return Replay(host_moves.positions_of(size, places) if places else None, fault)


class _Illegal(Exception):
    """A move, or stones that are set up, are not legal; the text says which."""


def _turned(record: GameRecord, place: Place, number: int) -> Place:
    """Sets up what the record sets up after so many moves, and gives the turn to whom it gives it."""
    colour = record.to_play(number)
    if colour != place.to_play:
        place = place._replace(to_play=colour, ko=NO_KO, passes=0)
    stones = [stone for setup in record.setups if setup.after_move == number for stone in setup.stones]
    return _set_up(record.size, place, number, stones) if stones else place


def _set_up(size: int, place: Place, number: int, stones: Iterable[tuple[int, int]]) -> Place:
    """Places and removes stones, (point, colour)."""
    board = host_moves.stones_of(size, place)
    for point, colour in stones:
        board[divmod(point, size)] = colour
    try:
        placed = Position.from_array(board[None], to_play=place.to_play)
    except ValueError as error:
        raise _Illegal(f"the stones set up {when(number)} are not a legal position: {error}") from None
    return host_moves.place_of(jax.device_get(placed))
