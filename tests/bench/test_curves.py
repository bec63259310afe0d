"""`jaxgo bench curves` and `scaling`: how rates change with the work."""

import pathlib

import pytest

from bench import curves, report
from jaxgo import cli
from tests.bench.running import LITTLE, assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")


@pytest.mark.wide
def test_scaling() -> None:
    document = result_of("scaling", "--sizes", "5", *LITTLE)
    assert_says_what_it_ran_on(document, "scaling")
    assert [entry["playouts"] for entry in document["results"]] == [64, 128, 256, 1024]
    for entry in document["results"]:
        assert_spread(entry["microseconds"])
        assert entry["peak_bytes"] is None or entry["peak_bytes"] > 2**20
    assert document["growth"][0]["cost_ratio"] > 0


@pytest.mark.wide
def test_curves(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A few points of each, one of which cannot be measured: it is named, and the others are there."""
    few = {"CALLS": (1, 8), "POSITIONS": (1, 8), "LANES": (16,), "DEVICES": (1, 3), "LEAVES": (4, 8, 70000), "PLAYOUTS": (2,)}
    for name, values in few.items():
        monkeypatch.setattr(curves, name, values)
    picture = tmp_path / "curves.png"
    document = result_of("curves", "--sizes", "2,3", "--runs", "1", "--count", "64", "--plot", str(picture))
    assert_says_what_it_ran_on(document, "curves")
    places = [(entry["curve"], entry["line"].split()[0], entry["x"], entry["size"]) for entry in document["results"]]
    assert places == [
        ("board", "evaluate", 2, 2), ("board", "evaluate", 3, 3),
        ("call", "one", 1, 2), ("call", "one", 8, 2), ("call", "8", 1, 2),
        ("lanes", "evaluate", 16, 2), ("devices", "workers,", 1, 2), ("devices", "simulated", 3, 2),
        ("search", "2", 4, 2), ("search", "2", 8, 2),
    ]  # fmt: skip
    for entry in document["results"]:
        assert_spread(entry["per_second"])
    assert list(document["failed"]) == ["search: 2 playouts of a leaf, 70000"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    report.show(document, curves.tables(document))
    text = capsys.readouterr().out
    for part in ("by board size N", "by leaves of a round, at most, 2x2", "simulated devices, on", "per second on the whole machine"):
        assert part in text


def test_interrupted_curves_are_those_that_are_finished(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = curves._measured

    def measured(curve, *others):
        if curve.name == "lanes":
            raise KeyboardInterrupt
        return real(curve, *others)

    monkeypatch.setattr(curves, "_measured", measured)
    monkeypatch.setattr(curves, "CALLS", ())
    assert cli.main(["bench", "curves", "--sizes", "2", "--runs", "1", "--count", "64"]) == cli.EXIT_INTERRUPTED
    text = capsys.readouterr().out
    assert "PARTIAL, interrupted" in text and "by board size N" in text and "games side by side" not in text
