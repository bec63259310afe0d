"""Many searches on one device, and moves that a search is told to avoid or to keep to."""

import contextlib
import inspect
import signal
import sys
import time
import types

import numpy as np
import pytest

import jaxgo
from jaxgo import BLACK
from jaxgo.board.geometry import geometry
from jaxgo.running import leaf_columns
from search import UCB1, Rave, Search
from search import shared as shared_module
from search.restrictions import Restrictions
from search.shared import SharedLeaves
from tests.search.trees import assert_same_trees, nodes_by_path

VISITS = 600
#: The row of streams in what is asked of leaves on 5x5.
STREAM = 2 * geometry(5).num_words + leaf_columns.STREAM


@pytest.fixture(scope="module")
def shared():
    device = SharedLeaves(5, 64, 8)
    yield device
    device.close()


def test_calls_of_a_gpu_have_room_for_several_rounds(monkeypatch):
    assert shared_module.leaves_of_calls(256, False) == shared_module.leaves_of_calls(256, False, 2) == 256
    monkeypatch.setattr(shared_module, "workers_of", lambda devices: (types.SimpleNamespace(platform="cpu" if devices else "gpu"),))
    monkeypatch.setattr(shared_module, "backend_of", lambda device: device)
    assert [shared_module.leaves_of_calls(256, moves) for moves in (False, True)] == [2048, 256]
    assert shared_module.leaves_of_calls(256, False, 2) == 256


def drive(searches: list[Search], shared: SharedLeaves, visits: int) -> None:
    """Runs searches side by side, step by step."""
    waiting = list(searches)
    while waiting:
        for search in waiting:
            while search.launch(visits):
                pass
        shared.flush()
        waiting = [search for search in waiting if search.finish() or search.under_way or search.visits < visits]


def games(count: int) -> list[tuple[jaxgo.Position, dict]]:
    """Positions and options of `count` different searches."""
    options = [{"komi": k, "seed": s, "rule": r} for k in (0.5, 7.0) for s in (0, 3) for r in (Rave(), UCB1())]
    position = jaxgo.Position.empty(5)
    return [(position.play(np.array([i])) if i % 3 else position, options[i % len(options)]) for i in range(count)]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_tree_is_the_same_alone_and_among_others(shared, in_flight):
    """Other searches of other positions, komi and seeds do not show in it; nor does it differ from one with its own workers."""
    together = [Search(p, device=shared, leaves=16, in_flight=in_flight, **o) for p, o in games(12)]
    drive(together, shared, VISITS)
    for (position, options), search in zip(games(12), together):
        alone = Search(position, leaves=16, in_flight=in_flight, **options)
        alone.run(visits=VISITS)
        assert search.visits == alone.visits == VISITS
        assert_same_trees(search.tree, alone.tree)
        alone.close()


def test_a_search_runs_by_itself_on_a_shared_device(shared):
    one, other = (Search(jaxgo.Position.empty(5), device=device, leaves=16, seed=1) for device in (shared, None))
    for search in (one, other):
        search.run(visits=VISITS)
    assert_same_trees(one.tree, other.tree)
    other.close()


def test_searches_run_until_each_has_had_its_playouts(shared):
    """And no round is left under way."""
    visits = VISITS, VISITS // 3, VISITS
    searches = [Search(p, device=shared, leaves=16, **o) for p, o in games(3)]
    shared.run([*zip(searches, visits)])
    for (position, options), search, number in zip(games(3), searches, visits):
        assert search.visits == number and not search.under_way
        with Search(position, leaves=16, **options) as alone:
            alone.run(visits=number)
            assert_same_trees(search.tree, alone.tree)


def test_searches_that_are_stopped_have_no_rounds_under_way(shared):
    asked = iter(range(10**6))
    searches = [Search(p, device=shared, leaves=16, **o) for p, o in games(2)]
    shared.run([(search, 50_000) for search in searches], lambda: next(asked) > 20)
    assert all(search.visits < 50_000 and not search.under_way for search in searches)
    shared.run([(search, search.visits + VISITS) for search in searches])


