"""What the games of a match say: the first contestant's score, how sure it is, and what else happened."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from search.selfplay import FAILURE, ILLEGAL, RESIGNATION, SCORE, TIME, TOO_LONG

#: Endings that are counted for each side: how it lost, other than on the board.
LOST_BY = {RESIGNATION: "resignations", TIME: "losses_on_time", ILLEGAL: "illegal_moves", FAILURE: "failures"}


def standing(games: Sequence[dict[str, Any]]) -> dict:
    """The score over some games, at least one; `bench.matches.playing` says what is known of each.

    Returns:
      A dict ready for JSON: `games`, `wins`, `draws`, `losses`, `score` in [0, 1] with draws as halves, its Wilson `interval`,
      `elo` and `elo_interval` (None beyond all bounds), `score_as_black`, `mean_moves`, `seconds_per_game`, `different` games,
      those that were `too_long`, those in which the `referee_failed` and the first `referee_remark` on that (None without one),
      those that `dead_stones_decided` (the referee and the board as it stood name other winners), and for `first` and `second`
      how often they lost otherwise than on the board (`LOST_BY`), the seconds of a move in the mean and at most, and the first
      `remark` on such a loss, None without one.
    """
    won = [g["won"] for g in games]
    unjudged = _remarks(g for g in games if g["ending"] in (SCORE, TOO_LONG))
    black = [g["won"] for g in games if g["first_is_black"]]
    score = sum(won) / len(won)
    interval = wilson(score, len(won))
    return {
        "games": len(won), "wins": won.count(1.0), "draws": won.count(0.5), "losses": won.count(0.0), "score": score,
        "interval": interval, "elo": elo(score), "elo_interval": [elo(bound) for bound in interval],
        "score_as_black": sum(black) / len(black) if black else None,
        "mean_moves": sum(g["moves"] for g in games) / len(games),
        "seconds_per_game": sum(g["seconds"] for g in games) / len(games),
        "different": len({g["game"] for g in games}),
        "too_long": sum(g["ending"] == TOO_LONG for g in games),
        "referee_failed": len(unjudged), "referee_remark": unjudged[0] if unjudged else None,
        "dead_stones_decided": sum(g["referee"] is not None and g["result"][:1] != g["board"][:1] for g in games),
        "first": _of_side(games, 0), "second": _of_side(games, 1),
    }  # fmt: skip


def wilson(score: float, games: int) -> tuple[float, float]:
    """The Wilson score interval of a proportion (Edwin B. Wilson, 1927), 95 %."""
    z = 1.959964
    centre = (score + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games))
    return max(0.0, centre - half), min(1.0, centre + half)


def elo(score: float) -> float | None:
    """The difference of ratings at which a score in [0, 1] is expected (Arpad Elo); None where it has no bound."""
    return 0.0 - 400 * math.log10(1 / score - 1) if 1e-9 < score < 1 - 1e-9 else None


def _of_side(games: Sequence[dict[str, Any]], side: int) -> dict:
    """What is counted for one contestant."""
    otherwise = [g for g in games if g["won"] == side and g["ending"] not in (SCORE, TOO_LONG)]
    lost, remarks = [g["ending"] for g in otherwise], _remarks(otherwise)
    moves = sum(g["time"][side]["moves"] for g in games)
    return {name: lost.count(ending) for ending, name in LOST_BY.items()} | {
        "seconds_per_move": sum(g["time"][side]["seconds"] for g in games) / moves if moves else None,
        "longest_move": max(g["time"][side]["longest"] for g in games), "remark": remarks[0] if remarks else None,
    }


def _remarks(games: Iterable[dict[str, Any]]) -> list[str]:
    """What was remarked on games, each with the game's number."""
    return [f"game {g['number']}: {g['remark']}" for g in games if g["remark"]]
