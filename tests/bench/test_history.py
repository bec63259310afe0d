"""Recorded figures over commits, from a repository that the test makes."""

import json
import subprocess

import pytest

from bench import history
from bench.series import Plan


def git(root, *arguments: str) -> None:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    subprocess.run(["git", "-C", root, *who, *arguments], check=True, capture_output=True)


def result(date: str, rate: float, commit: str | None) -> str:
    entries = [
        {"size": 9, "output": output, "per_core": {"median": rate, "min": rate - 1, "max": rate + 1}}
        for output in ("evaluate", "playouts")
    ]
    made = {"benchmark": "throughput", "date": date, "commit": commit, "hardware": {"cpu": "Abacus"}, "results": entries}
    return json.dumps(made)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Two results: one that replaced another in the same file, and one of a form that nobody reads any more."""
    folder = tmp_path / "bench" / "results"
    folder.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    for text in (result("2026-01-01T00:00:00", 100.0, None), result("2026-02-01T00:00:00", 300.0, "f" * 40)):
        (folder / "a-throughput.json").write_text(text)
        (folder / "old.json").write_text('["no report"]')
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", "figures", "--allow-empty")
    monkeypatch.setattr(history, "ROOT", tmp_path)
    monkeypatch.setattr(history.recorded, "__defaults__", (None, tmp_path))
    return tmp_path


def test_every_result_that_was_recorded_counts(repository, tmp_path):
    said, picture = [], tmp_path / "rates.png"
    made = history.measure([9, 19], Plan(), said.append, plot=str(picture))
    assert [(x["date"][:10], x["rate"]["median"], x["name"]) for x in made["results"]] == [
        ("2026-01-01", 100.0, "evaluate, a core"), ("2026-02-01", 300.0, "evaluate, a core"),
    ]  # fmt: skip
    first, second = (x["commit"] for x in made["results"])
    assert len(first) == 40 and first != "f" * 40, "that which recorded it, where the result names none"
    assert second == "f" * 40
    assert picture.read_bytes().startswith(b"\x89PNG") and said[-1] == f"wrote {picture}"
    assert "9x9 evaluate, a core" in history.tables(made)[0].rows[0][0]


def test_a_gpu_is_the_machine_that_its_rates_are_of():
    made = json.loads(result("2026-01-01T00:00:00", 100.0, None))
    assert history._machine(made) == "Abacus"
    assert history._machine(made | {"software": {"devices": ["cpu: cpu"]}}) == "Abacus"
    assert history._machine(made | {"software": {"devices": ["gpu: NVIDIA H100 80GB HBM3"]}}) == "NVIDIA H100 80GB HBM3"


def test_where_there_is_none_it_is_told(repository, tmp_path):
    with pytest.raises(history.NoHistory, match="since 2037-01-01"):
        history.measure([9], Plan(), lambda _: None, since="2037-01-01")
    with pytest.raises(history.NoHistory, match="git says"):
        list(history.recorded(root=tmp_path.parent / "nowhere"))


def test_what_was_recorded_twice_counts_once_and_boards_are_those_asked_for(repository, tmp_path):
    """As where a file was renamed."""
    (tmp_path / "bench" / "results" / "b-throughput.json").write_text(result("2026-02-01T00:00:00", 300.0, "f" * 40))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "another name")
    made = history.measure([9], Plan(), lambda _: None)
    assert [x["rate"]["median"] for x in made["results"]] == [100.0, 300.0]
    with pytest.raises(history.NoHistory, match="holds no figures of throughput, search for 13x13, 19x19$"):
        history.measure([13, 19], Plan(), lambda _: None)
