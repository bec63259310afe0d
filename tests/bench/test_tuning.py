"""What settings of searches and prior playouts are worth: the sums, the games and their versions, a run and its going on."""

import argparse
import dataclasses
import itertools
import json
import signal

import numpy as np
import pytest

from bench import tuning
from bench.matches.contestants import Conditions, read_bot
from bench.matches.playing import Match
from bench.tuning import PRIORS, SETTINGS, VALUES, effects, factors_of, factors_of_argument, signs_of, version
from jaxgo import Position, cli
from jaxgo.base import files
from search.knowledge import Knowledge
from search.players import make_player, rule_of
from search.search import Search

ARGS = argparse.Namespace(size=5, visits=16, seconds=None, leaves=16, playouts_per_leaf=8, knowledge=None, cleanup=False)


def test_prior_playouts_are_settings_of_knowledge():
    assert {*PRIORS} == {field.name for field in dataclasses.fields(Knowledge)} - {"weights"}
    found = version(rule_of("rave", True), {}, {"even": -1, "likely": 1}, VALUES)["rule"].knowledge
    assert found == Knowledge(even=PRIORS["even"][0], likely=PRIORS["likely"][1])


@pytest.mark.parametrize("bot", ["rave", "uct"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_settings_are_those_of_the_rule_and_of_the_search(bot, sign):
    """A search takes them all, and has them."""
    factors = factors_of(bot, factors_of_argument("settings"))
    assert ("bias" in factors) == (bot == "rave") and "exploration" in factors
    options = version(rule_of(bot, True), {"leaves": 256}, dict.fromkeys(factors, sign), SETTINGS)
    asked = {name: SETTINGS[name][int(sign > 0)] for name in factors}
    assert vars(options["rule"]) | options == vars(options["rule"]) | options | asked
    search = make_player(bot, **options).prepare(Position.empty(5), None)
    assert (search.num_leaves, search.playouts_per_leaf) == (asked["leaves"], asked["playouts_per_leaf"])
    search.close()


def test_two_games_in_a_row_have_the_same_versions():
    """Which they play with either colour; others have others."""
    assert (signs_of(3, 1, 10) == signs_of(3, 1, 10)).all()
    drawn = np.array([signs_of(pair, 1, 10) for pair in range(400)])
    assert abs(drawn.mean(axis=0)).max() < 4 / np.sqrt(400)


def test_effects_are_told_apart():
    """Of 4,000 games whose first version wins 60 % by one group and 45 % by another; four standard errors."""
    rng, names = np.random.default_rng(1), list(VALUES)
    games = []
    for number in range(4000):
        signs = signs_of(number, 0, len(names))
        chance = 0.5 + 0.1 * signs[names.index("likely")] - 0.05 * signs[names.index("even")]
        games.append({"signs": signs.tolist(), "won": float(rng.random() < chance)})
    found = effects(games, names)
    expected = dict.fromkeys(VALUES, 0.0) | {"likely": 0.1, "even": -0.05}
    for name, x in found.items():
        assert x["error"] == pytest.approx(0.5 / np.sqrt(4000), rel=0.05)
        assert abs(x["effect"] - expected[name]) < 4 * x["error"], name
    assert effects(games[:9], names) == {}


@pytest.fixture
def played(monkeypatch):
    """Nothing is played: who is first wins. The games that were asked for."""
    asked = []

    def play_all(games, workers, stop):
        for match, number in games:
            asked.append((match, number))
            yield {"number": number, "won": 1.0, "moves": 30, "game": str(number)}, b""

    monkeypatch.setattr(tuning, "played", play_all)
    return asked


@pytest.mark.parametrize(("most", "workers", "expected"), [(9, None, "at once"), (9, 3, 3), (0, None, tuning.CORES)])
def test_where_games_are_played(monkeypatch, most, workers, expected):
    monkeypatch.setattr(tuning.at_once, "places", lambda contestants, size, memory: most)
    monkeypatch.setattr(tuning.at_once, "play_all", lambda games, stop, most: ["at once"])
    monkeypatch.setattr(tuning.pool, "places", lambda workers, cores: workers)
    monkeypatch.setattr(tuning.pool, "play_all", lambda games, places, stop: [places])
    match = Match((read_bot("rave", ARGS), read_bot("uct", ARGS)), Conditions(5, 7.5, None, 0.0, 1 << 24), 0, 0, "own")
    assert list(tuning.played([(match, 1)], workers, lambda: False)) == [expected]


def test_a_run_goes_on_with_what_it_has(played, tmp_path, capsys):
    out = tmp_path / "tuning.json"
    assert tuning.main([str(out), "--games", "4", "--visits", "16", "--size", "5", "--of", "settings"]) == 0
    assert tuning.main([str(out), "--games", "40", "--visits", "16", "--size", "5", "--of", "settings"]) == 0
    assert [number for _, number in played] == list(range(1, 41))
    first, second = (contestant.options for contestant in played[0][0].contestants)
    assert repr(first["policy"]).startswith("[NoSelfAtari(")
    assert first["rule"].bias != second["rule"].bias and first["rule"].knowledge == second["rule"].knowledge
    made = json.loads(out.read_text())
    assert made["benchmark"] == "tuning" and len(made["games"]) == 40 and set(made["effects"]) == set(SETTINGS)
    printed = capsys.readouterr()
    assert "bias" in printed.out and "4 games are too few to tell 8 factors apart" in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--games", "1"], "argument --games: must be between 2 and "), (["--bot", "amaf"], "invalid choice: 'amaf'"),
        (["--policy", "best"], "--policy best: policy must be of "), (["--visits", "32"], "holds games of other settings"),
        (["--seconds", "1"], "holds games of other settings"), (["--of", "patterns"], "argument --of: must name some of priors,"),
        (["--of", "likely=1"], "likely takes a smaller and a larger value"), (["--of", "all=1:2"], "all takes no values"),
        (["--of", "share=0.4:0.1"], "share takes a smaller and a larger value, as in share=0.1:0.4, not '0.4:0.1'"),
        (["--of", "share=0.1:nan"], "not '0.1:nan'"), (["--of", "strict=0:1"], "as in strict, not '0:1'"),
        (["--of", "bias=0.1:0.2:0.3"], "not '0.1:0.2:0.3'"), (["--of", "share="], "share takes a smaller and a larger value"),
        (["--of", "leaves=1.5:2"], "leaves takes a smaller"), (["--of", "leaves=0:2"], "leaves must be between 1 and"),
        (["--of", "share=0.5:7"], "share must be a number from 0 to 1, not 7.0"),
        (["--of", "playouts_per_leaf=2:8,virtual_losses=1:4"], "virtual_losses must be between 1 and 2, not 4"),
        (["--bot", "uct", "--of", "bias"], "--of must name something that --bot uct has, not bias"),
    ],
)  # fmt: skip
def test_bad_usage_is_told(played, tmp_path, capsys, arguments, told):
    out = tmp_path / "tuning.json"
    assert tuning.main([str(out), "--games", "2", "--visits", "16"]) == 0
    with pytest.raises(SystemExit, match="2"):
        tuning.main([str(out), "--games", "2", "--visits", "16", *arguments])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(("name", "told"), [("jaxgo", "holds games of another version: x"), ("commit", "holds games of another commit: x")])
