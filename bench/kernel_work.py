"""jaxgo's GPU kernel on a machine without a GPU: compiled by NVIDIA's assembler, and run on simulated warps."""

import collections
import dataclasses
import heapq
import importlib.util
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench import warp
from jaxgo import Position
from jaxgo.backends import nvidia
from jaxgo.backends.ptx import WARP
from jaxgo.base.constants import max_plies
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import Geometry, geometry, playing_geometry
from jaxgo.playing import draws
from jaxgo.playing.lanes import is_over
from jaxgo.playing.playout import Job, fresh_lanes, ready
from jaxgo.playing.policies.policy import Policy
from jaxgo.playing.tick import tick
from jaxgo.playing.wire import Records, columns_of, of_playouts

#: An H100: multiprocessors, instructions of a warp that each can begin in a clock, clock in GHz.
MULTIPROCESSORS, PER_CLOCK, CLOCK = 132, 4, 1.98
#: Playouts that are counted, and the lanes that play them.
COUNTED, LANES = 512, 32
#: Warps whose rounds are looked at.
WARPS = 500


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A kernel's machine code in numbers."""

    registers: int
    """Of a thread, at most 255."""
    spilled: int
    """Bytes of a thread that did not fit into registers."""
    instructions: int
    """In all."""
    grow: int
    """Instructions in the loop that floods the areas."""
    tick: int
    """In the tick's."""
    change: int
    """In what else there is between one tick and the next when a playout ends."""
    opcodes: dict[str, int]
    """The ten commonest."""


@dataclasses.dataclass(frozen=True)
class Played:
    """What a warp does for a playout, the mean; a part of it, as its lanes play others meanwhile."""

    ticks: float
    """Ticks."""
    changes: float
    """Changes from playouts that are over to others."""

    @property
    def lane_ticks(self) -> float:
        """Ticks that a playout costs a lane, those in which it waits included."""
        return self.ticks * WARP

    def instructions(self, code: Compiled) -> tuple[float, float]:
        """(machine instructions of a warp in all, the share of them that is between ticks)."""
        between = (code.grow + code.change) * self.changes
        everything = code.tick * self.ticks + between
        return everything, between / everything


def assembler() -> pathlib.Path | None:
    """The folder with NVIDIA's `ptxas` and `cuobjdump`: the CUDA toolkit's, or that of the package triton; None without."""
    found = shutil.which("ptxas")
    folders = [pathlib.Path(found).resolve().parent, pathlib.Path(found).parent] if found else []
    triton = importlib.util.find_spec("triton")
    if triton and triton.origin:
        folders.append(pathlib.Path(triton.origin).parent / "backends/nvidia/bin")
    return next((folder for folder in folders if (folder / "ptxas").exists() and (folder / "cuobjdump").exists()), None)


def registers_of(text: str, tools: pathlib.Path, arch: int = 90) -> tuple[int, int]:
    """(registers, spilled bytes) of a thread of the kernel in a text; the arguments are those of `compile_for`."""
    return _of_thread(_assembled(text, tools, arch)[0])


