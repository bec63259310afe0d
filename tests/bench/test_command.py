"""`jaxgo bench`, with as little work as it takes to run every benchmark once: what it prints, and what it refuses.

No time is compared with a number here: a test machine is busy. Rates must be positive and belong to the work that was asked for.
How long compiling takes is not looked at either.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

from bench import (
    command,
    curves,
    differences,
    engines,
    figures,
    gnugo_work,
    measure,
    peers,
    report,
    search,
    series,
    startup,
    throughput,
)  # fmt: skip
from bench.worker import Worker, environment
from jaxgo import cli

pytestmark = pytest.mark.usefixtures("few_workers")
SPREAD = {"median", "min", "max"}
LITTLE = ("--runs", "2", "--count", "64")

needs_pgx = pytest.mark.skipif(not importlib.util.find_spec("pgx"), reason="pgx is not installed")


def bench(*arguments: str) -> subprocess.CompletedProcess:
    """Runs `jaxgo bench` in a process of its own, as a user does."""
    jaxgo = pathlib.Path(sys.executable).parent / "jaxgo"
    return subprocess.run([jaxgo, "bench", *arguments], capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def few_workers():
    """Has workers stay for the next benchmark that wants some like them, and keep what they compile where the tests do.

    Otherwise most of the time would go into beginning processes. What workers are is tested in `test_worker.py`.
    """
    begin, end = Worker.__init__, Worker.__exit__
    cache, kept = environment(cache=os.environ["JAX_COMPILATION_CACHE_DIR"]), {}

    def begin_or_find(self, *, cores=None, environment=None) -> None:
        environment = {**(environment or {}), **cache}
        key = repr((cores, sorted(environment.items())))
        if key in kept:
            vars(self).update(vars(kept[key]))
        else:
            begin(self, cores=cores, environment=environment)
            kept[key] = self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "__init__", begin_or_find)
        patch.setattr(Worker, "__exit__", lambda self, *_: None)
        yield
    for one in kept.values():
        end(one)


def result_of(*arguments: str) -> dict:
    """The JSON document, which must be all that stdout has."""
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        patch.setattr(sys, "argv", ["jaxgo", "bench", *arguments, "--json"])
        status = cli.main()
    assert status == 0, errors.getvalue()
    assert errors.getvalue().startswith("jaxgo bench: ")  # progress
    return json.loads(out.getvalue())


def assert_spread(figures: dict) -> None:
    assert set(figures) == SPREAD
    assert 0 < figures["min"] <= figures["median"] <= figures["max"]


def assert_says_what_it_ran_on(document: dict, benchmark: str) -> None:
    assert document["benchmark"] == benchmark
    assert document["command"].startswith("jaxgo ")
    assert {"cpu", "cores", "cores_usable", "load_average", "load_at_start", "memory_bytes"} <= set(document["hardware"])
    assert {"python", "jax", "jaxlib", "numpy"} <= set(document["software"])
    if benchmark != "startup":  # of which nothing is known but that it was started
        assert document["software"]["devices"] and document["software"]["one_loop"] is True


@pytest.fixture(scope="module")
def throughput_document(few_workers) -> dict:
    """Of the default benchmark."""
    return result_of("--sizes", "2,3", *LITTLE)


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


@pytest.mark.skipif(not gnugo_work.command(), reason="GNU Go is not installed")
def test_gnugo_makes_as_many_simulations_as_asked_for() -> None:
    few, many = (gnugo_work.Simulations(7, 7.5, "uniform").run(count) for count in (10, 20_000))
    assert (few.amount, many.amount) == (gnugo_work.FEWEST, 20_000)
    # No exact factor: its clock is coarse, and the machine may be busy.
    assert 3 * few.cpu < many.cpu < 40 * few.cpu
    with pytest.raises(measure.NotMeasured, match="GNU Go answered"):
        gnugo_work.Simulations(10, 7.5, "uniform").run(10)


def test_environment() -> None:
    document = result_of("environment", "--sizes", "5", "--batches", "4", *LITTLE)
    assert_says_what_it_ran_on(document, "environment")
    assert [(entry["size"], entry["batch"]) for entry in document["results"]] == [(5, 4)]
    for entry in document["results"]:
        assert_spread(entry["jaxgo"])
        if importlib.util.find_spec("pgx"):
            assert_spread(entry["pgx"])
            assert_spread(entry["jaxgo_is_faster"])
        else:
            assert entry["pgx"] is entry["jaxgo_is_faster"] is None


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


def test_scaling() -> None:
    document = result_of("scaling", "--sizes", "5", *LITTLE)
    assert_says_what_it_ran_on(document, "scaling")
    assert [entry["playouts"] for entry in document["results"]] == [64, 128, 256, 1024]
    for entry in document["results"]:
        assert_spread(entry["microseconds"])
        assert entry["peak_bytes"] is None or entry["peak_bytes"] > 2**20
    assert document["growth"][0]["cost_ratio"] > 0


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


def test_tables_name_the_hardware_and_every_size(throughput_document: dict, capsys: pytest.CaptureFixture[str]) -> None:
    report.show(throughput_document, throughput.tables(throughput_document))
    text = capsys.readouterr().out
    for part in ("single fused loop on", "load", "2x2 evaluate", "3x3 evaluate", "3x3 playouts with moves", "machine"):
        assert part in text
    assert throughput_document["hardware"]["cpu"] in text


def test_how_to_install_a_peer_is_told_whole(throughput_document: dict, capsys: pytest.CaptureFixture[str]) -> None:
    missing = [{"size": 5, "engine": "pgx", "missing": engines.HOW_TO_INSTALL}]
    report.show(throughput_document, peers.tables({"results": missing}))
    assert "5x5 pgx: not installed: pip install 'jaxgo[bench]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "1"), "--sizes 1: a board size is a whole number from 2 to 25"),
        (("--sizes", "9,26"), "--sizes 26: "),
        (("--sizes", "nine"), "--sizes nine: "),
        (("--runs", "0"), "--runs 0: must be a whole number from 1 to 1000"),
        (("--count", "3000000000"), "--count 3000000000: must be a whole number from 1 to 2147483647"),
        (("--seconds", "nan"), "--seconds nan: must be a number above 0"),
        (("environment", "--batches", "0"), "--batches 0: "),
        (("throughput", "--only", "gpu"), "--only gpu: must be of core, machine, or all"),
        (("throughput", "--policy", "best"), "--policy best: must be of capture, reply, advisor, patterns, or all"),
        (("search", "--only", "rave,best"), "--only rave,best: must be of rave, rave-64, uct, v1, v2, mctr, host, or all"),
        (("startup", "--record", "/nowhere/game.sgf"), "--record /nowhere/game.sgf: cannot be read: "),
        (("peers", "--native", "9:"), "--native '9:': must be [NAME=][SIZE,...:]COMMAND"),
        (("limit", "--plot", "limit.txt"), "--plot limit.txt: the name must end in"),
        (("peers", "--timeout", "0"), "--timeout 0: must be a number above 0"),
        (("speed",), "invalid choice: 'speed'"),
    ],
)
def test_bad_usage_is_one_line_that_says_what_to_change(arguments: tuple[str, ...], message: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_of_every_benchmark_explains_it() -> None:
    for name in command.BENCHMARKS:
        text = bench(name, "--help").stdout
        assert command._module(name).DESCRIPTION.strip() in text
        assert "--json" in text


def test_options_before_the_benchmark_count() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args = parser.parse_args(["--json", "--sizes", "9,13", "environment", "--runs", "3"])
    assert (args.benchmark, args.json, args.sizes, args.runs, args.count) == ("environment", True, [9, 13], 3, None)


def test_a_core_that_was_shared_is_said() -> None:
    assert report.shared_core([{"core_share": 0.99}, {"missing": "not installed"}]) == []
    (warning,) = report.shared_core([{"core_share": 0.99}, {"core_share": 0.613}])
    assert "61%" in warning


def test_figures_are_short() -> None:
    assert report.rate({"median": 412_345.0, "min": 405_000.0, "max": 415_999.0}) == "412 k (405-416)"
    assert report.rate({"median": 1_234_567.0, "min": 1e6, "max": 2e6}) == "1.23 M (1.00-2.00)"
    assert report.rate(None) == "-"
    assert report.ratio({"median": 1.214, "min": 1.19, "max": 1.24}) == "1.21 (1.19-1.24)"
    assert report.seconds({"median": 2.3, "min": 2.25, "max": 2.4}) == "2.30 s (2.25-2.40)"


def test_search(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"rave": ("rave", 16, 8), "v1": ("rave-v1", 16, 8)}
    monkeypatch.setattr(search, "SEARCHES", few)
    monkeypatch.setattr(search, "FED", {8: 16})
    document = result_of("search", "--sizes", "5", "--runs", "1", "--count", "4096")
    assert_says_what_it_ran_on(document, "search")
    assert [entry["name"] for entry in document["results"]] == ["evaluate", *few]
    for entry in document["results"]:
        assert_spread(entry["per_second"])
    for entry in document["results"][1:]:
        assert entry["of_evaluate"] > 0
        assert 0 < entry["shares"]["device"] <= 1.001
    assert [entry["playouts_of_a_leaf"] for entry in document["host"]] == [8]
    for entry in document["host"]:
        assert_spread(entry["leaves_per_second"])
        assert_spread(entry["leaves_per_second_on_all"])
    assert 26 < document["memory"][0]["bytes_visited_once"] < document["memory"][0]["bytes_visited_again"]


def test_search_of_one_kind() -> None:
    """In the rounds that suit the machine, and without the host alone."""
    document = result_of("search", "--sizes", "3", "--runs", "1", "--count", "4096", "--only", "uct")
    assert [entry["name"] for entry in document["results"]] == ["evaluate", "uct"]
    assert (document["results"][1]["leaves"], document["results"][1]["playouts"]) == (256, 8)
    assert document["host"] == []


def test_analysis() -> None:
    document = result_of("analysis", "--sizes", "5", "--runs", "1", "--count", "4096")
    assert_says_what_it_ran_on(document, "analysis")
    names = ["one batch", "queries of 1,000 playouts", "one tree", "searches of 2,000 visits", "searches of 20,000 visits"]
    assert [entry["name"] for entry in document["results"]] == names
    for entry in document["results"]:
        assert_spread(entry["per_second"])
    assert [entry.get("of") for entry in document["results"]] == [None, "one batch", None, "one tree", "one tree"]
