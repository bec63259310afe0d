"""Evaluations as values: their sums and rates, adding, saving, copying; and what an interruption leaves."""

import copy
import dataclasses
import io
import json
import math
import pickle
import signal
import threading
import time

import jax
import numpy as np
import pytest

import jaxgo
from jaxgo.base import saved, threads
from jaxgo.results.sums import STATISTICS
from tests.processes import only_on_linux, run_with_devices

PLAYOUTS = 300


def same(one: jaxgo.Evaluation, other: jaxgo.Evaluation) -> None:
    """All sums are equal."""
    for name, a, b in zip(one.sums._fields, one.sums, other.sums, strict=True):
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, strict=True, err_msg=name)
    np.testing.assert_array_equal(one.komi, other.komi)


@pytest.fixture(scope="module")
def positions() -> jaxgo.Position:
    return jaxgo.Position.empty(5, 3).play([0, 12, 25])


@pytest.fixture(scope="module")
def whole(positions) -> jaxgo.Evaluation:
    return jaxgo.evaluate(positions, PLAYOUTS, seed=1)


def test_rates_are_those_of_the_playouts(positions, whole):
    """Each figure against numpy's of the single playouts."""
    margin = jaxgo.playouts(positions, PLAYOUTS, seed=1).margin.astype(np.float64)
    wins = margin > 7.5
    np.testing.assert_allclose(whole.win_rate, wins.mean(axis=1))
    np.testing.assert_allclose(whole.win_rate_error, wins.std(axis=1) / math.sqrt(PLAYOUTS))
    np.testing.assert_allclose(whole.margin_mean, margin.mean(axis=1))
    np.testing.assert_allclose(whole.margin_std, margin.std(axis=1))
    for i in range(3):
        np.testing.assert_array_equal(whole.margin_histogram[i], np.bincount(margin[i].astype(int) + 25, minlength=51))


@pytest.mark.parametrize("komi", [7.5, [7.0, -3.0, 0.5]])
def test_komi_may_be_each_positions_own(positions, komi):
    """A vector of komi gives what each komi gives alone; draws count half."""
    found = jaxgo.evaluate(positions, PLAYOUTS, seed=1, komi=komi)
    for i, one in enumerate(np.broadcast_to(komi, 3)):
        alone = jaxgo.evaluate(positions, PLAYOUTS, seed=1, komi=float(one))[i]
        assert (found.sums.wins[i], found.sums.draws[i]) == (alone.sums.wins, alone.sums.draws)
        assert found[i].win_rate == alone.win_rate
        np.testing.assert_array_equal(found.amaf_wins[i], alone.amaf_wins)


@pytest.mark.parametrize("wanted", [(), ("margins",), ("amaf", "ownership"), STATISTICS])
def test_only_what_is_wanted_is_there(positions, whole, wanted):
    found = jaxgo.evaluate(positions, PLAYOUTS, seed=1, statistics=wanted)
    for name in ("win_rate", "win_rate_error", "margin_mean", "margin_std", "length_mean", "truncated", "num_playouts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    for statistic, names in (("margins", ["margin_histogram"]), ("ownership", ["ownership"]), ("amaf", ["amaf_visits", "amaf_wins"])):
        for name in names:
            if statistic in wanted:
                np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
            else:
                with pytest.raises(ValueError, match=f"without '{statistic}'; jaxgo.evaluate"):
                    getattr(found, name)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"statistics": "amaf"}, TypeError, "statistics must be a collection of names"),
        ({"statistics": None}, TypeError, "statistics must be a collection of names, .* not None"),
        ({"statistics": ["wins"]}, ValueError, "statistics must be one of 'margins', 'ownership', 'amaf', not 'wins'"),
        ({"komi": [1.5]}, ValueError, r"komi must be one number or have shape \(3,\), not \(1,\)"),
        ({"komi": [1.5, np.nan, 0.0]}, ValueError, "komi must be finite, not nan"),
        ({"komi": np.full(3, np.longdouble(2) ** 2000)}, ValueError, "komi must be finite, not inf"),
        ({"komi": ["a", "b", "c"]}, TypeError, "komi must be a number or numbers"),
        ({"sed": 1}, TypeError, "options must be of .*seed, .*, not sed"),
    ],
)
def test_bad_arguments_are_refused(positions, options, error, text):
    with pytest.raises(error, match=text):
        jaxgo.evaluate(positions, 1, **options)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"])
def test_evaluations_and_interruptions_are_values(whole, way):
    same(way(whole), whole)
    same(way(whole[1]), whole[1])
    interrupted = way(jaxgo.Interrupted(whole))
    same(interrupted.partial, whole)
    assert str(interrupted) == "interrupted after 900 playouts"


