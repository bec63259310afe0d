"""How often XLA compiles: nearby batches share one program, and nothing is compiled twice."""

import json
import subprocess
import sys

import pytest

#: One interpreter does all of it for all of them.
pytestmark = pytest.mark.wide

#: Counts by name; what is found in the cache on disk counts like what is compiled.
CODE = """
import json
import jax, numpy as np, jaxgo, search
from jaxgo.backends import kept
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **more: compiled.append(name) if name == "/jax/core/compile/backend_compile_duration" else None
)
found = kept.Place._load
kept.Place._load = lambda *where: (program := found(*where)) and (compiled.append(where) or program)

def new(action):
    before = len(compiled)
    action()
    return len(compiled) - before

def run(komi, visits):
    tree = search.Search(jaxgo.Position.empty(5), komi=komi, leaves=16, playouts_per_leaf=4)
    tree.run(visits=visits)
    tree.close()

def parts(batch):
    positions = jaxgo.Position.empty(5, batch)
    parts = positions[np.arange(batch // 2)], positions[batch // 2:], positions[3]
    return jaxgo.Position.concatenate(parts)

position = jaxgo.Position.empty(5)
print(json.dumps({
    "batches": [
        new(lambda: jaxgo.evaluate(jaxgo.Position.empty(5, batch), playouts))
        for batch, playouts in ((2, 100), (3, 120), (5, 80), (6, 256))
    ],
    "numbers": [new(lambda: jaxgo.evaluate(position, playouts, lanes=16)) for playouts in (150, 220, 640, 4800)],
    "searches": [new(lambda: run(komi, visits)) for komi, visits in ((7.5, 100), (7.5, 500), (-3.0, 50))],
    "caps": [new(lambda: jaxgo.evaluate(position, 100, max_plies=cap)) for cap in (None, 10, 33, 75)],
    "useful moves": [new(lambda: jaxgo.Position.empty(5, batch).useful()) for batch in (20, 17, 33)],
    "parts of batches": [new(lambda: parts(batch)) for batch in (20, 17, 33)],
    "caps with moves": [new(lambda: jaxgo.playouts(position, 100, moves=True, max_plies=cap)) for cap in (60, 33, 64)],
}))
"""


@pytest.fixture(scope="module")
def counts() -> dict[str, list[int]]:
    """What is compiled for one thing after the other, in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nearby_batches_share_a_program(counts):
    """Batches of 2 to 6 positions with 80 to 256 playouts each: the first compiles, the others compile nothing."""
    first, *others = counts["batches"]
    assert 1 <= first <= 5
    assert others == [0, 0, 0]


def test_numbers_of_playouts_share_two_programs(counts):
    """From 1 position: few playouts and many take a program each, whatever their number."""
    first, *others, last = counts["numbers"]
    assert 1 <= first + last <= 6
    assert others == [0, 0]


def test_a_search_compiles_once(counts):
    """Rounds of any size, another search and another komi run the same program."""
    first, *others = counts["searches"]
    assert 1 <= first <= 6
    assert others == [0, 0]


def test_positions_compile_nothing_for_a_new_batch(counts):
    """Neither for what is asked of them nor, on a CPU, for some of them or several batches together."""
    first, *others = counts["useful moves"]
    assert 1 <= first <= 3 and others == [0, 0]
    assert counts["parts of batches"] == [0, 0, 0]


def test_caps_share_programs(counts):
    """A cap is a number that a program is told; with moves there are a few programs, by powers of two."""
    first, *others = counts["caps"]
    assert 1 <= first <= 5 and others == [0, 0, 0]
    first, *others = counts["caps with moves"]
    assert 1 <= first <= 3 and others == [0, 0]
