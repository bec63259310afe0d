"""Who says what a finished game has come to: an engine, which takes dead stones off the board, or our own rules, as it stands."""

import dataclasses

from bench.matches import engine
from bench.matches.contestants import Conditions, engine_for
from bench.matches.engine import EngineError
from search.game import Game

#: The board as it stands, by area: dead stones count as alive, as among bots that capture them before they pass.
OWN = "own"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a game has come to."""

    score: float
    """Black's points minus White's, komi included."""
    referee: str
    """Who has said so: the referee's command line, or `OWN`."""
    remark: str = ""
    """Why the referee that was asked has not said it."""


def judge(game: Game, referee: str, conditions: Conditions) -> Verdict:
    """The score of a game that two passes have ended, or its length.

    Args:
      game: the game.
      referee: `OWN`, or an engine's command line behind `gtp:`.
      conditions: of the game.
    """
    if referee == OWN:
        return Verdict(game.score(), OWN)
    try:
        asked = engine_for(referee.removeprefix(engine.PREFIX), conditions, seed=0, role="referee")
        try:
            for colour, move in game.moves:
                asked.play(colour, move, game.size)
            return Verdict(asked.final_score(), referee)
        except EngineError:
            asked.close()  # it is started anew for the next game
            raise
    except EngineError as error:
        return Verdict(game.score(), OWN, f"the referee has failed: {error}")
