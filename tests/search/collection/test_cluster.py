"""Collections on a real Ray cluster of this machine: the same tables as without, whatever is killed on the way.

The long tests, of 200 games, of twenty kills and of how speed grows with workers, take some minutes of a machine of two cores:

    pytest -m slow tests/search/collection/test_cluster.py
"""

import functools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from jaxgo.cli import main
from tests.compiling import users_flags
from tests.search.clusters import ENVIRONMENT, RAYLET, below, end_all, kill, start, start_two_nodes, wait_until
from tests.search.collection.games import (
    COMMON,
    GNU_GO,
    check_against_evaluate,
    document,
    parts,
    random_games,
    run,
    table,
)

pytest.importorskip("ray", reason="Ray is not installed: pip install 'jaxgo[cluster]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

WORKER = "ray::MapWorker"

#: Works on two parts, of which the second ends whoever has it.
ENDS_ITS_WORKERS = """
import os
from search.cluster import ClusterError
from search.collection import cluster
from search.collection.parts import GamePiece, Part
from search.collection.settings import Settings


class Ends:
    def work(self, parts, deliver):
        if next(parts).number == 2:
            os._exit(1)


class Actor(cluster._Actor):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._worker = Ends()


cluster._Actor, cluster.MOST_ENDED = Actor, 1
parts = [Part(number, 5, 1, (GamePiece(f"game {number}", b"", 0, None),)) for number in (1, 2)]
with cluster.connected("local") as here:
    try:
        here.work(parts, Settings(playouts=8), 1, print)
    except ClusterError as error:
        print(error)
"""


def held(folder: pathlib.Path) -> int:
    """How many parts are finished."""
    return len(parts(folder)) if folder.exists() else 0


def more_than(count: int, folder: pathlib.Path) -> bool:
    """Whether more parts than that are finished."""
    return held(folder) > count


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen]]:
    """Processes that are ended with the test, with all of their groups."""
    all_of_them: list[subprocess.Popen] = []
    yield all_of_them
    end_all(all_of_them)


@pytest.mark.wide
def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(tmp_path: pathlib.Path, started: list) -> None:
    (tmp_path / "games.sgf").write_text("\n".join(random_games(10)))
    common = [str(tmp_path / "games.sgf"), *COMMON, "--playouts", "256"]
    process = start(["collection", *common, "--out", str(tmp_path / "cluster"), "--ray", "local", "--workers", "2", "--json"])
    started.append(process)
    assert wait_until(lambda: (tmp_path / "cluster" / "5x5" / "000001.parquet").exists(), process)
    workers = below(process.pid, WORKER)
    assert len(workers) == 2 and process.poll() is None
    kill(workers[0])
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert json.loads(out)["complete"]  # and nothing that Ray says of the worker
    assert main(["collection", *common, "--out", str(tmp_path / "here")]) == 0
    assert parts(tmp_path / "cluster") == parts(tmp_path / "here")
    assert (tmp_path / "cluster" / "rejects.parquet").read_bytes() == (tmp_path / "here" / "rejects.parquet").read_bytes()


@pytest.mark.wide
def test_a_part_that_ends_its_workers_is_not_handed_out_for_ever() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS_ITS_WORKERS], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert "2 workers have ended that had part 2, which begins with game 2" in done.stderr  # as all that is printed meanwhile


@pytest.mark.slow
def test_200_games_are_the_same_here_on_a_cluster_and_position_by_position(tmp_path: pathlib.Path) -> None:
    common = [str(GNU_GO), "--playouts", "32", "--seed", "3", "--batch", "256"]
    here, cluster = tmp_path / "here", tmp_path / "cluster"
    assert main(["collection", *common, "--out", str(here)]) == 0
    done = run("collection", *common, "--out", cluster, "--ray", "local", "--json", env=ENVIRONMENT, timeout=1500)
    assert done.returncode == 0, done.stderr
    said = document(done)
    assert len(said["workers"]) >= 2 and said["complete"]
    assert parts(cluster) == parts(here)
    rows = table(here, 9).to_pylist()
    assert len({row["game"] for row in rows}) == 200
    check_against_evaluate(rows, 32, seed=3)


