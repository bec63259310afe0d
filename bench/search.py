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
"host alone": playouts a second that the host could take from a device that answers at once, one that is fast
enough; by one search, and by one for each core side by side, with 8, 64 and 512 playouts of a leaf.
"""
SIZES = (9, 13, 19)
LEAVES, PLAYOUTS = 256, 8
FEW_LEAVES = 64
EVALUATE = "evaluate"
#: RAVE with a stand-in for the device, which answers at once: by one search, and by one for each core.
HOST, HOST_ON_ALL = "rave, host alone", "rave, host alone, all cores"
#: Searches: the rule (see `bench.search_work.RULES`) and the leaves of a round.
SEARCHES = {
    "rave": ("rave", LEAVES), f"rave, {FEW_LEAVES} x {PLAYOUTS}": ("rave", FEW_LEAVES), "uct": ("uct", LEAVES),
    "v1": ("rave-v1", LEAVES), "v2": ("rave-v2", LEAVES), "mctr": ("rave-mctr", LEAVES),
}  # fmt: skip
#: Leaves of a round with so many playouts of each, where the host is alone: those for CPUs, and for a GPU (`search.round_size`).
FED = {8: 256, 64: 4096, 512: 4096}


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, object]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and contender with `size`, `name`, the spread `per_second`, and for searches
      `of_evaluate`, the ratio of the medians, and `shares` (see `bench.search_work.shares`); `host` has one per size with `size`,
      `playouts_of_a_leaf`, and the spreads `leaves_per_second` and `leaves_per_second_on_all`; `memory` has `size`,
      `bytes_visited_once` and `bytes_visited_again`, of a node.
    """
    settings = {"sizes": list(sizes), "leaves": LEAVES, "playouts": PLAYOUTS, **vars(plan)}
    made = report.begin("search", hardware.describe(), settings)
    results, host, memory = [], [], []
    with Worker(environment=environment()) as worker:
        for size in sizes:
            first = LEAVES * PLAYOUTS
            contenders = [Contender(f"{size} {EVALUATE}", worker, "bench.search_work:Bulk", {"size": size}, first)]
            for name, (rule, leaves) in SEARCHES.items():
                name, made_of = f"{size} {name}", {"rule": rule, "leaves": leaves, "playouts": PLAYOUTS}
                arguments = {"label": name, "size": size, **made_of}
                contenders.append(Contender(name, worker, "bench.search_work:InSearch", arguments, first))
            alone = {(where, n): f"{size} {where}, {n} of a leaf" for where in (HOST, HOST_ON_ALL) for n in FED}
            for (where, playouts), name in alone.items():
                arguments = {"size": size, "leaves": FED[playouts], "playouts": playouts, "on_all": where == HOST_ON_ALL}
                contenders.append(Contender(name, worker, "bench.search_work:HostAlone", arguments, FED[playouts] * playouts))
            runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}"))
            rates = {name: spread(sample.per_second for sample in run.samples) for name, run in runs.items()}
            for playouts in FED:
                one, on_all = (
                    {kind: rate / playouts for kind, rate in rates.pop(alone[where, playouts]).items()}
                    for where in (HOST, HOST_ON_ALL)
                )
                entry = {"size": size, "playouts_of_a_leaf": playouts}
                host.append(entry | {"leaves_per_second": one, "leaves_per_second_on_all": on_all})
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
    return {**made, "results": results, "host": host, "memory": memory}


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
    fed = [
        (f"{x['size']}x{x['size']}, {x['playouts_of_a_leaf']}", *(cell for of in ("leaves_per_second", "leaves_per_second_on_all")
         for cell in (report.rate(x[of]), report.short(x[of]["median"] * x["playouts_of_a_leaf"]))))
        for x in made["host"]
    ]  # fmt: skip
    host = ("board, playouts of a leaf", "leaves/s, one search", "playouts/s", "leaves/s, all cores", "playouts/s")
    title = f"a search of {LEAVES} leaves x {PLAYOUTS} playouts, whole machine; ratio to evaluate"
    alone = "the host alone: what it could take from a device that answers at once, by RAVE"
    return [report.Table(title, columns, rows), report.Table(alone, host, fed), f"a node of a RAVE tree: {memory}"]