def test_games_of_another_version_are_left_alone(played, tmp_path, capsys, name, told):
    out = tmp_path / "tuning.json"
    assert tuning.main([str(out), "--games", "2", "--visits", "16"]) == 0
    out.write_text(json.dumps(json.loads(out.read_text()) | {name: "x"}))
    with pytest.raises(SystemExit, match="2"):
        tuning.main([str(out), "--games", "4", "--visits", "16"])
    assert told in capsys.readouterr().err


def test_one_run_at_a_time(played, tmp_path, capsys):
    """Two would each write what they know."""
    out = tmp_path / "tuning.json"
    with files.taken(out) as ours, pytest.raises(SystemExit, match="2"):
        assert ours
        tuning.main([str(out), "--games", "2", "--visits", "16"])
    assert "tuning.json is in use by another run" in capsys.readouterr().err and not played
    assert tuning.main([str(out), "--games", "2", "--visits", "16"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.json"]
    with pytest.raises(SystemExit, match="2"):
        tuning.main([str(tmp_path / f"{'a' * 245}.json"), "--games", "2", "--visits", "16"])
    assert "cannot be used: File name too long" in capsys.readouterr().err


def test_every_version_can_be_played():
    """Of what is tried by default any may come with any other; but for prior playouts a search can tell."""
    for values in itertools.product(*(SETTINGS[name] for name in ("playouts_per_leaf", "virtual_losses", "leaves", "share"))):
        playouts, losses, leaves, share = values
        Search(Position.empty(5), playouts_per_leaf=playouts, virtual_losses=losses, leaves=leaves, share=share).close()


def test_factors_may_be_named_and_given_values(played, tmp_path):
    out = tmp_path / "tuning.json"
    asked = ["--of", "share=0.05:0.1,likely,virtual_losses=1:4", "--seconds", "0.5"]
    assert tuning.main([str(out), "--games", "16", *asked]) == 0
    made = json.loads(out.read_text())
    assert set(made["effects"]) == {"share", "likely", "virtual_losses"} and made["settings"]["visits"] is None
    assert made["settings"]["values"] == {"share": [0.05, 0.1], "likely": list(PRIORS["likely"]), "virtual_losses": [1, 4]}
    for match, number in played:
        first, second = (contestant.options for contestant in match.contestants)
        larger = dict(zip(("share", "likely", "virtual_losses"), signs_of((number - 1) // 2, 0, 3) > 0))
        assert (first["share"], second["share"]) == ((0.1, 0.05) if larger["share"] else (0.05, 0.1))
        assert first["virtual_losses"] == (4 if larger["virtual_losses"] else 1)
        assert first["rule"].knowledge.likely == PRIORS["likely"][int(larger["likely"])]
        assert {contestant.limits.seconds for contestant in match.contestants} == {0.5}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"games": [], "settings": {}}', '{"games": [{"number": 1}], "settings": {}}'])
def test_files_of_others_are_left_alone(played, tmp_path, capsys, text):
    out = tmp_path / "tuning.json"
    out.write_text(text)
    with pytest.raises(SystemExit, match="2"):
        tuning.main([str(out)])
    told = capsys.readouterr().err
    assert "is no document of bench.tuning" in told
    assert out.read_text() == text and not played
    with pytest.raises(SystemExit, match="2"):
        tuning.main([str(tmp_path / "nowhere" / "tuning.json")])
    assert "must be in a folder that is there and can be written to" in capsys.readouterr().err


def test_an_interrupted_run_tells_what_it_has(played, monkeypatch, tmp_path, capsys):
    """Also of games that had ended by then and had not been told."""

    def interrupted(games, workers, stop):
        assert not stop()
        yield {"number": 1, "won": 1.0, "moves": 30, "game": "1"}, b""
        signal.raise_signal(signal.SIGINT)
        assert stop()
        yield {"number": 2, "won": 1.0, "moves": 30, "game": "2"}, b""

    monkeypatch.setattr(tuning, "played", interrupted)
    out = tmp_path / "tuning.json"
    assert tuning.main([str(out), "--games", "4", "--visits", "16"]) == cli.EXIT_INTERRUPTED
    printed = capsys.readouterr()
    assert "interrupted" in printed.err and "2 games are too few" in printed.err
    assert len(json.loads(out.read_text())["games"]) == 2


def test_what_is_written_of_a_game_is_what_was_played(played, tmp_path):
    """Of each factor, whether the first version had the larger value."""
    out = tmp_path / "tuning.json"
    assert tuning.main([str(out), "--games", "6", "--of", "share,leaves", "--visits", "16", "--size", "5"]) == 0
    assert len(played) == 6
    for (match, number), game in zip(played, json.loads(out.read_text())["games"], strict=True):
        first, second = (contestant.options for contestant in match.contestants)
        assert game["number"] == number
        assert game["signs"] == [1 if first[name] > second[name] else -1 for name in ("share", "leaves")]
