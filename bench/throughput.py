"""How many playouts a second, by board size: on one core, and on the whole machine.

Three things are timed from the empty board, in turn: `jaxgo.evaluate` with all its outputs, `jaxgo.playouts` (margin, length,
flag and final board of each), and the same with every move recorded. Playout policies are priced beside them if asked for.
"""

import tempfile
from collections.abc import Mapping, Sequence

from bench import hardware, report
from bench.measure import paired_ratio, spread
from bench.series import Contender, Plan, Runs, Say, run_in_turn, within
from bench.worker import Worker, environment, one_core

SUMMARY = "playouts per second by board size, per core and on the whole machine (the default)"
DESCRIPTION = """\
How many playouts a second jaxgo plays from the empty board: with all outputs of `evaluate`, with those of
`playouts`, and with every move recorded.

"per core" is playouts per CPU second of a process pinned to one core; "machine" is playouts per second on the
clock with the devices and threads that jaxgo takes by itself, and holds only while nothing else runs. Figures
are the median of the runs, with the least and the greatest behind it. "first call" is a first small call: it
compiles, and is not part of the rates.

With --policy, `playouts` that ask these policies are timed in the same turns: capture with q = 0.5, reply and
advisor (p = 0.5) having learned from 1,000 uniform playouts, and patterns.
"""
SIZES = (9, 13, 19)

EVALUATE, PLAYOUTS, MOVES = "evaluate", "playouts", "playouts with moves"
#: Playouts of the first call.
FIRST = 1000
#: Memory that the playouts of one run may fill: histories are the largest output, 9 P bytes a playout.
HISTORY_BYTES = 64 << 20


def measure(sizes: Sequence[int], plan: Plan, say: Say, policy: Sequence[str] = ()) -> dict[str, object]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      policy: the playout policies to price, of `bench.jaxgo_work.POLICIES`.

    Returns:
      The report. `results` has an entry per size and kind of output with `size`, `output`, `playouts_per_run`, `mean_plies`,
      `first_call_seconds`, `core_share` (see `Runs`), and the spreads `per_core` and `machine` in playouts per second;
      `recording_moves` has an entry per size with the spread `time_ratio`: CPU time per playout with moves over that without;
      `policies` an entry per size and policy with the same ratio of playouts that ask it to uniform ones.
    """
    made = report.begin("throughput", hardware.describe(), {"sizes": list(sizes), "policy": list(policy), **vars(plan)})
    results, ratios, prices = [], [], []
    # The second worker finds what the first has compiled.
    with tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as cache:
        for size in sizes:
            with Worker(cores=one_core(), environment=environment(cache=cache, platform="cpu")) as worker:
                alone = run_in_turn(_contenders(size, worker, policy), plan, within(say, f"{size}x{size}, one core"))
            with Worker(environment=environment(cache=cache)) as worker:
                whole = run_in_turn(_contenders(size, worker, policy), plan, within(say, f"{size}x{size}, machine"))
                made["software"] = worker.call("bench.hardware:software")
            results += [_result(size, output, alone[output], whole[output]) for output in alone]
            ratios.append({"size": size, "time_ratio": _time_ratio(alone, MOVES)})
            prices += [{"size": size, "policy": name, "time_ratio": _time_ratio(alone, asking(name))} for name in policy]
    return {**made, "pinned": Worker.pinned, "results": results, "recording_moves": ratios, "policies": prices}


def tables(made: Mapping[str, object]) -> list[report.Table | str]:
    """The report for people."""
    rates = report.Table(
        "playouts per second",
        ("board, output", "per core", "machine", "first call", "plies"),
        [
            (
                f"{entry['size']}x{entry['size']} {entry['output']}",
                report.rate(entry["per_core"]),
                report.rate(entry["machine"]),
                f"{entry['first_call_seconds']:.1f} s",
                f"{entry['mean_plies']:.1f}",
            )
            for entry in made["results"]
        ],
    )
    moves = report.Table(
        "time of a playout with its moves recorded, over that without",
        ("board", "ratio"),
        [(f"{entry['size']}x{entry['size']}", report.ratio(entry["time_ratio"])) for entry in made["recording_moves"]],
    )
    prices = report.Table(
        "time of a playout that asks a policy, over that of a uniform one",
        ("board, policy", "ratio"),
        [(f"{entry['size']}x{entry['size']} {entry['policy']}", report.ratio(entry["time_ratio"])) for entry in made["policies"]],
    )
    return [rates, moves, *[prices] * bool(made["policies"]), *report.shared_core(made["results"])]


def asking(policy: str) -> str:
    """The output of playouts that ask a policy."""
    return f"{PLAYOUTS}, {policy}"


def _contenders(size: int, worker: Worker, policies: Sequence[str]) -> list[Contender]:
    most, target = max(1, HISTORY_BYTES // (9 * size**2)), "bench.jaxgo_work:Playouts"
    return [
        Contender(EVALUATE, worker, "bench.jaxgo_work:Evaluate", {"size": size}, FIRST),
        Contender(PLAYOUTS, worker, target, {"size": size, "moves": False}, FIRST, most),
        Contender(MOVES, worker, target, {"size": size, "moves": True}, FIRST, most),
        *(
            Contender(asking(name), worker, target, {"size": size, "moves": False, "policy": name}, FIRST, most)
            for name in policies
        ),
    ]


def _result(size: int, output: str, alone: Runs, whole: Runs) -> dict[str, object]:
    return {
        "size": size,
        "output": output,
        "playouts_per_run": alone.count,
        "mean_plies": alone.samples[-1].plies,
        "first_call_seconds": alone.first_call,
        "per_core": spread(sample.per_cpu_second for sample in alone.samples),
        "core_share": alone.core_share,
        "machine": spread(sample.per_second for sample in whole.samples),
    }


def _time_ratio(alone: Mapping[str, Runs], output: str) -> dict[str, float]:
    """CPU time of playouts with another output over that of `PLAYOUTS`."""
    plain, other = ([sample.per_cpu_second for sample in alone[name].samples] for name in (PLAYOUTS, output))
    return paired_ratio(plain, other)
