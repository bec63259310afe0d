"""Whether cost grows in proportion to the playouts, and whether memory stays flat."""

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from bench import hardware, report
from bench.measure import spread
from bench.series import Contender, Plan, Say, run_in_turn, within
from bench.worker import Worker, environment, one_core

SUMMARY = "cost per playout and peak memory as the number of playouts grows"
DESCRIPTION = """\
`jaxgo.evaluate` from the empty board with n, 2n, 4n and 16n playouts on one core, where n playouts take about a
quarter of the time given with --seconds: microseconds of CPU time per playout, which should stay the same, and
the most memory that the process held while it played, which should not grow either. Each number of playouts gets
a process of its own.
"""
SIZES = (9,)
FACTORS = (1, 2, 4, 16)
FIRST = 1000


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, Any]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure; `count`, where given, is n.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and number of playouts with `size`, `playouts`, the spread `microseconds` of CPU
      time per playout, and `peak_bytes` (None where the system does not say); `growth` has an entry per size with `size`,
      `cost_ratio` (median cost of the most playouts over that of the fewest) and `bytes_per_playout` (memory that is added).
    """
    made = report.begin("scaling", hardware.describe(), {"sizes": list(sizes), "factors": list(FACTORS), **vars(plan)})
    results, growth = [], []
    with tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as cache:
        variables = environment(cache=cache, platform="cpu")
        for size in sizes:
            fewest = _fewest(size, variables, plan, say)
            points = [
                _point(size, fewest * factor, variables, plan, within(say, f"{size}x{size}, {fewest * factor} playouts"))
                for factor in FACTORS
            ]
            results += points
            growth.append({"size": size, **_growth(points[0], points[-1])})
        with Worker(cores=one_core(), environment=variables) as worker:
            made["software"] = worker.call("bench.hardware:software")
    return {**made, "pinned": Worker.pinned, "results": results, "growth": growth}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    points = report.Table(
        "`evaluate` by the number of playouts, one core",
        ("board, playouts", "CPU us per playout", "peak memory"),
        [
            (
                f"{entry['size']}x{entry['size']}, {entry['playouts']:,}",
                report.ratio(entry["microseconds"]),
                "-" if entry["peak_bytes"] is None else f"{entry['peak_bytes'] / 2**20:.0f} MiB",
            )
            for entry in made["results"]
        ],
    )
    growth = report.Table(
        "from the fewest to the most playouts",
        ("board", "cost per playout, ratio", "memory per added playout"),
        [
            (
                f"{entry['size']}x{entry['size']}",
                f"{entry['cost_ratio']:.3f}",
                "-" if entry["bytes_per_playout"] is None else f"{entry['bytes_per_playout']:.2f} bytes",
            )
            for entry in made["growth"]
        ],
    )
    return [points, growth]


def _contender(size: int, worker: Worker) -> Contender:
    return Contender("evaluate", worker, "bench.jaxgo_work:Evaluate", {"size": size}, FIRST)


def _fewest(size: int, variables: Mapping[str, str | None], plan: Plan, say: Say) -> int:
    """The smallest number of playouts."""
    if plan.count is not None:
        return plan.count
    short = dataclasses.replace(plan, runs=1, seconds=plan.seconds / 4)
    with Worker(cores=one_core(), environment=variables) as worker:
        return run_in_turn([_contender(size, worker)], short, within(say, f"{size}x{size}, sizing"))["evaluate"].count


def _point(size: int, count: int, variables: Mapping[str, str | None], plan: Plan, say: Say) -> dict[str, Any]:
    """One number of playouts."""
    fixed = dataclasses.replace(plan, count=count)
    # Compiling takes more memory than playing and keeps much of it: it would hide the rest. One process compiles, the next loads.
    with Worker(cores=one_core(), environment=variables) as worker:
        run_in_turn([_contender(size, worker)], dataclasses.replace(fixed, runs=1), say)
    with Worker(cores=one_core(), environment=variables) as worker:
        runs = run_in_turn([_contender(size, worker)], fixed, say)["evaluate"]
        worker.call("bench.hardware:reset_peak_memory")
        worker.measure("evaluate", count)
        peak = worker.call("bench.hardware:peak_memory_bytes")
    return {
        "size": size,
        "playouts": count,
        "microseconds": spread(1e6 / sample.per_cpu_second for sample in runs.samples),
        "peak_bytes": peak,
    }


def _growth(fewest: Mapping[str, Any], most: Mapping[str, Any]) -> dict[str, Any]:
    bytes_per_playout = None
    if fewest["peak_bytes"] is not None and most["playouts"] > fewest["playouts"]:
        bytes_per_playout = (most["peak_bytes"] - fewest["peak_bytes"]) / (most["playouts"] - fewest["playouts"])
    return {
        "cost_ratio": most["microseconds"]["median"] / fewest["microseconds"]["median"],
        "bytes_per_playout": bytes_per_playout,
    }
