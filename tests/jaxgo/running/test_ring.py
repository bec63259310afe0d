"""Leaves on their way: however calls follow each other on a device, they get the playouts of their names."""

import concurrent.futures
import itertools
import threading
import time
import types
from collections.abc import Iterable

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo import LeafResults, Leaves, Position
from jaxgo.backends import choice
from jaxgo.backends.cpu import Cpu
from jaxgo.backends.programs import Programs
from jaxgo.base.processor import usable_cores
from jaxgo.running import at_work, ring, ring_program, rings
from tests.positions import FEW
from tests.wide import wide

SIZE, LEAVES, PLAYOUTS = 5, 16, 4


def start(leaves: Leaves, count: int, first_stream: int, **options):
    """Begins a call: a stone on the first points of the empty board, or on the one before the stream's number."""
    streams = first_stream + np.arange(count)
    arguments = leaves.arguments_of(Position.empty(leaves.size, count))
    return leaves.submit(*arguments, moves=streams % leaves.size**2, streams=streams, **options)


def assert_equal(found: LeafResults, expected: LeafResults) -> None:
    for name, x in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), x, err_msg=name)


def one_by_one(counts, **options) -> list[LeafResults]:
    """The results of calls that never meet."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=jax.devices()[0], **options)
    firsts = [0, *itertools.accumulate(counts)]
    return [leaves.gather(start(leaves, count, first)) for count, first in zip(counts, firsts)]


COUNTS = [16, 1, 7, 16, 16, 2, 16, 3, 16, 16, 5]


@pytest.fixture(autouse=True)
def rings_for_many(monkeypatch) -> None:
    """All calls are in one line, however few playouts are under way."""
    monkeypatch.setattr("jaxgo.running.leaves.WORTH", 0)


@pytest.fixture
def apart(monkeypatch) -> None:
    """No calls are taken together: each has a place of its own."""
    take = ring.Ring._take

    def take_one(self):
        later = [self._waiting.pop() for _ in range(len(self._waiting) - 1)]
        load = take(self)
        self._waiting.extend(reversed(later))
        return load

    monkeypatch.setattr(ring.Ring, "_take", take_one)


@pytest.mark.parametrize("moves", [False, True])
def test_calls_under_way_together(apart, moves):
    """All at once: more than there are places, so that some wait in line."""
    expected = one_by_one(COUNTS, moves=moves)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=jax.devices()[0], moves=moves)
    with leaves._rings.rings[0]._lock:
        under_way = [start(leaves, count, first) for count, first in zip(COUNTS, [0, *itertools.accumulate(COUNTS)])]
    for call, result in zip(under_way, expected):
        assert_equal(leaves.gather(call), result)


@pytest.mark.parametrize("devices", [1, 2])
def test_small_calls_are_taken_together(monkeypatch, devices):
    """As many as there is room for, of those that wait; but none takes more than its share. Each call has what is its own."""
    real_take, real_may_take, loads = ring.Ring._take, ring.Ring._may_take, []

    def take(self):
        waiting = len(self._waiting)
        loads.append((real_take(self), waiting))
        return loads[-1][0]

    def may_take(self):  # not before all of them wait, however slowly they come
        return real_may_take(self) and (bool(loads) or len(self._waiting) == len(counts))

    counts = [3] * 40
    expected = one_by_one(counts)
    monkeypatch.setattr(ring.Ring, "_take", take)
    monkeypatch.setattr(ring.Ring, "_may_take", may_take)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=devices)
    under_way = [start(leaves, count, 3 * i) for i, count in enumerate(counts)]
    for call, result in zip(under_way, expected):
        assert_equal(leaves.gather(call), result)
    taken = [len(load.calls) for load, _ in loads]
    assert sum(taken) == 40 and 1 < max(taken) and max(load.count for load, _ in loads) <= rings.TOGETHER * LEAVES
    assert all(len(load.calls) <= -(-waiting // devices) for load, waiting in loads)


@pytest.mark.wide
def test_words_of_64_bits_stay_on_the_device():
    """Boards above 15x15 are played in 64-bit words, which jax knows only where it is told so."""
    position, streams = Position.empty(16, 3), np.arange(3)
    leaves = Leaves(16, 3, 2, devices=jax.devices()[0])
    arguments = leaves.arguments_of(position)
    under_way = [leaves.submit(*arguments, moves=[256] * 3, streams=streams + 3 * i) for i in range(4)]
    # Of as many playouts as other tests ask for, and so by their program.
    played = jaxgo.playouts(position.play(256), FEW, streams=streams + 9, moves=True)
    found = [leaves.gather(call) for call in under_way][-1]
    np.testing.assert_array_equal(found.lead, -played.margin[:, :2].sum(axis=1))


def test_calls_have_seeds_and_komi_of_their_own():
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS)
    under_way = [start(leaves, 4, 0, seed=seed, komi=komi) for seed, komi in ((0, 7.5), (2**64 - 1, 7.5), (0, -30.0))]
    found = [leaves.gather(call) for call in under_way]
    assert (found[0].lead != found[1].lead).any()
    np.testing.assert_array_equal(found[0].lead, found[2].lead)
    assert (found[2].wins == 0).all()  # White is to move, and Black wins by any margin
    for seed, call in zip((0, 2**64 - 1), found):
        moved = Position.empty(SIZE, 4).play(np.arange(4))
        played = jaxgo.playouts(moved, PLAYOUTS, seed=seed)
        np.testing.assert_array_equal(call.lead, -played.margin.sum(axis=1))


def test_dropped_calls_leave_no_trace():
    expected = one_by_one([16] * 6)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=jax.devices()[0])
    under_way = [start(leaves, 16, 16 * i) for i in range(6)]
    for dropped in (0, 2, 3):
        leaves.drop(under_way[dropped])
    for kept in (1, 4, 5):
        assert_equal(leaves.gather(under_way[kept]), expected[kept])
    for i in range(3):  # all of them
        leaves.drop(start(leaves, 16, 16 * i))
    assert_equal(leaves.gather(start(leaves, 16, 80)), expected[5])


def numbers_of(waiting: Iterable[ring.Call], calls: list) -> list[int]:
    """Which of the calls these are, of one part each."""
    return [[call.parts[0] for call in calls].index(each.promise) for each in waiting]


def test_what_is_dropped_in_line_is_not_taken(monkeypatch):
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    (only,) = leaves._rings.rings
    monkeypatch.setattr(only, "begin", lambda: None)
    calls = [start(leaves, 16, 16 * i) for i in range(6)]
    for dropped in (0, 2):
        leaves.drop(calls[dropped])
    assert only._may_take() and numbers_of(only._take().calls, calls) == [1, 3, 4, 5]
    later = [start(leaves, 16, 16 * i) for i in range(2)]
    assert only._may_take()
    for dropped in later:  # too late for the first, which it has decided to take
        leaves.drop(dropped)
    assert numbers_of(only._take().calls, later) == [0] and not only._may_take()
    leaves.close()


def test_what_is_dropped_under_way_holds_nothing_up(apart, monkeypatch):
    """Nobody wants any more what a device has when it is asked for more: it begins anew, with the next call."""
    expected, real_take = one_by_one([16] * 4), ring.Ring._take
    leaves, taken, calls = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1), [], []

    def take(self):
        load = real_take(self)
        taken.append(load)
        if len(taken) == 2:  # when the first is finished, this is all that is under way
            for call in load.calls:
                call.promise.take_back()
        return load

    monkeypatch.setattr(ring.Ring, "_take", take)
    with leaves._rings.rings[0]._lock:  # so that two wait before the first begins
        calls += [start(leaves, 16, 16 * i) for i in range(2)]
    assert leaves.wait(calls[0], 60)
    assert_equal(leaves.gather(calls[0]), expected[0])
    for i in (2, 3):
        calls.append(start(leaves, 16, 16 * i))
        assert leaves.wait(calls[-1], 60)
        assert_equal(leaves.gather(calls[-1]), expected[i])
    leaves.close()


def test_seconds_of_work_are_those_of_the_device(monkeypatch):
    """Not those in which its program is compiled, or waits for a call."""
    clock, real, real_bring = [0], ring_program.compiled, ring.Ring._bring

    def compiled(*key):
        clock[0] += 1000
        return real(*key)

    def bring(self, *found):
        clock[0] += 1
        real_bring(self, *found)

    monkeypatch.setattr(ring, "time", types.SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(ring_program, "compiled", compiled)
    monkeypatch.setattr(ring.Ring, "_bring", bring)
    for name, x in (("LONGEST", 1e9), ("LONGEST_OF_MANY", 1e9), ("PATIENCE", 60.0)):
        monkeypatch.setattr(ring, name, x)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    (only,) = leaves._rings.rings
    wait_for = only._news.wait_for

    def waiting(*asked):
        clock[0] += 1000
        return wait_for(*asked)

    only._news.wait_for = waiting
    for number in (1, 1, 9):  # one after the other, and in several steps
        with only._lock:
            under_way = [start(leaves, 16, 16 * i) for i in range(number)]
        for call in under_way:
            leaves.gather(call)
        assert leaves.busy_seconds == clock[0] % 1000
    leaves.close()


def test_a_program_ends_where_another_ring_waits_for_the_device(monkeypatch):
    """And only there: alone it goes on and on."""
    while at_work.number(jax.local_devices()[0]):  # those of other tests end on their own
        time.sleep(0.001)
    begun, real = [], ring_program.compiled

    def compiled(*key):
        begun.append(key)
        return real(*key)

    monkeypatch.setattr(ring_program, "compiled", compiled)
    for name, x in (("LONGEST", 60.0), ("LONGEST_OF_MANY", 0.0), ("PATIENCE", 60.0)):
        monkeypatch.setattr(ring, name, x)
    monkeypatch.setattr(at_work, "side_by_side", lambda device: 2)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    for i in range(3):
        leaves.gather(start(leaves, 16, 16 * i))
    device = jax.devices()[0]
    with at_work.on([device]):
        for i in range(3):
            leaves.gather(start(leaves, 16, 16 * i))
        assert len(begun) == 1  # they run side by side
        with at_work.on([device]):
            for i in range(3):
                leaves.gather(start(leaves, 16, 16 * i))
            assert len(begun) == 3  # the first of these calls found the program waiting for it
    leaves.close()
    while at_work.number(jax.local_devices()[0]):
        time.sleep(0.001)


def test_what_is_closed_takes_no_calls_even_while_it_works():
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    under_way = [start(leaves, 16, 16 * i) for i in range(20)]
    leaves.close()
    with pytest.raises(RuntimeError, match="closed"):
        start(leaves, 16, 0)
    with pytest.raises(concurrent.futures.CancelledError):
        leaves.gather(under_way[-1])


@pytest.mark.parametrize("taken_back_by", [Leaves.drop, lambda leaves, call: leaves.close()], ids=["drop", "close"])
def test_nobody_waits_for_what_is_taken_back(taken_back_by):
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    with leaves._rings.rings[0]._lock:  # so that it has not begun
        call = start(leaves, 16, 0)
        taken_back_by(leaves, call)
        began = time.monotonic()
        assert leaves.done(call) and leaves.wait(call, 60)
        assert time.monotonic() - began < 50
    with pytest.raises(concurrent.futures.CancelledError):
        leaves.gather(call)
    leaves.close()


def test_a_call_that_fails_does_not_spoil_the_next(monkeypatch):
    expected = one_by_one([16])[0]
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    started, may_fail, real = threading.Event(), threading.Event(), ring_program.compiled

    def failing(*_):
        started.set()
        may_fail.wait(60)
        raise MemoryError("no room")

    monkeypatch.setattr(ring_program, "compiled", failing)
    bad = start(leaves, 16, 16)
    assert started.wait(60)
    monkeypatch.setattr(ring_program, "compiled", real)
    may_fail.set()
    with pytest.raises(MemoryError, match="no room"):
        leaves.gather(bad)
    assert_equal(leaves.gather(start(leaves, 16, 0)), expected)


def test_a_device_that_fails_late_does_not_spoil_the_next(monkeypatch):
    """Both have a part of a call; when the second fails, the first has failed already and taken of the next call."""
    expected = one_by_one([16])[0]
    leaves, real, real_take = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2), ring_program.compiled, ring.Ring._take
    numbers, both_began, next_is_taken, taken = itertools.count(), threading.Barrier(2), threading.Event(), []
    leaves._rings._least = 1

    def failing(*_):
        number = next(numbers)
        both_began.wait(60)
        assert number == 0 or next_is_taken.wait(60)
        raise MemoryError("no room")

    def take(self):
        load = real_take(self)
        taken.extend(load.calls)
        if len(taken) >= 2:  # the other part of the first call, and one of the next
            next_is_taken.set()
        return load

    monkeypatch.setattr(ring_program, "compiled", lambda *args: (failing if next(calls) < 2 else real)(*args))
    monkeypatch.setattr(ring.Ring, "_take", take)
    calls = itertools.count()
    bad = start(leaves, 16, 16)
    with pytest.raises(MemoryError, match="no room"):
        leaves.gather(bad)
    assert_equal(leaves.gather(start(leaves, 16, 0)), expected)


def test_a_call_that_fails_does_not_spoil_those_beside_it(monkeypatch):
    """Whichever of the program's steps it is, in which leaves of others were under way: these are played again."""
    expected, real = one_by_one([16] * 6), ring.Ring._bring
    for failing in range(6):
        steps = itertools.count()

        def bring(*found, steps=steps, failing=failing):
            if next(steps) == failing:
                raise MemoryError("no room")
            real(*found)

        monkeypatch.setattr(ring.Ring, "_bring", bring)
        leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
        under_way, failed = [start(leaves, 16, 16 * i) for i in range(6)], 0
        for call, result in zip(under_way, expected):
            try:
                found = leaves.gather(call)
            except MemoryError:
                failed += 1
            else:
                assert_equal(found, result)
        assert failed == (next(steps) > failing)  # otherwise there were not so many steps
        assert failed or failing > 1


