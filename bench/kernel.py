"""What the GPU kernel becomes as machine code, measured on a machine that may have no GPU."""

import importlib.util
from collections.abc import Mapping, Sequence

from bench import hardware, report
from bench.series import Plan, Say
from jaxgo.cli import UsageError

SUMMARY = "the GPU kernel as machine code: registers, spills, instructions of a tick (needs no GPU)"
DESCRIPTION = """\
Compiles the kernel that plays whole playouts on NVIDIA GPUs for an H200 (sm_90), with no GPU needed, and reads
the machine code: registers of a thread, bytes that did not fit into them, instructions of a tick. With the ticks
of a playout, counted here, and an H200's integer instructions a second, that gives a ceiling: not a measurement,
and no rate of any GPU. Needs triton (pip install 'jaxgo[kernel]').
"""
SIZES = (9, 13, 19)


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, object]:
    """Compiles the kernel for all sizes.

    Args:
      sizes: of the boards.
      plan: not used; a compiler gives the same code each time.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and kind of record with `size`, `records`, `registers`, `spilled` (bytes of a
      thread), `instructions`, `tick` (instructions), `opcodes` (the commonest), `ticks` (of a playout, mean) and `ceiling`
      (playouts/s, no measurement).

    Raises:
      UsageError: triton is not installed.
    """
    if not importlib.util.find_spec("triton"):
        raise UsageError("triton is not installed: pip install 'jaxgo[kernel]'")
    from bench import kernel_work

    made = report.begin("kernel", hardware.describe(), {"sizes": list(sizes)})
    made["software"] = hardware.software()
    results = []
    for size in sizes:
        ticks = kernel_work.ticks_of_a_playout(size)
        for records, moves in (("first plays", False), ("first plays, moves", True)):
            say(f"{size}x{size}, {records}")
            code = kernel_work.compile_for(kernel_work.lower(size, moves=moves))
            results.append({
                "size": size, "records": records, "registers": code.registers, "spilled": code.spilled,
                "instructions": code.instructions, "tick": code.tick, "opcodes": code.opcodes, "ticks": ticks,
                "ceiling": kernel_work.ceiling(code.tick, ticks),
            })  # fmt: skip
    return {**made, "results": results}


def tables(made: Mapping[str, object]) -> list[report.Titled | str]:
    """The report for people."""
    rows = [
        (
            f"{entry['size']}x{entry['size']}, {entry['records']}", str(entry["registers"]), str(entry["spilled"]),
            str(entry["tick"]), f"{entry['ticks']:.0f}", f"{entry['ceiling'] / 1e6:.1f} M",
        )
        for entry in made["results"]
    ]  # fmt: skip
    columns = ("board, records", "registers", "spilled bytes", "instructions a tick", "ticks a playout", "ceiling a second")
    return [report.table("compiled for an H200; the ceilings come from compiled code, nothing was run", columns, rows)]
