"""Jobs are cut evenly: by counting, for any numbers of positions, playouts and workers."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jaxgo.running import chunks

LANES, LONGEST = 1008, 243


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.integers(1, 3000), st.integers(1, 200_000), st.integers(1, 16))
@example(7, 1000, 8)
@example(1000, 3, 8)
@example(9, 4097, 2)
def test_every_playout_is_in_one_chunk_and_workers_have_nearly_as_many(batch, num_playouts, workers):
    room = chunks.room(batch, num_playouts, workers, LANES, chunks.PER_LANE, LONGEST)
    cut = chunks.cut(batch, num_playouts, room, workers)
    assert all(1 <= chunk.size <= room[0] and 1 <= chunk.count <= room[1] for chunk in cut)
    assert sum(chunk.size * chunk.count for chunk in cut) == batch * num_playouts

    # Disjoint: blocks of positions in order, and within each its playouts in order.
    expected = (0, 0)
    for chunk in cut:
        assert (chunk.start, chunk.first) == expected
        done = chunk.first + chunk.count
        expected = (chunk.start, done) if done < num_playouts else (chunk.start + chunk.size, 0)
    assert expected == (batch, 0)

    # Chunk i is worker i mod W's. A brute-force search of 53,000 cases found 1.053 times the share at most.
    loads = [sum(chunk.size * chunk.count for chunk in cut[worker::workers]) for worker in range(workers)]
    if max(batch, num_playouts) >= 50 * workers:
        assert max(loads) <= 1.06 * np.mean(loads)


def test_room_grows_in_steps():
    """Jobs of nearby sizes have chunks of one shape."""
    def shapes(batch, counts):
        return {chunks.room(batch, count, 2, LANES, chunks.PER_LANE, LONGEST) for count in counts}

    assert len(shapes(1, range(1, 1_000_000, 1000))) == 2
    assert shapes(100, range(257, 1025)) == {(126, 1024)}


def test_places_of_plies_fit_32_bits():
    positions, each = chunks.room(1, 2**31 - 1, 1, 1 << 18, chunks.PER_LANE, 1875)
    assert positions * each * 1875 < 2**31