def test_a_failure_is_that_of_the_oldest_call_alone(monkeypatch):
    """Others go back to the head of the line, in their order, but for those that nobody wants. Where none was taken it is the first
    one's, unless another ring has it by now."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    (only,) = leaves._rings.rings
    monkeypatch.setattr(only, "begin", lambda: None)
    calls = [start(leaves, 16, 16 * i) for i in range(9)]
    assert [numbers_of(only._take().calls, calls) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    leaves.drop(calls[5])
    only._state = "what the device has"
    only._fail(MemoryError("no room"), None)
    assert numbers_of(only._waiting, calls) == [1, 2, 3, 4, 6, 7, 8] and not only.under_way and only._state is None
    first = only._waiting[0]
    for _ in range(2):
        only._fail(MemoryError("no room"), first)
        assert numbers_of(only._waiting, calls) == [2, 3, 4, 6, 7, 8]
    for failed in calls[:2]:
        with pytest.raises(MemoryError, match="no room"):
            leaves.gather(failed)
    assert not any(map(leaves.done, (*calls[2:5], *calls[6:])))
    leaves.close()


@pytest.mark.parametrize("moves", [False, True])
def test_programs_that_end_after_each_step_give_the_same(monkeypatch, moves):
    """As those do that cannot exchange arrays with the host while they run."""

    class Silent(Cpu):
        def exchanges(self) -> bool:
            return False

    expected = one_by_one(COUNTS, moves=moves)
    monkeypatch.setattr(ring, "backend_of", lambda device: Silent())
    monkeypatch.setattr(ring_program, "backend_of", ring.backend_of)
    monkeypatch.setattr(rings, "backend_of", ring.backend_of)
    monkeypatch.setattr(ring_program, "compiled", Programs(ring_program._lowered))
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=jax.devices()[0], moves=moves)
    under_way = [start(leaves, count, first) for count, first in zip(COUNTS, [0, *itertools.accumulate(COUNTS)])]
    for call, result in zip(under_way, expected):
        assert_equal(leaves.gather(call), result)


def test_what_the_whole_process_forbids_jax_is_allowed_to_rings():
    """They give the device numpy arrays."""
    expected, leaves = one_by_one([16])[0], Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    before = jax.config.jax_transfer_guard
    with leaves._rings.rings[0]._lock:  # so that it has not begun
        call = start(leaves, 16, 0)
        jax.config.update("jax_transfer_guard", "disallow")
    try:
        assert_equal(leaves.gather(call), expected)
    finally:
        jax.config.update("jax_transfer_guard", before)
        leaves.close()


def test_programs_go_on_from_call_to_call(monkeypatch):
    """While calls follow each other, so that what it costs to begin a program is not paid for each."""
    begun, real = itertools.count(), ring_program.compiled

    def compiled(*key):
        next(begun)
        return real(*key)

    monkeypatch.setattr(ring_program, "compiled", compiled)
    for name in ("LONGEST", "LONGEST_OF_MANY"):
        monkeypatch.setattr(ring, name, 60.0)
    monkeypatch.setattr(ring, "PATIENCE", 60.0)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    for i in range(5):
        leaves.gather(start(leaves, 16, 16 * i))
    assert next(begun) == 1
    assert len(leaves._rings._line.idle) <= 1  # however often it has waited
    leaves.close()


@pytest.mark.parametrize(("moves", "policy"), [(True, None), *wide((False, None), (False, jaxgo.Patterns()))])
def test_devices_that_play_whole_calls_give_the_same(monkeypatch, moves, policy):
    """As those do whose playouts cannot be left under way; policies know the moves to the leaves there, too."""

    class Whole(Cpu):
        def flies_on(self, size: int, form=None) -> bool:
            return False

    expected = one_by_one(COUNTS[:4], moves=moves, policy=policy)
    monkeypatch.setattr(ring, "backend_of", lambda device: Whole())
    monkeypatch.setattr(ring_program, "backend_of", ring.backend_of)
    monkeypatch.setattr(rings, "backend_of", ring.backend_of)
    monkeypatch.setattr(ring_program, "compiled", Programs(ring_program._lowered))
    assert choice.backend_of(jax.devices()[0]).flies_on(SIZE)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=jax.devices()[0], moves=moves, policy=policy)
    under_way = [start(leaves, count, first) for count, first in zip(COUNTS, [0, *itertools.accumulate(COUNTS)][:4])]
    for call, result in zip(under_way, expected):
        assert_equal(leaves.gather(call), result)


def test_whole_steps_follow_each_other(monkeypatch):
    """A device that plays all of a step's own gets the next step before the results of the one before are read, not more; a step
    that fails is the oldest call's failure alone."""
    log, given, programs = [], [], Programs(ring_program._lowered)

    class Whole(Cpu):
        def flies_on(self, size: int, form=None) -> bool:
            return False

    def program(shape, devices):
        function = programs(shape, devices)

        def run(*arguments):
            log.append("begun")
            given.append(arguments[1])
            if log.count("begun") == 3:
                raise RuntimeError("out of order")
            return function(*arguments)

        return run

    monkeypatch.setattr(ring, "backend_of", lambda device: Whole())
    monkeypatch.setattr(ring_program, "backend_of", ring.backend_of)
    monkeypatch.setattr(rings, "backend_of", ring.backend_of)
    monkeypatch.setattr(ring_program, "compiled", programs)
    expected = one_by_one([2] * 6)
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=1)
    (only,) = leaves._rings.rings
    bring = only._bring

    def bringing(*found):
        log.append("read")
        bring(*found)

    only._bring = bringing
    monkeypatch.setattr(ring_program, "compiled", program)
    with only._lock:  # so that all six wait before the first begins
        under_way = [start(leaves, 2, 2 * i) for i in range(6)]
    found, failed = [], []
    for number, call in enumerate(under_way):
        try:
            found.append((number, leaves.gather(call)))
        except RuntimeError as error:
            failed.append((number, str(error)))
    assert failed == [(1, "out of order")]
    for number, results in found:
        assert_equal(results, expected[number])
    assert log == ["begun", "begun", "read", "begun", *["begun", "begun", "read", "begun", "read", "begun", "read", "read"]]
    # A device may still be reading what it was given.
    assert not any(np.shares_memory(one, other) for one, other in itertools.pairwise(given))
    leaves.close()


