"""What a line may cost, whatever is in it, counted in calls and bytes."""

import os
import threading

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from search.gtp import arguments
from search.gtp.commands import COMMANDS
from search.gtp.lines import LONGEST, Lines
from search.gtp.protocol import Command, Failure, parse, reply
from tests.search.analysis.test_lines import calls_of, most_bytes_of
from tests.search.gtp.client import Client
from tests.search.gtp.test_fuzz import check

FEW = settings(max_examples=200, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
#: Arguments that no command can mean.
ODD = ("9" * 4000, "-" + "9" * 400, "1e400", "-1e400", "1e-999999999", "nan", "inf", "0x10", "0." + "1" * 4000, "x" * 3000, "[" * 3000,
       '{"a":' * 900, "\ud800", "\udfff" * 100, "ｃ３", "٣", "C" + "9" * 4000, "Z99", "=", "?", "\u2028", "\x85", "%s" * 500, "../" * 500)  # fmt: skip
#: Left out: what ends the conversation, or writes files.
NAMES = sorted(set(COMMANDS) - {"quit", "printsgf", "loadsgf"})


def read(text: bytes) -> list[str | None]:
    """The lines that arrive at a pipe."""
    output, source = os.pipe()

    def pour() -> None:
        view = memoryview(text)
        while view:
            view = view[os.write(source, view) :]
        os.close(source)

    pouring = threading.Thread(target=pour)
    pouring.start()
    lines, found = Lines(output), []
    while (line := lines.next()) is not None:
        found.append(None if line.too_long else line.text)
    pouring.join()
    os.close(output)
    return found


def test_a_line_that_is_too_long_is_skipped():
    """Whatever its length: of 30 MB without an end hardly any is held."""
    longest = b"y" * LONGEST
    assert read(b"1 name\n" + longest + b"\n" + longest + b"y\n2 name\n") == ["1 name", longest.decode(), None, "2 name"]
    text = b"x" * (30 << 20)
    assert most_bytes_of(lambda: read(text), 2 << 20) < 2 << 20


@FEW
@given(st.text() | st.lists(st.sampled_from([*ODD, *NAMES[:20], "play", "b", " ", "\t", "#", "12"]), max_size=30).map(" ".join))
def test_reading_a_command_costs_no_more_than_its_length(line):
    assert calls_of(lambda: parse(line)) < 60
    limit = 20_000 + 40 * len(line)
    assert most_bytes_of(lambda: parse(line), limit) < limit
    command = parse(line) or Command("", "x", ())
    assert most_bytes_of(lambda: reply(command, line), limit) < limit


@pytest.mark.parametrize("read", [arguments.colour, lambda text: arguments.vertex(text, 25), arguments.whole, arguments.number, arguments.truth])
def test_arguments_that_mean_nothing_are_refused_at_little_cost(read):
    def refused(text: str) -> bool:
        try:
            read(text)
        except Failure:
            return True
        return False

    for text in ODD:
        assert refused(text) or read is arguments.number and text.startswith(("9", "-9", "0.", "1e-")), text[:50]
        limit = 20_000 + 20 * len(text)
        assert calls_of(lambda text=text: refused(text)) < 60 and most_bytes_of(lambda text=text: refused(text), limit) < limit


@pytest.fixture(scope="module")
def client() -> Client:
    """An engine that hears anything."""
    return Client(5, visits=8)


@pytest.mark.parametrize("before", [(), ("b",), ("0", "1")], ids=len)
def test_every_command_with_every_odd_argument(client, before):
    """One reply each, which tells of no fault of the program, and the engine goes on."""
    for name in NAMES:
        for text in ODD:
            check(client, " ".join(["7", name, *before, text]))
    client.ok("boardsize 5")
    assert client.ok("name") == "jaxgo"
