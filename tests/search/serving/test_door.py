"""The service's HTTP, without a network and with a backend that does as it is told."""

import asyncio
import io
import json
import re

import numpy as np
import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install 'jaxgo[cluster]'")

from search.analysis.options import ServiceOptions  # noqa: E402
from search.serving import door as doors  # noqa: E402
from search.serving.door import Door  # noqa: E402
from search.serving.limits import Limits, Refusal, busy  # noqa: E402
from search.serving.metrics import Metrics  # noqa: E402
from search.serving.places import Places  # noqa: E402
from tests.search.serving.asking import Answer, Backend, ask, npz, query  # noqa: E402

TOKEN = "a token of the tests"
BOARDS = npz(boards=[[0, 0], [0, 0]])


def make(backend: Backend, token: str | None = TOKEN, places: Places | None = None, limits: Limits | None = None) -> Door:
    """A door."""
    places = places or Places(4, 1 << 30)
    return Door(backend, ServiceOptions(), limits or Limits(), places, token, Metrics(places))


def told(door: Door, method: str, path: str, body=b"", token: str | None = TOKEN, **headers: str) -> Answer:
    """The answer to one request."""
    headers |= {} if token is None else {"authorization": f"Bearer {token}"}
    return asyncio.run(ask(door, method, path, body, **headers))


def test_replies_are_an_array_warnings_first_and_turns_as_they_were_asked_for():
    backend = Backend([(0, b'{"turnNumber":0}'), (-1, b'{"warning":"w"}'), (1, b'{"turnNumber":1}')])
    answer = told(make(backend), "POST", "/analysis", query(analyzeTurns=[1, 0], firstReportDuringSearchAfter=1))
    assert answer.status == 200
    mine, *rest = answer.document()
    assert mine["field"] == "firstReportDuringSearchAfter"
    assert rest == [{"warning": "w"}, {"turnNumber": 1}, {"turnNumber": 0}]
    assert answer.body.endswith(b'"},{"warning":"w"},{"turnNumber":1},{"turnNumber":0}]')
    assert backend.asked == [json.loads(query(analyzeTurns=[1, 0]))]


def test_an_action_is_told_what_it_said_itself_whatever_that_is():
    action = query(action="query_version", turnNumber=[1])
    answer = told(make(Backend([(-1, action)])), "POST", "/analysis", action)
    assert (answer.status, answer.document()[0]["turnNumber"]) == (200, [1])


def test_replies_are_lines_for_those_who_accept_lines():
    backend = Backend([(1, b'{"turnNumber":1}'), (0, b'{"turnNumber":0}')])
    answer = told(make(backend), "POST", "/analysis", query(analyzeTurns=[0, 1]), accept="application/x-ndjson")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert answer.body == b'{"turnNumber":0}\n{"turnNumber":1}\n'


def test_arrays_are_answered_with_what_the_backend_says():
    answer = told(make(Backend()), "POST", "/evaluate", [BOARDS[:100], b"", BOARDS[100:]])
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, "application/octet-stream", b"arrays")


@pytest.mark.parametrize("given", [None, "another token", "", TOKEN + "x", TOKEN[:-1], "tök"])
def test_nobody_comes_in_without_the_token(given):
    backend = Backend()
    for method, path in (("POST", "/analysis"), ("POST", "/evaluate"), ("GET", "/metrics")):
        answer = told(make(backend), method, path, query(), token=given)
        assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
        assert "the header 'Authorization: Bearer TOKEN'" in answer.document()["error"]
    assert told(make(backend), "GET", "/health", token=given).status == 200
    assert not backend.asked


def test_without_a_token_of_the_service_anybody_may_ask():
    assert told(make(Backend(), token=None), "POST", "/evaluate", BOARDS, token=None).status == 200


def test_health_tells_whether_there_are_replicas():
    backend = Backend()
    assert told(make(backend), "GET", "/health").document() == {"status": "ok", "replicas": 1}
    backend.replicas = 0
    answer = told(make(backend), "HEAD", "/health")
    assert answer.status == 503 and answer.document()["status"] == "no replica is ready"


@pytest.mark.parametrize(("method", "path", "status", "text"), [
    ("GET", "/", 404, "there is no '/'; there are /analysis, /evaluate, /health, /metrics"),
    ("GET", "/analysis", 405, "/analysis takes POST, not GET"),
    ("DELETE", "/metrics", 405, "/metrics takes GET and HEAD, not DELETE"),
])  # fmt: skip
def test_other_paths_and_methods(method, path, status, text):
    answer = told(make(Backend()), method, path)
    assert (answer.status, answer.document()["error"]) == (status, text)
    allowed = {"/analysis": "POST", "/metrics": "GET, HEAD"}
    assert answer.headers.get("allow") == allowed.get(path), "RFC 9110, 15.5.6"


