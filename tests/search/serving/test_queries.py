"""Queries of the analysis protocol over HTTP: what is read, and what is refused before any work is done."""

import dataclasses
import json

import pytest

from search.analysis.options import ServiceOptions
from search.analysis.query import read_query
from search.serving import queries
from search.serving.engine import Engine
from search.serving.limits import MALFORMED, NOT_ALLOWED, TOO_LARGE, Limits, Refusal
from tests.search.serving.asking import query

OPTIONS = ServiceOptions(visits=300, playouts=50)


@pytest.fixture(scope="module")
def engine():
    """One that answers queries, on one core."""
    made = Engine(dataclasses.replace(OPTIONS, threads=1))
    yield made
    made.end()


def read(body: bytes, limits: Limits | None = None) -> queries.Asked:
    """A query as the service reads it."""
    return queries.read(body, OPTIONS, limits or Limits())


def test_a_query_is_passed_on_as_it_is_but_for_what_has_no_effect():
    asked = read(query(analyzeTurns=[1, 0], reportDuringSearchEvery=0.5, maxVisits=400))
    assert asked.object == json.loads(query(analyzeTurns=[1, 0], maxVisits=400))
    assert asked.turns == (1, 0) and asked.positions == 2
    (warning,) = asked.warnings
    assert warning["field"] == "reportDuringSearchEvery" and warning["id"] == "a" and "no effect" in warning["warning"]


def test_actions_that_make_sense_for_one_request():
    assert read(query(action="query_version")).positions == 0
    for action in ("terminate_all", "clear_cache", 3):
        with pytest.raises(Refusal, match="action must be one of query_version, query_models over HTTP") as refused:
            read(query(action=action))
        assert (refused.value.status, refused.value.field, refused.value.name) == (NOT_ALLOWED, "action", "a")


def test_what_an_action_says_is_said_again_within_limits():
    assert read(query(action="query_version", error={"a": [[1]]})).object["error"] == {"a": [[1]]}
    deep = read(query(action="query_version", x=nested(queries.DEEPEST)))
    assert deep.positions == 0
    for size, status, text in (
        (queries.DEEPEST + 1, MALFORMED, "nested too deeply"), (900, MALFORMED, "nested too deeply"),
        (1 << 16, TOO_LARGE, "an action must take at most 65,536 bytes"),
    ):  # fmt: skip
        x = "x" * size if status == TOO_LARGE else nested(size)
        with pytest.raises(Refusal, match=text) as refused:
            read(query(action="query_version", x=x))
        assert (refused.value.status, refused.value.name) == (status, "a")


def nested(depth: int) -> list:
    """Lists within each other."""
    out: list = []
    for _ in range(depth - 1):
        out = [out]
    return out


def test_what_says_nothing_is_not_kept():
    """Fields may be large; their names are told of."""
    large = [[]] * 1000
    asked = read(query(unheard=large, includePolicy=True, overrideSettings={"wideRootNoise": large, "other": large, "maxTime": 9}))
    settings = {"wideRootNoise": None, "other": None, "maxTime": 9}
    assert asked.object == json.loads(query(unheard=None, includePolicy=True, overrideSettings=settings))
    _, warnings = read_query(dict(asked.object))
    assert [field for field, _ in warnings] == ["overrideSettings", "unheard"]


@pytest.mark.parametrize(("body", "status", "field", "text"), [
    (b"", MALFORMED, None, "parse error"),
    (b"\xff{}", MALFORMED, None, "parse error"),
    (b"[]", MALFORMED, None, "must be a json object"),
    (b"[" * 100_000, MALFORMED, None, "parse error"),
    (b'{"moves": []}', MALFORMED, None, 'must have a string "id" field'),
    (query(boardXSize=26, boardYSize=26), NOT_ALLOWED, "boardXSize", "boardXSize: Must be an integer from 2 to 25, not 26"),
    (query(maxVisits=0), NOT_ALLOWED, "maxVisits", "maxVisits: Must be an integer from 1 to"),
    (query(komi=1e308 * 10), NOT_ALLOWED, "komi", "komi: Must be a number within a float's range"),
    (query(analyzeTurns=[2]), NOT_ALLOWED, "analyzeTurns", "must be from 0 to 1"),
])  # fmt: skip
def test_what_is_wrong_is_named(body, status, field, text):
    with pytest.raises(Refusal) as refused:
        read(body)
    assert (refused.value.status, refused.value.field) == (status, field) and text in refused.value.text
    assert refused.value.name == (None if status == MALFORMED else "a")


