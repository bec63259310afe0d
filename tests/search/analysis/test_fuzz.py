"""Any lines at all: one last reply for each position of each query, or one error; no crash, no hang, and memory does not grow."""

import collections
import json
import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from search.analysis.options import ServiceOptions
from search.analysis.service import Service
from tests.search.analysis.talk import Talk, is_final, query

FEW = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)  # fmt: skip
#: Values of wrong types, and of right ones that are too large or too small.
ODD = [None, True, False, -1, 0, 1, 3, 2**31, 2**64, 10**30, -0.5, 1e300, "", "B", "C3", "pass", "\u2603\ud800", [], [[]], [["B", "C3"]],
       [["B", "A1"], ["W", "A1"]], [0], [1, 0], {}, {"a": 1}, {"maxTime": 0}, [{"player": "B", "moves": ["C3"], "untilDepth": 1}]]  # fmt: skip
FIELDS = ["moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize", "boardYSize", "analyzeTurns",
          "includeOwnership", "includeMovesOwnership", "includePolicy", "includeAmaf", "analysisPVLen", "avoidMoves", "allowMoves",
          "overrideSettings", "reportDuringSearchEvery", "firstReportDuringSearchAfter", "priority", "priorities", "seed",
          "unknown", "action", "terminateId", "turnNumbers"]  # fmt: skip


def some_line(rng: random.Random, name: str) -> bytes:
    """A line, often of a good query or nearly so."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice([rng.randbytes(rng.randrange(60)).replace(b"\n", b" "), b"{" * rng.randrange(50), b'{"id":', b"null", b"  "])
    if kind < 0.2:
        other = str(rng.randrange(int(name) + 1))
        actions = [{"action": "terminate", "terminateId": other}, {"action": "terminate", "terminateId": other, "turnNumbers": [0]},
                   {"action": "terminate_all"}, {"action": "query_version"}, {"action": "query_models"}, {"action": "clear_cache"}]  # fmt: skip
        return json.dumps({"id": name} | rng.choice(actions)).encode()
    letters, moves = "ABC", []
    for i in range(rng.randrange(5)):
        moves.append(["BW"[i % 2], rng.choice(["pass", f"{rng.choice(letters)}{rng.randrange(1, 4)}"])])
    asked = query(name, size=rng.choice([3, 5])) | {"moves": moves}
    asked |= rng.choice([{"maxVisits": rng.randrange(1, 220)}, {"playouts": rng.choice([1, 16])}])
    if rng.random() < 0.3:
        asked["analyzeTurns"] = rng.sample(range(len(moves) + 1), rng.randrange(1, len(moves) + 2))
    for _ in range(rng.choice([0, 0, 1, 1, 3])):
        asked[rng.choice(FIELDS)] = rng.choice(ODD)
    text = json.dumps(asked)
    if rng.random() < 0.05:
        text = text[: rng.randrange(len(text))]
    return text.encode()


def converse(talk: Talk, seed: int, number: int) -> None:
    """Sends so many lines, and checks what comes back."""
    rng = random.Random(seed)
    lines = [some_line(rng, str(i)) for i in range(number)]
    talk.send(*lines)
    talk.client.end()
    talk.end()
    by_name, nameless = collections.defaultdict(list), 0
    for reply in talk.replies:
        if "id" in reply:
            by_name[reply["id"]].append(reply)
        else:
            assert reply.keys() == {"error"}, reply
            nameless += 1
    expected = 0
    for i, line in enumerate(lines):
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError):
            expected += bool(line.strip())
            continue
        replies = [reply for reply in by_name.pop(str(i), []) if "warning" not in reply and reply.get("isDuringSearch") is not True]
        if not isinstance(asked, dict):
            expected += 1
        elif len(replies) == 1 and "error" in replies[0]:
            assert "Internal" not in replies[0]["error"], (line, replies)
        elif "action" in asked:
            assert len(replies) == 1 and replies[0]["action"] == asked["action"], (line, replies)
        else:
            turns = asked.get("analyzeTurns") or [len(asked["moves"])]
            assert sorted(r["turnNumber"] for r in replies) == sorted(set(turns)), (line, replies)
            assert all(map(is_final, replies))
    assert not by_name and nameless == expected
    assert talk.client._pending == 0


@pytest.mark.wide
@FEW
@given(st.integers(0, 10**6))
def test_any_lines(service, seed):
    converse(Talk(service), seed, 50)


@pytest.mark.slow
def test_a_hundred_thousand_lines():
    service = Service(ServiceOptions(visits=200, playouts=16))
    for seed in range(100):
        converse(Talk(service), seed, 1000)
    service.end()


def resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.slow
def test_memory_stays_flat():
    """Ten thousand queries after the first two thousand, every game another."""
    service = Service(ServiceOptions(visits=200, playouts=16))
    rng, sizes = random.Random(1), []
    for _ in range(12):
        talk = Talk(service)
        for i in range(1000):
            moves = [f"{c}{r}" for c in "ABCDE" for r in range(1, 6)]
            more = rng.choice([{"playouts": 16}, {"maxVisits": 200}])
            talk.send(query(str(i), *rng.sample(moves, 4), includeOwnership=i % 5 == 0, **more))
        talk.end()
        assert sum(map(is_final, talk.replies)) + sum("error" in reply for reply in talk.replies) == 1000
        sizes.append(resident())
    service.end()
    assert max(sizes[2:]) - sizes[1] < 150 << 20, [size >> 20 for size in sizes]
