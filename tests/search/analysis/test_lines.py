"""What a line may cost, whatever is in it: counted in calls and bytes, up to where the work on positions would begin."""

import contextlib
import gc
import json
import sys
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from search.analysis.options import ServiceOptions
from search.analysis.service import Client
from tests.search.analysis.talk import query
from tests.search.analysis.test_hostile import ACTIONS, BEYOND, FIELDS, LONG_LINES, VALUES, with_field

#: Further values, in JSON, of every type and size.
MORE = [
    "1e-999999999", "-1e400", "0." + "1" * 4000, "1" + "0" * 308, "1" + "0" * 309, "-9223372036854775809", "1E5", "-0", "5.0", "4.999999999999999999",
    '"\\ud800\\udc00"', '"' + "\\udfff" * 2000 + '"', '"' + "\\u0000" * 2000 + '"', '"NaN"', '"1e400"', '"C3 "', '"pass"', '"ｃ３"',
    "[" + "[]," * 3000 + "[]]", "[" + "{}," * 3000 + "{}]", "[" + '["B","C3"],' * 3000 + '["B","C3"]]', "[" + "1e400," * 2000 + "1]",
    "[" + "9" * 4000 + "]", "[true]", "[-1]", "[1e300]", '["\\ud800"]', '[["B", "\\ud800"]]', '[["\\ud800", "C3"]]', '[["B", 1e400]]',
    "{" + ", ".join(f'"k{i}": {i}' for i in range(3000)) + "}", '{"a": 1, "a": [1], "a": {}}', '{"\\ud800": "\\ud800"}',
    "[" * 200 + '{"a": 1e400}' + "]" * 200, '{"a":' * 900 + "[]" + "}" * 900,
    '[{"player": "B", "moves": [' + '"C3",' * 3000 + '"C3"], "untilDepth": 1}]',
    "[" + '{"player": "B", "moves": ["C3"], "untilDepth": 1},' * 1500 + "{}]",
]  # fmt: skip
#: Fields within a setting, and within a restriction.
SETTINGS = ("maxVisits", "maxPlayouts", "maxTime", "reportAnalysisWinratesAs", "analysisPVLen", "wideRootNoise", "unknown")
RESTRICTION = {"player": "B", "moves": ["C3"], "untilDepth": 1}
#: Of actions those that mean something, and one that does not.
OF_ACTIONS = ("id", "action", "terminateId", "turnNumbers", "unknown")


class Still:
    """A service that takes all on and does nothing of it: what a line costs until then can be counted."""

    log = None

    def __init__(self, **options):
        self.options, self.scheduler, self.games, self.devices = ServiceOptions(**options), self, self, self
        self.submitted, self.held = [], 0

    def check(self, *_) -> None: ...
    def clear(self) -> None: ...
    def wake(self) -> None: ...
    def need(self, *_) -> None: ...
    def release(self, *_) -> None: ...

    def prepared(self, *_, **__) -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()

    def submit(self, tasks) -> None:
        self.submitted += tasks

    def queue(self, cost: int, mine: int) -> bool:
        self.held += cost
        return True

    def unqueue(self, cost: int) -> None:
        self.held -= cost


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C; not what the collector of garbage calls, whoever left the garbage."""
    count, collecting = 0, gc.isenabled()

    def note(frame, event: str, arg) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        if collecting:
            gc.enable()
    return count


def most_bytes_of(work: Callable[[], object], limit: float) -> int:
    """The most memory that is held at a time; above a limit the last of three tries, as other tests' threads may be at work."""
    for _ in range(3):
        tracemalloc.start()
        try:
            work()
            found = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if found < limit:
            break
    return found


def take(line: bytes) -> tuple[list[dict], list]:
    """(replies, tasks) of a line, which is answered or taken on once, and costs no more than its length explains."""
    service = Still()
    client = Client(service)
    calls = calls_of(lambda: client.read(line))
    assert calls < 1000 + 4 * len(line), (calls, len(line), line[:200])
    replies = [json.loads(reply, parse_constant=pytest.fail) for reply in client._lines]
    answers = [reply for reply in replies if "warning" not in reply]
    assert len(answers) + bool(service.submitted) == 1, (line[:200], answers)
    assert "Internal" not in json.dumps(answers) and len(replies) <= 30
    assert sum(map(len, client._lines)) < 8000 + 1.2 * max(len(line), 6 * len(line.decode(errors="replace"))), line[:200]
    client.drop()
    assert service.held == 0 and client._pending == 0
    limit = 100_000 + 60 * len(line)
    held = most_bytes_of(lambda: Client(Still()).read(line), limit)
    assert held < limit, (held, len(line), line[:200])
    return replies, service.submitted


