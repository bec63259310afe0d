"""Jobs in which positions have playouts of their own, some many and some few: cut into pieces that are nearly alike.

A piece is some playouts of one position, no more than any other has; to a chunk (`jaxgo.running.chunks`) it is a position as any
other. So positions with all kinds of numbers share the same few programs, and no lane waits for the position with most.
"""

import dataclasses

import numpy as np

from jaxgo.running.request import Request

#: Playouts of a piece, at most; four times as many, and again up to the largest, where there would be more pieces than that: the
#: host adds each to its position.
PIECE, LARGEST, MOST_PIECES = 64, 1 << 20, 1 << 14


def size_of_pieces(total: int) -> int:
    """The most playouts of a piece in a job of so many."""
    size = PIECE
    while total > size * MOST_PIECES and size < LARGEST:
        size *= 4
    return size


def in_pieces(request: Request) -> tuple[Request, np.ndarray]:
    """(the same playouts as a request whose positions are pieces, int [pieces]: the position that each is of, in order)."""
    size = size_of_pieces(request.total)
    numbers = -(-request.counts // np.int32(size))
    if numbers.sum() == 1:  # and one without playouts: programs for one position are others
        numbers = numbers + np.int32(1)
    of = np.repeat(np.arange(request.batch), numbers)
    before = size * (np.arange(len(of)) - np.repeat(np.cumsum(numbers) - numbers, numbers)).astype(np.int32)
    counts = np.clip(request.counts[of] - before, np.int32(0), np.int32(size))
    cut = dataclasses.replace(
        request, columns=request.columns[:, of], num_playouts=size, counts=counts,
        komi=request.komi[of] if isinstance(request.komi, np.ndarray) else request.komi, streams=request.streams[of],
        first_playout=request.first_playout[of] + before,
    )  # fmt: skip
    return cut, of
