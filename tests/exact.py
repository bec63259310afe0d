"""The exact distribution of the results of uniform playouts on tiny boards, by brute force.

All positions that playouts can be in after i plies are carried forward together with their probabilities: ply by ply, every
position hands its probability in equal parts to the positions after each of its candidate moves (or to the one after a pass).
That needs a few ten thousand positions on 3x3. Moves come from the referee, no random number is drawn.
"""

from collections import defaultdict

from tests.referee import CAP_PER_POINT, Game

Result = tuple[int, int, bool]
"""length in plies, margin, truncated"""


def distribution(start: Game, max_plies: int | None = None) -> dict[Result, float]:
    """The probability of each (length, margin, truncated) of a playout from `start`, capped at `max_plies` (3P by default)."""
    max_plies = CAP_PER_POINT * start.num_points if max_plies is None else max_plies
    successors, margins = {}, {}
    results: dict[Result, float] = defaultdict(float)
    positions = {start.key(): 1.0}
    for length in range(max_plies + 1):
        following: dict[tuple, float] = defaultdict(float)
        for key, probability in positions.items():
            stones, to_play, ko, passes = key
            if passes >= 2 or length == max_plies:
                if stones not in margins:
                    margins[stones] = Game(start.size, stones).margin()
                results[length, margins[stones], passes < 2] += probability
                continue
            if key not in successors:
                successors[key] = _successors(Game(start.size, stones, to_play=to_play, ko=ko, passes=passes))
            share = probability / len(successors[key])
            for after in successors[key]:
                following[after] += share
        positions = following
    return dict(results)


def _successors(game: Game) -> list[tuple]:
    """The keys of the positions that one ply of a playout leads to, each as likely as the others."""
    keys = []
    for move in game.candidates() or [game.pass_move]:
        after = game.copy()
        after.play(move)
        keys.append(after.key())
    return keys