@pytest.mark.slow
def test_twenty_kills_at_random_moments_lose_nothing(tmp_path: pathlib.Path, started: list) -> None:
    common = [str(GNU_GO), "--every", "4", "--playouts", "500", "--batch", "8"]
    out, rng = tmp_path / "out", random.Random(5)
    process, times = None, {}
    for number, what in enumerate(["worker", "driver", "raylet"] * 6 + ["worker", "driver"]):
        if process is None or process.poll() is not None:
            process = start(["collection", *common, "--out", str(out), "--ray", "local", "--workers", "2"])
            started.append(process)
        # At any moment: while it starts, just as something is finished, or later.
        if number % 4:
            assert wait_until(functools.partial(more_than, held(out), out), process)
        name = {"worker": WORKER, "raylet": RAYLET}.get(what)
        assert name is None or wait_until(functools.partial(below, process.pid, name), process)
        time.sleep(rng.uniform(0, 4))
        assert process.poll() is None, "the run was too short"
        for victim in [process.pid] if name is None else below(process.pid, name)[:1]:
            kill(victim)
        if what != "worker":
            leftover = below(process.pid, "ray")
            error = process.communicate(timeout=300)[1]
            # Ray ends a process whose own node is lost.
            assert process.returncode == (1 if what == "raylet" else -signal.SIGKILL), error
            for other in leftover:  # of a driver that could not end them
                kill(other)
        now = {path: path.stat().st_mtime_ns for path in out.glob("9x9/0*.parquet")}
        assert times.items() <= now.items(), "what is finished stays as it is"
        times = now
    assert 0 < len(times) < 285
    done = run("collection", *common, "--out", out, "--json", env=ENVIRONMENT, timeout=1500)
    said = document(done)
    assert said["complete"] and said["here"] < said["positions"], "the last run did only what was left"
    assert times.items() <= {path: path.stat().st_mtime_ns for path in out.glob("9x9/0*.parquet")}.items()
    assert main(["collection", *common, "--out", str(tmp_path / "here")]) == 0
    assert parts(out) == parts(tmp_path / "here")
    rows = [(row["game"], row["variation"], row["ply"]) for row in table(out, 9).to_pylist()]
    assert len(set(rows)) == len(rows) == said["done"] == said["positions"]


@pytest.mark.slow
def test_a_node_that_is_lost_is_done_without(tmp_path: pathlib.Path, started: list) -> None:
    common = [str(GNU_GO), "--every", "20", "--playouts", "2000", "--batch", "8"]
    address = start_two_nodes(started)
    out = tmp_path / "out"
    process = start(["collection", *common, "--out", str(out), "--ray", address, "--json"])
    started.append(process)
    assert wait_until(lambda: out.exists() and len(below(started[1].pid, WORKER)) and parts(out), process)
    (raylet,) = below(started[1].pid, RAYLET)
    kill(raylet)
    printed, error = process.communicate(timeout=1500)
    assert process.returncode == 0, error
    assert '"complete": true' in printed
    assert main(["collection", *common, "--out", str(tmp_path / "here")]) == 0
    assert parts(out) == parts(tmp_path / "here")


@pytest.mark.slow
def test_speed_grows_with_the_workers(tmp_path: pathlib.Path) -> None:
    """W workers on W cores do at least 90 % of W times what one does, while nothing else runs on the machine, with programs that
    are compiled as users' are."""
    cores = len(os.sched_getaffinity(0))
    rates = {}
    for workers in (1, cores, 1, cores):
        out = tmp_path / f"out{len(rates)}-{workers}-{time.monotonic_ns()}"
        done = run(
            "collection", GNU_GO, "--out", out, "--playouts", "2000", "--batch", "256", "--ray", "local",
            "--workers", workers, "--json", env=ENVIRONMENT | {"XLA_FLAGS": users_flags()}, timeout=3000,
        )  # fmt: skip
        said = document(done)
        assert said["complete"], done.stderr
        rates.setdefault(workers, []).append(said["rate"])
    assert max(rates[cores]) >= 0.9 * cores * max(rates[1]), rates
