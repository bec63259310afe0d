"""How many playouts run at a time."""

import pytest

from jaxgo.backends.devices import default_lanes, lanes_for
from jaxgo.board.geometry import MAX_SIZE, MIN_SIZE


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
def test_a_cpus_lanes_are_odd_numbers_of_cache_lines(size):
    """16 words of 32 bits are a line; an even number of lines would make arrays share sets of the cache."""
    assert default_lanes(size) % 32 == 16


@pytest.mark.parametrize(
    ("most", "wanted", "expected"),
    [(1072, 1, 16), (1072, 16, 16), (1072, 17, 48), (1072, 512, 528), (1072, 1024, 1040), (1072, 5000, 1072), (7, 5000, 7), (7, 0, 7)],
)
def test_lanes_of_a_cpu_suffice_for_what_is_wanted(most, wanted, expected):
    assert lanes_for(most, wanted, "cpu") == expected


def test_lanes_of_a_gpu_are_those_wanted():
    assert [lanes_for(1 << 18, wanted, "gpu") for wanted in (0, 1000, 1 << 20)] == [1, 1000, 1 << 18]
