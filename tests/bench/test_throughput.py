"""`jaxgo bench throughput`, the default."""

import pytest

from bench import command, figures, report, throughput
from tests.bench.running import LITTLE, assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")


@pytest.mark.wide
def test_throughput(throughput_document: dict) -> None:
    document = throughput_document
    assert_says_what_it_ran_on(document, "throughput")
    results = document["results"]
    assert [(entry["size"], entry["output"]) for entry in results] == [
        (size, output) for size in (2, 3) for output in ("evaluate", "playouts", "playouts with moves")
    ]
    for entry in results:
        assert entry["playouts_per_run"] == 64
        assert entry["first_call_seconds"] > 0
        assert 2 <= entry["mean_plies"] <= 3 * entry["size"] ** 2
        assert_spread(entry["per_core"])
        assert 0 < entry["core_share"] <= 1
        assert_spread(entry["machine"])
    assert [entry["size"] for entry in document["recording_moves"]] == [2, 3]
    for entry in document["recording_moves"]:
        assert_spread(entry["time_ratio"])


@pytest.mark.wide
def test_policies_are_priced() -> None:
    from bench import jaxgo_work

    assert command.POLICIES == (*jaxgo_work.POLICIES,)
    document = result_of("throughput", "--sizes", "3", "--policy", "capture,advisor", *LITTLE)
    outputs = [entry["output"] for entry in document["results"]]
    assert outputs[3:] == ["playouts, capture", "playouts, advisor"]
    assert [(entry["size"], entry["policy"]) for entry in document["policies"]] == [(3, "capture"), (3, "advisor")]
    for entry in document["policies"]:
        assert_spread(entry["time_ratio"])
    tables = throughput.tables(document)
    assert [row[0] for row in tables[2].rows] == ["3x3 capture", "3x3 advisor"]


def test_throughput_of_the_machine_alone() -> None:
    """As of a GPU, of which one core says nothing."""
    document = result_of("throughput", "--sizes", "3", "--only", "machine", *LITTLE)
    for entry in document["results"]:
        assert_spread(entry["machine"])
        assert "per_core" not in entry
    assert_spread(document["recording_moves"][0]["time_ratio"])
    rates, *_ = throughput.tables(document)
    assert [row[1] for row in rates.rows] == ["-"] * 3
    assert figures.throughput(document).count("\n") == 2 + len(figures.OUTPUTS)


def test_tables_name_the_hardware_and_every_size(throughput_document: dict, capsys: pytest.CaptureFixture[str]) -> None:
    report.show(throughput_document, throughput.tables(throughput_document))
    text = capsys.readouterr().out
    for part in ("single fused loop on", "load", "2x2 evaluate", "3x3 evaluate", "3x3 playouts with moves", "machine"):
        assert part in text
    assert throughput_document["hardware"]["cpu"] in text
