"""How many playouts per second are left inside a tree search, and where its time goes."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench import hardware, report
from bench.measure import spread
from bench.series import Contender, Plan, Say, run_in_turn, within
from bench.worker import Worker, environment

SUMMARY = "playouts per second inside a tree search, beside those of `jaxgo.evaluate`"
DESCRIPTION = """\
A tree search from the empty board, by RAVE, by UCB1 and by RAVE with weighted credits, in rounds that suit the
devices (256 leaves x 8 playouts on CPUs) or of 64 x 8, beside `jaxgo.evaluate` of the empty board, in turn, on
the whole machine. Shares are of the time on the clock: the host chooses leaves and backs results up while the
devices play; a device is idle when it does not.
"host alone": playouts a second that the host could take from a device that answers at once, one that is fast
enough; by one search, and by one for each core side by side, with 8, 64 and 512 playouts of a leaf.
"""
SIZES = (9, 13, 19)
FEW_LEAVES, PLAYOUTS = 64, 8
#: Playouts of a contender's first call, which compiles.
FIRST = 2048
EVALUATE = "evaluate"
#: RAVE with a stand-in for the device, which answers at once: by one search, and by one for each core.
HOST, HOST_ON_ALL = "rave, host alone", "rave, host alone, all cores"
#: Searches: the rule (see `bench.search_work.RULES`), and the leaves of a round and playouts of each where these are not what
#: suits the devices.
SEARCHES = {
    "rave": ("rave",), f"rave, {FEW_LEAVES} x {PLAYOUTS}": ("rave", FEW_LEAVES, PLAYOUTS), "uct": ("uct",),
    "v1": ("rave-v1",), "v2": ("rave-v2",), "mctr": ("rave-mctr",),
}  # fmt: skip
#: What can be asked for alone.
ONLY = {name.replace(f", {FEW_LEAVES} x {PLAYOUTS}", f"-{FEW_LEAVES}"): name for name in SEARCHES} | {"host": "host"}
#: Leaves of a round with so many playouts of each, where the host is alone: as on CPUs, and as on GPUs.
FED = {8: 256, 64: 4096, 512: 4096}


def measure(sizes: Sequence[int], plan: Plan, say: Say, only: Sequence[str] = ()) -> dict[str, Any]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      only: of `ONLY`, what to measure beside `jaxgo.evaluate`; all if empty.

    Returns:
      The report. `results` has an entry per size and contender with `size`, `name`, the spread `per_second`, and for searches
      `leaves` of a round and `playouts` of each, `of_evaluate`, the ratio of the medians, and `shares` (see
      `bench.search_work.shares`); `host` has one per size with `size`, `playouts_of_a_leaf`, and the spreads `leaves_per_second`
      and `leaves_per_second_on_all`; `memory` has `size`, `bytes_visited_once` and `bytes_visited_again`, of a node.
    """
    wanted = [ONLY[name] for name in only or ONLY]
    searches, fed = {name: of for name, of in SEARCHES.items() if name in wanted}, FED if "host" in wanted else {}
    settings = {"sizes": list(sizes), "only": list(only), **vars(plan)}
    made = report.begin("search", hardware.describe(), settings)
    results, host, memory = [], [], []
    with Worker(environment=environment()) as worker:
        for size in sizes:
            contenders = [Contender(f"{size} {EVALUATE}", worker, "bench.search_work:Bulk", {"size": size}, FIRST)]
            for name, (rule, *of_round) in searches.items():
                name, made_of = f"{size} {name}", {"rule": rule, **dict(zip(("leaves", "playouts"), of_round))}
                arguments = {"label": name, "size": size, **made_of}
                contenders.append(Contender(name, worker, "bench.search_work:InSearch", arguments, FIRST))
            alone = {(where, n): f"{size} {where}, {n} of a leaf" for where in (HOST, HOST_ON_ALL) for n in fed}
            for (where, playouts), name in alone.items():
                arguments = {"size": size, "leaves": FED[playouts], "playouts": playouts, "on_all": where == HOST_ON_ALL}
                contenders.append(Contender(name, worker, "bench.search_work:HostAlone", arguments, FED[playouts] * playouts))
            runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}"))
            rates = {name: spread(sample.per_second for sample in run.samples) for name, run in runs.items()}
            for playouts in fed:
                one, on_all = (
                    {kind: rate / playouts for kind, rate in rates.pop(alone[where, playouts]).items()}
                    for where in (HOST, HOST_ON_ALL)
                )
                entry: dict[str, Any] = {"size": size, "playouts_of_a_leaf": playouts}
                host.append(entry | {"leaves_per_second": one, "leaves_per_second_on_all": on_all})
            base = rates[f"{size} {EVALUATE}"]["median"]
            for name, figures in rates.items():
                entry = {"size": size, "name": name.partition(" ")[2], "per_second": figures}
                if EVALUATE not in name:
                    leaves, playouts = worker.call("bench.search_work:round_of", label=name)
                    shares = worker.call("bench.search_work:shares", label=name)
                    entry |= {"leaves": leaves, "playouts": playouts}
                    entry |= {"of_evaluate": figures["median"] / base, "shares": shares}
                results.append(entry)
            once, again = worker.call("bench.search_work:bytes_per_node", size=size)
            memory.append({"size": size, "bytes_visited_once": once, "bytes_visited_again": again})
        made["software"] = worker.call("bench.hardware:software")
    return {**made, "results": results, "host": host, "memory": memory}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rows = []
    for entry in made["results"]:
        shares = entry.get("shares")
        cells = [f"{shares[k]:.0%}" for k in ("select", "back up", "wait", "device")] if shares else ["-"] * 4
        ratio = f"{entry['of_evaluate']:.2f}" if shares else "-"
        rounds = f"{entry['leaves']} x {entry['playouts']}" if shares else "-"
        name = f"{entry['size']}x{entry['size']} {entry['name'].partition(',')[0]}"
        rows.append((name, rounds, report.rate(entry["per_second"]), ratio, *cells))
    columns = ("board", "leaves x playouts", "playouts/s", "ratio", "choose", "back up", "wait", "device")
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
    title = "a search on the whole machine; ratio to evaluate"
    alone = "the host alone: what it could take from a device that answers at once, by RAVE"
    tables = [report.Table(title, columns, rows), *[report.Table(alone, host, fed)] * bool(fed)]
    return [*tables, f"a node of a RAVE tree: {memory}"]
