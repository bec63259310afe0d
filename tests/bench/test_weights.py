"""What larger weights of prior playouts are worth: the sums, the games and their versions, a run and its going on."""

import dataclasses
import json

import numpy as np
import pytest

from bench import weights
from bench.weights import FACTOR, GROUPS, effects, scaled, signs_of
from jaxgo import cli
from search.knowledge import Knowledge


def test_groups_are_all_weights():
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(f.name for f in dataclasses.fields(Knowledge))


def test_weights_grow_and_shrink_by_groups():
    signs = np.where(np.array(list(GROUPS)) == "near_last", 1, -1)
    found = scaled(Knowledge(), signs)
    assert found.near_last_1 == FACTOR * Knowledge().near_last_1 and found.pattern == Knowledge().pattern / FACTOR
    assert found.self_atari == Knowledge().self_atari / FACTOR


def test_two_games_in_a_row_have_the_same_versions():
    """Which they play with either colour; others have others."""
    assert (signs_of(3, 1) == signs_of(3, 1)).all()
    drawn = np.array([signs_of(pair, 1) for pair in range(400)])
    assert abs(drawn.mean(axis=0)).max() < 4 / np.sqrt(400)


def test_effects_are_told_apart():
    """Of 4,000 games whose first version wins 60 % by one group and 45 % by another; four standard errors."""
    rng, names = np.random.default_rng(1), list(GROUPS)
    games = []
    for number in range(4000):
        signs = signs_of(number, 0)
        chance = 0.5 + 0.1 * signs[names.index("pattern")] - 0.05 * signs[names.index("even")]
        games.append({"signs": signs.tolist(), "won": float(rng.random() < chance)})
    found = effects(games)
    expected = dict.fromkeys(GROUPS, 0.0) | {"pattern": 0.1, "even": -0.05}
    for name, x in found.items():
        assert x["error"] == pytest.approx(0.5 / np.sqrt(4000), rel=0.05)
        assert abs(x["effect"] - expected[name]) < 4 * x["error"], name


@pytest.fixture
def played(monkeypatch):
    """Nothing is played: who is first wins. The games that were asked for."""
    asked = []

    def play_all(games, places, stop):
        for match, number in games:
            asked.append((match, number))
            yield {"number": number, "won": 1.0, "moves": 30, "game": str(number)}, b""

    monkeypatch.setattr(weights.pool, "play_all", play_all)
    return asked


def test_a_run_goes_on_with_what_it_has(played, tmp_path, capsys):
    out = tmp_path / "weights.json"
    assert weights.main([str(out), "--games", "4", "--visits", "16", "--size", "5"]) == 0
    assert weights.main([str(out), "--games", "6", "--visits", "16", "--size", "5"]) == 0
    assert [number for _, number in played] == [1, 2, 3, 4, 5, 6]
    first, second = (contestant.options for contestant in played[0][0].contestants)
    assert repr(first["policy"]).startswith("[Patterns(") or repr(first["policy"]).startswith("Patterns(")
    assert first["rule"].knowledge != second["rule"].knowledge
    made = json.loads(out.read_text())
    assert made["benchmark"] == "weights" and len(made["games"]) == 6 and set(made["effects"]) == set(GROUPS)
    assert "near_last" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["weights.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--games", "1"], "argument --games: must be between 2 and "), (["--bot", "amaf"], "invalid choice: 'amaf'"),
        (["--policy", "best"], "--policy best: policy must be of "), (["--visits", "32"], "holds games of other settings"),
    ],
)  # fmt: skip
def test_bad_usage_is_told(played, tmp_path, capsys, arguments, told):
    out = tmp_path / "weights.json"
    assert weights.main([str(out), "--games", "2", "--visits", "16"]) == 0
    with pytest.raises(SystemExit, match="2"):
        weights.main([str(out), "--games", "2", "--visits", "16", *arguments])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"games": [], "settings": {}}', '{"games": [{"number": 1}], "settings": {}}'])
def test_files_of_others_are_left_alone(played, tmp_path, capsys, text):
    out = tmp_path / "weights.json"
    out.write_text(text)
    with pytest.raises(SystemExit, match="2"):
        weights.main([str(out)])
    told = capsys.readouterr().err
    assert "is no document of bench.weights" in told or "holds games of other settings: {}" in told
    assert out.read_text() == text and not played
    with pytest.raises(SystemExit, match="2"):
        weights.main([str(tmp_path / "nowhere" / "weights.json")])
    assert "must be in a folder that is there and can be written to" in capsys.readouterr().err


def test_an_interrupted_run_tells_what_it_has(played, monkeypatch, tmp_path, capsys):
    def interrupted(games, places, stop):
        yield {"number": 1, "won": 1.0, "moves": 30, "game": "1"}, b""
        raise KeyboardInterrupt

    monkeypatch.setattr(weights.pool, "play_all", interrupted)
    out = tmp_path / "weights.json"
    assert weights.main([str(out), "--games", "2", "--visits", "16"]) == cli.EXIT_INTERRUPTED
    printed = capsys.readouterr()
    assert "interrupted" in printed.err and "near_last" in printed.out
    assert len(json.loads(out.read_text())["games"]) == 1