def test_one_position_of_a_batch(whole):
    one = whole[1]
    assert one.win_rate == whole.win_rate[1] and one.ownership.shape == (5, 5)
    np.testing.assert_array_equal(whole[[1]].ownership[0], one.ownership)
    with pytest.raises(TypeError, match="of one position, not of a batch"):
        len(one)
    with pytest.raises(TypeError, match="of one position, not of a batch"):
        one[0]


def test_parts_add_up_to_the_whole(positions, whole):
    parts = [jaxgo.evaluate(positions, 100, seed=1, first_playout=first) for first in (0, 200, 100)]
    added = parts[0].plus(parts[1]).plus(parts[2])
    same(added, whole)
    assert [(x.first, x.count) for x in added.played] == [(0, 300)]
    same(parts[0][2].plus(parts[2][2]), parts[0].plus(parts[2])[2])


def test_parts_of_each_positions_own_add_up(positions, whole, tmp_path):
    first = np.array([0, 250, 100])
    before, after = jaxgo.evaluate(positions[1:], [250, 100], seed=1, streams=[1, 2]), jaxgo.evaluate(
        positions, 300 - first, seed=1, first_playout=first
    )  # fmt: skip
    for i, part in ((1, before[0]), (2, before[1])):
        same(part.plus(after[i]), whole[i])
        (played,) = part.plus(after[i]).played
        assert (played.first, played.count) == (0, 300)
    refused = "share playouts: numbers 250 to 299 and 299 to 308 of one seed and stream"
    with pytest.raises(ValueError, match=refused):
        after.plus(jaxgo.evaluate(positions, [5, 10, 5], seed=1, first_playout=[300, 299, 300]))
    after.save(tmp_path / "kept.npz")
    loaded = jaxgo.Evaluation.load(tmp_path / "kept.npz")
    same(loaded, after)
    (played,) = loaded.played
    assert played.first.tolist() == first.tolist() and played.count.tolist() == (300 - first).tolist()
    with pytest.raises(ValueError, match=refused):
        loaded.plus(jaxgo.evaluate(positions, [5, 10, 5], seed=1, first_playout=[300, 299, 300]))


