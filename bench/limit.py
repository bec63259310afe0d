"""What this machine could do: the compiled tick beside the same operations on registers alone."""

import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from bench import hardware, machine_code, report
from bench.machine_code import Loop
from bench.measure import NotMeasured, paired_ratio, spread
from bench.series import Contender, Plan, Runs, Say, run_in_turn, within
from bench.worker import Worker, WorkerError, environment, one_core

SUMMARY = "how near playouts come to what a core could do: the same operations on registers alone; a GPU's on simulated warps"
DESCRIPTION = """\
Playouts are ticks, and a tick is one compiled loop over the lanes. Its machine code is read, its operations on vectors
are counted, and a loop of the same operations on registers alone, independent of each other, is run in turn with it on
one core: that is what the core could do. Told are, for each board size,

  - what a tick has in machine code: operations on vectors, and how many instructions read or write the stack, where
    the vectors are that do not fit into registers;
  - operations a second by ticks alone and by the loop on registers, and the share of the one in the other; and by the
    same operations in their order, each waiting for what it needs as in the tick, but not for memory;
  - ticks that a playout needs, those that lanes wait included too, and playouts a second: measured, and what they would
    be if the core did nothing but the operations of the ticks that they need.

For GPUs the same share is counted from compiled code and simulated warps, as of `jaxgo bench kernel`: nothing is run on
a GPU for it. Reading machine code needs x86-64 and objdump or llvm-objdump; where it cannot be read, that is said.
"""
SIZES = (9, 13, 19)

TICKS, PLAYOUTS, REGISTERS, IN_ORDER = "ticks alone", "playouts", "the same on registers", "the same in their order"
#: The most memory that a run's playouts may take, and bytes of a playout on a point.
_BYTES, _BYTES_A_POINT = 1 << 30, 9


def measure(sizes: Sequence[int], plan: Plan, say: Say, plot: str | None = None) -> dict[str, Any]:
    """Counts and measures.

    Args:
      sizes: of the boards.
      plan: how much to measure.
      say: told what goes on.
      plot: a file to draw into, or None.

    Returns:
      The report. `results` has an entry per size with

        - `size`, `words` (of a board), `word_bits`, `written` (operations of the tick's jaxpr);
        - `needed` and `lane_ticks`: ticks of a playout, without and with waiting; `mean_plies`;
        - `code`: of the compiled tick the means for the `lanes` of a trip of its loop: `instructions`, `operations`, `stack`;
          None where it cannot be read;
        - the spreads `playouts` and `ticks` (of a lane), and with `code` those of operations on vectors, `operations` in ticks
          and `ceiling` on registers, all per CPU second;
        - with a ceiling the spreads `ticks_share` and `playouts_share`, of the ceiling's operations, run by run, and `could_be`:
          playouts per CPU second at the ceiling;
        - the spreads `in_order`, operations on registers that wait for each other as in the tick, `in_order_share` (of the
          ceiling) and `ticks_in_order`, the ticks' share of these;
        - `core_share` (see `Runs`); `missing`: why something is not there, or None;
        - `gpu`: what `bench.limit_work.on_a_warp` returns.
    """
    made = report.begin("limit", hardware.describe(), {"sizes": list(sizes), **vars(plan)})
    results = []
    for size in sizes:
        results.append(_of_size(size, plan, within(say, f"{size}x{size}"), made))
    made |= {"pinned": Worker.pinned, "results": results}
    if plot:
        from bench.limit_plot import draw

        draw(made, plot)
        say(f"wrote {plot}")
    return made


