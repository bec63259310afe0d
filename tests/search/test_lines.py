"""Lines of a stream, of bounded length."""

import tracemalloc

import pytest

from search.lines import TooLong, lines


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
        (b"123456\n1234567\n12\n", [b"123456", TooLong(b"1234567"), b"12"]),
        (b"1234567890123456789\nab", [TooLong(b"1234567"), b"ab"]),
        (b"ab\n1234567890123456789", [b"ab", TooLong(b"1234567")]),
    ],
)
def test_lines(data, expected, block):
    """Of a line of more than 6 bytes what has come when that is seen, 7 bytes at least, however it arrives."""
    found = list(lines(reader(data, block), 6))
    assert [type(line) for line in found] == [type(line) for line in expected]
    assert [line[:7] for line in found] == expected


def test_a_line_without_an_end_takes_no_memory():
    blocks = iter([b"x" * 60_000] * 500)
    tracemalloc.start()
    try:
        assert list(lines(lambda _: next(blocks, b""), 100_000)) == [b"x" * 64]
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
