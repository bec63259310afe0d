"""How likely moves are: the weights, their strengths, and what they say of positions."""

import copy as copying
import pickle

import numpy as np
import pytest

from jaxgo.playing.policies import pattern_table
from search import Knowledge, MoveWeights
from search.features import FEATURES
from search.move_weights import DOUBLE, LIMIT, line_of, strengths
from search.shapes import SIDES, alike, turned_sides


def test_strengths_double_every_sixteenth():
    """Up to rounding in the last places, as they are made by roots and products alone."""
    found = strengths()
    assert len(found) == 2 * LIMIT + 1 and found[LIMIT] == 1
    assert np.allclose(found, 2.0 ** (np.arange(-LIMIT, LIMIT + 1) / DOUBLE), rtol=1e-13, atol=0)
    assert (np.diff(found) > 0).all()


def test_lines():
    assert line_of(5).reshape(5, 5).tolist() == [[0] * 5, [0, 1, 1, 1, 0], [0, 1, 2, 1, 0], [0, 1, 1, 1, 0], [0] * 5]
    assert line_of(19).reshape(19, 19)[9, :10].tolist() == [0, 1, 2, 3, 4, 4, 4, 4, 4, 4]


def test_those_that_come_with_jaxgo_know_patterns_as_alike():
    """And what any player knows: captures that save, no self-atari, near the last move, not on the first line."""
    weights = MoveWeights.fitted()
    assert (weights.patterns == weights.patterns[pattern_table.alike()]).all()
    assert (weights.sides == weights.sides[alike(np.arange(SIDES), turned_sides)]).all()
    assert len(weights.shapes) > 1000 and (weights.shape_weights != 0).all()
    named = dict(zip(FEATURES, weights.features.tolist()))
    assert named["save"] > 0 > named["self_atari"]
    assert (weights.distances[:, 3] > 0).all() and (weights.distances[:, 3] > weights.distances[:, 8]).all()
    assert weights.lines[0] < weights.lines[2]
    assert Knowledge().weights is weights


def test_they_are_written_and_read(tmp_path):
    shapes = {"shapes": np.array([0, 1, 3], np.int32), "shape_weights": np.array([1, -2, 3], np.int8)}
    weights = MoveWeights.of(capture_one=3, eyelike=-2, lines=np.arange(5, dtype=np.int16), **shapes)
    weights.save(tmp_path / "weights.npz")
    read = MoveWeights.load(tmp_path / "weights.npz")
    assert read == weights != MoveWeights.fitted() and hash(read) == hash(weights)
    assert read.features[FEATURES.index("eyelike")] == -2 and read.lines.tolist() == [0, 1, 2, 3, 4]
    assert read.shapes.tolist() == [0, 1, 3] and read.shape_weights.tolist() == [1, -2, 3]
    assert repr(MoveWeights.fitted()) != repr(read) == repr(weights), "what stands in a report tells them apart"
    with pytest.raises(ValueError, match="read-only"):
        read.lines[0] = 3


@pytest.mark.parametrize(("arrays", "what"), [
    ({"lines": np.zeros(4, np.int16)}, r"lines must be int16 of shape \(5,\), not int16 of \(4,\)"),
    ({"patterns": np.zeros(1 << 16)}, r"patterns must be int8 of shape \(65536,\), not float64"),
    ({"distances": np.zeros(18, np.int16)}, r"distances must be int16 of shape \(2, 18\), not int16 of \(18,\)"),
    ({"sides": np.zeros(7, np.int8)}, r"sides must be int8 of shape \(4096,\)"),
    ({"shapes": np.array([1], np.int32)}, r"shape_weights must be int8 of shape \(1,\), not int8 of \(0,\)"),
    ({"shapes": np.array([3, 1], np.int32), "shape_weights": np.zeros(2, np.int8)}, "shapes must be numbers below 16777215, rising"),
    ({"shapes": np.array([4], np.int32), "shape_weights": np.zeros(1, np.int8)}, "each the least"),
    ({"shapes": np.array([-1], np.int32), "shape_weights": np.zeros(1, np.int8)}, "shapes must be numbers below"),
])  # fmt: skip
def test_other_arrays_are_refused(arrays, what):
    with pytest.raises(ValueError, match=what):
        MoveWeights.of(**arrays)


@pytest.mark.parametrize(("weight", "error"), [(1024, ValueError), (-40_000, ValueError), (0.5, TypeError), (True, TypeError)])
def test_other_weights_are_refused(weight, error):
    with pytest.raises(error, match="save must be"):
        MoveWeights.of(save=weight)


def test_copies_are_as_fixed_as_the_weights():
    weights = MoveWeights.fitted()
    for copy in (pickle.loads(pickle.dumps(weights)), copying.deepcopy(weights)):
        assert copy == weights and hash(copy) == hash(weights)
        with pytest.raises(ValueError, match="read-only"):
            copy.lines[0] = 1


def test_other_features_and_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"features must be of capture_one, .*, not ladder$"):
        MoveWeights.of(ladder=3)
    with pytest.raises(OSError, match=r"missing\.npz"):
        MoveWeights.load(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("no weights")
    np.savez(tmp_path / "others.npz", x=np.zeros(3))
    for name in ("text.npz", "others.npz"):
        with pytest.raises(ValueError, match=rf"path must be a file that MoveWeights.save has written, not .*{name}"):
            MoveWeights.load(tmp_path / name)
