"""`jaxgo bench startup`."""

import pathlib

import pytest

from bench import startup
from tests.bench.running import assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")


@pytest.mark.wide
def test_startup(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`jaxgo evaluate` is started; of `genmove`, which compiles for half a minute, how it would be."""
    lines = []

    def seconds(line: list[str], cache: str, run=startup._seconds) -> float:
        lines.append((line, cache))
        return run(line, cache) if line[0] == "evaluate" else 1.0

    monkeypatch.setattr(startup, "_seconds", seconds)
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[5]KM[3];B[cc];W[bb])", encoding="ascii")
    document = result_of("startup", "--record", str(record), "--runs", "1", "--count", "64")
    assert_says_what_it_ran_on(document, "startup")
    asked = [["evaluate", str(record), "--playouts", "64"], ["genmove", str(record), "--visits", "64"]]
    assert [line for line, _ in lines] == [line for line in asked for _ in ("cold", "warm")]
    assert [entry["command"].split() for entry in document["results"]] == asked
    (first, again), (other, _) = ([cache for line, cache in lines if line == one] for one in asked)
    assert first == again != other
    for entry in document["results"]:
        assert entry["record"] == str(record)
        assert_spread(entry["cold"])
        assert_spread(entry["warm"])
    assert [row[0] for row in startup.tables(document)[0].rows] == [f"jaxgo {' '.join(line)}" for line in asked]
