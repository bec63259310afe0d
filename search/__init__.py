"""search: tree search and bots on top of `jaxgo`'s playouts.

    tree = search.Search(jaxgo.Position.empty(9), komi=7.5)
    tree.run(visits=10_000)
    point = tree.best()

Names are loaded when first used; importing the package does not import jax.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from search.chances import move_chances as move_chances
    from search.choice import Choice as Choice
    from search.choice import Limits as Limits
    from search.choice import Player as Player
    from search.flat import FlatPlayer as FlatPlayer
    from search.game import Game as Game
    from search.game import IllegalMove as IllegalMove
    from search.knowledge import Knowledge as Knowledge
    from search.move_weights import MoveWeights as MoveWeights
    from search.players import TreePlayer as TreePlayer
    from search.players import make_player as make_player
    from search.root import RootStatistics as RootStatistics
    from search.search import Search as Search
    from search.selection import UCB1 as UCB1
    from search.selection import Rave as Rave

_HOMES = {
    "Choice": "choice",
    "FlatPlayer": "flat",
    "Game": "game",
    "IllegalMove": "game",
    "Knowledge": "knowledge",
    "Limits": "choice",
    "MoveWeights": "move_weights",
    "Player": "choice",
    "Rave": "selection",
    "RootStatistics": "root",
    "Search": "search",
    "TreePlayer": "players",
    "UCB1": "selection",
    "make_player": "players",
    "move_chances": "chances",
}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # or a type checker would take any name for one of these

    def __getattr__(name: str):
        import importlib

        if name in _HOMES:
            value = getattr(importlib.import_module(f"search.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'search' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
