"""What the GPU kernel becomes as machine code and what its playouts cost, counted on a machine that may have no GPU."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench import hardware, report
from bench.series import Plan, Say
from jaxgo.cli import UsageError

if TYPE_CHECKING:
    from jaxgo.playing.policies.policy import Policy

SUMMARY = "the GPU kernel as machine code, and its playouts on simulated warps (needs no GPU)"
DESCRIPTION = """\
Compiles the kernel that plays whole playouts on NVIDIA GPUs for an H100 (sm_90), with no GPU needed, and reads
the machine code: registers of a thread, bytes that did not fit into them, instructions of a tick. Then a warp of
32 lanes, simulated on the CPU, plays 512 playouts, and what it runs is counted: ticks, those of lanes that wait
for others included, and the changes from one playout to the next. With the instructions that an H100 can begin
in a second that gives a ceiling: not a measurement, and no rate of any GPU (an H100 reached 38 to 60 % of it, as
its integer units take half as many). A search's rounds are played whole: how long
their lanes wait at the end is reckoned from what playouts need. What playout policies cost there is counted too,
in instructions of PTX, the kernel's text. Needs NVIDIA's assembler, from the CUDA toolkit
or from triton (pip install 'jaxgo[kernel]').
"""
SIZES = (9, 13, 19)
#: Playouts by which policies are compared with uniform ones.
BY_POLICY = 256
#: Playouts that rounds draw from, and playouts of a round for each lane.
OF_ROUNDS, PER_LANE = 8192, (1, 2, 4, 8, 16, 32)


def measure(sizes: Sequence[int], plan: Plan, say: Say) -> dict[str, Any]:
    """Compiles the kernel for all sizes, and plays.

    Args:
      sizes: of the boards.
      plan: not used; a compiler gives the same code each time, and so do the playouts.
      say: told what goes on.

    Returns:
      The report. `results` has an entry per size and kind of record with `size`, `records`, `registers`, `spilled` (bytes of a
      thread), `instructions`, `tick` (instructions), `opcodes` (the commonest); of a playout, means: `ticks` that it needs,
      `lane_ticks` that it costs a lane, `efficiency` (the one by the other), `warp_instructions`, `changing` (the share of them
      that is between ticks); and `ceiling` (playouts/s, no measurement). `rounds` has one per size and `per_lane`, playouts of a
      round for each lane, with `of_warps` and `of_all`, the shares of `bench.kernel_work.rounds`. `policies` has one per size and
      policy with `size`, `policy`, `registers`, `spilled`, and `times`, how many times as many PTX instructions its playouts take
      as uniform ones.

    Raises:
      UsageError: there is no assembler.
    """
    from bench import kernel_work

    tools = kernel_work.assembler()
    if not tools:
        raise UsageError("there is no ptxas with cuobjdump: install the CUDA toolkit, or pip install 'jaxgo[kernel]'")
    from jaxgo.backends import nvidia
    from jaxgo.playing.policies.policy import PolicyForm

    made = report.begin("kernel", hardware.describe(), {"sizes": list(sizes)})
    made["software"] = hardware.software()
    results, rounds, policies = [], [], []
    for size in sizes:
        say(f"{size}x{size}, playouts")
        needed, played = kernel_work.ticks_of_playouts(size, OF_ROUNDS), kernel_work.play(size)
        ticks = float(needed[: kernel_work.COUNTED].mean())
        for records, moves in (("first plays", False), ("first plays, moves", True)):
            say(f"{size}x{size}, machine code for {records}")
            code = kernel_work.compile_for(nvidia.written(size, True, moves).text, tools)
            instructions, changing = played.instructions(code)
            results.append({
                "size": size, "records": records, "registers": code.registers, "spilled": code.spilled,
                "instructions": code.instructions, "tick": code.tick, "opcodes": code.opcodes, "ticks": ticks,
                "lane_ticks": played.lane_ticks, "efficiency": ticks / played.lane_ticks, "warp_instructions": instructions,
                "changing": changing, "ceiling": kernel_work.ceiling(instructions),
            })  # fmt: skip
        say(f"{size}x{size}, whole rounds")
        for per_lane in PER_LANE:
            of_warps, of_all = kernel_work.rounds(needed, per_lane)
            rounds.append({"size": size, "per_lane": per_lane, "of_warps": of_warps, "of_all": of_all})
        uniform = kernel_work.ptx_instructions(size, BY_POLICY)
        for policy in _policies(size):
            say(f"{size}x{size}, {policy.kind}")
            text = nvidia.written(size, True, False, PolicyForm.of(policy)).text
            registers, spilled = kernel_work.registers_of(text, tools)
            times = kernel_work.ptx_instructions(size, BY_POLICY, policy) / uniform
            policies.append({
                "size": size, "policy": policy.kind, "registers": registers, "spilled": spilled, "times": times,
            })  # fmt: skip
    return {**made, "results": results, "rounds": rounds, "policies": policies}


def _policies(size: int) -> list["Policy"]:
    """Those that are counted, always asked; tables as they may be."""
    from jaxgo import Advisor, AdvisorTable, Capture, LastGoodReply, Nakade, NoSelfAtari, Patterns, Replies

    taught = LastGoodReply(Replies(size)), Advisor(0.5, AdvisorTable(size))
    return [Capture(1.0), *(policy.typical() for policy in taught), Nakade(), NoSelfAtari(), Patterns()]


def tables(made: Mapping[str, Any]) -> list[report.Table | str]:
    """The report for people."""
    code, cost = [], []
    for entry in made["results"]:
        what = f"{entry['size']}x{entry['size']}, {entry['records']}"
        code.append((what, str(entry["registers"]), str(entry["spilled"]), str(entry["instructions"]), str(entry["tick"])))
        cost.append((
            what, f"{entry['ticks']:.0f}", f"{entry['lane_ticks']:.0f}", f"{entry['warp_instructions']:.0f}",
            f"{100 * entry['changing']:.1f} %", f"{entry['ceiling'] / 1e6:.1f} M",
        ))  # fmt: skip
    asked = [
        (f"{x['size']}x{x['size']}", x["policy"], str(x["registers"]), str(x["spilled"]), f"{x['times']:.1f}")
        for x in made["policies"]
    ]
    played = [
        (f"{x['size']}x{x['size']}, {x['per_lane']}", f"{x['of_warps']:.0%}", f"{x['of_all']:.0%}") for x in made["rounds"]
    ]
    return [
        report.Table(
            "compiled for an H100: registers and instructions",
            ("board, records", "registers", "spilled bytes", "in all", "in a tick"), code,
        ),
        report.Table(
            "a playout on a simulated warp: ticks and instructions; the ceilings are an H100's",
            ("board, records", "ticks", "and waiting", "in all", "between ticks", "ceiling a second"), cost,
        ),
        report.Table(
            "a search's whole rounds, by playouts for each lane: the share of the time in which lanes play",
            ("board, playouts a lane", "until their warp is done", "until all are"), played,
        ),
        report.Table(
            "playouts by policies: registers, and instructions of PTX over those of uniform playouts",
            ("board", "policy", "registers", "spilled bytes", "times as many"), asked,
        ),
    ]  # fmt: skip
