"""What `jaxgo gtp` was started with, and what clients change of it."""

import dataclasses
from typing import TYPE_CHECKING

from search.rulesets import DEFAULT, Ruleset

if TYPE_CHECKING:
    from jaxgo.playing.policies.in_order import Policies

#: Playouts of a move where neither a limit nor a clock is given.
DEFAULT_VISITS = 20_000
#: Points for White where nobody says.
DEFAULT_KOMI = 7.5
#: The win rate below which the engine gives up.
DEFAULT_RESIGN = 0.05
#: The board's size until a client says.
DEFAULT_SIZE = 19


@dataclasses.dataclass(frozen=True)
class EngineOptions:
    """Options of the command; `jaxgo gtp --help` explains them."""

    bot: str = "rave"
    visits: int | None = None
    seconds: float | None = None
    leaves: int | None = None
    """Of a round, None for what suits the devices."""
    playouts_per_leaf: int | None = None
    """Likewise."""
    seed: int = 0
    komi: float | None = None
    rules: Ruleset = DEFAULT
    size: int | None = None
    resign: float = DEFAULT_RESIGN
    cleanup: bool = False
    ponder: bool = False
    knowledge: bool | None = None
    """Whether a tree bot's moves have prior playouts; by default as the bot has them."""
    memory: int = 1 << 30
    """Bytes that all trees together may take."""
    threads: int | None = None
    """Who plays, as `jaxgo.evaluate` takes its `devices`."""
    policy: "Policies" = None
    """Whom playouts ask for their moves."""
