"""`jaxgo bench limit`: ticks beside their operations on registers alone."""

import os
import pathlib

import pytest

from bench import limit, limit_work, machine_code, report, worker
from bench.machine_code import Instruction, Loop
from bench.measure import NotMeasured, Sample
from bench.series import Plan, Runs
from jaxgo.base import forms


@pytest.fixture(autouse=True)
def cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers keep what they compile where the tests do."""
    cache = os.environ["JAX_COMPILATION_CACHE_DIR"]
    monkeypatch.setattr(limit, "environment", lambda platform: worker.environment(cache=cache, platform=platform))


@pytest.fixture(scope="module")
def operations() -> tuple[Instruction, ...]:
    """300 operations on vectors, of which 20 read the stack."""
    add, load = Instruction("vpaddd", "%zmm1,%zmm2,%zmm3"), Instruction("vpandd", "0x40(%rsp),%zmm2,%zmm3")
    return (add,) * 280 + (load,) * 20


def runs(*rates: float) -> Runs:
    return Runs(100, 0.0, [Sample(amount=round(rate), wall=1.0, cpu=1.0, plies=40.0) for rate in rates])


def test_shares_are_operations_over_operations(operations: tuple[Instruction, ...]) -> None:
    loop = Loop(operations + (Instruction("jne", "20"),) * 100, trips=63, framed=True)
    facts = {"lanes": 1008, "ticks_a_loop": 2, "needed": 60.0}
    made = {limit.PLAYOUTS: runs(1e6, 1e6), limit.TICKS: runs(100e6, 80e6)}
    made |= {limit.REGISTERS: runs(4e9, 4e9), limit.IN_ORDER: runs(2e9, 1e9)}
    figures = limit._figures(facts, loop, made)
    # 150 operations of a tick for 16 lanes: 9.375 of a lane.
    assert figures["code"] == {"lanes": 16, "instructions": 200.0, "operations": 150.0, "stack": 10.0}
    assert figures["operations"] == pytest.approx({"median": 843.75e6, "min": 750e6, "max": 937.5e6})
    assert figures["ticks_share"]["max"] == pytest.approx(937.5e6 / 4e9)
    assert figures["playouts_share"]["median"] == pytest.approx(9.375 * 60 * 1e6 / 4e9)
    assert figures["in_order_share"] == {"median": 0.375, "min": 0.25, "max": 0.5}
    assert figures["ticks_in_order"]["max"] == pytest.approx(750e6 / 1e9)
    assert figures["could_be"]["median"] == pytest.approx(4e9 / (9.375 * 60))


def test_ticks_are_counted() -> None:
    """A lane waits for others, for less than three looks."""
    facts = limit_work.facts(5)
    assert (facts["words"], facts["word_bits"], facts["ticks_a_loop"]) == (1, 32, 1 + forms.CPU.pairs)
    assert 200 < facts["written"] < 400
    assert limit_work.facts(9)["written"] > 1.5 * facts["written"]
    counted = limit_work.ticks_of_playouts(5)
    assert counted["needed"] < counted["lane_ticks"] < counted["needed"] + 96


@pytest.mark.wide
@pytest.mark.usefixtures("many_playouts")  # compiled as for users: else the tick is another loop
def test_limit(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "limit.png"
    made = limit.measure([5], Plan(runs=2, count=64), lambda text: None, plot=str(picture))
    (entry,) = made["results"]
    assert 2 <= entry["mean_plies"] <= 75
    for name in ("playouts", "ticks"):
        assert 0 < entry[name]["min"] <= entry[name]["max"]
    try:
        machine_code.largest_loop(tmp_path, "ticks_alone")
    except NotMeasured as error:
        readable = "has not written" in str(error)  # the first thing that is missing here, where loops can be read
    if readable:
        assert entry["missing"] is None
        code = entry["code"]
        assert code["lanes"] in (4, 8, 16, 32, 64)
        assert 50 < code["operations"] < code["instructions"] < 1000 and code["stack"] < code["instructions"]
        assert 0 < entry["ticks_share"]["min"] and entry["could_be"]["min"] > entry["playouts"]["max"]
    else:
        assert entry["code"] is None and entry["missing"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    report.show(made, limit.tables(made))
    assert "5x5" in capsys.readouterr().out


def test_what_cannot_be_counted_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that does not go through all lanes, and none."""
    loop = Loop((Instruction("vpaddd", "%zmm1,%zmm2,%zmm3"),), 5, True)
    monkeypatch.setattr(machine_code, "largest_loop", lambda folder, name: loop)
    assert limit._read(pathlib.Path(), 1008) == (None, "the compiled tick goes through its loop 5 times for 1008 lanes")
    figures = limit._figures({}, None, {limit.PLAYOUTS: runs(1e6), limit.TICKS: runs(1e8)})
    assert figures["code"] is None and "ceiling" not in figures
    entry = {"size": 5, "needed": 60.0, "lane_ticks": 80.0, "missing": "no disassembler", "gpu": None, **figures}
    table, other, *texts = limit.tables({"results": [entry]})
    assert table.rows[0][2:] == ("-",) * 5 and other.rows[0][-2:] == ("-", "-")
    assert any("5x5: what a core could do is not known: no disassembler." in text for text in texts)
    assert any("jaxgo[kernel]" in text for text in texts)
