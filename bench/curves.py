"""How rates change with the board, with the size of a call, with lanes, devices, and the rounds of a search."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench import hardware, report
from bench.measure import spread
from bench.series import Contender, Plan, Say, run_in_turn
from bench.worker import Worker, environment, one_core

SUMMARY = "playouts per second by board, size of a call, lanes, devices and rounds of a search, as a plot"
DESCRIPTION = """\
How many playouts a second there are
  board     on boards of all the sizes given, one core;
  call      in calls of `evaluate` with so many playouts of one position, or of 64, one core;
  lanes     with so many games side by side, one core;
  devices   by so many workers, as far as there are cores, and on so many simulated devices;
  search    inside a RAVE search, by the leaves of a round and the playouts of a leaf, the whole machine.
All but the first are of 9x9, if it is among the sizes, or else of the first size. One core: playouts per CPU second;
otherwise per second on the clock, which holds only while nothing else runs. --plot draws them, with error bars from
the least to the greatest of the runs.
"""
SIZES = tuple(range(2, 26))
USUAL = 9
#: Playouts of a call, positions of a call; lanes; devices; leaves of a round, playouts of a leaf.
CALLS, POSITIONS = (1, 10, 100, 1_000, 10_000, 100_000), (1, 64)
LANES = (16, 48, 144, 432, 1072, 2144)
DEVICES = (1, 2, 4, 8)
LEAVES, PLAYOUTS = (8, 16, 32, 64, 128, 256), (2, 8, 32)
#: Playouts of a first call.
FIRST = 1000


class Point(NamedTuple):
    """What is measured at one place of a curve."""

    x: int
    label: str
    """Of the line through it."""
    size: int
    target: str
    arguments: Mapping[str, Any]
    simulated: int | None = None
    """How many devices XLA is to make of the CPU, if it is to."""


class Curve(NamedTuple):
    """One of the questions."""

    name: str
    axis: str
    """What the points' places say."""
    one_core: bool
    points: Callable[[Sequence[int]], Iterator[Point]]
    """For board sizes."""


def _usual(sizes: Sequence[int]) -> int:
    return USUAL if USUAL in sizes else sizes[0]


def _boards(sizes: Sequence[int]) -> Iterator[Point]:
    for size in sizes:
        yield Point(size, "evaluate", size, "bench.jaxgo_work:Evaluate", {"size": size})


def _calls(sizes: Sequence[int]) -> Iterator[Point]:
    size = _usual(sizes)
    for positions in POSITIONS:
        for playouts in CALLS:
            if positions * playouts <= max(CALLS):
                label = "one position" if positions == 1 else f"{positions} positions"
                made_of = {"size": size, "positions": positions, "playouts": playouts}
                yield Point(playouts, label, size, "bench.jaxgo_work:Calls", made_of)


def _lanes(sizes: Sequence[int]) -> Iterator[Point]:
    size = _usual(sizes)
    for lanes in LANES:
        yield Point(lanes, "evaluate", size, "bench.jaxgo_work:Evaluate", {"size": size, "lanes": lanes})


def _devices(sizes: Sequence[int]) -> Iterator[Point]:
    size, cores = _usual(sizes), len(hardware.usable_cores())
    target = "bench.jaxgo_work:Evaluate"
    for number in DEVICES:
        if number <= cores:
            yield Point(number, "workers, each on a core", size, target, {"size": size, "devices": number})
    for number in DEVICES[1:]:  # one device is as many workers as there are cores
        yield Point(number, f"simulated devices, on {cores} cores", size, target, {"size": size}, number)


def _searches(sizes: Sequence[int]) -> Iterator[Point]:
    size = _usual(sizes)
    for playouts in PLAYOUTS:
        for leaves in LEAVES:
            made_of = {"label": f"{leaves} x {playouts}", "size": size, "rule": "rave", "leaves": leaves, "playouts": playouts}
            yield Point(leaves, f"{playouts} playouts of a leaf", size, "bench.search_work:InSearch", made_of)


