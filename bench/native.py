"""Native engines that users name by commands, as `jaxgo bench peers --native` takes them."""

import dataclasses
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence

from jaxgo.cli import UsageError

#: `NAME=`, `SIZE,...:` and the command.
_FORM = re.compile(r"(?:(?P<name>[A-Za-z0-9][\w.+-]*)=)?(?:(?P<sizes>\d+(?:,\d+)*):)?(?P<command>.*)", re.DOTALL)
#: Names that other engines have; those of pgx and GNU Go have blanks in them.
RESERVED = ("jaxgo", "OpenSpiel")
#: What is put into commands.
SIZE, PLAYOUTS = "{size}", "{playouts}"


@dataclasses.dataclass(frozen=True)
class Native:
    """An engine, and how it is called."""

    name: str
    """Shown to people."""
    commands: Mapping[int | None, Sequence[str]]
    """The words of the command by board size; that of None is for all other sizes."""

    def command_for(self, size: int) -> Sequence[str] | None:
        """The command's words for a board size; None where there is none."""
        words = self.commands.get(size) or self.commands.get(None)
        return words and [word.replace(SIZE, str(size)) for word in words]


def read(texts: Sequence[str]) -> list[Native]:
    """The engines that `--native` names; those of one name are one engine with commands for several sizes.

    Args:
      texts: as `[NAME=][SIZE,...:]COMMAND`.

    Raises:
      UsageError: a text is not of this form, or there are two commands for a name and size.
    """
    found: dict[str, dict[int | None, Sequence[str]]] = {}
    for text in texts:
        parts = _FORM.fullmatch(text)
        assert parts is not None  # a command may be anything
        try:
            words = shlex.split(parts["command"])
        except ValueError as error:
            raise UsageError(f"--native {text!r}: {error}") from error
        if not words:
            raise UsageError(f"--native {text!r}: must be [NAME=][SIZE,...:]COMMAND, and there is no command")
        name = parts["name"] or pathlib.PurePath(words[0]).name
        if name in RESERVED:
            raise UsageError(f"--native {text!r}: another engine is called {name}; give this one a name, as NAME=COMMAND")
        commands = found.setdefault(name, {})
        for size in [int(size) for size in parts["sizes"].split(",")] if parts["sizes"] else [None]:
            if size in commands:
                which = "all sizes" if size is None else f"{size}x{size}"
                raise UsageError(f"--native {text!r}: {name} has a command for {which} already; two engines need two names")
            commands[size] = words
    return [Native(name, commands) for name, commands in found.items()]
