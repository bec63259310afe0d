"""Lines of the protocol: a command in, a reply out."""

import contextlib
import dataclasses
import re
import sys
from collections.abc import Callable

#: Errors that clients know by their texts.
UNKNOWN_COMMAND = "unknown command"
SYNTAX_ERROR = "syntax error"
ILLEGAL_MOVE = "illegal move"
UNACCEPTABLE_SIZE = "unacceptable size"
CANNOT_UNDO = "cannot undo"
INVALID_POINT = "invalid color or coordinate"

#: All control characters but HT, which becomes a space.
_CONTROL = {code: None for code in [*range(32), 127] if code != 9} | {9: " "}
#: A number, a name, and the rest.
_FORM = re.compile(r"(?:([0-9]+)(?:\s+|$))?(\S*)\s*(.*)", re.DOTALL)
_INTERRUPT = re.compile(r"\s*#\s*interrupt\s*", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n+")


class Failure(Exception):
    """A command that cannot be done; the text is the reply."""


@dataclasses.dataclass(frozen=True)
class Command:
    """What a client asks for."""

    identity: str
    """The number in front, as the client wrote it; "" without."""
    name: str
    """In lower case; "" where there is nothing but a number."""
    arguments: tuple[str, ...]
    rest: str = dataclasses.field(default="", compare=False)
    """The arguments as they are written, for the names of files."""


def parse(line: str) -> Command | None:
    """The command of a line; None where there is nothing but blanks and a comment."""
    text = line.partition("#")[0].translate(_CONTROL).strip()
    if not text:
        return None
    found = _FORM.fullmatch(text)
    assert found is not None, "any text is of that form"
    identity, name, rest = found.groups(default="")
    return Command(identity, name.lower(), tuple(rest.split()), rest)


def is_interrupt(line: str) -> bool:
    """Whether a line is the comment by which GoGui interrupts the command that is being done."""
    return _INTERRUPT.fullmatch(line) is not None


def remark(text: str) -> None:
    """Says something to people, on stderr; whether anybody listens makes no difference."""
    with contextlib.suppress(OSError, ValueError):
        print(f"jaxgo gtp: {text}", file=sys.stderr, flush=True)


class Reply:
    """The reply to one command, written little by little or at once.

    A reply that has begun is a success, and cannot become a failure any more; so it begins as late as may be.

    Args:
      command: the command.
      write: takes the text.
    """

    def __init__(self, command: Command, write: Callable[[str], None]):
        self.command, self._write = command, write
        self.begun = False
        """Whether the client has been told of a success, and waits for the lines."""

    def begin(self) -> None:
        """Tells the client that lines will follow."""
        if not self.begun:
            self._write(f"={self.command.identity}\n")
            self.begun = True

    def say(self, text: str) -> None:
        """Writes a line; not an empty one, which would end the reply."""
        self.begin()
        text = body(text)
        if text:
            self._write(text + "\n")

    def end(self) -> None:
        """Ends the lines."""
        self.begin()
        self._write("\n")

    def succeed(self, text: str) -> None:
        """Writes the whole reply."""
        self._write(reply(self.command, text))

    def fail(self, text: str) -> None:
        """Writes a failure; where the reply has begun, it ends there, and people are told."""
        if self.begun:
            remark(f"the reply to {self.command.name} ends early: {body(text)}")
            self.end()
        else:
            self._write(reply(self.command, text, success=False))


def reply(command: Command, text: str = "", *, success: bool = True) -> str:
    """The whole reply to a command, with the blank line that ends it and none before."""
    return f"{'=' if success else '?'}{command.identity} {body(text)}\n\n"


def body(text: str) -> str:
    """A text without control characters, without blanks at its end, and without blank lines, which would end the reply."""
    lines = (line.translate(_CONTROL).rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n", "\n".join(lines)).strip("\n")
