"""What a replica answers: the same as without a service, whatever goes together."""

import dataclasses
import io
import json

import numpy as np
import pytest

import jaxgo
from jaxgo import Position
from jaxgo.running import jobs
from search.analysis import replies
from search.analysis.options import ServiceOptions
from search.serving import boards, queries
from search.serving.engine import Engine
from search.serving.limits import BUSY, FAILED, NOT_ALLOWED, Limits, Refusal
from tests.search.analysis.talk import Talk
from tests.search.serving.asking import npz, query

OPTIONS = ServiceOptions(visits=300, playouts=50)
POSITIONS = Position.concatenate([
    Position.from_ascii("""
        . . . . .
        . X O . .
        X . X O .
        . X O . .
        . . . . .
    """, to_play=-1, ko=11),
    Position.empty(5),
])  # fmt: skip


@pytest.fixture(scope="module")
def engine():
    """One for all tests, on one core, as replicas are."""
    made = Engine(dataclasses.replace(OPTIONS, threads=1))
    yield made
    made.end()


def asked(position: Position, **more) -> boards.Boards:
    """A request for positions, read as the service does."""
    arrays = {"to_play": np.asarray(position.to_play), "ko": np.asarray(position.ko), "passes": np.asarray(position.passes)}
    return boards.read(npz(boards=np.asarray(position.to_array()), **arrays, **more), Limits())


def together(engine: Engine, requests: list[boards.Boards]) -> list[bytes | Refusal]:
    """Their answers, those that are alike in one batch."""
    groups: dict[tuple, list[int]] = {}
    for number, request in enumerate(requests):
        groups.setdefault(request.key, []).append(number)
    found = [zip(numbers, engine.evaluate([requests[number] for number in numbers])) for numbers in groups.values()]
    return [answer for _, answer in sorted((pair for pairs in found for pair in pairs), key=lambda pair: pair[0])]


def documents(told: list[tuple[int, bytes]] | Refusal) -> list[dict]:
    """What replies say."""
    assert not isinstance(told, Refusal), told
    return [json.loads(line) for _, line in told]


def same(answer: bytes, wanted: jaxgo.Evaluation) -> None:
    """That an answer holds an evaluation, bit for bit, and its rates beside it."""
    assert isinstance(answer, bytes), answer
    found = jaxgo.Evaluation.load(io.BytesIO(answer))
    assert found.size == wanted.size and np.array_equal(found.komi, wanted.komi) and found.complete
    for mine, others in zip(found.sums, wanted.sums):
        assert mine is others is None or mine.dtype == others.dtype and np.array_equal(mine, others)
    (mine,), (others,) = found.played, wanted.played
    assert (mine.seed, mine.first, mine.count) == (others.seed, others.first, others.count)
    assert np.array_equal(mine.streams, others.streams)
    with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
        names = [*boards.RATES, *(["ownership"] if wanted.sums.owned is not None else [])]
        for name in names:
            assert np.array_equal(arrays[name], getattr(wanted, name))


def test_requests_that_go_together_get_what_each_gets_alone(engine):
    ways = [
        (POSITIONS, {"playouts": 50, "komi": 0.5, "seed": 3}),
        (POSITIONS[1], {"playouts": 50, "komi": [2.5], "seed": 3}),  # the same program and seed: in one batch with the first
        (POSITIONS, {"playouts": 50, "seed": 3, "streams": [7, 7]}),
        (POSITIONS, {"playouts": 50, "seed": 2**63 + 1}),
        (POSITIONS[0], {"playouts": 50, "seed": 3, "first_playout": 50}),
        (POSITIONS, {"playouts": 777, "seed": 3, "first_playout": 2**31 - 778}),
        (POSITIONS[0], {"playouts": 50, "seed": 3, "statistics": ["ownership"]}),
    ]
    answers = together(engine, [asked(position, **more) for position, more in ways])
    for answer, (position, more) in zip(answers, ways):
        options = {name: value for name, value in more.items() if name != "playouts"}
        same(answer, jaxgo.evaluate(position, more["playouts"], **options))


@pytest.mark.wide
def test_few_programs_serve_all_numbers_of_playouts_and_positions(engine):
    """Nobody waits for a compiler once a board size is warm."""
    engine.warm_up([5])
    before, answers = len(jobs._compiled), []
    ways = [(Position.concatenate([POSITIONS[0]] * batch), playouts) for playouts, batch in ((1, 1), (63, 2), (20_001, 1), (99, 300))]
    for position, playouts in ways:
        answers += engine.evaluate([asked(position, playouts=playouts)])
    assert engine.room(asked(POSITIONS)) == 1 << 20
    engine.evaluate([asked(POSITIONS[:1], playouts=400_000)] * 2)
    assert len(jobs._compiled) == before
    for answer, (position, playouts) in [*zip(answers, ways)][1::2]:
        same(answer, jaxgo.evaluate(position, playouts, seed=0, devices=1))


