"""Playout policies one position at a time, on the referee's rules: which points each prefers, and a judge of recorded playouts."""

import collections
import functools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import jaxgo
from jaxgo.playing.policies import pattern_table
from tests import referee
from tests.positions import validate
from tests.referee import Choice, Game

Sets = Callable[[Game, Sequence[int]], list[list[int]]]
"""Of a position and the moves before it in the playout: the sets of points that a policy prefers, the first above the second. The
pass stands in a set of its own."""


def captures(game: Game, moves: Sequence[int] = ()) -> list[list[int]]:
    """`jaxgo.Capture`: the points where an enemy chain has its only liberty, but for the ko."""
    last_liberties = {
        point
        for members, liberties in game.chains()
        for point in liberties
        if len(liberties) == 1 and game.stones[min(members)] == -game.to_play
    }
    return [sorted(last_liberties - {game.ko})]


def tactics(game: Game) -> set[int]:
    """`AdvisorTable.enter_tactics`: the legal moves that capture or save, each tried out."""
    found = set()
    for point in game.legal_points():
        after = game.copy()
        taken = after.play(point)
        beside = [n for n in referee.orthogonals(game.size)[point] if game.stones[n] == game.to_play]
        in_atari = any(len(game.chain(n)[1]) == 1 for n in beside)
        if taken or in_atari and len(after.chain(point)[1]) > 1:
            found.add(point)
    return found


def taught(table: jaxgo.AdvisorTable, starts: Sequence[Game], played: jaxgo.Playouts, komi: float) -> tuple[np.ndarray, np.ndarray]:
    """(visits, results) of a table after `AdvisorTable.update`, ply by ply."""
    visits, results = np.array(table.visits), np.array(table.results)
    for start, records, margins in zip(starts, played.moves.tolist(), played.margin.tolist()):
        for moves, margin in zip(records, margins):
            lead, colour, before = margin - komi, start.to_play, start.pass_move
            for move in moves:
                if 0 <= move < start.pass_move:
                    place = int(colour < 0), before if table.context == "previous" else 0, move
                    visits[place] += 1
                    results[place] += 1 + (lead * colour > 0) - (lead * colour < 0)
                colour, before = -colour, move
    return visits, results


def advice(table: jaxgo.AdvisorTable, exploration: float, suggestions: int) -> Sets:
    """`jaxgo.Advisor`: the suggestions of the context as sets, the most urgent first."""
    visits, results = np.asarray(table.visits).tolist(), np.asarray(table.results).tolist()

    def sets(game: Game, moves: Sequence[int]) -> list[list[int]]:
        place = int(game.to_play < 0), (moves[-1] if moves else game.pass_move) if table.context == "previous" else 0
        visits_here, results_here = (x[place[0]][place[1]] for x in (visits, results))
        used = sum(visits_here)
        if not used:
            return []
        levels = collections.defaultdict(list)
        for point, (n, result) in enumerate(zip(visits_here, results_here)):
            urgency = round((result / 2 / n + exploration * math.sqrt(math.log(used) / n)) * 2**20) if n else math.inf
            levels[urgency].append(point)
        return [levels[urgency] for urgency in sorted(levels, reverse=True)[:suggestions]]

    return sets


def replied(table: jaxgo.Replies, starts: Sequence[Game], played: jaxgo.Playouts, komi: float) -> np.ndarray:
    """The replies of a table after `Replies.update`, ply by ply."""
    replies = np.array(table.replies)
    for start, records, margins in zip(starts, played.moves.tolist(), played.margin.tolist()):
        for moves, margin in zip(records, margins):
            lead, colour = margin - komi, start.to_play
            for before, move in zip(moves, moves[1:]):
                colour = -colour
                place = int(colour < 0), before
                if 0 <= move < start.pass_move and before < start.pass_move:
                    if lead * colour > 0:
                        replies[place] = move
                    elif lead * colour < 0 and table.forgetting and replies[place] == move:
                        replies[place] = -1
    return replies


def last_good_reply(table: jaxgo.Replies) -> Sets:
    """`jaxgo.LastGoodReply`: the reply to the last move, if there is one."""
    replies = np.asarray(table.replies)
    return lambda game, moves: [[int(replies[int(game.to_play < 0), moves[-1]])]] if moves else []


#: Of the shapes with a vital point: how many points of the eye space lie beside each of its points, in order, and beside that one.
VITAL = {(1, 1, 2): 2, (1, 1, 1, 3): 3, (1, 1, 1, 1, 4): 4, (1, 2, 2, 2, 3): 3, (1, 1, 2, 2, 2, 4): 4}


def vital_points(game: Game, seeds: Iterable[int] | None = None) -> list[int]:
    """The vital points of eye spaces, of those that hold some points or of all, with only the other player's stones around."""
    beside, found = referee.orthogonals(game.size), set()
    for seed in range(game.num_points) if seeds is None else seeds:
        if game.stones[seed]:
            continue
        space, reached = {seed}, [seed]
        while reached:
            more = {n for n in beside[reached.pop()] if game.stones[n] == 0} - space
            space |= more
            reached += more
        if any(game.stones[n] == game.to_play for point in space for n in beside[point]):
            continue
        inside = {point: sum(n in space for n in beside[point]) for point in space}
        most = VITAL.get(tuple(sorted(inside.values())))
        found |= {point for point in space if inside[point] == most}
    return sorted(found)