def test_what_does_not_belong_together_is_not_added(positions, whole):
    def of(**options):
        return jaxgo.evaluate(positions, 50, **{"seed": 1, **options})

    refused = "share playouts: numbers 0 to 299 and 299 to 348 of one seed and stream"
    with pytest.raises(ValueError, match=refused):
        whole.plus(of(first_playout=299))
    with pytest.raises(ValueError, match="share playouts"):
        whole.plus(whole)
    with pytest.raises(ValueError, match="share playouts"):
        whole.plus(of(streams=[7, 1, 8]))
    assert whole.plus(of(first_playout=300)).num_playouts.tolist() == [350] * 3
    assert whole.plus(of(seed=2)).num_playouts.tolist() == [350] * 3
    assert whole.plus(of(streams=[7, 8, 9])).num_playouts.tolist() == [350] * 3
    with pytest.raises(TypeError, match="other must be a jaxgo.Evaluation, not int"):
        whole.plus(3)
    for other, what in (
        (whole[:2], r"batch can be added, not of \(3,\) and \(2,\)"), (of(seed=2, komi=0.5), "komi can be added, not of 7.5 and 0.5"),
        (of(seed=2, komi=[7.5, 7.5, 1]), "komi can be added, not of 7.5 and 1"),
        (of(seed=2, statistics=["amaf"]), r"set of statistics can be added, not of \('margins', 'ownership', 'amaf'\) and \('amaf',\)"),
        (jaxgo.evaluate(jaxgo.Position.empty(6, 3), 5), "size can be added, not of 5 and 6"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"evaluations of one {what}"):
            whole.plus(other)
    assert whole.plus(of(seed=2, komi=[7.5] * 3)).num_playouts.tolist() == [350] * 3, "it is the same komi"


def test_saving_and_loading(tmp_path, positions, whole):
    for i, evaluation in enumerate((whole, whole[0], jaxgo.evaluate(positions, 5, komi=[1.0, 2.0, 3.0], statistics=["amaf"]))):
        evaluation.save(tmp_path / f"{i}.npz")
        loaded = jaxgo.Evaluation.load(tmp_path / f"{i}.npz")
        same(loaded, evaluation)
        assert type(loaded.komi) is type(evaluation.komi) and loaded.complete and loaded.size == 5
    with (tmp_path / "0.npz").open("rb") as file:
        same(jaxgo.Evaluation.load(io.BytesIO(file.read())), whole)
    with pytest.raises(ValueError, match="share playouts"):
        jaxgo.Evaluation.load(tmp_path / "0.npz").plus(whole)
    (tmp_path / "no.npz").write_bytes(b"PK nothing")
    np.savez(tmp_path / "other.npz", x=1)
    np.savez(tmp_path / "facts.npz", jaxgo_evaluation="{}")
    np.savez(tmp_path / "list.npz", jaxgo_evaluation="[]")
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("no.npz", "other.npz", "facts.npz", "list.npz", "array.npy"):
        with pytest.raises(ValueError, match="path must be a file that Evaluation.save has written"):
            jaxgo.Evaluation.load(tmp_path / name)
    with pytest.raises(ValueError, match="path must be a file that Evaluation.save has written, not <_io.BytesIO"):
        jaxgo.Evaluation.load(io.BytesIO(b"PK nothing"))
    with pytest.raises(FileNotFoundError):
        jaxgo.Evaluation.load(tmp_path / "missing.npz")


def spoilt(arrays: dict, name: str, change) -> dict:
    """A file's arrays of which one, or one of its facts, is another."""
    facts = json.loads(arrays["jaxgo_evaluation"])
    if name in facts:
        return arrays | {"jaxgo_evaluation": json.dumps(facts | {name: change(facts[name])})}
    changed = change(np.asarray(arrays[name]))
    return {key: x for key, x in (arrays | {name: changed}).items() if x is not None}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("size", lambda size: 6),
        ("size", lambda size: 5.0),
        ("size", lambda size: 1),
        ("complete", lambda complete: 1),
        ("komi", lambda komi: np.full(2, 7.5)),
        ("komi", lambda komi: np.array(np.nan)),
        ("komi", lambda komi: np.array("7.5")),
        ("sums.num_playouts", lambda n: n + 1),
        ("sums.wins", lambda wins: None),
        ("sums.wins", lambda wins: wins.astype(np.float64)),
        ("sums.squares", lambda squares: squares[:, 0]),
        ("sums.lead", lambda lead: lead[:2]),
        ("sums.owned", lambda owned: owned[:, :-1]),
        ("sums.first", lambda first: None),
        ("sums.first_results", lambda results: None),
        ("streams.0", lambda streams: streams[:2]),
        ("streams.0", lambda streams: streams.astype(np.int64)),
        ("streams.0", lambda streams: streams - 100),
        ("played", lambda played: []),
        ("played", lambda played: [x | {"seed": [1]} for x in played]),
        ("played", lambda played: [x | {"seed": [1, -1]} for x in played]),
        ("played", lambda played: [x | {"first": -1} for x in played]),
        ("played", lambda played: [x | {"count": [1, 2]} for x in played]),
        ("played", lambda played: [x | {"count": "all"} for x in played]),
        ("played", lambda played: [x | {"first": 0.5} for x in played]),
        ("played", lambda played: [x | {"first": True} for x in played]),
        ("played", lambda played: [x | {"first": 2**31} for x in played]),
        ("played", lambda played: [x | {"first": 10**30} for x in played]),
    ],
)  # fmt: skip
def test_what_a_file_says_must_belong_together(tmp_path, whole, name, change):
    """Otherwise rates would be wrong, or fail much later."""
    arrays = whole.arrays()
    saved.write(tmp_path / "fine.npz", spoilt(arrays, name, lambda x: x))
    same(jaxgo.Evaluation.load(tmp_path / "fine.npz"), whole)
    saved.write(tmp_path / "spoilt.npz", spoilt(arrays, name, change))
    with pytest.raises(ValueError, match="path must be a file that Evaluation.save has written"):
        jaxgo.Evaluation.load(tmp_path / "spoilt.npz")


@pytest.mark.wide
def test_a_stream_of_evaluations_ends_with_the_whole(positions):
    asked = dict(num_playouts=300_000, seed=1, max_plies=1)  # so that not all parts are there before the first is looked at
    expected = jaxgo.evaluate(positions, **asked)
    seen = list(jaxgo.evaluations(positions, **asked))
    counts = [int(x.num_playouts.sum()) for x in seen]
    assert counts == sorted(set(counts))
    assert [x.complete for x in seen] == [False] * (len(seen) - 1) + [True]
    same(seen[-1], expected)
    for found in jaxgo.evaluations(positions, **asked):
        same(found, found[:])
        break  # leaving early is no error
    with pytest.raises(ValueError, match="num_playouts must be between"):
        jaxgo.evaluations(positions, 0)


def test_parts_that_are_finished_at_once_are_told_once(positions, monkeypatch):
    begin = threads.begin
    monkeypatch.setattr(threads, "begin", lambda *work, **kept: (promise := begin(*work, **kept)).wait() and promise)
    seen = list(jaxgo.evaluations(positions, 300_000, seed=1, max_plies=1, devices=2))
    counts = [int(x.num_playouts.sum()) for x in seen]
    assert counts == sorted(set(counts)) and 1 < len(seen)
    assert [x.complete for x in seen] == [False] * (len(seen) - 1) + [True]


