"""Numbers of what lies around a point: which are alike, and the table that their weights are looked up in."""

import numpy as np

from jaxgo.playing.policies import pattern_table
from search.shapes import FREE, PATTERNS, SHAPES, SIDES, SPREAD, TURNS, alike, table, turned, turned_sides
from tests.scalar_features import turned_shapes


def test_shapes_turn_as_boards_do():
    """All eight ways, of 300 numbers."""
    numbers = np.random.default_rng(1).integers(0, SHAPES, 300)
    ways = [turned(numbers, turn).tolist() for turn in range(TURNS)]
    assert ways[0] == numbers.tolist()
    for i, number in enumerate(numbers.tolist()):
        assert sorted(way[i] for way in ways) == sorted(turned_shapes(number))
    assert alike(numbers).tolist() == [min(turned_shapes(number)) for number in numbers.tolist()]


def test_patterns_are_alike_where_the_eight_points_of_shapes_are():
    assert np.array_equal(alike(np.arange(PATTERNS)), pattern_table.alike())


def test_sides_turn_as_boards_do():
    """By hand: above, left, right and below, in octal from the right; and Burnside's count of all."""
    ways = {int(turned_sides(np.array([0o4321]), turn)[0]) for turn in range(TURNS)}
    assert ways == {0o4321, 0o4231, 0o1324, 0o1234, 0o2413, 0o2143, 0o3412, 0o3142}
    numbers = np.arange(SIDES)
    least = alike(numbers, turned_sides)
    assert (least <= numbers).all() and np.array_equal(alike(least, turned_sides), least)
    assert len(np.unique(least)) == (8**4 + 2 * 8 + 8**2 + 2 * 8**3 + 2 * 8**2) // 8


def test_weights_are_found_in_the_table():
    """Those of all that are alike, and of no others."""
    rng = np.random.default_rng(2)
    shapes = np.unique(alike(rng.integers(0, SHAPES - 1, 500)))
    weights = rng.integers(-127, 128, len(shapes)).astype(np.int8)
    held = table(shapes, weights)
    assert held.dtype == np.uint32 and len(held) & len(held) - 1 == 0
    wanted = {turn: weight for shape, weight in zip(shapes.tolist(), weights.tolist()) for turn in turned_shapes(shape)}
    assert np.count_nonzero(held != FREE) == len(wanted) < len(held)
    entries = held.tolist()
    for number in [*wanted, *rng.integers(0, SHAPES - 1, 500).tolist()]:
        place = (number * SPREAD % 2**32) * len(entries) >> 32
        while entries[place] >> 8 != number and entries[place] != FREE:
            place = (place + 1) % len(entries)
        found = int(np.uint8(entries[place] & 255).astype(np.int8)) if entries[place] != FREE else None
        assert found == wanted.get(number)


def test_a_table_of_nothing():
    held = table(np.empty(0, np.int64), np.empty(0, np.int8))
    assert (held == FREE).all() and len(held) >= 1
