"""jaxgo: exact, reproducible Go playouts in large batches, in JAX.

    position = jaxgo.Position.from_sgf("game.sgf")
    evaluation = jaxgo.evaluate(position, 100_000, komi=7.5)

Names are loaded when first used; importing the package does not import jax.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from jaxgo.backends.choice import compiler_options as compiler_options
    from jaxgo.base.cache import keep_compiled as keep_compiled
    from jaxgo.base.constants import BLACK as BLACK, MAX_SIZE as MAX_SIZE, MIN_SIZE as MIN_SIZE, NO_KO as NO_KO, STAY as STAY, WHITE as WHITE
    from jaxgo.board.position import Position as Position
    from jaxgo.records import sgf as sgf
    from jaxgo.results import credits as credits
    from jaxgo.results.evaluation import Evaluation as Evaluation, Interrupted as Interrupted
    from jaxgo.results.move_statistics import MoveStatistics as MoveStatistics, statistics_of as statistics_of
    from jaxgo.results.playouts import Playouts as Playouts
    from jaxgo.running.evaluate import evaluate as evaluate, evaluations as evaluations
    from jaxgo.running.leaves import LeafResults as LeafResults, Leaves as Leaves
    from jaxgo.running.move_statistics import move_statistics as move_statistics
    from jaxgo.running.playouts import playouts as playouts
    from jaxgo.running.simulate import simulate as simulate

_HOMES = {
    "BLACK": "base.constants",
    "Evaluation": "results.evaluation",
    "Interrupted": "results.evaluation",
    "LeafResults": "running.leaves",
    "Leaves": "running.leaves",
    "MAX_SIZE": "base.constants",
    "MIN_SIZE": "base.constants",
    "MoveStatistics": "results.move_statistics",
    "NO_KO": "base.constants",
    "Playouts": "results.playouts",
    "Position": "board.position",
    "STAY": "base.constants",
    "WHITE": "base.constants",
    "compiler_options": "backends.choice",
    "credits": "results.credits",
    "evaluate": "running.evaluate",
    "evaluations": "running.evaluate",
    "keep_compiled": "base.cache",
    "move_statistics": "running.move_statistics",
    "playouts": "running.playouts",
    "sgf": "records.sgf",
    "simulate": "running.simulate",
    "statistics_of": "results.move_statistics",
}

__all__ = sorted(_HOMES)

if not TYPE_CHECKING:  # or a type checker would take any name for one of these

    def __getattr__(name: str):
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"module 'jaxgo' has no attribute {name!r}")
        home = _HOMES[name]
        module = importlib.import_module(f"jaxgo.{home}")
        value = module if home.endswith(f".{name}") and name in ("credits", "sgf") else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
