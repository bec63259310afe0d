"""No clock runs while anything is compiled."""

import subprocess
import sys

import pytest

CODE = """
import jax
from jaxgo.backends import kept
from search.gtp.engine import Engine
from search.gtp.options import EngineOptions

compiled, out = [], []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **more: compiled.append(name) if name == "/jax/core/compile/backend_compile_duration" else None
)
found = kept.Place._load
kept.Place._load = lambda *where: (program := found(*where)) and (compiled.append(where) or program)
options = EngineOptions(bot={bot!r}, visits=300, leaves=8, playouts_per_leaf=4)
asked = []
engine = Engine(options, out.append, interrupted=lambda: asked.append(0) or len(asked) > 50)
for line in {lines!r}.split("\\n"):
    before = len(compiled)
    del asked[:]
    engine.obey(line)
    assert out[-1].endswith("\\n"), line
    print(len(compiled) - before, line)
assert not any(text.startswith("?") for text in out), out
"""
#: As CGOS's client sends it, and what else may come while a clock runs.
LINES = """list_commands
boardsize 5
komi 7
time_settings 300 0 0
clear_board
time_left b 300 0
cgos-genmove_analyze b
play w A1
time_left b 299 0
genmove b
genmove b
genmove w
undo
play w A2
kgs-genmove_cleanup b
kata-genmove_analyze w 1 ownership true rootInfo true
lz-genmove_analyze b 1 avoid b C3 1
play w pass
genmove b
play w pass
genmove b
kata-analyze b 1 ownership true
lz-analyze w 1
komi -3.5
genmove b
reg_genmove w
clear_board
genmove b
quit"""


@pytest.mark.wide
@pytest.mark.parametrize("bot", ["rave", pytest.param("amaf", marks=pytest.mark.slow)])
def test_what_a_game_needs_is_compiled_when_the_size_is_known(bot):
    # What is found in the cache on disk counts like what is compiled.
    code = CODE.format(bot=bot, lines=LINES)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    counts = {}
    for report in done.stdout.splitlines():
        number, _, line = report.partition(" ")
        counts[line] = counts.get(line, 0) + int(number)
    assert counts.pop("boardsize 5") > 0
    late = {line: number for line, number in counts.items() if number}
    assert not late
