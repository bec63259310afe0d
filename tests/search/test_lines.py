"""Lines of a stream, of bounded length."""

import tracemalloc

import pytest

from search.lines import lines


def reader(data: bytes, block: int):
    """Reads `data` a few bytes at a time."""
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    return lambda _: blocks.pop(0) if blocks else b""


@pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"ab\ncd\n", [b"ab", b"cd"]),
        (b"ab\ncd", [b"ab", b"cd"]),
        (b"\n\nab\r\n", [b"", b"", b"ab\r"]),
        (b"123456\n1234567\n12\n", [b"123456", None, b"12"]),
        (b"1234567890123456789\nab", [None, b"ab"]),
        (b"ab\n1234567890123456789", [b"ab", None]),
    ],
)
def test_lines(data, expected, block):
    """None for a line of more than 6 bytes, however it arrives."""
    assert list(lines(reader(data, block), 6)) == expected


def test_a_line_without_an_end_takes_no_memory():
    blocks = iter([b"x" * 60_000] * 500)
    tracemalloc.start()
    try:
        assert list(lines(lambda _: next(blocks, b""), 100_000)) == [None]
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
