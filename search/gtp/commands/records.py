"""Commands about game records."""

import os
import pathlib

from jaxgo.base import files
from search.gtp import arguments
from search.gtp.protocol import SYNTAX_ERROR, Failure


def loadsgf(engine, *words: str) -> None:
    """A game record, up to before a move number."""
    if not words:
        raise Failure(SYNTAX_ERROR)
    path, before = engine.command.rest, None
    # Names may hold blanks. A last word that is a number is the move, unless it is all there is or belongs to the name of a file.
    if len(words) > 1 and words[-1].isdecimal() and not os.path.isfile(path):
        before, path = arguments.whole(words[-1], 1), path[: -len(words[-1])].rstrip()
    engine.table.load(path, before)
    engine.new_game()
    engine.prepare()


def printsgf(engine, *words: str) -> str:
    """The game as a record: as the reply, or written to a file."""
    record = engine.table.record()
    if not words or words == ("-",):
        return record.decode("utf-8", "replace")
    try:
        files.write_output(pathlib.Path(engine.command.rest), record)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise Failure(f"cannot write file: {error}") from None
    return ""


COMMANDS = {"loadsgf": loadsgf, "printsgf": printsgf}