def _of_size(size: int, plan: Plan, say: Say, made: dict[str, Any]) -> dict[str, Any]:
    """The entry of a size."""
    alone = environment(platform="cpu")
    say("counting ticks")
    with Worker(cores=one_core(), environment=alone) as worker:
        entry = {"size": size, **worker.call("bench.limit_work:facts", size=size)}
        entry |= worker.call("bench.limit_work:ticks_of_playouts", size=size)
        say("a GPU's kernel on a simulated warp")
        gpu = worker.call("bench.limit_work:on_a_warp", size=size)
    with tempfile.TemporaryDirectory(prefix="jaxgo-bench-") as folder:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder}".strip()
        # A program that comes from a cache would not be written.
        written = {**alone, "JAX_ENABLE_COMPILATION_CACHE": "false", "XLA_FLAGS": flags}
        with (
            Worker(cores=one_core(), environment=written) as ticking,
            Worker(cores=one_core(), environment=alone) as spinning,
            Worker(cores=one_core(), environment=alone) as playing,
        ):
            # Where the plan says how many playouts a run has, the others do the least that they can.
            always = None if plan.count is None else 1
            lanes, most = entry["lanes"], max(1, _BYTES // (_BYTES_A_POINT * size**2))
            contenders = [
                Contender(PLAYOUTS, playing, "bench.jaxgo_work:Playouts", {"size": size, "moves": False}, first=1000, most=most),
                Contender(TICKS, ticking, "bench.limit_work:Ticks", {"size": size}, first=1, always=always),
            ]  # fmt: skip
            # The program is compiled, and written, before the series begins: its operations are needed to make their loop.
            ticking.call("bench.limit_work:compile_alone", size=size)
            loop, missing = _read(pathlib.Path(folder), lanes)
            if loop:
                target = "bench.register_loop:Registers"
                for name, independent in ((REGISTERS, True), (IN_ORDER, False)):
                    arguments = {"instructions": loop.instructions, "independent": independent}
                    contenders.append(Contender(name, spinning, target, arguments, first=1, always=always))
            failed: dict[str, str] = {}
            runs = run_in_turn(contenders, plan, say, failed)
            made["software"] = playing.call("bench.hardware:software")
    for name in (PLAYOUTS, TICKS):
        if name in failed:
            raise WorkerError(failed[name])
    for name in (REGISTERS, IN_ORDER):
        if name in failed:
            missing = f"{name} failed: {failed[name]}"
    return {**entry, **_figures(entry, loop, runs), "missing": missing, "gpu": gpu}


def _read(folder: pathlib.Path, lanes: int) -> tuple[Loop | None, str | None]:
    """(the tick's compiled loop, why there is none)."""
    try:
        loop = machine_code.largest_loop(folder, "ticks_alone")
        if not loop.operations:
            raise NotMeasured("the compiled tick has no operations on vectors")
        if lanes % loop.trips:
            raise NotMeasured(f"the compiled tick goes through its loop {loop.trips} times for {lanes} lanes")
    except NotMeasured as error:
        return None, str(error)
    return loop, None


def _figures(entry: Mapping[str, Any], loop: Loop | None, runs: Mapping[str, Runs]) -> dict[str, Any]:
    """What is made of the runs of a size."""
    rates = {name: [sample.per_cpu_second for sample in one.samples] for name, one in runs.items()}
    out: dict[str, Any] = {
        "mean_plies": runs[PLAYOUTS].samples[-1].plies,
        "playouts": spread(rates[PLAYOUTS]),
        "ticks": spread(rates[TICKS]),
        "core_share": min(one.core_share for one in runs.values()),
        "code": None,
    }
    if not loop:
        return out
    lanes = entry["lanes"] // loop.trips
    each = {"instructions": len(loop.instructions), "operations": len(loop.operations), "stack": loop.stack}
    out["code"] = {"lanes": lanes, **{name: number / entry["ticks_a_loop"] for name, number in each.items()}}
    of_a_tick = out["code"]["operations"] / lanes
    out["operations"] = spread(of_a_tick * rate for rate in rates[TICKS])
    if REGISTERS in rates:
        of_a_playout = of_a_tick * entry["needed"]
        pairs = list(zip(rates[REGISTERS], rates[TICKS], rates[PLAYOUTS], strict=True))
        out["ceiling"] = spread(rates[REGISTERS])
        out["ticks_share"] = spread(of_a_tick * ticks / most for most, ticks, _ in pairs)
        out["playouts_share"] = spread(of_a_playout * playouts / most for most, _, playouts in pairs)
        out["could_be"] = spread(most / of_a_playout for most, *_ in pairs)
    if IN_ORDER in rates:
        out["in_order"] = spread(rates[IN_ORDER])
        if REGISTERS in rates:
            out["in_order_share"] = paired_ratio(rates[IN_ORDER], rates[REGISTERS])
        out["ticks_in_order"] = paired_ratio([of_a_tick * rate for rate in rates[TICKS]], rates[IN_ORDER])
    return out


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    code, speed, playouts, gpu, missing = [], [], [], [], []
    for entry in made["results"]:
        board = f"{entry['size']}x{entry['size']}"
        if entry["missing"]:
            missing.append(f"{board}: what a core could do is not known: {entry['missing']}.")
        if entry["code"]:
            one = entry["code"]
            code.append((
                board, f"{entry['words']} of {entry['word_bits']} bits", str(entry["written"]), str(one["lanes"]),
                f"{one['instructions']:.0f}", f"{one['operations']:.0f}", f"{one['stack']:.0f}",
                f"{one['stack'] / one['instructions']:.0%}",
            ))  # fmt: skip
        speed.append((
            board, report.rate(entry["ticks"]), _billions(entry.get("operations")), _billions(entry.get("ceiling")),
            _share(entry, "ticks_share"), _billions(entry.get("in_order")), _share(entry, "ticks_in_order"),
        ))  # fmt: skip
        playouts.append((
            board, f"{entry['mean_plies']:.1f}", f"{entry['needed']:.0f}", f"{entry['lane_ticks']:.0f}",
            report.rate(entry["playouts"]), report.rate(entry.get("could_be")), _share(entry, "playouts_share"),
        ))  # fmt: skip
        if entry["gpu"]:
            one = entry["gpu"]
            gpu.append((
                board, str(one["tick"]), f"{one['needed']:.0f}", f"{one['lane_ticks']:.0f}", f"{one['share']:.0%}",
                f"{one['ceiling'] / 1e6:.1f} M",
            ))  # fmt: skip
    out: list[report.Table | str] = []
    if code:
        title = "the compiled tick: machine instructions for the lanes of a trip"
        columns: tuple[str, ...] = ("board", "words", "as written", "lanes", "instructions", "operations", "with stack", "share")
        out.append(report.Table(title, columns, code))
    columns = ("board", "ticks", "operations", "on registers", "share", "in their order", "share")
    out.append(report.Table("ticks alone: a CPU second of one core, operations on vectors", columns, speed))
    columns = ("board", "plies", "ticks", "and waiting", "playouts", "at the ceiling", "share")
    out.append(report.Table("playouts: their ticks, and a CPU second of one core", columns, playouts))
    if gpu:
        title = "a GPU's kernel, from compiled code and a simulated warp: nothing is run on a GPU; the ceilings are an H100's"
        columns = ("board", "instructions of a tick", "ticks", "and waiting", "share of needed ticks", "ceiling a second")
        out.append(report.Table(title, columns, gpu))
    else:
        out.append("A GPU's kernel is not counted: there is no ptxas with cuobjdump; install the CUDA toolkit, or "
                   "pip install 'jaxgo[kernel]'.")  # fmt: skip
    return [*out, *missing, *report.shared_core(made["results"])]


def _billions(figures: Mapping[str, float] | None) -> str:
    return "-" if figures is None else f"{figures['median'] / 1e9:.2f} G"


def _share(entry: Mapping[str, Any], name: str) -> str:
    figures = entry.get(name)
    return "-" if figures is None else f"{figures['median']:.0%} ({figures['min']:.0%}-{figures['max']:.0%})"
