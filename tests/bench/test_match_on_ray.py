"""`jaxgo match --ray` on a real cluster of this machine; some minutes: `pytest -m slow tests/bench/test_match_on_ray.py`."""

import json
import pathlib
import signal

import pytest

from tests.search.collection import test_cluster
from tests.search.collection.test_cluster import below, kill, start, wait_until

pytestmark = test_cluster.pytestmark
started = test_cluster.started

QUICK = ("amaf:visits=100", "amaf:visits=90", "--size", "5", "--komi", "0.5", "--seed", "7")


def games_in(folder: pathlib.Path) -> list[dict]:
    """The lines of a journal."""
    path = folder / "games.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.mark.slow
def test_a_match_on_ray_is_that_without_whatever_is_killed(tmp_path, started):
    """A worker, the driver, Ctrl-C: each game counts once, and is the one that this machine plays without Ray."""
    out, actor = tmp_path / "cluster", "ray::Player"

    def on_ray(games: int):
        arguments = ["match", *QUICK, "--games", str(games), "--ray", "local", "--workers", "2", "--output", str(out), "--json"]
        # Where tests run in the background, Ctrl-C is ignored by those that inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        started.append(start(arguments))
        return started[-1]

    process = on_ray(2000)
    assert wait_until(lambda: len(games_in(out)) >= 2, process)
    kill(below(process.pid, actor)[0])
    before = len(games_in(out))
    assert wait_until(lambda: len(games_in(out)) >= before + 4, process)
    leftover = below(process.pid, "")
    process.kill()
    process.communicate(timeout=60)
    for other in leftover:  # of a driver that could not end them
        kill(other)
    before = len(games_in(out))
    process = on_ray(2000)
    assert wait_until(lambda: len(games_in(out)) > before, process)
    process.send_signal(signal.SIGINT)
    report, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    kept = games_in(out)
    assert json.loads(report)["stopped"] == "interrupted" and json.loads(report)["games"] == len(kept)
    assert len({game["number"] for game in kept}) == len(kept)
    wanted = max(game["number"] for game in kept) + 3
    report, error = on_ray(wanted).communicate(timeout=300)
    assert started[-1].returncode == 0, error
    found = json.loads(report)
    assert found["complete"] and [game["number"] for game in found["records"]] == list(range(1, wanted + 1))
    assert {game["number"] for game in games_in(out)} == set(range(1, wanted + 1)) and len(games_in(out)) == wanted
    here = start(["match", *QUICK, "--games", str(wanted), "--json"])
    started.append(here)
    names = ("number", "first_is_black", "result", "opening", "game")
    records = json.loads(here.communicate(timeout=300)[0])["records"]
    assert [[game[name] for name in names] for game in records] == [[game[name] for name in names] for game in found["records"]]
