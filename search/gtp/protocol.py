"""Lines of the protocol: a command in, a reply out."""

import dataclasses
import re

#: Errors that clients know by their texts.
UNKNOWN_COMMAND = "unknown command"
SYNTAX_ERROR = "syntax error"
ILLEGAL_MOVE = "illegal move"
UNACCEPTABLE_SIZE = "unacceptable size"
CANNOT_UNDO = "cannot undo"
INVALID_POINT = "invalid color or coordinate"

#: All control characters but HT, which becomes a space.
_CONTROL = {code: None for code in [*range(32), 127] if code != 9} | {9: " "}
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


def parse(line: str) -> Command | None:
    """The command of a line; None where there is nothing but blanks and a comment."""
    words = line.partition("#")[0].translate(_CONTROL).split()
    if not words:
        return None
    identity = words.pop(0) if re.fullmatch(r"[0-9]+", words[0]) else ""
    name, *arguments = words or [""]
    return Command(identity, name.lower(), tuple(arguments))


def reply(command: Command, text: str = "", *, success: bool = True) -> str:
    """The whole reply to a command, with the blank line that ends it and none before."""
    return f"{'=' if success else '?'}{command.identity} {body(text)}\n\n"


def body(text: str) -> str:
    """A text without control characters, without blanks at its end, and without blank lines, which would end the reply."""
    lines = (line.translate(_CONTROL).rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n", "\n".join(lines)).strip("\n")
