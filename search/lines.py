"""The lines of a stream, whose length is bounded: in both protocols whatever a program sends takes little memory and time."""

from collections.abc import Callable, Iterator

#: Bytes that are read at a time.
_BLOCK = 1 << 16


def lines(read: Callable[[int], bytes], longest: int) -> Iterator[bytes | None]:
    """The lines of a stream, without their ends; None for one that is too long, which is skipped.

    Args:
      read: reads up to so many bytes, none at the end.
      longest: bytes of a line.
    """
    held, skipping = bytearray(), False
    while block := read(_BLOCK):
        *whole, rest = block.split(b"\n")
        for part in whole:
            if skipping or len(held) + len(part) > longest:
                yield None
            else:
                yield bytes(held + part)
            held.clear()
            skipping = False
        if skipping or len(held) + len(rest) > longest:
            held.clear()
            skipping = True
        else:
            held += rest
    if skipping:
        yield None
    elif held:
        yield bytes(held)
