"""jaxgo's GPU kernel as machine code, made on a machine without a GPU by Triton's own compiler; and how often its loop runs."""

import collections
import dataclasses
import pathlib
import re
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxgo import Position
from jaxgo.backends import nvidia as kernel
from jaxgo.board import bitboard as bb
from jaxgo.board.geometry import geometry, playing_geometry
from jaxgo.playing import draws
from jaxgo.playing.playout import Job, columns_of_table, fresh_lanes, ready
from jaxgo.playing.tick import is_over, tick
from jaxgo.running.simulate import default_max_plies, table

#: An H200: multiprocessors, integer instructions of a warp in a clock on each, clock in GHz, lanes of a warp.
MULTIPROCESSORS, PER_CLOCK, CLOCK, WARP = 132, 2, 1.85, 32
#: Playouts whose ticks are counted.
COUNTED = 512
_ESCAPES = {"n": b"\n", "t": b"\t", "\\": b"\\", '"': b'"'}


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A kernel's machine code in numbers."""

    registers: int
    """Of a thread, at most 255."""
    spilled: int
    """Bytes of a thread that did not fit into registers."""
    instructions: int
    """In all."""
    loops: list[int]
    """Instructions in each loop, the largest last: that one is the whole game, and the one before it the tick."""
    opcodes: dict[str, int]
    """The ten commonest."""

    @property
    def tick(self) -> int:
        """Instructions of a tick."""
        return self.loops[-2]


def lower(size: int, *, first_plays: bool = True, moves: bool = False, lanes: int = 4096) -> str:
    """The kernel's program for NVIDIA GPUs, as text; needs no GPU. Board size N and what is to be recorded."""
    g = geometry(size)

    def play(tab, seed, *numbers):
        job = Job(1000, seed, *numbers)
        return kernel.play_all(g, tab, job, lanes=lanes, longest=default_max_plies(size), first_plays=first_plays, moves=moves)

    tab = jax.eval_shape(lambda: table(Position.empty(size, 3), jnp.zeros(3, jnp.int32)))
    seed = (jax.ShapeDtypeStruct((), jnp.uint32),) * 2
    unchecked = [jax.export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")]
    exported = jax.export.export(jax.jit(play), platforms=["cuda"], disabled_checks=unchecked)
    return exported(tab, seed, *[jax.ShapeDtypeStruct((), jnp.int32)] * 4).mlir_module()


def compile_for(text: str, arch: int = 90) -> Compiled:
    """The machine code of the one kernel in a lowered program, for compute capability `arch` / 10.

    Raises:
      ImportError: triton is not installed.
      ValueError: there is no kernel in the program.
    """
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    warps, bytecode = payload(text)
    with tempfile.TemporaryDirectory() as name:
        folder, target, context = pathlib.Path(name), GPUTarget("cuda", arch, WARP), ir.context()
        ir.load_dialects(context)
        make_backend(target).load_dialects(context)
        source, readable = folder / "kernel.mlirbc", folder / "kernel.ttir"
        source.write_bytes(bytecode)
        readable.write_text(str(ir.parse_mlir_module(str(source), context)))
        made = triton.compile(str(readable), target=target, options={"num_warps": warps, "num_stages": 1})
        tools = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin"
        ptx, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
        ptx.write_text(made.asm["ptx"])
        machine = re.search(r"\.target (\w+)", made.asm["ptx"]).group(1)
        log = subprocess.run(
            [tools / "ptxas", f"-arch={machine}", "-v", ptx, "-o", cubin], capture_output=True, text=True, check=True
        ).stderr
        listing = subprocess.run([tools / "cuobjdump", "--dump-sass", cubin], capture_output=True, text=True, check=True).stdout
    code = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+ )?([A-Z0-9_.]+)([^;]*);", listing)
    loops = []
    for address, opcode, rest in code:
        goal = re.search(r"0x([0-9a-f]+)", rest)
        if opcode.startswith("BRA") and goal and int(goal.group(1), 16) < int(address, 16):
            loops.append((int(address, 16) - int(goal.group(1), 16)) // 16)
    opcodes = collections.Counter(opcode.split(".")[0] for _, opcode, _ in code)
    return Compiled(
        registers=int(re.search(r"Used (\d+) registers", log).group(1)),
        spilled=sum(map(int, re.findall(r"(\d+) bytes spill", log))),
        instructions=len(code), loops=sorted(loops), opcodes=dict(opcodes.most_common(10)),
    )  # fmt: skip


def ceiling(instructions: int, ticks: float) -> float:
    """Playouts a second that an H200 could not exceed, for instructions of a tick and ticks of a playout: no measurement."""
    return PER_CLOCK * MULTIPROCESSORS * CLOCK * 1e9 * WARP / (instructions * ticks)


def ticks_of_a_playout(size: int) -> float:
    """How many ticks a playout from the empty board takes, the mean of `COUNTED`."""
    g = playing_geometry(size)
    tab = table(Position.empty(size, 1), jnp.zeros(1, jnp.int32))
    one = jnp.int32(1)
    job = Job(COUNTED, draws.seed_words(1), one, jnp.int32(COUNTED), jnp.int32(0), jnp.int32(default_max_plies(size)))

    @jax.jit
    def count():
        number = jnp.arange(COUNTED, dtype=jnp.int32)
        row = [jnp.broadcast_to(x, (COUNTED,)) for x in columns_of_table(tab)]
        lanes = fresh_lanes(g, ready(g, job, number, row), job.max_plies, False, 0)

        def step(state):
            lanes, ticks = state
            return tick(g, lanes), ticks + jnp.where(is_over(lanes.passes, lanes.plies_left), 0, 1)

        start = lanes, jnp.zeros(COUNTED, jnp.int32)
        return lax.while_loop(lambda s: ~jnp.all(is_over(s[0].passes, s[0].plies_left)), step, start)[1]

    with bb.words_known(g):
        return float(np.asarray(count()).mean())


def payload(text: str) -> tuple[int, bytes]:
    """(warps of a program, the kernel's bytecode)."""
    call = re.search(r'__gpu\$xla\.gpu\.triton.*?ir = "', text, re.S)
    if not call:
        raise ValueError("there is no Triton kernel in the program")
    out, i = bytearray(), call.end()
    while text[i] != '"':
        if text[i] != "\\":
            out += text[i].encode()
            i += 1
        elif text[i + 1] in _ESCAPES:
            out += _ESCAPES[text[i + 1]]
            i += 2
        else:
            out.append(int(text[i + 1 : i + 3], 16))
            i += 3
    warps = re.search(r"num_warps = (\d+)", text[i : i + 2000]) or re.search(r"num_warps = (\d+)", text)
    return int(warps.group(1)), bytes(out)
