"""Loops in disassemblers' listings, and their operations on registers alone."""

import pathlib
import platform
import re

import pytest

from bench import machine_code, register_loop
from bench.machine_code import Instruction
from bench.measure import NotMeasured

needs_x86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="not an x86-64")

OBJDUMP = """
0000000000000000 <tick>:
       0:	push   %rbp
       1:	mov    %rsp,%rbp
       4:	vbroadcastss 0x0(%rip),%zmm2        # e <tick+0xe>
       a:	nopw   0x0(%rax,%rax,1)
      20:	mov    0x258(%rsp),%rsi
      28:	vmovdqu64 (%rsi,%rax,1),%zmm1
      30:	vpandd 0x8c0(%rsp),%zmm1,%zmm3
      38:	vpternlogd $0xfe,%zmm3,%zmm2,%zmm1
      3f:	vpcmpgtd (%rdi){1to16},%zmm1,%k1
      46:	vmovdqa32 %zmm2,%zmm3{%k1}
      4c:	korw   %k0,%k1,%k2
      50:	vmovdqa64 %zmm3,-0x40(%rbp)
      58:	vmovdqa64 %zmm3,%zmm4
      5e:	kmovw  %k2,%ecx
      62:	vpbroadcastd %ecx,%zmm5
      68:	vmovdqu64 %zmm4,(%rdi,%rax,1)
      6f:	add    $0x40,%rax
      73:	cmp    $0x10c0,%rax
      79:	jne    20 <tick+0x20>
      7b:	ret
"""
#: The same as LLVM writes it, without some instructions.
LLVM = """
0000000000000000 <tick>:
       1:      	movq	%rsp, %rbp
      20:      	vpandd	2240(%rsp), %zmm1, %zmm3
      46:      	vmovdqa32	%zmm2, %zmm3 {%k1}
      50:      	vmovdqa64	%zmm3, -64(%rbp)
      6f:      	addq	$64, %rax
      73:      	cmpq	$4288, %rax             # imm = 0x10C0
      79:      	jne	0x20 <tick+0x20>
"""


def test_a_loop_is_counted() -> None:
    (loop,) = machine_code.loops(OBJDUMP)
    assert (len(loop.instructions), loop.trips, loop.stack) == (15, 67, 2)
    assert [one.opcode for one in loop.operations] == ["vpandd", "vpternlogd", "vpcmpgtd", "vmovdqa32", "korw"]


def test_both_disassemblers_are_understood() -> None:
    (loop,) = machine_code.loops(LLVM)
    assert (len(loop.instructions), loop.trips, loop.stack) == (6, 67, 2)
    assert [one.opcode for one in loop.operations] == ["vpandd", "vmovdqa32"]


def test_a_register_that_is_no_frame_is_no_stack() -> None:
    (loop,) = machine_code.loops(OBJDUMP.replace("mov    %rsp,%rbp", "xor    %ebp,%ebp"))
    assert loop.stack == 1


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("jne    20", "jmp    20"),  # how often it is gone through is not known
        ("jne    20", "jne    90"),  # a branch to what lies behind
        ("cmp    $0x10c0,%rax", "cmp    $0x10c0,%rcx"),
        ("cmp    $0x10c0,%rax", "test   %rax,%rax"),
    ],
)
def test_other_branches_are_no_loops(was: str, now: str) -> None:
    assert machine_code.loops(OBJDUMP.replace(was, now)) == []


def test_of_loops_inside_each_other_the_inner_counts() -> None:
    outer = "      7b:	add    $0x1,%rdx\n      7c:	cmp    $0x8,%rdx\n      7d:	jne    4 <tick>"
    outer = OBJDUMP.replace("      7b:	ret", outer)
    (loop,) = machine_code.loops(outer)
    assert loop.trips == 67


@pytest.mark.parametrize(
    ("machine", "program", "files", "message"),
    [
        ("arm64", "objdump", ["a.ticks_alone.o"], "counted for x86-64 alone, and this is arm64"),
        ("x86_64", None, ["a.ticks_alone.o"], "there is no objdump or llvm-objdump"),
        ("x86_64", "objdump", ["a.other.o"], "this XLA has not written the compiled program"),
        ("x86_64", "false", ["a.ticks_alone.o"], "false failed: it printed nothing"),
        ("x86_64", "true", ["a.ticks_alone.o"], "there is no loop in the compiled program"),
    ],
)
def test_what_cannot_be_counted_is_told(monkeypatch, tmp_path: pathlib.Path, machine, program, files, message) -> None:
    monkeypatch.setattr(machine_code.platform, "machine", lambda: machine)
    monkeypatch.setattr(machine_code, "disassembler", lambda: program)
    for name in files:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(NotMeasured, match=message):
        machine_code.largest_loop(tmp_path, "ticks_alone")


