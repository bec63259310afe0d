"""jaxgo beside other engines, one core each, in turn: from PyPI, GNU Go, and native ones that the user names."""

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from bench import differences, engines, hardware, report
from bench.engines import JAXGO, KOMI
from bench.measure import MOST_APART, apart, paired_ratio, spread
from bench.native import Native
from bench.series import Plan, Runs, Say, run_in_turn, within
from bench.worker import Worker, WorkerError

SUMMARY = "jaxgo beside OpenSpiel, pgx, GNU Go and native engines, one core each (needs the extra: pip install 'jaxgo[bench]')"
DESCRIPTION = """\
Random playouts per CPU second from the empty board, komi 7.5, one core each, the engines run in turn:

  jaxgo       `jaxgo.evaluate` with all its outputs
  OpenSpiel   its C++ random rollouts, looped in C++
  pgx         its Go in a jitted loop over a batch, with jaxgo's eye rule added; "lockstep" plays whole batches
              to the end, "refilled" restarts each game as it ends and counts the ends; each with several
              numbers of games stepped together
  GNU Go      its Monte Carlo mode, boards of 7x7 to 9x9: simulations of a tree search, with uniform playouts and
              with those of its patterns
  --native    any other engine: a command that plays, and prints how many playouts it made in how many seconds

Engines do not do the same for a playout. What differs (eyes, suicide, what ends it, how moves are chosen, what comes
of it) stands beside the rates, with the mean length and how often Black won, where the engine lets these be known.
A ratio is told where that of no pair of runs is more than 1.25 times that of another. Each engine runs with its own
settings as installed. One that is not installed, or fails, is left out, with the reason.

native engines:
  --native '[NAME=][SIZE,...:]COMMAND', as often as wanted; NAME is by default that of the program. In the command
  {size} stands for the board's size and {playouts} for the number of playouts that a run shall have; without
  {playouts} each run is what the engine makes it. With SIZE (9: or 13,19:) a command is for these sizes alone, and
  several commands of one NAME are one engine. The command is not read by a shell: write sh -c '...' for one.

  The last line that it prints must hold two numbers, the playouts and the seconds that they took ("100000 0.53",
  "100000 playouts in 0.53 s"), or be JSON: {"playouts": 100000, "seconds": 0.53}, and if wanted "mean_plies",
  "black_win_rate" (0 to 1) and "differs", a text or texts by "eyes", "suicide", "cap", "moves", "outcome", "remark".
  The seconds are its own, so that its start-up does not count; the CPU seconds of its process, start-up included,
  are taken instead where they are less.
"""
SIZES = (9, 13, 19)

_RATES = ("board, engine", "per core", "jaxgo is x times", "plies", "Black wins")
_WORKS = ("engine", "own eyes", "suicide", "ends by passes or", "a move", "what comes out")
#: Seconds that a native engine's run may take, by default.
TIMEOUT = 300.0


def measure(
    sizes: Sequence[int], plan: Plan, say: Say, native: Sequence[Native] = (), timeout: float = TIMEOUT
) -> dict[str, Any]:
    """Measures all engines that are there.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      native: engines that are called by commands.
      timeout: seconds that a run of theirs may take.

    Returns:
      The report. `results` has an entry per size and engine with `size`, `engine`, `playouts_per_run`, `mean_plies` and
      `black_win_rate` (None where the engine does not let it be known), `differs` (texts by the fields of `Differences`),
      `core_share` (see `Runs`), the spread `per_core` in playouts per CPU second, `ratio_apart` (the greatest ratio of two runs
      side by side over the least) and the spread `jaxgo_is_faster`: jaxgo's rate over this one, run by run, None where they are
      too far apart; or with `size`, `engine` and `missing`, why there are no figures.

    Raises:
      WorkerError: jaxgo itself fails.
    """
    made = report.begin("peers", hardware.describe(), {"sizes": list(sizes), "komi": KOMI, **vars(plan), "timeout": timeout})
    results = []
    for size in sizes:
        with ExitStack() as stack:
            contenders, missing = engines.found(size, native, timeout, stack)
            failed: dict[str, str] = {}
            runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}"), failed)
            if JAXGO in failed:
                raise WorkerError(failed[JAXGO])
            made["software"] = contenders[0].worker.call("bench.hardware:software")
        by_command = {engine.name for engine in native}
        missing |= {name: f"--native: {why}" if name in by_command else f"failed: {why}" for name, why in failed.items()}
        results += [_result(size, engine, runs) for engine in runs]
        results += [{"size": size, "engine": engine, "missing": why} for engine, why in missing.items()]
    return {**made, "pinned": Worker.pinned, "results": results}


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    rates, works, missing, far = [], {}, [], []
    remarks: dict[str, dict[str, None]] = {}
    for entry in made["results"]:
        engine, name = entry["engine"], f"{entry['size']}x{entry['size']} {entry['engine']}"
        if "missing" in entry:
            missing.append(f"{name}: {entry['missing']}")
            continue
        faster = ""
        if engine != JAXGO:
            faster = "-" if entry["jaxgo_is_faster"] is None else report.ratio(entry["jaxgo_is_faster"])
            far += [f"{name} ({entry['ratio_apart']:.2f})"] if entry["jaxgo_is_faster"] is None else []
        plies, wins = entry["mean_plies"], entry["black_win_rate"]
        told = ("-" if plies is None else f"{plies:.1f}", "-" if wins is None else f"{100 * wins:.1f} %")
        rates.append((name, report.rate(entry["per_core"]), faster, *told))
        how = differences.told(entry["differs"])
        kind = differences.kind(engine)
        works[kind] = (kind, how.eyes, how.suicide, how.cap, how.moves, how.outcome)
        if how.remark:
            remarks.setdefault(how.remark, {})[kind] = None
    out: list[report.Table | str] = [
        report.Table("playouts per CPU second, one core", _RATES, rates),
        report.Table("what a playout is", _WORKS, [*works.values()]),
        *(f"{' and '.join(kinds)}: {text}." for text, kinds in remarks.items()),
    ]
    if far:
        text = f"Ratios of single runs are more than {MOST_APART} times apart, so that there is none to tell: {', '.join(far)}."
        out.append(f"{text} Measure again on a quieter machine, or with --seconds and --runs of more.")
    return [*out, *missing, *report.shared_core(made["results"])]


def _result(size: int, engine: str, runs: Mapping[str, Runs]) -> dict[str, Any]:
    ours, theirs = ([sample.per_cpu_second for sample in runs[name].samples] for name in (JAXGO, engine))
    ratio, last = paired_ratio(ours, theirs), runs[engine].samples[-1]
    how = differences.of(engine) or differences.told(last.differs)
    return {
        "size": size,
        "engine": engine,
        "playouts_per_run": last.amount,
        "mean_plies": last.plies,
        "black_win_rate": last.black_wins,
        "differs": dataclasses.asdict(how),
        "per_core": spread(theirs),
        "core_share": runs[engine].core_share,
        "ratio_apart": apart(ratio),
        "jaxgo_is_faster": ratio if apart(ratio) <= MOST_APART else None,
    }
