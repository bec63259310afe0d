"""`jaxgo bench kernel`: the kernel as machine code, where there is an assembler, and its playouts on simulated warps."""

import jax
import numpy as np
import pytest

from bench import kernel, kernel_work
from bench.series import Plan
from jaxgo import Capture, Position, simulate
from jaxgo.backends import nvidia
from jaxgo.cli import UsageError


def test_the_ceiling_is_instructions_over_instructions():
    """132 multiprocessors begin 4 instructions of a warp in each of 1.98 billion clocks a second."""
    assert kernel_work.ceiling(1000.0) == pytest.approx(4 * 132 * 1.98e9 / 1000)


def test_ticks_of_playouts():
    """A playout of n plies takes at least n ticks, and a few times as many at most."""
    plies = float(np.asarray(jax.jit(lambda: simulate(Position.empty(5), 512, 1))().length).mean())
    assert plies < kernel_work.ticks_of_playouts(5).mean() < 4 * plies


def test_what_playouts_cost():
    """Lanes wait for others and for the next look, and a warp changes over for several at a time."""
    code = kernel_work.Compiled(registers=40, spilled=0, instructions=600, grow=50, tick=200, change=250, opcodes={})
    played, needed = kernel_work.play(5), float(kernel_work.ticks_of_playouts(5).mean())
    assert needed + 4 < played.lane_ticks < needed + 16 and 1 / 32 < played.changes < 1 / 2
    instructions, changing = played.instructions(code)
    assert instructions == pytest.approx(200 * played.ticks + 300 * played.changes)
    assert changing == pytest.approx(1 - 200 * played.ticks / instructions)


def test_whole_rounds():
    """Of playouts that need the same, all lanes play all the time, but for the wait until the next look; the warp of `play`, of
    `COUNTED` playouts, waits as much as is reckoned; and the more playouts a lane has, the less it waits."""
    assert kernel_work.rounds(np.full(10, 2 * nvidia.TICKS), 3, 4) == (1.0, 1.0)
    assert kernel_work.rounds(np.full(10, nvidia.TICKS + 1), 3, 4) == ((nvidia.TICKS + 1) / (2 * nvidia.TICKS),) * 2
    ticks = kernel_work.ticks_of_playouts(5, 2048)
    of_warp = ticks[: kernel_work.COUNTED].mean() / kernel_work.play(5).lane_ticks
    assert kernel_work.rounds(ticks, kernel_work.COUNTED // 32)[0] == pytest.approx(of_warp, rel=0.03)
    shares = [kernel_work.rounds(ticks, per_lane, 100) for per_lane in (1, 4, 16)]
    assert shares == sorted(shares) and all(0.3 < of_all < of_warps < 1 for of_warps, of_all in shares)


def test_what_policies_cost():
    """What captures whenever it can takes more instructions than what does not ask, and a policy that is never heeded as well."""
    uniform, capture, never = (kernel_work.ptx_instructions(5, 64, policy) for policy in (None, Capture(1.0), Capture(0.0)))
    assert uniform < never < 2 * uniform and uniform < capture < 3 * uniform


def test_without_an_assembler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(kernel_work, "assembler", lambda: None)
    with pytest.raises(UsageError, match=r"jaxgo\[kernel\]"):
        kernel.measure([9], Plan(), print)


@pytest.mark.skipif(not kernel_work.assembler(), reason="there is no ptxas with cuobjdump: pip install 'jaxgo[kernel]'")
@pytest.mark.parametrize("size", [5, *(pytest.param(size, marks=pytest.mark.slow) for size in (9, 13, 19))])
def test_machine_code(size):
    """The state stays in registers: nothing is spilled."""
    made = kernel.measure([size], Plan(), lambda text: None)
    assert [entry["records"] for entry in made["results"]] == ["first plays", "first plays, moves"]
    for entry in made["results"]:
        assert 32 < entry["registers"] <= 255 and entry["spilled"] == 0
        assert 150 < entry["tick"] < entry["instructions"]
        assert 0.8 < entry["efficiency"] < 1 and entry["changing"] < 0.1
    assert [entry["policy"] for entry in made["policies"]] == [
        "Capture", "LastGoodReply", "Advisor", "Nakade", "NoSelfAtari", "Patterns",
    ]
    for entry in made["policies"]:
        assert 32 < entry["registers"] <= 255 and 0.8 < entry["times"] < 10
    assert [x["per_lane"] for x in made["rounds"]] == list(kernel.PER_LANE)
    assert len(kernel.tables(made)) == 4
