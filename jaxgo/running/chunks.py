"""How a job is cut into chunks, of which each is one call of a compiled program for one worker."""

import dataclasses
import math

from jaxgo.base.constants import INT32_MAX

#: Playouts of a chunk for each lane: enough that the last games of a chunk, when lanes run empty, cost little.
PER_LANE = 128
#: The same where a chunk's moves are kept: they take much memory, and pass through the cache.
PER_LANE_WITH_MOVES = 32
#: A worker may have so many times his share, where that takes fewer chunks.
NEARLY_EVEN = 1.03


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Playouts first to first + count - 1 of positions start to start + size - 1."""

    start: int
    size: int
    first: int
    count: int


#: The chunk of a worker for which there is none left.
NO_PLAYOUTS = Chunk(0, 0, 0, 0)


def room(batch: int, num_playouts: int, workers: int, lanes: int, per_lane: int, longest: int) -> tuple[int, int]:
    """(positions, playouts of each) that a chunk has room for.

    Room that is not needed costs little, another shape costs a compilation: so there are two sizes of chunks, and powers of four
    of playouts of each position.

    Args:
      batch, num_playouts: how many positions, and playouts of each.
      workers: how many there are.
      lanes: playouts that a worker plays at a time.
      per_lane: playouts of a large chunk for each lane.
      longest: the most plies of a playout.
    """
    share = -(-batch * num_playouts // workers)
    size = lanes * (1 if share <= lanes else per_lane)
    size = min(size, INT32_MAX // longest)  # sums and places of plies are 32-bit
    each = size if batch == 1 else min(4 ** ((num_playouts - 1).bit_length() + 1 >> 1), size)
    return size // each, each


def cut(batch: int, num_playouts: int, room: tuple[int, int], workers: int) -> list[Chunk]:
    """Chunks that fit the room: as many for one worker as for another, as far as positions and playouts can be divided.

    Chunk i is meant for worker i mod W. Few chunks are best, as lanes run empty at the end of each.
    """
    blocks, parts = -(-batch // room[0]), -(-num_playouts // room[1])
    ways = [
        _grid(batch, num_playouts, blocks, _rounded(parts, workers // math.gcd(workers, blocks))),
        _grid(batch, num_playouts, _rounded(blocks, workers // math.gcd(workers, parts)), parts),
        _grid(batch, num_playouts, blocks, _rounded(parts, workers)),
    ]
    most = [max(sum(chunk.size * chunk.count for chunk in way[i::workers]) for i in range(workers)) for way in ways]
    enough = max(min(most), NEARLY_EVEN * batch * num_playouts / workers)
    return next(way for way, load in zip(ways, most) if load <= enough)


def _grid(batch: int, num_playouts: int, blocks: int, parts: int) -> list[Chunk]:
    """So many blocks of positions times so many parts of their playouts, or as many as there can be."""
    return [
        Chunk(start, size, first, count)
        for start, size in _even(batch, min(batch, blocks))
        for first, count in _even(num_playouts, min(num_playouts, parts))
    ]


def _rounded(number: int, multiple: int) -> int:
    """The least multiple that is at least the number."""
    return -(-number // multiple) * multiple


def _even(total: int, parts: int) -> list[tuple[int, int]]:
    """(start, size) of so many parts of nearly one size."""
    bounds = [total * i // parts for i in range(parts + 1)]
    return [(a, b - a) for a, b in zip(bounds, bounds[1:])]
