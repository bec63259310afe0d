"""The rules as an environment: `legal` + `play` steps per second beside pgx's `step`, same batches, one core each, in turn."""

import importlib.util
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from bench import hardware, report
from bench.measure import paired_ratio, spread
from bench.series import Contender, Plan, Runs, Say, run_in_turn, within
from bench.worker import Worker, environment, one_core

SUMMARY = "`legal` + `play` steps per second, beside pgx's `step` on the same batches"
DESCRIPTION = """\
Steps per CPU second on one core, all inside one jit: a batch of games, in each a move drawn uniformly from the
legal ones and the pass, played; a game that is over begins anew. For jaxgo a step is `Position.legal` and
`Position.play`; for pgx it is `step`, from which the compiler leaves out the observation and the rewards, because
nothing asks for them here.
Without pgx (pip install 'jaxgo[bench]') only jaxgo is measured.
"""
SIZES = (9, 19)
BATCHES = (16, 256, 1024)

#: The largest board that pgx has.
PGX_LARGEST = 19


def measure(sizes: Sequence[int], plan: Plan, say: Say, batches: Sequence[int] = BATCHES) -> dict[str, Any]:
    """Measures all sizes and batches.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      batches: numbers of games stepped together.

    Returns:
      The report. `results` has an entry per size and batch with `size`, `batch`, `core_share` (see `Runs`), and the spreads
      `jaxgo` and `pgx` in steps per CPU second and `jaxgo_is_faster`, their ratio run by run; the last two are None without pgx.
    """
    made = report.begin("environment", hardware.describe(), {"sizes": list(sizes), "batches": list(batches), **vars(plan)})
    results = []
    for size in sizes:
        for batch in batches:
            with ExitStack() as stack:
                contenders = _contenders(size, batch, stack)
                runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}, batch {batch}"))
                made["software"] = contenders[0].worker.call("bench.hardware:software")
            results.append(_result(size, batch, runs))
    return {**made, "pinned": Worker.pinned, "results": results}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rows = [
        (
            f"{entry['size']}x{entry['size']}, {entry['batch']}",
            report.rate(entry["jaxgo"]),
            report.rate(entry["pgx"]),
            report.ratio(entry["jaxgo_is_faster"]) if entry["jaxgo_is_faster"] else "-",
        )
        for entry in made["results"]
    ]
    shown: list[report.Table | str] = [
        report.Table("steps per CPU second, one core", ("board, batch", "jaxgo", "pgx", "jaxgo is x times"), rows)
    ]
    if not importlib.util.find_spec("pgx"):
        shown.append("pgx is not installed: pip install 'jaxgo[bench]'")
    return [*shown, *report.shared_core(made["results"])]


def _contenders(size: int, batch: int, stack: ExitStack) -> list[Contender]:
    arguments = {"size": size, "batch": batch}

    def contender(name: str, target: str) -> Contender:
        worker = stack.enter_context(Worker(cores=one_core(), environment=environment(platform="cpu")))
        return Contender(name, worker, target, arguments, first=batch)

    found = [contender("jaxgo", "bench.jaxgo_work:Steps")]
    if importlib.util.find_spec("pgx") and size <= PGX_LARGEST:
        found.append(contender("pgx", "bench.pgx_work:Steps"))
    return found


def _result(size: int, batch: int, runs: Mapping[str, Runs]) -> dict[str, Any]:
    rates = {name: [sample.per_cpu_second for sample in done.samples] for name, done in runs.items()}
    return {
        "size": size,
        "batch": batch,
        "core_share": min(done.core_share for done in runs.values()),
        "jaxgo": spread(rates["jaxgo"]),
        "pgx": spread(rates["pgx"]) if "pgx" in rates else None,
        "jaxgo_is_faster": paired_ratio(rates["jaxgo"], rates["pgx"]) if "pgx" in rates else None,
    }
