"""Playout policies one position at a time, on the referee's rules: which points each prefers, and a judge of recorded playouts."""

import collections
from collections.abc import Callable, Sequence

import jaxgo
from tests.positions import validate
from tests.referee import Choice, Game

Sets = Callable[[Game, Sequence[int]], list[list[int]]]
"""Of a position and the moves before it in the playout: the sets of points that a policy prefers, the first above the second."""


def captures(game: Game, moves: Sequence[int] = ()) -> list[list[int]]:
    """`jaxgo.Capture`: the points where an enemy chain has its only liberty, but for the ko."""
    last_liberties = {
        point
        for members, liberties in game.chains()
        for point in liberties
        if len(liberties) == 1 and game.stones[min(members)] == -game.to_play
    }
    return [sorted(last_liberties - {game.ko})]


def choices(start: Game, played: jaxgo.Playouts, index: int, count: int, sets: Sets) -> list[Choice]:
    """The choices of the first playouts of a position, each among the set that its policy, always asked, must take.

    Asserts that the playouts keep all rules, and that each move is of the first of the policy's sets that has a legal point which
    fills no own eye, or of all such points where none has.
    """
    validate(start, played, index, count)
    made = []
    for record in played.moves[index, :count].tolist():
        game, moves = start.copy(), []
        for ply, move in enumerate(record):
            if move < 0:
                break
            if move != game.pass_move:
                candidates = game.candidates()
                wanted = ([p for p in points if p in candidates] for points in sets(game, moves))
                chosen = next((points for points in wanted if points), candidates)
                assert move in chosen, f"ply {ply}: {move} is not one of {chosen}\n{game}"
                made.append(Choice(ply, len(chosen), chosen.index(move)))
            game.play(move)
            moves.append(move)
    return made


def by_number(made: Sequence[Choice]) -> dict[int, list[int]]:
    """How often each rank was chosen, by the number of points that there were to choose from."""
    ranks = collections.defaultdict(collections.Counter)
    for choice in made:
        ranks[choice.num_candidates][choice.rank] += 1
    return {k: [counts[rank] for rank in range(k)] for k, counts in ranks.items()}
