"""What `jaxgo analysis` was started with."""

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxgo.playing.policies.in_order import Policies


#: Compiled programs that a process keeps, of those for trees and of those for playouts: clients may ask for every board size.
PROGRAMS = 12
#: Searches of more playouts have several rounds under way, so that one alone keeps the device busy; others one, which costs less,
#: and may be done in other processes.
LARGE_SEARCH = 20_000
#: So many of those under way have another process started.
MANY_SEARCHES = 16


@dataclasses.dataclass(frozen=True)
class ServiceOptions:
    """Options of the command; `jaxgo analysis --help` explains them."""

    bot: str = "rave"
    """A bot with a tree."""
    visits: int = 2_000
    """Playouts of a search where the query does not say."""
    playouts: int = 1_000
    """Of a query without a tree where it does not say."""
    playouts_per_leaf: int = 8
    policy: "Policies" = None
    """Whom playouts ask for their moves."""
    knowledge: bool | None = None
    """Whether moves have prior playouts; by default as the bot has them."""
    seed: int = 0
    """Where the query does not say."""
    active: int = 64
    """Searches under way at a time."""
    processes: int = 1
    """Among which they may be shared out, 1 to `search.analysis.memory.MOST_PROCESSES`."""
    memory: int = 1 << 30
    """Bytes that all trees together may take."""
    queue: int = 20_000
    """Positions that a client may have waiting."""
    line: int = 1 << 17
    """Bytes of a line of input."""
    threads: int | None = None
    """Cores that play, or calls at a time on the first of other devices; by default all cores, all devices."""