def test_values_are_needed_outside_of_traces(positions):
    for call in (jaxgo.evaluate, jaxgo.playouts, jaxgo.move_statistics):
        with pytest.raises(TypeError, match="inside jit, vmap and their kin use jaxgo.simulate"):
            jax.jit(lambda p, call=call: call(p, 10).win_rate)(positions)
    with pytest.raises(TypeError, match="use jaxgo.simulate"):
        jax.jit(lambda seed: jaxgo.evaluate(positions, 10, seed=seed).win_rate)(jax.random.key(0))


@pytest.mark.parametrize("k", range(8))
def test_evaluations_of_turned_positions(positions, whole, k):
    """Turning an evaluation turns what it says of points, and nothing else; the inverse brings it back."""
    turned = whole.symmetry(k)
    board = np.rot90(np.fliplr(whole.ownership[1]) if k >= 4 else whole.ownership[1], k % 4)
    np.testing.assert_array_equal(turned.ownership[1], board)
    np.testing.assert_array_equal(turned.amaf_wins, jaxgo.transform_points(whole.amaf_wins, 5, k))
    np.testing.assert_array_equal(turned.win_rate, whole.win_rate)
    same(turned.symmetry(int(jaxgo.inverse_symmetry(k))), whole)
    without_boards = jaxgo.evaluate(positions, 5, statistics=[])
    assert without_boards.symmetry(k).win_rate.shape == (3,)
    for wrong in (k + 8, -1 - k, k / 2):
        with pytest.raises((TypeError, ValueError), match="k must be"):
            without_boards.symmetry(wrong)


def interruptions() -> None:
    """Run in a process of its own: Ctrl-C at 12 moments while many positions are added up."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored
    positions = jaxgo.Position.empty(5, 2000)
    jaxgo.evaluate(positions, 16)  # compiled
    start = time.monotonic()
    jaxgo.evaluate(positions, 16)
    took, partials = time.monotonic() - start, []
    for i in range(12):
        timer = threading.Timer(took * (i + 1) / 13, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        try:
            timer.start()
            jaxgo.evaluate(positions, 16)
            timer.join()
        except jaxgo.Interrupted as error:
            partials.append(error.partial)
        except KeyboardInterrupt:  # before the first chunk or after the last
            pass
    assert partials, "no interruption came in time"
    for partial in partials:
        sums, n = partial.sums, partial.num_playouts
        np.testing.assert_array_equal(sums.margins.sum(axis=1), n)
        margins = np.arange(-25, 26)
        np.testing.assert_array_equal(sums.margins @ margins, sums.lead)
        np.testing.assert_array_equal(sums.margins @ (margins > 7.5), sums.wins)
        assert (np.abs(sums.owned) <= n[:, None]).all() and (sums.first.sum(axis=1) <= n[:, None]).all()
        assert ((n == 0) | (sums.length > 0)).all() and partial.complete == (n == 16).all()


@only_on_linux
@pytest.mark.usefixtures("many_playouts")
def test_an_interruption_leaves_sums_that_belong_together():
    """Of each playout all sums are there, or none."""
    run_with_devices(1, "from tests.jaxgo.results import test_evaluation as here; here.interruptions()", lightly=True)


def evaluated(number, first, positions=None) -> jaxgo.Evaluation:
    """Playouts of these numbers, without statistics."""
    positions = jaxgo.Position.empty(5, 2) if positions is None else positions
    return jaxgo.evaluate(positions, number, first_playout=first, seed=1, statistics=[])


def test_parts_that_follow_each_other_in_one_position_alone_stay_two():
    both = evaluated([10, 10], 0).plus(evaluated(5, [10, 20]))
    assert len(both.played) == 2
    assert both.plus(evaluated(5, [30, 12])).num_playouts.tolist() == [20, 20]


def test_a_sum_is_complete_if_all_parts_are():
    first, second = evaluated(10, 0), evaluated(10, 10)
    half = dataclasses.replace(second, complete=False)
    assert first.plus(second).complete and not first.plus(half).complete and not half.plus(first).complete


def test_parts_of_large_numbers_join():
    first, *others = (evaluated(128, 128 * i, jaxgo.Position.empty(2)) for i in (0, 2, 1, 3))
    for other in others:
        first = first.plus(other)
    assert [(part.first, part.count) for part in first.played] == [(0, 512)]


def test_the_next_playout_of_a_position_without_any_is_the_first():
    found = evaluated(10, 5)
    (part,) = found.played
    part = dataclasses.replace(part, first=np.array([5, 7]), count=np.array([10, 0]))
    assert dataclasses.replace(found, played=(part,)).next_playout.tolist() == [15, 0]
