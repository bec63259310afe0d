"""One game of a match. Game n has its own seeds and opening, so that a match is the same however its games are spread."""

import dataclasses
import hashlib
import time

import numpy as np

from bench.matches.contestants import Conditions, Contestant
from bench.matches.engine import EngineError
from bench.matches.openings import opening
from bench.matches.referee import judge
from jaxgo import Position
from jaxgo.base import source
from jaxgo.board.coordinates import coordinate
from search.choice import Choice
from search.game import Game
from search.selfplay import FAILURE, SCORE, TOO_LONG, Forfeit, Mover, Played, as_sgf, play_game, result_of


@dataclasses.dataclass(frozen=True)
class Match:
    """What the games of a match have in common."""

    contestants: tuple[Contestant, Contestant]
    conditions: Conditions
    seed: int
    opening: int
    """Random moves before each pair of games."""
    referee: str
    """See `bench.matches.referee`."""


@dataclasses.dataclass(frozen=True)
class Absent:
    """Stands in for an engine that cannot begin a game, and loses it."""

    why: str
    knows_superko = False

    def move(self, game: Game) -> Choice:
        raise Forfeit(FAILURE, self.why)


def play(match: Match, number: int) -> tuple[dict, bytes]:
    """Plays game `number`, from 1 on; the first contestant is Black in odd games.

    Returns:
      What is known of the game, ready for JSON, and its SGF record. `won` is 1, 0.5 or 0 for the first contestant, `ending` one
      of `search.selfplay`'s, `result` the referee's, `board` what the board as it stood says, `time` for each contestant the
      `seconds` of its `moves` and the `longest`; `game` tells equal games.
    """
    start, first_is_black, conditions = time.perf_counter(), number % 2 == 1, match.conditions
    seeds = [(match.seed + 2 * number + i) % 2**63 for i in range(2)]
    movers = [_mover(contestant, conditions, seed) for contestant, seed in zip(match.contestants, seeds)]
    game = Game(Position.empty(conditions.size), conditions.komi)
    for point in opening(conditions.size, match.opening, match.seed, (number - 1) // 2):
        game.play(point)
    black, white = movers if first_is_black else movers[::-1]
    clock = None if conditions.seconds is None else conditions.seconds + conditions.grace
    played = play_game(black, white, game, seconds=clock)
    winner, result, referee = played.winner, played.result, None
    if played.ending in (SCORE, TOO_LONG):
        verdict = judge(game, match.referee, conditions)
        winner, result, referee = int(np.sign(verdict.score)), result_of(verdict.score), verdict.referee
        played = dataclasses.replace(played, remark=verdict.remark)
    moves = [coordinate(point, conditions.size) for _, point in game.moves]
    known = {
        "number": number, "first_is_black": first_is_black,
        "won": 0.5 if winner == 0 else float((winner == 1) == first_is_black),
        "result": result, "ending": played.ending, "remark": played.remark, "referee": referee, "board": result_of(game.score()),
        "opening": moves[: played.opening], "moves": len(moves), "seconds": round(time.perf_counter() - start, 2),
        "time": _time(played, first_is_black), "game": hashlib.sha256(" ".join(moves).encode()).hexdigest()[:16],
    }  # fmt: skip
    names = [contestant.name for contestant in match.contestants]
    record = as_sgf(played, *(names if first_is_black else names[::-1]), _comment(match, number, seeds, referee), result)
    return known, record


def _mover(contestant: Contestant, conditions: Conditions, seed: int) -> Mover:
    """A contestant that is ready for a game."""
    try:
        return contestant.mover(conditions, seed)
    except EngineError as error:
        return Absent(str(error))


def _time(played: Played, first_is_black: bool) -> list[dict]:
    """What the first and the second contestant took: seconds of all moves and the longest, and how many there were."""
    out = []
    for first in (True, False):
        own = [s for i, s in enumerate(played.seconds) if ((played.opening + i) % 2 == 0) == (first == first_is_black)]
        out.append({"seconds": round(sum(own), 3), "longest": round(max(own, default=0.0), 3), "moves": len(own)})
    return out


def _comment(match: Match, number: int, seeds: list[int], referee: str | None) -> str:
    """What it takes to play the game again."""
    first_is_black, conditions = number % 2 == 1, match.conditions
    clock = [] if conditions.seconds is None else [f"{conditions.seconds:g} s a move, and {conditions.grace:g} s of grace"]
    return "\n".join(
        [
            f"game {number} of `jaxgo match`, seed {match.seed}: Black's seed {seeds[not first_is_black]}, "
            f"White's {seeds[first_is_black]}",
            *(f"{contestant.name}: {contestant.what}" for contestant in match.contestants),
            *clock,
            *([] if referee is None else [f"referee: {referee}"]),
            f"jaxgo {source.version()}{source.in_words(source.commit())}",
        ]
    )
