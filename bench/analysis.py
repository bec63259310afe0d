"""How much of the machine's speed is left when it answers many queries at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench import hardware, report
from bench.measure import spread
from bench.series import Contender, Plan, Say, run_in_turn, within
from bench.worker import Worker, environment

SUMMARY = "playouts per second of `jaxgo analysis` with 64 queries outstanding, beside the same work in one piece"
DESCRIPTION = """\
A client of the analysis engine with 64 queries outstanding, lines of JSON included: queries of 1,000 playouts without
a tree, beside `jaxgo.evaluate` of 64 positions at once; and searches of 2,000 and 20,000 visits, beside one
search that grows to 200,000 nodes. In turn, on the whole machine.
"""
SIZES = (9, 19)
OUTSTANDING, PLAYOUTS, VISITS = 64, 1_000, (2_000, 20_000)
ONE_BATCH, ONE_TREE = "one batch", "one tree"


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, Any]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and contender with `size`, `name`, the spread `per_second`, and for queries
      `of`, what they are compared with, and `share`, the ratio of the medians.
    """
    parameters = {"sizes": list(sizes), "outstanding": OUTSTANDING, "playouts": PLAYOUTS, "visits": list(VISITS), **vars(plan)}
    made, results = report.begin("analysis", hardware.describe(), parameters), []
    with Worker(environment=environment()) as worker:
        for size in sizes:
            runs = run_in_turn(_contenders(size, worker), plan, within(say, f"{size}x{size}"))
            rates = {name.partition(" ")[2]: spread(sample.per_second for sample in run.samples) for name, run in runs.items()}
            for name, figures in rates.items():
                entry = {"size": size, "name": name, "per_second": figures}
                if name not in (ONE_BATCH, ONE_TREE):
                    base = ONE_BATCH if "playouts" in name else ONE_TREE
                    entry |= {"of": base, "share": figures["median"] / rates[base]["median"]}
                results.append(entry)
        made["software"] = worker.call("bench.hardware:software")
    return {**made, "results": results}


def _contenders(size: int, worker: Worker) -> list[Contender]:
    first = OUTSTANDING * PLAYOUTS
    batch = {"size": size, "positions": OUTSTANDING, "number": PLAYOUTS}
    out = [Contender(f"{size} {ONE_BATCH}", worker, "bench.analysis_work:OneBatch", batch, first)]
    queries = {"size": size, "outstanding": OUTSTANDING}
    asked = {**queries, "field": "playouts", "number": PLAYOUTS}
    out.append(Contender(f"{size} queries of {PLAYOUTS:,} playouts", worker, "bench.analysis_work:Queries", asked, first))
    tree = {"label": f"{size} tree", "size": size, "rule": "rave", "leaves": 256, "playouts": 8}
    out.append(Contender(f"{size} {ONE_TREE}", worker, "bench.search_work:InSearch", tree, 2048))
    for visits in VISITS:
        asked = {**queries, "field": "maxVisits", "number": visits}
        out.append(Contender(f"{size} searches of {visits:,} visits", worker, "bench.analysis_work:Queries", asked, first))
    return out


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rows = [
        (f"{entry['size']}x{entry['size']} {entry['name']}", report.rate(entry["per_second"]),
         f"{entry['share']:.2f} of {entry['of']}" if "share" in entry else "-")
        for entry in made["results"]
    ]  # fmt: skip
    return [report.Table(f"{OUTSTANDING} queries outstanding, whole machine", ("board", "playouts/s", "share"), rows)]
