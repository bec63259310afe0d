"""The code keeps to the rules of pyproject.toml."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("ruff")

ROOT = pathlib.Path(__file__).parents[1]


def test_ruff_finds_nothing():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