def test_who_is_to_blame_is_told_and_the_others_go_together(engine, monkeypatch):
    dead = np.zeros((1, 5, 5), np.int8)
    dead[0, 0, :2], dead[0, 1, 0] = (1, -1), -1
    wrong = boards.read(npz(boards=dead, playouts=50), Limits())
    occupied = boards.read(npz(boards=np.asarray(POSITIONS.to_array())[:1], ko=6, playouts=50), Limits())
    evaluate, batches = jaxgo.evaluate, []

    def counted(position, *given, **more):
        batches.append(len(position))
        return evaluate(position, *given, **more)

    monkeypatch.setattr(jaxgo, "evaluate", counted)
    good, refused, other, last = engine.evaluate([asked(POSITIONS, playouts=50), wrong, occupied, asked(POSITIONS[1], playouts=50)])
    assert batches == [3]
    same(good, evaluate(POSITIONS, 50))
    same(last, evaluate(POSITIONS[1], 50))
    assert [type(answer) for answer in engine.evaluate([wrong, occupied])] == [Refusal, Refusal]
    assert refused.document() == {
        "error": "boards must have liberties, but the chain at A5 (point 0 of position 0) has none", "field": "boards"
    }  # fmt: skip
    assert other.status == NOT_ALLOWED and other.field == "ko" and "point 6 of position 0 is occupied" in other.text


def test_a_fault_with_one_request_is_not_that_of_those_beside_it(engine, monkeypatch, capfd):
    evaluate = jaxgo.evaluate

    def fails(*given, komi, **more):
        if 3 in komi:
            raise RuntimeError("of the program")
        return evaluate(*given, komi=komi, **more)

    monkeypatch.setattr(jaxgo, "evaluate", fails)
    good, bad = (asked(POSITIONS, playouts=50, komi=komi) for komi in (7.5, 3.0))
    first, refused, last = engine.evaluate([good, bad, good])
    same(first, evaluate(POSITIONS, 50))
    assert first == last and (refused.status, refused.text) == (FAILED, "internal error: RuntimeError")
    assert capfd.readouterr().err.count("\nRuntimeError: of the program") == 1


@pytest.mark.parametrize("more", [{"playouts": 100}, {"analyzeTurns": [0, 1], "includeOwnership": True, "seed": 5}])
def test_a_query_gets_the_replies_of_the_analysis_engine(engine, more):
    body = query(**more)
    told = engine.answer(queries.read(body, OPTIONS, Limits()).object)
    talk = Talk(options=OPTIONS)
    talk.send(json.loads(body))
    wanted = talk.finals(len(more.get("analyzeTurns", [1])))
    talk.end()
    assert {(reply["id"], reply["turnNumber"]): reply for reply in documents(told)} == wanted
    assert [turn for turn, _ in told] == [reply["turnNumber"] for reply in documents(told)]


def test_an_action_that_says_error_is_no_failure(engine):
    asked = json.loads(query(action="query_version", error=[1]))
    (reply,) = documents(engine.answer(asked))
    assert reply["error"] == [1] and reply["version"]


@pytest.mark.parametrize("name", ['"turnNumber":3}', '{"error":"x"}', 'x","turnNumber":3}', '\\"turnNumber":3}\n{"error":1}', "é\u2028"])
def test_a_text_of_the_clients_is_never_taken_for_a_turn_or_an_error(engine, name):
    more = {"analyzeTurns": [1, 0], "playouts": 64, "rules": "japanese", name: name}
    told = engine.answer(json.loads(query(name, **more)))
    assert [reply["id"] for reply in documents(told)] == [name] * 4
    assert [turn for turn, _ in told] == [reply.get("turnNumber", -1) for reply in documents(told)]
    assert sorted(turn for turn, _ in told) == [-1, -1, 0, 1]


def test_an_error_of_the_engine_is_a_failure(engine, monkeypatch, capfd):
    def fails(*_):
        raise RuntimeError('"of the program"')

    monkeypatch.setattr(replies, "of_findings", fails)
    refused = engine.answer(json.loads(query(playouts=64)))
    assert (refused.status, refused.text, refused.name) == (FAILED, 'Internal error: RuntimeError: "of the program"', "a")
    assert "RuntimeError" in capfd.readouterr().err


def test_what_only_playing_the_game_shows(engine):
    refused = engine.answer(json.loads(query(moves=[["B", "C3"], ["W", "C3"]])))
    assert isinstance(refused, Refusal) and (refused.status, refused.field, refused.name) == (NOT_ALLOWED, "moves", "a")
    assert refused.text == "moves: Illegal move 1: W C3: the point is occupied"


def test_an_action_is_answered(engine):
    (reply,) = documents(engine.answer(json.loads(query(action="query_models"))))
    assert reply["models"][0]["name"] == "jaxgo-rave"


def test_boards_that_the_policy_is_not_for():
    engine = Engine(ServiceOptions(policy=jaxgo.Advisor(0.5, jaxgo.AdvisorTable(9))))
    (refused,) = engine.evaluate([asked(POSITIONS)])
    of_queries = [engine.answer(json.loads(query(**more))) for more in ({}, {"playouts": 9})]
    engine.end()
    assert (refused.status, refused.field) == (NOT_ALLOWED, "boards") and "boards must suit the engine's policy" in refused.text
    for refused in of_queries:
        assert (refused.status, refused.field, refused.name) == (NOT_ALLOWED, "boardXSize", "a")
        assert "boardXSize: Cannot be played by the engine's policy" in refused.text


def test_a_full_queue_is_busy():
    engine = Engine(ServiceOptions(visits=300, queue=1))
    refused = engine.answer(json.loads(query(analyzeTurns=[0, 1])))
    engine.end()
    assert refused.status == BUSY and "busy: The queue is full" in refused.text
