"""How often XLA compiles: nearby batches share one program, and nothing is compiled twice."""

import subprocess
import sys

COUNT = """
import jax, numpy as np, jaxgo
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **more: compiled.append(name) if name == "/jax/core/compile/backend_compile_duration" else None
)

def new(action):
    before = len(compiled)
    action()
    return len(compiled) - before
"""


def compilations(code: str) -> list[int]:
    """What some code prints, in a fresh interpreter. What it finds in the cache on disk counts like what it compiles."""
    done = subprocess.run([sys.executable, "-c", COUNT + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def test_nearby_batches_share_a_program():
    """Batches of 2 to 6 positions with 80 to 256 playouts each: the first compiles, the others compile nothing."""
    counts = compilations("""
for batch, playouts in ((2, 100), (3, 120), (5, 80), (6, 256)):
    print(new(lambda: jaxgo.evaluate(jaxgo.Position.empty(5, batch), playouts)))
""")
    assert 1 <= counts[0] <= 5
    assert counts[1:] == [0, 0, 0]


def test_numbers_of_playouts_share_two_programs():
    """From 1 position: few playouts and many take a program each, whatever their number."""
    counts = compilations("""
position = jaxgo.Position.empty(5)
for playouts in (10_000, 14_000, 40_000, 300_000):
    print(new(lambda: jaxgo.evaluate(position, playouts)))
""")
    assert sum(counts) <= 6
    assert counts[1] == counts[2] == 0


def test_a_search_compiles_once():
    """Rounds of any size, another search and another komi run the same program."""
    counts = compilations("""
import search
def run(komi, visits):
    tree = search.Search(jaxgo.Position.empty(5), komi=komi, leaves=16, playouts_per_leaf=4)
    tree.run(visits=visits)
    tree.close()
print(new(lambda: run(7.5, 500)), new(lambda: run(7.5, 3000)), new(lambda: run(-3.0, 100)))
""")
    assert counts[0] <= 6
    assert counts[1:] == [0, 0]


def test_caps_share_programs():
    """A cap is a number that a program is told; with moves there are a few programs, by powers of two."""
    counts = compilations("""
position = jaxgo.Position.empty(5)
for cap in (None, 10, 33, 75):
    print(new(lambda: jaxgo.evaluate(position, 100, max_plies=cap)))
for cap in (60, 33, 64):
    print(new(lambda: jaxgo.playouts(position, 100, moves=True, max_plies=cap)))
""")
    assert counts[0] <= 5 and counts[1:4] == [0, 0, 0]
    assert counts[4] <= 3 and counts[5:] == [0, 0]
