"""Jobs are cut so that little is wasted: by counting, for any numbers of positions, playouts and workers."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jaxgo.base.constants import MAX_SIZE, MIN_SIZE, max_plies
from jaxgo.results.sums import LOW
from jaxgo.running import chunks

LANES, LONGEST = 1008, 243


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.integers(1, 3000), st.integers(1, 200_000), st.integers(1, 16))
@example(7, 1000, 8)
@example(1000, 3, 8)
@example(9, 4097, 2)
@example(1, 2**31 - 1, 2)
def test_every_playout_is_in_one_chunk(batch, num_playouts, workers):
    room = chunks.room(batch, num_playouts, workers, LANES, chunks.PER_LANE, LONGEST)
    cut = chunks.cut(batch, num_playouts, room, workers, LANES)
    assert all(1 <= chunk.size <= room[0] and 1 <= chunk.count <= room[1] for chunk in cut)
    assert sum(chunk.size * chunk.count for chunk in cut) == batch * num_playouts

    # Disjoint: blocks of positions in order, and within each its playouts in order.
    expected = (0, 0)
    for chunk in cut:
        assert (chunk.start, chunk.first) == expected
        done = chunk.first + chunk.count
        expected = (chunk.start, done) if done < num_playouts else (chunk.start + chunk.size, 0)
    assert expected == (batch, 0)


def work(batch: int, num_playouts: int, workers: int, per_lane=chunks.PER_LANE) -> tuple[int, int, int]:
    """(playouts, chunks, room for playouts) of the worker who has most of all of them to do; chunk i is worker i mod W's."""
    room = chunks.room(batch, num_playouts, workers, LANES, per_lane, LONGEST)
    cut = chunks.cut(batch, num_playouts, room, workers, LANES)
    of_workers = [cut[worker::workers] for worker in range(workers)]
    most = max(of_workers, key=lambda own: sum(chunk.size * chunk.count + LANES for chunk in own))
    return sum(chunk.size * chunk.count for chunk in most), len(most), len(most) * room[0] * room[1]


def waste(batch: int, num_playouts: int, workers: int, per_lane=chunks.PER_LANE) -> float:
    """How much more a worker has to do than if all work could be shared out and he had one chunk, without room to spare: in
    playouts, where the ends of a chunk cost one for each lane, and room for 16 as much as one."""
    playouts, number, room = work(batch, num_playouts, workers, per_lane)
    return (playouts + number * LANES + room / 16) / (batch * num_playouts / workers + LANES)


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.integers(1, 3000), st.integers(1, 200_000), st.integers(1, 16))
@example(7, 300, 2)
@example(8, 300, 2)
@example(1, 2400, 2)
@example(9, 4097, 2)
@example(66, 259, 4)
@example(170, 5285, 16)
@example(15_000, 1, 14)
def test_little_is_wasted(batch, num_playouts, workers):
    """Where there is enough to share out. Small jobs on many workers waste most: room is cheap to leave unused."""
    if max(batch, num_playouts) >= 50 * workers:
        assert waste(batch, num_playouts, workers) <= 6
        assert waste(batch, num_playouts, workers, chunks.PER_LANE_WITH_MOVES) <= 6
    if batch * num_playouts >= 500 * LANES * workers:
        assert waste(batch, num_playouts, workers) <= 2.5


def test_a_playout_more_does_not_cost_much():
    """There is no cliff: another position costs no more than all before it, and mostly far less."""
    for workers in (1, 2, 8):
        for num_playouts in (16, 100, 300, 1000, 5000):
            for per_lane in (chunks.PER_LANE, chunks.PER_LANE_WITH_MOVES):
                before = None
                for batch in range(1, 64):
                    playouts, number, room = work(batch, num_playouts, workers, per_lane)
                    cost = playouts + number * LANES + room / 16
                    assert before is None or cost <= 3 * before, (batch, num_playouts, workers)
                    before = cost


def test_few_playouts_are_not_shared_out():
    """On many cores to begin a chunk for each would take longer than all playouts of one."""
    for workers in (2, 16, 64):
        room = chunks.room(1, 16, workers, LANES, chunks.PER_LANE, LONGEST)
        assert len(chunks.cut(1, 16, room, workers, LANES)) == 1
        room = chunks.room(1, 100_000, workers, LANES, chunks.PER_LANE, LONGEST)
        assert len(chunks.cut(1, 100_000, room, workers, LANES)) >= min(8, workers)


def test_room_grows_in_steps():
    """Jobs of nearby sizes have chunks of one shape."""
    def shapes(batch, counts):
        return {chunks.room(batch, count, 2, LANES, chunks.PER_LANE, LONGEST) for count in counts}

    assert len(shapes(1, range(1, 1_000_000, 1000))) == len(chunks.PER_LANE)
    assert shapes(100, range(257, 1025)) == {(126, 1024)}


def test_large_room_is_summed_in_whole_steps():
    """Of a GPU's lanes, on the sizes where plies limit it."""
    for longest in (243, 507, 1083, 1875):
        for per_lane in (chunks.PER_LANE, chunks.PER_LANE_WITH_MOVES):
            for num_playouts in (200_000, 2_000_000, 10**9):
                positions, each = chunks.room(1, num_playouts, 1, 132 * 1024, per_lane, longest)
                assert positions == 1 and each % chunks.WHOLE == 0 and each >= min(num_playouts // 2, 1 << 20)


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
def test_sums_of_a_chunk_fit_32_bits(size):
    """Of plies, margins, and both parts of their squares, whatever the lanes; the same of several positions."""
    margins = np.arange(size * size + 1)
    brings = max(max_plies(size), size * size, (margins**2 // LOW).max(), (margins**2 % LOW).max())
    for lanes in (1008, 132 * 1024, 1 << 18):
        for batch in (1, 3, 100):
            positions, each = chunks.room(batch, 2**31 - 1, 1, lanes, chunks.PER_LANE, max_plies(size))
            assert positions >= 1 and each * int(brings) < 2**31


def test_places_of_plies_fit_32_bits():
    positions, each = chunks.room(1, 2**31 - 1, 1, 1 << 18, chunks.PER_LANE, 1875)
    assert positions * each * 1875 < 2**31
