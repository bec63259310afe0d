"""jaxgo beside the engines that install from PyPI: OpenSpiel's C++ rollouts, and random play with pgx. One core each, in turn."""

import importlib.util
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from bench import hardware, report
from bench.measure import paired_ratio, spread
from bench.series import Contender, Plan, Runs, Say, run_in_turn, within
from bench.worker import Worker, environment, one_core

SUMMARY = "jaxgo beside OpenSpiel and pgx, one core each (needs the extra: pip install 'jaxgo[bench]')"
DESCRIPTION = """\
Random playouts per CPU second from the empty board, one core each, the engines run in turn:

  jaxgo       `jaxgo.evaluate` with all its outputs
  OpenSpiel   its C++ random rollouts, looped in C++
  pgx         its Go in a jitted loop over a batch, with jaxgo's eye rule added; "lockstep" plays whole batches
              to the end, "refilled" restarts each game as it ends and counts the ends; each with several
              numbers of games stepped together

The rules differ a little: OpenSpiel's rollouts may fill eyes and pass at any time, both peers stop after 2 N^2
plies, and pgx where a position repeats. The mean length shows that the playouts are comparable. Each engine runs
with its own settings as installed. An engine that is not installed is left out.
"""
SIZES = (9,)

JAXGO = "jaxgo"
#: Games that pgx steps together: small batches stay in the cache, large ones share the overhead.
PGX_BATCHES = (8, 32)
KOMI = 7.5
#: The largest board that the peers have.
PEERS_LARGEST = 19
HOW_TO_INSTALL = "not installed: pip install 'jaxgo[bench]'"


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, object]:
    """Measures all engines that are there.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and engine with `size`, `engine`, `playouts_per_run`, `mean_plies`, `core_share`
      (see `Runs`), the spread `per_core` in playouts per CPU second, and the spread `jaxgo_is_faster`: jaxgo's rate over this
      one, run by run; or with `size`, `engine` and `missing`, why there are no figures.
    """
    made = report.begin("peers", hardware.describe(), {"sizes": list(sizes), "komi": KOMI, **vars(plan)})
    results = []
    for size in sizes:
        with ExitStack() as stack:
            contenders, missing = _contenders(size, stack)
            runs = run_in_turn(contenders, plan, within(say, f"{size}x{size}"))
            made["software"] = contenders[0].worker.call("bench.hardware:software")
        results += [_result(size, engine, runs) for engine in runs]
        results += [{"size": size, "engine": engine, "missing": why} for engine, why in missing.items()]
    return {**made, "pinned": Worker.pinned, "results": results}


def tables(made: Mapping[str, object]) -> list[report.Table | str]:
    """The report for people."""
    rows, missing = [], []
    for entry in made["results"]:
        name = f"{entry['size']}x{entry['size']} {entry['engine']}"
        if "missing" in entry:
            missing.append(f"{name}: {entry['missing']}")
        else:
            faster = "" if entry["engine"] == JAXGO else report.ratio(entry["jaxgo_is_faster"])
            rows.append((name, report.rate(entry["per_core"]), faster, f"{entry['mean_plies']:.1f}"))
    columns = ("board, engine", "per core", "jaxgo is x times", "plies")
    table = report.Table("playouts per CPU second, one core", columns, rows)
    return [table, *missing, *report.shared_core(made["results"])]


def _contenders(size: int, stack: ExitStack) -> tuple[list[Contender], dict[str, str]]:
    """The engines that can play this size, jaxgo first, and why the others cannot."""
    found = [Contender(JAXGO, _worker(stack), "bench.jaxgo_work:Evaluate", {"size": size}, first=1000)]
    missing = {}
    too_large = f"has boards up to {PEERS_LARGEST}x{PEERS_LARGEST} only"
    if size > PEERS_LARGEST:
        missing |= dict.fromkeys(("OpenSpiel", "pgx"), too_large)
        return found, missing
    if importlib.util.find_spec("pyspiel"):
        arguments = {"size": size, "komi": KOMI}
        found.append(
            Contender("OpenSpiel", _worker(stack), "bench.openspiel_work:Rollouts", arguments, first=20)
        )
    else:
        missing["OpenSpiel"] = HOW_TO_INSTALL
    if importlib.util.find_spec("pgx"):
        worker = _worker(stack)
        for kind, target in (("lockstep", "LockstepPlayouts"), ("refilled", "RefilledPlayouts")):
            found += [
                Contender(
                    f"pgx {kind}, batch {batch}", worker, f"bench.pgx_work:{target}", {"size": size, "batch": batch}, first=batch
                )
                for batch in PGX_BATCHES
            ]
    else:
        missing["pgx"] = HOW_TO_INSTALL
    return found, missing


def _worker(stack: ExitStack) -> Worker:
    return stack.enter_context(Worker(cores=one_core(), environment=environment(platform="cpu")))


def _result(size: int, engine: str, runs: Mapping[str, Runs]) -> dict[str, object]:
    ours, theirs = ([sample.per_cpu_second for sample in runs[name].samples] for name in (JAXGO, engine))
    return {
        "size": size,
        "engine": engine,
        "playouts_per_run": runs[engine].count,
        "mean_plies": runs[engine].samples[-1].plies,
        "per_core": spread(theirs),
        "core_share": runs[engine].core_share,
        "jaxgo_is_faster": paired_ratio(ours, theirs),
    }
