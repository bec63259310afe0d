"""PTX, the text that NVIDIA's drivers compile, from functions of jax for one lane: a lane is a thread.

`Kernel.inline` traces a function for one lane and writes an instruction for each operation of its jaxpr: two dozen operations on
integers, each of which PTX knows; `lax.while_loop`, which each thread goes round as often as it needs; and looking up an element
of an array in memory. Branches, votes and all else the caller writes around it. Registers are as many as wanted; which of them
share one of the machine's is the driver's task, and so is everything else that a compiler does but for one thing: a value that
was computed once is not computed again (`_known`).

PTX: NVIDIA, "Parallel Thread Execution ISA", version 7.0, for compute capability 7.0 (Volta, 2017) and later.
"""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np

#: The first lines of a kernel's text.
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
#: Threads that a GPU runs in step.
WARP = 32

_CALLS = frozenset({"jit", "pjit"})
# Of a single element no operation at all.
_SAME = frozenset({"broadcast_in_dim", "copy", "reshape", "squeeze", "reduce_or", "reduce_and", "reduce_sum", "reduce_max"})
_BINARY = {"add": "add", "sub": "sub", "mul": "mul.lo", "div": "div", "rem": "rem", "max": "max", "min": "min"}
_BITWISE = {"and": "and", "or": "or", "xor": "xor", "not": "not"}
_SHIFTS = {"shift_left": "shl.b", "shift_right_logical": "shr.u", "shift_right_arithmetic": "shr.s"}
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_BOOL = np.dtype(bool)
#: Types of the elements of arrays in memory. Bytes are only looked up, and made larger.
_IN_MEMORY = frozenset({"uint8", "int32", "uint32", "int64", "uint64"})


class Value(NamedTuple):
    """What an instruction takes or gives: a register or a number."""

    text: str
    dtype: np.dtype

    @property
    def bits(self) -> int:
        """Its width."""
        return 8 * self.dtype.itemsize


    @property
    def shape(self) -> tuple[()]:
        """As of a scalar."""
        return ()


class Array(NamedTuple):
    """An array in memory, of which a function for one lane may look up elements."""

    name: str
    """Of the kernel's parameter."""
    shape: tuple[int]
    dtype: np.dtype


def constant(x, dtype=np.int32) -> Value:
    """A number."""
    x = np.asarray(x, dtype)
    return Value(str(int(x.item())), x.dtype)


def is_value(x) -> bool:
    """Whether x is a value or an array in memory, a leaf of the trees here."""
    return isinstance(x, (Value, Array))