def test_operations_on_registers_keep_their_opcodes_and_shape() -> None:
    (loop,) = machine_code.loops(OBJDUMP)
    lines = register_loop.renamed(loop.operations)
    shapes = [re.sub(r"(?<=mm)\d+|(?<=%k)\d", "N", line) for line in lines]
    assert shapes == [
        "vpandd %zmmN, %zmmN, %zmmN",
        "vpternlogd $0xfe, %zmmN, %zmmN, %zmmN",
        "vpcmpgtd %zmmN, %zmmN, %kN",
        "vmovdqa32 %zmmN, %zmmN{%kN}",
        "korw %kN, %kN, %kN",
    ]
    assert not any("(" in line or "%k0" in line for line in lines)


def test_operations_on_registers_are_independent() -> None:
    """What is read was not written just before; instructions of old registers have the first 16 alone."""
    for operands, room in (("%zmm1,%zmm1,%zmm1", 32), ("%ymm1,%ymm15,%ymm1", 16), ("%ymm1,%ymm16,%ymm1", 32)):
        lines = register_loop.renamed([Instruction("vpaddd", operands)] * 64)
        registers = [[int(number) for number in re.findall(r"mm(\d+)", line)] for line in lines]
        assert {number for line in registers for number in line} == set(range(room))
        for number, line in enumerate(registers):
            recent = {registers[i][-1] for i in range(max(0, number - room // 4 + 1), number)}
            assert not recent & set(line)


@needs_x86
def test_the_loop_on_registers_runs() -> None:
    operations = [Instruction("vpaddd", "%xmm1,%xmm2,%xmm3"), Instruction("vpand", "0x40(%rsp),%xmm2,%xmm3")]
    for independent in (True, False):
        few, many = (register_loop.Registers(operations, independent).run(count) for count in (1, 50_000_001))
        assert few.amount == register_loop._LEAST
        assert many.amount == 50_000_002


@pytest.mark.parametrize(
    ("opcode", "operands", "on_registers"),
    [
        ("vpmovzxwd", "0x20(%rsp),%ymm4", "%xmm7,%ymm4"),
        ("vpmovsxbd", "0x20(%rsp),%zmm4", "%xmm7,%zmm4"),
        ("vpmovzxbw", "(%rax,%rcx,2),%zmm4", "%ymm7,%zmm4"),
        ("vpmovzxbq", "(%rax),%xmm4", "%xmm7,%xmm4"),
        ("vpmovdw", "%ymm4,(%rax)", "%ymm4,%xmm7"),
        ("vpmovusqb", "%zmm4,(%rax)", "%zmm4,%xmm7"),
        ("vinserti128", "$0x1,0x20(%rsp),%ymm3,%ymm4", "$0x1,%xmm7,%ymm3,%ymm4"),
        ("vinserti64x4", "$0x1,0x20(%rsp),%zmm3,%zmm4", "$0x1,%ymm7,%zmm3,%zmm4"),
        ("vpbroadcastd", "0x20(%rsp),%zmm4{%k1}", "%xmm7,%zmm4{%k1}"),
        ("vpandd", "0x20(%rsp){1to16},%zmm3,%zmm4", "%zmm7,%zmm3,%zmm4"),
    ],
)  # fmt: skip
def test_what_lies_in_memory_becomes_a_register_of_its_width(opcode, operands, on_registers) -> None:
    """LLVM's assembler knows the instruction."""
    one = Instruction(opcode, operands)
    assert one.is_operation and register_loop._in_register(one, 7) == on_registers


def test_operations_in_their_order_keep_their_registers() -> None:
    """What comes from memory or from general registers is there at once; what goes there is left out."""
    (loop,) = machine_code.loops(OBJDUMP)
    assert register_loop.in_order(loop.instructions) == [
        "vpxord %zmm1, %zmm1, %zmm1",
        "vpandd %zmm1,%zmm1,%zmm3",
        "vpternlogd $0xfe,%zmm3,%zmm2,%zmm1",
        "vpcmpgtd %zmm1,%zmm1,%k1",
        "vmovdqa32 %zmm2,%zmm3{%k1}",
        "korw %k0,%k1,%k2",
        "vmovdqa64 %zmm3,%zmm4",
        "vpxord %zmm5, %zmm5, %zmm5",
    ]
