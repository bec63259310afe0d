"""Simulated GPU: runs a kernel's PTX on the CPU, warp instruction by warp instruction, and counts them.

It knows the instructions that `jaxgo.backends.ptx` writes. All warps run side by side, a register being a numpy array of all
lanes. Where lanes part, those whose next instruction stands first in the text go on alone until they meet the others, which is
how a GPU takes branches and loops. A warp's instruction counts once, however many of its lanes take part.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jaxgo.backends.ptx import WARP

_LINE = re.compile(r"(?:@(!?)%(p\d+) )?([a-z][a-z0-9_.]*) ?(.*);")
_BINARY = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"}
_UNARY = {"not": "~", "neg": "-", "mov": ""}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_KEPT = {"p": np.bool_, "r": np.uint32, "d": np.uint64}
#: Bytes between the arrays in memory.
_APART = 1 << 40


@dataclasses.dataclass
class Block:
    """Instructions that follow each other, up to a label or a branch, and what ran of them."""

    label: str
    """The last label before it."""
    code: list[tuple[str, str, str, list[str]]] = dataclasses.field(default_factory=list)
    """(what negates the guard, guard, opcode, operands) of each instruction."""
    warps: int = 0
    """How often a warp came here."""
    lanes: int = 0
    """How many lanes came with it, in all."""

    @property
    def instructions(self) -> int:
        """Of warps, in all."""
        return self.warps * len(self.code)


def run(text: str, arrays: Mapping[str, np.ndarray], warps: int) -> list[Block]:
    """Runs a kernel on a grid of so many warps.

    Args:
      text: of the kernel.
      arrays: its parameters by name, contiguous, written in place.
      warps: how many blocks of one warp each.

    Returns:
      The blocks of the text in their order, with what was counted.

    Raises:
      IndexError: memory outside of the arrays is read or written.
      NotImplementedError: an instruction is not known.
      RuntimeError: a vote is taken without some of a warp's lanes.
    """
    blocks = _parse(text)
    machine = _Machine(blocks, list(arrays), [x.reshape(-1) for x in arrays.values()], warps)
    with np.errstate(over="ignore"):
        machine.run()
    return blocks


def _parse(text: str) -> list[Block]:
    """The blocks of a text's one kernel; the first is called "start"."""
    blocks = [Block("start")]
    for line in text[text.index("{\n") + 2 : text.rindex("}")].splitlines():
        if line.startswith(".reg"):
            continue
        if line.endswith(":"):
            blocks.append(Block(line[:-1]))
            continue
        found = _LINE.fullmatch(line)
        if not found:
            raise NotImplementedError(f"not understood: {line}")
        negated, guard, opcode, operands = found.groups()
        blocks[-1].code.append((negated, guard, opcode, operands.split(", ") if operands else []))
        if opcode == "bra":
            blocks.append(Block(blocks[-1].label))
    return [block for block in blocks if block.code]


