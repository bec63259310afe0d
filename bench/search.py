"""How many playouts per second are left inside a tree search, and where its time goes."""

from collections.abc import Mapping, Sequence

from bench import hardware, report
from bench.measure import spread
from bench.series import Contender, Plan, Say, run_in_turn, within
from bench.worker import Worker, environment

SUMMARY = "playouts per second inside a tree search, beside those of `jaxgo.evaluate`"
DESCRIPTION = """\
A tree search from the empty board, by RAVE, by UCB1 and by RAVE with weighted credits, in rounds of 256 leaves
x 8 playouts or of 64 x 8, beside `jaxgo.evaluate` of the empty board, in turn, on the whole machine. Shares are
of the time on the clock: the host chooses leaves and backs results up while the devices play; a device is idle
when it does not.
"host alone": playouts a second that one thread of the host could take from a device that answers at once, 8 of
each leaf; with more playouts of a leaf it could take in proportion more.
"""
SIZES = (9, 13, 19)
LEAVES, PLAYOUTS = 256, 8
FEW_LEAVES = 64
EVALUATE = "evaluate"
#: RAVE with a stand-in for the device, which answers at once.
HOST = "rave, host alone"
#: Searches: the rule (see `bench.search_work.RULES`), the leaves of a round, and whether the device answers at once.
SEARCHES = {
    "rave": ("rave", LEAVES, False), f"rave, {FEW_LEAVES} x {PLAYOUTS}": ("rave", FEW_LEAVES, False),
    "uct": ("uct", LEAVES, False), "v1": ("rave-v1", LEAVES, False), "v2": ("rave-v2", LEAVES, False),
    "mctr": ("rave-mctr", LEAVES, False), HOST: ("rave", LEAVES, True),
}  # fmt: skip


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, object]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and contender with `size`, `name`, the spread `per_second`, and for searches
      `of_evaluate`, the ratio of the medians, and `shares` (see `bench.search_work.shares`); `memory` has `size`,
      `bytes_visited_once` and `bytes_visited_again`, of a node.
    """
    settings = {"sizes": list(sizes), "leaves": LEAVES, "playouts": PLAYOUTS, **vars(plan)}
    made = report.begin("search", hardware.describe(), settings)
    results, memory = [], []
    with Worker(environment=environment()) as worker:
        for size in sizes:
            first = LEAVES * PLAYOUTS
            contenders = [Contender(f"{size} {EVALUATE}", worker, "bench.search_work:Bulk", {"size": size}, first)]
            for name, (rule, leaves, at_once) in SEARCHES.items():
                name, made_of = f"{size} {name}", {"rule": rule, "leaves": leaves, "playouts": PLAYOUTS, "at_once": at_once}
                arguments = {"label": name, "size": size, **made_of}
                contenders.append(Contender(name, worker, "bench.search_work:InSearch", arguments, first))
            runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}"))
            rates = {name: spread(sample.per_second for sample in run.samples) for name, run in runs.items()}
            base = rates[f"{size} {EVALUATE}"]["median"]
            for name, figures in rates.items():
                entry = {"size": size, "name": name.partition(" ")[2], "per_second": figures}
                if EVALUATE not in name:
                    shares = worker.call("bench.search_work:shares", label=name)
                    entry |= {"of_evaluate": figures["median"] / base, "shares": shares}
                results.append(entry)
            once, again = worker.call("bench.search_work:bytes_per_node", size=size)
            memory.append({"size": size, "bytes_visited_once": once, "bytes_visited_again": again})
        made["software"] = worker.call("bench.hardware:software")
    return {**made, "results": results, "memory": memory}


def tables(made: Mapping[str, object]) -> list[report.Table | str]:
    """The report for people."""
    rows = []
    for entry in made["results"]:
        shares = entry.get("shares")
        cells = [f"{shares[k]:.0%}" for k in ("select", "back up", "wait", "device")] if shares else ["-"] * 4
        ratio = f"{entry['of_evaluate']:.2f}" if shares else "-"
        rows.append((f"{entry['size']}x{entry['size']} {entry['name']}", report.rate(entry["per_second"]), ratio, *cells))
    columns = ("board", "playouts/s", "ratio", "choose", "back up", "wait", "device")
    memory = ", ".join(
        f"{m['bytes_visited_once']:,} bytes visited once and {m['bytes_visited_again']:,} again at {m['size']}x{m['size']}"
        for m in made["memory"]
    )
    title = f"a search of {LEAVES} leaves x {PLAYOUTS} playouts, whole machine; ratio to evaluate"
    return [report.Table(title, columns, rows), f"a node of a RAVE tree: {memory}"]
