"""Types: the packages pass mypy, and a program that uses them wrongly does not."""

import pathlib
import re
import subprocess
import sys

import pytest

import jaxgo
import search

pytest.importorskip("mypy")
pytestmark = pytest.mark.wide

ROOT = pathlib.Path(__file__).parents[1]

RIGHT_USE = """\
from typing import assert_type

import jax
import jax.numpy as jnp
import numpy as np

import jaxgo
import search

position = jaxgo.Position.from_array(np.zeros((9, 9), np.int8), to_play=jaxgo.BLACK)
after: jaxgo.Position = position.play([40]).play(jnp.array([41]), where=np.array([True]))
assert_type(after.legal(), jax.Array)

evaluation = jaxgo.evaluate(position, 10, komi=[6.5], seed=jax.random.key(0), statistics=["amaf"], devices=1)
assert_type(evaluation.win_rate, np.ndarray)
assert_type(evaluation.sums.wins, np.ndarray)
for partial in jaxgo.evaluations(position, 10, streams=np.array([3]), progress=lambda done, total: None):
    assert_type(partial, jaxgo.Evaluation)

assert_type(jaxgo.playouts(position, 10, moves=True).margin, np.ndarray)
assert_type(jaxgo.simulate(position, 10, 7, first_playout=jnp.int32(5)).board, jax.Array)


def leads(played: jaxgo.Playouts[jax.Array]) -> jax.Array:
    return played.margin.mean(axis=1)


leads(jaxgo.simulate(position, 10))
assert_type(jaxgo.move_statistics(position, 10, rule="amaf").value, np.ndarray)
assert_type(jaxgo.read_game("game.sgf").position(3), jaxgo.Position)

leaves = jaxgo.Leaves(9, 64, 8, komi=6.5, moves=True)
call = leaves.submit(*leaves.arguments_of(position), np.array([jaxgo.STAY]), np.array([0]), komi=7.5, seed=1)
assert_type(leaves.gather(call).legal, np.ndarray)

with search.Search(position, rule=search.Rave(bias=0.02), komi=6.5) as tree:
    assert_type(tree.run(visits=100, stop=lambda: False), int)
    found = tree.statistics()
    assert_type(found, search.RootStatistics)
    assert_type(found.win_rate, np.ndarray)
    assert_type(found.black, bool)
    tree.advance(tree.best())
player: search.Player = search.make_player("rave", knowledge=True)
assert_type(player.genmove(position, None, search.Limits(seconds=0.5)), search.Choice)
"""

WRONG_USE = {
    "jaxgo.evalute(1)": "evalute",
    "jaxgo.evaluate(position, 10, sed=1)": "sed",
    "jaxgo.evaluate('game.sgf', 10)": "Position",
    "jaxgo.evaluate(position, '10')": "int",
    "jaxgo.evaluate(position, 10, statistics=7)": "statistics",
    "jaxgo.playouts(position, 10, moves='yes')": "moves",
    "jaxgo.simulate(position, 10, devices=1)": "devices",
    "leads(jaxgo.playouts(position, 10))": "Playouts",
    "jaxgo.Leaves(9, 64)": "playouts",
    "evaluation.winrate": "winrate",
    "position.size + 'x'": "operand",
    "position.komi": "komi",
    "search.serch": "serch",
    "search.Search(9)": "Position",
    "search.Search(position).run(visits='1')": "visits",
    "search.Limits(second=1)": "second",
    "player.genmove(position, None)": "limits",
}
"""Statements, and what the error of each names."""


PROGRAM = [*RIGHT_USE.splitlines(), *(f"jaxgo.{name}" for name in dir(jaxgo)), *(f"search.{name}" for name in search.__all__), *WRONG_USE]


@pytest.fixture(scope="module")
def errors(tmp_path_factory) -> list[tuple[str, int, str]]:
    """(path, line, message) of what mypy finds wrong in the packages and in `program.py`, with the project's settings."""
    program = tmp_path_factory.mktemp("types") / "program.py"
    program.write_text("\n".join(PROGRAM), "utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", ".pytest_cache/mypy", "--hide-error-context", "--no-error-summary"]
    done = subprocess.run([*command, "jaxgo", "search", "bench", str(program)], cwd=ROOT, capture_output=True, text=True, timeout=500)
    found = re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.M)
    assert done.returncode == bool(found), done.stdout + done.stderr
    return [(path, int(line), message) for path, line, message in found]


def test_the_packages_pass(errors):
    found = [f"{path}:{line}: {message}" for path, line, message in errors if not path.endswith("program.py")]
    assert not found, "\n".join(found)
    for package in ("jaxgo", "search"):
        assert (ROOT / package / "py.typed").exists(), "type checkers look at the types of packages that have it"


def test_programs_that_use_it_wrongly_fail(errors):
    """Each wrong statement is an error that names what is wrong with it; all else, with every name of the package, is none."""
    right = len(PROGRAM) - len(WRONG_USE)
    found = [(line - right - 1, message) for path, line, message in errors if path.endswith("program.py")]
    assert [line for line, _ in found] == list(range(len(WRONG_USE))), found
    for (statement, name), (_, message) in zip(WRONG_USE.items(), found):
        assert name in message, f"{statement}: {message}"