@pytest.fixture(scope="module", autouse=True)
def known() -> None:
    """What is read once in a process is no cost of a line."""
    Client(Still()).read(b'{"id": "v", "action": "query_version"}')


@pytest.mark.parametrize("field", [*FIELDS, "action", "terminateId", "turnNumbers"])
def test_every_field_of_a_query_with_every_value(field):
    for value in VALUES + MORE:
        replies, tasks = take(with_field(FIELDS, field, value))
        if value in BEYOND or "1e400" in value and '"1e400"' not in value:
            assert not tasks and replies[0].get("field", "id") == field, value


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: "-".join(map(str, [action["action"], len(action)])))
def test_every_field_of_an_action_with_every_value(action):
    for field in OF_ACTIONS:
        for value in VALUES + MORE:
            assert not take(with_field({"id": "f", **action}, field, value))[1] or field == "action"


@pytest.mark.parametrize("field", SETTINGS)
def test_every_setting_with_every_value(field):
    for value in VALUES + MORE:
        take(with_field(FIELDS, "overrideSettings", with_field({"maxVisits": 300}, field, value).decode()))


@pytest.mark.parametrize("field", RESTRICTION)
@pytest.mark.parametrize("kind", ["avoidMoves", "allowMoves"])
def test_every_field_of_a_restriction_with_every_value(kind, field):
    asked = {name: value for name, value in FIELDS.items() if name != "playouts"}
    for value in VALUES + MORE:
        take(with_field(asked, kind, f"[{with_field(RESTRICTION, field, value).decode()}]"))


#: No shrinking: what fails is short enough.
FEW = settings(max_examples=150, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-(10**40), 10**40) | st.floats() | st.text(max_size=20)
    | st.text(st.characters(categories=["Cs"]), max_size=3) | st.sampled_from(["B", "W", "C3", "pass", "A1", "chinese", "moves"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5), max_leaves=20,
)  # fmt: skip


@FEW
@given(st.sampled_from([FIELDS, *({"id": "f"} | action for action in ACTIONS)]),
       st.dictionaries(st.sampled_from([*FIELDS, "action", "terminateId", "turnNumbers"]), _JSON, max_size=4))  # fmt: skip
def test_any_json_in_any_fields(asked, changes):
    take(json.dumps(asked | changes).encode())


@FEW
@given(st.data())
def test_a_line_that_is_cut_or_has_other_bytes_in_it(data):
    line = bytearray(json.dumps(FIELDS).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(line) - 1))
        line[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=5))
    if line := bytes(line).replace(b"\n", b"").strip():
        take(line)


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_line(name):
    take(json.dumps(LONG_LINES[name], separators=(",", ":")).encode())


def test_a_thousand_turns_are_a_thousand_tasks_of_one_query():
    asked = query("t", moves=[["B", "pass"], ["W", "pass"]] * 500, analyzeTurns=list(range(1001)), maxVisits=200)
    _, tasks = take(json.dumps(asked).encode())
    assert len(tasks) == 1001 and len({id(task.query) for task in tasks}) == 1
    _, tasks = take(json.dumps(asked | {"analyzeTurns": [7] * 1001}).encode())
    assert [task.turn for task in tasks] == [7]


def test_lines_that_end_early_leave_nothing_behind():
    """What was counted for a query that is refused is given back, and ids that are gone are forgotten."""
    service = Still()
    client = Client(service)
    for i in range(300):
        client.read(json.dumps(query(f"{i}", maxVisits=200, analyzeTurns=[0])).encode())
        client.read(json.dumps({"id": "t", "action": "terminate", "terminateId": f"{i}"}).encode())
        client.next_lines()
    assert not client._tasks and not client._pending and not client._queued and not service.held
