"""The loop of a compiled program in which the time is spent, as x86-64 machine code: which instructions it has.

Nothing here is documented by XLA: that it can be made to write its object files (`--xla_dump_to`), that a tick is one loop in one
of them, what the loop looks like. So all of it is checked, and where something is not as expected `NotMeasured` says what.
"""

import dataclasses
import pathlib
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence

from bench.measure import NotMeasured

#: Disassemblers, the first that is installed is taken.
DISASSEMBLERS = ("objdump", "llvm-objdump")
_LINE = re.compile(r"^\s*([0-9a-f]+):\s+([a-z][a-z0-9.]*)[ \t]*([^\n#<]*)", re.MULTILINE)
MEMORY = re.compile(r"(?:%[a-z]s:)?-?(?:0x)?[0-9a-f]*\([^)]*\)")
_VECTOR = re.compile(r"%(?:[xyz]mm\d+|k[0-7])")
GENERAL = re.compile(r"%(?:[re]?[abcd][xlh]|[re]?[sd]il?|[re]?[bs]pl?|r\d+[dwb]?)\b")
#: Vectors that are copied, not computed; under a mask they are a choice between two, which is an operation.
_COPIES = re.compile(r"v?(?:mov(?:[adhlnu]|s[sdlh])|p?broadcast|lddqu)|kmov")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """A machine instruction, in AT&T's notation."""

    opcode: str
    operands: str

    @property
    def of_vectors(self) -> bool:
        """Whether it reads or writes vectors or masks."""
        return bool(_VECTOR.search(self.operands))

    @property
    def memory(self) -> str | None:
        """Its operand in memory, or None."""
        found = MEMORY.search(self.operands)
        return found and found.group()

    @property
    def is_operation(self) -> bool:
        """Whether it computes vectors or masks of such, perhaps with one operand in memory."""
        if not self.of_vectors or GENERAL.search(MEMORY.sub("", self.operands)):
            return False
        return not _COPIES.match(self.opcode) or "{%k" in self.operands.replace(" ", "")


@dataclasses.dataclass(frozen=True)
class Loop:
    """What a loop does in one trip."""

    instructions: tuple[Instruction, ...]
    """All of them."""
    trips: int
    """How often it is gone through."""
    framed: bool
    """Whether %rbp points to the stack, too."""

    @property
    def operations(self) -> tuple[Instruction, ...]:
        """Those that compute vectors."""
        return tuple(one for one in self.instructions if one.is_operation)

    @property
    def stack(self) -> int:
        """How many read vectors from the stack, or write them there: what did not fit into registers, constants too."""
        places = ("%rsp", "%rbp") if self.framed else ("%rsp",)
        return sum(one.of_vectors and any(place in (one.memory or "") for place in places) for one in self.instructions)


def disassembler() -> str | None:
    """The program that reads machine code, or None."""
    return next((path for name in DISASSEMBLERS if (path := shutil.which(name))), None)


def largest_loop(folder: pathlib.Path, name: str) -> Loop:
    """The loop with the most instructions in the object files of a folder whose names contain `name`.

    Raises:
      NotMeasured: it cannot be read here.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise NotMeasured(f"machine code is counted for x86-64 alone, and this is {platform.machine()}")
    program, objects = disassembler(), sorted(folder.glob(f"*{name}*.o"))
    if not program:
        raise NotMeasured(f"there is no {' or '.join(DISASSEMBLERS)} to read machine code: install binutils or LLVM")
    if not objects:
        raise NotMeasured("this XLA has not written the compiled program (--xla_dump_to)")
    found = []
    for file in objects:
        command = [program, "-d", "--no-show-raw-insn", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise NotMeasured(f"{program} failed: {(done.stderr.strip() or 'it printed nothing').splitlines()[-1]}")
        found += loops(done.stdout)
    if not found:
        raise NotMeasured("there is no loop in the compiled program that goes through arrays from end to end")
    return max(found, key=lambda loop: len(loop.instructions))


def loops(listing: str) -> list[Loop]:
    """The innermost loops of a disassembler's listing whose trips are known: they end by adding to a register and comparing it
    with where the arrays end."""
    code = [(int(address, 16), Instruction(opcode, rest.strip())) for address, opcode, rest in _LINE.findall(listing)]
    framed = any(one.opcode.rstrip("q") == "mov" and one.operands.replace(" ", "") == "%rsp,%rbp" for _, one in code)
    out, begun = [], -1
    for index, (address, one) in enumerate(code):
        goal = re.match(r"(?:0x)?([0-9a-f]+)$", one.operands)
        if not one.opcode.startswith("j") or one.opcode == "jmp" or not goal or int(goal[1], 16) > address:
            continue
        start = next((i for i, (place, _) in enumerate(code[:index]) if place == int(goal[1], 16)), None)
        if start is None or start <= begun:  # there is another loop inside
            continue
        begun = start
        body = tuple(instruction for _, instruction in code[start : index + 1])
        if (trips := _trips(body)) is not None:
            out.append(Loop(body, trips, framed))
    return out


def _trips(body: Sequence[Instruction]) -> int | None:
    """How often a loop is gone through that ends in `add $step, r; cmp $end, r; jne`."""
    if len(body) < 3 or body[-1].opcode not in ("jne", "jb"):
        return None
    step, end = (
        re.fullmatch(r"\$(?:0x)?([0-9a-f]+), ?(%\w+)", one.operands) if one.opcode.rstrip("lq") == name else None
        for one, name in zip(body[-3:-1], ("add", "cmp"))
    )
    if not step or not end or step[2] != end[2]:
        return None
    return _number(body[-2].operands) // _number(body[-3].operands)


def _number(operands: str) -> int:
    """The constant with which operands begin: 0x and hexadecimal, or decimal."""
    return int(operands.removeprefix("$").partition(",")[0], 0)
