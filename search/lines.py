"""The lines of a stream, whose length is bounded: in both protocols whatever a program sends takes little memory and time."""

from collections.abc import Callable, Iterator

#: Bytes that are read at a time.
_BLOCK = 1 << 16
#: What is kept of a line that is too long.
_KEPT = 64


class TooLong(bytes):
    """The beginning of a line that is too long; the rest of it has been skipped."""


def lines(read: Callable[[int], bytes], longest: int) -> Iterator[bytes]:
    """The lines of a stream, without their ends; `TooLong` for one that is.

    Args:
      read: reads up to so many bytes, none at the end.
      longest: bytes of a line.
    """
    held, skipped = bytearray(), None
    while block := read(_BLOCK):
        *whole, rest = block.split(b"\n")
        for part in whole:
            whole_line = held + part
            if skipped is None and len(whole_line) > longest:
                skipped = TooLong(whole_line[:_KEPT])
            yield bytes(whole_line) if skipped is None else skipped
            held.clear()
            skipped = None
        if skipped is None:
            held += rest
            if len(held) > longest:
                skipped = TooLong(held[:_KEPT])
                held.clear()
    if skipped is not None:
        yield skipped
    elif held:
        yield bytes(held)
