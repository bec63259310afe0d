"""How many playouts a second, by board size: on one core, and on the whole machine.

Three things are timed from the empty board, in turn: `jaxgo.evaluate` with all its outputs, `jaxgo.playouts` (margin, length,
flag and final board of each), and the same with every move recorded. Playout policies are priced beside them if asked for.
"""

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

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

With --policy, `playouts` that ask these policies are timed in the same turns: capture (q = 0.5); advisor (p = 0.5)
and reply, having learned from 1,000 uniform playouts; nakade, no-self-atari and patterns; match, 3x3 patterns
alone (p = 0.8). --only machine leaves out the runs
on one core, which say nothing of a GPU.
"""
SIZES = (9, 13, 19)
#: Where playouts are timed: on one core of the CPU, and on whatever jaxgo takes by itself.
CORE, MACHINE = "core", "machine"
ONLY = (CORE, MACHINE)

EVALUATE, PLAYOUTS, MOVES = "evaluate", "playouts", "playouts with moves"
#: Playouts of the first call.
FIRST = 1000
#: Memory that the playouts of one run may fill, on CPUs and on devices that play faster: histories are the largest output, 9 P
#: bytes a playout.
HISTORY_BYTES, HISTORY_BYTES_ELSEWHERE = 64 << 20, 4 << 30


def measure(
    sizes: Sequence[int], plan: Plan, say: Say, policy: Sequence[str] = (), only: Sequence[str] = ONLY
) -> dict[str, Any]:
    """Measures all sizes.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      policy: the playout policies to price, of `bench.jaxgo_work.POLICIES`.
      only: where to time them, of `ONLY`.

    Returns:
      The report. `results` has an entry per size and kind of output with `size`, `output`, `playouts_per_run`, `mean_plies`,
      `first_call_seconds`, `core_share` (see `Runs`), and the spreads `per_core` and `machine` in playouts per second, as far as
      they were measured; `recording_moves` has an entry per size with the spread `time_ratio`: CPU time per playout with moves
      over that without, or time on the clock where the machine alone was measured; `policies` an entry per size and policy with
      the same ratio of playouts that ask it to uniform ones.
    """
    settings = {"sizes": list(sizes), "policy": list(policy), "only": list(only), **vars(plan)}
    made = report.begin("throughput", hardware.describe(), settings)
    results, ratios, prices = [], [], []
    # The second worker finds what the first has compiled.
    with tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as cache:
        workers = {
            CORE: lambda: Worker(cores=one_core(), environment=environment(cache=cache, platform="cpu")),
            MACHINE: lambda: Worker(environment=environment(cache=cache)),
        }
        for size in sizes:
            runs = {}
            for where in [where for where in ONLY if where in only]:
                with workers[where]() as worker:
                    software = worker.call("bench.hardware:software")
                    contenders = _contenders(size, worker, policy, _is_cpu(software))
                    runs[where] = run_in_turn(contenders, plan, within(say, f"{size}x{size}, {where}"))
            made["software"] = software
            first = next(iter(runs.values()))
            results += [_result(size, output, {where: of[output] for where, of in runs.items()}) for output in first]
            ratios.append({"size": size, "time_ratio": _time_ratio(runs, MOVES)})
            prices += [{"size": size, "policy": name, "time_ratio": _time_ratio(runs, asking(name))} for name in policy]
    return {**made, "pinned": Worker.pinned, "results": results, "recording_moves": ratios, "policies": prices}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rates = report.Table(
        "playouts per second",
        ("board, output", "per core", "machine", "first call", "plies"),
        [
            (
                f"{entry['size']}x{entry['size']} {entry['output']}",
                *(report.rate(entry[name]) if name in entry else "-" for name in ("per_core", "machine")),
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
    on_core = [entry for entry in made["results"] if "per_core" in entry]
    return [rates, moves, *[prices] * bool(made["policies"]), *report.shared_core(on_core)]


def asking(policy: str) -> str:
    """The output of playouts that ask a policy."""
    return f"{PLAYOUTS}, {policy}"


def _is_cpu(software: Mapping[str, Any]) -> bool:
    """Whether a worker plays on a CPU, by what `hardware.software` says of it."""
    return all(name.startswith("cpu") for name in software["devices"])


def _contenders(size: int, worker: Worker, policies: Sequence[str], on_cpu: bool) -> list[Contender]:
    room = HISTORY_BYTES if on_cpu else HISTORY_BYTES_ELSEWHERE
    most, target = max(1, room // (9 * size**2)), "bench.jaxgo_work:Playouts"
    return [
        Contender(EVALUATE, worker, "bench.jaxgo_work:Evaluate", {"size": size}, FIRST),
        Contender(PLAYOUTS, worker, target, {"size": size, "moves": False}, FIRST, most),
        Contender(MOVES, worker, target, {"size": size, "moves": True}, FIRST, most),
        *(
            Contender(asking(name), worker, target, {"size": size, "moves": False, "policy": name}, FIRST, most)
            for name in policies
        ),
    ]


def _result(size: int, output: str, runs: Mapping[str, Runs]) -> dict[str, Any]:
    first = next(iter(runs.values()))
    made: dict[str, Any] = {
        "size": size,
        "output": output,
        "playouts_per_run": first.count,
        "mean_plies": first.samples[-1].plies,
        "first_call_seconds": first.first_call,
    }
    if CORE in runs:
        made["per_core"] = spread(sample.per_cpu_second for sample in runs[CORE].samples)
        made["core_share"] = runs[CORE].core_share
    if MACHINE in runs:
        made["machine"] = spread(sample.per_second for sample in runs[MACHINE].samples)
    return made


def _time_ratio(runs: Mapping[str, Mapping[str, Runs]], output: str) -> dict[str, float]:
    """CPU time of playouts with another output over that of `PLAYOUTS`, or time on the clock where there is none of one core."""
    where, rate = (CORE, "per_cpu_second") if CORE in runs else (MACHINE, "per_second")
    plain, other = ([getattr(sample, rate) for sample in runs[where][name].samples] for name in (PLAYOUTS, output))
    return paired_ratio(plain, other)
