"""One game of a match. Game n has its own seeds and opening, so that a match is the same however its games are spread."""

import dataclasses
import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.matches.contestants import Conditions, Contestant, Draws
from bench.matches.engine import EngineError
from bench.matches.openings import opening_in_steps
from bench.matches.referee import judge
from jaxgo import Position
from jaxgo.base import source
from jaxgo.board.coordinates import coordinate
from search.choice import Choice
from search.game import Game
from search.in_steps import Clock, Steps, alone
from search.records import score_as_result
from search.selfplay import FAILURE, SCORE, TOO_LONG, Forfeit, Mover, Played, as_sgf, play_game_in_steps


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

    @property
    def too_little_memory(self) -> int | None:
        """Bytes of a tree, if trees may have to forget something for want of them, so that games depend on it; None otherwise."""
        room, size = self.conditions.memory, self.conditions.size
        return room if room is not None and room < max(one.memory(size) for one in self.contestants) else None


@dataclasses.dataclass(frozen=True)
class Absent:
    """Stands in for an engine that cannot begin a game, and loses it."""

    why: str
    knows_superko = False

    def move_in_steps(self, game: Game) -> Steps[Choice]:
        yield from ()
        raise Forfeit(FAILURE, self.why)


def play(match: Match, number: int) -> tuple[dict, bytes]:
    """Plays game `number`, from 1 on; the first contestant is Black in odd games.

    Returns:
      What is known of the game, ready for JSON, and its SGF record. `won` is 1, 0.5 or 0 for the first contestant, `ending` one
      of `search.selfplay`'s, `result` the referee's, `board` what the board as it stood says, `time` for each contestant the
      `seconds` of its `moves` and the `longest`; `game` tells equal games.
    """
    return alone(play_in_steps(match, number))


def play_in_steps(
    match: Match, number: int, clock: Clock = time.perf_counter, moved: Callable[[], None] = lambda: None
) -> Steps[tuple[dict, bytes]]:
    """`play`, among other games (`search.in_steps`), by a clock of its own; `moved` is called after each move of a contestant."""
    start, first_is_black, conditions = clock(), number % 2 == 1, match.conditions
    draws = [Draws(match.seed, number, side) for side in range(2)]
    movers = [_mover(contestant, conditions, own) for contestant, own in zip(match.contestants, draws)]
    game = Game(Position.empty(conditions.size), conditions.komi)
    yield from opening_in_steps(game, match.opening, match.seed, (number - 1) // 2)
    black, white = movers if first_is_black else movers[::-1]
    most = None if conditions.seconds is None else conditions.seconds + conditions.grace
    played = yield from play_game_in_steps(black, white, game, seconds=most, clock=clock, on_move=lambda *_: moved())
    winner, result, referee = played.winner, played.result, None
    if played.ending in (SCORE, TOO_LONG):
        verdict = judge(game, match.referee, conditions)
        winner, result, referee = int(np.sign(verdict.score)), score_as_result(verdict.score), verdict.referee
        played = dataclasses.replace(played, remark=verdict.remark)
    moves = [coordinate(point, conditions.size) for _, point in game.moves]
    known = {
        "number": number, "first_is_black": first_is_black,
        "won": 0.5 if winner == 0 else float((winner == 1) == first_is_black),
        "result": result, "ending": played.ending, "remark": played.remark, "referee": referee,
        "board": score_as_result(game.score()), "opening": moves[: played.opening], "moves": len(moves),
        "seconds": round(clock() - start, 2),
        "time": _time(played, first_is_black), "game": hashlib.sha256(" ".join(moves).encode()).hexdigest()[:16],
    }  # fmt: skip
    first, second = (contestant.name for contestant in match.contestants)
    names = (first, second) if first_is_black else (second, first)
    record = as_sgf(played, *names, _comment(match, number, draws, referee), result)
    return known, record


def _mover(contestant: Contestant, conditions: Conditions, draws: Draws) -> Mover:
    """A contestant that is ready for a game."""
    try:
        return contestant.mover(conditions, draws)
    except EngineError as error:
        return Absent(str(error))


def _time(played: Played, first_is_black: bool) -> list[dict[str, Any]]:
    """What the first and the second contestant took: seconds of all moves and the longest, and how many there were."""
    out = []
    for first in (True, False):
        own = [s for i, s in enumerate(played.seconds) if ((played.opening + i) % 2 == 0) == (first == first_is_black)]
        out.append({"seconds": round(sum(own), 3), "longest": round(max(own, default=0.0), 3), "moves": len(own)})
    return out


def _comment(match: Match, number: int, draws: list[Draws], referee: str | None) -> str:
    """What it takes to play the game again."""
    first_is_black, conditions = number % 2 == 1, match.conditions
    random = [one.random(own, conditions.size) for one, own in zip(match.contestants, draws)]
    seeds = [f"seed {x['seed']}" + (f" from stream {x['stream']}" if "stream" in x else "") for x in random]
    clock = [] if conditions.seconds is None else [f"{conditions.seconds:g} s a move, and {conditions.grace:g} s of grace"]
    text = "\n".join(
        [
            f"game {number} of `jaxgo match`, seed {match.seed}: Black's {seeds[not first_is_black]}, "
            f"White's {seeds[first_is_black]}",
            *(f"{contestant.name}: {contestant.what}" for contestant in match.contestants),
            *clock,
            *([] if referee is None else [f"referee: {referee}"]),
            f"jaxgo {source.version()}{source.in_words(source.commit())}",
        ]
    )
    return text.encode(errors="backslashreplace").decode()  # the path of an engine may be of no text