def test_a_device_that_is_closed_plays_no_more():
    """But one that a search has left does, with as many workers as were asked for."""
    device = SharedLeaves(5, 64, 8, devices=3)
    search = Search(jaxgo.Position.empty(5), device=device, leaves=16)
    search.close()
    assert search.num_workers == 3 and search.run(visits=8) == 8
    device.close()
    with pytest.raises(RuntimeError, match="closed"):
        search.run(visits=400)


def test_a_search_that_is_dropped_does_not_disturb_the_others(shared):
    (position, options), *others = games(4)
    searches = [Search(p, device=shared, leaves=16, **o) for p, o in [(position, options), *others]]
    for search in searches:
        assert search.launch(VISITS)
    searches[1].abandon()
    shared.flush()
    searches[2].abandon()
    assert searches[1].visits == searches[2].visits == 0
    drive([searches[0], searches[3]], shared, VISITS)
    alone = Search(position, leaves=16, **options)
    alone.run(visits=VISITS)
    assert_same_trees(searches[0].tree, alone.tree)
    alone.close()


def test_leaves_that_could_not_be_sent_wait_for_the_next_call(shared, monkeypatch):
    """Of all searches: one that runs into it does not take the others' with it."""
    (position, options), *others = games(3)
    searches = [Search(p, device=shared, leaves=16, **o) for p, o in [(position, options), *others]]
    for search in searches:
        assert search.launch(VISITS)

    def fails(columns):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(shared._leaves, "begin", fails)
        with pytest.raises(MemoryError):
            shared.flush()
    drive(searches, shared, VISITS)
    assert [search.visits for search in searches] == [VISITS] * 3
    alone = Search(position, leaves=16, **options)
    alone.run(visits=VISITS)
    assert_same_trees(searches[0].tree, alone.tree)
    alone.close()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("line", ["self._under_way.append(call)", "request.rows = ", "request.call, start = ", "self._forget_sent()"])
def test_ctrl_c_while_leaves_are_sent_loses_none(shared, line):
    """Whatever has been noted of them then: those that the device has are waited for, others are sent, and the tree is the same."""
    position, options = games(1)[0]
    source, first = inspect.getsourcelines(SharedLeaves._send)
    number = [i for i, text in enumerate(source) if line in text][-1]
    search, interrupted = Search(position, device=shared, leaves=16, **options), []

    def trace(frame, event, argument):
        if frame.f_code is not SharedLeaves._send.__code__:
            return None
        if event == "line" and frame.f_lineno == first + number and not interrupted:
            interrupted.append(1)
            signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.run(visits=VISITS)
    finally:
        sys.settrace(before)
    assert interrupted and search.run(visits=VISITS) == VISITS
    search.close()


def test_news_of_a_call_comes_once_when_all_its_parts_are_done(monkeypatch):
    """Whoever drives the searches looks at all of them then."""
    sent: list = []
    news: list[int] = []
    device = SharedLeaves(5, 256, 8, devices=2, on_done=lambda: news.append(1))
    send = device._send
    monkeypatch.setattr(device, "_send", lambda: (send(), sent.append(device._under_way[-1])))
    search = Search(jaxgo.Position.empty(5), device=device, leaves=256, share=1.0, in_flight=1)
    search.run(visits=4000)
    assert any(len(call.begun.parts) > 1 for call in sent)
    until = time.monotonic() + 10  # a part is done a moment before those are told who asked for that
    while len(news) < len(sent) and time.monotonic() < until:
        time.sleep(0.001)
    device.close()
    assert len(news) == len(sent) == sum(call.done for call in sent)


def test_without_a_policy_it_is_the_devices_own():
    policy = jaxgo.Capture(0.5)
    with contextlib.closing(SharedLeaves(5, 16, 8, policy=policy)) as device:
        trees = []
        for more in ({}, {"policy": policy}):
            search = Search(jaxgo.Position.empty(5), device=device, leaves=16, playouts_per_leaf=8, seed=3, **more)
            search.run(visits=200)
            trees.append(search.tree)
        assert_same_trees(*trees)


def test_another_shape_is_refused(shared):
    with pytest.raises(ValueError, match="the shared device is for"):
        Search(jaxgo.Position.empty(6), device=shared)
    with pytest.raises(ValueError, match="the shared device is for"):
        Search(jaxgo.Position.empty(5), device=shared, playouts_per_leaf=4)
    with pytest.raises(ValueError, match="leaves must be between 1 and 64"):
        Search(jaxgo.Position.empty(5), device=shared, leaves=65)
    with pytest.raises(ValueError, match=r"the shared device plays by the policy None, the search by Capture\(q=0.5\)"):
        Search(jaxgo.Position.empty(5), device=shared, policy=jaxgo.Capture(0.5))