@pytest.mark.parametrize("path", ["/analysis", "/evaluate"])
def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(path):
    door = make(Backend(), limits=Limits(body=1_000))
    said = told(door, "POST", path, b"x", content_length="1001")
    assert said.status == 413 and said.document()["error"] == "the body must take at most 1,000 bytes, not 1,001"
    found = told(door, "POST", path, [b"x" * 600, b"x" * 600, b"never asked for"])
    assert found.status == 413 and found.document()["error"] == "the body must take at most 1,000 bytes, not more"
    wrong = told(door, "POST", path, b"x", content_length="-3")
    assert wrong.status == 400 and wrong.document()["field"] == "content-length"


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(doors, "BODY_SECONDS", 0.05)
    answer = told(make(Backend()), "POST", "/evaluate", [BOARDS[:9], None], content_length="99")
    assert (answer.status, answer.document()) == (408, {"error": "the body must come within 0.05 seconds"})


@pytest.mark.parametrize(("path", "body", "status", "field"), [
    ("/analysis", b"{", 400, None),
    ("/analysis", query(maxVisits=10**9), 422, "maxVisits"),
    ("/evaluate", b"{", 400, None),
    ("/evaluate", npz(boards=[[0.5]]), 422, "boards"),
])  # fmt: skip
def test_what_is_refused_never_reaches_a_replica(path, body, status, field):
    backend = Backend()
    answer = told(make(backend), "POST", path, body)
    assert (answer.status, answer.document().get("field")) == (status, field) and answer.document()["error"]
    assert not backend.asked


def test_what_a_replica_refuses():
    answer = told(make(Backend(Refusal(422, "ko must be an empty point", "ko"))), "POST", "/evaluate", BOARDS)
    assert (answer.status, answer.document()) == (422, {"error": "ko must be an empty point", "field": "ko"})
    answer = told(make(Backend(busy("the queue is full"))), "POST", "/analysis", query())
    assert answer.status == 503 and answer.headers["retry-after"] == "1"


def test_a_fault_of_the_program_is_told_and_ends_nothing(capfd):
    backend = Backend(RuntimeError("what nobody needs to know"))
    door = make(backend)
    answer = told(door, "POST", "/evaluate", BOARDS)
    assert (answer.status, answer.document()) == (500, {"error": "internal error: RuntimeError"})
    assert "what nobody needs to know" in capfd.readouterr().err
    backend.answers = b"arrays"
    assert told(door, "POST", "/evaluate", BOARDS).status == 200


def test_many_at_a_time_are_each_answered_once_or_told_busy():
    places = Places(8, 1 << 30)

    async def all_of_them() -> tuple[list[Answer], Backend]:
        backend = Backend()
        backend.open.clear()
        door = make(backend, places=places)
        headers = {"authorization": f"Bearer {TOKEN}"}
        asking = [asyncio.create_task(ask(door, "POST", "/evaluate", BOARDS, **headers)) for _ in range(64)]
        while len(backend.asked) < 8 or sum(task.done() for task in asking) < 56:
            await asyncio.sleep(0.001)
        assert places.taken == 8
        backend.open.set()
        return await asyncio.gather(*asking), backend

    answers, backend = asyncio.run(all_of_them())
    assert sorted(answer.status for answer in answers) == [200] * 8 + [503] * 56
    assert len(backend.asked) == 8 and (places.taken, places.held) == (0, 0)
    for answer in answers:
        if answer.status == 503:
            assert answer.headers["retry-after"] == "1" and "8 requests are waiting" in answer.document()["error"]


@pytest.mark.parametrize(("path", "body"), [("/analysis", query()), ("/evaluate", BOARDS)])
def test_who_hangs_up_keeps_no_place_and_nothing_works_for_him(path, body):
    places = Places(1, 1 << 30)

    async def both() -> tuple[Backend, Answer | None, Answer | None]:
        backend, gone = Backend([] if path == "/analysis" else b"arrays"), asyncio.Event()
        backend.open.clear()
        door, headers = make(backend, places=places), {"authorization": f"Bearer {TOKEN}"}
        asking = asyncio.create_task(ask(door, "POST", path, body, hangs_up=gone, **headers))
        while not backend.asked:
            await asyncio.sleep(0.001)
        busy = await ask(door, "POST", path, body, **headers)
        gone.set()
        await asking
        backend.open.set()
        return backend, busy, await ask(door, "POST", path, body, **headers)

    backend, busy, after = asyncio.run(both())
    assert busy.status == 503 and after.status == 200
    assert backend.given_up == 1 and (places.taken, places.held) == (0, 0)


