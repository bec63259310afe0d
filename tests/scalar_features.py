"""What `search.features` says of a position's moves, one position and one move at a time, on the referee's rules."""

import functools
from collections.abc import Iterable

from tests import scalar_policies
from tests.referee import Game, orthogonals

FAR = 3
"""Steps within which there is no stone around a move that is far from stones."""


def features(game: Game) -> dict[str, list[int]]:
    """The moves, of those that are legal and fill no own eye, of which each thing is said; by name, in rising order."""
    found = {}
    if game.is_over:
        return {}
    saves, eyes = scalar_policies.saves_of(game, own_in_atari(game)), eyelike(game)
    for point in game.candidates():
        said = [*tactics(game, point), *[f"far_line_{line}" for line in [far_line(game, point)] if line]]
        said += ["save"] * (point in saves) + ["eyelike"] * (point in eyes and point not in saves)
        for name in said:
            found.setdefault(name, []).append(point)
    return found


def number_of_pattern(game: Game, point: int) -> int:
    """The number of what lies around a point: a bit for each of the mover's stones and eight higher one for each of the other's, in
    rows from the top; both outside of the board."""
    y, x = divmod(point, game.size)
    around, number, inside = [(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)], 0, range(game.size)
    for i, (j, k) in enumerate(around):
        stone = game.stones[j * game.size + k] if j in inside and k in inside else None
        number |= (stone in (None, game.to_play)) << i | (stone in (None, -game.to_play)) << 8 + i
    return number


def number_of_shape(game: Game, point: int) -> int:
    """The same with four points more, two steps away: above, to the left, to the right, below."""
    y, x = divmod(point, game.size)
    number, inside = number_of_pattern(game, point), range(game.size)
    for i, (j, k) in enumerate([(y - 2, x), (y, x - 2), (y, x + 2), (y + 2, x)]):
        stone = game.stones[j * game.size + k] if j in inside and k in inside else None
        number |= (stone in (None, game.to_play)) << 16 + i | (stone in (None, -game.to_play)) << 20 + i
    return number


def turned_shapes(number: int) -> list[int]:
    """The numbers of what is the same as a shape, turned and mirrored."""
    points = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)] + [(-2, 0), (0, -2), (0, 2), (2, 0)]
    bits = [(i, i + 8) for i in range(8)] + [(i + 16, i + 20) for i in range(4)]
    of_point = {point: [number >> bit & 1 for bit in both] for point, both in zip(points, bits)}
    found = []
    for turn in (lambda y, x: (y, x), lambda y, x: (x, -y), lambda y, x: (-y, -x), lambda y, x: (-x, y)):
        for mirror in (1, -1):
            seen = [of_point[turn(y, mirror * x)] for y, x in points]
            found.append(sum(bit << place for both, places in zip(seen, bits) for bit, place in zip(both, places)))
    return found


def number_of_sides(game: Game, point: int) -> int:
    """What is above, to the left, to the right, below, three bits each: 0 nothing, 1 to 3 a chain of the mover's with so many
    liberties or more, 4 to 6 one of the other's, 7 the edge."""
    y, x = divmod(point, game.size)
    number = 0
    for i, (j, k) in enumerate([(y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)]):
        side = 7
        if j in range(game.size) and k in range(game.size):
            stone, near = game.stones[j * game.size + k], j * game.size + k
            side = 0 if stone == 0 else min(len(game.chain(near)[1]), 3) + 3 * (stone != game.to_play)
        number |= side << 3 * i
    return number


def distance(size: int, point: int, other: int) -> int:
    """Columns plus rows plus the larger of these, 17 at most."""
    rows, columns = abs(point // size - other // size), abs(point % size - other % size)
    return min(rows + columns + max(rows, columns), 17)


def own_in_atari(game: Game) -> Iterable[int]:
    """A stone of each chain of the mover that is in atari."""
    in_atari = [min(members) for members, liberties in game.chains() if len(liberties) == 1]
    return [stone for stone in in_atari if game.stones[stone] == game.to_play]


def tactics(game: Game, point: int) -> list[str]:
    """What the move does, played out."""
    after = game.copy()
    taken = len(after.play(point))
    said = [("capture_one", "capture_two", "capture_more")[min(taken, 3) - 1]] if taken else []
    beside = [n for n in orthogonals(game.size)[point] if game.stones[n] == -game.to_play and after.stones[n] != 0]
    if any(len(after.chain(n)[1]) == 1 for n in beside):
        said.append("atari")
    if not taken and len(after.chain(point)[1]) == 1:
        said.append("self_atari")
    return said


def far_line(game: Game, point: int) -> int | None:
    """1 to 3 on these lines, if no stone is within so many steps."""
    y, x = divmod(point, game.size)
    line = 1 + min(y, x, game.size - 1 - y, game.size - 1 - x)
    return line if line <= 3 and not any(game.stones[p] for p in within_far(game.size)[point]) else None


@functools.cache
def within_far(size: int) -> list[list[int]]:
    """The points up to so many steps from each point."""
    places = [divmod(point, size) for point in range(size * size)]
    return [[p for p, (j, i) in enumerate(places) if abs(j - y) + abs(i - x) <= FAR] for y, x in places]


def eyelike(game: Game) -> set[int]:
    """Points of empty regions of one or two points which touch own stones only."""
    found, seen = set(), set()
    for point, stone in enumerate(game.stones):
        if stone or point in seen:
            continue
        region, frontier, touched = {point}, [point], set()
        while frontier:
            for n in orthogonals(game.size)[frontier.pop()]:
                touched.add(game.stones[n])
                if game.stones[n] == 0 and n not in region:
                    region.add(n)
                    frontier.append(n)
        seen |= region
        if len(region) <= 2 and touched - {0} == {game.to_play}:
            found |= region
    return found
