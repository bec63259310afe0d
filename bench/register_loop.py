"""What a core could do: the operations of a compiled loop on registers alone.

Independent of each other, operations keep their opcodes and get other registers: results go to one register after the other, and
what is read was written long before, so that none waits for another. In their order they keep their registers, and wait for
each other as in the loop. Operands in memory become registers either way; what is only stored is left out, and what is only
loaded is there at once. The loop is put together by LLVM, which comes with Numba.
"""

import ctypes
import re
from collections.abc import Sequence

import llvmlite.binding as llvm

from bench.machine_code import GENERAL, MEMORY, Instruction
from bench.measure import Work

_REGISTER = re.compile(r"%([xyz]mm)(\d+)")
_MASK = re.compile(r"%k\d")
#: What makes elements wider or narrower, from so many bytes to so many.
_RESIZE = re.compile(r"v?pmov(?:[sz]x|us|s)?([bwdq])([bwdq])$")
_BYTES = {"b": 1, "w": 2, "d": 4, "q": 8}
#: What takes or puts a part of a register: a quarter of 512 bits or a half of 256, or a half of 512.
_QUARTER, _HALF = (re.compile(rf"v(?:insert|extract)[if](?:{sizes})$") for sizes in ("128|32x4|64x2", "32x8|64x4"))
_KINDS = ("xmm", "ymm", "zmm")
_OPERAND = re.compile(r"(?:[^,{}]|\{[^}]*\})+")
#: Vector registers: all instructions can name the first, those with 512 bits or masks all.
_FEW, _ALL = 16, 32
#: Masks that can be written and asked: %k1 to %k7.
_MASKS = 7
#: Operations of a run are so many at least, so that calling costs nothing.
_LEAST = 10_000_000


class Registers:
    """Operations on registers alone."""

    def __init__(self, instructions: Sequence[Instruction], independent: bool):
        """Compiles the loop.

        Args:
          instructions: a trip of the compiled loop; some are operations.
          independent: whether operations do not wait for each other.
        """
        operations = [one for one in instructions if one.is_operation]
        self._number = len(operations)
        lines = renamed(operations) if independent else in_order(instructions)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_program(lines)), target)
        self._engine.finalize_object()
        address = self._engine.get_function_address("spin")
        self._spin = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)

    def run(self, count: int) -> Work:
        """Does at least `count` operations."""
        trips = -(-max(count, _LEAST) // self._number)
        self._spin(trips)
        return Work(trips * self._number)


def renamed(operations: Sequence[Instruction]) -> list[str]:
    """The operations as lines of assembler, on other registers."""
    lines, written = [], 0
    for number, one in enumerate(operations):
        registers = _REGISTER.findall(one.operands)
        wide = "{" in one.operands or any(kind == "zmm" or int(which) >= _FEW for kind, which in registers)
        parts = _OPERAND.findall(_in_register(one, 0))
        room = _ALL if wide else _FEW
        new = []
        for place, part in enumerate(parts):
            to = number if place == len(parts) - 1 else number + (place + 1) * room // 4
            part = _REGISTER.sub(rf"%\g<1>{to % room}", part)
            if place == len(parts) - 1 and _MASK.match(part):
                written += 1
                part = f"%k{written % _MASKS + 1}" + _MASK.sub(f"%k{(written + 1) % _MASKS + 1}", part[3:])
            else:
                part = _MASK.sub(f"%k{(written + 1 + place) % _MASKS + 1}", part)
            new.append(part)
        lines.append(f"{one.opcode} {', '.join(new)}")
    return lines


def in_order(instructions: Sequence[Instruction]) -> list[str]:
    """Those of the instructions that read or write vectors as lines of assembler, on their registers."""
    lines, loaded = [], 0
    for one in instructions:
        general = GENERAL.search(MEMORY.sub("", one.operands))
        target = re.search(r"%([xyz]mm)(\d+)$", one.operands)
        if one.is_operation:
            lines.append(f"{one.opcode} {_in_register(one, loaded)}")
        elif target and (one.memory or general):
            # That a register becomes zero is known before anything is computed, and takes nothing.
            kind, loaded = target[1], int(target[2])
            opcode = "vpxord" if kind == "zmm" or loaded >= _FEW else "vpxor"
            kind = "zmm" if opcode == "vpxord" else kind
            lines.append(f"{opcode} {', '.join(3 * [f'%{kind}{loaded}'])}")
        elif one.of_vectors and not one.memory and not general:
            lines.append(f"{one.opcode} {one.operands}")
    return lines


def _in_register(one: Instruction, number: int) -> str:
    """An instruction's operands, without blanks, with the register of this number for what lies in memory."""
    # It may be a number that is broadcast: `{1to16}` stands behind it then.
    return re.sub(rf"(?:{MEMORY.pattern})(?:\{{1to\d+\}})?", f"%{_kind_of_memory(one)}{number}", one.operands.replace(" ", ""))


def _kind_of_memory(one: Instruction) -> str:
    """The kind of register that holds what an instruction reads from memory, or writes there."""
    if _QUARTER.match(one.opcode) or one.opcode.startswith("vpbroadcast"):
        return "xmm"
    if _HALF.match(one.opcode):
        return "ymm"
    widest = max((kind for kind, _ in _REGISTER.findall(one.operands)), default="xmm")
    if resized := _RESIZE.match(one.opcode):
        small, large = sorted(_BYTES[letter] for letter in resized.groups())
        return _KINDS[max(0, _KINDS.index(widest) - (large // small).bit_length() + 1)]
    return widest


def _program(lines: Sequence[str]) -> str:
    """LLVM's text of a function that goes through the lines as often as it is told."""
    body = [".p2align 6", "1:", *(line.replace("$", "$$") for line in lines), "decq $0", "jne 1b"]
    written = {f"xmm{number}" for line in lines for _, number in _REGISTER.findall(line)}
    written |= {mask[1:] for line in lines for mask in _MASK.findall(line)}
    changed = ",".join(f"~{{{name}}}" for name in (*sorted(written), "flags", "dirflag", "fpsr"))
    text = r"\0A".join(body)
    return (
        "define i64 @spin(i64 %trips) {\n"
        f'  %left = call i64 asm sideeffect "{text}", "=r,0,{changed}"(i64 %trips)\n'
        "  ret i64 %left\n}\n"
    )
