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
    from jaxgo.base.constants import BLACK as BLACK
    from jaxgo.base.constants import MAX_SIZE as MAX_SIZE
    from jaxgo.base.constants import MIN_SIZE as MIN_SIZE
    from jaxgo.base.constants import NO_KO as NO_KO
    from jaxgo.base.constants import STAY as STAY
    from jaxgo.base.constants import WHITE as WHITE
    from jaxgo.board.coordinates import coordinate as coordinate
    from jaxgo.board.coordinates import point as point
    from jaxgo.board.observation import NUM_PLANES as NUM_PLANES
    from jaxgo.board.position import Position as Position
    from jaxgo.board.symmetries import NUM_SYMMETRIES as NUM_SYMMETRIES
    from jaxgo.board.symmetries import all_symmetries as all_symmetries
    from jaxgo.board.symmetries import compose_symmetries as compose_symmetries
    from jaxgo.board.symmetries import inverse_symmetry as inverse_symmetry
    from jaxgo.board.symmetries import symmetry as symmetry
    from jaxgo.board.symmetries import transform_moves as transform_moves
    from jaxgo.board.symmetries import transform_points as transform_points
    from jaxgo.playing.policies.advisor import Advisor as Advisor
    from jaxgo.playing.policies.advisor_table import AdvisorTable as AdvisorTable
    from jaxgo.playing.policies.capture import Capture as Capture
    from jaxgo.playing.policies.in_order import Uniform as Uniform
    from jaxgo.playing.policies.last_good_reply import LastGoodReply as LastGoodReply
    from jaxgo.playing.policies.last_good_reply import Replies as Replies
    from jaxgo.playing.policies.mercy import Mercy as Mercy
    from jaxgo.playing.policies.nakade import Nakade as Nakade
    from jaxgo.playing.policies.no_self_atari import NoSelfAtari as NoSelfAtari
    from jaxgo.playing.policies.patterns import Patterns as Patterns
    from jaxgo.records import sgf as sgf
    from jaxgo.records.boards import from_pgx as from_pgx
    from jaxgo.records.boards import from_sgfmill as from_sgfmill
    from jaxgo.records.boards import to_pgx as to_pgx
    from jaxgo.records.boards import to_sgfmill as to_sgfmill
    from jaxgo.records.record import GameRecord as GameRecord
    from jaxgo.records.sgf import read_game as read_game
    from jaxgo.results import credits as credits
    from jaxgo.results.evaluation import Evaluation as Evaluation
    from jaxgo.results.evaluation import Interrupted as Interrupted
    from jaxgo.results.move_statistics import MoveStatistics as MoveStatistics
    from jaxgo.results.move_statistics import statistics_of as statistics_of
    from jaxgo.results.playouts import Playouts as Playouts
    from jaxgo.running.evaluate import evaluate as evaluate
    from jaxgo.running.evaluate import evaluations as evaluations
    from jaxgo.running.leaves import LeafResults as LeafResults
    from jaxgo.running.leaves import Leaves as Leaves
    from jaxgo.running.move_statistics import move_statistics as move_statistics
    from jaxgo.running.playouts import playouts as playouts
    from jaxgo.running.simulate import simulate as simulate

_HOMES = {
    "Advisor": "playing.policies.advisor",
    "AdvisorTable": "playing.policies.advisor_table",
    "BLACK": "base.constants",
    "Capture": "playing.policies.capture",
    "Evaluation": "results.evaluation",
    "GameRecord": "records.record",
    "Interrupted": "results.evaluation",
    "LastGoodReply": "playing.policies.last_good_reply",
    "LeafResults": "running.leaves",
    "Leaves": "running.leaves",
    "MAX_SIZE": "base.constants",
    "MIN_SIZE": "base.constants",
    "Mercy": "playing.policies.mercy",
    "MoveStatistics": "results.move_statistics",
    "NO_KO": "base.constants",
    "NUM_PLANES": "board.observation",
    "NUM_SYMMETRIES": "board.symmetries",
    "Nakade": "playing.policies.nakade",
    "NoSelfAtari": "playing.policies.no_self_atari",
    "Patterns": "playing.policies.patterns",
    "Playouts": "results.playouts",
    "Position": "board.position",
    "Replies": "playing.policies.last_good_reply",
    "STAY": "base.constants",
    "Uniform": "playing.policies.in_order",
    "WHITE": "base.constants",
    "all_symmetries": "board.symmetries",
    "compiler_options": "backends.choice",
    "compose_symmetries": "board.symmetries",
    "coordinate": "board.coordinates",
    "credits": "results.credits",
    "evaluate": "running.evaluate",
    "evaluations": "running.evaluate",
    "from_pgx": "records.boards",
    "from_sgfmill": "records.boards",
    "inverse_symmetry": "board.symmetries",
    "keep_compiled": "base.cache",
    "move_statistics": "running.move_statistics",
    "playouts": "running.playouts",
    "point": "board.coordinates",
    "read_game": "records.sgf",
    "sgf": "records.sgf",
    "simulate": "running.simulate",
    "statistics_of": "results.move_statistics",
    "symmetry": "board.symmetries",
    "to_pgx": "records.boards",
    "to_sgfmill": "records.boards",
    "transform_moves": "board.symmetries",
    "transform_points": "board.symmetries",
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
