"""The service on a real Ray cluster of this machine: what is accepted is answered once, whatever is killed meanwhile.

The long tests take some minutes of a machine of two cores:

    pytest -m slow tests/search/serving/test_service.py
"""

import collections
import concurrent.futures
import contextlib
import io
import itertools
import json
import pathlib
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import jaxgo
from jaxgo.cli import main
from tests.search.analysis.talk import eventually
from tests.search.clusters import RAYLET, below, end_all, kill, start, start_two_nodes, wait_until
from tests.search.serving.asking import npz, post, query

pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'jaxgo[cluster]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

TOKEN, REPLICA = "a-token-of-the-tests", "ray::ServeReplica:jaxgo:engine"
SEEDS, PLAYOUTS = 16, 200
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "protocols.md"


class Served:
    """A service, and who asks it."""

    def __init__(self, folder: pathlib.Path, *arguments: str, ray: str = "local"):
        (folder / "token").write_text(f"{TOKEN}\n")
        common = ["serve", "--ray", ray, "--port", "0", "--sizes", "5", "--token-file", str(folder / "token")]
        self.process, self.said = start([*common, *arguments]), []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert wait_until(lambda: self.address, self.process), self.said

    def _read(self) -> None:
        for line in self.process.stderr:
            self.said.append(line)

    @property
    def address(self) -> str | None:
        """HOST:PORT, once it is ready."""
        found = re.search(r"^jaxgo serve: ready at http://(127\.0\.0\.1:\d+)$", "".join(self.said), re.M)
        return found and found[1]

    def post(self, path: str, body: bytes | None = None, token: str | None = TOKEN):
        return post(self.address, path, body, token)

    def counted(self) -> dict[str, float]:
        """Its metrics."""
        lines = self.post("/metrics").body.decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit status after a signal."""
        self.process.send_signal(number)
        status = self.process.wait(120)
        return status

    def close(self) -> None:
        """Ends it, however it is."""
        end_all([self.process])
        self._reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()


def evaluation_of(answer) -> jaxgo.Evaluation:
    """What arrays say."""
    return jaxgo.Evaluation.load(io.BytesIO(answer.body))


def same(found: jaxgo.Evaluation, wanted: jaxgo.Evaluation) -> bool:
    """Whether two evaluations are the same, bit for bit."""
    return all(np.array_equal(mine, others) for mine, others in zip(found.sums, wanted.sums))


def boards(seed: int) -> bytes:
    """A request with that seed."""
    return npz(boards=np.zeros((2, 5, 5), np.int8), to_play=[1, -1], komi=0.5, playouts=PLAYOUTS, seed=seed)


def position() -> jaxgo.Position:
    """Of that request."""
    return jaxgo.Position.from_array(np.zeros((2, 5, 5), np.int8), to_play=[1, -1])


@pytest.mark.wide
def test_a_service_from_its_start_to_its_end(tmp_path: pathlib.Path) -> None:
    served = Served(tmp_path, "--replicas", "1", "--max-playouts", "100000")
    try:
        assert served.post("/health", token=None).document() == {"status": "ok", "replicas": 1}
        assert served.post("/analysis", query(), token="another").status == 401
        assert TOKEN not in "".join(served.said)
        answer = served.post("/evaluate", boards(3))
        assert answer.status == 200 and same(evaluation_of(answer), jaxgo.evaluate(position(), PLAYOUTS, komi=0.5, seed=3))
        (reply,) = served.post("/analysis", query(moves=[], playouts=PLAYOUTS, seed=3)).document()
        wanted = jaxgo.evaluate(jaxgo.Position.empty(5), PLAYOUTS, komi=0.5, seed=3)
        assert reply["rootInfo"]["visits"] == PLAYOUTS and reply["rootInfo"]["winrate"] == pytest.approx(wanted.win_rate[0])
        (example,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M)
        names: dict[str, object] = {}
        for given, here in (("127.0.0.1:8080", served.address), ("9, 9", "5, 5"), ('token = "..."', f"token = {TOKEN!r}")):
            assert given in example
            example = example.replace(given, here)
        exec(compile(example, str(PAGE), "exec"), names)
        assert names["result"].num_playouts.tolist() == [1000, 1000]
        assert served.post("/analysis", query(maxVisits=100_001)).document()["field"] == "maxVisits"
        assert served.post("/evaluate", b"x" * (5 << 20)).status == 413
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            under_way = pool.submit(served.post, "/analysis", query(maxVisits=100_000))
            while not served.counted()["jaxgo_accepted"]:
                time.sleep(0.01)
            assert served.end() == 0
            assert under_way.result().document()[0]["rootInfo"]["visits"] >= 100_000
        with pytest.raises(ConnectionRefusedError):
            served.post("/health")
    finally:
        served.close()


@pytest.fixture(scope="module")
def two_replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of two replicas, with room for 32 requests."""
    served = Served(tmp_path_factory.mktemp("service"), "--replicas", "2", "--queue", "32")
    yield served
    served.close()


def ask_until_answered(served: Served, number: int) -> tuple[collections.Counter, bytes]:
    """Asks again as long as the service is busy: the statuses, and the last answer; every other request is a query."""
    statuses = collections.Counter()
    path, body = ("/evaluate", boards(number % SEEDS)) if number % 2 else ("/analysis", query(seed=number % SEEDS, maxVisits=500))
    while True:
        answer = served.post(path, body)
        statuses[answer.status] += 1
        if answer.status != 503:
            return statuses, answer.body
        assert "busy" in answer.document()["error"] and answer.headers["retry-after"] == "1"
        time.sleep(0.05)


