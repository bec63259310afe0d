"""The names of points, against sgfmill's."""

import doctest
import re

import numpy as np
import pytest
from sgfmill import common

from jaxgo.board import coordinates
from jaxgo.board.coordinates import coordinate, point


@pytest.mark.parametrize("size", range(2, 26))
def test_every_point_has_sgfmills_name_and_comes_back(size):
    for number in range(size * size):
        row, column = divmod(number, size)
        name = coordinate(number, size)
        assert name == common.format_vertex((size - 1 - row, column))
        assert point(name, size) == point(name.lower(), size) == number
    assert coordinate(size * size, size) == "pass"
    assert point("pass", size) == point("PASS", size) == size * size


def test_corners():
    assert [coordinate(number, 9) for number in (0, 8, 72, 80)] == ["A9", "J9", "A1", "J1"]
    assert coordinate(24, 25) == "Z25"
    assert coordinate(np.int16(40), np.int32(9)) == "E5"


def test_examples():
    assert doctest.testmod(coordinates).failed == 0


@pytest.mark.parametrize("name", ["", "E", "5", "I5", "K5", "E0", "E10", "E-1", "E5 ", "E5E5", "5E", "E005", "E٥", "Ｅ5", "passs"])
def test_names_that_are_no_point(name):
    allowed = f'name must be a column, A to J without I, and a row, 1 to 9, such as "A1", or "pass", not {name!r}'
    with pytest.raises(ValueError, match=f"^{re.escape(allowed)}$"):
        point(name, 9)


def test_small_boards_have_no_word_of_the_missing_letter():
    with pytest.raises(ValueError, match='name must be a column, A to H, and a row, 1 to 8, such as "A1", or "pass", not \'J1\''):
        point("J1", 8)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="name must be a str such as 'E5', not 40"):
        point(40, 9)
    with pytest.raises(ValueError, match="point must be between 0 and 81, not 82"):
        coordinate(82, 9)
    with pytest.raises(ValueError, match="point must be between 0 and 81, not -1"):
        coordinate(-1, 9)
    with pytest.raises(TypeError, match="point must be an integer, not 'E5'"):
        coordinate("E5", 9)
    for wrong in (1, 26):
        with pytest.raises(ValueError, match=f"size must be between 2 and 25, not {wrong}"):
            point("A1", wrong)
        with pytest.raises(ValueError, match=f"size must be between 2 and 25, not {wrong}"):
            coordinate(0, wrong)


def test_star_points_are_those_of_printed_boards():
    sizes = (2, 4, 5, 7, 8, 9, 12, 13, 17, 18, 19, 25)
    assert [len(coordinates.star_points(size)) for size in sizes] == [0, 0, 1, 5, 4, 5, 4, 5, 5, 4, 9, 9]
    assert coordinates.star_points(12)[0] == (2, 2) and coordinates.star_points(13)[0] == (3, 3)