def nakade(game: Game, moves: Sequence[int]) -> list[list[int]]:
    """`jaxgo.Nakade`: the vital points of the eye spaces beside the last move."""
    return [vital_points(game, referee.orthogonals(game.size)[moves[-1]])] if moves and moves[-1] < game.pass_move else []


def self_atari(game: Game, point: int) -> bool:
    """Whether a move captures nothing and makes a chain with one liberty, of which no nakade can be made once it is taken."""
    after = game.copy()
    if after.play(point):
        return False
    members, liberties = after.chain(point)
    beside = tuple(sorted(sum(n in members for n in referee.orthogonals(game.size)[member]) for member in members))
    return len(liberties) == 1 and len(members) > 3 and beside not in {*VITAL, (2, 2, 2, 2)}


def no_self_atari(sets: Sets | None = None) -> Sets:
    """`jaxgo.NoSelfAtari` before another policy, or alone: what that one prefers, all, and the pass, without self-ataris."""

    def careful(game: Game, moves: Sequence[int]) -> list[list[int]]:
        legal = game.candidates()
        each = [*(sets(game, moves) if sets else []), legal]
        no_self_ataris = [[point for point in points if point in legal and not self_atari(game, point)] for points in each]
        return [*no_self_ataris, [game.pass_move]]

    return careful


def around(size: int, point: int) -> list[int]:
    """The up to eight points around a point."""
    return sorted({*referee.orthogonals(size)[point], *referee.diagonals(size)[point]})


def saves(game: Game, moves: Sequence[int]) -> list[int]:
    """Moves that save one of the mover's chains which are in atari beside the last move."""
    beside = referee.orthogonals(game.size)[moves[-1]] if moves and moves[-1] < game.pass_move else ()
    return saves_of(game, [stone for stone in beside if game.stones[stone] == game.to_play])


def saves_of(game: Game, stones: Iterable[int]) -> list[int]:
    """Moves that save one of the chains, of the mover, of some stones; of those that are in atari."""
    found = set()
    for stone in stones:
        members, liberties = game.chain(stone)
        if len(liberties) > 1:
            continue
        beside = {n for member in members for n in referee.orthogonals(game.size)[member] if game.stones[n] == -game.to_play}
        attackers = {liberty for n in beside for liberty in game.chain(n)[1]}
        for point in game.legal_points():
            if point not in liberties | attackers:
                continue
            after = game.copy()
            after.stones[point] = game.to_play  # without what it captures
            longer = point in liberties and len(after.chain(point)[1]) > 1
            if longer or point in attackers and game.copy().play(point):
                found.add(point)
    return sorted(found)


def matches(game: Game, point: int) -> bool:
    """Whether a pattern matches around a point."""
    y, x = divmod(point, game.size)
    steps = [(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    inside = range(game.size)
    return fits_a_pattern("".join(".XO"[game.stones[j * game.size + i]] if j in inside and i in inside else "#" for j, i in steps))


@functools.cache
def fits_a_pattern(cells: str) -> bool:
    """Whether the nine cells around a point fit a pattern: each tried in each of its turns and mirror images, for both players."""

    def fits(wanted: str, held: str) -> bool:
        return wanted in ("?", held) or wanted in "xo" and wanted.upper() != held

    turns = [lambda dy, dx: (dy, dx), lambda dy, dx: (dx, -dy), lambda dy, dx: (-dy, -dx), lambda dy, dx: (-dx, dy)]
    steps = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    for pattern in pattern_table.PATTERNS.values():
        for text in (pattern, [row.translate(str.maketrans("XOxo", "OXox")) for row in pattern]):
            for turn in turns:
                for mirror in (1, -1):
                    places = [(dy, dx, *turn(dy, mirror * dx)) for dy, dx in steps]
                    if all(fits(text[dy + 1][dx + 1], cells[3 * (j + 1) + i + 1]) for dy, dx, j, i in places):
                        return True
    return False


def patterns(save: bool = True, match: bool = True, capture: bool = True) -> Sets:
    """`jaxgo.Patterns`: saves, then matches around the last move, then captures there."""

    def sets(game: Game, moves: Sequence[int]) -> list[list[int]]:
        near = around(game.size, moves[-1]) if moves and moves[-1] < game.pass_move else []
        free = [point for point in near if game.stones[point] == 0]
        parts = [saves(game, moves)] if save else []
        parts += [[point for point in free if matches(game, point)]] if match else []
        return [*parts, sorted({*free} & {*captures(game)[0]})] if capture else parts

    return sets


def choices(start: Game, played: jaxgo.Playouts, index: int, count: int, sets: Sets) -> list[Choice]:
    """The choices of the first playouts of a position, each among the set that its policy, always asked, must take.

    Asserts that the playouts keep all rules, and that each move is of the first of the policy's sets that has a legal point which
    fills no own eye, or of all such points where none has; and that it passes only where there are none, or that is preferred.
    """

    def preferred(game: Game, moves: Sequence[int], candidates: list[int]) -> list[int]:
        wanted = ([p for p in points if p in [*candidates, game.pass_move]] for points in sets(game, moves))
        return next((points for points in wanted if points), candidates)

    return [choice for made in validate(start, played, index, count, preferred=preferred) for choice in made]


def by_number(made: Sequence[Choice]) -> dict[int, list[int]]:
    """How often each rank was chosen, by the number of points that there were to choose from."""
    ranks = collections.defaultdict(collections.Counter)
    for choice in made:
        ranks[choice.num_candidates][choice.rank] += 1
    return {k: [counts[rank] for rank in range(k)] for k, counts in ranks.items()}