@contextlib.contextmanager
def load(served: Served, count: int) -> Iterator[list[tuple[collections.Counter, bytes]]]:
    """So many clients who ask one request after the other as long as this lasts; at its end the results, request by request."""
    over, numbers, results = threading.Event(), itertools.count(), []

    def ask() -> list[tuple[int, tuple]]:
        answered = []
        while not over.is_set():
            number = next(numbers)
            answered.append((number, ask_until_answered(served, number)))
        return answered

    with concurrent.futures.ThreadPoolExecutor(count) as clients:
        asking = [clients.submit(ask) for _ in range(count)]
        try:
            yield results
        finally:
            over.set()
    answered = dict(pair for pairs in asking for pair in pairs.result())
    results += [answered[number] for number in range(len(answered))]


def check(results: list[tuple[collections.Counter, bytes]]) -> collections.Counter:
    """That each request was answered, and alike requests alike; the statuses."""
    wanted = [jaxgo.evaluate(position(), PLAYOUTS, komi=0.5, seed=seed) for seed in range(SEEDS)]
    queries: dict[int, list] = {}
    for number, (statuses, body) in enumerate(results):
        assert statuses[200] == 1 and set(statuses) <= {200, 503}
        if number % 2:
            assert same(jaxgo.Evaluation.load(io.BytesIO(body)), wanted[number % SEEDS])
        else:
            assert json.loads(body) == queries.setdefault(number % SEEDS, json.loads(body))
    return sum((statuses for statuses, _ in results), collections.Counter())


@pytest.mark.slow
def test_64_clients_at_a_time_are_answered_once_or_told_busy(two_replicas: Served) -> None:
    before = two_replicas.counted()
    with concurrent.futures.ThreadPoolExecutor(64) as clients:
        statuses = check(list(clients.map(lambda number: ask_until_answered(two_replicas, number), range(640))))
    assert statuses[200] == 640 and statuses[503] > 0
    after = two_replicas.counted()
    for status, count in statuses.items():
        names = [f'jaxgo_requests_total{{path="{path}",status="{status}"}}' for path in ("/analysis", "/evaluate")]
        assert sum(after.get(name, 0) - before.get(name, 0) for name in names) == count
    assert after["jaxgo_accepted"] == after["jaxgo_accepted_bytes"] == 0


@pytest.mark.slow
def test_a_replica_that_is_killed_under_load_loses_nothing(two_replicas: Served) -> None:
    with load(two_replicas, 16) as results:
        for _ in range(4):
            time.sleep(3)
            killed = below(two_replicas.process.pid, REPLICA)[0]
            kill(killed)
            assert eventually(lambda gone=killed: len({*below(two_replicas.process.pid, REPLICA)} - {gone}) == 2, 120)
        time.sleep(3)
    assert check(results)[200] > 100
    assert two_replicas.counted()["jaxgo_tried_again_total"] > 0


@pytest.mark.slow
def test_a_node_that_is_lost_loses_nothing(tmp_path: pathlib.Path) -> None:
    nodes, served = [], None
    try:
        served = Served(tmp_path, "--replicas", "2", ray=start_two_nodes(nodes))
        assert len(below(nodes[1].pid, REPLICA)) == 1, "a replica on each node"
        with load(served, 8) as results:
            time.sleep(3)
            kill(below(nodes[1].pid, RAYLET)[0])
            assert eventually(lambda: served.post("/health").document()["replicas"] == 1, 120)
            time.sleep(3)
        check(results)
        assert served.end() == 0
    finally:
        if served is not None:
            served.close()
        end_all(nodes)


@pytest.mark.slow
def test_replicas_come_with_the_load_and_there_is_one_without(tmp_path: pathlib.Path) -> None:
    served = Served(tmp_path, "--replicas", "1:2")

    def replicas() -> int:
        return served.post("/health").document()["replicas"]

    try:
        assert replicas() == 1
        with load(served, 32) as results:
            assert eventually(lambda: replicas() == 2, 180)
        check(results)
        assert eventually(lambda: replicas() == 1, 300)
    finally:
        served.close()


@pytest.mark.slow
def test_ctrl_c_ends_it_with_all_of_ray(tmp_path: pathlib.Path) -> None:
    served = Served(tmp_path, "--replicas", "1")
    others = below(served.process.pid, "ray")
    assert others and served.end(signal.SIGINT) == 130
    served.close()
    assert eventually(lambda: not any(pathlib.Path(f"/proc/{other}").exists() for other in others))


@pytest.mark.parametrize("missing", ["prometheus_client", "starlette", "uvicorn", "ray"])
def test_what_is_not_installed_is_told_before_ray_is_started(missing, monkeypatch, capfd) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["serve", "--no-token"]) == 2
    assert "jaxgo serve: error: serve needs Ray Serve: pip install 'jaxgo[cluster]' (" in capfd.readouterr().err


@pytest.mark.parametrize(("arguments", "text"), [
    (["--name", ""], "--name: must be a name of one letter or more, not ''"), (["--token", "short"], "at least 8"), (["--token-file", "no-such-file"], "cannot be read"),
    (["--replicas", "3:2"], "1 <= MIN <= MAX"), (["--sizes", "9,26"], "between 2 and 25"), (["--port", "70000"], "65535"),
    (["--token", "long-enough", "--no-token"], "not allowed with"), (["--max-body", "1"], "between 1024 and"),
    (["--visits", "2000", "--max-playouts", "1999"], "--visits must be at most --max-playouts, 1,999, not 2,000"),
])  # fmt: skip
def test_what_is_wrong_is_told_before_ray_is_started(arguments, text, capfd) -> None:
    assert main(["serve", "--ray", "local", *arguments]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("jaxgo serve: error: ") and text in line
