"""Programs that are made here for other platforms have those platforms' form."""

import re

import jax
import jax.numpy as jnp
import pytest

import jaxgo


def exported(function, size: int, platform: str) -> str:
    """The program of a function of positions, made on this machine for a platform."""
    position = jaxgo.Position.empty(size, 2)
    return jax.export.export(jax.jit(function), platforms=[platform])(position).mlir_module()


FUNCTIONS = {
    "legal": lambda p: p.legal(),
    "play": lambda p: p.play(jnp.int32(0)),
    "simulate": lambda p: jaxgo.simulate(p, 100).margin,
}


@pytest.mark.parametrize("platform, loops", [("cpu", True), ("cuda", False), ("rocm", False), ("tpu", False)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_single_loop_is_for_cpus(name, platform, loops):
    # A window of one element; XLA's sums of prefixes have larger ones.
    windows = re.findall(r"window_dimensions = array<i64: ([^>]*)>", exported(FUNCTIONS[name], 5, platform))
    assert any(set(window.split(", ")) == {"1"} for window in windows) == loops


@pytest.mark.parametrize("platform, wide", [("cpu", True), ("cuda", True), ("tpu", False)])
def test_tpus_have_no_wide_words(platform, wide):
    assert ("xi64" in exported(FUNCTIONS["legal"], 17, platform)) == wide


def test_lanes_are_the_platforms():
    """600,000 playouts of 5x5: a CPU's core has 1,008 lanes; a GPU, of which a program made here plays by XLA, 135,168,
    and so has a TPU on small boards."""
    texts = {platform: exported(lambda p: jaxgo.simulate(p, 300_000).margin, 5, platform) for platform in ("cpu", "cuda", "tpu")}
    assert "tensor<1008xui32>" in texts["cpu"] and "tensor<135168xui32>" not in texts["cpu"]
    for platform in ("cuda", "tpu"):
        assert "tensor<135168xui32>" in texts[platform] and "tensor<1008xui32>" not in texts[platform]
        assert "xla.gpu.ptx" not in texts[platform]