def shape(x: Value | Array) -> jax.ShapeDtypeStruct:
    """What jax knows of a leaf."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


class Kernel:
    """The text of a kernel, written from its first instruction to its last.

    Args:
      name: of the kernel.
      read, written: names of its parameters, the addresses of arrays; those of `tables` stand between them.
    """

    def __init__(self, name: str, read: Sequence[str], written: Sequence[str] = ()):
        self._name, self._read, self._written = name, read, written
        #: Arrays that the functions hold as constants, in which they look something up.
        self.tables: list[np.ndarray] = []
        self._loops = 0
        self._lines: list[str] = []
        self._registers = dict.fromkeys("prd", 0)
        self._known: dict[tuple[str, ...], Value] = {}

    @property
    def arrays(self) -> list[str]:
        """The names of its parameters."""
        return [*self._read, *(_table(i) for i in range(len(self.tables))), *self._written]

    def text(self) -> str:
        """All of it."""
        kinds = zip(self._registers.items(), ("pred", "b32", "b64"))
        registers = [f".reg .{kind} %{letter}<{count + 1}>;" for (letter, count), kind in kinds]
        parameters = ", ".join(f".param .u64 {name}" for name in self.arrays)
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

    def load(self, address: Value, offset: int = 0, where: Value | None = None, width: int = 4) -> Value:
        """A uint32, or a uint64, of `width` bytes in memory; with `where`, 0 for those that read nothing."""
        out = self.register(np.uint64 if width == 8 else np.uint32)
        if where is not None:
            self.write(f"mov.{_bits(out)} {out.text}, 0")
        self.write(f"{f'@{where.text} ' if where else ''}ld.global.u{8 * width} {out.text}, [{address.text}+{offset}]")
        return out

    def store(self, address: Value, value: Value, width: int = 4, offset: int = 0, where: Value | None = None) -> None:
        """The lower `width` bytes of a register to memory."""
        guard = f"@{where.text} " if where else ""
        self.write(f"{guard}st.global.u{8 * width} [{address.text}+{offset}], {value.text}")

    def scalar(self, array: Array) -> Value:
        """What an array without axes holds."""
        return self.look_up(array._replace(shape=(1,)), constant(0))

    def look_up(self, array: Array, index: Value) -> Value:
        """An element of an array of one axis; `index` is of 32 bits, and one beyond an end stands for that end, as to XLA."""
        dtype = np.dtype(array.dtype)
        if len(array.shape) != 1 or dtype.name not in _IN_MEMORY or index.dtype.itemsize != 4:
            raise NotImplementedError(f"looking up in an array of {dtype} with {len(array.shape)} axes, by {index.dtype}")
        if index.text.startswith("%"):
            if index.dtype.kind == "i":
                index = self.op("max.s32", np.int32, index, constant(0))
            index = self.op("min.u32", np.uint32, index, constant(array.shape[0] - 1, np.uint32))
        address = self.at(self.address(array.name), index, constant(dtype.itemsize))
        return self.load(address, width=dtype.itemsize)._replace(dtype=dtype)

    # Functions.

    def inline(self, function: Callable, *args):
        """What a function returns for arguments, pytrees of values and arrays; it is traced for one lane."""
        leaves, structure = jax.tree.flatten(args, is_leaf=is_value)
        shapes = jax.tree.unflatten(structure, [shape(x) for x in leaves])
        closed, result = jax.make_jaxpr(function, return_shape=True)(*shapes)
        out = self._jaxpr(closed.jaxpr, self._constants(closed.consts), leaves)
        return jax.tree.unflatten(jax.tree.structure(result), out)

    def _constants(self, given: Sequence) -> list[Value | Array]:
        """Constants of a function; arrays become tables."""
        found: list[Value | Array] = []
        for x in map(np.asarray, given):
            if x.ndim:
                same = (i for i, table in enumerate(self.tables) if table.dtype == x.dtype and np.array_equal(table, x))
                number = next(same, len(self.tables))
                self.tables[number:] = self.tables[number:] or [x]
                found.append(Array(_table(number), x.shape, x.dtype))
            else:
                found.append(constant(x, None))
        return found

    def _jaxpr(self, jaxpr, constants: Sequence[Value | Array], args: Sequence[Value | Array]) -> list[Value | Array]:
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *args], strict=True))

        def read(x) -> Value | Array:
            return constant(x.val, x.aval.dtype) if hasattr(x, "val") else values[x]

        for equation in jaxpr.eqns:
            name, operands, result = equation.primitive.name, [read(x) for x in equation.invars], equation.outvars[0].aval
            results: Sequence[Value | Array]
            if name in _CALLS:
                inner = equation.params["jaxpr"]
                results = self._jaxpr(inner.jaxpr, self._constants(inner.consts), operands)
            elif name == "while":
                results = self._while(equation.params, operands)
            elif math.prod(result.shape) != 1:
                raise NotImplementedError(f"{name} of arrays: {result}")
            else:
                results = [self._equation(name, result.dtype, operands, equation.params)]
            values.update(zip(equation.outvars, results))
        return [read(x) for x in jaxpr.outvars]

    def _equation(self, name: str, dtype, operands: Sequence[Value | Array], params: Mapping) -> Value:
        """What an operation gives that has a single element for its result."""
        array, *index = operands
        if isinstance(array, Array) and name == "dynamic_slice" and isinstance(index[0], Value):
            return self.look_up(array, index[0])
        if isinstance(array, Array) and name == "slice":
            return self.look_up(array, constant(params["start_indices"][0]))
        values = [x for x in operands if isinstance(x, Value)]
        if len(values) < len(operands):
            raise NotImplementedError(f"{name} of an array in memory")
        return self._operation(name, dtype, values)

    def _while(self, loop: Mapping, operands: Sequence[Value | Array]) -> list[Value]:
        """A loop, which each thread leaves when its condition no longer holds."""
        of_cond, of_body = loop["cond_nconsts"], loop["cond_nconsts"] + loop["body_nconsts"]
        carried = self.registers(operands[of_body:])
        self._loops += 1
        begin, end = f"loop{self._loops}", f"left{self._loops}"

        def part(which: str, constants: Sequence[Value | Array]) -> list[Value | Array]:
            inner = loop[which]
            return self._jaxpr(inner.jaxpr, self._constants(inner.consts), [*constants, *carried])

        def goes_on() -> Value:
            (condition,) = part("cond_jaxpr", operands[:of_cond])
            assert isinstance(condition, Value)
            return condition

        self.move(carried, operands[of_body:])
        self.go(end, goes_on(), unless=True)
        self.label(begin)
        self.move(carried, part("body_jaxpr", operands[of_cond:of_body]))
        self.go(begin, goes_on())
        self.label(end)
        return carried

    def _operation(self, name: str, dtype, operands: Sequence[Value]) -> Value:
        """What one of jax's operations gives, of type `dtype`."""
        first = operands[0]
        if name in _SAME:
            return first
        narrow = first.dtype.itemsize < 4 and first.dtype != _BOOL and name != "convert_element_type"
        if narrow or first.dtype.kind not in "biu" or np.dtype(dtype).kind not in "biu":
            raise NotImplementedError(f"no instruction for {name} of {first.dtype} to {np.dtype(dtype)}")
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
        if name in ("neg", "abs"):  # of unsigned numbers the same bits
            return self.op(f"{name}.s{first.bits}", dtype, first)
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
        if dtype.itemsize == x.dtype.itemsize or x.dtype.itemsize == 1:  # bytes lie in registers of 32 bits
            return x._replace(dtype=dtype)
        return self.op(f"cvt.{_type(Value('', dtype))}.{_type(x)}", dtype, x)


def _table(number: int) -> str:
    return f"table{number}"


def _bits(x: Value) -> str:
    return "pred" if x.dtype == _BOOL else f"b{x.bits}"


def _type(x: Value) -> str:
    return f"{'s' if x.dtype.kind == 'i' else 'u'}{x.bits}"
