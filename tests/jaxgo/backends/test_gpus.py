"""On a GPU, where there is one of NVIDIA's: what it finds is what the CPU finds. Each test is a process of its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

from tests.compiling import users_flags
from tests.jaxgo.backends import on_gpus
from tests.processes import ROOT

pytestmark = pytest.mark.skipif(
    not pathlib.Path("/dev/nvidia0").exists() or not any(importlib.util.find_spec(f"jax_cuda{n}_plugin") for n in (12, 13)),
    reason="there is no GPU of NVIDIA's with jax's plugin: pip install 'jaxgo[gpu]'",
)


def same(what, *arguments: object) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {"XLA_FLAGS": users_flags(), "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONPATH": path}
    environment = {**os.environ, **variables, "JAX_PLATFORMS": "cuda,cpu"}
    command = [sys.executable, "-m", on_gpus.__name__, what.__name__, *map(str, arguments)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0 and done.stdout == "same\n", done.stderr[-4000:]


@pytest.mark.parametrize("size", on_gpus.PLAYOUTS)
@pytest.mark.parametrize("name", ["uniform", "patterns"])
def test_playouts(name, size):
    same(on_gpus.playouts, name, size)


@pytest.mark.parametrize("name", [name for name in on_gpus.policies(2) if name not in ("uniform", "patterns")])
def test_playouts_by_policies(name):
    same(on_gpus.playouts, name, 5)


@pytest.mark.parametrize("what", [on_gpus.evaluations, on_gpus.simulation, on_gpus.searches, on_gpus.learning])
@pytest.mark.parametrize("size", [5, 19])
def test_what_is_made_of_them(what, size):
    same(what, size)
