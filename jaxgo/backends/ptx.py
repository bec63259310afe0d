"""PTX, the text that NVIDIA's drivers compile, from elementwise functions of jax: a lane is a thread.

`Kernel.inline` traces a function for one lane and writes an instruction for each operation of its jaxpr: two dozen operations on
integers, each of which PTX knows. What is not elementwise, loops, branches and memory, the caller writes around it. Registers are
as many as wanted; which of them share one of the machine's is the driver's task, and so is everything else that a compiler does
but for one thing: a value that was computed once is not computed again (`_known`).

PTX: NVIDIA, "Parallel Thread Execution ISA", version 7.0, for compute capability 7.0 (Volta, 2017) and later.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

#: The first lines of a kernel's text.
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
#: Threads that a GPU runs in step.
WARP = 32

_CALLS = frozenset({"jit", "pjit"})
_SAME = frozenset({"broadcast_in_dim", "copy", "reshape", "squeeze"})  # of a single element, no operation at all
_BINARY = {"add": "add", "sub": "sub", "mul": "mul.lo", "div": "div", "rem": "rem", "max": "max", "min": "min"}
_BITWISE = {"and": "and", "or": "or", "xor": "xor", "not": "not"}
_SHIFTS = {"shift_left": "shl.b", "shift_right_logical": "shr.u", "shift_right_arithmetic": "shr.s"}
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_BOOL = np.dtype(bool)


class Value(NamedTuple):
    """What an instruction takes or gives: a register or a number."""

    text: str
    dtype: np.dtype

    @property
    def bits(self) -> int:
        """Its width."""
        return 8 * self.dtype.itemsize


def constant(x, dtype=np.int32) -> Value:
    """A number."""
    x = np.asarray(x, dtype)
    return Value(str(int(x)), x.dtype)


def is_value(x) -> bool:
    """Whether x is a value, a leaf of the trees here."""
    return isinstance(x, Value)


def shape(x: Value) -> jax.ShapeDtypeStruct:
    """What jax knows of a value."""
    return jax.ShapeDtypeStruct((), x.dtype)


class Kernel:
    """The text of a kernel, written from its first instruction to its last.

    Args:
      name: of the kernel.
      arrays: names of its parameters, the addresses of arrays.
    """

    def __init__(self, name: str, arrays: Sequence[str]):
        self._name, self._arrays = name, arrays
        self._lines: list[str] = []
        self._registers = dict.fromkeys("prd", 0)
        self._known: dict[tuple[str, ...], Value] = {}

    def text(self) -> str:
        """All of it."""
        kinds = zip(self._registers.items(), ("pred", "b32", "b64"))
        registers = [f".reg .{kind} %{letter}<{count + 1}>;" for (letter, count), kind in kinds]
        parameters = ", ".join(f".param .u64 {name}" for name in self._arrays)
        body = "\n".join([*registers, *self._lines, "ret;"])
        return f"{HEAD}.visible .entry {self._name}({parameters})\n.reqntid {WARP}, 1, 1\n{{\n{body}\n}}\n"

    # Registers and single instructions.

    def register(self, dtype) -> Value:
        """A new register."""
        dtype = np.dtype(dtype)
        letter = "p" if dtype == _BOOL else {4: "r", 8: "d"}[dtype.itemsize]
        self._registers[letter] += 1
        return Value(f"%{letter}{self._registers[letter]}", dtype)

    def registers(self, shapes):
        """New registers for the values of a pytree, of which only the types are looked at."""
        return jax.tree.map(lambda x: self.register(x.dtype), shapes, is_leaf=is_value)

    def special(self, name: str) -> Value:
        """What the machine knows: "%tid.x", the thread's number in its block, for one."""
        return self.op("mov.u32", np.int32, Value(name, np.dtype(np.int32)))

    def write(self, line: str) -> None:
        """An instruction as it is."""
        self._lines.append(line + ";")

    def op(self, opcode: str, dtype, *operands: Value) -> Value:
        """What an instruction makes of its operands, in a new register or one that holds it already."""
        key = (opcode, *(x.text for x in operands))
        if key not in self._known:
            self._known[key] = self.register(dtype)
            self.write(f"{opcode} {self._known[key].text}, {', '.join(key[1:])}")
        return self._known[key]._replace(dtype=np.dtype(dtype))

    def move(self, registers, values) -> None:
        """Puts values into registers, all at once; pytrees of both."""
        registers, values = jax.tree.leaves(registers, is_leaf=is_value), jax.tree.leaves(values, is_leaf=is_value)
        moves = [(r, v) for r, v in zip(registers, values, strict=True) if r.text != v.text]
        written = {r.text for r, _ in moves}
        kept = []
        for r, v in moves:
            if v.text in written:  # it would be lost to an earlier move
                spare = self.register(v.dtype)
                self.write(f"mov.{_bits(v)} {spare.text}, {v.text}")
                v = spare
            kept.append((r, v))
        for r, v in kept:
            self.write(f"mov.{_bits(r)} {r.text}, {v.text}")
        self._known.clear()

    # Where it goes on.

    def label(self, name: str) -> None:
        """A place to go on at."""
        self._lines.append(f"{name}:")
        self._known.clear()

    def go(self, name: str, where: Value | None = None, unless: bool = False) -> None:
        """Goes on at a label, or does so where a condition holds, or where it does not; the others go on here."""
        self.write(f"@{'!' if unless else ''}{where.text} bra {name}" if where else f"bra {name}")

    @contextlib.contextmanager
    def only(self, where: Value, name: str):
        """What is written within is done by the threads for which a condition holds; a label of that name follows it."""
        self.go(name, where, unless=True)
        yield
        self.label(name)

    def any(self, condition: Value) -> Value:
        """Whether the condition holds for any thread of the warp; all of them come here."""
        out = self.register(_BOOL)
        self.write(f"vote.sync.any.pred {out.text}, {condition.text}, 0xffffffff")
        return out

    def ballot(self, condition: Value) -> Value:
        """uint32: a bit for each thread of the warp for which the condition holds; all of them come here."""
        out = self.register(np.uint32)
        self.write(f"vote.sync.ballot.b32 {out.text}, {condition.text}, 0xffffffff")
        return out

    # Memory.

    def address(self, array: str) -> Value:
        """Where an array begins."""
        return self.op("ld.param.u64", np.uint64, Value(f"[{array}]", np.dtype(np.uint64)))

    def at(self, address: Value, index: Value, width: Value) -> Value:
        """The address `index` elements of `width` bytes further on (both of 32 bits, neither below 0)."""
        return self.op("mad.wide.u32", np.uint64, index, width, address)

    def load(self, address: Value, offset: int = 0, where: Value | None = None) -> Value:
        """A uint32 from memory; with `where`, 0 for those that read nothing."""
        out = self.register(np.uint32)
        if where is not None:
            self.write(f"mov.b32 {out.text}, 0")
        self.write(f"{f'@{where.text} ' if where else ''}ld.global.u32 {out.text}, [{address.text}+{offset}]")
        return out

    def store(self, address: Value, value: Value, width: int = 4, offset: int = 0, where: Value | None = None) -> None:
        """The lower `width` bytes of a register to memory."""
        guard = f"@{where.text} " if where else ""
        self.write(f"{guard}st.global.u{8 * width} [{address.text}+{offset}], {value.text}")

    # Functions.

    def inline(self, function: Callable, *args):
        """What a function returns for arguments, pytrees of values; it is traced for one lane."""
        leaves, structure = jax.tree.flatten(args, is_leaf=is_value)
        shapes = jax.tree.unflatten(structure, [shape(x) for x in leaves])
        closed, result = jax.make_jaxpr(function, return_shape=True)(*shapes)
        out = self._jaxpr(closed.jaxpr, [constant(x, None) for x in closed.consts], leaves)
        return jax.tree.unflatten(jax.tree.structure(result), out)

    def _jaxpr(self, jaxpr, constants: Sequence[Value], args: Sequence[Value]) -> list[Value]:
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *args], strict=True))

        def read(x) -> Value:
            return constant(x.val, x.aval.dtype) if hasattr(x, "val") else values[x]

        for equation in jaxpr.eqns:
            name, operands, result = equation.primitive.name, [read(x) for x in equation.invars], equation.outvars[0].aval
            if name in _CALLS:
                inner = equation.params["jaxpr"]
                results = self._jaxpr(inner.jaxpr, [constant(x, None) for x in inner.consts], operands)
            elif result.shape:
                raise NotImplementedError(f"{name} of arrays: {result}")
            else:
                results = [self._operation(name, result.dtype, operands)]
            values.update(zip(equation.outvars, results))
        return [read(x) for x in jaxpr.outvars]

    def _operation(self, name: str, dtype, operands: Sequence[Value]) -> Value:
        """What one of jax's operations gives, of type `dtype`."""
        first = operands[0]
        if name in _SAME:
            return first
        if name == "convert_element_type":
            return self._convert(first, np.dtype(dtype))
        if name in _BITWISE:
            return self.op(f"{_BITWISE[name]}.{_bits(first)}", dtype, *operands)
        if name in _BINARY:
            return self.op(f"{_BINARY[name]}.{_type(first)}", dtype, *operands)
        if name in _COMPARISONS:
            if first.dtype == _BOOL:
                differs = self.op("xor.pred", _BOOL, *operands)
                return {"ne": differs, "eq": self.op("not.pred", _BOOL, differs)}[name]
            return self.op(f"setp.{name}.{_type(first)}", _BOOL, *operands)
        if name in _SHIFTS:  # by the width or more PTX gives what jax gives; the number of places is of 32 bits
            return self.op(f"{_SHIFTS[name]}{first.bits}", dtype, first, self._convert(operands[1], np.dtype(np.uint32)))
        if name == "select_n":
            return self._select(*operands)
        if name == "population_count":
            return self._convert(self.op(f"popc.b{first.bits}", np.uint32, first), np.dtype(dtype))
        if name == "neg":
            return self.op(f"neg.{_type(first)}", dtype, first)
        if name == "sign":
            up = self.op(f"min.{_type(first)}", dtype, first, constant(1, dtype))
            return self.op(f"max.{_type(first)}", dtype, up, constant(-1, dtype)) if np.dtype(dtype).kind == "i" else up
        raise NotImplementedError(f"no instruction for {name} of {first.dtype}")

    def _select(self, which: Value, no: Value, yes: Value) -> Value:
        if no.text == yes.text:
            return no
        if no.dtype == _BOOL:
            yes = self.op("and.pred", _BOOL, which, yes)
            no = self.op("and.pred", _BOOL, self.op("not.pred", _BOOL, which), no)
            return self.op("or.pred", _BOOL, yes, no)
        return self.op(f"selp.{_bits(no)}", no.dtype, yes, no, which)

    def _convert(self, x: Value, dtype: np.dtype) -> Value:
        if dtype == x.dtype:
            return x
        if x.dtype == _BOOL:
            return self.op(f"selp.b{8 * dtype.itemsize}", dtype, constant(1, dtype), constant(0, dtype), x)
        if dtype == _BOOL:
            return self.op(f"setp.ne.{_type(x)}", _BOOL, x, constant(0, x.dtype))
        if not x.text.startswith("%"):
            return constant(np.asarray(int(x.text)).astype(dtype), dtype)
        if dtype.itemsize == x.dtype.itemsize:
            return x._replace(dtype=dtype)
        return self.op(f"cvt.{_type(Value('', dtype))}.{_type(x)}", dtype, x)


def _bits(x: Value) -> str:
    return "pred" if x.dtype == _BOOL else f"b{x.bits}"


def _type(x: Value) -> str:
    return f"{'s' if x.dtype.kind == 'i' else 'u'}{x.bits}"
