"""`jaxgo bench peers`: other engines, those given by commands, and those that are missing."""

import importlib.util

import pytest

from bench import differences, engines, gnugo_work, measure, peers, report, series
from tests.bench.running import LITTLE, assert_says_what_it_ran_on, assert_spread, result_of

pytestmark = pytest.mark.usefixtures("few_workers")
needs_pgx = pytest.mark.skipif(not importlib.util.find_spec("pgx"), reason="pgx is not installed")


def assert_measured(entry: dict) -> None:
    """Figures of one engine of `jaxgo bench peers`."""
    assert_spread(entry["per_core"])
    assert 0 < entry["core_share"] <= 1
    assert set(entry["differs"]) == set(differences.FIELDS)
    if entry["ratio_apart"] > measure.MOST_APART:
        assert entry["jaxgo_is_faster"] is None
    else:
        assert_spread(entry["jaxgo_is_faster"])


@needs_pgx
@pytest.mark.skipif(not importlib.util.find_spec("pyspiel"), reason="OpenSpiel is not installed")
def test_peers() -> None:
    document = result_of("peers", "--sizes", "5", *LITTLE)
    assert_says_what_it_ran_on(document, "peers")
    assert {"pgx", "open_spiel"} <= set(document["software"])
    entries = {entry["engine"]: entry for entry in document["results"] if "missing" not in entry}
    assert {name.split()[0] for name in entries} == {"jaxgo", "OpenSpiel", "pgx"}
    for name, entry in entries.items():
        assert entry["playouts_per_run"] >= 64
        assert 2 <= entry["mean_plies"] <= 75
        assert_measured(entry)
        assert "not told" not in entry["differs"].values()
        wins = entry["black_win_rate"]
        assert wins is None if "refilled" in name else 0 < wins < 1
    assert entries["jaxgo"]["jaxgo_is_faster"] == {"median": 1.0, "min": 1.0, "max": 1.0}


def test_peers_by_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Engines that fail are told, each in a line, and the others are measured."""
    monkeypatch.setattr(engines.importlib.util, "find_spec", lambda name: None)
    told = '{"playouts": {playouts}, "seconds": 3e-4, "mean_plies": 40.5, "black_win_rate": 0.25, "differs": "knows no ko"}'
    commands = {
        "plain=sh -c 'echo {playouts} playouts on {size}x{size} >&2; echo {playouts} 2e-4'": None,
        f"json=5:echo '{told}'": None,
        "fixed=echo 77 0.0001": None,
        "gone=/no/such/engine": "there is no program '/no/such/engine'",
        "broken=sh -c 'echo out of memory >&2; exit 4'": "it failed with exit status 4: out of memory",
        "mute=true": "it printed nothing: the last line must be PLAYOUTS SECONDS",
        "slow=sleep 60": "it ran for more than 1 s, and was ended",
        "no-time=echo 100 0": '"seconds" must be a number above 0',
        "elsewhere=13:echo 1 1": "--native has no command for 5x5",
    }
    native = [word for command in commands for word in ("--native", command)]
    document = result_of("peers", "--sizes", "5", *native, "--timeout", "1", *LITTLE)
    entries = {entry["engine"]: entry for entry in document["results"]}
    measured = [name for name, entry in entries.items() if "missing" not in entry]
    assert measured == ["jaxgo", "plain", "json", "fixed"]
    for name in measured:
        assert_measured(entries[name])
    assert [entries[name]["playouts_per_run"] for name in measured] == [64, 64, 64, 77]
    assert [entries[name]["mean_plies"] for name in measured[1:]] == [None, 40.5, None]
    assert entries["json"]["black_win_rate"] == 0.25 and entries["json"]["differs"]["remark"] == "knows no ko"
    assert set(entries["fixed"]["differs"].values()) == {differences.NOT_TOLD, ""}
    for text, why in commands.items():
        if why is not None:
            text = entries[text.split("=")[0]]["missing"]
            assert text.startswith("--native") and why in text
    assert "not installed" in entries["pgx"]["missing"] and "not installed" in entries["OpenSpiel"]["missing"]
    assert "7x7 to 9x9 only" in entries["GNU Go"]["missing"]
    report.show(document, peers.tables(document))
    text = capsys.readouterr().out
    for part in ("5x5 json", "40.5", "25.0 %", "json: knows no ko.", "not told", "5x5 gone: --native: there is no program"):
        assert part in text


@pytest.mark.wide
def test_a_ratio_of_runs_too_far_apart_is_not_told(capsys: pytest.CaptureFixture[str], throughput_document: dict) -> None:
    def result(theirs: list[float]) -> dict:
        ours = [measure.Sample(amount=100, wall=1.0, cpu=1.0) for _ in theirs]
        others = [measure.Sample(amount=int(100 * x), wall=1.0, cpu=1.0) for x in theirs]
        return peers._result(5, "other", {"jaxgo": series.Runs(100, 1.0, ours), "other": series.Runs(100, 1.0, others)})

    assert result([1.0, 0.8, 0.9])["jaxgo_is_faster"] == {"median": 1 / 0.9, "min": 1.0, "max": 1.25}
    far = result([1.0, 0.79, 0.9])
    assert far["jaxgo_is_faster"] is None and far["ratio_apart"] == pytest.approx(1 / 0.79)
    report.show(throughput_document, peers.tables({"results": [far]}))
    text = capsys.readouterr().out
    assert "5x5 other (1.27)" in text and "more than 1.25 times apart" in text


@pytest.mark.wide
def test_how_to_install_a_peer_is_told_whole(throughput_document: dict, capsys: pytest.CaptureFixture[str]) -> None:
    missing = [{"size": 5, "engine": "pgx", "missing": engines.HOW_TO_INSTALL}]
    report.show(throughput_document, peers.tables({"results": missing}))
    assert "5x5 pgx: not installed: pip install 'jaxgo[bench]'" in capsys.readouterr().out


@pytest.mark.skipif(not gnugo_work.command(), reason="GNU Go is not installed")
def test_gnugo_makes_as_many_simulations_as_asked_for() -> None:
    few, many = (gnugo_work.Simulations(7, 7.5, "uniform").run(count) for count in (10, 20_000))
    assert (few.amount, many.amount) == (gnugo_work.FEWEST, 20_000)
    # No exact factor: its clock is coarse, and the machine may be busy.
    assert 3 * few.cpu < many.cpu < 40 * few.cpu
    with pytest.raises(measure.NotMeasured, match="GNU Go answered"):
        gnugo_work.Simulations(10, 7.5, "uniform").run(10)
