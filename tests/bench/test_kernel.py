"""`jaxgo bench kernel`: the kernel as machine code, where the compiler is installed."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bench import kernel, kernel_work
from bench.series import Plan
from jaxgo import Position, simulate
from jaxgo.cli import UsageError


def test_the_ceiling_is_instructions_over_instructions():
    """132 multiprocessors take 2 instructions of 32 lanes in each of 1.85 billion clocks a second."""
    assert kernel_work.ceiling(500, 200.0) == pytest.approx(2 * 132 * 1.85e9 * 32 / 100_000)


def test_ticks_of_a_playout():
    """A playout of n plies takes at least n ticks, and a few times as many at most."""
    plies = float(np.asarray(jax.jit(lambda: simulate(Position.empty(5), 512, 1))().length).mean())
    assert plies < kernel_work.ticks_of_a_playout(5) < 4 * plies


def test_a_program_without_a_kernel_is_refused():
    text = jax.jit(jnp.sin).lower(1.0).as_text()
    with pytest.raises(ValueError, match="no Triton kernel"):
        kernel_work.payload(text)


def test_without_the_compiler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"jaxgo\[kernel\]"):
        kernel.measure([9], Plan(), print)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="triton is not installed")
def test_machine_code_for_9x9():
    """The state stays in registers: nothing is spilled."""
    made = kernel.measure([9], Plan(), print)
    assert [entry["records"] for entry in made["results"]] == ["first plays", "first plays, moves"]
    for entry in made["results"]:
        assert 32 < entry["registers"] <= 128 and entry["spilled"] == 0
        assert 300 < entry["tick"] < entry["instructions"]
    assert kernel.tables(made)
