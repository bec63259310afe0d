"""What processes that share searches tell each other (`search.analysis.processes`), one pickle after the other.

The first is the `ServiceOptions`; the end of what there is to read is the end of the process.
"""

from typing import NamedTuple

from search.analysis.work import Task


class Key(NamedTuple):
    """What tasks have in common that need the same programs."""

    size: int
    ownership: bool

    @classmethod
    def of(cls, task: Task) -> "Key":
        wanted = task.query.wanted
        return cls(task.query.size, wanted.ownership or wanted.moves_ownership)


# What a process is told.


class Prepare(NamedTuple):
    """Compile what such tasks need."""

    key: Key


class Take(NamedTuple):
    """Do a task of a client, who has a number, and may have room for more than he must be sent."""

    client: int
    has_room: bool
    task: Task
    """Whose client is left out."""


class Stop(NamedTuple):
    """Clients have had enough of some tasks, and are to be told what there is."""

    numbers: list[int]


class Drop(NamedTuple):
    """Nobody waits for some tasks any more."""

    numbers: list[int]


class Room(NamedTuple):
    """A client has room now, or has none."""

    client: int
    has_room: bool


Told = Prepare | Take | Stop | Drop | Room

# What it says.


class Prepared(NamedTuple):
    """Such tasks can be done."""

    key: Key


class GoesOn(NamedTuple):
    """Nothing is wrong, though there may be nothing else to say for long."""


class Said(NamedTuple):
    """A line for a task's client; the last one, or of a search that goes on."""

    number: int
    line: bytes
    last: bool