@pytest.mark.parametrize(("sends", "status"), [
    ({"content_length": "4000"}, 413), ({"authorization": "Bearer nobody's"}, 401),
])  # fmt: skip
def test_a_body_that_is_refused_is_read_all_the_same(sends, status):
    """Who sends all of it first would find the connection closed, and never see the answer."""
    door, parts = make(Backend(), limits=Limits(body=1_000)), [b"x" * 1_000] * 4
    read: list[int] = []

    async def application(scope, receive, send):
        async def counted():
            message = await receive()
            read.append(len(message["body"]))
            return message

        await door(scope, counted, send)

    answer = asyncio.run(ask(application, "POST", "/analysis", parts, **({"authorization": f"Bearer {TOKEN}"} | sends)))
    assert answer.status == status and sum(read) == 4_000 and "connection" not in answer.headers
    read.clear()
    answer = asyncio.run(ask(application, "POST", "/analysis", parts, expect="100-continue", **(
        {"authorization": f"Bearer {TOKEN}"} | sends)))  # fmt: skip
    assert answer.status == status and not read, "he has not sent it yet"
    assert answer.headers["connection"] == "close", "and what he sends next may be the body, or another request"


def test_no_more_is_read_of_a_refused_body_than_is_sensible():
    door, parts = make(Backend(), limits=Limits(body=10)), [b"x" * 10] * 100
    left = []

    async def application(scope, receive, send):
        async def counted():
            message = await receive()
            left.append(message)
            return message

        await door(scope, counted, send)

    answer = asyncio.run(ask(application, "POST", "/analysis", parts, authorization="Bearer nobody's"))
    assert answer.status == 401 and len(left) == doors.DISCARDED


def test_what_is_passed_on_is_not_read_again():
    backend = Backend([(1, b"what the engine says")])
    answer = told(make(backend), "POST", "/analysis", query())
    assert answer.body == b"[what the engine says]"


def test_arrays_are_counted_as_they_are_unpacked():
    packed, places, held = io.BytesIO(), Places(4, 1 << 30), []
    np.savez_compressed(packed, boards=np.zeros((1_000, 9, 9), np.int64))

    class Looking(Backend):
        async def evaluate(self, asked):
            held.append((places.held, asked.answer))
            return await super().evaluate(asked)

    assert told(make(Looking(), places=places), "POST", "/evaluate", packed.getvalue()).status == 200
    ((counted, answer),) = held
    assert len(packed.getvalue()) < 10_000 and counted >= answer + 1_000 * 81 * 8 and places.held == 0


def test_answers_that_would_take_too_much_memory_are_busy_before_they_are_made():
    backend = Backend()
    answer = told(make(backend, places=Places(4, 5_000)), "POST", "/evaluate", npz(boards=[[[0, 0], [0, 0]]] * 50))
    assert answer.status == 503 and "of 5,000 bytes" in answer.document()["error"] and not backend.asked


def test_metrics_count_what_was_answered():
    door = make(Backend())
    for body in (BOARDS, BOARDS, b"{"):
        told(door, "POST", "/evaluate", body)
    told(door, "GET", "/secrets")
    lines = told(door, "GET", "/metrics").body.decode().splitlines()
    assert 'jaxgo_requests_total{path="/evaluate",status="200"} 2.0' in lines
    assert 'jaxgo_requests_total{path="/evaluate",status="400"} 1.0' in lines
    assert 'jaxgo_requests_total{path="other",status="404"} 1.0' in lines
    assert 'jaxgo_positions_total{path="/evaluate"} 2.0' in lines
    assert 'jaxgo_request_seconds_count{path="/evaluate"} 2.0' in lines
    assert "jaxgo_replicas 1.0" in lines and "jaxgo_accepted 0.0" in lines
    assert not [line for line in lines if not re.fullmatch(r"# .*|[a-z_]+(\{.*\})? [0-9.e+-]+", line)]


def test_a_body_may_be_as_large_as_is_allowed():
    """Whether it says how large it is or not."""
    door, body = make(Backend([(1, b"{}")]), limits=Limits(body=1_000)), query().ljust(1_000)
    assert told(door, "POST", "/analysis", body, content_length="1000").status == 200
    assert told(door, "POST", "/analysis", [body[:600], body[600:]]).status == 200


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 20, 25])
def test_answers_of_any_length_arrive_whole(monkeypatch, size):
    monkeypatch.setattr(doors, "PART", 10)
    body = bytes(range(size))
    assert told(make(Backend(body)), "POST", "/evaluate", BOARDS).body == body


def test_the_name_of_the_scheme_has_no_case():
    """RFC 9110, 11.1."""
    for scheme in ("bearer", "BEARER"):
        assert told(make(Backend()), "POST", "/evaluate", BOARDS, token=None, authorization=f"{scheme} {TOKEN}").status == 200
