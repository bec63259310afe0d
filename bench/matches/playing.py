"""One game of a match. Game n has its own seeds and opening, so that a match is the same however its games are spread."""

import dataclasses
import hashlib
import time

from bench.matches.contestants import Bot
from bench.matches.openings import opening
from jaxgo import Position
from jaxgo.base import source
from jaxgo.board.coordinates import coordinate
from search.game import Game
from search.selfplay import Played, as_sgf, play_game


@dataclasses.dataclass(frozen=True)
class Match:
    """What the games of a match have in common."""

    contestants: tuple[Bot, Bot]
    size: int
    komi: float
    seed: int
    opening: int
    """Random moves before each pair of games."""
    memory: int
    """Bytes that one tree may take."""


def play(match: Match, number: int) -> tuple[dict, bytes]:
    """Plays game `number`, from 1 on; the first contestant is Black in odd games.

    Returns:
      What is known of the game, ready for JSON, and its SGF record. `won` is 1, 0.5 or 0 for the first contestant, `ending` one
      of `search.selfplay`'s, `time` for each contestant the `seconds` of its `moves` and the `longest`; `game` tells equal games.
    """
    start, first_is_black = time.perf_counter(), number % 2 == 1
    seeds = [(match.seed + 2 * number + i) % 2**63 for i in range(2)]
    movers = [
        contestant.mover(match.size, match.komi, seed, match.memory) for contestant, seed in zip(match.contestants, seeds)
    ]
    game = Game(Position.empty(match.size), match.komi)
    for point in opening(match.size, match.opening, match.seed, (number - 1) // 2):
        game.play(point)
    black, white = movers if first_is_black else movers[::-1]
    played = play_game(black, white, game)
    won = 0.5 if played.winner == 0 else float((played.winner == 1) == first_is_black)
    moves = [coordinate(point, match.size) for _, point in game.moves]
    record = {
        "number": number, "first_is_black": first_is_black, "won": won, "result": played.result, "ending": played.ending,
        "remark": played.remark, "opening": moves[: played.opening], "moves": len(moves),
        "seconds": round(time.perf_counter() - start, 2), "time": _time(played, first_is_black),
        "game": hashlib.sha256(" ".join(moves).encode()).hexdigest()[:16],
    }  # fmt: skip
    names = [contestant.text for contestant in match.contestants]
    comment = "\n".join(
        [
            f"game {number} of `jaxgo match`, seed {match.seed}: Black's seed {seeds[not first_is_black]}, "
            f"White's {seeds[first_is_black]}",
            *(f"{contestant.text}: {contestant.conditions}" for contestant in match.contestants),
            f"jaxgo {source.version()}{source.in_words(source.commit())}",
        ]
    )
    return record, as_sgf(played, *(names if first_is_black else names[::-1]), comment)


def _time(played: Played, first_is_black: bool) -> list[dict]:
    """What the first and the second contestant took: seconds of all moves and the longest, and how many there were."""
    out = []
    for colour in (1, -1) if first_is_black else (-1, 1):
        own = [s for i, s in enumerate(played.seconds) if (played.opening + i) % 2 == (colour == -1)]
        out.append({"seconds": round(sum(own), 3), "longest": round(max(own, default=0.0), 3), "moves": len(own)})
    return out
