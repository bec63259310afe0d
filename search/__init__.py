"""search: tree search and bots on top of `jaxgo`'s playouts.

    tree = search.Search(jaxgo.Position.empty(9), komi=7.5)
    tree.run(visits=10_000)
    point = tree.best()

Names are loaded when first used; importing the package does not import jax.
"""

import importlib

_HOMES = {
    "Choice": "choice",
    "FlatPlayer": "flat",
    "Game": "game",
    "IllegalMove": "game",
    "Knowledge": "knowledge",
    "Limits": "choice",
    "MoveWeights": "move_weights",
    "Player": "players",
    "Rave": "selection",
    "RootStatistics": "root",
    "Search": "search",
    "TreePlayer": "players",
    "UCB1": "selection",
    "make_player": "players",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        value = getattr(importlib.import_module(f"search.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'search' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
