"""How long a person waits for a command's first result: with nothing compiled yet, and with a warm compile cache."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import hardware, report
from bench.measure import spread
from bench.series import Plan, Say

SUMMARY = "seconds from the start of `jaxgo evaluate` and `genmove` to the result, cold and with a warm compile cache"
DESCRIPTION = """\
Runs `jaxgo evaluate` and `jaxgo genmove` on a game record, each in a fresh process, and takes the time on the clock
until it has printed its result and ended: "cold" with an empty compile cache, "warm" with what the cold run has left
there. It counts importing, reading, compiling, playing and printing. Without a record given, it is a short game on
the board of each size.
"""
SIZES = (9,)
#: What is started, each with the option that says how many playouts, and how many unless something else is asked for.
COMMANDS = {"evaluate": ("--playouts", None), "genmove": ("--visits", 2000)}

#: Moves of the record that stands in where none is given, as (column, row) from the top left.
OPENING = ((4, 4), (2, 2), (6, 6), (6, 2), (2, 6), (4, 2), (4, 6), (2, 4))
#: `jaxgo`, however this program was started.
JAXGO = (sys.executable, "-P", "-c", "import sys; from jaxgo.cli import main; sys.exit(main())")


class StartupError(Exception):
    """A command failed; the text is what it wrote to stderr."""


def measure(sizes: Sequence[int], plan: Plan, say: Say, record: str | None = None) -> dict[str, Any]:
    """Measures the start-up times.

    Args:
      sizes: of the boards, where no record is given.
      plan: how many runs; `count` is the number of playouts, None leaves it to `COMMANDS`.
      say: told what goes on.
      record: path of a game record, or None.

    Returns:
      The report. `results` has an entry per record and command with `record` (a name), `command` (the line after `jaxgo`), and
      the spreads `cold` and `warm` in seconds.

    Raises:
      StartupError: if a command fails.
    """
    settings = {"sizes": list(sizes) if record is None else None, "record": record, "runs": plan.runs, "playouts": plan.count}
    made = report.begin("startup", hardware.describe(), settings) | {"software": hardware.versions()}
    results = []
    with tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as folder:
        for name, path in [(record, record)] if record else [_written(size, folder) for size in sizes]:
            for command, (option, usual) in COMMANDS.items():
                playouts = plan.count or usual
                line = [command, path, *([option, str(playouts)] if playouts else [])]
                times: dict[str, list[float]] = {"cold": [], "warm": []}
                for index in range(plan.runs):
                    with tempfile.TemporaryDirectory(prefix="cache-", dir=folder) as cache:
                        for state, seconds in times.items():
                            say(f"{command} {name}: {state}, run {index + 1} of {plan.runs}")
                            seconds.append(_seconds(line, cache))
                spreads = {state: spread(seconds) for state, seconds in times.items()}
                results.append({"record": name, "command": shlex.join([command, name, *line[2:]]), **spreads})
    return {**made, "results": results}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rows = [(f"jaxgo {x['command']}", report.seconds(x["cold"]), report.seconds(x["warm"])) for x in made["results"]]
    return [report.Table("from the start of a command to its result", ("", "cold", "warm"), rows)]


def _seconds(line: Sequence[str], cache: str) -> float:
    """Wall time of one run of `jaxgo` with these arguments."""
    # Warm must mean the same with a user's own cache settings: the run's cache is this folder, and everything goes into it.
    variables = {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_ENABLE_COMPILATION_CACHE": "true"}
    start = time.perf_counter()
    done = subprocess.run(
        [*JAXGO, *line], env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise StartupError(f"`jaxgo {shlex.join(line)}` ended with exit status {done.returncode}: {done.stderr.strip()}")
    return seconds


def _written(size: int, folder: str) -> tuple[str, str]:
    """A short record on this size of board: its name, and the path of its file."""
    points = [(x, y) for x, y in OPENING if max(x, y) < size]
    moves = "".join(f";{'BW'[index % 2]}[{chr(97 + x)}{chr(97 + y)}]" for index, (x, y) in enumerate(points))
    path = Path(folder, f"{size}x{size}.sgf")
    path.write_text(f"(;GM[1]FF[4]SZ[{size}]KM[7.5]{moves})\n", encoding="ascii")
    return f"{size}x{size} opening", str(path)
