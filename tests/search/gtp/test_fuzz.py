"""Any lines at all: each command gets one reply, and the engine goes on."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.gtp.commands import COMMANDS
from search.gtp.protocol import parse
from tests.search.gtp.client import Client, body_of

_WORDS = (
    "b", "w", "black", "White", "purple", "pass", "resign", "A1", "b2", "C3", "e5", "Z9", "I5", "0", "1", "2", "5", "7.5", "-3",
    "1e400", "nan", "true", "false", "maxmoves", "minmoves", "avoid", "allow", "A1,B2", "ownership", "interval", "dead",
    "alive", "seki", "canadian", "byoyomi", "fischer", "absolute", "none", "chinese", "japanese", "{", '{"ko":"SIMPLE"}', "x.sgf",
    "#", "é", "\x00", "\t",
)  # fmt: skip
#: Left out: what would compile another size, end the conversation, or read and write files.
_LEFT_OUT = {"boardsize", "quit", "loadsgf", "printsgf"}
_NAMES = sorted(set(COMMANDS) - _LEFT_OUT)


def check(client: Client, line: str) -> None:
    """One well-formed reply with the command's number to each command, nothing to what is none."""
    answer, command = client(line), parse(line)
    assert not client.engine.over
    if command is None:
        assert answer == ""
        return
    assert answer[1:].startswith(command.identity)
    body_of(answer)
    assert "internal error" not in answer, (line, answer)
    assert command.name in COMMANDS or answer == f"?{command.identity} unknown command\n\n"


def line_of(rng: random.Random) -> str:
    """A line that looks like a command more or less."""
    kind = rng.random()
    if kind < 0.1:
        return "".join(chr(rng.randrange(rng.choice((32, 127, 0x300)))) for _ in range(rng.randrange(30)))
    name = rng.choice(_NAMES) if kind < 0.95 else rng.choice(("foo", "PLAY", "Undo", "genmove_", ""))
    if kind < 0.5:  # games go on, so that commands meet boards of all kinds
        name = rng.choice(("play", "play", "play", "undo", "genmove", "clear_board"))
        if name == "play":
            return f"play {rng.choice('bw')} {rng.choice('ABCDE')}{rng.randrange(1, 6)}"
    words = [rng.choice(_WORDS) for _ in range(rng.randrange(4))]
    return " ".join([*([str(rng.randrange(1000))] if rng.random() < 0.3 else []), name, *words])


def play_on(seed: int, count: int) -> None:
    """So many lines, to one engine."""
    rng, client = random.Random(seed), Client(5, visits=8)
    for _ in range(count):
        check(client, line_of(rng))


def test_lines_that_look_like_commands():
    play_on(1, 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_thousand_lines(seed):
    play_on(seed, 10_000)


@pytest.fixture(scope="module")
def client() -> Client:
    """An engine that hears anything."""
    return Client(5, visits=8)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.lists(st.sampled_from((*_NAMES, *_WORDS)), max_size=6).map(" ".join)))
def test_any_text(client, line):
    command = parse(line)
    if command is not None and command.name in _LEFT_OUT:
        return
    check(client, line)