@pytest.mark.parametrize("more", [
    {"maxVisits": 3_000, "analysisPVLen": 1_000, "includePVVisits": True}, {"playouts": 500}, {"maxVisits": 2, "rules": "japanese"},
    {"maxVisits": 20_000},
])  # fmt: skip
def test_an_answer_takes_no_more_than_is_counted_for_it_and_not_much_less(engine, more):
    everything = dict.fromkeys(("includeOwnership", "includeMovesOwnership", "includePolicy", "includeAmaf"), True)
    name, size = "\U0001f600" * 900, {"boardXSize": 9, "boardYSize": 9}
    asked = read(query(name, **size, **everything, **more, unheard=1, analyzeTurns=[0, 1]))
    told = engine.answer(asked.object)
    size = sum(len(line) for _, line in told)
    assert len(told) >= 3 and size <= asked.answer
    assert asked.answer < 3.5 * size


def test_an_action_takes_no_more_than_is_counted_for_it(engine):
    for value in (["\u00e9" * 5_000], ["\U0001f600" * 5_000], [1e15] * 5_000):
        body = json.dumps({"id": "a", "action": "query_models", "x": value}, ensure_ascii=False, separators=(",", ":"))
        asked = read(body.replace("1000000000000000.0", "1e15").encode())
        ((_, line),) = engine.answer(asked.object)
        assert len(line) <= asked.answer


@pytest.mark.parametrize(("more", "limits", "field", "text"), [
    ({"analyzeTurns": [0, 1]}, Limits(positions=1), "analyzeTurns", "analyzeTurns must be at most 1 here, not 2"),
    ({"maxVisits": 501}, Limits(playouts=500), "maxVisits", "maxVisits must be at most 500 here, not 501"),
    ({"playouts": 501}, Limits(playouts=500), "playouts", "playouts must be at most 500 here, not 501"),
    ({}, Limits(playouts=299), "maxVisits", "maxVisits must be at most 299 here, not 300"),
    ({"maxVisits": 1}, Limits(playouts=49), "maxVisits", "maxVisits must be at most 49 here, not 50"),
    ({"maxVisits": 2}, Limits(playouts=191), "maxVisits", "maxVisits must be at most 191 here, not 192"),
    ({"analyzeTurns": [0, 1]}, Limits(work=599), "maxVisits", "must be at most 599 for all positions of a request"),
    ({"includeMovesOwnership": True}, Limits(numbers=649), "analyzeTurns", "at most 649 numbers of ownership"),
])  # fmt: skip
def test_what_is_too_much_is_named(more, limits, field, text):
    assert read(query(**more)).positions >= 1
    with pytest.raises(Refusal) as refused:
        read(query(**more), limits)
    refusal = refused.value
    assert (refusal.status, refusal.field, refusal.name) == (NOT_ALLOWED, field, "a") and text in refusal.text


@pytest.mark.parametrize(("more", "limits"), [
    ({"analyzeTurns": [0, 1]}, Limits(positions=2)), ({"maxVisits": 500}, Limits(playouts=500)), ({"playouts": 500}, Limits(playouts=500)),
    ({"analyzeTurns": [0, 1]}, Limits(work=600)), ({"includeMovesOwnership": True}, Limits(numbers=650)),
])  # fmt: skip
def test_as_much_as_is_allowed_may_be_asked_for(more, limits):
    assert read(query(**more), limits).positions >= 1


def test_an_action_may_be_as_long_as_is_allowed():
    body = query(action="query_version")
    assert read(body.ljust(queries.MOST_OF_ACTION)).positions == 0