@pytest.mark.parametrize("owner", ["alice", 3, (1, 2), object(), []])
def test_an_owner_of_whom_no_account_can_be_kept_is_refused(shared, owner):
    """At once: later every search of the device would fail."""
    with pytest.raises(TypeError, match="owner must be an object that is hashable and takes weak references, not"):
        shared.seat(owner)


def test_searches_of_another_device_are_refused(shared):
    """Nobody would send their leaves."""
    with contextlib.closing(SharedLeaves(5, 64, 8)) as other, Search(jaxgo.Position.empty(5), komi=0.5) as alone:
        for search in (Search(jaxgo.Position.empty(5), device=other, leaves=16, komi=0.5), alone):
            with pytest.raises(ValueError, match="searches must play on this device, which <search.search.Search object"):
                shared.run([(search, 200)])
        with pytest.raises(TypeError, match="visits must be an integer, not None"):
            other.run([(search, None)])


def test_a_move_is_no_best_one_before_it_is_known_whether_it_repeats_a_position(shared):
    """Rounds under way count it as visited."""
    position = jaxgo.Position.empty(5)
    repeated = position.play(np.array([12])).hash()
    search = Search(position, device=shared, leaves=16, komi=0.5, history=repeated, restrictions=restrictions(allow={12, 25}))
    search.launch(400)
    shared.flush()
    while not search.finish():
        pass
    search.launch(400)
    assert search.tree.visits(search.tree.root)[12] and search.best() == 25
    search.abandon()


def test_statistics_leave_out_what_is_under_way(shared):
    search = Search(jaxgo.Position.empty(5), device=shared, leaves=16)
    drive([search], shared, VISITS)
    before = search.statistics()
    while search.launch(10 * VISITS):
        pass
    assert search.visits > VISITS
    during = search.statistics()
    assert during.root_visits == before.root_visits
    np.testing.assert_array_equal(during.visits, before.visits)
    np.testing.assert_array_equal(during.win_rate, before.win_rate)
    np.testing.assert_array_equal(during.lead_stdev, before.lead_stdev)
    search.abandon()


def restrictions(*, avoid: dict | None = None, allow: dict | None = None, until: int = 1) -> Restrictions:
    """Black's moves to avoid or keep to, by point, on 5x5."""
    avoid_until, allow_until, allowed = np.zeros((2, 26), int), np.zeros(2, int), np.zeros((2, 26), bool)
    avoid_until[0, list(avoid or ())] = until
    if allow is not None:
        allow_until[0], allowed[0, list(allow)] = until, True
    return Restrictions(avoid_until, allow_until, allowed)


def test_moves_to_avoid_and_to_keep_to(shared):
    def tried(**options) -> tuple[set[int], set[int]]:
        """Points that were tried at the root, and two moves further on."""
        search = Search(jaxgo.Position.empty(5), device=shared, leaves=16, komi=0.5, restrictions=restrictions(**options))
        search.run(visits=2000)
        paths = nodes_by_path(search.tree)
        return {path[0] for path in paths if len(path) == 1}, {path[2] for path in paths if len(path) == 3}

    assert 12 in tried()[0]
    root, deeper = tried(avoid=[12])
    assert root and 12 not in root
    assert 12 in deeper, "only the root's move is to be avoided"
    root, deeper = tried(avoid=[12], until=3)
    assert 12 not in root | deeper
    root, deeper = tried(avoid=[12], until=2)
    assert 12 not in root and 12 in deeper, "the third move is beyond the second"
    for until in (1, 2):
        root, deeper = tried(allow=[0, 7], until=until)
        assert root and root <= {0, 7} and len(deeper) > 2
    root, _ = tried(avoid=range(26))
    assert root == {25}, "a player who may do nothing else passes"


