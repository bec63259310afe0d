"""jaxgo: exact, reproducible Go playouts in large batches, in JAX.

    position = jaxgo.Position.from_sgf("game.sgf")
    evaluation = jaxgo.evaluate(position, 100_000, komi=7.5)

Names are loaded when first used; importing the package does not import jax.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "Evaluation": "results.evaluation",
    "Interrupted": "results.evaluation",
    "Playouts": "running.simulate",
    "LeafResults": "running.leaves",
    "Leaves": "running.leaves",
    "MoveStatistics": "results.move_statistics",
    "Position": "board.position",
    "compiler_options": "base.one_loop",
    "evaluate": "running.engine",
    "move_statistics": "results.move_statistics",
    "playouts": "running.engine",
    "simulate": "running.simulate",
    "statistics_of": "results.move_statistics",
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
