"""The simulated warps: lanes part and meet, votes, memory and what is counted."""

import numpy as np
import pytest

from bench import warp
from jaxgo.backends.ptx import HEAD

LANES = np.arange(64, dtype=np.uint32)


def kernel(body: str, *arrays: str) -> str:
    """A kernel's text: `%r1` is the lane's number and `%d1` its place in the first array."""
    start = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r1, %r2, 32, %r1;\nld.param.u64 %d1, [out];\n"
    parameters = ", ".join(f".param .u64 {name}" for name in ("out", *arrays))
    registers = ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
    start += "mad.wide.u32 %d1, %r1, 4, %d1;\n"
    return f"{HEAD}.visible .entry test({parameters})\n{{\n{registers}{start}{body.strip()}\nret;\n}}\n"


def run(body: str, **arrays: np.ndarray) -> tuple[np.ndarray, list[warp.Block]]:
    """What two warps write."""
    out = np.full(64, 999, np.uint32)
    return out, warp.run(kernel(body, *arrays), {"out": out, **arrays}, 2)


def test_each_lane_goes_round_its_loop_as_often_as_it_wants():
    """A warp goes round as often as the lane that wants most; the others wait."""
    out, blocks = run("""
mov.b32 %r3, 0;
loop:
add.u32 %r3, %r3, 3;
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra loop;
st.global.u32 [%d1+0], %r3;
""")
    np.testing.assert_array_equal(out, np.maximum((LANES + 2) // 3 * 3, 3))
    loop, after = blocks[1:]
    rounds = out // 3
    assert loop.warps == rounds[:32].max() + rounds[32:].max() and loop.lanes == rounds.sum()
    assert loop.instructions == 3 * loop.warps
    assert (after.warps, after.lanes) == (2, 64)
    assert [block.label for block in blocks] == ["start", "loop", "loop"] and blocks[0].instructions == 12


def test_lanes_meet_behind_a_branch():
    out, blocks = run("""
setp.ge.u32 %p1, %r1, 5;
@%p1 bra meet;
add.u32 %r1, %r1, 100;
meet:
vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
vote.sync.any.pred %p2, %p1, 0xffffffff;
selp.b32 %r4, %r1, 7, %p2;
xor.b32 %r4, %r4, %r3;
st.global.u32 [%d1+0], %r4;
""")
    ballots = np.where(LANES < 32, 0xFFFFFFFF - 31, 0xFFFFFFFF).astype(np.uint32)
    np.testing.assert_array_equal(out, (LANES + 100 * (LANES < 5)) ^ ballots)
    assert [(block.label, block.warps, block.lanes) for block in blocks] == [("start", 2, 64), ("start", 1, 5), ("meet", 2, 64)]


def test_a_vote_that_lanes_miss_is_refused():
    with pytest.raises(RuntimeError, match="without some"):
        run("setp.ge.u32 %p1, %r1, 5;\n@%p1 bra end;\nvote.sync.any.pred %p2, %p1, 0xffffffff;\nend:\nnot.b32 %r3, %r1;")


def test_guards():
    """Where they do not hold nothing is read or written, and registers stay as they were."""
    table = np.arange(10, dtype=np.uint32) * 11
    out, _ = run(
        """
ld.param.u64 %d2, [table];
mad.wide.u32 %d2, %r1, 4, %d2;
setp.lt.u32 %p1, %r1, 10;
mov.b32 %r3, 5;
@%p1 ld.global.u32 %r3, [%d2+0];
setp.lt.u32 %p2, %r1, 20;
@%p2 st.global.u32 [%d1+0], %r3;
""",
        table=table,
    )
    np.testing.assert_array_equal(out, np.concatenate([table, np.full(10, 5), np.full(44, 999)]))


def test_memory_outside_of_the_arrays_is_refused():
    with pytest.raises(IndexError, match="out has no element"):
        run("st.global.u32 [%d1+4], %r1;")


def test_half_words_are_written():
    out = np.zeros(128, np.int16)
    text = kernel("sub.u32 %r3, 0, %r1;\nst.global.u16 [%d1+2], %r3;")
    warp.run(text, {"out": out}, 2)
    np.testing.assert_array_equal(out.reshape(64, 2), np.stack([np.zeros(64), -LANES.astype(np.int64)], axis=1))


@pytest.mark.parametrize("line", ["fma.rn.f32 %r3, %r1, %r1, %r1;", "@%p1 add.u32 %r3, %r1, %r1;", "what is this"])
def test_other_instructions_are_refused(line):
    with pytest.raises(NotImplementedError):
        run(line)