@pytest.mark.skipif(len(usable_cores()) < 2, reason="on one core a worker that waits holds the other up")
def test_a_worker_takes_the_next_call_when_it_comes_round_to_it():
    """One that is slow leaves calls to the other; none has more under way than the other while calls are waiting."""
    leaves = Leaves(SIZE, LEAVES, PLAYOUTS, devices=2)
    taken, both, line = [], leaves._rings.rings, leaves._rings.rings[0]._waiting

    def watched(number: int, slow: bool) -> None:
        take, bring = both[number]._take, both[number]._bring

        def taking():
            other = both[1 - number]
            assert not other.flying or len(both[number].under_way) <= len(other.under_way)
            taken.append(number)
            return take()

        def bringing(*found):
            late = time.monotonic() + 60
            while (line if slow else 0 not in taken) and time.monotonic() < late:  # the other is not done before this one begins
                time.sleep(0.001)
            bring(*found)

        both[number]._take, both[number]._bring = taking, bringing

    watched(0, slow=True), watched(1, slow=False)
    with both[0]._lock:  # so that both begin: none has taken any call before there are more
        under_way = [start(leaves, 1, i) for i in range(24)]
    assert [len(call.parts) for call in under_way] == [1] * 24
    found = np.concatenate([leaves.gather(call).lead for call in under_way])
    np.testing.assert_array_equal(found, np.concatenate([x.lead for x in one_by_one([1] * 24)]))
    assert 0 < taken.count(0) < taken.count(1)
