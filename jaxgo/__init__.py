"""jaxgo: exact, reproducible Go playouts in large batches, in JAX.

    position = jaxgo.Position.from_sgf("game.sgf")
    evaluation = jaxgo.evaluate(position, 100_000, komi=7.5)

Names are loaded when first used; importing the package does not import jax.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "Evaluation": "evaluation",
    "Interrupted": "evaluation",
    "Playouts": "simulation",
    "LeafResults": "leaves",
    "Leaves": "leaves",
    "MoveStatistics": "statistics",
    "Position": "position",
    "compiler_options": "one_loop",
    "evaluate": "engine",
    "move_statistics": "statistics",
    "playouts": "engine",
    "simulate": "simulation",
    "statistics_of": "statistics",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        value = getattr(importlib.import_module(f"jaxgo.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'jaxgo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