def compile_for(text: str, tools: pathlib.Path, arch: int = 90) -> Compiled:
    """The machine code of the kernel in a text, one that asks no policy, for compute capability `arch` / 10, by the tools of
    `assembler`."""
    log, listing = _assembled(text, tools, arch)
    code = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+ )?([A-Z0-9_.]+)([^;]*);", listing)
    loops = []
    for address, opcode, rest in code:
        goal = re.search(r"0x([0-9a-f]+)", rest)
        if opcode.startswith("BRA") and goal and int(goal.group(1), 16) < int(address, 16):
            loops.append((int(address, 16) - int(goal.group(1), 16)) // 16)
    grow, one_tick, game = sorted(loops)
    opcodes, (registers, spilled) = collections.Counter(opcode.split(".")[0] for _, opcode, _ in code), _of_thread(log)
    return Compiled(
        registers=registers, spilled=spilled, instructions=len(code), grow=grow, tick=one_tick, change=game - one_tick - grow,
        opcodes=dict(opcodes.most_common(10)),
    )  # fmt: skip


def _assembled(text: str, tools: pathlib.Path, arch: int) -> tuple[str, str]:
    """(what the assembler says, the machine code as text)"""
    with tempfile.TemporaryDirectory() as name:
        source, cubin = (pathlib.Path(name) / file for file in ("kernel.ptx", "kernel.cubin"))
        source.write_text(text)
        command: list[str | pathlib.Path] = [tools / "ptxas", f"-arch=sm_{arch}", "-v", source, "-o", cubin]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return log, subprocess.run([tools / "cuobjdump", "--dump-sass", cubin], capture_output=True, text=True, check=True).stdout

def _of_thread(log: str) -> tuple[int, int]:
    return int(re.findall(r"Used (\d+) registers", log)[0]), sum(map(int, re.findall(r"(\d+) bytes spill", log)))


def play_all(
    g: Geometry, columns: jax.Array, job: Job, *, lanes: int, longest: int, first_plays: bool, moves: bool,
    policy: Policy | None = None, last: jax.Array | None = None,
) -> tuple[Records, list[warp.Block]]:  # fmt: skip
    """(what `jaxgo.backends.nvidia.play_all` returns on a GPU, what ran for it), by simulated warps; not under `jit`."""
    shapes = nvidia.outputs(g, columns.shape[1], job, longest, first_plays, moves)
    kernel = nvidia.kernel_of(g, job, first_plays, moves, policy)
    made, blocks = run(kernel, nvidia.inputs(g, columns, job, longest, policy, last), shapes, lanes)
    return nvidia.records(g, columns, job, [jnp.asarray(x) for x in made], first_plays), blocks


def run(
    kernel: nvidia.Written, read: Sequence[jax.Array], shapes: Sequence[tuple], lanes: int
) -> tuple[list[np.ndarray], list[warp.Block]]:
    """(what a kernel makes, what ran for it), given the arrays of `nvidia.inputs` and the shapes of `nvidia.outputs`."""
    # Anything may lie in the memory that the kernel is given to write.
    made = [np.full(shape, 0x5A5A, dtype) for shape, dtype in shapes]
    arrays = dict(zip(kernel.arrays, [*map(np.array, [*read, *kernel.tables]), *made], strict=True))
    return made, warp.run(kernel.text, arrays, -(-lanes // WARP))


def play(size: int, playouts: int = COUNTED) -> Played:
    """What `playouts` playouts from the empty board cost a warp, whatever is recorded."""
    times = {block.label: block.warps for block in reversed(_blocks(size, playouts, None))}
    return Played(times["tick"] / playouts, times["grow"] / playouts)


def ptx_instructions(size: int, playouts: int, policy: Policy | None = None) -> float:
    """PTX instructions of a warp in a playout from the empty board, the mean. The machine's are fewer, by about a third."""
    return sum(block.instructions for block in _blocks(size, playouts, policy)) / playouts


def _blocks(size: int, playouts: int, policy: Policy | None) -> list[warp.Block]:
    columns, job = jnp.asarray(_empty(size, playouts)), _job(size, playouts)
    return play_all(
        geometry(size), columns, job, lanes=LANES, longest=max_plies(size), first_plays=False, moves=False, policy=policy
    )[1]


def ceiling(instructions: float) -> float:
    """Playouts a second that an H100 could not exceed, for a warp's instructions in a playout: no measurement."""
    return PER_CLOCK * MULTIPROCESSORS * CLOCK * 1e9 / instructions


def rounds(ticks: np.ndarray, per_lane: int, warps: int = WARPS) -> tuple[float, float]:
    """What share of the time lanes play in a round of so many playouts for each lane, of as many warps as fit at a time.

    The lanes of a warp take its playouts as they become free, which they look at every `nvidia.TICKS` ticks.

    Args:
      ticks: what playouts need, from which these are drawn.
      per_lane: playouts of a warp over its lanes.
      warps: how many are looked at.

    Returns:
      (of the time until their own warp is done, the mean; of that until the last of the warps is). A GPU is between the two:
      warps that are done leave their share of the multiprocessor to others.
    """
    taken = np.random.default_rng(0).choice(ticks, (warps, WARP * per_lane))
    ends = []
    for playouts in -(-taken // nvidia.TICKS) * nvidia.TICKS:
        free = [0] * WARP
        for needed in playouts.tolist():
            heapq.heapreplace(free, free[0] + needed)
        ends.append(max(free))
    played = taken.sum(axis=1) / WARP
    return float(played.mean() / np.mean(ends)), float(played.mean() / np.max(ends))


def ticks_of_playouts(size: int, playouts: int = COUNTED) -> np.ndarray:
    """int [playouts]: how many ticks playouts from the empty board need, those of `play`, counted by XLA."""
    g, job, columns = playing_geometry(size), _job(size, playouts), _empty(size, playouts)

    @jax.jit
    def count():
        number = jnp.arange(playouts, dtype=jnp.int32)
        row = [jnp.broadcast_to(x, (playouts,)) for x in columns[:, 0]]
        lanes = fresh_lanes(g, ready(g, job, number, row), job.max_plies, False, 0)

        def step(state):
            lanes, ticks = state
            return tick(g, lanes), ticks + jnp.where(is_over(lanes.passes, lanes.plies_left), 0, 1)

        start = lanes, jnp.zeros(playouts, jnp.int32)
        return lax.while_loop(lambda s: ~jnp.all(is_over(s[0].passes, s[0].plies_left)), step, start)[1]

    with bb.words_known(g):
        return np.asarray(count())


def _empty(size: int, playouts: int) -> np.ndarray:
    """The columns of a job on the empty board."""
    position = columns_of(Position.empty(size, 1), jnp.zeros(1, jnp.int32))
    return np.stack([np.asarray(x) for x in of_playouts(position, 0, playouts)])


def _job(size: int, playouts: int) -> Job:
    one, number = jnp.int32(1), jnp.int32(playouts)
    return Job(playouts, draws.seed_words(1), one, number, jnp.int32(max_plies(size)))
