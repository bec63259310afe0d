"""Lines of the protocol, as text."""

import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.gtp import arguments, protocol
from search.gtp.protocol import Command, Failure, Reply, is_interrupt, parse, remark, reply


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("name", Command("", "name", ())),
        ("7 name", Command("7", "name", ())),
        ("007 NaMe", Command("007", "name", ())),
        ("play b D4", Command("", "play", ("b", "D4"))),
        ("  play\tb \t D4 \r", Command("", "play", ("b", "D4"))),
        ("pl\x00a\x07y b\x7f D4", Command("", "play", ("b", "D4"))),
        ("play b D4 # a comment", Command("", "play", ("b", "D4"))),
        ("play b D4#5", Command("", "play", ("b", "D4"))),
        ("12", Command("12", "", ())),
        ("12a name", Command("", "12a", ("name",))),
        ("", None),
        (" \t\r", None),
        ("# only a comment", None),
        ("\x01\x02", None),
    ],
)
def test_a_line_is_a_command(line, command):
    assert parse(line) == command


def test_a_reply_has_no_blank_line_but_its_last():
    command = Command("3", "x", ())
    assert reply(command) == "=3 \n\n"
    assert reply(command, "a\n\n \n\tb\x07\n\n") == "=3 a\n b\n\n"
    assert reply(Command("", "x", ()), "no", success=False) == "? no\n\n"


@given(st.text(), st.text())
def test_any_text_makes_a_reply(line, text):
    command = parse(line) or Command("", "x", ())
    answer = reply(command, text)
    assert answer[0] == "=" and answer.endswith("\n\n") and "\n\n" not in answer[:-1]
    assert all(ord(c) >= 32 or c == "\n" for c in answer)
    assert "#" not in command.name + "".join(command.arguments)


def test_points_are_those_of_the_board():
    assert [arguments.vertex(text, 9) for text in ("A9", "a1", "J1", "H9", "pass", "PASS", "A01")] == [0, 72, 80, 7, 81, 81, 72]
    assert arguments.vertex("Z25", 25) == 24
    for text in ("I5", "K1", "A0", "A10", "A-1", "5A", "A", "", "AA1", "A1 ", "A1.0", "A١", "pas", "A123"):
        with pytest.raises(Failure, match=protocol.INVALID_POINT):
            arguments.vertex(text, 9)


def test_numbers_are_plain_and_finite():
    assert [arguments.number(text) for text in ("7.5", "-3", "1e2", ".5")] == [7.5, -3, 100, 0.5]
    assert arguments.whole("+12") == 12
    for text in ("nan", "inf", "-inf", "1e999", "1_0", "seven", "", "٣"):
        with pytest.raises(Failure, match=protocol.SYNTAX_ERROR):
            arguments.number(text)
    for text in ("1.5", "-1", "1_0", "٣", "9999999999999", "0x10", ""):
        with pytest.raises(Failure, match=protocol.SYNTAX_ERROR):
            arguments.whole(text)


def test_the_lines_of_a_reply_do_not_end_it():
    """Before it ends, once; a failure in it is a line for people, and its end."""
    written = []
    answer = Reply(Command("4", "x", ()), written.append)
    for text in ("", "\x07", "a\n\nb", " \n"):
        answer.say(text)
    answer.fail("no more")
    assert "".join(written) == "=4\na\nb\n\n"


def test_an_interruption_is_a_comment_of_that_word():
    for line in ("# interrupt", "#interrupt", "  #\tInterrupt \r"):
        assert is_interrupt(line) and parse(line) is None
    for line in ("interrupt", "# interrupted", "name # interrupt", "# interrupt 5"):
        assert not is_interrupt(line)


@pytest.mark.parametrize("error", [OSError, ValueError])
def test_what_nobody_listens_to_is_said_to_nobody(monkeypatch, error):
    """On a pipe that nobody reads, or a file that is closed."""

    def write(text: str) -> None:
        raise error("gone")

    monkeypatch.setattr("sys.stderr", types.SimpleNamespace(write=write, flush=lambda: None))
    remark("something")
