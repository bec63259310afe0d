"""Manners: when the engine passes although it could go on, and when it gives up a game."""

import dataclasses

import numpy as np

from jaxgo import WHITE
from search.choice import Choice, passing
from search.gtp import scoring
from search.gtp.scoring import Judgement
from search.gtp.table import Table

#: A position is settled where each point is somebody's by more than this, whoever moves first. Of 16 games of GNU Go against
#: itself at 9x9, 12 were when they ended, all judged as GNU Go did, and 3 shortly before, with the winner of the end.
SETTLED = 0.5
#: The win rate by which a search agrees that a settled game is won, or with 1 minus this that it is lost.
AGREED = 0.75
#: Who passes first may lose so many points, by a neutral one that playouts have shared out.
NEUTRAL = 2
#: A game is given up after so many moves in a row whose win rates were too low, each after so many playouts.
MOVES_TO_RESIGN, PLAYOUTS_TO_RESIGN = 3, 1_000
#: With handicap stones White gives no game up before one ply in so many of the board's points.
HANDICAP_OPENING = 3


def politely(table: Table, colour: int, choice: Choice, judgement: Judgement) -> Choice:
    """The choice, or a pass where nothing is left to be gained or lost.

    That is where each point is surely somebody's, and a search agrees with the score who wins. The other player is not made to
    watch how dead stones are captured; they are taken off when the score is told.

    Args:
      table: the game.
      colour: who is to move.
      choice: what a search would play.
      judgement: of the position.
    """
    points, after_pass = table.size**2, may_end(table, colour)
    lead = colour * scoring.score(table, judgement)
    clear = abs(lead) > (0 if after_pass else NEUTRAL)
    agreed = choice.win_rate > AGREED if lead > 0 else choice.win_rate < 1 - AGREED
    if choice.move != points and judgement.sureness > SETTLED and clear and agreed:
        return dataclasses.replace(choice, move=points, variation=passing(points).variation)
    return choice


def may_be_settled(table: Table, colour: int) -> bool:
    """Whether it is worth to look: the other player has passed, or a third of the board is played."""
    return len(table.game.moves) > table.size**2 // 3 or may_end(table, colour)


def may_end(table: Table, colour: int) -> bool:
    """Whether a pass would end the game, as the other player has passed."""
    return int(np.asarray(table.game.turn(colour).passes)[0]) == 1


class Resignation:
    """Gives a game up that has been lost for some moves.

    Args:
      rate: the win rate below which a move counts; 0 never gives up.
    """

    def __init__(self, rate: float):
        self._rate = rate
        self._low: dict[int, tuple[int, int]] = {}
        """By colour: the ply of the last move that counted, and how many in a row have."""

    def __call__(self, table: Table, colour: int, choice: Choice) -> bool:
        """Whether to resign rather than play what has been chosen, which is noted."""
        ply, (last, number) = len(table.game.moves), self._low.get(colour, (-2, 0))
        low = choice.win_rate < self._rate and choice.playouts >= PLAYOUTS_TO_RESIGN
        if not low or _is_handicap_opening(table, colour):
            self._low.pop(colour, None)
            return False
        self._low[colour] = ply, number + 1 if last == ply - 2 else 1
        return self._low[colour][1] >= MOVES_TO_RESIGN

    def undone(self, plies: int) -> None:
        """Notes that a game has been taken back to so many moves: what was noted later does not count."""
        self._low = {colour: noted for colour, noted in self._low.items() if noted[0] < plies}


def _is_handicap_opening(table: Table, colour: int) -> bool:
    return table.handicap > 1 and colour == WHITE and table.played < table.size**2 // HANDICAP_OPENING