def test_an_allowed_move_need_only_be_legal(shared):
    """Black's own eye in the corner."""
    position = jaxgo.Position.from_ascii("""
        . X . . .
        X X . . .
        . . . . .
        . . O O .
        . . . . .
    """, to_play=BLACK)  # fmt: skip
    search = Search(position, device=shared, leaves=16, restrictions=restrictions(allow=[0]))
    search.run(visits=300)
    assert np.flatnonzero(search.statistics().visits).tolist() == [0]
    assert search.best() == 0


class Someone:
    """Who owns searches."""


class Calls:
    """A device that answers nothing, and keeps what it is sent: the owners' numbers of leaves, call by call."""

    size, leaves, playouts, moves = 5, 64, 8, False

    def __init__(self):
        self.sent: list[np.ndarray] = []

    def begin(self, columns: np.ndarray):
        self.sent.append(np.bincount(columns[STREAM], minlength=3))
        return types.SimpleNamespace(parts=[])



@pytest.fixture
def calls(shared, monkeypatch):
    """The shared device, its calls only kept."""
    made = Calls()
    monkeypatch.setattr(shared, "_leaves", made)
    yield made
    shared._waiting.clear()
    shared._under_way.clear()


def hand_in(share, owner: int, count: int) -> None:
    """Hands leaves of a round in; their streams say whose they are."""
    columns = np.zeros((leaf_columns.number(5), count), np.uint32)
    columns[STREAM] = owner
    share.begin(columns)


def shares(shared, owners: list, priorities=None) -> list:
    priorities = priorities or [0] * len(owners)
    return [shared.seat(o, p).share(5, 64, 8, moves=False) for o, p in zip(owners, priorities)]


def test_owners_take_turns(shared, calls):
    """One has twenty large rounds waiting; another's small ones, which come one by one, go with the next call each."""
    a, b = Someone(), Someone()
    searches = shares(shared, [a] * 20 + [b])
    for share in searches[:20]:
        hand_in(share, 0, 64)
    shared._send()
    for _ in range(6):
        hand_in(searches[20], 1, 4)
        shared._send()
        shared._send()
    with_b = [i for i, counts in enumerate(calls.sent) if counts[1]]
    assert with_b == [1, 3, 5, 7, 9, 11], "his round is in the first call after it was handed in"
    assert sum(counts[0] == 64 for counts in calls.sent) == 7


def test_who_says_no_owner_is_one_of_his_own(shared, calls):
    one, other = shares(shared, [None, None])
    for _ in range(3):
        hand_in(one, 0, 64)
    hand_in(other, 1, 64)
    for _ in range(2):
        shared._send()
    assert sum(counts[1] for counts in calls.sent) == 64, "his round does not wait for all of the other's"


def test_owners_share_a_call(shared, calls):
    a, b, c = Someone(), Someone(), Someone()
    for owner, who in enumerate((a, b, c)):
        for share in shares(shared, [who] * 8):
            hand_in(share, owner, 8)
    shared._send()
    assert sorted(calls.sent[0].tolist()) == [16, 24, 24]


def test_who_is_patient_sends_full_calls_only(shared, calls):
    """What is left over waits until he is patient no more."""
    share, sent = shares(shared, [Someone()])[0], []
    for count in (60, 4, 10):
        hand_in(share, 0, count)
        shared.flush(patient=True)
        sent.append(len(calls.sent))
    assert sent == [0, 1, 1]
    shared.flush()
    assert [counts.sum() for counts in calls.sent] == [64, 10]


def test_what_is_more_urgent_goes_first_among_an_owners(shared, calls):
    a = Someone()
    for number, share in enumerate(shares(shared, [a] * 3, [0, 5, 1])):
        hand_in(share, number, 64)
    for _ in range(3):
        shared._send()
    assert [counts.argmax() for counts in calls.sent] == [1, 2, 0]


def test_of_an_owners_the_oldest_and_the_smallest_go_first_in_turn(shared, calls, monkeypatch):
    """So that young trees do not wait for many large rounds."""
    monkeypatch.setattr(shared, "_smallest_first", False)
    a = Someone()
    for number, (share, count) in enumerate(zip(shares(shared, [a] * 3), (64, 60, 8))):
        hand_in(share, number, count)
    for _ in range(3):
        shared._send()
    assert [counts.tolist() for counts in calls.sent] == [[0, 0, 8], [64, 0, 0], [0, 60, 0]]