class _Machine:
    def __init__(self, blocks: list[Block], names: list[str], arrays: list[np.ndarray], warps: int):
        self.blocks, self.names, self.arrays, self.warps = blocks, names, arrays, warps
        lane = np.arange(WARP * warps, dtype=np.uint32)
        full = np.full_like
        self.special = {"%tid.x": lane % WARP, "%ctaid.x": lane // WARP, "%nctaid.x": full(lane, warps)}
        self.special["%lanemask_lt"] = (np.uint32(1) << lane % WARP) - np.uint32(1)
        self.places = {block.label: i for i, block in reversed(list(enumerate(blocks)))}
        # A register that one block alone uses, writing it first, is a variable of that block; the others outlive blocks.
        uses = [_uses(block) for block in blocks]
        shared: set[str] = set()
        for i, (read, written) in enumerate(uses):
            shared |= read | {x for x in written if any(x in a | b for j, (a, b) in enumerate(uses) if j != i)}
        self.registers: dict[str, np.ndarray] = {x: np.zeros(WARP * warps, _KEPT[x[0]]) for x in shared}
        self.code = [self._compile(block, *use, shared) for block, use in zip(blocks, uses)]

    def run(self) -> None:
        at = np.zeros(WARP * self.warps, np.int64)
        while (place := at.min()) < len(self.blocks):
            block, lanes = self.blocks[place], np.flatnonzero(at == place)
            block.lanes += len(lanes)
            block.warps += len(np.unique(lanes // WARP))
            goal, taken = self.code[place](self, lanes if len(lanes) < len(at) else slice(None))
            at[lanes] = place + 1 if goal is None else np.where(taken, goal, place + 1)

    # A block becomes a function of (machine, lanes) that returns (place of the branch's goal or None, who goes there).

    def _compile(self, block: Block, read: set[str], written: set[str], shared: set[str]) -> Callable:
        lines = [f"{x} = m.registers[{x!r}][lanes]" for x in sorted(read)]
        end = "return None, None"
        for negated, guard, opcode, operands in block.code:
            where = guard and f"{'~' if negated else ''}{guard}"
            if opcode == "bra":
                end = f"return {self.places[operands[0]]}, {where or True}"
            elif opcode == "ret":
                end = f"return {len(self.blocks)}, True"
            else:
                lines.append(_statement(opcode, operands, where))
        lines += [f"m.keep({x!r}, lanes, {x})" for x in sorted(written & shared)]
        names: dict[str, Any] = {"np": np}
        exec("def function(m, lanes):\n    " + "\n    ".join([*lines, end]), names)
        return names["function"]

    def keep(self, name: str, lanes, value) -> None:
        """Writes a register of some lanes."""
        new = self.registers[name].copy()  # another register may share the array
        new[lanes] = value
        self.registers[name] = new

    def lane_of(self, name: str, lanes) -> np.ndarray:
        """A special register."""
        return self.special[name][lanes]

    def parameter(self, name: str) -> np.uint64:
        """The address of an array."""
        return np.uint64(_APART * (1 + self.names.index(name)))

    def _cells(self, address, dtype) -> tuple[np.ndarray, np.ndarray]:
        """An array and the numbers of its elements at addresses."""
        address = np.atleast_1d(address)
        which = int(address[0]) // _APART - 1
        cells = (address - np.uint64(_APART * (which + 1))).astype(np.int64) // np.dtype(dtype).itemsize
        array = self.arrays[which].view(dtype)
        if cells.min() < 0 or cells.max() >= len(array):
            raise IndexError(f"{self.names[which]} has no element {cells.min()} or {cells.max()}")
        return array, cells

    def load(self, address, where, before, dtype) -> np.ndarray:
        """From memory, of an unsigned type there, where the guard holds; uint32 if it is narrower."""
        if where is None:
            array, cells = self._cells(address, dtype)
            return array[cells].astype(np.result_type(dtype, np.uint32))
        out = np.full(len(where), before)
        if where.any():
            array, cells = self._cells(np.broadcast_to(address, where.shape)[where], dtype)
            out[where] = array[cells]
        return out

    def store(self, address, where, value, dtype) -> None:
        """To memory, where the guard holds; the upper bits of a wide register are left out."""
        where = slice(None) if where is None else where
        address, value = address[where], np.broadcast_to(value, address.shape)[where]
        if len(address):
            array, cells = self._cells(address, dtype)
            array[cells] = value.astype(dtype)

    def vote(self, lanes, condition) -> np.ndarray:
        """The lanes of each one's warp for which the condition holds, as bits."""
        here, holds = np.zeros((2, WARP * self.warps), bool)
        here[lanes], holds[lanes] = True, condition
        if (here.reshape(-1, WARP).any(1) != here.reshape(-1, WARP).all(1)).any():
            raise RuntimeError("a vote without some of the warp's lanes")
        bits = (holds.reshape(-1, WARP) << np.arange(WARP, dtype=np.uint32)).sum(1, dtype=np.uint32)
        return np.repeat(bits, WARP)[lanes]


def _uses(block: Block) -> tuple[set[str], set[str]]:
    """(registers that a block reads before it writes them, those it writes)."""
    read: set[str] = set()
    written: set[str] = set()
    for _, guard, opcode, operands in block.code:
        names = [re.findall(r"%([prd]\d+)", x) for x in operands]
        writes = opcode.split(".")[0] not in ("st", "bra", "ret")
        taken = {x for xs in names[writes:] for x in xs} | ({guard} if guard else set())
        if guard and writes:
            taken |= set(names[0])  # what it was stays where the guard does not hold
        read |= taken - written
        if writes:
            written |= set(names[0])
    return read, written


def _statement(opcode: str, operands: list[str], where: str | None) -> str:
    """Python for an instruction that is no branch."""
    op, *parts = opcode.split(".")
    kind = parts[-1] if parts else ""
    if op == "st":
        address, value = operands
        return f"m.store({_address(address)}, {where}, {_value(value, 'b32')}, np.uint{kind[1:]})"
    out, *source = operands
    out = out[1:]
    if op == "ld":
        if parts[0] == "param":
            return f"{out} = m.parameter({source[0][1:-1]!r})"
        return f"{out} = m.load({_address(source[0])}, {where}, {out if where else None}, np.{_unsigned(kind)})"
    if where:
        raise NotImplementedError(f"a guarded {opcode}")
    if op == "vote":
        return f"{out} = m.vote(lanes, {source[0][1:]})" + (" != 0" if parts[1] == "any" else "")
    if op == "mov" and not re.fullmatch(r"-?\d+|%[prd]\d+", source[0]):
        return f"{out} = m.lane_of({source[0]!r}, lanes)"
    if op == "cvt":
        return f"{out} = {_value(source[0], kind)}.astype(np.{_unsigned(parts[0])})"
    if op == "selp":
        return f"{out} = np.where({source[2][1:]}, {_value(source[0], kind)}, {_value(source[1], kind)})"
    if op in ("neg", "abs") and kind[0] != "s":
        raise NotImplementedError(opcode)
    if op in ("add", "sub", "mul", "mad", "neg"):
        kind = kind.replace("s", "u")  # the same bits
    a, *rest = (_value(x, kind) for x in source)
    bits = kind[1:]
    if op == "mad" and parts[0] == "wide":
        return f"{out} = {a}.astype(np.uint64) * {rest[0]}.astype(np.uint64) + {_value(source[2], 'u64')}"
    if op == "mad":
        return f"{out} = {a} * {rest[0]} + {rest[1]}"
    if op in _BINARY:
        return f"{out} = {a} {_BINARY[op]} {rest[0]}"
    if op in _UNARY:
        return f"{out} = {_UNARY[op]}{a}"
    if op == "abs":
        return f"{out} = np.abs({a}).view(np.uint{bits})"
    if op == "popc":
        return f"{out} = np.bitwise_count({a}).astype(np.uint32)"
    if op == "setp":
        return f"{out} = {a} {_COMPARE[parts[0]]} {rest[0]}"
    if op in ("shl", "shr"):
        return f"{out} = {_shift(op, a, _value(source[1], 'u32'), kind)}"
    if op in ("min", "max"):
        return f"{out} = np.{op}imum({a}, {rest[0]}).view(np.uint{bits})"
    if op in ("div", "rem"):  # by 0: anything
        b = f"np.where({rest[0]} == 0, 1, {rest[0]}).astype(np.int64)"
        quotient = f"np.trunc({a} / {b}).astype(np.int64)"
        return f"{out} = ({quotient if op == 'div' else f'{a} - {b} * {quotient}'}).astype(np.uint{bits})"
    raise NotImplementedError(opcode)


def _unsigned(kind: str) -> str:
    return f"uint{kind[1:]}"


def _value(text: str, kind: str) -> str:
    """Python for an operand read as a type such as "s32"; registers hold unsigned numbers."""
    if kind == "pred":
        return text[1:] if text.startswith("%") else f"np.bool_({text})"
    bits = int(kind[1:])
    if text.startswith("%"):
        return f"{text[1:]}.view(np.int{bits})" if kind[0] == "s" else text[1:]
    value = int(text) & (1 << bits) - 1
    if kind[0] == "s":
        return f"np.int{bits}({value - (value >> bits - 1 << bits)})"
    return f"np.uint{bits}({value})"


def _shift(op: str, a: str, by: str, kind: str) -> str:
    """Python for a shift; by the width or more all bits are gone, or copies of the sign."""
    bits, number = kind[1:], f"np.{'int' if kind[0] == 's' else 'uint'}{kind[1:]}"
    shifted = f"{a} {'<<' if op == 'shl' else '>>'} np.minimum({by}, np.uint32({int(bits) - 1})).astype({number})"
    return f"({shifted}).view(np.uint{bits})" if kind[0] == "s" else f"np.where({by} < {bits}, {shifted}, {number}(0))"


def _address(text: str) -> str:
    register, _, offset = text[1:-1].partition("+")
    return f"({register[1:]} + np.uint64({offset or 0}))"
