"""How a job is cut into chunks, of which each is one call of a compiled program for one worker."""

import dataclasses
import functools
import math

import numpy as np

from jaxgo.base.constants import INT32_MAX
from jaxgo.results.sums import LOW

#: Playouts that a chunk has room for, for each lane (see also `Backend.lanes_of_room`): few sizes, as each takes a
#: compilation. The largest have so many that the last games, when lanes run empty, cost little.
PER_LANE = (1, 16, 128)
#: The same where a chunk's moves are kept: they take much memory, and pass through the cache.
PER_LANE_WITH_MOVES = (1, 8, 32)
#: Room for at least so many playouts of one position comes in multiples of this, so that they are summed in whole steps
#: (`jaxgo.results.sums`).
WHOLE = 1 << 17
#: Room for a playout that is not played costs about as much as so many of the most plies of one that is: at 9x9 a fortieth of a
#: playout, measured on a CPU.
PLIES_OF_ROOM = 6
#: To begin a chunk, and to take what comes of it, costs the host, one after the other, as much as a playout for one of so many
#: lanes.
LANES_OF_HOST = 8


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Playouts first to first + count - 1 of positions start to start + size - 1."""

    start: int
    size: int
    first: int
    count: int


#: The chunk of a worker for which there is none left.
NO_PLAYOUTS = Chunk(0, 0, 0, 0)


def room(batch: int, num_playouts: int, workers: int, lanes: int, per_lane: tuple[int, ...], longest: int) -> tuple[int, int]:
    """(positions, playouts of each) that a chunk has room for.

    Playouts of each of several positions come in powers of four. Of the sizes of chunks it is the one that costs least. Few
    chunks are best: the end of each, when its lanes run empty, takes about as long as a playout for each lane. But room that is
    not needed costs time as well.

    Args:
      batch, num_playouts: how many positions, and playouts of each.
      workers: how many there are.
      lanes: playouts that a worker plays at a time.
      per_lane: playouts that chunks have room for, for each lane.
      longest: the most plies of a playout.
    """
    # Sums and places of plies are 32-bit; of what is summed up, a playout brings its plies, or part of its margin's square.
    most, rooms = INT32_MAX // max(longest, LOW - 1), []
    for size in (min(lanes * number, most) for number in per_lane):
        size -= size % WHOLE if size >= WHOLE else 0
        each = size if batch == 1 else min(4 ** ((num_playouts - 1).bit_length() + 1 >> 1), size)
        rooms.append((size // each, each))

    def cost(room: tuple[int, int]) -> int:
        chunks_of_worker = -(-math.prod(_fewest(batch, num_playouts, room)) // workers)
        return chunks_of_worker * (lanes + math.prod(room) * PLIES_OF_ROOM // longest)

    return min(rooms, key=cost)


def cut(batch: int, num_playouts: int, room: tuple[int, int], workers: int, lanes: int) -> list[Chunk]:
    """Chunks that fit the room, cut so that all is done soonest.

    Chunk i is meant for worker i mod W. A chunk takes about as long as its playouts and one more for each lane, and the host some
    time for each.
    """
    bounds = _bounds(batch, num_playouts, _soonest(batch, num_playouts, room, workers, lanes))
    positions, playouts = (list(zip(x[:-1].tolist(), np.diff(x).tolist())) for x in bounds)
    return [Chunk(*block, *part) for block in positions for part in playouts]


@functools.lru_cache(256)  # programs ask for the same again and again, and there are twice as many ways as workers
def _soonest(batch: int, num_playouts: int, room: tuple[int, int], workers: int, lanes: int) -> tuple[int, int]:
    """Into how many blocks of positions and parts of their playouts `cut` cuts."""
    blocks, parts = _fewest(batch, num_playouts, room)
    ways = [(blocks, parts + i) for i in range(workers)] + [(blocks + i, parts) for i in range(1, workers)]

    def time(way: tuple[int, int]) -> int:
        sizes, counts = (np.diff(bounds) for bounds in _bounds(batch, num_playouts, way))
        of_chunks = np.multiply.outer(sizes, counts).ravel() + lanes
        of_workers = np.pad(of_chunks, (0, -len(of_chunks) % workers)).reshape(-1, workers).sum(axis=0)
        return int(of_workers.max()) + len(of_chunks) * lanes // LANES_OF_HOST

    return min(ways, key=time)


def _fewest(batch: int, num_playouts: int, room: tuple[int, int]) -> tuple[int, int]:
    """The least numbers of (blocks of positions, parts of their playouts) that fit the room."""
    return -(-batch // room[0]), -(-num_playouts // room[1])


def _bounds(batch: int, num_playouts: int, way: tuple[int, int]) -> list[np.ndarray]:
    """Where blocks of positions and parts of playouts begin and end: so many of nearly one size, or as many as there can be."""
    numbers = ((batch, min(batch, way[0])), (num_playouts, min(num_playouts, way[1])))
    return [total * np.arange(parts + 1, dtype=np.int64) // parts for total, parts in numbers]