CURVES = (
    Curve("board", "board size N", True, _boards),
    Curve("call", "playouts of each position in a call", True, _calls),
    Curve("lanes", "games side by side", True, _lanes),
    Curve("devices", "workers, or devices", False, _devices),
    Curve("search", "leaves of a round, at most", False, _searches),
)


def measure(sizes: Sequence[int], plan: Plan, say: Say, plot: str | None = None) -> dict[str, Any]:
    """Measures all curves.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      plot: a .png, .svg or .pdf to draw into.

    Returns:
      The report. `results` has an entry per point with `curve`, `line`, `x`, `size` and the spread `per_second`, of CPU time for
      curves with `one_core`; `curves` has `name`, `axis` and `one_core` of each; `failed` why points are missing, by their names;
      `complete` whether it came to its end: Ctrl-C leaves the lines that are finished.
    """
    made = report.begin("curves", hardware.describe(), {"sizes": list(sizes), **vars(plan)})
    curves = [{"name": curve.name, "axis": curve.axis, "one_core": curve.one_core} for curve in CURVES]
    results: list[dict[str, Any]] = []
    made |= {"pinned": Worker.pinned, "curves": curves, "results": results, "failed": {}, "complete": False}
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as cache:
        for curve in CURVES:
            for (_, simulated), points in _by_worker(curve.points(sizes)).items():
                variables = environment(cache=cache, platform="cpu" if curve.one_core or simulated else None)
                if simulated is not None:
                    flags = os.environ.get("XLA_FLAGS", ""), f"--xla_force_host_platform_device_count={simulated}"
                    variables["XLA_FLAGS"] = " ".join(flags).strip()
                with Worker(cores=one_core() if curve.one_core else None, environment=variables) as worker:
                    made["software"] = worker.call("bench.hardware:software")
                    results += _measured(curve, points, worker, plan, say, made["failed"])
        made["complete"] = True
    if plot is not None and results:
        from bench.curves_plot import draw

        draw(made, plot)
    return made


def _by_worker(points: Iterator[Point]) -> dict[tuple[str, int | None], list[Point]]:
    """The points that are measured in turn in a worker: those of a line, whose devices are the same."""
    found: dict[tuple[str, int | None], list[Point]] = {}
    for point in points:
        found.setdefault((point.label, point.simulated), []).append(point)
    return found


def _first(arguments: Mapping[str, Any]) -> int:
    """Playouts of the first call: a few calls, where their size is given."""
    one = arguments.get("positions", FIRST) * arguments.get("playouts", 1)
    return max(one, min(FIRST, 20 * one))


def _measured(
    curve: Curve, points: Sequence[Point], worker: Worker, plan: Plan, say: Say, failed: dict[str, str]
) -> list[dict[str, Any]]:  # fmt: skip
    """The entries of points; `failed` takes why some are missing."""
    by_name = {f"{curve.name}: {point.label}, {point.x}": point for point in points}
    contenders = [
        Contender(name, worker, point.target, dict(point.arguments), _first(point.arguments)) for name, point in by_name.items()
    ]
    out = []
    for name, run in run_in_turn(contenders, plan, say, failed).items():
        point = by_name[name]
        rates = [sample.per_cpu_second if curve.one_core else sample.per_second for sample in run.samples]
        entry = {"curve": curve.name, "line": point.label, "x": point.x, "size": point.size, "per_second": spread(rates)}
        out.append(entry | ({"core_share": run.core_share} if curve.one_core else {}))
    return out


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    out: list[report.Table | str] = [] if made["complete"] else ["PARTIAL, interrupted: the lines that were finished"]
    for curve in made["curves"]:
        entries = [entry for entry in made["results"] if entry["curve"] == curve["name"]]
        if not entries:
            continue
        board = "" if curve["name"] == "board" else f", {entries[0]['size']}x{entries[0]['size']}"
        per = "per CPU second of one core" if curve["one_core"] else "per second on the whole machine"
        rows = [(entry["line"], f"{entry['x']:,}", report.rate(entry["per_second"])) for entry in entries]
        out.append(report.Table(f"playouts {per} by {curve['axis']}{board}", ("", curve["name"], "playouts/s"), rows))
    return [*out, *(f"{name}: {why}" for name, why in made["failed"].items()), *report.shared_core(made["results"])]
