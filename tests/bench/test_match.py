"""`jaxgo match`: its interval, its settings, and a small match."""

import json
import os
import signal
import subprocess
import sys

import pytest
from scipy import stats

from bench.match import read_spec, summary, wilson
from jaxgo.cli import UsageError


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (5, 10), (127, 200), (200, 200)])
def test_the_wilson_interval_is_scipys(wins, games):
    expected = stats.binomtest(wins, games).proportion_ci(0.95, method="wilson")
    assert wilson(wins / games, games) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_draws_count_half():
    games = [{"won": w, "first_is_black": b, "moves": 10, "seconds": 1.0} for w, b in ((1.0, True), (0.5, False), (0.0, True))]
    found = summary(games)
    assert (found["wins"], found["draws"], found["losses"]) == (1, 1, 1)
    assert found["score"] == 0.5
    assert found["score_as_black"] == 0.5


def test_settings_are_read():
    spec = read_spec("rave:bias=0.05,visits=4000,schedule=hand,strict=False")
    assert spec.bot == "rave"
    assert spec.settings == {"bias": 0.05, "visits": 4000, "schedule": "hand", "strict": False}


@pytest.mark.parametrize("text", ["raves", "rave:speed=3", "rave:bias=much", "rave:visits="])
def test_wrong_settings_are_refused(text):
    with pytest.raises(UsageError):
        read_spec(text)


def test_a_match_is_the_same_however_it_is_spread():
    """Two games by one worker and by two; colours alternate, and every game is in the document."""
    documents = []
    for workers in ("1", "2"):
        command = [sys.executable, "-m", "jaxgo", "match", "rave", "amaf:visits=100", "--games", "2", "--size", "5", "--visits", "100",
                   "--komi", "0.5", "--leaves", "16", "--workers", workers, "--json"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        documents.append(json.loads(done.stdout))
    games = [[{k: g[k] for k in ("number", "first_is_black", "result", "moves")} for g in d["records"]] for d in documents]
    assert games[0] == games[1]
    assert [g["first_is_black"] for g in games[0]] == [True, False]
    assert documents[0]["complete"]
    assert documents[0]["interval"][0] <= documents[0]["score"] <= documents[0]["interval"][1]


def test_an_interrupted_match_reports_its_games_and_ends():
    """Ctrl-C goes to all processes of a terminal: none of them hangs, and nothing that is finished is lost."""
    # Where tests run in the background, Ctrl-C is ignored by those that inherit it.
    code = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom jaxgo.cli import main\nsys.exit(main())"
    options = ("--size", "4", "--games", "100000", "--visits", "64", "--json")
    command, pipe = [sys.executable, "-c", code, "match", "mc", "ucb", *options], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            next(line for line in process.stderr if "2 of" in line)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, err
    report = json.loads(out)
    assert not report["complete"] and 2 <= report["games"] == len(report["records"]) < 100_000
    assert "Traceback" not in err
